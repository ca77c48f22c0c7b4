//! Methods of integers beyond the operators: overflow, roundings of divisions, counts of bits, roots and powers. They have the names of Rust's integers.

use crate::operand::{ArrayOperand, Operand};
use crate::recorded::{Node, operation};
use crate::{Arithmetic, Encrypted, EncryptedArray, Integer, Natural};
use solinas_circuits::program::Op;
use std::sync::Arc;

macro_rules! overflow {
    ($handle:ident, $operand:ident, $each:literal: $($what:literal $op:ident $flag:ident $saturating:ident
        $overflowing_fn:ident $checked_fn:ident $saturating_fn:ident;)*) => {$(
            #[doc = concat!("`", $what, "`, which wraps, and whether it overflows", $each, ". Both share their work.")]
            #[must_use]
            pub fn $overflowing_fn(&self, other: impl $operand<T>) -> (Self, $handle<bool>) {
                let other = other.into_node();
                (self.binary(Op::$op, Arc::clone(&other)), self.binary(Op::$flag, other))
            }

            #[doc = concat!("`", $what, "`, and whether the type holds it", $each, ". If it overflows, the value is 0.")]
            #[must_use]
            pub fn $checked_fn(&self, other: impl $operand<T>) -> (Self, $handle<bool>) {
                let (value, overflows) = self.$overflowing_fn(other);
                let zero = Node::constant(Natural::ZERO, T::ty());
                let args = vec![Arc::clone(&overflows.node), zero, value.node];
                (Self::new(operation(Op::Select, T::ty(), args)), !overflows)
            }

            #[doc = concat!("`", $what, "`, or the nearest value of the type if it overflows", $each, ".")]
            #[must_use]
            pub fn $saturating_fn(&self, other: impl $operand<T>) -> Self {
                self.binary(Op::$saturating, other.into_node())
            }
    )*};
}

macro_rules! division {
    ($handle:ident, $operand:ident, $each:literal: $($name:ident $op:ident $what:literal;)*) => {$(
            #[doc = concat!($what, $each, ". By 0, a quotient has all bits one, and a remainder is the dividend. A quotient of `MIN` by -1 wraps.")]
            #[must_use]
            pub fn $name(&self, other: impl $operand<T>) -> Self {
                self.binary(Op::$op, other.into_node())
            }
    )*};
}

macro_rules! integers {
    ($handle:ident, $operand:ident, $each:literal) => {
        impl<T: Integer> $handle<T> {
            overflow! { $handle, $operand, $each:
                "self + other" Add AddOverflows SaturatingAdd overflowing_add checked_add saturating_add;
                "self - other" Sub SubOverflows SaturatingSub overflowing_sub checked_sub saturating_sub;
                "self * other" Mul MulOverflows SaturatingMul overflowing_mul checked_mul saturating_mul;
            }

            division! { $handle, $operand, $each:
                div_floor DivFloor "`self / other`, rounded down";
                rem_floor RemFloor "The remainder of `div_floor`, which has the sign of the divisor";
                div_euclid DivEuclid "`self / other`, rounded so that the remainder is not negative";
                rem_euclid RemEuclid "The remainder of `div_euclid`, which is not negative";
            }

            #[doc = concat!("The number of one bits", $each, ".")]
            #[must_use]
            pub fn count_ones(&self) -> Self {
                self.unary(Op::CountOnes)
            }

            #[doc = concat!("The number of zero bits below the lowest bit that is one", $each, "; the width for 0.")]
            #[must_use]
            pub fn trailing_zeros(&self) -> Self {
                self.unary(Op::TrailingZeros)
            }

            #[doc = concat!("The logarithm of base 2, rounded down", $each, ". For 0 and for negative numbers, all bits are ones.")]
            #[must_use]
            pub fn ilog2(&self) -> Self {
                self.unary(Op::Ilog2)
            }

            #[doc = concat!("The square root, rounded down", $each, "; 0 for negative numbers.")]
            #[must_use]
            pub fn isqrt(&self) -> Self {
                self.unary(Op::Sqrt)
            }
        }

        impl<T: Arithmetic> $handle<T> {
            #[doc = concat!("`self` to a public power, which wraps", $each, ". It takes two products for each bit of the exponent at most.")]
            #[must_use]
            pub fn pow(&self, exponent: u32) -> Self {
                if exponent == 0 {
                    let zero: Self = self.binary(Op::Mul, Node::constant(Natural::ZERO, T::ty()));
                    return zero.binary(Op::Add, Node::constant(Natural::ONE, T::ty()));
                }
                // The bits of the exponent below the highest, from the top.
                (0..exponent.ilog2()).rev().fold(self.clone(), |power, bit| {
                    let square: Self = power.binary(Op::Mul, Arc::clone(&power.node));
                    if exponent >> bit & 1 == 1 { square.binary(Op::Mul, Arc::clone(&self.node)) } else { square }
                })
            }
        }
    };
}

integers!(Encrypted, Operand, "");
integers!(EncryptedArray, ArrayOperand, ", element by element");
