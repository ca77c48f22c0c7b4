//! Plain values and arrays of one type.

use crate::{Error, Type};

/// A plain value or array of one type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plain {
    /// Type of each element.
    pub ty: Type,
    /// Shape of an array; `None` for a scalar.
    pub shape: Option<Vec<usize>>,
    /// Elements, row by row, as two's complement bits. Range: the width of the type.
    pub values: Vec<u128>,
}

/// Name of a type with its article, for messages.
fn article(ty: Type) -> String {
    match ty {
        Type::Bool => "a bool".into(),
        _ => format!("a value of type {ty}"),
    }
}

fn range(ty: Type) -> String {
    match ty {
        Type::Bool => "true, false, 1 or 0".into(),
        Type::Uint(_) => format!("an integer in 0..={}", ty.mask()),
        Type::Int(_) => {
            let largest = (ty.mask() >> 1) as i128;
            format!("an integer in {}..={largest}", -1 - largest)
        }
        Type::Mod(modulus) => format!("an integer in 0..={0}, or -{0}..=-1, counted from the modulus", modulus - 1),
    }
}

impl Plain {
    /// Creates a value or array from elements that are two's complement bit patterns.
    ///
    /// # Errors
    /// [`Error::Shape`] if the number of elements does not match the shape. [`Error::Value`] for an element out of
    /// range.
    pub fn new(ty: Type, shape: Option<Vec<usize>>, values: Vec<u128>) -> Result<Self, Error> {
        ty.validate()?;
        let want =
            shape.as_ref().map_or(Some(1), |shape| shape.iter().try_fold(1usize, |size, &d| size.checked_mul(d)));
        if want != Some(values.len()) {
            let shape = shape.unwrap_or_default();
            return Err(Error::Shape { shape, want: want.unwrap_or(usize::MAX), got: values.len() });
        }
        if let Some(value) = values.iter().find(|&&value| !ty.holds(value)) {
            return Err(Error::Value { text: format!("{value:#x}"), ty: article(ty), expected: range(ty) });
        }
        Ok(Self { ty, shape, values })
    }

    /// Creates a scalar from an unsigned number.
    ///
    /// # Errors
    /// [`Error::Value`] if it is out of range.
    pub fn unsigned(ty: Type, value: u128) -> Result<Self, Error> {
        Self::new(ty, None, vec![element(ty, Some(value), None, &value.to_string())?])
    }

    /// Creates a scalar from a signed number.
    ///
    /// # Errors
    /// [`Error::Value`] if it is out of range.
    pub fn signed(ty: Type, value: i128) -> Result<Self, Error> {
        Self::new(ty, None, vec![element(ty, u128::try_from(value).ok(), Some(value), &value.to_string())?])
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
        let text = |&value: &u128| match self.ty {
            Type::Bool => (value != 0).to_string(),
            Type::Uint(_) | Type::Mod(_) => value.to_string(),
            Type::Int(_) => self.ty.to_i128(value).to_string(),
        };
        self.values.iter().map(text).collect()
    }
}

fn parse_one(ty: Type, text: &str) -> Result<u128, Error> {
    let clean = text.trim().replace('_', "");
    if ty == Type::Bool {
        match clean.to_ascii_lowercase().as_str() {
            "true" => return Ok(1),
            "false" => return Ok(0),
            _ => {}
        }
    }
    let (unsigned, signed) = match clean.strip_prefix("0x") {
        Some(digits) => (u128::from_str_radix(digits, 16).ok(), None),
        None => (clean.parse().ok(), clean.parse().ok()),
    };
    element(ty, unsigned, signed, text)
}

/// Returns the bit pattern of a number that fits the type. The number is given in its unsigned and in its signed form,
/// as far as it has them.
fn element(ty: Type, unsigned: Option<u128>, signed: Option<i128>, text: &str) -> Result<u128, Error> {
    ty.validate()?;
    let fits = match (ty, unsigned, signed) {
        (Type::Bool | Type::Uint(_) | Type::Mod(_), Some(value), _) => ty.holds(value).then_some(value),
        (Type::Int(_), Some(value), _) => (value <= ty.mask() >> 1).then_some(value),
        (Type::Int(_), None, Some(value)) => {
            (value >= -1 - (ty.mask() >> 1) as i128).then_some(value as u128 & ty.mask())
        }
        (Type::Mod(modulus), None, Some(value)) => {
            let modulus = i128::from(modulus);
            (value > -modulus).then(|| value.rem_euclid(modulus) as u128)
        }
        _ => None,
    };
    fits.ok_or_else(|| Error::Value { text: text.into(), ty: article(ty), expected: range(ty) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_numbers_modulo_another_are_counted_from_it() {
        let ty = Type::Mod(257);
        let parse = |text| Plain::parse(ty, &[text], None).map(|plain| plain.values[0]);
        for (text, want) in [("-1", 256), ("-256", 1), ("-0", 0), ("0", 0), ("256", 256)] {
            assert_eq!(parse(text).unwrap(), want, "{text}");
        }
        assert_eq!(Plain::signed(ty, -2).unwrap().values, [255]);
        for text in ["-257", "257", "-170141183460469231731687303715884105728", "true", "1.5"] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.contains("an integer in 0..=256, or -256..=-1"), "{message}");
        }
    }
}
