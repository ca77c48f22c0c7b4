//! Packing: ciphertexts become the coefficients of one GLWE ciphertext, which is rounded for decryption.
//!
//! The algorithm is PackLWEs of Chen, Dai, Kim and Song (eprint 2020/015). A ciphertext becomes a GLWE ciphertext that holds its message in
//! the constant coefficient and garbage in the others. A tree then merges neighbours. The node of level `t` computes
//! `(first + X^(N/2^t) second) + sigma(first - X^(N/2^t) second)` with `sigma: X -> X^(2^t + 1)`, which doubles the messages and cancels
//! the garbage in their places. Words are modulo the prime `p = 2^64 - 2^32 + 1`, in which the doublings are divided out exactly, and
//! transforms are exact. So no byte depends on the back end or on the number of threads.
//!
//! The noise is derived in `docs/derivations/tfhe-parameters.md`, section 10.

use super::packed::PackedCiphertexts;
use super::packing_key::{PackingKey, automorphism, from_signed, rows_of_level};
use super::{Error, LweCiphertext, Params};
use crate::KeyId;
use rayon::prelude::*;
use solinas_field::Backend;
use solinas_field::solinas::{Convolution, EPSILON, P, Plan, add, mul, mul_pow2, neg, sub};

/// A packing key that is ready for use: its masks are regenerated and its polynomials are transformed.
pub struct Packer {
    params: Params,
    id: KeyId,
    plan: Plan,
    /// The transformed rows, as [`PackingKey`] orders them. Shape: `(k+1) N` words a row, the masks and then the body.
    rows: Vec<u64>,
}

impl std::fmt::Debug for Packer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Packer").field("params", &self.params.name()).field("id", &self.id).finish_non_exhaustive()
    }
}

impl Packer {
    /// Prepares a key on the current thread pool, with the fastest back end of this CPU.
    ///
    /// # Errors
    /// [`Error::Field`] if `SOLINAS_BACKEND` names an unknown back end.
    pub fn new(key: &PackingKey) -> Result<Self, Error> {
        Self::with_backend(key, Backend::detect()?)
    }

    /// Prepares a key for a given back end. Results do not depend on the back end.
    ///
    /// # Errors
    /// [`Error::Field`] if the kernels do not support the parameters.
    pub fn with_backend(key: &PackingKey, backend: Backend) -> Result<Self, Error> {
        let params = key.params().clone();
        let p = params.literal();
        let (n, len) = (p.ring_dimension, (p.glwe_dimension + 1) * p.ring_dimension);
        let plan = Plan::new(n, Convolution::Negacyclic, backend, 1)?;
        let mut rows = vec![0u64; PackingKey::len(&params) / n * len];
        rows.par_chunks_exact_mut(len).enumerate().try_for_each(|(row, words)| {
            words.copy_from_slice(&key.row(row));
            words.chunks_exact_mut(n).try_for_each(|polynomial| plan.forward(polynomial))
        })?;
        Ok(Self { id: key.id(), params, plan, rows })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Identity of the key.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Packs 1 to `N` ciphertexts on the current thread pool, and rounds the result.
    ///
    /// # Errors
    /// [`Error::CiphertextLength`] if a ciphertext does not have `k N + 1` words. [`Error::Dimension`] for no ciphertext, or for more than
    /// `N`.
    pub fn pack(&self, ciphertexts: &[LweCiphertext]) -> Result<PackedCiphertexts, Error> {
        PackedCiphertexts::round(&self.params, &self.merge(ciphertexts)?, ciphertexts.len())
    }

    /// Computes the first step of [`Self::pack`] alone: the GLWE ciphertext that holds the messages. Shape: `(k+1) N` words, the masks and
    /// then the body, in units of `2^-32` turn. Message `i` is at the coefficient whose number has the `log2 N` bits of `i` in reverse order.
    /// Other coefficients hold garbage.
    ///
    /// # Errors
    /// As [`Self::pack`].
    pub fn merge(&self, ciphertexts: &[LweCiphertext]) -> Result<Vec<u32>, Error> {
        let want = self.params.big_dimension() + 1;
        if let Some(wrong) = ciphertexts.iter().find(|ciphertext| ciphertext.0.len() != want) {
            return Err(Error::CiphertextLength { got: wrong.0.len(), want });
        }
        let most = self.params.literal().ring_dimension;
        if ciphertexts.is_empty() || ciphertexts.len() > most {
            return Err(Error::Dimension { what: "ciphertexts to pack", got: ciphertexts.len(), want: most });
        }
        let levels = ciphertexts.len().next_power_of_two().ilog2();
        // The tree doubles the messages at each level.
        let scale = mul_pow2(1, 192 - u64::from(levels));
        Ok(self.tree(levels, ciphertexts, scale)?.into_iter().map(to_torus).collect())
    }

    /// Packs 1 to `2^level` ciphertexts.
    fn tree(&self, level: u32, ciphertexts: &[LweCiphertext], scale: u64) -> Result<Vec<u64>, Error> {
        if level == 0 {
            return Ok(self.embed(&ciphertexts[0], scale));
        }
        let (first, second) = ciphertexts.split_at(ciphertexts.len().min(1 << (level - 1)));
        let second = || (!second.is_empty()).then(|| self.tree(level - 1, second, scale)).transpose();
        let (first, second) = rayon::join(|| self.tree(level - 1, first, scale), second);
        self.node(level, first?, second?)
    }

    /// The GLWE ciphertext whose constant coefficient has the phase of an LWE ciphertext times `scale`: the inverse of a sample extraction.
    fn embed(&self, ciphertext: &LweCiphertext, scale: u64) -> Vec<u64> {
        let (n, big) = (self.params.literal().ring_dimension, self.params.big_dimension());
        let word = |word: u32| mul(from_torus(word), scale);
        let mut glwe = vec![0u64; big + n];
        for (out, mask) in glwe.chunks_exact_mut(n).zip(ciphertext.0[..big].chunks_exact(n)) {
            out[0] = word(mask[0]);
            for (out, &a) in out[1..].iter_mut().rev().zip(&mask[1..]) {
                *out = neg(word(a));
            }
        }
        glwe[big] = word(ciphertext.0[big]);
        glwe
    }

    /// One node of the tree. An absent second ciphertext is 0.
    fn node(&self, level: u32, first: Vec<u64>, second: Option<Vec<u64>>) -> Result<Vec<u64>, Error> {
        let n = self.params.literal().ring_dimension;
        let (mut sum, mut difference) = (first.clone(), first);
        if let Some(second) = second {
            let shift = n >> level;
            for ((sum, difference), second) in
                sum.chunks_exact_mut(n).zip(difference.chunks_exact_mut(n)).zip(second.chunks_exact(n))
            {
                let rotated =
                    second[n - shift..].iter().map(|&word| neg(word)).chain(second[..n - shift].iter().copied());
                for ((sum, difference), word) in sum.iter_mut().zip(difference).zip(rotated) {
                    (*sum, *difference) = (add(*sum, word), sub(*difference, word));
                }
            }
        }
        let mut turned = vec![0u64; difference.len()];
        for (from, to) in difference.chunks_exact(n).zip(turned.chunks_exact_mut(n)) {
            automorphism(n, (1 << level) + 1, |i, place, negated| {
                to[place] = if negated { neg(from[i]) } else { from[i] };
            });
        }
        self.keyswitch(level, &turned, &mut sum)?;
        Ok(sum)
    }

    /// `sum <- sum + x`, where `x` is a ciphertext under the key's automorphism of that level, switched to the key itself.
    fn keyswitch(&self, level: u32, x: &[u64], sum: &mut [u64]) -> Result<(), Error> {
        let (n, cut) = (self.params.literal().ring_dimension, self.params.packing());
        let (masks, body) = x.split_at(self.params.big_dimension());
        let rows = rows_of_level(&self.params);
        let mut rows = self.rows[(level as usize - 1) * rows * x.len()..].chunks_exact(x.len()).take(rows);
        let mut product = vec![0u64; x.len()];
        let mut digits = vec![0u64; n * cut.levels as usize];
        for mask in masks.chunks_exact(n) {
            decompose(cut.base_log, mask, &mut digits);
            for (digits, row) in digits.chunks_exact_mut(n).zip(rows.by_ref()) {
                self.plan.forward(digits)?;
                for (product, key) in product.chunks_exact_mut(n).zip(row.chunks_exact(n)) {
                    self.plan.multiply_add(product, digits, key)?;
                }
            }
        }
        for (product, sum) in product.chunks_exact_mut(n).zip(sum.chunks_exact_mut(n)) {
            self.plan.inverse(product)?;
            sum.iter_mut().zip(product).for_each(|(sum, word)| *sum = add(*sum, *word));
        }
        let at = masks.len();
        sum[at..].iter_mut().zip(body).for_each(|(sum, word)| *sum = add(*sum, *word));
        Ok(())
    }
}

/// Writes balanced digits, as residues: the most significant digit of all words, then the next one. Words are taken in `-p/2..p/2`, so
/// digits are in `-B/2..=B/2`.
fn decompose(base_log: u32, words: &[u64], digits: &mut [u64]) {
    let n = words.len();
    let bits = base_log * (digits.len() / n) as u32;
    let (half, low) = (1i64 << (base_log - 1), (1i64 << base_log) - 1);
    for (i, &word) in words.iter().enumerate() {
        let centred = if word > P / 2 { word.wrapping_sub(P) } else { word } as i64;
        let mut rest = ((centred >> (63 - bits)) + 1) >> 1;
        for digits in digits.chunks_exact_mut(n).skip(1).rev() {
            let digit = ((rest + half) & low) - half;
            digits[i] = from_signed(digit as u64);
            rest = (rest - digit) >> base_log;
        }
        digits[i] = from_signed(rest as u64);
    }
}

/// The coefficient of message `index`: its `log2 N` bits in reverse order, so that it does not depend on the number of messages.
pub(super) fn place(n: usize, index: usize) -> usize {
    index.reverse_bits() >> (usize::BITS - n.ilog2())
}

/// Rounds `word p / 2^32`: from units of `2^-32` turn to units of `1/p` turn. Range: out `0..p`.
fn from_torus(word: u32) -> u64 {
    u64::from(word) * EPSILON + u64::from(word >> 31)
}

/// Rounds `word 2^32 / p` modulo `2^32`, within `2^-32` of a unit. Range: `0..p`.
pub(super) fn to_torus(word: u64) -> u32 {
    // 2^32 / p = 2^-32 + 2^-64 - .., and the sum is below 2^64.
    ((word + (word >> 32)).wrapping_add(1 << 31) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_core::{RngCore, SeedableRng};

    const CORNERS: [u64; 9] = [0, 1, P / 2 - 1, P / 2, P / 2 + 1, P - 1, 1 << 63, EPSILON, P - (1 << 40)];

    fn words(count: usize) -> impl Iterator<Item = u64> {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        CORNERS.into_iter().chain((0..count).map(move |_| rng.next_u64() % P))
    }

    #[test]
    fn conversions_match_rounded_quotients() {
        for word in words(2000) {
            let exact = ((u128::from(word) << 33) / u128::from(P) + 1) >> 1;
            let error = to_torus(word).wrapping_sub(exact as u32) as i32;
            assert!(error.abs() <= 1, "{word:#x}: off by {error}");
            let short = word as u32;
            let exact = ((u128::from(short) * u128::from(P)) >> 31).div_ceil(2);
            assert_eq!(u128::from(from_torus(short)), exact, "{short:#x}");
            assert_eq!(to_torus(from_torus(short)), short, "{short:#x}");
        }
    }

    #[test]
    fn digits_are_balanced_and_sum_to_the_word() {
        for (base_log, levels) in [(17, 2), (13, 2), (1, 1), (20, 3), (31, 1)] {
            for word in words(2000) {
                let mut digits = vec![0; levels];
                decompose(base_log, &[word], &mut digits);
                let mut sum = 0;
                for (t, &digit) in (1..).zip(&digits) {
                    assert!(digit.min(P - digit) <= 1 << (base_log - 1), "{word:#x}: {digit:#x}");
                    sum = add(sum, mul_pow2(digit, 64 - u64::from(base_log) * t));
                }
                let error = sub(word, sum);
                let unit = 1u64 << (64 - u64::from(base_log) * levels as u64 - 1);
                assert!(error.min(P - error) <= unit, "{word:#x}: {error:#x}");
            }
        }
    }

    #[test]
    fn places_of_a_longer_list_extend_those_of_a_shorter_one() {
        assert_eq!([0, 1, 2, 3, 4, 7].map(|i| place(512, i)), [0, 256, 128, 384, 64, 448]);
        let mut all: Vec<usize> = (0..2048).map(|i| place(2048, i)).collect();
        all.sort_unstable();
        assert!(all.iter().copied().eq(0..2048));
    }
}
