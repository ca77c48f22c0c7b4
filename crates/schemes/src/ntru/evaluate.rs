//! Evaluation, one operation of the scheme at a time, on any back end: which operands an operation takes, and the level, stage and noise of its result.

use solinas_ring::{Eval, RnsPoly};

use super::{Error, Ntru, Rotation, ServerKey, Stage, noise};
use crate::leveled::evaluator::Head;
use crate::leveled::{
    self, Ciphertext, Evaluator, ManageLevels, Numbers, Params as _, Polynomials as _, StoredCiphertext,
};
use crate::{Evaluate, Level, Noise, RotateSlots};

/// Largest degree of a product. Ciphertexts of high degree decrypt slowly.
pub(super) const MAX_DEGREE: u32 = 8;

/// The remedy for too much noise of a sum.
const LOWER: &str = "multiply or lower first, which brings the noise down";
/// The remedy for too much noise of a result that is as noisy as its operand.
pub(super) const LOWER_OPERAND: &str = "lower the ciphertext first, which brings its noise down";
/// The remedy for too much noise after a product with a hint or a division.
pub(super) const WIDER: &str = "choose parameters with primes of more bits";

/// A ciphertext whose numbers are on a back end.
pub(super) type Value<B> = leveled::Value<Ntru, B>;

impl ServerKey {
    /// The hint for that degree at that level.
    pub(super) fn hint(&self, operation: &'static str, level: Level, degree: u32) -> Result<&RnsPoly<Eval>, Error> {
        if level == Level::LOWEST {
            return Err(Error::OutOfLevels { operation, level, depth: self.params().depth() });
        }
        let hints = self.level_hints(level);
        match degree {
            1 => Ok(&hints.linear),
            2 => Ok(&hints.square),
            _ => Err(Error::Degree { operation, degree, max: 2 }),
        }
    }
}

impl<B: Numbers<Ntru>> Evaluator<Ntru, B> {
    pub(super) fn stage<P>(operation: &'static str, x: &Ciphertext<Ntru, P>, want: Stage) -> Result<(), Error> {
        if x.stage() == want {
            return Ok(());
        }
        let remedy = match x.stage() {
            Stage::Ready => "switch its key first (`Evaluator::key_switch`)",
            Stage::Switched => "reduce its modulus first (`Evaluator::modulus_switch`)",
            Stage::Wide => "reduce its ring first (`Evaluator::ring_reduce`)",
        };
        Err(Error::Stage { operation, want: want.name(), got: x.stage().name(), remedy })
    }

    /// The operands of a sum or product, checked.
    pub(super) fn pair(&self, operation: &'static str, x: &Value<B>, y: &Value<B>) -> Result<(), Error> {
        self.check("the first operand", x)?;
        self.check("the second operand", y)?;
        Self::stage(operation, x, Stage::Ready)?;
        Self::stage(operation, y, Stage::Ready)?;
        if x.level != y.level {
            return Err(Error::level_mismatch(x.level, y.level));
        }
        Ok(())
    }

    /// Checks that a ciphertext has degree 1.
    pub(super) fn linear(operation: &'static str, x: &Value<B>) -> Result<(), Error> {
        match x.degree() {
            1 => Ok(()),
            degree => Err(Error::Degree { operation, degree, max: 1 }),
        }
    }

    fn sum(&self, operation: &'static str, x: &Value<B>, y: &Value<B>) -> Result<Head<Ntru>, Error> {
        self.pair(operation, x, y)?;
        if x.degree() != y.degree() {
            return Err(Error::DegreeMismatch { lhs: x.degree(), rhs: y.degree() });
        }
        self.result(operation, x, x.noise.sum(y.noise), LOWER)
    }

    /// A ciphertext with its key switched at a noise of `noise` before, at the level below and in its ring.
    fn lowered(&self, operation: &'static str, x: &Value<B>, noise: Noise) -> Result<Head<Ntru>, Error> {
        let params = self.key().params();
        let noise = noise::hint(params, noise, params.dimension_at(x.level));
        let remedy = "add fewer ciphertexts before, or choose parameters with primes of more bits";
        let divided = self.divided(x, self.within_limit(operation, noise, x.level, remedy)?)?;
        if divided.stage() == Stage::Wide { self.in_own_ring(&divided) } else { Ok(divided) }
    }

    /// A ciphertext divided by the primes of its level, before its ring is reduced. `switched` is its noise before the division.
    pub(super) fn divided(&self, x: &Value<B>, switched: Noise) -> Result<Head<Ntru>, Error> {
        const WHAT: &str = "a reduction of the modulus";
        let params = self.key().params();
        let out_of_levels = Error::OutOfLevels { operation: WHAT, level: x.level, depth: params.depth() };
        let level = x.level.below().ok_or(out_of_levels)?;
        let wide = params.dimension_at(level) < params.wide_dimension_at(level);
        let stage = if wide { Stage::Wide } else { Stage::Ready }.at_degree(1);
        let noise = self.within_limit(WHAT, params.noise_after_division(switched, x.level), level, WIDER)?;
        Ok(Head { level, stage, noise, ..x.with(()) })
    }

    /// A ciphertext with its ring reduced to that of its level.
    pub(super) fn in_own_ring<P>(&self, x: &Ciphertext<Ntru, P>) -> Result<Head<Ntru>, Error> {
        let params = self.key().params();
        let noise = noise::ring_hint(params, x.noise, params.wide_dimension_at(x.level));
        let reduced = self.result("a reduction of the ring", x, noise, WIDER)?;
        Ok(Head { stage: Stage::Ready.at_degree(1), ..reduced })
    }

    /// `x + mu` for a known polynomial `mu`. Shape: n. Range: `0..p`.
    ///
    /// # Errors
    /// [`Error::Plaintext`], [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn add_plain(&self, x: &Value<B>, plaintext: &[u64]) -> Result<Value<B>, Error> {
        let context = self.context();
        self.check("the operand", x)?;
        context.check_plaintext(plaintext)?;
        let noise = noise::sum_plain(self.key().params(), x.noise, x.degree(), context.log2_norm(plaintext));
        let sum = self.result("a sum with a plaintext", x, noise, LOWER)?;
        Ok(sum.with(x.parts.plus_plain(&context.embed_parts(plaintext, x.basis(context))?)?))
    }

    /// `sum_i x_i y_i` of ready ciphertexts of one level and of degree 1, with one key switch and one division: at the level below.
    ///
    /// # Errors
    /// [`Error::Operands`] for none or different numbers; otherwise as [`Evaluate::multiply`].
    pub fn dot(&self, x: &[&Value<B>], y: &[&Value<B>]) -> Result<Value<B>, Error> {
        let (what, first) = Self::factors(x, y)?;
        for (x, y) in x.iter().zip(y) {
            self.pair(what, x, y)?;
            self.pair(what, first, x)?;
            Self::linear(what, x)?;
            Self::linear(what, y)?;
        }
        self.key().hint(what, first.level, 2)?;
        let noises = x.iter().zip(y).map(|(x, y)| noise::product(self.key().params(), x.noise, y.noise));
        let product = self.lowered(what, first, noises.reduce(Noise::sum).unwrap_or(Noise::ONE))?;
        Ok(product.with(self.numbers.dot(x, y)?))
    }

    /// The slots of `x` in another order, at the same level: an automorphism, and a key switch that adds about the noise of a division's rounding.
    ///
    /// # Errors
    /// [`Error::NoRotationKey`] for a rotation without a key; [`Error::Stage`], [`Error::Degree`] unless `x` is ready and of degree 1;
    /// [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn permute_slots(&self, x: &Value<B>, rotation: Rotation) -> Result<Value<B>, Error> {
        const WHAT: &str = "a rotation";
        self.check("the operand", x)?;
        Self::stage(WHAT, x, Stage::Ready)?;
        Self::linear(WHAT, x)?;
        let added = self.key().slot_switch(rotation, x.level)?.added;
        Ok(self.result(WHAT, x, x.noise.sum(added), LOWER_OPERAND)?.with(self.numbers.rotate(x, rotation)?))
    }
}

impl<B: Numbers<Ntru>> Evaluate for Evaluator<Ntru, B> {
    type Stored = StoredCiphertext;
    type Ciphertext = Value<B>;

    fn load(&self, stored: &StoredCiphertext) -> Result<Value<B>, Error> {
        self.upload(self.key().public().load(stored)?)
    }

    fn store(&self, x: &Value<B>) -> Result<StoredCiphertext, Error> {
        Ok((&x.with(x.parts.read()?)).into())
    }

    fn plaintext(stored: &StoredCiphertext) -> Option<&[u64]> {
        stored.plaintext.as_deref()
    }

    fn level(&self, x: &Value<B>) -> Level {
        x.level
    }

    fn constant(&self, value: u64) -> Result<Value<B>, Error> {
        self.upload(self.key().public().trivial(&self.key().params().constant_plaintext(value))?)
    }

    fn add_constant(&self, x: &Value<B>, value: u64) -> Result<Value<B>, Error> {
        self.add_plain(x, &self.key().params().constant_plaintext(value))
    }

    fn multiply_constant(&self, x: &Value<B>, value: u64) -> Result<Value<B>, Error> {
        // A change of sign adds no noise and takes no transform.
        if value == self.key().params().plaintext_modulus() - 1 {
            return self.negate(x);
        }
        self.multiply_plain(x, &self.key().params().constant_plaintext(value))
    }

    /// EvalAdd: `x + y`, of one level and degree.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`], [`Error::DegreeMismatch`], [`Error::Stage`], [`Error::KeyMismatch`], [`Error::Noise`].
    fn add(&self, x: &Value<B>, y: &Value<B>) -> Result<Value<B>, Error> {
        Ok(self.sum("a sum", x, y)?.with(x.parts.plus(&y.parts)?))
    }

    /// EvalSub: `x - y`, of one level and degree.
    ///
    /// # Errors
    /// As [`Self::add`].
    fn sub(&self, x: &Value<B>, y: &Value<B>) -> Result<Value<B>, Error> {
        Ok(self.sum("a difference", x, y)?.with(x.parts.minus(&y.parts)?))
    }

    /// `-x`.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    fn negate(&self, x: &Value<B>) -> Result<Value<B>, Error> {
        self.check("the operand", x)?;
        Ok(x.with(x.parts.scaled(-1)?))
    }

    /// `mu x` for a known polynomial `mu`. Shape: n. Range: `0..p`.
    ///
    /// # Errors
    /// [`Error::Plaintext`], [`Error::Stage`], [`Error::KeyMismatch`], [`Error::Noise`].
    fn multiply_plain(&self, x: &Value<B>, plaintext: &[u64]) -> Result<Value<B>, Error> {
        const WHAT: &str = "a product with a plaintext";
        let context = self.context();
        self.check("the operand", x)?;
        Self::stage(WHAT, x, Stage::Ready)?;
        context.check_plaintext(plaintext)?;
        let product =
            self.result(WHAT, x, noise::product_plain(x.noise, context.log2_norm(plaintext)), LOWER_OPERAND)?;
        Ok(product.with(self.numbers.multiply_plain(x, &context.embed_parts(plaintext, x.basis(context))?)?))
    }

    /// The same message one level below, of degree 1: KeySwitch, ModReduce, and RingReduce where the ring is smaller there.
    ///
    /// # Errors
    /// As of its parts.
    fn drop_level(&self, x: &Value<B>) -> Result<Value<B>, Error> {
        const WHAT: &str = "lowering";
        self.check("the operand", x)?;
        Self::stage(WHAT, x, Stage::Ready)?;
        self.key().hint(WHAT, x.level, x.degree())?;
        Ok(self.lowered(WHAT, x, x.noise)?.with(self.numbers.lower(x)?))
    }

    /// ComposedEvalMult: EvalMult, KeySwitch, ModReduce, and RingReduce where the level below has a smaller ring: a product at the level below. The first three
    /// are one pass over the towers.
    ///
    /// # Errors
    /// As of its parts; [`Error::Degree`] unless both have degree 1.
    fn multiply(&self, x: &Value<B>, y: &Value<B>) -> Result<Value<B>, Error> {
        self.dot(&[x], &[y])
    }

    /// Bootstrapping: the bit in the constant coefficient, with the noise of [`BootstrapNoise::output`](super::bootstrap::BootstrapNoise::output), at level
    /// [`Params::bootstrapped_level`](crate::ntru::Params::bootstrapped_level). The other coefficients of the message become 0. Takes a ciphertext at any level
    /// and lowers it to the first.
    ///
    /// # Errors
    /// [`Error::NoBootstrapping`] without a bootstrapping key; [`Error::Noise`] for a ciphertext of which the bit might come out wrong;
    /// [`Error::KeyMismatch`].
    fn bootstrap(&self, x: &Value<B>) -> Result<Value<B>, Error> {
        let growth = &self.key().bootstrapping()?.plan.growth;
        self.check("the operand", x)?;
        let x = self.at_bootstrap_level(x, growth.limit)?;
        let (level, noise) = (self.key().params().bootstrapped_level(), growth.output);
        Ok(Head { level, noise, ..x.with(()) }.with(self.numbers.bootstrap(&x)?))
    }

    fn finish(&self) -> Result<(), Error> {
        self.numbers.finish()
    }

    fn slot_rotations(&self) -> Option<&dyn RotateSlots<Ciphertext = Value<B>>> {
        let key = self.key().rotation_key()?;
        let needed = Rotation::all(self.key().params());
        if needed.into_iter().all(|rotation| key.keys(rotation).is_some()) { Some(self) } else { None }
    }
}
