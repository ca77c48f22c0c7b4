//! Encrypted values.

use crate::operand::{Amount, Operand};
use crate::recorded::{Node, operation};
use crate::{Arithmetic, Bits, Error, Integer, Natural, Result, Unsigned, Value};
use solinas_circuits::program::Op;
use std::marker::PhantomData;
use std::sync::Arc;

/// An encrypted value of type `T`: a ciphertext, or an expression over ciphertexts that a [`Server`](crate::Server) computes.
///
/// Operators and methods record an operation. They compute nothing, so they cannot fail. [`Server::run`](crate::Server::run) computes everything
/// that its argument needs. Integers wrap. A division by zero gives a quotient of all ones, and the dividend as remainder. A shift by the width or
/// more gives 0, or copies of the sign.
///
/// Clones share the ciphertext.
///
/// ```
/// use solinas::{Encrypted, Program};
///
/// let clamp = Program::<Encrypted<i16>, Encrypted<u8>>::record(|x| x.max(0).min(255).cast())?;
/// assert_eq!(clamp.evaluate(-7)?, 0);
/// assert_eq!(clamp.evaluate(300)?, 255);
/// # Ok::<(), solinas::Error>(())
/// ```
pub struct Encrypted<T: Value> {
    pub(crate) node: Arc<Node>,
    pub(crate) value: PhantomData<fn() -> T>,
}

impl<T: Integer> Encrypted<T> {
    /// The smaller of both.
    #[must_use]
    pub fn min(&self, other: impl Operand<T>) -> Self {
        self.binary(Op::Min, other.into_node())
    }

    /// The larger of both.
    #[must_use]
    pub fn max(&self, other: impl Operand<T>) -> Self {
        self.binary(Op::Max, other.into_node())
    }

    /// Rotates the bits to the left, by an amount modulo the width.
    #[must_use]
    pub fn rotate_left(&self, by: impl Amount) -> Self {
        self.binary(Op::RotateLeft, by.into_rotation(T::ty()))
    }

    /// Rotates the bits to the right, by an amount modulo the width.
    #[must_use]
    pub fn rotate_right(&self, by: impl Amount) -> Self {
        self.binary(Op::RotateRight, by.into_rotation(T::ty()))
    }
}

impl<T: Unsigned> Encrypted<T> {
    /// `values[self]`. An index beyond the end gives the last value.
    ///
    /// # Errors
    /// There are no values.
    pub fn choose<U: Bits>(&self, values: &[Encrypted<U>]) -> Result<Encrypted<U>> {
        if values.is_empty() {
            return Err(Error::holds("the list", "no values", "one value or more"));
        }
        let values = values.iter().map(|value| Arc::clone(&value.node));
        let args = std::iter::once(Arc::clone(&self.node)).chain(values).collect();
        Ok(Encrypted::new(operation(Op::Index, U::ty(), args)))
    }
}

/// The sum of any number of values; 0 if there are none. It takes fewer bootstraps than one addition after the other.
impl<T: Arithmetic> std::iter::Sum for Encrypted<T> {
    fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
        let values: Vec<_> = values.map(|value| value.node).collect();
        let zero = || Node::constant(Natural::ZERO, T::ty());
        Self::new(if values.is_empty() { zero() } else { operation(Op::Sum, T::ty(), values) })
    }
}

/// As the sum of values.
impl<'e, T: Arithmetic> std::iter::Sum<&'e Self> for Encrypted<T> {
    fn sum<I: Iterator<Item = &'e Self>>(values: I) -> Self {
        values.cloned().sum()
    }
}
