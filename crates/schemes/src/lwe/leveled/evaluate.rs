//! Ciphertexts with levels, and what can be done with them.

use super::{Params, ServerKey, noise};
use crate::lwe::keys::KeyId;
use crate::lwe::{Error, Multiplier, Vector};

/// A bit under the secret of a level, modulo the level's modulus.
#[derive(Clone, Debug, PartialEq)]
pub struct Ciphertext {
    key: KeyId,
    level: usize,
    noise: f64,
    numbers: Vector,
}

/// A bit under the tensor square of a level's secret: numbers for pairs `i <= k`.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    key: KeyId,
    level: usize,
    noise: f64,
    numbers: Vector,
}

/// A bit under the secret of the level below `level`, modulo the modulus of `level`.
#[derive(Clone, Debug, PartialEq)]
pub struct Switched(Tensor);

macro_rules! common {
    ($name:ident) => {
        impl $name {
            /// Level.
            pub fn level(&self) -> usize {
                self.level
            }

            /// `log2` of its noise's standard deviation, by the formulas.
            pub fn noise(&self) -> f64 {
                self.noise
            }

            /// Its numbers, in residues.
            pub fn numbers(&self) -> &Vector {
                &self.numbers
            }

            /// That it is of that key.
            pub(super) fn check(&self, what: &'static str, key: KeyId) -> Result<(), Error> {
                if key == self.key {
                    return Ok(());
                }
                Err(Error::KeyMismatch { what, got: self.key.to_string(), want: key.to_string() })
            }
        }
    };
}
common!(Ciphertext);
common!(Tensor);

impl Ciphertext {
    pub(super) fn new(key: KeyId, level: usize, noise: f64, numbers: Vector) -> Self {
        Self { key, level, noise, numbers }
    }
}

/// Operations on ciphertexts of a key.
#[derive(Debug)]
pub struct Evaluator<'a> {
    key: &'a ServerKey,
    multiplier: Multiplier,
}

impl<'a> Evaluator<'a> {
    /// With the fastest back end.
    ///
    /// # Errors
    /// [`Error::Field`] for a back end that is not there.
    pub fn new(key: &'a ServerKey) -> Result<Self, Error> {
        Ok(Self { key, multiplier: Multiplier::new()? })
    }

    fn params(&self) -> &Params {
        self.key.params()
    }

    fn pair(&self, x: &Ciphertext, y: &Ciphertext) -> Result<(), Error> {
        x.check("the first operand", self.key.id())?;
        y.check("the second operand", self.key.id())?;
        if x.level == y.level { Ok(()) } else { Err(Error::LevelMismatch { lhs: x.level, rhs: y.level }) }
    }

    /// Refuses a noise that might not decrypt.
    fn room(&self, operation: &'static str, noise: f64, tails: f64, level: usize) -> Result<f64, Error> {
        let room = noise::half(self.params(), level) - tails * noise::TAIL;
        if noise <= room { Ok(noise) } else { Err(Error::Noise { operation, noise, room }) }
    }

    /// The sum modulo 2.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`]; [`Error::LevelMismatch`] (see [`Self::lower`]); [`Error::Noise`].
    pub fn add(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.pair(x, y)?;
        let noise = self.room("a sum", noise::sum(x.noise, y.noise), 1.0, x.level)?;
        let mut sum = Ciphertext { noise, ..x.clone() };
        for (w, (sum, word)) in sum.numbers.words_mut().zip(self.params().modulus(x.level).words()).enumerate() {
            sum.iter_mut().zip(y.numbers.word(w)).for_each(|(sum, &y)| *sum = word.add(*sum, y));
        }
        Ok(sum)
    }

    /// The sum with a known bit.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn add_plain(&self, x: &Ciphertext, bit: bool) -> Result<Ciphertext, Error> {
        x.check("the operand", self.key.id())?;
        let noise = self.room("a sum", noise::sum(x.noise, 0.0), 1.0, x.level)?;
        let mut sum = Ciphertext { noise, ..x.clone() };
        for (sum, word) in sum.numbers.words_mut().zip(self.params().modulus(x.level).words()) {
            sum[0] = word.add(sum[0], bit.into());
        }
        Ok(sum)
    }

    /// The product, under the tensor square of the secret.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`]; [`Error::LevelMismatch`] (see [`Self::lower`]); [`Error::Noise`].
    pub fn tensor(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Tensor, Error> {
        self.pair(x, y)?;
        let noise = self.room("a product", noise::product(x.noise, y.noise), 2.0, x.level)?;
        let modulus = self.params().modulus(x.level);
        let mut numbers = Vector::zeroed(modulus.len(), self.params().pairs());
        for (w, (out, word)) in numbers.words_mut().zip(modulus.words()).enumerate() {
            let (x, y) = (x.numbers.word(w), y.numbers.word(w));
            let mut out = out.iter_mut();
            for i in 0..x.len() {
                for (k, out) in (i..x.len()).zip(&mut out) {
                    let product = u64::from(x[i]) * u64::from(y[k]);
                    // Two products below 2^62.
                    let more = if i == k { 0 } else { u64::from(x[k]) * u64::from(y[i]) };
                    *out = word.reduce(product + more);
                }
            }
        }
        Ok(Tensor { key: x.key, level: x.level, noise, numbers })
    }

    /// The same bit in a tensor product: what needs no multiplication can be switched and scaled too.
    fn trivial_tensor(&self, x: &Ciphertext) -> Tensor {
        let mut numbers = Vector::zeroed(x.numbers.word_count(), self.params().pairs());
        // The pairs (0, k) come first, and s_0 is 1.
        for w in 0..x.numbers.word_count() {
            numbers.word_mut(w)[..x.numbers.len()].copy_from_slice(x.numbers.word(w));
        }
        Tensor { key: x.key, level: x.level, noise: x.noise, numbers }
    }

    /// SwitchKey: the same bit under the secret of the level below, modulo the modulus of this level; a product of digits with a matrix.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`], [`Error::OutOfLevels`], [`Error::Noise`].
    pub fn switch_key(&self, x: &Tensor) -> Result<Switched, Error> {
        let params = self.params();
        x.check("the tensor", self.key.id())?;
        let (level, depth) = (x.level, params.depth());
        if level == 0 {
            return Err(Error::OutOfLevels { operation: "switching a key", level, depth });
        }
        let noise = self.room("a key switch", noise::switch(params, x.noise, level), 2.0, level)?;
        let modulus = params.modulus(level);
        let digits: Vec<u32> = params.digits().collect();
        let rows = params.pairs() * modulus.len() * digits.len();
        let mut decomposed = Vec::with_capacity(rows);
        for p in 0..params.pairs() {
            for (w, word) in modulus.words().iter().enumerate() {
                let mut rest = word.mul(x.numbers.word(w)[p], modulus.inverse(w));
                for bits in &digits {
                    decomposed.push(rest & ((1 << bits) - 1));
                    rest >>= bits;
                }
            }
        }
        let mut vector = Vector::zeroed(modulus.len(), rows);
        vector.words_mut().for_each(|word| word.copy_from_slice(&decomposed));
        let mut product = self.multiplier.multiply(self.key.switch(level), &[vector])?;
        let numbers = product.pop().unwrap_or_else(|| Vector::zeroed(modulus.len(), params.dimension() + 1));
        Ok(Switched(Tensor { key: x.key, level, noise, numbers }))
    }

    /// Scale: the nearest numbers modulo the modulus of the level below that are the same modulo 2.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn scale(&self, x: &Switched) -> Result<Ciphertext, Error> {
        let x = &x.0;
        x.check("the operand", self.key.id())?;
        let (params, level) = (self.params(), x.level);
        let noise = self.room("a division", noise::scale(params, x.noise, level), 1.0, level - 1)?;
        let last = params.modulus(level).words()[level];
        let m = i64::from(last.value());
        // Even, and the same modulo the last word: x if that is even, else x - m.
        let steps: Vec<i64> = x.numbers.word(level).iter().map(|&x| i64::from(x) - m * i64::from(x & 1)).collect();
        let mut numbers = x.numbers.truncated(level);
        for (numbers, word) in numbers.words_mut().zip(params.modulus(level - 1).words()) {
            // The words are coprime.
            let inverse = word.vartime_inverse(word.reduce(last.value().into())).unwrap_or(0);
            for (number, &step) in numbers.iter_mut().zip(&steps) {
                *number = word.mul(word.sub(*number, word.reduce_signed(step)), inverse);
            }
        }
        Ok(Ciphertext { key: x.key, level: level - 1, noise, numbers })
    }

    /// Refresh: the same bit a level below, with its noise divided.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`], [`Error::OutOfLevels`], [`Error::Noise`].
    pub fn refresh(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        x.check("the operand", self.key.id())?;
        self.scale(&self.switch_key(&self.trivial_tensor(x))?)
    }

    /// The same bit at a level not above its own.
    ///
    /// # Errors
    /// As [`Self::refresh`]; [`Error::LevelMismatch`] for a level above.
    pub fn lower(&self, x: &Ciphertext, level: usize) -> Result<Ciphertext, Error> {
        if level > x.level {
            return Err(Error::LevelMismatch { lhs: x.level, rhs: level });
        }
        let mut out = x.clone();
        while out.level > level {
            out = self.refresh(&out)?;
        }
        Ok(out)
    }

    /// Mult: the product a level below.
    ///
    /// # Errors
    /// As [`Self::tensor`] and [`Self::refresh`].
    pub fn multiply(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.scale(&self.switch_key(&self.tensor(x, y)?)?)
    }
}
