//! Tuples of handles: expressions, arguments and results of programs, outputs of circuits.

use crate::circuit::{FromNodes, Outputs};
use crate::expression::{Expression, sealed::Results, sealed::Structure};
use crate::program::{Fixed, Values};
use crate::recorded::Node;
use crate::{Natural, Result, Type, engine};
use std::sync::Arc;

macro_rules! tuples {
    ($($($name:ident $at:tt),*;)*) => {$(
        impl<$($name: Expression),*> Structure for ($($name,)*) {
            type Computed = ($($name::Output,)*);
            type Decrypted = ($($name::Plain,)*);

            fn roots(&self, into: &mut Vec<Arc<Node>>) {
                $(self.$at.roots(into);)*
            }

            fn computed(&self, results: Results<'_>) -> Result<Self::Computed> {
                Ok(($(self.$at.computed(results)?,)*))
            }

            fn decrypted(&self, key: &engine::ClientKey) -> Result<Self::Decrypted> {
                Ok(($(self.$at.decrypted(key)?,)*))
            }
        }

        impl<$($name: Expression),*> Expression for ($($name,)*) {
            type Output = ($($name::Output,)*);
            type Plain = ($($name::Plain,)*);
        }

        impl<$($name: FromNodes),*> FromNodes for ($($name,)*) {
            const COUNT: usize = 0 $(+ $name::COUNT)*;

            fn from_nodes(nodes: &mut impl Iterator<Item = Arc<Node>>) -> Result<Self> {
                Ok(($($name::from_nodes(nodes)?,)*))
            }
        }

        impl<$($name: Outputs),*> Outputs for ($($name,)*) {}

        impl<$($name: Values),*> Fixed for ($($name,)*) {
            type Decrypted = ($($name::Plain,)*);

            fn types(into: &mut Vec<Type>) {
                $($name::types(into);)*
            }

            fn bits(plain: Self::Decrypted, into: &mut Vec<Natural>) {
                $($name::bits(plain.$at, into);)*
            }

            fn plain(bits: &mut impl Iterator<Item = Natural>) -> Option<Self::Decrypted> {
                Some(($($name::plain(bits)?,)*))
            }
        }

        impl<$($name: Values),*> Values for ($($name,)*) {}
    )*};
}

tuples! {
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
}
