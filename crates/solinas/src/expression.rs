//! Values, arrays, and tuples and lists of them.

use crate::handle::Handle;
use crate::recorded::Node;
use crate::{Encrypted, EncryptedArray, Error, Result, Value, engine};
use std::sync::Arc;

pub(crate) mod sealed {
    use super::{Arc, Node, Result, engine};

    /// The ciphertexts of handles, in order.
    pub(crate) type Results<'a> = &'a mut dyn Iterator<Item = engine::Ciphertext>;

    /// A structure of handles.
    pub trait Structure {
        type Computed;
        type Decrypted;

        /// Adds the nodes of the handles, in order.
        fn roots(&self, into: &mut Vec<Arc<Node>>);

        /// The same structure of these ciphertexts.
        fn computed(&self, results: Results<'_>) -> Result<Self::Computed>;

        /// The same structure of plain values.
        fn decrypted(&self, key: &engine::ClientKey) -> Result<Self::Decrypted>;
    }
}

use sealed::{Results, Structure};

/// A structure that [`Server::run`](crate::Server::run) computes and [`ClientKey::decrypt`](crate::ClientKey::decrypt)
/// decrypts: an [`Encrypted`], an [`EncryptedArray`], a reference to one, or a `Vec`, array or tuple of up to six of
/// them.
pub trait Expression: Structure<Computed = Self::Output, Decrypted = Self::Plain> {
    /// The same structure, of ciphertexts.
    type Output;

    /// The same structure, of plain values.
    type Plain;
}

macro_rules! handles {
    ($($handle:ident),*) => {$(
        impl<T: Value> Structure for $handle<T> {
            type Computed = Self;
            type Decrypted = <Self as Handle>::Plain;

            fn roots(&self, into: &mut Vec<Arc<Node>>) {
                into.push(Arc::clone(&self.node));
            }

            fn computed(&self, results: Results<'_>) -> Result<Self> {
                let result = results.next().ok_or_else(|| Error::internal("a result is missing"))?;
                Ok(Self::new(Node::value(result.into())))
            }

            fn decrypted(&self, key: &engine::ClientKey) -> Result<Self::Decrypted> {
                let values = key.decrypt(self.ciphertext()?)?.values;
                <Self as Handle>::plain(values).ok_or_else(|| Error::internal("a ciphertext without values"))
            }
        }

        impl<T: Value> Expression for $handle<T> {
            type Output = Self;
            type Plain = <Self as Handle>::Plain;
        }
    )*};
}

handles!(Encrypted, EncryptedArray);

impl<X: Structure> Structure for &X {
    type Computed = X::Computed;
    type Decrypted = X::Decrypted;

    fn roots(&self, into: &mut Vec<Arc<Node>>) {
        (**self).roots(into);
    }

    fn computed(&self, results: Results<'_>) -> Result<X::Computed> {
        (**self).computed(results)
    }

    fn decrypted(&self, key: &engine::ClientKey) -> Result<X::Decrypted> {
        (**self).decrypted(key)
    }
}

impl<X: Expression> Expression for &X {
    type Output = X::Output;
    type Plain = X::Plain;
}

macro_rules! lists {
    ($([$($generic:tt)*] $ty:ty;)*) => {$(
        impl<$($generic)*> Structure for $ty {
            type Computed = Vec<X::Output>;
            type Decrypted = Vec<X::Plain>;

            fn roots(&self, into: &mut Vec<Arc<Node>>) {
                self.iter().for_each(|part| part.roots(into));
            }

            fn computed(&self, results: Results<'_>) -> Result<Self::Computed> {
                self.iter().map(|part| part.computed(results)).collect()
            }

            fn decrypted(&self, key: &engine::ClientKey) -> Result<Self::Decrypted> {
                self.iter().map(|part| part.decrypted(key)).collect()
            }
        }

        impl<$($generic)*> Expression for $ty {
            type Output = Vec<X::Output>;
            type Plain = Vec<X::Plain>;
        }
    )*};
}

lists! {
    [X: Expression] Vec<X>;
    [X: Expression, const N: usize] [X; N];
}
