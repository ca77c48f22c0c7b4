//! Encrypted arrays.

use crate::operand::ArrayOperand;
use crate::recorded::{Node, line, operation};
use crate::{Arithmetic, Bits, Encrypted, Integer, Natural, Result, Unsigned, Value, engine};
use solinas_circuits::program::{Axes, How, Op, Shape, ValueType};
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

/// An encrypted array of values of type `T`, of one dimension.
///
/// Operations run element by element. The other operand is an array of the same length, encrypted or public, or a scalar, which goes with every
/// element. An array of one element does so too, except in slots ([`Mod`](crate::Mod)). [`Server::run`](crate::Server::run) refuses other lengths. Like
/// [`Encrypted`], an array is a ciphertext or an expression.
///
/// ```
/// let (client, server_key) = solinas::generate_keys()?;
/// let ages = client.encrypt([17u8, 42, 65])?;
/// let adults = ages.ge(18).cast::<u8>().sum();
/// let server = solinas::Server::new(&server_key)?;
/// assert_eq!(client.decrypt(&server.run(adults)?)?, 2);
/// # Ok::<(), solinas::Error>(())
/// ```
pub struct EncryptedArray<T: Value> {
    pub(crate) node: Arc<Node>,
    pub(crate) value: PhantomData<fn() -> T>,
}

impl<T: Value> EncryptedArray<T> {
    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.node.shape().size()
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rotates the elements: element `i` of the result is element `i + by` of `self`, modulo the length. In slots ([`Mod`](crate::Mod)) the key needs
    /// rotation keys; elsewhere a rotation costs nothing.
    #[must_use]
    pub fn rotate_left(&self, by: i64) -> Self {
        self.unary(Op::Roll { by, axes: Axes::All })
    }

    /// The element with that index, which exists.
    fn element(&self, index: usize) -> Arc<Node> {
        self.node.elements(vec![index as u64], Shape::scalar())
    }

    /// The elements, combined to one.
    fn reduced(&self, how: How) -> Encrypted<T> {
        Encrypted::new(operation(Op::Reduce { how, axes: Axes::All }, T::ty(), vec![Arc::clone(&self.node)]))
    }
}

impl<T: Bits> EncryptedArray<T> {
    /// The element with that index, from 0. It costs nothing.
    ///
    /// # Errors
    /// There is no such element.
    pub fn get(&self, index: usize) -> Result<Encrypted<T>> {
        if index >= self.len() {
            return Err(engine::Error::Index { index, len: self.len() }.into());
        }
        Ok(Encrypted::new(self.element(index)))
    }

    /// The element at an encrypted index, from 0. An index beyond the end gives the last element. `None` if there are no elements.
    ///
    /// A tree takes one selection for each element except the last, and the logarithm of the length in rounds.
    #[must_use]
    pub fn at<U: Unsigned>(&self, index: &Encrypted<U>) -> Option<Encrypted<T>> {
        if self.is_empty() {
            return None;
        }
        let elements = (0..self.len()).map(|index| self.element(index));
        let args = std::iter::once(Arc::clone(&index.node)).chain(elements).collect();
        Some(Encrypted::new(operation(Op::Index, T::ty(), args)))
    }

    /// The elements in a range. It costs nothing.
    ///
    /// # Errors
    /// The range ends after the last element, or before it begins.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Self> {
        let len = self.len();
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => len,
        };
        if start > end || end > len {
            return Err(engine::Error::Index { index: start.max(end), len }.into());
        }
        Ok(Self::new(self.node.elements((start as u64..end as u64).collect(), line(end - start))))
    }

    /// The elements, in order. It costs nothing.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Encrypted<T>> + ExactSizeIterator + '_ {
        (0..self.len()).map(|index| Encrypted::new(self.element(index)))
    }
}

impl<T: Arithmetic> EncryptedArray<T> {
    /// The sum of the elements, which wraps; 0 if there are none. In slots ([`Mod`](crate::Mod)) the key needs rotation keys.
    #[must_use]
    pub fn sum(&self) -> Encrypted<T> {
        let zero = || Encrypted::new(Node::constant(Natural::ZERO, T::ty()));
        if self.is_empty() { zero() } else { self.reduced(How::Sum) }
    }

    /// The sum of the products of the elements, which wraps.
    #[must_use]
    pub fn dot(&self, other: impl ArrayOperand<T>) -> Encrypted<T> {
        self.binary::<T>(Op::Mul, other.into_node()).sum()
    }
}

impl<T: Integer> EncryptedArray<T> {
    /// The smaller of both, element by element.
    #[must_use]
    pub fn minimum(&self, other: impl ArrayOperand<T>) -> Self {
        self.binary(Op::Min, other.into_node())
    }

    /// The larger of both, element by element.
    #[must_use]
    pub fn maximum(&self, other: impl ArrayOperand<T>) -> Self {
        self.binary(Op::Max, other.into_node())
    }

    /// The smallest element; `None` if there are no elements.
    #[must_use]
    pub fn min(&self) -> Option<Encrypted<T>> {
        (!self.is_empty()).then(|| self.reduced(How::Min))
    }

    /// The largest element; `None` if there are no elements.
    #[must_use]
    pub fn max(&self) -> Option<Encrypted<T>> {
        (!self.is_empty()).then(|| self.reduced(How::Max))
    }
}

/// An array of encrypted values, in order. [`Server::run`](crate::Server::run) refuses an array of no values.
impl<T: Bits> FromIterator<Encrypted<T>> for EncryptedArray<T> {
    fn from_iter<I: IntoIterator<Item = Encrypted<T>>>(values: I) -> Self {
        let parts: Vec<_> = values.into_iter().map(|value| value.node).collect();
        let of = ValueType { ty: T::ty(), shape: line(parts.len()) };
        Self::new(Node::stack(parts, of))
    }
}
