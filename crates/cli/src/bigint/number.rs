//! Numbers as arguments and files.

use crate::error::{Result, input};
use crate::files::{MARK, read_bytes};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use solinas_bigint::{Integer, Natural};
use std::path::Path;

/// Largest size of a number: 1 GiB.
pub(super) const MOST: u64 = 1 << 30;

/// The bases with names and prefixes.
const BASES: [(&str, &str, u32, &str); 4] = [
    ("hex", "0x", 16, "Hexadecimal digits"),
    ("dec", "", 10, "Decimal digits"),
    ("oct", "0o", 8, "Octal digits"),
    ("bin", "0b", 2, "Binary digits"),
];

/// All bases by number.
const NUMBERED: [&str; 35] = [
    "base2", "base3", "base4", "base5", "base6", "base7", "base8", "base9", "base10", "base11", "base12", "base13",
    "base14", "base15", "base16", "base17", "base18", "base19", "base20", "base21", "base22", "base23", "base24",
    "base25", "base26", "base27", "base28", "base29", "base30", "base31", "base32", "base33", "base34", "base35",
    "base36",
];

/// Format of an input file.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Format {
    /// Digits of the base that the prefix names, otherwise decimal ones.
    Auto,
    /// Digits or bytes.
    As(OutFormat),
}

/// Format of the result.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum OutFormat {
    /// Digits of this base, 2 to 36, after its prefix.
    Base(u32),
    /// Bytes, the most significant first; none for zero.
    Bytes,
    /// Bytes, the least significant first; none for zero.
    BytesLe,
}

impl Default for OutFormat {
    fn default() -> Self {
        Self::Base(16)
    }
}

impl Format {
    /// Reads the name of a format.
    pub(super) fn parser() -> impl TypedValueParser<Value = Self> {
        let auto = PossibleValue::new("auto")
            .help("Digits: hexadecimal after 0x, octal after 0o, binary after 0b, otherwise decimal");
        let names = std::iter::once(auto).chain(OutFormat::names());
        PossibleValuesParser::new(names).map(|name| match name.as_str() {
            "auto" => Self::Auto,
            name => Self::As(OutFormat::named(name)),
        })
    }
}

impl OutFormat {
    /// Reads the name of a format.
    pub(super) fn parser() -> impl TypedValueParser<Value = Self> {
        PossibleValuesParser::new(Self::names()).map(|name| Self::named(&name))
    }

    fn names() -> impl Iterator<Item = PossibleValue> {
        let bases = BASES.map(|(name, _, _, help)| PossibleValue::new(name).help(help));
        let bytes = [
            PossibleValue::new("bytes").help("Bytes, the most significant first; no bytes for zero"),
            PossibleValue::new("bytes-le").help("Bytes, the least significant first; no bytes for zero"),
        ];
        // The help has one line for all other bases.
        let others = NUMBERED.map(|name| PossibleValue::new(name).hide(true));
        bases.into_iter().chain(bytes).chain(others)
    }

    /// The format of a name of [`Self::names`].
    fn named(name: &str) -> Self {
        match name {
            "bytes" => Self::Bytes,
            "bytes-le" => Self::BytesLe,
            _ => {
                let named = BASES.iter().find(|(other, ..)| *other == name).map(|(_, _, base, _)| *base);
                let numbered = || name.strip_prefix("base").and_then(|digits| digits.parse().ok());
                Self::Base(named.or_else(numbered).unwrap_or(10))
            }
        }
    }

    /// The digits; `None` for formats of bytes.
    ///
    /// # Errors
    /// None for the bases of [`Self::names`].
    pub(super) fn text(self, value: &Integer) -> Result<Option<String>> {
        let Self::Base(base) = self else { return Ok(None) };
        let sign = if value.is_negative() { "-" } else { "" };
        Ok(Some(format!("{sign}{}{}", prefix(base), value.magnitude().to_radix(base)?)))
    }

    /// The bytes; empty for formats of digits.
    ///
    /// # Errors
    /// For negative numbers.
    pub(super) fn bytes(self, value: &Integer) -> Result<Vec<u8>> {
        let Some(value) = value.to_natural() else {
            return Err(input("the result is negative, and bytes have no sign", "add --out-format dec"));
        };
        Ok(match self {
            Self::BytesLe => value.to_le_bytes(),
            _ => value.to_be_bytes(),
        })
    }
}

/// The prefix of a base's digits.
fn prefix(base: u32) -> &'static str {
    BASES.iter().find(|(_, _, other, _)| *other == base).map_or("", |(_, prefix, _, _)| prefix)
}

/// A number and the format in which it was written.
#[derive(Debug)]
pub(super) struct Operand {
    pub(super) value: Integer,
    pub(super) format: OutFormat,
}

/// Reads a number from the argument itself, from a file or from standard input.
pub(super) fn read_operand(text: &str, format: Format) -> Result<Operand> {
    if is_number(text) {
        return digits(text.as_bytes(), Format::Auto, text);
    }
    let path = Path::new(text);
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    if text != "-" && !path.exists() && unsigned.starts_with(|c: char| c.is_ascii_digit()) {
        // This is more likely a mistyped number than a file, so the error names the first wrong character.
        let (base, skip) = base_of(unsigned.as_bytes());
        let wrong = unsigned.chars().skip(skip).position(|c| !c.is_digit(base)).unwrap_or(0);
        let character = text.len() - unsigned.len() + skip + wrong + 1;
        let what = format!("{text:?} is not a number (see character {character}), and no file has that name");
        return Err(input(what, "give decimal digits, 0x and hexadecimal digits, a file, or -"));
    }
    let bytes = read_bytes(path, MOST)?;
    let bytes_of = |value: Natural, format| Ok(Operand { value: value.into(), format });
    match format {
        Format::As(OutFormat::Bytes) => bytes_of(Natural::from_be_bytes(&bytes), OutFormat::Bytes),
        Format::As(OutFormat::BytesLe) => bytes_of(Natural::from_le_bytes(&bytes), OutFormat::BytesLe),
        _ => {
            let bytes = bytes.strip_prefix(MARK.encode_utf8(&mut [0; 4]).as_bytes()).unwrap_or(&bytes);
            digits(bytes, format, if text == "-" { "standard input" } else { text })
        }
    }
}

/// Whether an argument is a number (digits, perhaps after a prefix and a sign) instead of the name of a file.
pub(super) fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (base, skip) = base_of(unsigned.as_bytes());
    let digits = &unsigned[skip..];
    !digits.is_empty() && digits.chars().all(|c| c.is_digit(base))
}

/// The base that a prefix names, otherwise 10, and the length of the prefix.
fn base_of(text: &[u8]) -> (u32, usize) {
    let named = BASES.iter().find(|(_, prefix, ..)| !prefix.is_empty() && text.starts_with(prefix.as_bytes()));
    named.map_or((10, 0), |(_, prefix, base, _)| (*base, prefix.len()))
}

/// Parses digits, with white space around and between them.
fn digits(bytes: &[u8], format: Format, name: &str) -> Result<Operand> {
    let mut start = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(bytes.len());
    let negative = bytes.get(start) == Some(&b'-');
    start += usize::from(negative);
    let (found, skip) = base_of(&bytes[start..]);
    let (base, skip) = match format {
        Format::As(OutFormat::Base(base)) => (base, if base == found { skip } else { 0 }),
        _ => (found, skip),
    };
    let body = &bytes[start + skip..];
    let is_digit = |byte: u8| char::from(byte).is_digit(base);
    let kind = match base {
        16 => "hexadecimal",
        10 => "decimal",
        2 => "binary",
        base => &format!("base-{base}"),
    };
    if let Some(at) = body.iter().position(|&byte| !is_digit(byte) && !byte.is_ascii_whitespace()) {
        let at = bytes.len() - body.len() + at;
        let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
        let column = at - bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1) + 1;
        // The complete character, if the bytes are valid UTF-8.
        let found = String::from_utf8_lossy(&bytes[at..bytes.len().min(at + 4)]).chars().next().unwrap_or_default();
        let help = match base {
            10 if found.is_ascii_hexdigit() => "if the number is hexadecimal, begin it with 0x or add --in-format hex",
            _ if !found.is_ascii() || found.is_ascii_control() => "if the file holds bytes, add --in-format bytes",
            _ => "give digits, separated by white space only",
        };
        return Err(input(format!("{name}, line {line}, column {column}: {found:?} is not a {kind} digit"), help));
    }
    let text: String = body.iter().copied().filter(|&byte| is_digit(byte)).map(char::from).collect();
    if text.is_empty() {
        return Err(input(format!("{name} holds no {kind} digits"), "give a number"));
    }
    let magnitude = if base == 16 { Natural::from_hex(&text)? } else { Natural::from_radix(&text, base)? };
    Ok(Operand { value: Integer::from_parts(negative, magnitude), format: OutFormat::Base(base) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_with_white_space_sign_and_prefix() {
        let read = |text: &str, format| {
            let operand = digits(text.as_bytes(), format, "x").unwrap();
            let OutFormat::Base(base) = operand.format else { panic!("{text} holds digits") };
            (operand.value.to_string(), base)
        };
        let base = |base| Format::As(OutFormat::Base(base));
        for (text, format, value, found) in [
            (" 12\n 34\n", Format::Auto, "1234", 10),
            ("\n0xfF\n0", Format::Auto, "4080", 16),
            ("0b10 1", Format::Auto, "5", 2),
            (" -0o17", Format::Auto, "-15", 8),
            ("-5", Format::Auto, "-5", 10),
            ("ff", base(16), "255", 16),
            ("0x10", base(16), "16", 16),
            ("0b1", base(16), "177", 16),
            ("0010", base(10), "10", 10),
            ("-Zz", base(36), "-1295", 36),
        ] {
            assert_eq!(read(text, format), (value.to_owned(), found), "{text}");
        }
    }

    #[test]
    fn errors_name_the_place_of_a_wrong_digit() {
        let error = |text: &[u8], format| digits(text, format, "x").unwrap_err().to_string();
        let base = |base| Format::As(OutFormat::Base(base));
        assert!(error(b"12\n3f4", Format::Auto).starts_with(
            "x, line 2, column 2: 'f' is not a decimal digit; if the number is hexadecimal, begin it with 0x"
        ));
        assert!(error(b"0x12g", Format::Auto).starts_with("x, line 1, column 5: 'g' is not a hexadecimal digit"));
        assert!(error(b"0x12", base(10)).contains("column 2: 'x' is not a decimal digit"));
        assert!(error(b"0o18", Format::Auto).contains("column 4: '8' is not a base-8 digit"));
        assert!(error(b"3", base(3)).contains("'3' is not a base-3 digit"));
        assert!(error("1é".as_bytes(), Format::Auto).contains("column 2: 'é'"));
        assert!(error(b"\xff\xfe", base(16)).contains("--in-format bytes"));
        assert!(error(b"5-", Format::Auto).contains("column 2: '-'"));
        assert!(error(b"--5", Format::Auto).contains("column 2: '-'"));
        assert!(error(b" \n", Format::Auto).contains("no decimal digits"));
        assert!(error(b"-", Format::Auto).contains("no decimal digits"));
        assert!(error(b"0x", Format::Auto).contains("no hexadecimal digits"));
    }

    #[test]
    fn numbers_are_distinguished_from_names_of_files() {
        assert!(["0", "123", "0xab", "0xAB", "-5", "-0xff", "0b1", "0o7"].into_iter().all(is_number));
        let names = ["", "0x", "cafe", "./123", "-", "12x", "0x1g", "x12", "--5", "-x", "0b2", "0o8", "é"];
        assert!(names.into_iter().all(|text| !is_number(text)));
        for (text, character) in [("12x", 3), ("0x1g", 4), ("-12x", 4), ("0b12", 4), ("-0o8", 4)] {
            let message = read_operand(text, Format::Auto).unwrap_err().to_string();
            assert!(message.contains(&format!("character {character}")), "{text}: {message}");
        }
    }
}
