//! Numbers as arguments and files.

use crate::error::{Result, input};
use crate::files::{MARK, read_bytes};
use clap::ValueEnum;
use solinas_bigint::Natural;
use std::path::Path;

/// Largest size of a number: 1 GiB.
const MOST: u64 = 1 << 30;

/// Format of an input file.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(super) enum Format {
    /// Digits: hexadecimal after 0x, otherwise decimal
    Auto,
    /// Hexadecimal digits
    Hex,
    /// Decimal digits
    Dec,
    /// Bytes, the most significant first
    Bytes,
    /// Bytes, the least significant first
    BytesLe,
}

/// Format of the result.
#[derive(Clone, Copy, PartialEq, Debug, Default, ValueEnum)]
pub(super) enum OutFormat {
    /// Hexadecimal digits after 0x
    #[default]
    Hex,
    /// Decimal digits
    Dec,
    /// Bytes, the most significant first; no bytes for zero
    Bytes,
    /// Bytes, the least significant first; no bytes for zero
    BytesLe,
}

impl OutFormat {
    /// The digits; `None` for formats of bytes.
    pub(super) fn text(self, value: &Natural) -> Option<String> {
        match self {
            Self::Hex => Some(format!("0x{}", value.to_hex())),
            Self::Dec => Some(value.to_string()),
            Self::Bytes | Self::BytesLe => None,
        }
    }

    /// The bytes; empty for formats of digits.
    pub(super) fn bytes(self, value: &Natural) -> Vec<u8> {
        match self {
            Self::BytesLe => value.to_le_bytes(),
            _ => value.to_be_bytes(),
        }
    }
}

/// A number and the format in which it was written.
#[derive(Debug)]
pub(super) struct Operand {
    pub(super) value: Natural,
    pub(super) format: OutFormat,
}

/// Reads a number from the argument itself, from a file or from standard input.
pub(super) fn read_operand(text: &str, format: Format) -> Result<Operand> {
    if is_number(text) {
        return digits(text.as_bytes(), Format::Auto, text);
    }
    let path = Path::new(text);
    if text != "-" && !path.exists() && text.starts_with(|c: char| c.is_ascii_digit()) {
        // This is more likely a mistyped number than a file, so the error names the first wrong character.
        let (radix, skip) = if text.starts_with("0x") { (16, 2) } else { (10, 0) };
        let wrong = text.chars().skip(skip).position(|c| !c.is_digit(radix)).unwrap_or(0) + skip;
        let what = format!("{text:?} is not a number (see character {}), and no file has that name", wrong + 1);
        return Err(input(what, "give decimal digits, 0x and hexadecimal digits, a file, or -"));
    }
    let bytes = read_bytes(path, MOST)?;
    match format {
        Format::Bytes => Ok(Operand { value: Natural::from_be_bytes(&bytes), format: OutFormat::Bytes }),
        Format::BytesLe => Ok(Operand { value: Natural::from_le_bytes(&bytes), format: OutFormat::BytesLe }),
        Format::Auto | Format::Hex | Format::Dec => {
            let bytes = bytes.strip_prefix(MARK.encode_utf8(&mut [0; 4]).as_bytes()).unwrap_or(&bytes);
            digits(bytes, format, if text == "-" { "standard input" } else { text })
        }
    }
}

/// Whether an argument is a number (decimal digits, or `0x` and hexadecimal digits) instead of the name of a file.
pub(super) fn is_number(text: &str) -> bool {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |hex| (hex, 16));
    !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix))
}

/// Parses digits, with white space around and between them.
fn digits(bytes: &[u8], format: Format, name: &str) -> Result<Operand> {
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(bytes.len());
    let prefixed = format != Format::Dec && bytes[start..].starts_with(b"0x");
    let (radix, base) = if prefixed || format == Format::Hex { (16, "hexadecimal") } else { (10, "decimal") };
    let body = &bytes[start + if prefixed { 2 } else { 0 }..];
    let is_digit = |byte: u8| char::from(byte).is_digit(radix);
    if let Some(at) = body.iter().position(|&byte| !is_digit(byte) && !byte.is_ascii_whitespace()) {
        let at = bytes.len() - body.len() + at;
        let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
        let column = at - bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1) + 1;
        // The complete character, if the bytes are valid UTF-8.
        let found = String::from_utf8_lossy(&bytes[at..bytes.len().min(at + 4)]).chars().next().unwrap_or_default();
        let help = match radix {
            10 if found.is_ascii_hexdigit() => "if the number is hexadecimal, begin it with 0x or add --in-format hex",
            _ if !found.is_ascii() || found.is_ascii_control() => "if the file holds bytes, add --in-format bytes",
            _ => "give digits, separated by white space only",
        };
        return Err(input(format!("{name}, line {line}, column {column}: {found:?} is not a {base} digit"), help));
    }
    let text: String = body.iter().copied().filter(|&byte| is_digit(byte)).map(char::from).collect();
    if text.is_empty() {
        return Err(input(format!("{name} holds no {base} digits"), "give a number"));
    }
    match radix {
        16 => Ok(Operand { value: Natural::from_hex(&text)?, format: OutFormat::Hex }),
        _ => Ok(Operand { value: Natural::from_decimal(&text)?, format: OutFormat::Dec }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_with_white_space_and_prefix() {
        let read = |text: &str, format| {
            let operand = digits(text.as_bytes(), format, "x").unwrap();
            (operand.value.to_u64().unwrap(), operand.format)
        };
        assert_eq!(read(" 12\n 34\n", Format::Auto), (1234, OutFormat::Dec));
        assert_eq!(read("\n0xfF\n0", Format::Auto), (0xff0, OutFormat::Hex));
        assert_eq!(read("ff", Format::Hex), (255, OutFormat::Hex));
        assert_eq!(read("0x10", Format::Hex), (16, OutFormat::Hex));
        assert_eq!(read("0010", Format::Dec), (10, OutFormat::Dec));
    }

    #[test]
    fn errors_name_the_place_of_a_wrong_digit() {
        let error = |text: &[u8], format| digits(text, format, "x").unwrap_err().to_string();
        assert!(error(b"12\n3f4", Format::Auto).starts_with(
            "x, line 2, column 2: 'f' is not a decimal digit; if the number is hexadecimal, begin it with 0x"
        ));
        assert!(error(b"0x12g", Format::Auto).starts_with("x, line 1, column 5: 'g' is not a hexadecimal digit"));
        assert!(error(b"0x12", Format::Dec).contains("column 2: 'x' is not a decimal digit"));
        assert!(error("1é".as_bytes(), Format::Auto).contains("column 2: 'é'"));
        assert!(error(b"\xff\xfe", Format::Hex).contains("--in-format bytes"));
        assert!(error(b"-5", Format::Auto).contains("column 1: '-'"));
        assert!(error(b" \n", Format::Auto).contains("no decimal digits"));
        assert!(error(b"0x", Format::Auto).contains("no hexadecimal digits"));
    }

    #[test]
    fn numbers_are_distinguished_from_names_of_files() {
        assert!(["0", "123", "0xab", "0xAB"].into_iter().all(is_number));
        assert!(["", "0x", "cafe", "./123", "-", "12x", "0x1g", "x12"].into_iter().all(|text| !is_number(text)));
        assert!(read_operand("12x", Format::Auto).unwrap_err().to_string().contains("character 3"));
        assert!(read_operand("0x1g", Format::Auto).unwrap_err().to_string().contains("character 4"));
    }
}
