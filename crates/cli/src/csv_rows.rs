//! Rows of CSV text (RFC 4180). Malformed quotes are errors, because they could hide fields and rows.

use crate::error::{Result, input};

/// The rows of a CSV text in order. Empty lines are skipped, and white space around fields is removed. It ends after an error.
pub(crate) struct Rows<'a> {
    /// Name of the file, for messages.
    place: String,
    /// The text that follows.
    rest: &'a str,
    /// Number of the line at which the text that follows begins.
    line: usize,
}

/// One row, which can span several lines.
#[derive(Debug, PartialEq)]
pub(crate) struct Row {
    /// Number of its first line, from 1.
    pub(crate) line: usize,
    pub(crate) fields: Vec<String>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(place: impl ToString, text: &'a str) -> Self {
        Self { place: place.to_string(), rest: text.trim_start_matches('\u{feff}'), line: 1 }
    }

    /// Skips the end of one line. Returns whether there was one.
    fn skip_line_end(&mut self) -> bool {
        let rest = self.rest.strip_prefix("\r\n").or_else(|| self.rest.strip_prefix(['\n', '\r']));
        self.rest = rest.unwrap_or(self.rest);
        self.line += usize::from(rest.is_some());
        rest.is_some()
    }

    fn row(&mut self) -> Result<Row> {
        let (line, mut fields) = (self.line, Vec::new());
        loop {
            fields.push(match self.rest.strip_prefix('"') {
                Some(quoted) => self.quoted(quoted)?,
                None => self.unquoted()?,
            });
            match self.rest.strip_prefix(',') {
                Some(rest) => self.rest = rest,
                None => break,
            }
        }
        self.skip_line_end();
        Ok(Row { line, fields })
    }

    fn unquoted(&mut self) -> Result<String> {
        let (field, rest) = self.rest.split_at(self.rest.find([',', '\n', '\r']).unwrap_or(self.rest.len()));
        if field.contains('"') {
            return Err(self.wrong("a quote stands inside a field"));
        }
        self.rest = rest;
        Ok(field.trim().to_owned())
    }

    /// The field whose opening quote was before this text.
    fn quoted(&mut self, text: &'a str) -> Result<String> {
        let (mut field, mut rest) = (String::new(), text);
        loop {
            let Some((part, after)) = rest.split_once('"') else { return Err(self.wrong("the quote is not closed")) };
            field.push_str(part);
            rest = after;
            match rest.strip_prefix('"') {
                Some(after) => rest = after,
                None => break,
            }
            field.push('"');
        }
        rest = rest.trim_start_matches([' ', '\t']);
        if !rest.is_empty() && !rest.starts_with([',', '\n', '\r']) {
            self.line += lines(&field);
            return Err(self.wrong("the quote is closed before the end of the field"));
        }
        self.rest = rest;
        self.line += lines(&field);
        Ok(field.trim().to_owned())
    }

    fn wrong(&self, what: &str) -> crate::error::Error {
        let help = "put the whole field in quotes, and write each quote inside it twice";
        input(format!("{}, line {}: {what}", self.place, self.line), help)
    }
}

/// Number of line ends in a text.
fn lines(text: &str) -> usize {
    text.matches('\n').count() + text.replace("\r\n", "").matches('\r').count()
}

impl Iterator for Rows<'_> {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.skip_line_end() {}
        if self.rest.is_empty() {
            return None;
        }
        let row = self.row();
        if row.is_err() {
            self.rest = "";
        }
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<(usize, Vec<String>)> {
        Rows::new("v.csv", text).map(|row| row.unwrap()).map(|Row { line, fields }| (line, fields)).collect()
    }

    #[test]
    fn quotes_line_ends_and_white_space_are_understood() {
        for end in ["\n", "\r\n", "\r"] {
            let text =
                "\u{feff}a,b\n\n \"x \"\"y\"\"\" , \n".replace(" \"x", "\"x") + "\"two\nlines\",2\n3,\"\"\n\"\",4";
            let text = text.replace('\n', end);
            let two = format!("two{end}lines");
            let want: [(usize, [&str; 2]); 5] =
                [(1, ["a", "b"]), (3, ["x \"y\"", ""]), (4, [&two, "2"]), (6, ["3", ""]), (7, ["", "4"])];
            let want = want.map(|(line, fields)| (line, fields.map(str::to_owned).to_vec()));
            assert_eq!(rows(&text), want, "{end:?}");
        }
        assert!(rows("").is_empty() && rows("\r\n\n").is_empty());
    }

    #[test]
    fn malformed_quotes_are_errors_that_name_the_line() {
        for end in ["\n", "\r\n"] {
            for (text, want) in [
                ("a,b\n1,\"x\n2,y\n3,z", "line 2: the quote is not closed"),
                ("a\n1\n\"3", "line 3: the quote is not closed"),
                ("\"1\"2", "line 1: the quote is closed before the end of the field"),
                ("a\n\"x\ny\"z\n", "line 3: the quote is closed before the end of the field"),
                ("a\n\n1\"2\"\n", "line 3: a quote stands inside a field"),
                ("a\n \"b, c\"\n", "line 2: a quote stands inside a field"),
            ] {
                let text = text.replace('\n', end);
                let mut rows = Rows::new("v.csv", &text);
                let error = rows.find_map(Result::err).unwrap().to_string();
                assert!(error.starts_with(&format!("v.csv, {want}; ")), "{text:?}: {error}");
                assert!(rows.next().is_none());
            }
        }
    }
}
