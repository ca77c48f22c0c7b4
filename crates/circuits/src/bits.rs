//! Text forms of values of ports of any width.

use crate::Error;

/// Parses a value and returns its bits, least significant first. The text is `0x` and hexadecimal digits, `0b` and bits (the most significant first), or a
/// decimal number of up to 128 bits, which may be negative if the port is signed. Underscores are ignored.
///
/// # Errors
/// [`Error::BadValue`] for a text that is not a number, or for a number that does not fit the width.
pub fn parse(text: &str, width: usize, signed: bool) -> Result<Vec<bool>, Error> {
    let clean = text.trim().replace('_', "");
    let digits =
        clean.strip_prefix("0x").map(|digits| (digits, 4)).or(clean.strip_prefix("0b").map(|digits| (digits, 1)));
    let bits = match digits {
        Some((digits, each)) => digit_bits(digits, each),
        None => decimal(&clean, width, signed),
    };
    let fits = |bits: &Vec<bool>| bits.iter().skip(width).all(|bit| !bit);
    let mut bits = bits.filter(fits).ok_or_else(|| Error::BadValue {
        text: short(text),
        width,
        expected: range(width, signed),
    })?;
    bits.resize(width, false);
    Ok(bits)
}

/// The bits of digits of `each` bits. The most significant digit comes first.
fn digit_bits(digits: &str, each: u32) -> Option<Vec<bool>> {
    let value = |c: char| c.to_digit(1 << each);
    let values: Vec<u32> = digits.chars().rev().map(value).collect::<Option<_>>()?;
    let bits = values.iter().flat_map(|digit| (0..each).map(move |i| digit >> i & 1 == 1)).collect();
    (!digits.is_empty()).then_some(bits)
}

fn decimal(text: &str, width: usize, signed: bool) -> Option<Vec<bool>> {
    let of = |value: u128, fill: bool| {
        (0..width.max(128)).map(|i| if i < 128 { value >> i & 1 == 1 } else { fill }).collect()
    };
    if !signed {
        return Some(of(text.parse().ok()?, false));
    }
    let value: i128 = text.parse().ok()?;
    let outside = |bits: usize| value >> bits != 0 && value >> bits != -1;
    if width < 128 && outside(width - 1) {
        return None;
    }
    let mut bits: Vec<bool> = of(value as u128, value < 0);
    bits.truncate(width);
    Some(bits)
}

fn range(width: usize, signed: bool) -> String {
    let numbers = match (width, signed) {
        (1..128, false) => format!("0..={}", (1u128 << width) - 1),
        (1..128, true) => format!("{}..={}", -1i128 << (width - 1), (1i128 << (width - 1)) - 1),
        _ => "a decimal number of up to 128 bits".to_owned(),
    };
    format!("{numbers}, 0x and up to {} hexadecimal digits, or 0b and up to {width} bits", width.div_ceil(4))
}

fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Formats bits, least significant first, as `0x` and one hexadecimal digit for each four bits.
#[must_use]
pub fn to_hex(bits: &[bool]) -> String {
    let digit = |bits: &[bool]| {
        let value = bits.iter().rev().fold(0, |value, &bit| 2 * value + u32::from(bit));
        char::from_digit(value, 16).unwrap_or('0')
    };
    format!("0x{}", bits.chunks(4).rev().map(digit).collect::<String>())
}

/// Formats bits, least significant first, as `0b` and the bits, most significant first.
#[must_use]
pub fn to_binary(bits: &[bool]) -> String {
    format!("0b{}", bits.iter().rev().map(|&bit| if bit { '1' } else { '0' }).collect::<String>())
}

/// Formats bits, least significant first. At most 128 bits give a decimal number, read as two's complement if `signed`; more bits give the form of
/// [`to_hex`].
#[must_use]
pub fn to_number(bits: &[bool], signed: bool) -> String {
    if bits.len() > 128 {
        return to_hex(bits);
    }
    let value = bits.iter().rev().fold(0u128, |value, &bit| value << 1 | u128::from(bit));
    match bits.last() {
        Some(true) if signed => (value as i128 | i128::MIN >> (128 - bits.len())).to_string(),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_any_width_are_read_and_written() {
        for (text, width, signed, want) in [
            ("5", 4, false, "5"),
            ("0x_f", 4, false, "15"),
            ("0b101", 8, false, "5"),
            ("-3", 4, true, "-3"),
            ("0xd", 4, true, "-3"),
            ("-1", 128, true, "-1"),
            ("-8", 4, true, "-8"),
            ("340282366920938463463374607431768211455", 128, false, "340282366920938463463374607431768211455"),
            ("-1", 132, true, "0xfffffffffffffffffffffffffffffffff"),
            ("7", 130, false, "0x000000000000000000000000000000007"),
        ] {
            let bits = parse(text, width, signed).unwrap();
            assert_eq!((bits.len(), to_number(&bits, signed).as_str()), (width, want), "{text}");
            assert_eq!(parse(&to_hex(&bits), width, signed).unwrap(), bits);
            assert_eq!(parse(&to_binary(&bits), width, signed).unwrap(), bits);
        }
        let long = "0123456789abcdef".repeat(32);
        assert_eq!(to_hex(&parse(&format!("0x{long}"), 2048, false).unwrap()), format!("0x{long}"));
    }

    #[test]
    fn values_that_do_not_fit_are_refused_with_the_range() {
        for (text, width, signed) in [
            ("16", 4, false),
            ("-1", 4, false),
            ("8", 4, true),
            ("-9", 4, true),
            ("0x10", 4, false),
            ("0b10000", 4, true),
        ] {
            let message = parse(text, width, signed).unwrap_err().to_string();
            assert!(message.contains(if signed { "-8..=7" } else { "0..=15" }), "{message}");
        }
        for text in ["", "x", "0x", "0b2", "0xg", "1.5", "340282366920938463463374607431768211456"] {
            assert!(parse(text, 512, false).unwrap_err().to_string().contains("0x and up to 128 hexadecimal digits"));
        }
    }
}
