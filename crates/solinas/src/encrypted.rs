//! Encrypted values.

use crate::node::Node;
use crate::operand::{Amount, Operand};
use crate::{Arithmetic, Bits, Error, Integer, Result, Unsigned, Value, runtime};
use solinas_circuits::program::{Op, Type};
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

/// An encrypted value of type `T`: a ciphertext, or an expression over ciphertexts that a [`Server`](crate::Server) computes.
///
/// Operators and methods record an operation and compute nothing, so they cannot fail. [`Server::run`](crate::Server::run) computes
/// all that its argument needs in one batch. Integers wrap; division by zero gives a quotient of all ones and the dividend as remainder.
///
/// Cloning is cheap: clones share the ciphertext.
#[derive(Clone)]
pub struct Encrypted<T: Value> {
    pub(crate) node: Arc<Node>,
    value: PhantomData<fn() -> T>,
}

impl<T: Value> fmt::Debug for Encrypted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.node.is_pending() { "expression" } else { "ciphertext" };
        write!(f, "Encrypted<{}>({state})", T::ty())
    }
}

impl<T: Value> Encrypted<T> {
    pub(crate) fn new(node: Arc<Node>) -> Self {
        Self { node, value: PhantomData }
    }

    pub(crate) fn unary<U: Value>(&self, op: Op) -> Encrypted<U> {
        Encrypted::new(Node::operation(op, U::ty(), vec![Arc::clone(&self.node)]))
    }

    pub(crate) fn binary<U: Value>(&self, op: Op, other: Arc<Node>) -> Encrypted<U> {
        Encrypted::new(Node::operation(op, U::ty(), vec![Arc::clone(&self.node), other]))
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

    /// The ciphertext as a typed value; `what` names it in errors.
    pub(crate) fn from_ciphertext(what: &str, ciphertext: runtime::Ciphertext) -> Result<Self> {
        holds::<T>(what, &ciphertext, false)?;
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

    /// The bytes of the file that [`Self::save`] writes.
    ///
    /// # Errors
    /// For an expression that was not computed.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok(self.ciphertext()?.to_bytes()?)
    }

    /// A ciphertext from the bytes of its file.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::from_ciphertext("the ciphertext", runtime::Ciphertext::from_bytes(bytes)?)
    }
}

/// That a ciphertext is a value, or an array of values, of `T`.
pub(crate) fn holds<T: Value>(what: &str, ciphertext: &runtime::Ciphertext, array: bool) -> Result<()> {
    let describe = |array: bool, ty: Type| if array { format!("an array of {ty}") } else { ty.to_string() };
    let (is_array, ty) = (ciphertext.shape().is_some(), ciphertext.ty());
    if is_array == array && ty == T::ty() {
        return Ok(());
    }
    Err(Error::holds(what, describe(is_array, ty), describe(array, T::ty())))
}

impl<T: Bits> Encrypted<T> {
    /// `self == other`.
    #[must_use]
    pub fn eq(&self, other: impl Operand<T>) -> Encrypted<bool> {
        self.binary(Op::Eq, other.into_node())
    }

    /// `self != other`.
    #[must_use]
    pub fn ne(&self, other: impl Operand<T>) -> Encrypted<bool> {
        self.binary(Op::Ne, other.into_node())
    }

    /// `self < other`.
    #[must_use]
    pub fn lt(&self, other: impl Operand<T>) -> Encrypted<bool> {
        self.binary(Op::Lt, other.into_node())
    }

    /// `self <= other`.
    #[must_use]
    pub fn le(&self, other: impl Operand<T>) -> Encrypted<bool> {
        self.binary(Op::Le, other.into_node())
    }

    /// `self > other`.
    #[must_use]
    pub fn gt(&self, other: impl Operand<T>) -> Encrypted<bool> {
        self.binary(Op::Gt, other.into_node())
    }

    /// `self >= other`.
    #[must_use]
    pub fn ge(&self, other: impl Operand<T>) -> Encrypted<bool> {
        self.binary(Op::Ge, other.into_node())
    }

    /// The value as another type: truncated, or extended by the sign of `T`.
    #[must_use]
    pub fn cast<U: Bits>(&self) -> Encrypted<U> {
        self.unary(Op::Cast)
    }
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

    /// The absolute value. That of the least signed number is the number itself.
    #[must_use]
    pub fn abs(&self) -> Self {
        self.unary(Op::Abs)
    }

    /// The number of zero bits above the highest bit that is one.
    #[must_use]
    pub fn leading_zeros(&self) -> Self {
        self.unary(Op::LeadingZeros)
    }

    /// The bits rotated to the left, by an amount modulo the width.
    #[must_use]
    pub fn rotate_left(&self, by: impl Amount) -> Self {
        self.binary(Op::RotateLeft, by.into_rotation(T::ty()))
    }

    /// The bits rotated to the right, by an amount modulo the width.
    #[must_use]
    pub fn rotate_right(&self, by: impl Amount) -> Self {
        self.binary(Op::RotateRight, by.into_rotation(T::ty()))
    }
}

impl<T: Unsigned> Encrypted<T> {
    /// `table[self]`, of a public table with `2^W` entries for an index of `W` bits, at most 8.
    ///
    /// # Errors
    /// A table of another length, or an index of more than 8 bits.
    pub fn lookup<U: Bits>(&self, table: &[U]) -> Result<Encrypted<U>> {
        let width = T::ty().width();
        if width > 8 || table.len() != 1 << width {
            let want =
                if width > 8 { "an index of at most 8 bits".into() } else { format!("{} entries", 1u64 << width) };
            return Err(Error::holds(
                "the lookup",
                format!("an index of {width} bits and {} entries", table.len()),
                want,
            ));
        }
        let table = table.iter().map(|&entry| entry.to_bits()).collect();
        Ok(self.unary(Op::Lookup(table)))
    }
}

impl Encrypted<bool> {
    /// `a` where it is true, `b` where it is false.
    #[must_use]
    pub fn select<T: Value>(&self, a: impl Operand<T>, b: impl Operand<T>) -> Encrypted<T> {
        let args = vec![Arc::clone(&self.node), a.into_node(), b.into_node()];
        Encrypted::new(Node::operation(Op::Select, T::ty(), args))
    }
}

impl<T: Unsigned> Encrypted<T> {
    /// `values[self]`. An index beyond the end gives the last value.
    ///
    /// # Errors
    /// For no values.
    pub fn choose<U: Value>(&self, values: &[Encrypted<U>]) -> Result<Encrypted<U>> {
        if values.is_empty() {
            return Err(Error::holds("the list", "no values", "one value or more"));
        }
        let values = values.iter().map(|value| Arc::clone(&value.node));
        let args = std::iter::once(Arc::clone(&self.node)).chain(values).collect();
        Ok(Encrypted::new(Node::operation(Op::Index, U::ty(), args)))
    }
}

/// The sum of any number of values, 0 of none. It takes a third of the bootstraps of additions one after the other.
impl<T: Arithmetic> std::iter::Sum for Encrypted<T> {
    fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
        let args: Vec<_> = values.map(|value| value.node).collect();
        let none = args.is_empty();
        Self::new(if none { Node::constant(0, T::ty()) } else { Node::operation(Op::Sum, T::ty(), args) })
    }
}
