//! The modulus: a product of pairwise coprime words.

use rayon::prelude::*;
use solinas_bigint::Natural;
use solinas_field::matrix::Word;
use solinas_field::prime::primes;
use zeroize::Zeroizing;

use super::{Error, Vector};

/// The modulus `M = m_0 .. m_(k-1)`: odd and pairwise coprime words, with constants for both directions of the Chinese
/// remainder theorem.
#[derive(Clone, Debug, PartialEq)]
pub struct Modulus {
    words: Vec<Word>,
    /// `M`, little-endian, followed by a zero word.
    value: Vec<u64>,
    /// `floor(M / 2)`.
    half: Vec<u64>,
    /// `M 2^j` for `j` from `ceil(log2 k)` down to 0.
    multiples: Vec<Vec<u64>>,
    /// `M_i = M / m_i`.
    cofactors: Vec<Vec<u64>>,
    /// `v_i = 1 / M_i mod m_i`.
    inverses: Vec<u32>,
}

/// Computes `x <- x + y w` in the length of `x`.
fn add_scaled(x: &mut [u64], y: &[u64], w: u64) {
    let mut carry = 0u128;
    for (x, &y) in x.iter_mut().zip(y) {
        carry += u128::from(*x) + u128::from(y) * u128::from(w);
        *x = carry as u64;
        carry >>= 64;
    }
    debug_assert_eq!(carry, 0);
}

/// Computes `x w` in the length of `x`.
fn scaled(x: &[u64], w: u64) -> Vec<u64> {
    let mut out = vec![0; x.len()];
    add_scaled(&mut out, x, w);
    out
}

/// Returns all ones if `x < y`, else 0.
fn less(x: &[u64], y: &[u64]) -> u64 {
    let borrow = x.iter().zip(y).fold(0u64, |borrow, (&x, &y)| {
        let (rest, first) = x.overflowing_sub(y);
        u64::from(first) | u64::from(rest.overflowing_sub(borrow).1)
    });
    borrow.wrapping_neg()
}

/// Computes `x <- x - y` if `x >= y`. Branch-free.
fn subtract_once(x: &mut [u64], y: &[u64]) {
    let keep = less(x, y);
    let mut borrow = 0u64;
    for (x, &y) in x.iter_mut().zip(y) {
        let (rest, first) = x.overflowing_sub(y & !keep);
        let (rest, second) = rest.overflowing_sub(borrow);
        *x = rest;
        borrow = u64::from(first | second);
    }
}

impl Modulus {
    /// Builds a modulus from its words.
    ///
    /// # Errors
    /// [`Error::Word`] if there are no words, or one is even or below 3. [`Error::NotCoprime`] if two words share a
    /// factor.
    pub fn new(words: &[u32]) -> Result<Self, Error> {
        if words.is_empty() {
            return Err(Error::Word { word: 0 });
        }
        let checked = words.iter().map(|&word| Word::new(word).ok_or(Error::Word { word }));
        let checked: Vec<Word> = checked.collect::<Result<_, _>>()?;
        for (i, &first) in words.iter().enumerate() {
            if let Some(&second) = words[i + 1..].iter().find(|&&second| gcd(first, second) != 1) {
                return Err(Error::NotCoprime { first, second });
            }
        }
        // One more word of 64 bits, for sums of up to k multiples of M.
        let len = words.len().div_ceil(2) + 1;
        let product = |skip: usize| {
            let mut product = vec![0; len];
            product[0] = 1;
            let factors = words.iter().enumerate().filter(|&(i, _)| i != skip);
            factors.fold(product, |product, (_, &word)| scaled(&product, word.into()))
        };
        let value = product(usize::MAX);
        let mut half = value.clone();
        for i in 0..len {
            half[i] = value[i] >> 1 | value.get(i + 1).map_or(0, |next| next << 63);
        }
        let cofactors: Vec<_> = (0..words.len()).map(product).collect();
        let inverses = checked.iter().zip(&cofactors).map(|(word, cofactor)| {
            let residue = cofactor.iter().rev().fold(0, |residue, &limb| limbs(*word, residue, limb));
            // The words are coprime.
            word.vartime_inverse(residue).unwrap_or(0)
        });
        let inverses = inverses.collect();
        let top = words.len().next_power_of_two().trailing_zeros();
        let multiples = (0..=top).rev().map(|j| scaled(&value, 1 << j)).collect();
        Ok(Self { words: checked, value, half, multiples, cofactors, inverses })
    }

    /// Builds a modulus from the `count` largest primes of exactly `bits` bits.
    ///
    /// # Errors
    /// [`Error::Field`] if there are fewer primes. [`Error::Word`] for more than 32 bits.
    pub fn of_primes(count: usize, bits: u32) -> Result<Self, Error> {
        if bits > 32 {
            return Err(Error::Word { word: 0 });
        }
        Self::new(&primes(bits, count, 2)?.iter().map(|q| q.value() as u32).collect::<Vec<_>>())
    }

    /// Returns the product of the first `count` words.
    ///
    /// # Errors
    /// [`Error::Dimension`] unless `count` is in `1..=len`.
    pub fn prefix(&self, count: usize) -> Result<Self, Error> {
        let error = Error::Dimension { what: "words of a modulus", got: count, want: self.words.len() };
        let words = self.words.get(..count).filter(|words| !words.is_empty()).ok_or(error)?;
        Self::new(&words.iter().map(|word| word.value()).collect::<Vec<_>>())
    }

    /// The words.
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// Number of words.
    #[allow(clippy::len_without_is_empty, reason = "a modulus has one word or more")]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// `M`.
    pub fn value(&self) -> Natural {
        Natural::from_words(self.value.clone())
    }

    /// Number of bits of `M`.
    pub fn bits(&self) -> usize {
        self.value().bit_len()
    }

    /// `log2 M`.
    pub fn log2(&self) -> f64 {
        self.words.iter().map(|word| libm::log2(f64::from(word.value()))).sum()
    }

    /// Decomposes numbers below `M` into residues (the step "decompose" of algorithm 6.1, `wang2014`).
    ///
    /// # Errors
    /// [`Error::Range`] for a number that is not below `M`.
    pub fn decompose(&self, numbers: &[Natural]) -> Result<Vector, Error> {
        let mut padded: Vec<Vec<u64>> = Vec::with_capacity(numbers.len());
        for (index, number) in numbers.iter().enumerate() {
            let mut limbs = number.words().to_vec();
            limbs.resize(limbs.len().max(self.value.len()), 0);
            if limbs.len() > self.value.len() || less(&limbs, &self.value) == 0 {
                return Err(Error::Range { what: "an entry", index, bits: self.bits() });
            }
            padded.push(limbs);
        }
        let mut out = Vector::zeroed(self.len(), numbers.len());
        out.words_mut().zip(&self.words).for_each(|(out, &word)| {
            for (out, number) in out.iter_mut().zip(&padded) {
                *out = number.iter().rev().fold(0, |residue, &limb| limbs(word, residue, limb));
            }
        });
        Ok(out)
    }

    /// Reconstructs numbers below `M` from residues (the step "reconstruct" of algorithm 6.1, `wang2014`).
    ///
    /// # Errors
    /// [`Error::Dimension`] for a vector with another number of words.
    pub fn reconstruct(&self, vector: &Vector) -> Result<Vec<Natural>, Error> {
        self.check_vector(vector)?;
        let number = |i: usize| {
            let mut limbs = vec![0; self.value.len()];
            self.reconstruct_one(|w| vector.word(w)[i], &mut limbs);
            Natural::from_words(limbs)
        };
        Ok((0..vector.len()).into_par_iter().with_min_len(64).map(number).collect())
    }

    /// `M / m_i` for each word, little-endian, in [`Self::limbs`] words of 64 bits.
    pub fn cofactors(&self) -> &[Vec<u64>] {
        &self.cofactors
    }

    /// `1 / (M / m_i) mod m_i` for each word.
    pub fn inverses(&self) -> &[u32] {
        &self.inverses
    }

    /// `M 2^j` for `j` from `ceil(log2 k)` down to 0, where `k` is the number of words. Format: as [`Self::cofactors`].
    pub fn multiples(&self) -> &[Vec<u64>] {
        &self.multiples
    }

    /// Number of 64-bit words that hold `k M`, where `k` is the number of words.
    pub fn limbs(&self) -> usize {
        self.value.len()
    }

    /// `1 / (M / m_i) mod m_i`.
    pub(in crate::lwe) fn inverse(&self, i: usize) -> u32 {
        self.inverses[i]
    }

    /// Checks that the vector has the words of this modulus.
    ///
    /// # Errors
    /// [`Error::Dimension`] for another number of words.
    pub fn check_vector(&self, vector: &Vector) -> Result<(), Error> {
        if vector.word_count() == self.len() {
            return Ok(());
        }
        Err(Error::Dimension { what: "words of a vector", got: vector.word_count(), want: self.len() })
    }

    /// Computes `sum_i (t_i v_i mod m_i) M_i` and subtracts multiples of `M`. Range: `0..M`. Branch-free.
    fn reconstruct_one(&self, residue: impl Fn(usize) -> u32, out: &mut [u64]) {
        out.fill(0);
        for (i, (word, cofactor)) in self.words.iter().zip(&self.cofactors).enumerate() {
            add_scaled(out, cofactor, word.mul(residue(i), self.inverses[i]).into());
        }
        self.multiples.iter().for_each(|multiple| subtract_once(out, multiple));
    }

    /// Returns sign and magnitude of the centred number with these residues. The sign is all ones for a negative
    /// number. Branch-free.
    pub(in crate::lwe) fn centred(&self, residue: impl Fn(usize) -> u32) -> (u64, Zeroizing<Vec<u64>>) {
        let mut x = Zeroizing::new(vec![0; self.value.len()]);
        self.reconstruct_one(residue, &mut x);
        let negative = less(&self.half, &x);
        // M - x if x is negative, else x.
        let mut borrow = 0u64;
        for (x, &m) in x.iter_mut().zip(&self.value) {
            let (rest, first) = m.overflowing_sub(*x);
            let (rest, second) = rest.overflowing_sub(borrow);
            borrow = u64::from(first | second);
            *x = (rest & negative) | (*x & !negative);
        }
        (negative, x)
    }

    /// Returns `[x]_2` of the centred number `x` with these residues. Branch-free.
    pub(in crate::lwe) fn centred_parity(&self, residue: impl Fn(usize) -> u32) -> u8 {
        (self.centred(residue).1[0] & 1) as u8
    }

    /// Returns `log2 |x|` of the centred number `x` with these residues. It is minus infinity for 0.
    pub(in crate::lwe) fn centred_log2(&self, residue: impl Fn(usize) -> u32) -> f64 {
        let magnitude = self.centred(residue).1;
        libm::log2(magnitude.iter().rev().fold(0.0, |sum, &limb| sum * 2f64.powi(64) + limb as f64))
    }
}

/// Computes `(residue 2^64 + limb) mod m`.
fn limbs(word: Word, residue: u32, limb: u64) -> u32 {
    let high = word.reduce(u64::from(residue) << 32 | limb >> 32);
    word.reduce(u64::from(high) << 32 | limb & 0xFFFF_FFFF)
}

fn gcd(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
