//! Encrypted arrays.

use crate::encrypted::holds;
use crate::node::Node;
use crate::operand::ArrayOperand;
use crate::{Bits, Encrypted, Error, Integer, Mod, Result, Value, runtime};
use solinas_circuits::program::Op;
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

/// An encrypted array of values of type `T`, of one dimension. Operations run element by element; scalars go with every element.
///
/// As [`Encrypted`], it is a ciphertext or an expression. Arrays of one expression have one length.
#[derive(Clone)]
pub struct EncryptedArray<T: Value> {
    pub(crate) node: Arc<Node>,
    value: PhantomData<fn() -> T>,
}

impl<T: Value> fmt::Debug for EncryptedArray<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.node.result() {
            Some(ciphertext) => write!(f, "EncryptedArray<{}>({} elements)", T::ty(), ciphertext.len()),
            None => write!(f, "EncryptedArray<{}>(expression)", T::ty()),
        }
    }
}

impl<T: Value> EncryptedArray<T> {
    pub(crate) fn new(node: Arc<Node>) -> Self {
        Self { node, value: PhantomData }
    }

    pub(crate) fn unary<U: Value>(&self, op: Op) -> EncryptedArray<U> {
        EncryptedArray::new(Node::operation(op, U::ty(), vec![Arc::clone(&self.node)]))
    }

    pub(crate) fn binary<U: Value>(&self, op: Op, other: Arc<Node>) -> EncryptedArray<U> {
        EncryptedArray::new(Node::operation(op, U::ty(), vec![Arc::clone(&self.node), other]))
    }

    /// Whether it is a ciphertext, not an expression that has yet to be computed.
    #[must_use]
    pub fn is_computed(&self) -> bool {
        self.node.result().is_some()
    }

    /// The ciphertext.
    ///
    /// # Errors
    /// For an expression that was not computed.
    pub fn ciphertext(&self) -> Result<&runtime::Ciphertext> {
        self.node.result().ok_or_else(Error::not_computed)
    }

    /// Number of elements.
    ///
    /// # Errors
    /// For an expression that was not computed.
    pub fn len(&self) -> Result<usize> {
        Ok(self.ciphertext()?.len())
    }

    /// Whether there are no elements.
    ///
    /// # Errors
    /// For an expression that was not computed.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The element number `index`.
    ///
    /// # Errors
    /// For an expression that was not computed, an index past the end, and arrays in slots (BGV, NTRU), which share a ciphertext.
    pub fn get(&self, index: usize) -> Result<Encrypted<T>> {
        Ok(Encrypted::new(Node::ciphertext(self.ciphertext()?.get(index)?)))
    }

    /// Single values as an array.
    ///
    /// # Errors
    /// For no values, values of different keys, values that were not computed, and values in slots (BGV, NTRU).
    pub fn stack(values: &[Encrypted<T>]) -> Result<Self> {
        let parts = values.iter().map(|value| value.ciphertext().cloned()).collect::<Result<_>>()?;
        Ok(Self::new(Node::ciphertext(runtime::Ciphertext::stack(parts)?)))
    }

    pub(crate) fn from_ciphertext(what: &str, ciphertext: runtime::Ciphertext) -> Result<Self> {
        holds::<T>(what, &ciphertext, true)?;
        Ok(Self::new(Node::ciphertext(ciphertext)))
    }

    /// Writes the ciphertext to a file, which it replaces unless that holds a secret.
    ///
    /// # Errors
    /// For an expression that was not computed; from the file, and then what was there stays.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(self.ciphertext()?.save(path.as_ref())?)
    }

    /// Reads a ciphertext from a file.
    ///
    /// # Errors
    /// A file that is missing, damaged, newer than this library, or holds another type.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_ciphertext(&path.display().to_string(), runtime::Ciphertext::load(path)?)
    }
}

impl<T: Bits> EncryptedArray<T> {
    /// `self == other`, element by element.
    #[must_use]
    pub fn eq(&self, other: impl ArrayOperand<T>) -> EncryptedArray<bool> {
        self.binary(Op::Eq, other.into_node())
    }

    /// `self != other`, element by element.
    #[must_use]
    pub fn ne(&self, other: impl ArrayOperand<T>) -> EncryptedArray<bool> {
        self.binary(Op::Ne, other.into_node())
    }

    /// `self < other`, element by element.
    #[must_use]
    pub fn lt(&self, other: impl ArrayOperand<T>) -> EncryptedArray<bool> {
        self.binary(Op::Lt, other.into_node())
    }

    /// `self <= other`, element by element.
    #[must_use]
    pub fn le(&self, other: impl ArrayOperand<T>) -> EncryptedArray<bool> {
        self.binary(Op::Le, other.into_node())
    }

    /// `self > other`, element by element.
    #[must_use]
    pub fn gt(&self, other: impl ArrayOperand<T>) -> EncryptedArray<bool> {
        self.binary(Op::Gt, other.into_node())
    }

    /// `self >= other`, element by element.
    #[must_use]
    pub fn ge(&self, other: impl ArrayOperand<T>) -> EncryptedArray<bool> {
        self.binary(Op::Ge, other.into_node())
    }

    /// The elements as another type: truncated, or extended by the sign of `T`.
    #[must_use]
    pub fn cast<U: Bits>(&self) -> EncryptedArray<U> {
        self.unary(Op::Cast)
    }
}

impl<T: Integer> EncryptedArray<T> {
    /// The smaller elements.
    #[must_use]
    pub fn min(&self, other: impl ArrayOperand<T>) -> Self {
        self.binary(Op::Min, other.into_node())
    }

    /// The larger elements.
    #[must_use]
    pub fn max(&self, other: impl ArrayOperand<T>) -> Self {
        self.binary(Op::Max, other.into_node())
    }
}

impl EncryptedArray<bool> {
    /// The elements of `a` where it is true, those of `b` where it is false.
    #[must_use]
    pub fn select<T: Value>(&self, a: impl ArrayOperand<T>, b: impl ArrayOperand<T>) -> EncryptedArray<T> {
        let args = vec![Arc::clone(&self.node), a.into_node(), b.into_node()];
        EncryptedArray::new(Node::operation(Op::Select, T::ty(), args))
    }
}

impl<T: Integer> EncryptedArray<T> {
    /// The sum of the elements, which wraps.
    ///
    /// # Errors
    /// For an expression that was not computed.
    pub fn sum(&self) -> Result<Encrypted<T>> {
        (0..self.len()?).map(|index| self.get(index)).sum()
    }
}

/// Slots (BGV, NTRU): one ciphertext holds thousands of elements.
impl<const P: u32> EncryptedArray<Mod<P>> {
    /// The sum of the elements.
    #[must_use]
    pub fn sum(&self) -> Encrypted<Mod<P>> {
        Encrypted::new(self.unary::<Mod<P>>(Op::SumElements).node)
    }

    /// The sum of the products of the elements.
    #[must_use]
    pub fn dot(&self, other: impl ArrayOperand<Mod<P>>) -> Encrypted<Mod<P>> {
        self.binary::<Mod<P>>(Op::Mul, other.into_node()).sum()
    }

    /// The array whose element `i` is the element `i + by`, counted around.
    #[must_use]
    pub fn rotate_elements(&self, by: i64) -> Self {
        self.unary(Op::RotateElements(by))
    }
}
