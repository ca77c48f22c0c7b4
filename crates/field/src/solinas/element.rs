//! Elements of F_p as `u64`.

/// The Solinas prime `2^64 - 2^32 + 1`.
pub const P: u64 = 0xFFFF_FFFF_0000_0001;
/// `2^64 mod p = 2^32 - 1`.
pub const EPSILON: u64 = 0xFFFF_FFFF;

/// Generator of the multiplicative group. With it, the root of order 192 is 2 (so the root of order 64 is 2^3), and the
/// root of order 65,536 is `0xdc9218a86d10f3a3`. The tests check both.
const GENERATOR: u64 = pow(7, 196_613);

/// Returns the canonical form of any word, in `0..P`.
#[inline]
pub const fn reduce(x: u64) -> u64 {
    if x >= P { x - P } else { x }
}

/// `x mod p` for any 128-bit `x`: in `0..P`.
#[inline]
pub const fn reduce_u128(x: u128) -> u64 {
    reduce(reduce_u128_lazy(x))
}

/// Returns a word congruent to `x` modulo p, not necessarily below `P`.
///
/// By `2^64 = 2^32 - 1` and `2^96 = -1`: `lo + 2^64 hi_lo + 2^96 hi_hi = lo - hi_hi + (2^32 - 1) hi_lo`.
#[inline]
pub const fn reduce_u128_lazy(x: u128) -> u64 {
    let lo = x as u64;
    let hi = (x >> 64) as u64;
    let (hi_hi, hi_lo) = (hi >> 32, hi & EPSILON);
    let (t, borrow) = lo.overflowing_sub(hi_hi);
    // After a borrow t >= 2^64 - 2^32 + 1, so subtracting EPSILON does not borrow again.
    let t = t.wrapping_sub(if borrow { EPSILON } else { 0 });
    let (t, carry) = t.overflowing_add(hi_lo * EPSILON);
    // After a carry t <= (2^32 - 1)^2 - 1, so EPSILON fits.
    t.wrapping_add(if carry { EPSILON } else { 0 })
}

/// `a + b`. Range: in `0..P`, out `0..P`.
#[inline]
pub const fn add(a: u64, b: u64) -> u64 {
    let (sum, carry) = a.overflowing_add(b);
    if carry || sum >= P { sum.wrapping_sub(P) } else { sum }
}

/// `a - b`. Range: in `0..P`, out `0..P`.
#[inline]
pub const fn sub(a: u64, b: u64) -> u64 {
    let (difference, borrow) = a.overflowing_sub(b);
    if borrow { difference.wrapping_add(P) } else { difference }
}

/// `-a`. Range: in `0..P`, out `0..P`.
#[inline]
pub const fn neg(a: u64) -> u64 {
    if a == 0 { 0 } else { P - a }
}

/// A word congruent to `a + b`. Range: any words.
#[inline]
pub const fn add_lazy(a: u64, b: u64) -> u64 {
    let (sum, carry) = a.overflowing_add(b);
    let (sum, carry) = sum.overflowing_add(if carry { EPSILON } else { 0 });
    sum.wrapping_add(if carry { EPSILON } else { 0 })
}

/// A word congruent to `a - b`. Range: any words.
#[inline]
pub const fn sub_lazy(a: u64, b: u64) -> u64 {
    let (difference, borrow) = a.overflowing_sub(b);
    let (difference, borrow) = difference.overflowing_sub(if borrow { EPSILON } else { 0 });
    difference.wrapping_sub(if borrow { EPSILON } else { 0 })
}

/// `a b`. Range: any words, out `0..P`.
#[inline]
pub const fn mul(a: u64, b: u64) -> u64 {
    reduce_u128(a as u128 * b as u128)
}

/// A word congruent to `a b`. Range: any words.
#[inline]
pub const fn mul_lazy(a: u64, b: u64) -> u64 {
    reduce_u128_lazy(a as u128 * b as u128)
}

/// `a^2`. Range: any word, out `0..P`.
#[inline]
pub const fn square(a: u64) -> u64 {
    mul(a, a)
}

/// `a 2^exponent`, by shifts: 2^96 = -1 and 2^192 = 1. Range: any word, any exponent, out `0..P`.
#[inline]
pub const fn mul_pow2(a: u64, exponent: u64) -> u64 {
    let exponent = exponent % 192;
    let shift = exponent % 96;
    let shifted = if shift < 64 {
        reduce_u128((a as u128) << shift)
    } else {
        // 2^64 = 2^32 - 1, and the rest is below 2^32: (2^32 - 1) a < 2^96.
        reduce_u128((a as u128 * EPSILON as u128) << (shift - 64))
    };
    if exponent < 96 { shifted } else { neg(shifted) }
}

/// `base^exponent`, by squaring. The time depends on the exponent. Range: any word, out `0..P`; `0^0 = 1`.
pub const fn pow(base: u64, exponent: u64) -> u64 {
    let (mut result, mut square, mut rest) = (1, reduce(base), exponent);
    while rest != 0 {
        if rest & 1 == 1 {
            result = mul(result, square);
        }
        square = mul(square, square);
        rest >>= 1;
    }
    result
}

/// `1 / a`, or `None` for a multiple of p. Range: any word, out `0..P`.
pub const fn inv(a: u64) -> Option<u64> {
    if reduce(a) == 0 { None } else { Some(pow(a, P - 2)) }
}

/// Returns the primitive root of unity of an order that divides `p - 1 = 2^32 * 3 * 5 * 17 * 257 * 65537`, otherwise
/// `None`. Range: out `0..P`.
///
/// All roots are powers of one generator: `root_of_unity(a b)^a = root_of_unity(b)`. Orders that divide 192 give powers
/// of two (192: 2, 64: 2^3, 8: 2^24).
pub const fn root_of_unity(order: u64) -> Option<u64> {
    if order == 0 || !(P - 1).is_multiple_of(order) { None } else { Some(pow(GENERATOR, (P - 1) / order)) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CORNERS: [u64; 10] = [0, 1, 2, EPSILON, EPSILON + 1, P - 2, P - 1, P, P + 1, u64::MAX];

    fn residue(x: u128) -> u64 {
        (x % u128::from(P)) as u64
    }

    fn check_pair(a: u64, b: u64) {
        let (wide_a, wide_b, p) = (u128::from(a), u128::from(b), u128::from(P));
        assert_eq!(mul(a, b), residue(wide_a * wide_b), "{a:#x} * {b:#x}");
        assert_eq!(reduce(mul_lazy(a, b)), mul(a, b), "{a:#x} * {b:#x}");
        assert_eq!(residue(add_lazy(a, b).into()), residue(wide_a + wide_b), "{a:#x} + {b:#x}");
        assert_eq!(residue(sub_lazy(a, b).into()), residue(wide_a + 2 * p - wide_b), "{a:#x} - {b:#x}");
        let (a, b) = (reduce(a), reduce(b));
        let (wide_a, wide_b) = (u128::from(a), u128::from(b));
        assert_eq!(add(a, b), residue(wide_a + wide_b), "{a:#x} + {b:#x}");
        assert_eq!(sub(a, b), residue(wide_a + p - wide_b), "{a:#x} - {b:#x}");
        assert_eq!(neg(a), residue(p - wide_a), "-{a:#x}");
    }

    fn check_wide(x: u128) {
        assert_eq!(reduce_u128(x), residue(x), "{x:#x}");
        assert_eq!(residue(reduce_u128_lazy(x).into()), residue(x), "{x:#x}");
    }

    #[test]
    fn operations_match_u128_remainder_at_the_corners() {
        for a in CORNERS {
            for b in CORNERS {
                check_pair(a, b);
                check_wide(u128::from(a) << 64 | u128::from(b));
            }
            for exponent in 0..400 {
                assert_eq!(mul_pow2(a, exponent), mul(a, pow(2, exponent)), "{a:#x} * 2^{exponent}");
            }
        }
    }

    proptest! {
        #[test]
        fn operations_match_u128_remainder(a: u64, b: u64) {
            check_pair(a, b);
        }
        #[test]
        fn reduce_u128_matches_remainder(x: u128) {
            check_wide(x);
        }
        #[test]
        fn mul_pow2_matches_mul(a: u64, exponent: u64) {
            prop_assert_eq!(mul_pow2(a, exponent), mul(a, pow(2, exponent)));
        }
        #[test]
        fn inverse_times_element_is_one(a: u64) {
            prop_assert_eq!(inv(a).map(|b| mul(a, b)), (reduce(a) != 0).then_some(1));
        }
        #[test]
        fn pow_adds_exponents(a: u64, x in 0u64..1 << 62, y in 0u64..1 << 62) {
            prop_assert_eq!(mul(pow(a, x), pow(a, y)), pow(a, x + y));
        }
    }

    #[test]
    fn roots_have_exact_orders() {
        let primes = [2, 3, 5, 17, 257, 65537];
        assert!(primes.iter().all(|&q| pow(GENERATOR, (P - 1) / q) != 1), "not a generator");
        let mut orders: Vec<u64> = (0..=32).flat_map(|k| [1, 3, 5, 17, 257, 65537].map(|m| m << k)).collect();
        orders.push(P - 1);
        for order in orders {
            let root = root_of_unity(order).unwrap();
            assert_eq!(pow(root, order), 1);
            for q in primes.into_iter().filter(|&q| order.is_multiple_of(q)) {
                assert_ne!(pow(root, order / q), 1, "order {order}");
                assert_eq!(pow(root, q), root_of_unity(order / q).unwrap(), "order {order}");
            }
        }
        for order in [0, 7, 9, 1 << 33, 25, P] {
            assert_eq!(root_of_unity(order), None);
        }
    }

    #[test]
    fn small_roots_are_powers_of_two() {
        for order in (1..=192).filter(|order| 192 % order == 0) {
            assert_eq!(root_of_unity(order), Some(mul_pow2(1, 192 / order)));
        }
        // The papers' transform: wang2014 section 3.3.1, with the root corrected.
        assert_eq!(root_of_unity(65536), Some(0xdc92_18a8_6d10_f3a3));
    }

    #[test]
    fn zero_has_no_inverse() {
        assert_eq!((inv(0), inv(P)), (None, None));
    }
}
