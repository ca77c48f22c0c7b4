//! The inverse of `v` modulo `x^n + 1`, up to its norm, by power-of-two splitting of a polynomial with large
//! coefficients.
//!
//! With `V(x) = E(x^2) + x O(x^2)`, the product `V(x) V(-x) = E^2 - y O^2` is a polynomial in `y = x^2` modulo
//! `y^(N/2) + 1`. It has half the dimension and twice the bits. The numerator `U` of `U / V` is also multiplied by
//! `V(-x)`. Of the product, the even coefficients `U_even E - y U_odd O` are kept; they contain the coefficient of
//! `x^0`. At dimension 1, `V` is the resultant `d` of `v` and `x^n + 1`, and `U` is the first coefficient of `d u / v`
//! (Gentry and Halevi 2011, section 4). The two numerators `u = 1` and `u = 1/x` give `w_0` and `w_1` of `w = d / v`.
//!
//! Products use Kronecker substitution: each coefficient has a slot of whole words, and a negative coefficient borrows
//! from the slot above.

use solinas_bigint::{Natural, mul};
use solinas_field::limbs;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// A signed integer.
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

/// The state of the splitting between two levels.
pub(super) struct Splitting {
    denominator: Polynomial,
    numerators: [Polynomial; 2],
}

impl Splitting {
    /// Begins the splitting of `v`. Shape: `n` slots in two's complement. Range: at most `64 slot - 1` bits and a sign.
    pub(super) fn new(v: &[u64], slot: usize) -> Self {
        let n = v.len() / slot;
        // 1 and 1/x = -x^(n-1).
        let numerators = [Polynomial::monomial(n, 0, 1), Polynomial::monomial(n, n - 1, u64::MAX)];
        Self { denominator: Polynomial { slot, words: v.to_vec() }, numerators }
    }

    /// Number of remaining coefficients. Each level halves it, down to 1.
    pub(super) fn dimension(&self) -> usize {
        self.denominator.len()
    }

    /// Computes one level on two threads. Calls `check` between products. If `check` fails, the state stays unchanged.
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

    /// Returns the resultant. Call it at dimension 1.
    pub(super) fn resultant(&self) -> Resultant {
        let [w0, w1] = &self.numerators;
        Resultant { d: self.denominator.constant(), w: [w0.constant(), w1.constant()] }
    }

    /// The words of the three polynomials, for storage. Secret.
    pub(super) fn parts(&self) -> [&[u64]; 3] {
        let [first, second] = &self.numerators;
        [&self.denominator, first, second].map(|polynomial| &polynomial.words[..])
    }

    /// Restores the state from polynomials of `dimension` coefficients. Returns `None` if a polynomial does not consist
    /// of whole slots.
    pub(super) fn from_parts(dimension: usize, parts: [Vec<u64>; 3]) -> Option<Self> {
        let whole = parts.iter().all(|words| !words.is_empty() && words.len().is_multiple_of(dimension));
        let [denominator, first, second] = parts.map(|words| Polynomial { slot: words.len() / dimension, words });
        whole.then_some(Self { denominator, numerators: [first, second] })
    }
}

/// Computes a - y b.
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
    /// Returns sign x^degree with `n` coefficients. `sign` is 1 or -1.
    fn monomial(n: usize, degree: usize, sign: u64) -> Self {
        let mut words = vec![0; n];
        words[degree] = sign;
        Self { slot: 1, words }
    }

    fn len(&self) -> usize {
        self.words.len() / self.slot
    }

    /// Returns the coefficients of even and of odd index.
    fn halves(&self) -> [Self; 2] {
        [0, 1].map(|parity| {
            let slots = self.words.chunks_exact(self.slot).skip(parity).step_by(2);
            Self { slot: self.slot, words: slots.flatten().copied().collect() }
        })
    }

    /// Returns the only coefficient.
    fn constant(&self) -> Signed {
        let negative = is_negative(&self.words);
        let mut words = self.words.clone();
        if negative {
            limbs::neg(&mut words);
        }
        Signed { negative, magnitude: Natural::from_words(words) }
    }

    /// Changes the width of the slots. Every coefficient must fit.
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

    /// Shrinks the slots to the smallest width that leaves two spare bits for every coefficient.
    fn shrink(&mut self) {
        let bits = self.words.chunks_exact(self.slot).map(magnitude_bits).max().unwrap_or(0);
        self.resize((bits + 2).div_ceil(64));
    }

    /// Number of bits that bounds the absolute values of the coefficients: they are below 2^bits.
    fn bits(&self) -> usize {
        64 * self.slot - 1
    }

    /// Evaluates the polynomial at 2^(64 slot). Returns sign and magnitude. The new slots must be at least as wide as
    /// the current ones.
    fn pack(&self, slot: usize) -> (bool, Zeroizing<Vec<u64>>) {
        let mut wide = self.clone();
        wide.resize(slot);
        // A negative slot reads as its value plus 2^(64 slot). Subtract 1 from the slot above to compensate.
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

    /// Recovers the polynomial of degree below 2N from its value at 2^(64 slot), and reduces it modulo x^N + 1. Inverse
    /// of [`Self::pack`].
    fn unpack(slot: usize, negative: bool, mut value: Zeroizing<Vec<u64>>) -> Self {
        if negative {
            limbs::neg(&mut value);
        }
        let mut carry = 0;
        for chunk in value.chunks_exact_mut(slot) {
            // A slot that reads as negative has borrowed 1 from the slot above. A slot that passes 2^(64 slot) reads as
            // zero.
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

    /// Number of words for a slot of a product. Its coefficients are below N 2^(a + b) in absolute value.
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

/// Returns the bits of `|x|`, or one less if `x` is the negative of a power of two.
fn magnitude_bits(slot: &[u64]) -> usize {
    let sign = if is_negative(slot) { u64::MAX } else { 0 };
    let top = slot.iter().rposition(|&word| word != sign);
    top.map_or(0, |i| 64 * i + 64 - (slot[i] ^ sign).leading_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn polynomial(coefficients: &[i64]) -> Polynomial {
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
            prop_assert_eq!(values(&polynomial(a).product(&polynomial(b))), negacyclic(a, b));
            prop_assert_eq!(values(&polynomial(a).square()), negacyclic(a, a));
        }
    }

    #[test]
    fn extreme_coefficients_multiply_exactly() {
        let low = -(1i64 << 59);
        for a in [vec![0; 4], vec![-1; 4], vec![low; 4], vec![0, 0, 0, -1], vec![-1, 0, 0, 0], vec![0, low, 0, 1]] {
            for b in [vec![1; 4], vec![-1; 4], vec![low, 1, low, -1]] {
                assert_eq!(values(&polynomial(&a).product(&polynomial(&b))), negacyclic(&a, &b), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn resultants_of_small_polynomials_are_those_of_hand() {
        // v = a + b x modulo x^2 + 1: d = a^2 + b^2, w = a - b x.
        for (a, b) in [(3i64, 2i64), (-3, 2), (3, -2), (1, 0), (i64::MAX >> 1, i64::MIN >> 2)] {
            let mut splitting = Splitting::new(&polynomial(&[a, b]).words, 1);
            splitting.step(|| Ok::<_, ()>(())).unwrap();
            let result = splitting.resultant();
            let signed = |x: i128| Signed { negative: x < 0, magnitude: Natural::from(x.unsigned_abs()) };
            assert_eq!(result.d, signed(i128::from(a).pow(2) + i128::from(b).pow(2)));
            assert_eq!(result.w, [signed(a.into()), signed(-i128::from(b))]);
        }
    }
}
