//! The operands of operators, and the operators.

use crate::recorded::Node;
use crate::{Arithmetic, Bits, Encrypted, EncryptedArray, Int, Integer, Mod, Uint, Unsigned, Value};
use solinas_circuits::program::{MAX_WIDTH, Op, Type};
use std::ops;
use std::sync::Arc;

mod sealed {
    use super::{Arc, Node, Type};

    /// A value, encrypted or public, as a node.
    pub trait IntoNode {
        fn into_node(self) -> Arc<Node>;
    }

    /// An amount, encrypted or public, as a node.
    pub trait IntoAmount {
        /// The amount of a shift. A shift by the width or more leaves no bit.
        fn into_shift(self) -> Arc<Node>;

        /// The amount of a rotation of a value of that type, modulo the width.
        fn into_rotation(self, of: Type) -> Arc<Node>;
    }
}

pub(crate) use sealed::{IntoAmount, IntoNode};

/// The other operand of an operation on an [`Encrypted<T>`]: a public `T`, an `Encrypted<T>`, or a reference to one.
pub trait Operand<T: Value>: IntoNode {}

/// The other operand of an operation on an [`EncryptedArray<T>`]: an array of the same length, encrypted or public, or a scalar, which goes with
/// every element.
pub trait ArrayOperand<T: Value>: IntoNode {}

/// An amount to shift or rotate by: a public `u32`, or an encrypted unsigned integer.
pub trait Amount: IntoAmount {}

impl<T: Value> IntoNode for T {
    fn into_node(self) -> Arc<Node> {
        Node::constant(self.to_bits(), T::ty())
    }
}

impl<T: Value> Operand<T> for T {}
impl<T: Value> Operand<T> for Encrypted<T> {}
impl<T: Value> Operand<T> for &Encrypted<T> {}
impl<T: Value> ArrayOperand<T> for T {}

/// The type of public amounts.
const AMOUNT: Type = Type::Uint(12);

impl IntoAmount for u32 {
    fn into_shift(self) -> Arc<Node> {
        // A shift by the width is as good as any longer one.
        let amount = self.min(MAX_WIDTH.into());
        Node::constant(u128::from(amount).into(), AMOUNT)
    }

    fn into_rotation(self, of: Type) -> Arc<Node> {
        Node::constant(((self as usize % of.width()) as u128).into(), AMOUNT)
    }
}

impl Amount for u32 {}

/// The operators of values and arrays, by value and by reference.
macro_rules! handles {
    ($($handle:ident $operand:ident;)*) => {$(
        impl<T: Value> IntoNode for $handle<T> {
            fn into_node(self) -> Arc<Node> {
                self.node
            }
        }

        impl<T: Value> IntoNode for &$handle<T> {
            fn into_node(self) -> Arc<Node> {
                Arc::clone(&self.node)
            }
        }

        impl<T: Value> ArrayOperand<T> for $handle<T> {}
        impl<T: Value> ArrayOperand<T> for &$handle<T> {}

        binary! { $handle $operand Add add AddAssign add_assign Arithmetic Add }
        binary! { $handle $operand Sub sub SubAssign sub_assign Arithmetic Sub }
        binary! { $handle $operand Mul mul MulAssign mul_assign Arithmetic Mul }
        binary! { $handle $operand Div div DivAssign div_assign Integer Div }
        binary! { $handle $operand Rem rem RemAssign rem_assign Integer Rem }
        binary! { $handle $operand BitAnd bitand BitAndAssign bitand_assign Bits And }
        binary! { $handle $operand BitOr bitor BitOrAssign bitor_assign Bits Or }
        binary! { $handle $operand BitXor bitxor BitXorAssign bitxor_assign Bits Xor }
        shift! { $handle Shl shl ShlAssign shl_assign }
        shift! { $handle Shr shr ShrAssign shr_assign }
        unary! { $handle Neg neg Arithmetic }
        unary! { $handle Not not Bits }
    )*};
}

macro_rules! binary {
    ($handle:ident $operand:ident $trait:ident $method:ident $assign:ident $assign_method:ident $bound:ident $op:ident) => {
        impl<T: $bound, R: $operand<T>> ops::$trait<R> for &$handle<T> {
            type Output = $handle<T>;

            fn $method(self, other: R) -> $handle<T> {
                self.binary(Op::$op, other.into_node())
            }
        }

        impl<T: $bound, R: $operand<T>> ops::$trait<R> for $handle<T> {
            type Output = $handle<T>;

            fn $method(self, other: R) -> $handle<T> {
                ops::$trait::$method(&self, other)
            }
        }

        impl<T: $bound, R: $operand<T>> ops::$assign<R> for $handle<T> {
            fn $assign_method(&mut self, other: R) {
                *self = ops::$trait::$method(&*self, other);
            }
        }
    };
}

macro_rules! shift {
    ($handle:ident $trait:ident $method:ident $assign:ident $assign_method:ident) => {
        impl<T: Integer, A: Amount> ops::$trait<A> for &$handle<T> {
            type Output = $handle<T>;

            fn $method(self, by: A) -> $handle<T> {
                self.binary(Op::$trait, by.into_shift())
            }
        }

        impl<T: Integer, A: Amount> ops::$trait<A> for $handle<T> {
            type Output = $handle<T>;

            fn $method(self, by: A) -> $handle<T> {
                ops::$trait::$method(&self, by)
            }
        }

        impl<T: Integer, A: Amount> ops::$assign<A> for $handle<T> {
            fn $assign_method(&mut self, by: A) {
                *self = ops::$trait::$method(&*self, by);
            }
        }
    };
}

macro_rules! unary {
    ($handle:ident $trait:ident $method:ident $bound:ident) => {
        impl<T: $bound> ops::$trait for &$handle<T> {
            type Output = $handle<T>;

            fn $method(self) -> $handle<T> {
                self.unary(Op::$trait)
            }
        }

        impl<T: $bound> ops::$trait for $handle<T> {
            type Output = $handle<T>;

            fn $method(self) -> $handle<T> {
                ops::$trait::$method(&self)
            }
        }
    };
}

/// An encrypted amount.
macro_rules! amounts {
    ($($ty:ty),*) => {$(
        impl<U: Unsigned> IntoAmount for $ty {
            fn into_shift(self) -> Arc<Node> {
                self.into_node()
            }

            fn into_rotation(self, _: Type) -> Arc<Node> {
                self.into_node()
            }
        }

        impl<U: Unsigned> Amount for $ty {}
    )*};
}

/// Operators with a public value on the left.
macro_rules! left {
    ($generic:tt $ty:ty: $($trait:ident $method:ident $op:ident),*) => {
        $(left! { @handle $generic $ty, $trait $method $op, Encrypted })*
        $(left! { @handle $generic $ty, $trait $method $op, EncryptedArray })*
    };
    (@handle [$($generic:tt)*] $ty:ty, $trait:ident $method:ident $op:ident, $handle:ident) => {
        impl<$($generic)*> ops::$trait<$handle<$ty>> for $ty {
            type Output = $handle<$ty>;

            fn $method(self, other: $handle<$ty>) -> $handle<$ty> {
                ops::$trait::$method(self, &other)
            }
        }

        impl<$($generic)*> ops::$trait<&$handle<$ty>> for $ty {
            type Output = $handle<$ty>;

            fn $method(self, other: &$handle<$ty>) -> $handle<$ty> {
                $handle::<$ty>::new(self.into_node()).binary(Op::$op, Arc::clone(&other.node))
            }
        }
    };
}

macro_rules! left_integers {
    ($($generic:tt $ty:ty;)*) => {$(
        left! {
            $generic $ty: Add add Add, Sub sub Sub, Mul mul Mul, Div div Div, Rem rem Rem, BitAnd bitand And,
            BitOr bitor Or, BitXor bitxor Xor
        }
    )*};
}

handles! { Encrypted Operand; EncryptedArray ArrayOperand; }
amounts! { Encrypted<U>, &Encrypted<U> }
left! { [] bool: BitAnd bitand And, BitOr bitor Or, BitXor bitxor Xor }
left! { [const P: u32] Mod<P>: Add add Add, Sub sub Sub, Mul mul Mul }
left_integers! {
    [] u8; [] u16; [] u32; [] u64; [] u128;
    [] i8; [] i16; [] i32; [] i64; [] i128;
    [const W: u16] Uint<W>; [const W: u16] Int<W>;
}
