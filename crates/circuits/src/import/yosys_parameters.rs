//! Parameters of the cells of Yosys. Each one is obeyed or refused.

use super::yosys::FORMAT;
use super::yosys_cells::Pins;
use crate::Error;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A number, or bits as text with the most significant bit first.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Parameter {
    Number(i64),
    Text(String),
    Other(serde::de::IgnoredAny),
}

impl Parameter {
    /// Whether a bit is 1. This is how Yosys reads a flag such as the attribute `top`.
    pub(super) fn is_set(&self) -> bool {
        match self {
            Self::Number(number) => *number != 0,
            Self::Text(bits) => bits.bytes().any(|bit| bit == b'1'),
            Self::Other(_) => false,
        }
    }

    /// The bits, least significant first; `None` if one is not 0 or 1. Yosys writes a number only if it has 32 bits, so a negative one stands for these.
    fn bits(&self) -> Option<Vec<bool>> {
        match self {
            Self::Number(number) => {
                let count = if i32::try_from(*number).is_ok() { 32 } else { 63 };
                (*number >= i32::MIN.into()).then(|| (0..count).map(|i| number >> i & 1 == 1).collect())
            }
            Self::Text(text) => text.bytes().rev().map(|c| matches!(c, b'0' | b'1').then_some(c == b'1')).collect(),
            Self::Other(_) => None,
        }
    }
}

/// The parameters of a cell, with its place for errors.
pub(super) struct Parameters<'a> {
    pub(super) all: &'a BTreeMap<String, Parameter>,
    pub(super) place: &'a str,
}

impl Parameters<'_> {
    fn refused(&self, name: &str, problem: &str) -> Error {
        Error::Unsupported {
            format: FORMAT,
            place: self.place.to_owned(),
            what: format!("the parameter '{}', which {problem},", name.chars().take(40).collect::<String>()),
            fix: "write the netlist with Yosys: write_json",
        }
    }

    /// The bits of a parameter, least significant first, without zeros above the highest 1. Without the parameter there are none.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a bit is not 0 or 1.
    pub(super) fn bits(&self, name: &str) -> Result<Vec<bool>, Error> {
        let Some(parameter) = self.all.get(name) else { return Ok(Vec::new()) };
        let mut bits = parameter.bits().ok_or_else(|| self.refused(name, "does not consist of bits 0 and 1"))?;
        bits.truncate(bits.iter().rposition(|bit| *bit).map_or(0, |top| top + 1));
        Ok(bits)
    }

    /// At most `count` bits of a parameter, without zeros above the highest 1.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if there are more bits, or one is not 0 or 1.
    pub(super) fn table_up_to(&self, name: &str, count: usize) -> Result<Vec<bool>, Error> {
        let bits = self.bits(name)?;
        if bits.len() > count {
            return Err(self.refused(name, &format!("has more than {count} bits")));
        }
        Ok(bits)
    }

    /// The bits of a parameter, extended by zeros to `count` bits.
    ///
    /// # Errors
    /// As [`Self::table_up_to`].
    pub(super) fn table(&self, name: &str, count: usize) -> Result<Vec<bool>, Error> {
        let mut bits = self.table_up_to(name, count)?;
        bits.resize(count, false);
        Ok(bits)
    }

    /// A number; `None` without the parameter.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if it is not a number below 2^31.
    pub(super) fn number(&self, name: &str) -> Result<Option<usize>, Error> {
        if !self.all.contains_key(name) {
            return Ok(None);
        }
        let bits = self.table(name, 31)?;
        Ok(Some(bits.into_iter().rev().fold(0, |number, bit| 2 * number + usize::from(bit))))
    }

    /// A flag, which is 0 without the parameter.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if it is neither 0 nor 1.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Error> {
        Ok(self.table(name, 1)?[0])
    }

    /// Checks that the cell knows each parameter, and that the widths among them are those of the pins.
    ///
    /// # Errors
    /// [`Error::Unsupported`] with the parameter.
    pub(super) fn check(&self, pins: &Pins, widths: &[usize], outputs: &[usize]) -> Result<(), Error> {
        for name in self.all.keys() {
            if !pins.widths.iter().any(|(width, _)| width == name) && !pins.parameters.contains(&&**name) {
                return Err(self.refused(name, "this kind of cell does not have"));
            }
        }
        for &(name, pin) in pins.widths {
            let place = |pins: &[&str]| pins.iter().position(|other| *other == pin);
            let input = place(pins.inputs).map(|at| widths[at]);
            let actual = input.or_else(|| place(pins.outputs).map(|at| outputs[at]));
            if let (Some(number), Some(actual)) = (self.number(name)?, actual)
                && number != actual
            {
                return Err(self.refused(name, &format!("is {number}, while pin {pin} has {actual} bits")));
            }
        }
        Ok(())
    }
}
