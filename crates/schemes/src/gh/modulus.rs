//! Arithmetic modulo `d` on little-endian words, and on sums of products that stay transformed until their reduction.
//!
//! A residue has [`Modulus::words`] words and is in `0..d`. A *wide* residue is a sum of residues: it has one more word
//! and is below `2^24 d`.
//!
//! Barrett's reduction uses `mu = floor(2^(64 (2L+1)) / d)`, where `L` is the number of words of `d`. Let
//! `x < 2^(64 (2L+1))`, `h = floor(x / 2^(64 (L-1)))` and `q = floor(h mu / 2^(64 (L+2)))`. Truncating `x` lowers the
//! quotient by less than `mu / 2^(64 (L+2)) <= 1`. Truncating `mu` lowers it by less than `h / 2^(64 (L+2)) < 1`. Hence
//! `x - q d` is in `0..3d`, and its residue modulo `2^M - 1 > 3d` determines it. The product `q d` modulo `2^M - 1`
//! takes transforms of half the length.

use core::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use solinas_bigint::Natural;
use solinas_field::{Backend, limbs};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::Error;
use solinas_bigint::fft::{self, Engine, Options, Plan, Ring, Spectrum};

/// Options of the arithmetic. Results do not depend on them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arithmetic {
    /// The transform. Defaults to the fastest one.
    pub engine: Option<Engine>,
    /// The vector unit. Defaults to the fastest one of this CPU.
    pub backend: Option<Backend>,
}

impl Arithmetic {
    pub(super) fn options(self, terms: usize) -> Options {
        Options { engine: self.engine, backend: self.backend, threads: 1, terms }
    }
}

/// Largest number of products of wide residues in a sum. Each factor is below `2^24 d`, so the sum is below
/// `2^16 2^48 d^2 < 2^(64 (2L+1))`, the limit of Barrett's reduction.
const MAX_TERMS: usize = 1 << 16;

/// The modulus `d` and its plans.
pub(super) struct Modulus {
    /// `d`, followed by a zero word.
    d_wide: Vec<u64>,
    /// Plan of sums of products of wide residues.
    sums: Plan,
    /// Plan of products `h mu`.
    full: Plan,
    /// Plan of products `q d` modulo `2^M - 1`, with `M >= 64 (L+2)`.
    half: Plan,
    mu: Spectrum,
    d_half: Spectrum,
    /// `floor(d / 2^(bits - 63)) + 1`, or `d` if it has at most 63 bits. It divides the quotients of wide residues.
    top: u64,
    arithmetic: Arithmetic,
    pool: Mutex<Vec<Scratch>>,
    spectra: Mutex<Vec<Zeroizing<Spectrum>>>,
}

/// A spectrum for temporary use. Its memory goes back to its [`Modulus`] on drop, because new pages are slow: at the
/// largest set, a spectrum has 21 MB. The modulus wipes the memory when it is dropped itself.
pub(super) struct Temporary<'a> {
    modulus: &'a Modulus,
    /// It is empty only during the drop.
    spectrum: Option<Zeroizing<Spectrum>>,
}

/// Working memory of one reduction. It is wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
struct Scratch {
    sum: Spectrum,
    full: Spectrum,
    half: Spectrum,
    /// Shape: the words of `sums`.
    wide: Vec<u64>,
    /// Shape: the words of `full`.
    quotient: Vec<u64>,
    /// Shape: the words of `half`.
    folded: [Vec<u64>; 2],
}

impl Modulus {
    /// Plans for an odd `d` of at least two bits, and for sums of up to `terms` products of wide residues. Range:
    /// `terms` up to [`MAX_TERMS`].
    pub(super) fn new(d: &Natural, terms: usize, arithmetic: Arithmetic) -> Result<Self, Error> {
        let words = d.words().len();
        if d.is_even() || d.bit_len() < 2 {
            return Err(Error::Material { part: "modulus d", problem: "it is even, or 1".into() });
        }
        if terms > MAX_TERMS {
            let problem = format!("a plan for sums of {terms} products was requested, and {MAX_TERMS} is the limit");
            return Err(Error::Material { part: "modulus d", problem });
        }
        let sums = Plan::for_product(words + 1, words + 1, &arithmetic.options(terms))?;
        let full = Plan::for_product(words + 2, words + 2, &arithmetic.options(1))?;
        let half = Plan::new(64 * (words + 2), Ring::Minus, &arithmetic.options(1))?;
        let (mu, _) = Natural::power_of_two(64 * (2 * words + 1)).div_rem(d)?;
        let (mut mu_spectrum, mut d_half) = (full.spectrum(), half.spectrum());
        full.forward(mu.words(), &mut mu_spectrum)?;
        half.forward(d.words(), &mut d_half)?;
        let shift = d.bit_len().saturating_sub(63);
        let top = (d >> shift).to_u64().unwrap_or(u64::MAX) + u64::from(shift > 0);
        let mut d_wide = d.words().to_vec();
        d_wide.push(0);
        let (pool, spectra) = (Mutex::default(), Mutex::default());
        Ok(Self { d_wide, sums, full, half, mu: mu_spectrum, d_half, top, arithmetic, pool, spectra })
    }

    /// The words of `d`.
    pub(super) fn d(&self) -> &[u64] {
        &self.d_wide[..self.words()]
    }

    /// Number of words of a residue.
    pub(super) fn words(&self) -> usize {
        self.d_wide.len() - 1
    }

    /// Number of bits of `d`.
    pub(super) fn bits(&self) -> usize {
        bit_len(self.d())
    }

    /// The options of the arithmetic.
    pub(super) fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    /// Returns an empty spectrum for operands and sums of products.
    pub(super) fn spectrum(&self) -> Spectrum {
        self.sums.spectrum()
    }

    /// Returns an empty spectrum for temporary use.
    pub(super) fn temporary(&self) -> Temporary<'_> {
        let pooled = self.spectra.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Temporary { modulus: self, spectrum: Some(pooled.unwrap_or_else(|| Zeroizing::new(self.spectrum()))) }
    }

    /// Returns the transform of a residue or wide residue, for temporary use.
    pub(super) fn operand(&self, x: &[u64]) -> Result<Temporary<'_>, Error> {
        let mut out = self.temporary();
        self.forward_to(&mut out, x)?;
        Ok(out)
    }

    /// out <- transform of a residue or wide residue.
    pub(super) fn forward_to(&self, out: &mut Spectrum, x: &[u64]) -> Result<(), Error> {
        Ok(self.sums.forward(x, out)?)
    }

    /// Returns the transform of a residue or wide residue.
    pub(super) fn forward(&self, x: &[u64]) -> Result<Spectrum, Error> {
        let mut out = self.spectrum();
        self.forward_to(&mut out, x)?;
        Ok(out)
    }

    /// sum <- sum + a * b. At most the planned number of times for each sum.
    pub(super) fn multiply_add(&self, sum: &mut Spectrum, a: &Spectrum, b: &Spectrum) -> Result<(), Error> {
        Ok(self.sums.multiply_add(sum, a, b)?)
    }

    /// out <- sum modulo `d`. Destroys `sum`.
    pub(super) fn reduce_to(&self, out: &mut [u64], sum: &mut Spectrum) -> Result<(), Error> {
        let mut scratch = self.take();
        self.sums.inverse(sum, &mut scratch.wide)?;
        let done = self.barrett(out, &mut scratch);
        self.give(scratch);
        done
    }

    /// Returns `sum` modulo `d`. Destroys `sum`.
    pub(super) fn reduce(&self, sum: &mut Spectrum) -> Result<Vec<u64>, Error> {
        let mut out = vec![0; self.words()];
        self.reduce_to(&mut out, sum)?;
        Ok(out)
    }

    /// Returns a b modulo `d`.
    pub(super) fn mul(&self, a: &[u64], b: &[u64]) -> Result<Vec<u64>, Error> {
        let b = self.operand(b)?;
        self.mul_spectrum(a, &b)
    }

    /// Returns a b modulo `d` for a transformed `b`.
    pub(super) fn mul_spectrum(&self, a: &[u64], b: &Spectrum) -> Result<Vec<u64>, Error> {
        let mut scratch = self.take();
        let mut out = vec![0; self.words()];
        self.sums.forward(a, &mut scratch.sum)?;
        self.sums.multiply(&mut scratch.sum, b)?;
        self.sums.inverse(&mut scratch.sum, &mut scratch.wide)?;
        let done = self.barrett(&mut out, &mut scratch);
        self.give(scratch);
        done.map(|()| out)
    }

    /// Returns a^2 modulo `d`.
    pub(super) fn square(&self, a: &[u64]) -> Result<Vec<u64>, Error> {
        let mut sum = self.operand(a)?;
        self.sums.square(&mut sum)?;
        self.reduce(&mut sum)
    }

    /// Returns a^exponent modulo `d` for a public exponent.
    pub(super) fn vartime_pow(&self, a: &[u64], exponent: u64) -> Result<Vec<u64>, Error> {
        let mut power = self.one();
        for i in (0..64 - exponent.leading_zeros()).rev() {
            power = self.square(&power)?;
            if exponent >> i & 1 == 1 {
                power = self.mul(&power, a)?;
            }
        }
        Ok(power)
    }

    /// Returns a^exponent modulo `d` for a secret exponent below `2^bits`.
    pub(super) fn pow(&self, a: &[u64], exponent: u64, bits: u32) -> Result<Zeroizing<Vec<u64>>, Error> {
        let one = self.one();
        let [mut factor, mut power] = [0, 1].map(|_| Zeroizing::new(one.clone()));
        for i in (0..bits).rev() {
            power = Zeroizing::new(self.square(&power)?);
            limbs::select(&mut factor, exponent >> i & 1, a, &one);
            power = Zeroizing::new(self.mul(&power, &factor)?);
        }
        Ok(power)
    }

    /// Returns the residue 1.
    pub(super) fn one(&self) -> Vec<u64> {
        let mut one = vec![0; self.words()];
        one[0] = 1;
        one
    }

    /// Converts a natural number below `d` to a residue.
    pub(super) fn residue(&self, x: &Natural) -> Vec<u64> {
        let mut words = x.words().to_vec();
        words.resize(self.words(), 0);
        words
    }

    /// a <- a + b modulo `d`.
    pub(super) fn add(&self, a: &mut [u64], b: &[u64]) {
        let carry = limbs::add(a, b);
        limbs::reduce_once(a, carry, self.d());
    }

    /// a <- a - b modulo `d`.
    pub(super) fn sub(&self, a: &mut [u64], b: &[u64]) {
        let left = Zeroizing::new(a.to_vec());
        limbs::sub_mod(a, &left, b, self.d());
    }

    /// Returns -a modulo `d`.
    pub(super) fn neg(&self, a: &[u64]) -> Vec<u64> {
        let mut out = self.d().to_vec();
        limbs::sub(&mut out, a);
        limbs::reduce_once(&mut out, 0, self.d());
        out
    }

    /// a <- a modulo `d` for a wide residue `a`. Its last word becomes zero.
    ///
    /// The time does not depend on `a`, except for one division of two words by one. Its time depends on the length of
    /// the quotient, that is, on the number of residues that were summed.
    ///
    /// With `A = floor(a / 2^e)` and `D = floor(d / 2^e) + 1 > 2^62`, the quotient `floor(A / D)` is exact or one too
    /// small. It is exact if `d` has at most 63 bits: then `D = d`.
    pub(super) fn reduce_wide(&self, a: &mut [u64]) {
        debug_assert_eq!(a.len(), self.words() + 1);
        let shift = self.bits().saturating_sub(63);
        let (word, bit) = (shift / 64, shift % 64);
        let at = |i: usize| a.get(i).copied().unwrap_or(0);
        let low = u128::from(at(word)) | u128::from(at(word + 1)) << 64;
        let high = if bit == 0 { low } else { low >> bit | u128::from(at(word + 2)) << (128 - bit) };
        let quotient = (high / u128::from(self.top)) as u64;
        let (low_words, last) = a.split_at_mut(self.words());
        let taken = limbs::submul_1(low_words, self.d(), quotient);
        let carry = last[0].wrapping_sub(taken);
        limbs::reduce_once(low_words, carry, self.d());
        last[0] = 0;
    }

    /// out <- `scratch.wide` modulo `d`.
    fn barrett(&self, out: &mut [u64], scratch: &mut Scratch) -> Result<(), Error> {
        let words = self.words();
        let Scratch { full, half, wide, quotient, folded: [x, qd], .. } = scratch;
        debug_assert!(wide[2 * words + 1..].iter().all(|&word| word == 0), "a sum of too many products");
        self.full.forward(&wide[words - 1..2 * words + 1], full)?;
        self.full.multiply(full, &self.mu)?;
        self.full.inverse(full, quotient)?;
        self.half.forward(&quotient[words + 2..2 * words + 4], half)?;
        self.half.multiply(half, &self.d_half)?;
        self.half.inverse(half, qd)?;
        // x <- wide - q d modulo 2^M - 1. The carry that is added again does not cause another carry.
        x.fill(0);
        for part in wide[..2 * words + 1].chunks(x.len()) {
            let carry = limbs::add(x, part);
            limbs::add_1(x, carry);
        }
        let borrow = limbs::sub(x, qd);
        limbs::sub_1(x, borrow);
        if x[words + 1] != 0 {
            // The other form of zero, 2^M - 1. No other value below 3d has this word.
            x.fill(0);
        }
        let x = &mut x[..words + 1];
        limbs::reduce_once(x, 0, &self.d_wide);
        limbs::reduce_once(x, 0, &self.d_wide);
        out.copy_from_slice(&x[..words]);
        Ok(())
    }

    fn take(&self) -> Scratch {
        let pooled = self.pool.lock().unwrap_or_else(PoisonError::into_inner).pop();
        pooled.unwrap_or_else(|| Scratch {
            sum: self.sums.spectrum(),
            full: self.full.spectrum(),
            half: self.half.spectrum(),
            wide: vec![0; self.sums.words()],
            quotient: vec![0; self.full.words()],
            folded: [vec![0; self.half.words()], vec![0; self.half.words()]],
        })
    }

    fn give(&self, scratch: Scratch) {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
    }
}

impl Deref for Temporary<'_> {
    type Target = Spectrum;

    fn deref(&self) -> &Spectrum {
        self.spectrum.as_ref().unwrap_or_else(|| unreachable!("it is empty only during the drop"))
    }
}

impl DerefMut for Temporary<'_> {
    fn deref_mut(&mut self) -> &mut Spectrum {
        self.spectrum.as_mut().unwrap_or_else(|| unreachable!("it is empty only during the drop"))
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if let Some(mut spectrum) = self.spectrum.take() {
            spectrum.clear();
            self.modulus.spectra.lock().unwrap_or_else(PoisonError::into_inner).push(spectrum);
        }
    }
}

/// Runs `work` on secrets. Then wipes the scratch memory of products on this thread and on the current pool's threads.
pub(super) fn with_wiped<T>(work: impl FnOnce() -> T) -> T {
    let result = work();
    fft::wipe_scratch();
    rayon::broadcast(|_| fft::wipe_scratch());
    result
}

/// Number of bits of a number whose last word is not zero.
fn bit_len(words: &[u64]) -> usize {
    words.last().map_or(0, |top| 64 * words.len() - top.leading_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SecretSeed;
    use proptest::prelude::*;

    /// The number of terms that the larger sets sum, and the limit.
    const TERMS: [usize; 2] = [150, MAX_TERMS];

    /// Returns an odd modulus of exactly `bits` bits.
    fn odd(bits: usize, seed: u64) -> Natural {
        let mut d = Natural::random_bits(bits, &mut SecretSeed::insecure(seed).stream(0));
        d.set_bit(0);
        d.set_bit(bits - 1);
        d
    }

    fn arithmetics() -> Vec<Arithmetic> {
        let backends = solinas_testing::back_ends(Backend::available()).into_iter().map(Some);
        backends.map(|backend| Arithmetic { engine: None, backend }).collect()
    }

    fn check(d: &Natural, seed: u64) {
        let mut rng = SecretSeed::insecure(seed).stream(1);
        let largest = d.checked_sub(&Natural::one()).unwrap();
        let mut operands = vec![Natural::ZERO, Natural::one(), largest];
        operands.extend((0..2).map(|_| Natural::random_below(d, &mut rng).unwrap()));
        for arithmetic in arithmetics() {
            let modulus = Modulus::new(d, 1, arithmetic).unwrap();
            for a in &operands {
                for b in &operands {
                    let [x, y] = [a, b].map(|n| modulus.residue(n));
                    let product = (a * b).rem(d).unwrap();
                    assert_eq!(modulus.mul(&x, &y).unwrap(), modulus.residue(&product), "{d:x}");
                    let mut sum = x.clone();
                    modulus.add(&mut sum, &y);
                    assert_eq!(sum, modulus.residue(&(a + b).rem(d).unwrap()));
                    modulus.add(&mut sum, &modulus.neg(&y));
                    assert_eq!(sum, x);
                }
            }
        }
    }

    #[test]
    fn products_and_sums_match_long_division() {
        for bits in [2, 3, 63, 64, 65, 127, 128, 129, 1000, 3904, 24_382] {
            check(&odd(bits, bits as u64), 1);
        }
        check(&Natural::power_of_two(640).checked_sub(&Natural::one()).unwrap(), 2);
        check(&(&Natural::power_of_two(640) + &Natural::one()), 3);
    }

    #[test]
    fn sums_of_the_most_products_of_the_largest_wide_residues_are_exact() {
        let d = Natural::power_of_two(3904).checked_sub(&Natural::one()).unwrap();
        let wide = &d * &Natural::power_of_two(24);
        for (arithmetic, terms) in arithmetics().into_iter().flat_map(|a| TERMS.map(|terms| (a, terms))) {
            let modulus = Modulus::new(&d, terms, arithmetic).unwrap();
            let x = modulus.forward(wide.checked_sub(&Natural::one()).unwrap().words()).unwrap();
            let mut sum = modulus.spectrum();
            for _ in 0..terms {
                modulus.multiply_add(&mut sum, &x, &x).unwrap();
            }
            // The sum of `terms` products (-1)^2.
            assert_eq!(modulus.reduce(&mut sum).unwrap(), modulus.residue(&Natural::from(terms as u64)));
        }
        assert!(Modulus::new(&d, MAX_TERMS + 1, Arithmetic::default()).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn wide_residues_reduce_as_long_division_does(bits in 2usize..400, seed in any::<u64>(), factor in 0u32..1 << 24) {
            let d = odd(bits, seed);
            let modulus = Modulus::new(&d, 1, Arithmetic::default()).unwrap();
            let x = Natural::random_below(&d, &mut SecretSeed::insecure(seed).stream(1)).unwrap();
            for x in [&x + &(&d * &Natural::from(factor)), &d * &Natural::from(factor), x] {
                let mut wide = x.words().to_vec();
                wide.resize(modulus.words() + 1, 0);
                modulus.reduce_wide(&mut wide);
                prop_assert_eq!(Natural::from_words(wide), x.rem(&d).unwrap());
            }
        }
    }

    #[test]
    fn a_transform_takes_no_more_memory_than_is_stated() {
        use super::super::{Params, encrypt::SPECTRUM_FACTOR};
        for name in ["toy", "small", "medium", "large"] {
            let params = Params::named(name).unwrap();
            let bits = params.modulus_bits() as usize;
            let mut d = Natural::random_bits(bits, &mut SecretSeed::insecure(1).stream(0));
            d.set_bit(0);
            d.set_bit(bits - 1);
            let columns = params.first_indices().max(params.blocks() + params.precision());
            for terms in [1, params.max_nonzeros(), columns] {
                let modulus = Modulus::new(&d, terms, Arithmetic::default()).unwrap();
                let ratio = modulus.spectrum().bytes() as f64 / (8 * modulus.words()) as f64;
                assert!(ratio <= SPECTRUM_FACTOR as f64, "{name}, {terms} terms: {ratio}");
            }
        }
    }
}
