//! Evaluation, one operation of the scheme at a time.

use solinas_ring::{Basis, Eval, Hybrid, Rescale, RnsPoly, SwitchDown};

use super::context::{Context, LevelPlans};
use super::{Ciphertext, Error, Rotations, ServerKey, Stage, noise};
use crate::canonical_embedding::{log2_canonical_norm, log2_integer, log2_largest};
use crate::leveled::{AutoLevels, Params as _, StoredCiphertext};
use crate::{Evaluate, Level, Noise, RotateSlots};

/// The remedy for too much noise.
const LOWER: &str = "multiply or lower first, which brings the noise down";

/// The numbers of a ciphertext: `c_0`, `c_1`, and `c_2` if there is one.
pub trait Parts {
    /// Number of the parts.
    fn count(&self) -> usize;
}

impl Parts for Vec<RnsPoly<Eval>> {
    fn count(&self) -> usize {
        self.len()
    }
}

/// The single operations. The caller manages levels. [`Self::automatic`] manages them for the caller.
///
/// Every result states its noise by the formulas. A result that might not decrypt is an error.
#[derive(Debug, Clone, Copy)]
pub struct Evaluator<'a> {
    key: &'a ServerKey,
}

impl<'a> Evaluator<'a> {
    /// With the keys of that server key.
    pub fn new(key: &'a ServerKey) -> Self {
        Self { key }
    }

    /// The same operations with automatic management of levels.
    pub fn automatic(self) -> AutoLevels<Self> {
        AutoLevels::new(self)
    }

    /// The key.
    pub fn key(&self) -> &'a ServerKey {
        self.key
    }

    pub(super) fn context(&self) -> &'a Context {
        self.key.public().context()
    }

    fn plans<P>(&self, x: &Ciphertext<P>) -> &'a LevelPlans {
        self.context().level(x.level)
    }

    /// Basis of the ciphertexts of a level.
    pub fn basis(&self, level: Level) -> &'a Basis {
        &self.context().level(level).basis
    }

    /// The division by the prime of a level. The lowest level has none.
    pub fn rescale(&self, level: Level) -> Option<&'a Rescale> {
        self.context().level(level).rescale.as_ref()
    }

    /// The key switch of a level: its decomposition, the division by `P`, and that by `P` and the prime of the level, which
    /// the lowest one does not have. `None` for parameters whose digits are bits of towers.
    pub fn key_switch(&self, level: Level) -> Option<(&'a Hybrid, &'a SwitchDown, Option<&'a SwitchDown>)> {
        self.context().level(level).switch.by_groups()
    }

    /// Checks that a ciphertext belongs to the key. `what` names it in the error.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn check<P>(&self, what: &'static str, x: &Ciphertext<P>) -> Result<(), Error> {
        self.key.public().check(what, x.key)
    }

    fn stage<P>(operation: &'static str, x: &Ciphertext<P>, want: Stage) -> Result<(), Error> {
        if x.stage == want {
            return Ok(());
        }
        let remedy = match x.stage {
            Stage::Ready => "lower it instead (`Evaluator::drop_level`)",
            Stage::Product => "reduce its modulus first (`Evaluator::modulus_switch`)",
        };
        Err(Error::Stage { operation, want: want.name(), got: x.stage.name(), remedy })
    }

    fn at_most<P: Parts>(operation: &'static str, x: &Ciphertext<P>, max: usize) -> Result<(), Error> {
        match x.parts.count() {
            parts if parts > max => Err(Error::Parts { operation, parts, max }),
            _ => Ok(()),
        }
    }

    /// The operands of a sum, checked.
    fn pair<P>(&self, operation: &'static str, x: &Ciphertext<P>, y: &Ciphertext<P>) -> Result<(), Error> {
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
    fn factors<P: Parts>(&self, operation: &'static str, x: &Ciphertext<P>, y: &Ciphertext<P>) -> Result<(), Error> {
        self.pair(operation, x, y)?;
        for factor in [x, y] {
            Self::stage(operation, factor, Stage::Ready)?;
            Self::at_most(operation, factor, 2)?;
        }
        Ok(())
    }

    /// The noise, if it decrypts at that level.
    fn within_limit(
        &self,
        operation: &'static str,
        noise: Noise,
        level: Level,
        remedy: &'static str,
    ) -> Result<Noise, Error> {
        let limit = noise::limit(self.key.params(), self.key.params().log2_modulus(level));
        if noise > limit { Err(Error::Noise { operation, noise, limit, remedy }) } else { Ok(noise) }
    }

    /// `x` with other parts and noise, if that decrypts.
    pub(super) fn with<P>(
        &self,
        operation: &'static str,
        x: &Ciphertext<P>,
        noise: Noise,
        parts: P,
        remedy: &'static str,
    ) -> Result<Ciphertext<P>, Error> {
        let noise = self.within_limit(operation, noise, x.level, remedy)?;
        Ok(Ciphertext { key: x.key, level: x.level, stage: x.stage, noise, parts })
    }

    /// A sum or difference, of one level and stage. `combine` makes its numbers.
    ///
    /// # Errors
    /// As [`Self::add`](Evaluate::add); the errors of `combine`.
    pub fn sum_by<P, E: From<Error>>(
        &self,
        operation: &'static str,
        x: &Ciphertext<P>,
        y: &Ciphertext<P>,
        combine: impl FnOnce(&P, &P) -> Result<P, E>,
    ) -> Result<Ciphertext<P>, E> {
        self.pair(operation, x, y)?;
        let noise = self.within_limit(operation, x.noise.sum(y.noise), x.level, LOWER)?;
        Ok(self.with(operation, x, noise, combine(&x.parts, &y.parts)?, LOWER)?)
    }

    fn sum_with(
        &self,
        operation: &'static str,
        x: &Ciphertext,
        y: &Ciphertext,
        combine: impl Fn(&RnsPoly<Eval>, &RnsPoly<Eval>) -> Result<RnsPoly<Eval>, solinas_ring::Error>,
    ) -> Result<Ciphertext, Error> {
        let zero = || RnsPoly::zero(&self.plans(x).basis);
        self.sum_by(operation, x, y, |x, y| {
            let part = |i: usize| match (x.get(i), y.get(i)) {
                (Some(x), Some(y)) => combine(x, y),
                (Some(x), None) => Ok(x.clone()),
                (None, Some(y)) => combine(&zero(), y),
                (None, None) => Ok(zero()),
            };
            Ok((0..x.len().max(y.len())).map(part).collect::<Result<_, _>>()?)
        })
    }

    /// `x + mu` for a known polynomial `mu`. Shape: N. Range: `0..p`.
    ///
    /// # Errors
    /// [`Error::Plaintext`], [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn add_plain(&self, x: &Ciphertext, plaintext: &[u64]) -> Result<Ciphertext, Error> {
        self.add_plain_by(x, plaintext, |parts, plaintext| {
            let mut parts = parts.clone();
            parts[0].add_assign(plaintext)?;
            Ok(parts)
        })
    }

    /// As [`Self::add_plain`]. `combine` makes the sum from the numbers of `x` and the polynomial that is added to `c_0`.
    ///
    /// # Errors
    /// As [`Self::add_plain`]; the errors of `combine`.
    pub fn add_plain_by<P, E: From<Error>>(
        &self,
        x: &Ciphertext<P>,
        plaintext: &[u64],
        combine: impl FnOnce(&P, &RnsPoly<Eval>) -> Result<P, E>,
    ) -> Result<Ciphertext<P>, E> {
        let context = self.context();
        self.check("the operand", x)?;
        context.check_plaintext(plaintext)?;
        let plain = context.embed(plaintext, x.correction_factor(context));
        let poly = RnsPoly::from_signed(&self.plans(x).basis, &plain).map_err(Error::from)?.into_eval();
        let noise = x.noise.sum(noise::plain(self.key.params(), log2_canonical_norm(&plain), log2_largest(&plain)));
        Ok(self.with("a sum with a plaintext", x, noise, combine(&x.parts, &poly)?, LOWER)?)
    }

    /// `k x` for a known integer.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn multiply_integer(&self, x: &Ciphertext, integer: i64) -> Result<Ciphertext, Error> {
        self.multiply_integer_by(x, integer, |parts, factor| {
            let mut parts = parts.clone();
            parts.iter_mut().for_each(|part| part.scale(factor));
            Ok(parts)
        })
    }

    /// As [`Self::multiply_integer`]. `scale` multiplies the numbers by an integer.
    ///
    /// # Errors
    /// As [`Self::multiply_integer`]; the errors of `scale`.
    pub fn multiply_integer_by<P, E: From<Error>>(
        &self,
        x: &Ciphertext<P>,
        integer: i64,
        scale: impl FnOnce(&P, i64) -> Result<P, E>,
    ) -> Result<Ciphertext<P>, E> {
        self.check("the operand", x)?;
        let m = self.context().plaintext;
        let residue = m.reduce(integer.unsigned_abs());
        let residue = m.centered(if integer < 0 { m.reduce(m.value() - residue) } else { residue });
        let noise = noise::product_plain(x.noise, log2_integer(residue));
        Ok(self.with("a product with an integer", x, noise, scale(&x.parts, residue)?, LOWER)?)
    }

    /// As [`Evaluate::multiply_constant`]. `scale` multiplies the numbers by an integer.
    ///
    /// # Errors
    /// As [`Self::multiply_integer_by`].
    pub fn multiply_constant_by<P, E: From<Error>>(
        &self,
        x: &Ciphertext<P>,
        value: u64,
        scale: impl FnOnce(&P, i64) -> Result<P, E>,
    ) -> Result<Ciphertext<P>, E> {
        self.multiply_integer_by(x, self.context().plaintext.reduce(value) as i64, scale)
    }

    /// As [`Evaluate::multiply_plain`]. `combine` makes the product from the numbers of `x` and the polynomial.
    ///
    /// # Errors
    /// As [`Evaluate::multiply_plain`]; the errors of `combine`.
    pub fn multiply_plain_by<P, E: From<Error>>(
        &self,
        x: &Ciphertext<P>,
        plaintext: &[u64],
        combine: impl FnOnce(&P, &RnsPoly<Eval>) -> Result<P, E>,
    ) -> Result<Ciphertext<P>, E> {
        const WHAT: &str = "a product with a plaintext";
        let context = self.context();
        self.check("the operand", x)?;
        context.check_plaintext(plaintext)?;
        let factor = context.embed(plaintext, 1);
        let noise =
            self.within_limit(WHAT, noise::product_plain(x.noise, log2_canonical_norm(&factor)), x.level, LOWER)?;
        let factor = RnsPoly::from_signed(&self.plans(x).basis, &factor).map_err(Error::from)?.into_eval();
        Ok(self.with(WHAT, x, noise, combine(&x.parts, &factor)?, LOWER)?)
    }

    /// `x y` of three parts, to be relinearized and reduced.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`], [`Error::Parts`], [`Error::Stage`], [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn tensor(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        const WHAT: &str = "a product";
        self.factors(WHAT, x, y)?;
        let noise = self.within_limit(WHAT, noise::product(self.key.params(), x.noise, y.noise), x.level, LOWER)?;
        let basis = &self.plans(x).basis;
        let tensor = Tensor::of(&[(x, y)]);
        let [first, second] = RnsPoly::two_from_towers(basis, 0, |i, out, _| tensor.low(basis, i, out));
        let third = RnsPoly::from_towers(basis, |i, out| tensor.high(basis, i, out));
        let parts = vec![first, second, third];
        Ok(Ciphertext { key: x.key, level: x.level, stage: Stage::Product, noise, parts })
    }

    /// A ciphertext of two parts from one of three: one key switch.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn relinearize(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        const WHAT: &str = "a relinearization";
        self.check("the operand", x)?;
        let [first, second, third] = x.parts.as_slice() else { return Ok(x.clone()) };
        let noise = self.within_limit(WHAT, self.key.params().switched(x.noise, x.level), x.level, LOWER)?;
        let parts = self.plans(x).switch.apply(
            self.key.relinearization(),
            false,
            |i, out| out.copy_from_slice(third.tower(i)),
            |i, [b, a]| {
                b.copy_from_slice(first.tower(i));
                a.copy_from_slice(second.tower(i));
            },
        )?;
        self.with(WHAT, x, noise, parts.into(), LOWER)
    }

    /// ModReduce: divides a product by the level's prime, and the noise with it; the result is ready at the level below.
    ///
    /// # Errors
    /// [`Error::Stage`] unless it is a product; [`Error::OutOfLevels`], [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn modulus_switch(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check("the operand", x)?;
        Self::stage("a reduction of the modulus", x, Stage::Product)?;
        const WHAT: &str = "a reduction of the modulus";
        self.divided_by(WHAT, x, x.noise, |parts| Ok(self.divided_parts(x.level, parts, None)))
    }

    /// The parts, times an integer, divided by the level's prime.
    fn divided_parts(&self, level: Level, parts: &[RnsPoly<Eval>], factor: Option<i64>) -> Vec<RnsPoly<Eval>> {
        let LevelPlans { rescale, basis, .. } = self.context().level(level);
        let divide = |part: &RnsPoly<Eval>| {
            let rescale = rescale.as_ref()?;
            Some(rescale.apply_to(|i, out| {
                out.copy_from_slice(part.tower(i));
                if let Some(factor) = factor {
                    let q = basis.modulus(i);
                    basis.pointwise(i).scale(out, q.shoup(q.reduce_i64(factor)));
                }
            }))
        };
        parts.iter().filter_map(divide).collect()
    }

    /// A ciphertext at the level below, of numbers that `divide` makes.
    fn divided_by<P: Parts, E: From<Error>>(
        &self,
        operation: &'static str,
        x: &Ciphertext<P>,
        noise: Noise,
        divide: impl FnOnce(&P) -> Result<P, E>,
    ) -> Result<Ciphertext<P>, E> {
        if x.level == Level::LOWEST {
            let depth = self.key.params().depth();
            return Err(Error::OutOfLevels { operation, level: x.level, depth }.into());
        }
        let noise = self.key.params().reduced(noise, x.level, x.parts.count(), false);
        Ok(self.at_next_level(operation, x, noise, divide(&x.parts)?)?)
    }

    /// Ready at the level below.
    fn at_next_level<P>(
        &self,
        operation: &'static str,
        x: &Ciphertext<P>,
        noise: Noise,
        parts: P,
    ) -> Result<Ciphertext<P>, Error> {
        let depth = self.key.params().depth();
        let level = x.level.below().ok_or(Error::OutOfLevels { operation, level: x.level, depth })?;
        let noise = self.within_limit(operation, noise, level, "choose parameters with primes of more bits")?;
        Ok(Ciphertext { key: x.key, level, stage: Stage::Ready, noise, parts })
    }

    /// `sum_i x_i y_i` of ready ciphertexts of one level, relinearized and reduced once: at the level below.
    ///
    /// # Errors
    /// [`Error::Operands`] for none or different numbers; otherwise as of its parts.
    pub fn dot(&self, x: &[&Ciphertext], y: &[&Ciphertext]) -> Result<Ciphertext, Error> {
        self.dot_by(x, y, |x, y| {
            let LevelPlans { basis, switch, .. } = self.plans(x[0]);
            let terms: Vec<_> = x.iter().copied().zip(y.iter().copied()).collect();
            let tensor = Tensor::of(&terms);
            let parts = switch.apply(
                self.key.relinearization(),
                true,
                |i, out| tensor.high(basis, i, out),
                |i, out| tensor.low(basis, i, out),
            )?;
            Ok(parts.into())
        })
    }

    /// As [`Self::dot`]. `product` makes the numbers at the level below.
    ///
    /// # Errors
    /// As [`Self::dot`]; the errors of `product`.
    pub fn dot_by<P: Parts, E: From<Error>>(
        &self,
        x: &[&Ciphertext<P>],
        y: &[&Ciphertext<P>],
        product: impl FnOnce(&[&Ciphertext<P>], &[&Ciphertext<P>]) -> Result<P, E>,
    ) -> Result<Ciphertext<P>, E> {
        let what = if x.len() == 1 { "a composed product" } else { "a dot product" };
        let operands = || Error::Operands { operation: what, lhs: x.len(), rhs: y.len() };
        let &[first, ..] = x else { return Err(operands().into()) };
        if x.len() != y.len() {
            return Err(operands().into());
        }
        let params = self.key.params();
        for (x, y) in x.iter().zip(y) {
            self.factors(what, x, y)?;
            self.pair(what, first, x)?;
        }
        if first.level == Level::LOWEST {
            return Err(Error::OutOfLevels { operation: what, level: first.level, depth: params.depth() }.into());
        }
        let remedy = "add fewer ciphertexts before, lower them first, or choose parameters with primes of more bits";
        let noises = x.iter().map(|x| x.noise).zip(y.iter().map(|y| y.noise));
        let [switched, reduced] = noise::dot(params, first.level, noises);
        self.within_limit(what, switched, first.level, remedy)?;
        Ok(self.at_next_level(what, first, reduced, product(x, y)?)?)
    }

    /// As [`Evaluate::drop_level`]. `divide` divides the numbers, times an integer if there is one, by the prime of the
    /// level.
    ///
    /// # Errors
    /// As [`Evaluate::drop_level`]; the errors of `divide`.
    pub fn lower_by<P: Parts, E: From<Error>>(
        &self,
        x: &Ciphertext<P>,
        divide: impl FnOnce(&P, Option<i64>) -> Result<P, E>,
    ) -> Result<Ciphertext<P>, E> {
        const WHAT: &str = "lowering";
        self.check("the operand", x)?;
        Self::stage(WHAT, x, Stage::Ready)?;
        // Times f, so that it has f^2 as a product has.
        let factor = self.context().plaintext.centered(self.plans(x).correction_factor);
        let noise = noise::product_plain(x.noise, log2_integer(factor));
        self.within_limit(WHAT, noise, x.level, "choose parameters with primes of more bits")?;
        self.divided_by(WHAT, x, noise, |parts| divide(parts, Some(factor).filter(|&factor| factor != 1)))
    }

    /// Bootstrapping of a ready ciphertext at the first level, whose noise is within the limit. `work` makes the numbers of
    /// the result.
    ///
    /// # Errors
    /// [`Error::NoBootstrapping`] without a bootstrapping key; [`Error::KeyMismatch`], [`Error::Stage`],
    /// [`Error::LevelMismatch`], [`Error::Noise`]; the errors of `work`.
    pub fn bootstrap_by<P, E: From<Error>>(
        &self,
        x: &Ciphertext<P>,
        work: impl FnOnce(&P) -> Result<P, E>,
    ) -> Result<Ciphertext<P>, E> {
        const WHAT: &str = "bootstrapping";
        let growth = &self.bootstrapping()?.plan.growth;
        self.check("the operand", x)?;
        Self::stage(WHAT, x, Stage::Ready)?;
        if x.level != Level::LOWEST {
            return Err(Error::level_mismatch(x.level, Level::LOWEST).into());
        }
        if x.noise > growth.limit {
            let (noise, limit) = (x.noise, growth.limit);
            let remedy = "bootstrap the ciphertexts before they are added up";
            return Err(Error::Noise { operation: WHAT, noise, limit, remedy }.into());
        }
        let (level, noise) = (self.key().params().fresh_level(), growth.output);
        Ok(Ciphertext { key: x.key, level, stage: Stage::Ready, noise, parts: work(&x.parts)? })
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
        self.key.public().trivial(&self.key.params().constant_plaintext(value))
    }

    fn add_constant(&self, x: &Ciphertext, value: u64) -> Result<Ciphertext, Error> {
        self.add_plain(x, &self.key.params().constant_plaintext(value))
    }

    fn multiply_constant(&self, x: &Ciphertext, value: u64) -> Result<Ciphertext, Error> {
        self.multiply_integer(x, self.context().plaintext.reduce(value) as i64)
    }

    /// `x + y`, of one level and stage.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`], [`Error::Stage`], [`Error::KeyMismatch`], [`Error::Noise`].
    fn add(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.sum_with("a sum", x, y, RnsPoly::plus)
    }

    /// `x - y`, of one level and stage.
    ///
    /// # Errors
    /// As [`Self::add`].
    fn sub(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.sum_with("a difference", x, y, RnsPoly::minus)
    }

    /// `-x`.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    fn negate(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check("the operand", x)?;
        let mut negative = x.clone();
        negative.parts.iter_mut().for_each(RnsPoly::negate);
        Ok(negative)
    }

    /// `mu x` for a known polynomial `mu`. Shape: N. Range: `0..p`.
    ///
    /// # Errors
    /// [`Error::Plaintext`], [`Error::KeyMismatch`], [`Error::Noise`].
    fn multiply_plain(&self, x: &Ciphertext, plaintext: &[u64]) -> Result<Ciphertext, Error> {
        self.multiply_plain_by(x, plaintext, |parts, factor| {
            let mut parts = parts.clone();
            parts.iter_mut().try_for_each(|part| part.mul_assign(factor))?;
            Ok(parts)
        })
    }

    /// The same message one level below, ready.
    ///
    /// # Errors
    /// [`Error::Stage`] for a product, which is to be reduced; [`Error::OutOfLevels`], [`Error::KeyMismatch`], [`Error::Noise`].
    fn drop_level(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.lower_by(x, |parts, factor| Ok(self.divided_parts(x.level, parts, factor)))
    }

    /// `x y`, relinearized and reduced: a product at the level below. One pass over the towers, and one division by the special primes and the level's together.
    ///
    /// # Errors
    /// As of its parts.
    fn multiply(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.dot(&[x], &[y])
    }

    /// Bootstrapping: the number in the constant coefficient, with the noise of [`BootstrapNoise::output`](super::BootstrapNoise::output), at level [`Params::fresh_level`](crate::bgv::Params::fresh_level); the other coefficients
    /// of the message become 0. Takes a ciphertext at any level and lowers it to the first.
    ///
    /// # Errors
    /// [`Error::NoBootstrapping`] without a bootstrapping key; [`Error::Noise`] for a ciphertext of which the number might come out wrong;
    /// [`Error::KeyMismatch`].
    fn bootstrap(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        let key = self.bootstrapping()?;
        self.check("the operand", x)?;
        let x = self.automatic().at_bootstrap_level(x, key.plan.growth.limit)?;
        self.bootstrap_by(&x, |parts| {
            let rounded = self.round(key, self.under_sparse(key, parts)?);
            let traced = self.trace(key, self.embed(key, &rounded))?;
            Ok(self.highest_digits(key, &traced, |_| ())?.into())
        })
    }

    fn slot_rotations(&self) -> Option<&dyn RotateSlots<Ciphertext = Ciphertext>> {
        let all = Rotations::all(self.key.params()).ok()?;
        if self.key.rotations().contains(&all) { Some(self) } else { None }
    }
}

/// Products of ciphertexts of two parts, added up tower by tower.
pub(super) struct Tensor<'x> {
    terms: Vec<[[&'x RnsPoly<Eval>; 2]; 2]>,
}

impl<'x> Tensor<'x> {
    /// Makes the sum of products. Each term has two factors, and each factor has two parts.
    pub(super) fn new(terms: Vec<[[&'x RnsPoly<Eval>; 2]; 2]>) -> Self {
        Self { terms }
    }

    fn of(terms: &[(&'x Ciphertext, &'x Ciphertext)]) -> Self {
        let parts = |x: &'x Ciphertext| [&x.parts[0], &x.parts[1]];
        Self { terms: terms.iter().map(|&(x, y)| [parts(x), parts(y)]).collect() }
    }

    /// Tower `i` of `sum x_1 y_1`.
    pub(super) fn high(&self, basis: &solinas_ring::Basis, i: usize, out: &mut [u64]) {
        let ops = basis.pointwise(i);
        for (index, [x, y]) in self.terms.iter().enumerate() {
            if index == 0 {
                ops.product(out, x[1].tower(i), y[1].tower(i));
            } else {
                ops.multiply_add(out, x[1].tower(i), y[1].tower(i));
            }
        }
    }

    /// Tower `i` of `sum x_0 y_0` and `sum (x_0 y_1 + x_1 y_0)`.
    pub(super) fn low(&self, basis: &solinas_ring::Basis, i: usize, [first, second]: [&mut [u64]; 2]) {
        let ops = basis.pointwise(i);
        for (index, [x, y]) in self.terms.iter().enumerate() {
            let [x, y] = [x, y].map(|parts| parts.map(|part| part.tower(i)));
            if index == 0 {
                ops.product(first, x[0], y[0]);
                ops.product(second, x[0], y[1]);
            } else {
                ops.multiply_add(first, x[0], y[0]);
                ops.multiply_add(second, x[0], y[1]);
            }
            ops.multiply_add(second, x[1], y[0]);
        }
    }
}
