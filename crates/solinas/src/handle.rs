//! The common part of encrypted values and encrypted arrays.

use crate::operand::{ArrayOperand, Operand};
use crate::recorded::{self, Node, operation};
use crate::{Bits, Encrypted, EncryptedArray, Error, Integer, Natural, Result, Unsigned, Value, engine};
use solinas_circuits::program::{Op, Type};
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

/// An [`Encrypted`] or an [`EncryptedArray`].
pub trait Handle: Sized {
    /// Its values in the clear.
    type Plain;

    fn from_node(node: Arc<Node>) -> Self;

    fn node(&self) -> &Arc<Node>;

    /// The plain values, from the bits of each element.
    fn plain(values: Vec<Natural>) -> Option<Self::Plain>;
}

/// The ciphertext of a handle.
fn ciphertext(handle: &impl Handle) -> Result<&engine::Ciphertext> {
    recorded::ciphertext(handle.node()).ok_or_else(Error::not_computed)
}

/// A handle of a ciphertext. `what` names the ciphertext in errors.
fn checked<T: Value, H: Handle>(what: &str, ciphertext: engine::Ciphertext, array: bool) -> Result<H> {
    let (ty, is_array) = (ciphertext.ty(), ciphertext.shape().is_some());
    if ty == T::ty() && is_array == array {
        return Ok(H::from_node(Node::value(ciphertext.into())));
    }
    Err(Error::holds(what, described(ty, is_array), described(T::ty(), array)))
}

pub(crate) fn described(ty: Type, array: bool) -> String {
    if array { format!("an array of {ty}") } else { format!("one {ty}") }
}

macro_rules! methods {
    ($handle:ident, $operand:ident, array: $array:literal, $each:literal) => {
        impl<T: Value> Clone for $handle<T> {
            fn clone(&self) -> Self {
                Self::new(Arc::clone(&self.node))
            }
        }

        impl<T: Value> fmt::Debug for $handle<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let state = if self.is_computed() { "ciphertext" } else { "expression" };
                write!(f, "{}<{}>({state}", stringify!($handle), T::ty())?;
                if $array { write!(f, ", {} elements)", self.node.shape().size()) } else { f.write_str(")") }
            }
        }

        impl<T: Value> $handle<T> {
            pub(crate) fn new(node: Arc<Node>) -> Self {
                Self { node, value: PhantomData }
            }

            pub(crate) fn unary<U: Value>(&self, op: Op) -> $handle<U> {
                $handle::new(operation(op, U::ty(), vec![Arc::clone(&self.node)]))
            }

            pub(crate) fn binary<U: Value>(&self, op: Op, other: Arc<Node>) -> $handle<U> {
                $handle::new(operation(op, U::ty(), vec![Arc::clone(&self.node), other]))
            }

            /// Whether this is a ciphertext. Otherwise it is an expression that a server has not computed yet.
            #[must_use]
            pub fn is_computed(&self) -> bool {
                self.node.result().is_some()
            }

            /// The ciphertext.
            ///
            /// # Errors
            /// The expression is not computed yet.
            pub fn ciphertext(&self) -> Result<&engine::Ciphertext> {
                ciphertext(self)
            }

            /// Takes a ciphertext whose type is known at run time.
            ///
            /// # Errors
            /// The ciphertext has another type.
            pub fn from_ciphertext(ciphertext: engine::Ciphertext) -> Result<Self> {
                checked::<T, _>("the ciphertext", ciphertext, $array)
            }

            /// Writes the ciphertext to a file. It replaces another ciphertext, but no key.
            ///
            /// # Errors
            /// The expression is not computed yet, or the file cannot be written. An older file then stays as it was.
            pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
                Ok(ciphertext(self)?.save(path.as_ref())?)
            }

            /// Reads a ciphertext from a file.
            ///
            /// # Errors
            /// The file is missing, damaged, newer than this library, or holds another type.
            pub fn load(path: impl AsRef<Path>) -> Result<Self> {
                let path = path.as_ref();
                checked::<T, _>(&path.display().to_string(), engine::Ciphertext::load(path)?, $array)
            }

            /// The bytes of the file that [`Self::save`] writes.
            ///
            /// # Errors
            /// The expression is not computed yet.
            pub fn to_bytes(&self) -> Result<Vec<u8>> {
                Ok(ciphertext(self)?.to_bytes()?)
            }

            /// Reads a ciphertext from the bytes of its file.
            ///
            /// # Errors
            /// As [`Self::load`].
            pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
                Self::from_ciphertext(engine::Ciphertext::from_bytes(bytes)?)
            }
        }

        impl<T: Bits> $handle<T> {
            #[doc = concat!("`self == other`", $each, ".")]
            #[must_use]
            pub fn eq(&self, other: impl $operand<T>) -> $handle<bool> {
                self.binary(Op::Eq, other.into_node())
            }

            #[doc = concat!("`self != other`", $each, ".")]
            #[must_use]
            pub fn ne(&self, other: impl $operand<T>) -> $handle<bool> {
                self.binary(Op::Ne, other.into_node())
            }

            #[doc = concat!("`self < other`", $each, ".")]
            #[must_use]
            pub fn lt(&self, other: impl $operand<T>) -> $handle<bool> {
                self.binary(Op::Lt, other.into_node())
            }

            #[doc = concat!("`self <= other`", $each, ".")]
            #[must_use]
            pub fn le(&self, other: impl $operand<T>) -> $handle<bool> {
                self.binary(Op::Le, other.into_node())
            }

            #[doc = concat!("`self > other`", $each, ".")]
            #[must_use]
            pub fn gt(&self, other: impl $operand<T>) -> $handle<bool> {
                self.binary(Op::Gt, other.into_node())
            }

            #[doc = concat!("`self >= other`", $each, ".")]
            #[must_use]
            pub fn ge(&self, other: impl $operand<T>) -> $handle<bool> {
                self.binary(Op::Ge, other.into_node())
            }

            #[doc = concat!("Converts to another type", $each, ": truncates, or extends by the sign of `T`.")]
            #[must_use]
            pub fn cast<U: Bits>(&self) -> $handle<U> {
                self.unary(Op::Cast)
            }
        }

        impl<T: Integer> $handle<T> {
            #[doc = concat!("The absolute value", $each, ". That of the least signed number is the number itself.")]
            #[must_use]
            pub fn abs(&self) -> Self {
                self.unary(Op::Abs)
            }

            #[doc = concat!("The number of zero bits above the highest bit that is one", $each, ".")]
            #[must_use]
            pub fn leading_zeros(&self) -> Self {
                self.unary(Op::LeadingZeros)
            }
        }

        impl<T: Unsigned> $handle<T> {
            #[doc = concat!("`table[self]`", $each, ". The table is public and has `2^W` entries for an index of `W` bits, at most 8.")]
            ///
            /// # Errors
            /// The table has another length, or the index has more than 8 bits.
            pub fn lookup<U: Bits>(&self, table: &[U]) -> Result<$handle<U>> {
                Ok(self.unary(lookup::<T, U>(table)?))
            }
        }

        impl $handle<bool> {
            #[doc = concat!("`a` if `self` is true, and `b` if it is false", $each, ".")]
            #[must_use]
            pub fn select<T: Bits>(&self, a: impl $operand<T>, b: impl $operand<T>) -> $handle<T> {
                let args = vec![Arc::clone(&self.node), a.into_node(), b.into_node()];
                $handle::new(operation(Op::Select, T::ty(), args))
            }
        }
    };
}

methods!(Encrypted, Operand, array: false, "");
methods!(EncryptedArray, ArrayOperand, array: true, ", element by element");

fn lookup<T: Unsigned, U: Bits>(table: &[U]) -> Result<Op> {
    let width = T::ty().width();
    if width > 8 || table.len() != 1 << width {
        let want = if width > 8 { "an index of at most 8 bits".into() } else { format!("{} entries", 1u64 << width) };
        return Err(Error::holds("the lookup", format!("an index of {width} bits and {} entries", table.len()), want));
    }
    Ok(Op::Lookup(table.iter().map(|entry| entry.to_bits()).collect()))
}

impl<T: Value> Handle for Encrypted<T> {
    type Plain = T;

    fn from_node(node: Arc<Node>) -> Self {
        Self::new(node)
    }

    fn node(&self) -> &Arc<Node> {
        &self.node
    }

    fn plain(mut values: Vec<Natural>) -> Option<T> {
        values.pop().map(T::from_bits)
    }
}

impl<T: Value> Handle for EncryptedArray<T> {
    type Plain = Vec<T>;

    fn from_node(node: Arc<Node>) -> Self {
        Self::new(node)
    }

    fn node(&self) -> &Arc<Node> {
        &self.node
    }

    fn plain(values: Vec<Natural>) -> Option<Vec<T>> {
        Some(values.into_iter().map(T::from_bits).collect())
    }
}
