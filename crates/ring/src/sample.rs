//! Samplers of short and of uniform polynomials.
//!
//! The caller provides the generator, which should be cryptographic. The time of [`Gaussian`], [`ternary`] and
//! [`sparse`] depends on the length alone.

use rand_core::RngCore;
use solinas_field::prime::Modulus;
use zeroize::{Zeroize, Zeroizing};

use crate::{Basis, Domain, Error, RnsPoly};

/// The centred discrete Gaussian on the integers, by its cumulative table to 63 bits. Every draw is compared with every
/// threshold. The tail is cut where less than `2^-63` remains, near 9.2 standard deviations.
#[derive(Clone, Debug, PartialEq)]
pub struct Gaussian {
    sigma: f64,
    /// `2^63 Pr(|x| <= k)` for `k = 0, 1, ..`, rounded.
    thresholds: Vec<u64>,
}

impl Gaussian {
    /// Makes the sampler of standard deviation `sigma` (the Gaussian parameter of the literature is
    /// `r = sigma sqrt(2 pi)`), in `0.3..=64`.
    ///
    /// # Errors
    /// [`Error::Sampler`] out of that range.
    pub fn new(sigma: f64) -> Result<Self, Error> {
        if !(0.3..=64.0).contains(&sigma) {
            return Err(Error::Sampler { what: "a standard deviation", value: sigma, min: 0.3, max: 64.0 });
        }
        let density =
            |k: u32| libm::exp(-f64::from(k).powi(2) / (2.0 * sigma * sigma)) * if k == 0 { 1.0 } else { 2.0 };
        let last = (9.3 * sigma).ceil() as u32;
        let total: f64 = (0..=last).rev().map(density).sum();
        // Tails summed from the small end keep their relative precision.
        let mut tails = vec![0.0; last as usize + 1];
        for k in (0..last).rev() {
            tails[k as usize] = tails[k as usize + 1] + density(k + 1) / total;
        }
        let threshold = |&tail: &f64| (1 << 63) - (tail * 2f64.powi(63)).round() as u64;
        let thresholds = tails.iter().map(threshold).take_while(|&threshold| threshold < 1 << 63).collect();
        Ok(Self { sigma, thresholds })
    }

    /// Standard deviation.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// Largest magnitude of a value.
    pub fn max(&self) -> i64 {
        self.thresholds.len() as i64
    }

    /// Draws one value.
    pub fn draw(&self, rng: &mut impl RngCore) -> i64 {
        self.value_of_bits(rng.next_u64())
    }

    /// Returns the value of 64 random bits; the lowest is the sign.
    #[inline]
    fn value_of_bits(&self, word: u64) -> i64 {
        let position = word >> 1;
        let magnitude: u64 = self.thresholds.iter().map(|&threshold| u64::from(position >= threshold)).sum();
        let sign = (word & 1).wrapping_neg() as i64;
        (magnitude as i64 ^ sign) - sign
    }

    /// Draws `len` values.
    pub fn draw_many(&self, rng: &mut impl RngCore, len: usize) -> Zeroizing<Vec<i64>> {
        let mut out = Zeroizing::new(vec![0; len]);
        let mut bytes = [0; 1024];
        for part in out.chunks_mut(bytes.len() / 8) {
            rng.fill_bytes(&mut bytes[..8 * part.len()]);
            let (words, _) = bytes.as_chunks::<8>();
            part.iter_mut().zip(words).for_each(|(out, word)| *out = self.value_of_bits(u64::from_le_bytes(*word)));
        }
        bytes.zeroize();
        out
    }
}

/// Draws `len` values uniform in -1, 0, 1 (to `2^-62`).
pub fn ternary(rng: &mut impl RngCore, len: usize) -> Zeroizing<Vec<i64>> {
    let mut out = Zeroizing::new(vec![0; len]);
    out.iter_mut().for_each(|out| *out = ((u128::from(rng.next_u64()) * 3) >> 64) as i64 - 1);
    out
}

/// Draws `len` values, of which `weight` are 1 or -1 with equal probability and the others 0. Every choice is equally
/// likely (to `len^2 2^-63`). A network sorts the values by random keys, so that no address depends on them.
///
/// # Errors
/// [`Error::Sampler`] for a weight above `len`.
pub fn sparse(rng: &mut impl RngCore, len: usize, weight: usize) -> Result<Zeroizing<Vec<i64>>, Error> {
    if weight > len {
        return Err(Error::Sampler { what: "a weight", value: weight as f64, min: 0.0, max: len as f64 });
    }
    // A word is a random key, then the value plus 1 in the two lowest bits. Places up to a power of two have the
    // highest key of all.
    let mut keys = Zeroizing::new(vec![u64::MAX; len.next_power_of_two()]);
    for (i, key) in keys[..len].iter_mut().enumerate() {
        let word = rng.next_u64();
        let value = if i < weight { 2 * (word & 1) } else { 1 };
        *key = (word >> 1 & !3) | value;
    }
    sort(&mut keys);
    let mut out = Zeroizing::new(vec![0; len]);
    out.iter_mut().zip(keys.iter()).for_each(|(out, key)| *out = (key & 3) as i64 - 1);
    Ok(out)
}

/// Batcher's bitonic network, for a power of two of words.
fn sort(words: &mut [u64]) {
    let n = words.len();
    let mut size = 2;
    while size <= n {
        let mut step = size / 2;
        while step > 0 {
            for i in 0..n {
                let other = i ^ step;
                if other > i {
                    let (a, b) = (words[i], words[other]);
                    let (low, high) = (a.min(b), a.max(b));
                    (words[i], words[other]) = if i & size == 0 { (low, high) } else { (high, low) };
                }
            }
            step /= 2;
        }
        size *= 2;
    }
}

/// Draws a polynomial uniform modulo `Q`, in either domain. It uses rejection, so use it for public data.
pub fn uniform<D: Domain>(basis: &Basis, rng: &mut impl RngCore) -> RnsPoly<D> {
    let mut residue = |q: Modulus| {
        loop {
            let word = rng.next_u64() >> (64 - q.bits());
            if word < q.value() {
                return word;
            }
        }
    };
    let n = basis.dimension();
    let words: Vec<u64> = basis.moduli().flat_map(|q| core::iter::repeat_n(q, n)).map(&mut residue).collect();
    let mut words = words.chunks_exact(n);
    let mut out = RnsPoly::zero(basis);
    out.fill(|tower| tower.copy_from_slice(words.next().unwrap_or(&[])));
    out
}
