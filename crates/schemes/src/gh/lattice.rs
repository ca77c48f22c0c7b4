//! The inverse of `v` modulo `x^n + 1`, up to its norm: power-of-two splitting of a polynomial of large coefficients.
//!
//! With `V(x) = E(x^2) + x O(x^2)`, the product `V(x) V(-x) = E^2 - y O^2` is a polynomial in `y = x^2` modulo `y^(N/2) + 1`: half the dimension,
//! twice the bits. The numerator `U` of `U / V` is multiplied by `V(-x)` too, and of it the even coefficients are kept, which hold the coefficient
//! of `x^0`: `U_even E - y U_odd O`. At dimension 1, `V` is the resultant `d` of `v` and `x^n + 1`, and `U` the first coefficient of `d u / v`
//! (Gentry and Halevi 2011, section 4; two numerators, `u = 1` and `u = 1/x`, give `w_0` and `w_1` of `w = d / v`).
//!
//! Products are by Kronecker's substitution: coefficients in slots of whole words, negative ones borrow from the slot above.

use solinas_bigint::{Natural, mul};
use solinas_field::limbs;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// An integer.
#[derive(Clone, Debug, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub(super) struct Signed {
    pub(super) negative: bool,
    pub(super) magnitude: Natural,
}

/// A polynomial modulo `x^N + 1`: coefficients in two's complement, `slot` words each.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
struct Polynomial {
    slot: usize,
    words: Vec<u64>,
}

/// `d`, `w_0` and `w_1` of `w = d / v`.
pub(super) struct Resultant {
    pub(super) d: Signed,
    pub(super) w: [Signed; 2],
}

/// The splitting between two of its levels.
pub(super) struct Splitting {
    denominator: Polynomial,
    numerators: [Polynomial; 2],
}

impl Splitting {
    /// Of `v`, whose coefficients have at most 64 `slot` - 1 bits beside their sign; `n` slots of two's complement.
    pub(super) fn new(v: &[u64], slot: usize) -> Self {
        let n = v.len() / slot;
        // 1 and 1/x = -x^(n-1).
        let numerators = [Polynomial::monomial(n, 0, 1), Polynomial::monomial(n, n - 1, u64::MAX)];
        Self { denominator: Polynomial { slot, words: v.to_vec() }, numerators }
    }

    /// Coefficients that are left: half of them with each level, one at the end.
    pub(super) fn dimension(&self) -> usize {
        self.denominator.len()
    }

    /// One level, on two threads; as before where `check`, which is called between products, stops it.
    pub(super) fn step<E: Send>(&mut self, check: impl Fn() -> Result<(), E> + Sync) -> Result<(), E> {
        let [even, odd] = self.denominator.halves();
        let halved = |numerator: &Polynomial| {
            let [upper, lower] = numerator.halves();
            check()?;
            let upper = upper.product(&even);
            check()?;
            Ok(combine(upper, lower.product(&odd)))
        };
        let denominator = || {
            let square = even.square();
            check()?;
            Ok(combine(square, odd.square()))
        };
        let numerators = || -> Result<_, E> {
            let [first, second] = &self.numerators;
            Ok([halved(first)?, halved(second)?])
        };
        let (denominator, numerators) = rayon::join(denominator, numerators);
        *self = Self { denominator: denominator?, numerators: numerators? };
        Ok(())
    }

    /// What the polynomials of one coefficient are.
    pub(super) fn resultant(&self) -> Resultant {
        let [w0, w1] = &self.numerators;
        Resultant { d: self.denominator.constant(), w: [w0.constant(), w1.constant()] }
    }

    /// The three polynomials, for storing: secret.
    pub(super) fn parts(&self) -> [&[u64]; 3] {
        let [first, second] = &self.numerators;
        [&self.denominator, first, second].map(|polynomial| &polynomial.words[..])
    }

    /// From polynomials of that many coefficients; none where they are not of whole slots.
    pub(super) fn from_parts(dimension: usize, parts: [Vec<u64>; 3]) -> Option<Self> {
        let whole = parts.iter().all(|words| !words.is_empty() && words.len().is_multiple_of(dimension));
        let [denominator, first, second] = parts.map(|words| Polynomial { slot: words.len() / dimension, words });
        whole.then_some(Self { denominator, numerators: [first, second] })
    }
}

/// a - y b.
fn combine(mut a: Polynomial, mut b: Polynomial) -> Polynomial {
    let slot = a.slot.max(b.slot);
    a.resize(slot);
    b.resize(slot);
    let count = a.len();
    for i in 0..count {
        let to = &mut a.words[(i + 1) % count * slot..][..slot];
        let from = &b.words[i * slot..][..slot];
        // y^N = -1.
        if i + 1 < count {
            limbs::sub(to, from)
        } else {
            limbs::add(to, from)
        };
    }
    a.shrink();
    a
}

impl Polynomial {
    /// sign x^degree, of `n` coefficients; `sign` is 1 or -1.
    fn monomial(n: usize, degree: usize, sign: u64) -> Self {
        let mut words = vec![0; n];
        words[degree] = sign;
        Self { slot: 1, words }
    }

    fn len(&self) -> usize {
        self.words.len() / self.slot
    }

    /// Coefficients of even and of odd index.
    fn halves(&self) -> [Self; 2] {
        [0, 1].map(|parity| {
            let slots = self.words.chunks_exact(self.slot).skip(parity).step_by(2);
            Self { slot: self.slot, words: slots.flatten().copied().collect() }
        })
    }

    /// The only coefficient.
    fn constant(&self) -> Signed {
        let negative = is_negative(&self.words);
        let mut words = self.words.clone();
        if negative {
            limbs::neg(&mut words);
        }
        Signed { negative, magnitude: Natural::from_words(words) }
    }

    /// Other slots, which hold every coefficient.
    fn resize(&mut self, slot: usize) {
        if slot == self.slot {
            return;
        }
        let mut words = vec![0; self.len() * slot];
        for (to, from) in words.chunks_exact_mut(slot).zip(self.words.chunks_exact(self.slot)) {
            let kept = slot.min(self.slot);
            to[..kept].copy_from_slice(&from[..kept]);
            to[kept..].fill(if is_negative(from) { u64::MAX } else { 0 });
        }
        self.words.zeroize();
        *self = Self { slot, words };
    }

    /// The smallest slots that hold every coefficient with two bits to spare.
    fn shrink(&mut self) {
        let bits = self.words.chunks_exact(self.slot).map(magnitude_bits).max().unwrap_or(0);
        self.resize((bits + 2).div_ceil(64));
    }

    /// |coefficients| are below 2^bits.
    fn bits(&self) -> usize {
        64 * self.slot - 1
    }

    /// The value at 2^(64 slot), as sign and magnitude, where the slots are at least as wide as ours.
    fn pack(&self, slot: usize) -> (bool, Zeroizing<Vec<u64>>) {
        let mut wide = self.clone();
        wide.resize(slot);
        // A negative slot reads as its value and 2^(64 slot): take 1 from the slot above.
        let mut borrow = false;
        let mut words = Zeroizing::new(core::mem::take(&mut wide.words));
        for chunk in words.chunks_exact_mut(slot) {
            let negative = is_negative(chunk);
            let under = limbs::sub_1(chunk, borrow.into());
            borrow = negative || under == 1;
        }
        if borrow {
            limbs::neg(&mut words);
        }
        (borrow, words)
    }

    /// The polynomial of degree below 2N whose value at 2^(64 slot) that is, modulo x^N + 1; inverse of [`Self::pack`].
    fn unpack(slot: usize, negative: bool, mut value: Zeroizing<Vec<u64>>) -> Self {
        if negative {
            limbs::neg(&mut value);
        }
        let mut carry = 0;
        for chunk in value.chunks_exact_mut(slot) {
            // A slot that reads as negative took 1 from the slot above; one that passes 2^(64 slot) reads as zero.
            carry = limbs::add_1(chunk, carry) | u64::from(is_negative(chunk));
        }
        let half = value.len() / 2;
        let (low, high) = value.split_at_mut(half);
        for (low, high) in low.chunks_exact_mut(slot).zip(high.chunks_exact(slot)) {
            limbs::sub(low, high);
        }
        let mut product = Self { slot, words: low.to_vec() };
        product.shrink();
        product
    }

    /// Words of the slots of a product: |coefficients| below N 2^(a + b).
    fn product_slot(&self, other: &Self) -> usize {
        (self.bits() + other.bits() + self.len().ilog2() as usize + 2).div_ceil(64)
    }

    fn product(&self, other: &Self) -> Self {
        let slot = self.product_slot(other);
        let ((sign, a), (other_sign, b)) = (self.pack(slot), other.pack(slot));
        let mut out = Zeroizing::new(vec![0; a.len() + b.len()]);
        mul::mul(&mut out, &a, &b);
        Self::unpack(slot, sign != other_sign, out)
    }

    fn square(&self) -> Self {
        let slot = self.product_slot(self);
        let (_, a) = self.pack(slot);
        let mut out = Zeroizing::new(vec![0; 2 * a.len()]);
        mul::square(&mut out, &a);
        Self::unpack(slot, false, out)
    }
}

fn is_negative(slot: &[u64]) -> bool {
    slot.last().is_some_and(|&top| top >> 63 == 1)
}

/// Bits of `|x|`, or one less for a power of two that is negative.
fn magnitude_bits(slot: &[u64]) -> usize {
    let sign = if is_negative(slot) { u64::MAX } else { 0 };
    let top = slot.iter().rposition(|&word| word != sign);
    top.map_or(0, |i| 64 * i + 64 - (slot[i] ^ sign).leading_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(coefficients: &[i64]) -> Polynomial {
        Polynomial { slot: 1, words: coefficients.iter().map(|&c| c as u64).collect() }
    }

    fn values(p: &Polynomial) -> Vec<i128> {
        let mut p = p.clone();
        p.resize(2);
        p.words.chunks_exact(2).map(|c| (u128::from(c[0]) | u128::from(c[1]) << 64) as i128).collect()
    }

    fn negacyclic(a: &[i64], b: &[i64]) -> Vec<i128> {
        let n = a.len();
        let mut out = vec![0; n];
        for (i, &a) in a.iter().enumerate() {
            for (j, &b) in b.iter().enumerate() {
                let product = i128::from(a) * i128::from(b);
                if i + j < n { out[i + j] += product } else { out[i + j - n] -= product }
            }
        }
        out
    }

    proptest! {
        #[test]
        fn products_match_the_schoolbook(log2_n in 0u32..5, seed in proptest::collection::vec(any::<i64>(), 32)) {
            let n = 1 << log2_n;
            // |coefficients| below 2^59: sums of 16 products fit 128 bits.
            let small: Vec<i64> = seed.iter().map(|&c| if c & 1 == 0 { c >> 5 } else { c >> 62 }).collect();
            let (a, b) = (&small[..n], &small[16..16 + n]);
            prop_assert_eq!(values(&of(a).product(&of(b))), negacyclic(a, b));
            prop_assert_eq!(values(&of(a).square()), negacyclic(a, a));
        }
    }

    #[test]
    fn extreme_coefficients_multiply_exactly() {
        let low = -(1i64 << 59);
        for a in [vec![0; 4], vec![-1; 4], vec![low; 4], vec![0, 0, 0, -1], vec![-1, 0, 0, 0], vec![0, low, 0, 1]] {
            for b in [vec![1; 4], vec![-1; 4], vec![low, 1, low, -1]] {
                assert_eq!(values(&of(&a).product(&of(&b))), negacyclic(&a, &b), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn resultants_of_small_polynomials_are_those_of_hand() {
        // v = a + b x modulo x^2 + 1: d = a^2 + b^2, w = a - b x.
        for (a, b) in [(3i64, 2i64), (-3, 2), (3, -2), (1, 0), (i64::MAX >> 1, i64::MIN >> 2)] {
            let mut splitting = Splitting::new(&of(&[a, b]).words, 1);
            splitting.step(|| Ok::<_, ()>(())).unwrap();
            let result = splitting.resultant();
            let signed = |x: i128| Signed { negative: x < 0, magnitude: Natural::from(x.unsigned_abs()) };
            assert_eq!(result.d, signed(i128::from(a).pow(2) + i128::from(b).pow(2)));
            assert_eq!(result.w, [signed(a.into()), signed(-i128::from(b))]);
        }
    }
}
