//! Ciphertexts with levels, and what can be done with them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::{Backend, Ciphertext, Multiplier, Params, PublicKey, SeededMatrix, ServerKey, Source, Vector, noise};
use crate::held::Held;
use crate::leveled::StoredCiphertext;
use crate::{Control, Error, Evaluate, KeyId, Level, Noise};

/// Rows of the smaller part of a matrix by which products are timed. The larger part has four times as many.
const MEASURED_ROWS: usize = 1 << 16;

/// A bit under the tensor square of a level's secret: numbers for pairs `i <= k`.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    key: KeyId,
    level: Level,
    noise: Noise,
    numbers: Vector,
}

/// A bit under the secret of the level below `level`, modulo the modulus of `level`.
#[derive(Clone, Debug, PartialEq)]
pub struct Switched(Tensor);

impl Tensor {
    /// Level.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Its noise, by the formulas.
    pub fn noise(&self) -> Noise {
        self.noise
    }

    /// Its numbers, in residues.
    pub fn numbers(&self) -> &Vector {
        &self.numbers
    }

    /// Identity of its key.
    pub fn key(&self) -> KeyId {
        self.key
    }
}

impl Ciphertext {
    pub(super) fn new(key: KeyId, level: Level, noise: Noise, numbers: Vector) -> Self {
        Self { key, level, stage: (), noise, parts: numbers }
    }

    /// From its parts, as stored; `noise` as [`Self::noise`].
    ///
    /// # Errors
    /// [`Error::Material`] for a level that there is not, another number of residues, or ones out of range; for a noise that is negative or no number.
    pub fn from_parts(
        params: &Params,
        key: KeyId,
        level: Level,
        noise: Noise,
        residues: &[u32],
    ) -> Result<Self, Error> {
        let material = |problem: String| Error::Material { part: "ciphertext", problem };
        let fresh = params.fresh_level();
        if level > fresh {
            return Err(material(format!("level {level} is not in 1..={fresh}")));
        }
        if !noise.is_storable() {
            return Err(material(format!("{noise} is no noise")));
        }
        let numbers = Vector::from_residues(params.modulus(level), params.dimension() + 1, residues)?;
        Ok(Self::new(key, level, noise, numbers))
    }

    /// A known bit, which anyone can read, at the highest level.
    pub fn trivial(key: &PublicKey, bit: bool) -> Self {
        let params = key.params();
        let mut numbers = Vector::zeroed(params.modulus(params.fresh_level()).len(), params.dimension() + 1);
        numbers.words_mut().for_each(|word| word[0] = bit.into());
        Self::new(key.id(), params.fresh_level(), Noise::ONE, numbers)
    }
}

fn mismatch(lhs: Level, rhs: Level) -> Error {
    Error::LevelMismatch { lhs, rhs, remedy: "bring the higher one down first (`Evaluator::drop_level`)" }
}

/// Operations on ciphertexts of a key.
#[derive(Debug)]
pub struct Evaluator<'a> {
    key: Held<'a, ServerKey>,
    multiplier: Multiplier,
    backend: Option<Arc<dyn Backend>>,
}

impl Evaluator<'static> {
    /// As [`Evaluator::new`], for a shared key.
    ///
    /// # Errors
    /// As there.
    pub fn shared(key: Arc<ServerKey>) -> Result<Self, Error> {
        Self::held(Held::Shared(key))
    }
}

impl<'a> Evaluator<'a> {
    /// With the fastest back end.
    ///
    /// # Errors
    /// [`Error::Field`] for a back end that is not there.
    pub fn new(key: &'a ServerKey) -> Result<Self, Error> {
        Self::held(Held::Borrowed(key))
    }

    fn held(key: Held<'a, ServerKey>) -> Result<Self, Error> {
        Ok(Self { key, multiplier: Multiplier::new()?, backend: None })
    }

    /// Lets a back end compute the products with the matrices of switching keys.
    #[must_use]
    pub fn with_backend(self, backend: Arc<dyn Backend>) -> Self {
        Self { backend: Some(backend), ..self }
    }

    /// The key.
    pub fn key(&self) -> &ServerKey {
        &self.key
    }

    fn params(&self) -> &Params {
        self.key.params()
    }

    fn check(&self, what: &'static str, key: KeyId) -> Result<(), Error> {
        self.key.public().check(what, key)
    }

    fn pair(&self, x: &Ciphertext, y: &Ciphertext) -> Result<(), Error> {
        self.check("the first operand", x.key)?;
        self.check("the second operand", y.key)?;
        if x.level == y.level { Ok(()) } else { Err(mismatch(x.level, y.level)) }
    }

    /// The noise, if it decrypts at that level with `tails` times the bits of a tail to spare.
    fn within_limit(&self, operation: &'static str, noise: Noise, tails: f64, level: Level) -> Result<Noise, Error> {
        let limit = noise::half(self.params(), level).scaled(-tails * noise::TAIL);
        let remedy = "drop a level of the operands first, or encrypt anew";
        if noise <= limit { Ok(noise) } else { Err(Error::Noise { operation, noise, limit, remedy }) }
    }

    /// The product, under the tensor square of the secret.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`]; [`Error::LevelMismatch`] (see [`Self::at_level`]); [`Error::Noise`].
    pub fn tensor(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Tensor, Error> {
        self.pair(x, y)?;
        let noise = self.within_limit("a product", x.noise.product(y.noise), 2.0, x.level)?;
        let modulus = self.params().modulus(x.level);
        let mut numbers = Vector::zeroed(modulus.len(), self.params().pairs());
        for (w, (out, word)) in numbers.words_mut().zip(modulus.words()).enumerate() {
            let (x, y) = (x.parts.word(w), y.parts.word(w));
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

    /// The level below.
    fn below(&self, operation: &'static str, level: Level) -> Result<Level, Error> {
        level.below().ok_or(Error::OutOfLevels { operation, level, depth: self.params().depth() })
    }

    /// SwitchKey: the same bit under the secret of the level below, modulo the modulus of this level; a product of digits with a matrix.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`], [`Error::OutOfLevels`], [`Error::Noise`].
    pub fn switch_key(&self, x: &Tensor) -> Result<Switched, Error> {
        let mut all = self.switch_keys(std::slice::from_ref(x))?;
        // One each.
        all.pop().ok_or(Error::Dimension { what: "tensors", got: 0, want: 1 })
    }

    /// SwitchKey of tensors of one level: the matrix is read, or made again from its seed, once for all of them.
    ///
    /// # Errors
    /// As [`Self::switch_key`]; [`Error::LevelMismatch`] for tensors of different levels.
    pub fn switch_keys(&self, all: &[Tensor]) -> Result<Vec<Switched>, Error> {
        self.switch_keys_with(all, &Control::default())
    }

    fn switch_keys_with(&self, all: &[Tensor], control: &Control<'_>) -> Result<Vec<Switched>, Error> {
        let Some(level) = all.first().map(|x| x.level) else { return Ok(Vec::new()) };
        self.below("switching a key", level)?;
        let params = self.params();
        let mut noises = Vec::with_capacity(all.len());
        for x in all {
            self.check("the tensor", x.key)?;
            if x.level != level {
                return Err(mismatch(level, x.level));
            }
            noises.push(self.within_limit(
                "a key switch",
                noise::switch_product(params, x.noise, level),
                2.0,
                level,
            )?);
        }
        let digits: Vec<Vector> = all.par_iter().map(|x| self.digits(level, &x.numbers)).collect();
        let products = match self.key.switch(level) {
            (_, Some(resident)) if self.backend.is_none() => {
                self.multiplier.multiply_with(resident, &digits, control)?
            }
            (seeded, _) => self.multiply_seeded(seeded, &digits, control)?,
        };
        let switched =
            |((x, noise), numbers): ((&Tensor, Noise), Vector)| Switched(Tensor { key: x.key, level, noise, numbers });
        Ok(all.iter().zip(noises).zip(products).map(switched).collect())
    }

    /// A product of a matrix that is made from its seed.
    fn multiply_seeded(
        &self,
        matrix: &SeededMatrix,
        vectors: &[Vector],
        control: &Control<'_>,
    ) -> Result<Vec<Vector>, Error> {
        match &self.backend {
            Some(backend) => backend.multiply(matrix, vectors, &control.without_progress()),
            None => self.multiplier.multiply_with(matrix, vectors, control),
        }
    }

    /// The digits of numbers modulo the modulus of a level, as a vector of small numbers: for each number those of every word.
    fn digits(&self, level: Level, numbers: &Vector) -> Vector {
        let modulus = self.params().modulus(level);
        let widths: Vec<u32> = self.params().digits().collect();
        let mut vector = Vector::zeroed(modulus.len(), numbers.len() * modulus.len() * widths.len());
        let mut out: Vec<_> = vector.words_mut().zip(modulus.words()).collect();
        let mut at = 0;
        for p in 0..numbers.len() {
            for (w, word) in modulus.words().iter().enumerate() {
                let mut rest = word.mul(numbers.word(w)[p], modulus.inverse(w));
                for bits in &widths {
                    let digit = rest & ((1 << bits) - 1);
                    // Digits may be as wide as a word, and words differ.
                    out.iter_mut().for_each(|(out, word)| out[at] = word.reduce(digit.into()));
                    rest >>= bits;
                    at += 1;
                }
            }
        }
        vector
    }

    /// Scale: the nearest numbers modulo the modulus of the level below that are the same modulo 2.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn scale(&self, x: &Switched) -> Result<Ciphertext, Error> {
        let x = &x.0;
        self.check("the operand", x.key)?;
        let (params, level) = (self.params(), x.level);
        let below = self.below("a division", level)?;
        let noise = self.within_limit("a division", noise::scale(params, x.noise, level), 1.0, below)?;
        let kept = params.modulus(below).len();
        let last = params.modulus(level).words()[kept];
        let m = i64::from(last.value());
        // Even, and the same modulo the last word: x if that is even, else x - m.
        let steps: Vec<i64> = x.numbers.word(kept).iter().map(|&x| i64::from(x) - m * i64::from(x & 1)).collect();
        let mut numbers = x.numbers.truncated(kept);
        for (numbers, word) in numbers.words_mut().zip(params.modulus(below).words()) {
            // The words are coprime.
            let inverse = word.vartime_inverse(word.reduce(last.value().into())).unwrap_or(0);
            for (number, &step) in numbers.iter_mut().zip(&steps) {
                *number = word.mul(word.sub(*number, word.reduce_signed(step)), inverse);
            }
        }
        Ok(Ciphertext::new(x.key, below, noise, numbers))
    }

    /// The same bit at a level not above its own.
    ///
    /// # Errors
    /// As [`Self::drop_level`]; [`Error::BelowLevel`] for a level above.
    pub fn at_level(&self, x: &Ciphertext, level: Level) -> Result<Ciphertext, Error> {
        if level > x.level {
            return Err(Error::BelowLevel { level: x.level, target: level });
        }
        let mut out = x.clone();
        while out.level > level {
            out = self.drop_level(&out)?;
        }
        Ok(out)
    }

    /// The work of [`Evaluate::multiply_batch`], but with at most the first `rows` rows of a switching key's matrix that is made from its seed: time grows evenly with
    /// them. The result is dropped. Returns the share of the rows; 1 for a matrix in memory, all of which is used.
    ///
    /// # Errors
    /// As [`Evaluate::multiply_batch`].
    pub fn multiply_part(&self, pairs: &[(&Ciphertext, &Ciphertext)], rows: usize) -> Result<f64, Error> {
        let level = pairs.first().map_or(Level::LOWEST, |(x, _)| x.level);
        self.below("switching a key", level)?;
        let (seeded, resident) = self.key.switch(level);
        if resident.is_some() && self.backend.is_none() {
            self.multiply_batch(pairs, &Control::default())?;
            return Ok(1.0);
        }
        let all = seeded.layout().rows();
        let rows = rows.clamp(1, all);
        let digits =
            |(x, y): &(&Ciphertext, &Ciphertext)| Ok(self.digits(level, &self.tensor(x, y)?.numbers).leading(rows));
        let digits = pairs.par_iter().map(digits).collect::<Result<Vec<_>, Error>>()?;
        self.multiply_seeded(&seeded.leading(rows)?, &digits, &Control::default())?;
        Ok(rows as f64 / all as f64)
    }
}

impl Evaluate for Evaluator<'_> {
    type Stored = StoredCiphertext;
    type Ciphertext = Ciphertext;

    fn load(&self, stored: &StoredCiphertext) -> Result<Ciphertext, Error> {
        self.key.public().load(stored)
    }

    fn store(&self, x: &Ciphertext) -> Result<StoredCiphertext, Error> {
        Ok(x.into())
    }

    fn plaintext(stored: &StoredCiphertext) -> Option<&[u64]> {
        stored.plaintext.as_deref()
    }

    fn level(&self, x: &Ciphertext) -> Level {
        x.level
    }

    fn constant(&self, value: u64) -> Result<Ciphertext, Error> {
        Ok(Ciphertext::trivial(self.key.public(), value & 1 == 1))
    }

    /// The sum with a known bit.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`], [`Error::Noise`].
    fn add_constant(&self, x: &Ciphertext, value: u64) -> Result<Ciphertext, Error> {
        self.check("the operand", x.key)?;
        let noise = self.within_limit("a sum", x.noise.sum(Noise::ONE), 1.0, x.level)?;
        let mut sum = Ciphertext { noise, ..x.clone() };
        for (sum, word) in sum.parts.words_mut().zip(self.params().modulus(x.level).words()) {
            sum[0] = word.add(sum[0], (value & 1) as u32);
        }
        Ok(sum)
    }

    fn multiply_constant(&self, x: &Ciphertext, value: u64) -> Result<Ciphertext, Error> {
        self.check("the operand", x.key)?;
        if value & 1 == 1 { Ok(x.clone()) } else { self.constant(0) }
    }

    /// The sum modulo 2.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`]; [`Error::LevelMismatch`] (see [`Self::at_level`]); [`Error::Noise`].
    fn add(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.pair(x, y)?;
        let noise = self.within_limit("a sum", x.noise.sum(y.noise), 1.0, x.level)?;
        let mut sum = Ciphertext { noise, ..x.clone() };
        for (w, (sum, word)) in sum.parts.words_mut().zip(self.params().modulus(x.level).words()).enumerate() {
            sum.iter_mut().zip(y.parts.word(w)).for_each(|(sum, &y)| *sum = word.add(*sum, y));
        }
        Ok(sum)
    }

    /// The difference of bits is their sum.
    fn sub(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.add(x, y)
    }

    /// A bit is its own negative.
    fn negate(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check("the operand", x.key)?;
        Ok(x.clone())
    }

    /// The product a level below.
    ///
    /// # Errors
    /// As [`Self::tensor`] and [`Self::drop_level`].
    fn multiply(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.scale(&self.switch_key(&self.tensor(x, y)?)?)
    }

    /// The matrix of a level is read once for all pairs of that level. The batch can be cancelled at every piece of a matrix.
    ///
    /// # Errors
    /// As [`Self::multiply`]; [`Error::Cancelled`].
    fn multiply_batch(
        &self,
        pairs: &[(&Ciphertext, &Ciphertext)],
        control: &Control<'_>,
    ) -> Result<Vec<Ciphertext>, Error> {
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_by_key(|&i| pairs[i].0.level);
        let mut products = vec![None; pairs.len()];
        for of_level in order.chunk_by(|&i, &k| pairs[i].0.level == pairs[k].0.level) {
            let tensors =
                of_level.par_iter().map(|&i| self.tensor(pairs[i].0, pairs[i].1)).collect::<Result<Vec<_>, _>>()?;
            let switched = self.switch_keys_with(&tensors, control)?;
            for (&i, x) in of_level.iter().zip(&switched) {
                products[i] = Some(self.scale(x)?);
            }
        }
        // Each pair has its product.
        Ok(products.into_iter().flatten().collect())
    }

    /// For a large matrix, measures two parts of its rows: the time grows evenly with them.
    fn time_products(&self, pairs: &[(&Ciphertext, &Ciphertext)], control: &Control<'_>) -> Result<Duration, Error> {
        let part = |rows: usize| {
            control.check()?;
            let start = Instant::now();
            let share = self.multiply_part(pairs, rows)?;
            Ok::<_, Error>((share, start.elapsed().as_secs_f64()))
        };
        let (less, short) = part(MEASURED_ROWS)?;
        let (more, long) = part(4 * MEASURED_ROWS)?;
        // If both parts are the whole matrix, the second run counts.
        let all = if more > less { (long + (long - short) / (more - less) * (1.0 - more)).max(long) } else { long };
        Ok(Duration::from_secs_f64(all))
    }

    /// Multiplies by a plaintext of one coefficient, the bit.
    fn multiply_plain(&self, x: &Ciphertext, plaintext: &[u64]) -> Result<Ciphertext, Error> {
        match plaintext {
            [bit] => self.multiply_constant(x, *bit),
            _ => Err(Error::Dimension { what: "coefficients of a plaintext", got: plaintext.len(), want: 1 }),
        }
    }

    /// The same bit a level below, with its noise divided. As its tensor product with a known 1, whose pairs with the secret's first entry, 1,
    /// come first and are all there is: a product with the first rows of the matrix.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`], [`Error::OutOfLevels`], [`Error::Noise`].
    fn drop_level(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        const WHAT: &str = "lowering";
        self.check("the operand", x.key)?;
        let (params, level) = (self.params(), x.level);
        self.below(WHAT, level)?;
        let noise = self.within_limit(WHAT, noise::switch_one(params, x.noise, level), 1.0, level)?;
        let digits = self.digits(level, &x.parts);
        let leading = self.key.switch(level).0.leading(digits.len())?;
        let mut products = self.multiply_seeded(&leading, &[digits], &Control::default())?;
        let numbers = products.pop().ok_or(Error::Dimension { what: "products", got: 0, want: 1 })?;
        self.scale(&Switched(Tensor { key: x.key, level, noise, numbers }))
    }

    /// No parameter set bootstraps.
    ///
    /// # Errors
    /// [`Error::NoBootstrapping`].
    fn bootstrap(&self, _: &Ciphertext) -> Result<Ciphertext, Error> {
        let what = format!("parameter set {:?} has no bootstrapping", self.params().name());
        Err(Error::NoBootstrapping { what, remedy: "choose a set of more depth, or a set boot of scheme BGV" })
    }
}
