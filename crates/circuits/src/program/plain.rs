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
        let values: Vec<Natural> = values.into_iter().map(Into::into).collect();
        if values.len() != shape.size() {
            return Err(Error::ElementCount { shape, got: values.len() });
        }
        if let Some(value) = values.iter().find(|value| !ty.holds(value)) {
            return Err(Error::ConstantOutOfRange { what: "the value", value: value.clone(), ty });
        }
        Ok(Self { ty, shape, values })
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
