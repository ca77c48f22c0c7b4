//! Every operator and method against plain Rust, on corner values and random ones, without encryption.

use proptest::prelude::*;
use solinas::{Encrypted, Int, Mod, Program, Uint, Value};

type Binary<T, R> = Program<(Encrypted<T>, Encrypted<T>), Encrypted<R>>;

/// Returns the result of a recorded function on plain values.
fn plain<T: Value, R: Value>(function: impl FnOnce(&Encrypted<T>, &Encrypted<T>) -> Encrypted<R>, (a, b): (T, T)) -> R {
    Binary::record(|(a, b)| function(&a, &b)).unwrap().evaluate((a, b)).unwrap()
}

macro_rules! integers {
    ($($test:ident $ty:ident $unsigned:ident $wide:ident;)*) => {$(
        #[test]
        fn $test() {
            let corners = [0, 1, 2, $ty::MAX, $ty::MAX - 1, $ty::MIN, $ty::MIN + 1, $ty::MAX / 2, !0];
            let pairs = corners.iter().flat_map(|&a| corners.iter().map(move |&b| (a, b)));
            pairs.for_each(integers::$ty);
            proptest!(ProptestConfig::with_cases(64), |(a: $ty, b: $ty)| integers::$ty((a, b)));
        }
    )*

    mod integers {
        use super::*;

        $(pub(super) fn $ty((a, b): ($ty, $ty)) {
            const BITS: u32 = $ty::BITS;
            let signed = $ty::MIN != 0;
            let amount = b as u32 % (BITS + 3);
            let (by, quotient, remainder) = (amount % BITS, a.checked_div(b), a.checked_rem(b));
            // Division by zero gives all ones, and MIN / -1 wraps.
            let quotient = quotient.unwrap_or_else(|| if b == 0 { !0 } else { a });
            let remainder = remainder.unwrap_or(if b == 0 { a } else { 0 });
            let at = (a, b);
            assert_eq!(plain(|a, b| a + b, at), a.wrapping_add(b), "{at:?}");
            assert_eq!(plain(|a, b| a - b, at), a.wrapping_sub(b), "{at:?}");
            assert_eq!(plain(|a, b| a * b, at), a.wrapping_mul(b), "{at:?}");
            assert_eq!(plain(|a, b| a / b, at), quotient, "{at:?}");
            assert_eq!(plain(|a, b| a % b, at), remainder, "{at:?}");
            assert_eq!(plain(|a, b| a & b, at), a & b, "{at:?}");
            assert_eq!(plain(|a, b| a | b, at), a | b, "{at:?}");
            assert_eq!(plain(|a, b| a ^ b, at), a ^ b, "{at:?}");
            assert_eq!(plain(|a, _| !a, at), !a, "{at:?}");
            assert_eq!(plain(|a, _| -a, at), a.wrapping_neg(), "{at:?}");
            assert_eq!(plain(|a, _| a << amount, at), if amount < BITS { a << by } else { 0 }, "{at:?}");
            let beyond = if signed && a.leading_zeros() == 0 { !0 } else { 0 };
            assert_eq!(plain(|a, _| a >> amount, at), if amount < BITS { a >> by } else { beyond }, "{at:?}");
            let encrypted = |a: &Encrypted<$ty>, b: &Encrypted<$ty>| a << b.cast::<$unsigned>();
            let wide = (b as $unsigned) as u128;
            assert_eq!(plain(encrypted, at), if wide < BITS.into() { a << wide } else { 0 }, "{at:?}");
            assert_eq!(plain(|a, _| a.rotate_left(amount), at), a.rotate_left(amount), "{at:?}");
            assert_eq!(plain(|a, _| a.rotate_right(amount), at), a.rotate_right(amount), "{at:?}");
            assert_eq!(plain(|a, b| a.min(b), at), a.min(b), "{at:?}");
            assert_eq!(plain(|a, b| a.max(b), at), a.max(b), "{at:?}");
            assert_eq!(plain(|a, b| a.eq(b), at), a == b, "{at:?}");
            assert_eq!(plain(|a, b| a.ne(b), at), a != b, "{at:?}");
            assert_eq!(plain(|a, b| a.lt(b), at), a < b, "{at:?}");
            assert_eq!(plain(|a, b| a.le(b), at), a <= b, "{at:?}");
            assert_eq!(plain(|a, b| a.gt(b), at), a > b, "{at:?}");
            assert_eq!(plain(|a, b| a.ge(b), at), a >= b, "{at:?}");
            assert_eq!(plain(|a, b| a.lt(b).select(a, b), at), if a < b { a } else { b }, "{at:?}");
            assert_eq!(plain(|a, _| a.leading_zeros(), at), a.leading_zeros() as $ty, "{at:?}");
            let magnitude = if signed && a.leading_zeros() == 0 { a.wrapping_neg() } else { a };
            assert_eq!(plain(|a, _| a.abs(), at), magnitude, "{at:?}");
            assert_eq!(plain(|a, _| a.cast::<$wide>(), at), a as $wide, "{at:?}");
            assert_eq!(plain(|a, _| a.cast::<u8>(), at), a as u8, "{at:?}");
            super::methods::$ty((a, b));
            // Public operands, on both sides; assignments; sums.
            assert_eq!(plain(|a, _| a + b, at), a.wrapping_add(b), "{at:?}");
            assert_eq!(plain(|_, b| a - b, at), a.wrapping_sub(b), "{at:?}");
            assert_eq!(plain(|_, b| a * b.clone(), at), a.wrapping_mul(b), "{at:?}");
            assert_eq!(plain(|_, b| a / b, at), quotient, "{at:?}");
            assert_eq!(plain(|_, b| a % b, at), remainder, "{at:?}");
            assert_eq!(plain(|_, b| (a & b) | (3 ^ b), at), (a & b) | (3 ^ b), "{at:?}");
            assert_eq!(plain(|a, b| [a, b, a].into_iter().sum(), at), a.wrapping_add(b).wrapping_add(a), "{at:?}");
            let assigned = |a: &Encrypted<$ty>, b: &Encrypted<$ty>| {
                let mut c = a.clone();
                c += b;
                c *= 3;
                c ^= b;
                c <<= 1;
                c -= a.clone();
                c
            };
            let want = (a.wrapping_add(b).wrapping_mul(3) ^ b) << 1;
            assert_eq!(plain(assigned, at), want.wrapping_sub(a), "{at:?}");
        })*
    }

    /// The methods with the names of Rust's integers.
    mod methods {
        use super::*;

        $(pub(super) fn $ty(at: ($ty, $ty)) {
            let (a, b) = at;
            let negative = |value: $ty| $ty::MIN != 0 && value.leading_zeros() == 0;
            assert_eq!(plain(|a, b| a.overflowing_add(b).0, at), a.overflowing_add(b).0, "{at:?}");
            assert_eq!(plain(|a, b| a.overflowing_add(b).1, at), a.overflowing_add(b).1, "{at:?}");
            assert_eq!(plain(|a, b| a.overflowing_sub(b).1, at), a.overflowing_sub(b).1, "{at:?}");
            assert_eq!(plain(|a, b| a.overflowing_mul(b).1, at), a.overflowing_mul(b).1, "{at:?}");
            assert_eq!(plain(|a, b| a.checked_add(b).0, at), a.checked_add(b).unwrap_or(0), "{at:?}");
            assert_eq!(plain(|a, b| a.checked_sub(b).0, at), a.checked_sub(b).unwrap_or(0), "{at:?}");
            assert_eq!(plain(|a, b| a.checked_mul(b).0, at), a.checked_mul(b).unwrap_or(0), "{at:?}");
            assert_eq!(plain(|a, _| a.checked_mul(b).1, at), a.checked_mul(b).is_some(), "{at:?}");
            assert_eq!(plain(|a, b| a.saturating_add(b), at), a.saturating_add(b), "{at:?}");
            assert_eq!(plain(|a, b| a.saturating_sub(b), at), a.saturating_sub(b), "{at:?}");
            assert_eq!(plain(|a, b| a.saturating_mul(b), at), a.saturating_mul(b), "{at:?}");
            let (mut floor, mut euclid) = ((!0, a), (!0, a));
            if b != 0 {
                euclid = (a.wrapping_div_euclid(b), a.wrapping_rem_euclid(b));
                floor = (a.wrapping_div(b), a.wrapping_rem(b));
                if floor.1 != 0 && negative(floor.1) != negative(b) {
                    floor = (floor.0.wrapping_sub(1), floor.1.wrapping_add(b));
                }
            }
            assert_eq!(plain(|a, b| a.div_floor(b), at), floor.0, "{at:?}");
            assert_eq!(plain(|a, b| a.rem_floor(b), at), floor.1, "{at:?}");
            assert_eq!(plain(|a, b| a.div_euclid(b), at), euclid.0, "{at:?}");
            assert_eq!(plain(|a, b| a.rem_euclid(b), at), euclid.1, "{at:?}");
            assert_eq!(plain(|a, _| a.count_ones(), at), a.count_ones() as $ty, "{at:?}");
            assert_eq!(plain(|a, _| a.trailing_zeros(), at), a.trailing_zeros() as $ty, "{at:?}");
            assert_eq!(plain(|a, _| a.ilog2(), at), a.checked_ilog2().map_or(!0, |log| log as $ty), "{at:?}");
            assert_eq!(plain(|a, _| a.isqrt(), at), if negative(a) { 0 } else { a.isqrt() }, "{at:?}");
            let exponent = b as u32 % 21;
            assert_eq!(plain(|a, _| a.pow(exponent), at), a.wrapping_pow(exponent), "{at:?}");
        })*
    }
};
}

integers! {
    operators_of_u8 u8 u8 i16;
    operators_of_u16 u16 u16 i32;
    operators_of_u32 u32 u32 u64;
    operators_of_u64 u64 u64 u128;
    operators_of_u128 u128 u128 i128;
    operators_of_i8 i8 u8 u16;
    operators_of_i16 i16 u16 i64;
    operators_of_i32 i32 u32 u64;
    operators_of_i64 i64 u64 i128;
    operators_of_i128 i128 u128 u128;
}

#[test]
fn operators_of_bool() {
    for at in [(false, false), (false, true), (true, false), (true, true)] {
        let (a, b) = at;
        assert_eq!(plain(|a, b| a & b, at), a & b);
        assert_eq!(plain(|a, b| a | b, at), a | b);
        assert_eq!(plain(|a, b| a ^ b, at), a ^ b);
        assert_eq!(plain(|a, _| !a, at), !a);
        assert_eq!(plain(|_, b| true ^ (a | b), at), !(a | b));
        assert_eq!(plain(|a, b| a.eq(b), at), a == b);
        assert_eq!(plain(|a, b| a.lt(b), at), !a & b);
        assert_eq!(plain(|a, b| a.select(b, true), at), if a { b } else { true });
        assert_eq!(plain(|a, _| a.select(7u16, 9), at), if a { 7 } else { 9 });
        assert_eq!(plain(|a, _| a.cast::<i32>(), at), i32::from(a));
    }
}

proptest! {
    #[test]
    fn integers_of_other_widths_wrap_at_theirs(a in 0u128..4096, b in 0u128..4096, c in -2048i128..2048) {
        let x = || Uint::<12>::new(a).unwrap();
        let y = || Uint::<12>::new(b).unwrap();
        let z = || Int::<12>::new(c).unwrap();
        prop_assert_eq!(plain(|a, b| a * b + y(), (x(), y())).get().to_u128(), Some((a * b + b) % 4096));
        prop_assert_eq!(plain(|a, b| a - b, (x(), y())).get().to_u128(), Some((4096 + a - b) % 4096));
        prop_assert_eq!(plain(|a, b| a.gt(b), (x(), y())), a > b);
        prop_assert_eq!(plain(|a, _| a.cast::<i64>(), (z(), z())), c as i64);
        prop_assert_eq!(plain(|a, _| a.cast::<Uint<20>>(), (z(), z())).get().to_u128(), Some(c as u128 & 0xf_ffff));
        prop_assert_eq!(plain(|a, _| a.rotate_left(15), (x(), x())).get().to_u128(), Some((a << 3 | a >> 9) & 4095));
    }

    #[test]
    fn integers_modulo_a_number_wrap_there(a: u32, b: u32) {
        let (x, y) = (u64::from(a) % 257, u64::from(b) % 257);
        let at = (Mod::<257>(a), Mod(b));
        prop_assert_eq!(plain(|a, b| a * b, at), Mod((x * y % 257) as u32));
        prop_assert_eq!(plain(|a, b| a + b, at), Mod(((x + y) % 257) as u32));
        prop_assert_eq!(plain(|a, b| a - b, at), Mod(((x + 257 - y) % 257) as u32));
        prop_assert_eq!(plain(|a, _| Mod(5) - a, at), Mod(((262 - x) % 257) as u32));
        prop_assert_eq!(plain(|a, _| -a, at), Mod(((257 - x) % 257) as u32));
    }
}

#[test]
fn lookups_read_their_table() {
    let squares: Vec<u16> = (0..256u16).map(|x| x * x).collect();
    let square = Program::<Encrypted<u8>, Encrypted<u16>>::record(|x| x.lookup(&squares).unwrap()).unwrap();
    for x in 0..=255u8 {
        assert_eq!(square.evaluate(x).unwrap(), squares[usize::from(x)]);
    }
}

#[test]
fn an_index_chooses_and_one_beyond_the_end_gives_the_last() {
    type Choose = Program<(Encrypted<u8>, Encrypted<i32>), Encrypted<i32>>;
    let choose = Choose::record(|(i, x)| i.choose(&[x.clone(), &x + 1, &x * 2]).unwrap()).unwrap();
    for (index, want) in [(0, -9), (1, -8), (2, -18), (3, -18), (255, -18)] {
        assert_eq!(choose.evaluate((index, -9)).unwrap(), want);
    }
}
