//! Cuts PTX text into tokens.

use crate::error::ParseError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name: of a register, variable, label, opcode or directive. A leading `%` or `$` belongs to it.
    Name(String),
    /// An integer, reduced modulo 2^64.
    Integer(u64),
    /// The bits of a double: `0d` and 16 hexadecimal digits.
    Double(u64),
    /// The bits of a single: `0f` and 8 hexadecimal digits.
    Single(u32),
    /// The text between quotes.
    Text,
    /// Any other character.
    Mark(char),
    /// The end of the text.
    End,
}

/// A token and where it lies.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub(super) token: Token,
    pub(super) line: u32,
    pub(super) column: u32,
    /// First byte in the text.
    pub(super) start: usize,
    /// The byte behind the last one.
    pub(super) end: usize,
}

impl Spot {
    pub(super) fn error<T>(&self, what: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError { line: self.line, column: self.column, what: what.into() })
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    line_start: usize,
}

/// The tokens of a text. The last one is [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Spot>, ParseError> {
    let mut lexer = Lexer { text, at: 0, line: 1, line_start: 0 };
    let mut spots = Vec::new();
    loop {
        lexer.skip()?;
        let (line, start) = (lexer.line, lexer.at);
        let column = text[lexer.line_start..start].chars().count() as u32 + 1;
        let mut spot = Spot { token: Token::End, line, column, start, end: start };
        spot.token = lexer.next(&spot)?;
        spot.end = lexer.at;
        let last = spot.token == Token::End;
        spots.push(spot);
        if last {
            return Ok(spots);
        }
    }
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Passes over blanks and comments.
    fn skip(&mut self) -> Result<(), ParseError> {
        loop {
            let rest = self.rest();
            let length = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => end + 2,
                    None => return Err(ParseError { line: self.line, column: 1, what: "a comment has no end".into() }),
                }
            } else {
                rest.len() - rest.trim_start().len()
            };
            if length == 0 {
                return Ok(());
            }
            let end = self.at + length;
            for (at, _) in self.text[self.at..end].match_indices('\n') {
                self.line += 1;
                self.line_start = self.at + at + 1;
            }
            self.at = end;
        }
    }

    /// Takes the longest prefix of such characters.
    fn take(&mut self, accept: impl Fn(char) -> bool) -> String {
        let rest = self.rest();
        let length = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        let word = rest[..length].to_owned();
        self.at += length;
        word
    }

    fn next(&mut self, spot: &Spot) -> Result<Token, ParseError> {
        let Some(first) = self.rest().chars().next() else { return Ok(Token::End) };
        if first.is_ascii_digit() {
            let word = self.take(|c| c.is_ascii_alphanumeric());
            return number(&word).map_or_else(|| spot.error(format!("{word} is not a number of PTX")), Ok);
        }
        if first == '"' {
            let Some(length) = self.rest()[1..].find('"') else { return spot.error("a text has no closing quote") };
            self.at += length + 2;
            return Ok(Token::Text);
        }
        if first.is_ascii_alphabetic() || "_$%".contains(first) {
            let mut word = first.to_string();
            self.at += 1;
            word += &self.take(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$');
            return Ok(Token::Name(word));
        }
        self.at += first.len_utf8();
        Ok(Token::Mark(first))
    }
}

fn number(word: &str) -> Option<Token> {
    let lower = word.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0d").filter(|digits| digits.len() == 16) {
        return u64::from_str_radix(digits, 16).ok().map(Token::Double);
    }
    if let Some(digits) = lower.strip_prefix("0f").filter(|digits| digits.len() == 8) {
        return u32::from_str_radix(digits, 16).ok().map(Token::Single);
    }
    let digits = lower.strip_suffix('u').unwrap_or(&lower);
    let value = match digits.get(..2) {
        Some("0x") => u64::from_str_radix(&digits[2..], 16),
        Some("0b") => u64::from_str_radix(&digits[2..], 2),
        _ if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(&digits[1..], 8),
        _ => digits.parse(),
    };
    value.ok().map(Token::Integer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_forms_of_the_manual() {
        for (word, token) in [
            ("0", Token::Integer(0)),
            ("017", Token::Integer(15)),
            ("0x1Fu", Token::Integer(31)),
            ("18446744073709551615U", Token::Integer(u64::MAX)),
            ("0b101", Token::Integer(5)),
            ("0d3FF0000000000000", Token::Double(0x3FF0_0000_0000_0000)),
            ("0f3F800000", Token::Single(0x3F80_0000)),
        ] {
            assert_eq!(number(word), Some(token), "{word}");
        }
        for word in ["0x", "12ab", "0d12", "18446744073709551616", "08"] {
            assert_eq!(number(word), None, "{word}");
        }
    }

    #[test]
    fn places_count_lines_and_characters() {
        let spots = tokens("a /* é\n */ b\n // c\n\t$d;").unwrap();
        let places: Vec<_> = spots.iter().map(|spot| (spot.line, spot.column)).collect();
        assert_eq!(places, [(1, 1), (2, 5), (4, 2), (4, 4), (4, 5)]);
    }
}
