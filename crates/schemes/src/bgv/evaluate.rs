//! Evaluation, one operation of the scheme at a time, on any back end: which operands an operation takes, and the level, stage and noise of its result.

use solinas_ring::RnsPoly;

use super::{Bgv, Error, Rotations, ServerKey, Stage, noise};
use crate::canonical_embedding::{log2_canonical_norm, log2_integer, log2_largest};
use crate::leveled::evaluator::Head;
use crate::leveled::{
    self, Ciphertext, Evaluator, ManageLevels, Numbers, Params as _, Polynomials as _, StoredCiphertext,
};
use crate::{Evaluate, Level, Noise, RotateSlots};

/// The remedy for too much noise.
pub(super) const LOWER: &str = "multiply or lower first, which brings the noise down";
/// The remedy for too much noise after a division or before it.
const WIDER: &str = "choose parameters with primes of more bits";

/// A ciphertext whose numbers are on a back end.
pub(super) type Value<B> = leveled::Value<Bgv, B>;

impl ServerKey {
    /// The number by which a ready ciphertext is multiplied before it is divided by the prime of its level, so that it has the correction factor of a product.
    pub fn lowering_factor(&self, level: Level) -> i64 {
        let context = self.public().context();
        context.plaintext.centered(context.level(level).correction_factor)
    }
}

impl<B: Numbers<Bgv>> Evaluator<Bgv, B> {
    fn stage<P>(operation: &'static str, x: &Ciphertext<Bgv, P>, want: Stage) -> Result<(), Error> {
        if x.stage == want {
            return Ok(());
        }
        let remedy = match x.stage {
            Stage::Ready => "lower it instead (`Evaluator::drop_level`)",
            Stage::Product => "reduce its modulus first (`Evaluator::modulus_switch`)",
        };
        Err(Error::Stage { operation, want: want.name(), got: x.stage.name(), remedy })
    }

    /// The operands of a sum, checked.
    fn pair(&self, operation: &'static str, x: &Value<B>, y: &Value<B>) -> Result<(), Error> {
        self.check("the first operand", x)?;
        self.check("the second operand", y)?;
        if x.level != y.level {
            return Err(Error::level_mismatch(x.level, y.level));
        }
        if x.stage != y.stage {
            let product = if x.stage == Stage::Product { x } else { y };
            return Self::stage(operation, product, Stage::Ready);
        }
        Ok(())
    }

    /// The operands of a product, checked.
    fn pair_of_factors(&self, operation: &'static str, x: &Value<B>, y: &Value<B>) -> Result<(), Error> {
        self.pair(operation, x, y)?;
        for factor in [x, y] {
            Self::stage(operation, factor, Stage::Ready)?;
            let parts = factor.parts.count();
            if parts > 2 {
                return Err(Error::Parts { operation, parts, max: 2 });
            }
        }
        Ok(())
    }

    fn sum(&self, operation: &'static str, x: &Value<B>, y: &Value<B>) -> Result<Head<Bgv>, Error> {
        self.pair(operation, x, y)?;
        self.result(operation, x, x.noise.sum(y.noise), LOWER)
    }

    /// The product of three parts, to be relinearized and reduced.
    pub(super) fn product(&self, x: &Value<B>, y: &Value<B>) -> Result<Head<Bgv>, Error> {
        const WHAT: &str = "a product";
        self.pair_of_factors(WHAT, x, y)?;
        let product = self.result(WHAT, x, noise::product(self.key().params(), x.noise, y.noise), LOWER)?;
        Ok(Head { stage: Stage::Product, ..product })
    }

    /// The product, divided by the level's prime.
    pub(super) fn reduced(&self, x: &Value<B>) -> Result<Head<Bgv>, Error> {
        const WHAT: &str = "a reduction of the modulus";
        self.check("the operand", x)?;
        Self::stage(WHAT, x, Stage::Product)?;
        self.divided(WHAT, x, x.noise)
    }

    fn below(&self, operation: &'static str, x: &Value<B>) -> Result<Level, Error> {
        let depth = self.key().params().depth();
        x.level.below().ok_or(Error::OutOfLevels { operation, level: x.level, depth })
    }

    /// A ciphertext of that noise, divided by the prime of its level.
    fn divided(&self, operation: &'static str, x: &Value<B>, noise: Noise) -> Result<Head<Bgv>, Error> {
        let below = self.below(operation, x)?;
        let noise = self.key().params().reduced(noise, x.level, x.parts.count(), false);
        self.ready(operation, x, below, noise)
    }

    fn ready(&self, operation: &'static str, x: &Value<B>, level: Level, noise: Noise) -> Result<Head<Bgv>, Error> {
        let noise = self.within_limit(operation, noise, level, WIDER)?;
        Ok(Head { level, stage: Stage::Ready, noise, ..x.with(()) })
    }

    /// `x + mu` for a known polynomial `mu`. Shape: N. Range: `0..p`.
    ///
    /// # Errors
    /// [`Error::Plaintext`], [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn add_plain(&self, x: &Value<B>, plaintext: &[u64]) -> Result<Value<B>, Error> {
        let (context, params) = (self.context(), self.key().params());
        self.check("the operand", x)?;
        context.check_plaintext(plaintext)?;
        let plain = context.embed(plaintext, x.correction_factor(context));
        let noise = x.noise.sum(noise::plain(params, log2_canonical_norm(&plain), log2_largest(&plain)));
        let sum = self.result("a sum with a plaintext", x, noise, LOWER)?;
        let plain = RnsPoly::from_signed(&context.level(x.level).basis, &plain)?.into_eval();
        Ok(sum.with(x.parts.plus_plain(&[plain])?))
    }

    /// `k x` for a known integer.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn multiply_integer(&self, x: &Value<B>, integer: i64) -> Result<Value<B>, Error> {
        self.check("the operand", x)?;
        let m = self.context().plaintext;
        let residue = m.reduce(integer.unsigned_abs());
        let residue = m.centered(if integer < 0 { m.reduce(m.value() - residue) } else { residue });
        let noise = noise::product_plain(x.noise, log2_integer(residue));
        let product = self.result("a product with an integer", x, noise, LOWER)?;
        Ok(product.with(x.parts.scaled(residue)?))
    }

    /// `sum_i x_i y_i` of ready ciphertexts of one level, relinearized and reduced once: at the level below.
    ///
    /// # Errors
    /// [`Error::Operands`] for none or different numbers; otherwise as of its parts.
    pub fn dot(&self, x: &[&Value<B>], y: &[&Value<B>]) -> Result<Value<B>, Error> {
        let (what, first) = Self::factors(x, y)?;
        for (x, y) in x.iter().zip(y) {
            self.pair_of_factors(what, x, y)?;
            self.pair(what, first, x)?;
        }
        let below = self.below(what, first)?;
        let noises = x.iter().map(|x| x.noise).zip(y.iter().map(|y| y.noise));
        let [switched, reduced] = noise::dot(self.key().params(), first.level, noises);
        let remedy = "add fewer ciphertexts before, lower them first, or choose parameters with primes of more bits";
        self.within_limit(what, switched, first.level, remedy)?;
        let product = self.ready(what, first, below, reduced)?;
        Ok(product.with(self.numbers.dot(x, y)?))
    }
}

impl<B: Numbers<Bgv>> Evaluate for Evaluator<Bgv, B> {
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
        self.multiply_integer(x, self.context().plaintext.reduce(value) as i64)
    }

    /// `x + y`, of one level and stage.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`], [`Error::Stage`], [`Error::KeyMismatch`], [`Error::Noise`].
    fn add(&self, x: &Value<B>, y: &Value<B>) -> Result<Value<B>, Error> {
        Ok(self.sum("a sum", x, y)?.with(x.parts.plus(&y.parts)?))
    }

    /// `x - y`, of one level and stage.
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

    /// `mu x` for a known polynomial `mu`. Shape: N. Range: `0..p`.
    ///
    /// # Errors
    /// [`Error::Plaintext`], [`Error::KeyMismatch`], [`Error::Noise`].
    fn multiply_plain(&self, x: &Value<B>, plaintext: &[u64]) -> Result<Value<B>, Error> {
        let context = self.context();
        self.check("the operand", x)?;
        context.check_plaintext(plaintext)?;
        let factor = context.embed(plaintext, 1);
        let noise = noise::product_plain(x.noise, log2_canonical_norm(&factor));
        let product = self.result("a product with a plaintext", x, noise, LOWER)?;
        let factor = RnsPoly::from_signed(&context.level(x.level).basis, &factor)?.into_eval();
        Ok(product.with(self.numbers.multiply_plain(x, &[factor])?))
    }

    /// The same message one level below, ready.
    ///
    /// # Errors
    /// [`Error::Stage`] for a product, which is to be reduced; [`Error::OutOfLevels`], [`Error::KeyMismatch`], [`Error::Noise`].
    fn drop_level(&self, x: &Value<B>) -> Result<Value<B>, Error> {
        const WHAT: &str = "lowering";
        self.check("the operand", x)?;
        Self::stage(WHAT, x, Stage::Ready)?;
        // Times f, so that it has f^2 as a product has.
        let noise = noise::product_plain(x.noise, log2_integer(self.key().lowering_factor(x.level)));
        self.within_limit(WHAT, noise, x.level, WIDER)?;
        Ok(self.divided(WHAT, x, noise)?.with(self.numbers.lower(x)?))
    }

    /// `x y`, relinearized and reduced: a product at the level below. One pass over the towers, and one division by the special primes and the level's together.
    ///
    /// # Errors
    /// As of its parts.
    fn multiply(&self, x: &Value<B>, y: &Value<B>) -> Result<Value<B>, Error> {
        self.dot(&[x], &[y])
    }

    /// Bootstrapping: the number in the constant coefficient, with the noise of [`BootstrapNoise::output`](super::BootstrapNoise::output), at level [`Params::fresh_level`](crate::bgv::Params::fresh_level); the other coefficients
    /// of the message become 0. Takes a ciphertext at any level and lowers it to the first.
    ///
    /// # Errors
    /// [`Error::NoBootstrapping`] without a bootstrapping key; [`Error::Noise`] for a ciphertext of which the number might come out wrong;
    /// [`Error::KeyMismatch`].
    fn bootstrap(&self, x: &Value<B>) -> Result<Value<B>, Error> {
        let growth = &self.key().bootstrapping()?.plan.growth;
        self.check("the operand", x)?;
        let x = self.at_bootstrap_level(x, growth.limit)?;
        let (level, noise) = (self.key().params().fresh_level(), growth.output);
        Ok(Head { level, noise, ..x.with(()) }.with(self.numbers.bootstrap(&x)?))
    }

    fn finish(&self) -> Result<(), Error> {
        self.numbers.finish()
    }

    fn slot_rotations(&self) -> Option<&dyn RotateSlots<Ciphertext = Value<B>>> {
        let all = Rotations::all(self.key().params()).ok()?;
        if self.key().rotations().contains(&all) { Some(self) } else { None }
    }
}
