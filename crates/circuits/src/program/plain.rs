//! Public values and arrays of one type.

use super::{Shape, Type, ValueType};
use crate::{Error, Natural};

/// A public value, or an array of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plain {
    /// Type of each element.
    pub ty: Type,
    /// Shape; that of a scalar for one value.
    pub shape: Shape,
    /// The elements, row by row, by their bits.
    pub values: Vec<Natural>,
}

impl Plain {
    /// An array, or one value, by the bits of its elements.
    ///
    /// # Errors
    /// [`Error::ElementCount`] if the number of elements is not that of the shape; [`Error::ConstantOutOfRange`] for an element that the type does not hold.
    pub fn new<V: Into<Natural>>(ty: Type, shape: Shape, values: impl IntoIterator<Item = V>) -> Result<Self, Error> {
        ty.validate()?;
        let plain = Self { ty, shape, values: values.into_iter().map(Into::into).collect() };
        plain.check()?;
        Ok(plain)
    }

    /// Checks that the elements are those of the shape and the type.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.values.len() != self.shape.size() {
            return Err(Error::ElementCount { shape: self.shape.clone(), got: self.values.len() });
        }
        match self.values.iter().find(|value| !self.ty.holds(value)) {
            Some(value) => Err(Error::ConstantOutOfRange { what: "the value", value: value.clone(), ty: self.ty }),
            None => Ok(()),
        }
    }

    /// One value.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn scalar(ty: Type, value: impl Into<Natural>) -> Result<Self, Error> {
        Self::new(ty, Shape::scalar(), [value])
    }

    /// Its type and shape.
    #[must_use]
    pub fn value_type(&self) -> ValueType {
        ValueType { ty: self.ty, shape: self.shape.clone() }
    }
}
