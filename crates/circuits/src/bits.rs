//! Text forms of values of ports of any width.

use crate::program::{MAX_WIDTH, Type};
use crate::{Error, Natural};
use num_bigint::{BigInt, Sign};

/// Parses a value and returns its bits, least significant first. The text is `0x` and hexadecimal digits, `0b` and bits (the most significant first), or a
/// decimal number, which may be negative if the port is signed. Underscores are ignored.
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
    let value: BigInt = text.parse().ok()?;
    let bits = Natural::wrap(&value, width);
    let (negative, top) = (value.sign() == Sign::Minus, width > 0 && bits.bit(width - 1));
    // The width holds the number if no bit was cut off, and the sign is that of the top bit.
    let fits = if signed { negative == top } else { !negative };
    let exact = bits.to_integer() - if negative { BigInt::from(1) << width } else { BigInt::ZERO } == value;
    (fits && exact).then(|| (0..width).map(|place| bits.bit(place)).collect())
}

fn range(width: usize, signed: bool) -> String {
    let numbers = match (width, signed) {
        (1..=128, false) => format!("0..={}", Natural::ones(width)),
        (1..=128, true) => format!("-{}..={}", Natural::ones(width - 1).to_integer() + 1, Natural::ones(width - 1)),
        _ => format!("a decimal number of {width} bits"),
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

/// Formats bits, least significant first. At most [`MAX_WIDTH`] bits give a decimal number, read as two's complement if `signed`; more bits give the form of
/// [`to_hex`].
#[must_use]
pub fn to_number(bits: &[bool], signed: bool) -> String {
    match (u16::try_from(bits.len()), signed) {
        (Ok(width @ 1..=MAX_WIDTH), true) => Type::Int(width).decimal(&Natural::from_bits(bits.iter().copied())),
        (Ok(..=MAX_WIDTH), _) => Natural::from_bits(bits.iter().copied()).to_string(),
        _ => to_hex(bits),
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
            ("-1", 132, true, "-1"),
            ("-340282366920938463463374607431768211456", 129, true, "-340282366920938463463374607431768211456"),
            ("340282366920938463463374607431768211456", 129, false, "340282366920938463463374607431768211456"),
            ("7", 2049, false, &format!("0x{:0513x}", 7)),
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
        let high = Natural::ones(513).to_string();
        for text in ["", "x", "0x", "0b2", "0xg", "1.5", "-1", &high] {
            assert!(parse(text, 512, false).unwrap_err().to_string().contains("0x and up to 128 hexadecimal digits"));
        }
    }
}
