//! What a server computes: values, arrays, and tuples and lists of them.

use crate::node::Node;
use crate::{Encrypted, EncryptedArray, Result, Value};
use std::sync::Arc;

pub(crate) mod sealed {
    use super::{Arc, Node, Result};

    /// Roots of expressions.
    pub trait Roots {
        type Computed;

        /// Adds the nodes of its values, in order.
        fn roots(&self, into: &mut Vec<Arc<Node>>);

        /// The same values as ciphertexts, after they were computed.
        fn computed(&self) -> Result<Self::Computed>;
    }
}

/// What [`Server::run`](crate::Server::run) takes: an [`Encrypted`] or [`EncryptedArray`], by value or by reference, or a tuple, array or `Vec` of them.
pub trait Expression: sealed::Roots<Computed = Self::Output> {
    /// The same shape, of computed values.
    type Output;
}

macro_rules! handles {
    ($($handle:ident),*) => {$(
        impl<T: Value> sealed::Roots for $handle<T> {
            type Computed = Self;

            fn roots(&self, into: &mut Vec<Arc<Node>>) {
                into.push(Arc::clone(&self.node));
            }

            fn computed(&self) -> Result<Self> {
                Ok(Self::new(Node::ciphertext(self.ciphertext()?.clone())))
            }
        }

        impl<T: Value> Expression for $handle<T> {
            type Output = Self;
        }
    )*};
}

handles!(Encrypted, EncryptedArray);

impl<R: sealed::Roots> sealed::Roots for &R {
    type Computed = R::Computed;

    fn roots(&self, into: &mut Vec<Arc<Node>>) {
        (**self).roots(into);
    }

    fn computed(&self) -> Result<R::Computed> {
        (**self).computed()
    }
}

impl<X: Expression> Expression for &X {
    type Output = X::Output;
}

macro_rules! lists {
    ($([$($generic:tt)*] $ty:ty;)*) => {$(
        impl<$($generic)*> sealed::Roots for $ty {
            type Computed = Vec<X::Output>;

            fn roots(&self, into: &mut Vec<Arc<Node>>) {
                self.iter().for_each(|part| part.roots(into));
            }

            fn computed(&self) -> Result<Self::Computed> {
                self.iter().map(sealed::Roots::computed).collect()
            }
        }

        impl<$($generic)*> Expression for $ty {
            type Output = Vec<X::Output>;
        }
    )*};
}

lists! {
    [X: Expression] Vec<X>;
    [X: Expression, const N: usize] [X; N];
}

macro_rules! tuples {
    ($($($name:ident $at:tt),*;)*) => {$(
        impl<$($name: Expression),*> sealed::Roots for ($($name,)*) {
            type Computed = ($($name::Output,)*);

            fn roots(&self, into: &mut Vec<Arc<Node>>) {
                $(self.$at.roots(into);)*
            }

            fn computed(&self) -> Result<Self::Computed> {
                Ok(($(self.$at.computed()?,)*))
            }
        }

        impl<$($name: Expression),*> Expression for ($($name,)*) {
            type Output = ($($name::Output,)*);
        }
    )*};
}

tuples! {
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
}
