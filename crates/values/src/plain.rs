//! Plain values and arrays of one type.

use crate::payload::sizes;
use crate::{Error, Natural, Type};
use num_bigint::BigInt;
use solinas_circuits::program::Shape;

/// A plain value or array of one type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plain {
    /// Type of each element.
    pub ty: Type,
    /// Shape of an array; `None` for a scalar.
    pub shape: Option<Vec<usize>>,
    /// Elements, row by row, as two's complement bits. Range: the width of the type.
    pub values: Vec<Natural>,
}

/// Name of a type with its article, for messages.
fn article(ty: Type) -> String {
    match ty {
        Type::Bool => "a bool".into(),
        _ => format!("a value of type {ty}"),
    }
}

/// The accepted numbers. Above 128 bits, the ends are powers of two.
fn range(ty: Type) -> String {
    match ty {
        Type::Bool => "true, false, 1 or 0".into(),
        Type::Uint(width) if width > 128 => format!("an integer in 0..=2^{width} - 1"),
        Type::Int(width) if width > 128 => format!("an integer in -2^{0}..=2^{0} - 1", width - 1),
        Type::Uint(_) => format!("an integer in 0..={}", ty.mask()),
        Type::Int(width) => {
            let largest = Natural::ones(usize::from(width) - 1).to_integer();
            format!("an integer in {}..={largest}", -1 - &largest)
        }
        Type::Mod(modulus) => format!("an integer in 0..={0}, or -{0}..=-1, counted from the modulus", modulus - 1),
    }
}

impl From<solinas_circuits::Plain> for Plain {
    fn from(plain: solinas_circuits::Plain) -> Self {
        Self { ty: plain.ty, shape: sizes(&plain.shape), values: plain.values }
    }
}

impl TryFrom<Plain> for solinas_circuits::Plain {
    type Error = Error;

    fn try_from(plain: Plain) -> Result<Self, Error> {
        Ok(Self::new(plain.ty, Shape::new(plain.shape.unwrap_or_default())?, plain.values)?)
    }
}

impl Plain {
    /// Creates a value or array from elements that are two's complement bit patterns.
    ///
    /// # Errors
    /// [`Error::Shape`] if the number of elements does not match the shape. [`Error::Value`] for an element out of
    /// range.
    pub fn new<V: Into<Natural>>(ty: Type, shape: Option<Vec<usize>>, values: Vec<V>) -> Result<Self, Error> {
        ty.validate()?;
        let values: Vec<Natural> = values.into_iter().map(Into::into).collect();
        let want =
            shape.as_ref().map_or(Some(1), |shape| shape.iter().try_fold(1usize, |size, &d| size.checked_mul(d)));
        if want != Some(values.len()) {
            let shape = shape.unwrap_or_default();
            return Err(Error::Shape { shape, want: want.unwrap_or(usize::MAX), got: values.len() });
        }
        if let Some(value) = values.iter().find(|value| !ty.holds(value)) {
            return Err(Error::Value { text: format!("{value:#x}"), ty: article(ty), expected: range(ty) });
        }
        Ok(Self { ty, shape, values })
    }

    /// Creates a scalar from a number.
    ///
    /// # Errors
    /// [`Error::Value`] if it is out of range.
    pub fn scalar(ty: Type, value: impl Into<BigInt>) -> Result<Self, Error> {
        let value = value.into();
        Self::new(ty, None, vec![element(ty, Some(&value), &value.to_string())?])
    }

    /// Parses values from text: decimal, or hexadecimal with `0x`, with optional underscores. A bool can also be `true`
    /// or `false`. Modulo a number `m`, negative numbers down to `1 - m` are allowed: `-1` is `m - 1`.
    ///
    /// # Errors
    /// [`Error::Value`] with the text and the range. [`Error::Shape`] if the number of values does not match the shape.
    pub fn parse<S: AsRef<str>>(ty: Type, texts: &[S], shape: Option<Vec<usize>>) -> Result<Self, Error> {
        let values = texts.iter().map(|text| parse_one(ty, text.as_ref())).collect::<Result<_, _>>()?;
        Self::new(ty, shape, values)
    }

    /// Formats values as decimal text, or as `true` and `false` for a bool.
    pub fn to_strings(&self) -> Vec<String> {
        let text = |value: &Natural| match self.ty {
            Type::Bool => (!value.is_zero()).to_string(),
            ty => ty.decimal(value),
        };
        self.values.iter().map(text).collect()
    }
}

fn parse_one(ty: Type, text: &str) -> Result<Natural, Error> {
    let clean = text.trim().replace('_', "");
    if ty == Type::Bool {
        match clean.to_ascii_lowercase().as_str() {
            "true" => return Ok(1.into()),
            "false" => return Ok(0.into()),
            _ => {}
        }
    }
    // The library's parser takes time that grows with the square of the length.
    let number = if clean.len() > LONGEST {
        None
    } else if let Some(digits) = clean.strip_prefix("0x") {
        Natural::from_hex(digits).map(|number| number.to_integer())
    } else {
        clean.parse().ok()
    };
    element(ty, number.as_ref(), text)
}

/// More characters than the widest integer has digits.
const LONGEST: usize = 1000;

/// Returns the bit pattern of a number that fits the type.
fn element(ty: Type, number: Option<&BigInt>, text: &str) -> Result<Natural, Error> {
    ty.validate()?;
    number.and_then(|number| ty.to_bits(number)).ok_or_else(|| {
        let text = text.chars().take(LONGEST).collect();
        Error::Value { text, ty: article(ty), expected: range(ty) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_numbers_modulo_another_are_counted_from_it() {
        let ty = Type::Mod(257);
        let parse = |text| Plain::parse(ty, &[text], None).map(|plain| plain.values[0].clone());
        for (text, want) in [("-1", 256), ("-256", 1), ("-0", 0), ("0", 0), ("256", 256)] {
            assert_eq!(parse(text).unwrap(), want, "{text}");
        }
        assert_eq!(Plain::scalar(ty, -2).unwrap().values, [255]);
        for text in ["-257", "257", "-170141183460469231731687303715884105728", "true", "1.5"] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.contains("an integer in 0..=256, or -256..=-1"), "{message}");
        }
    }
}
