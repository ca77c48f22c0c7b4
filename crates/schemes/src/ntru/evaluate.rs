//! Evaluation, one operation of the scheme at a time.

use solinas_ring::{Basis, Eval, Rescale, RnsPoly};

use super::context::Context;
use super::{Ciphertext, Error, Rotation, ServerKey, Stage, noise};
use crate::leveled::{AutoLevels, Params as _, StoredCiphertext};
use crate::{Evaluate, Level, Noise, RotateSlots};

/// Largest degree of a product. Ciphertexts of high degree decrypt slowly.
pub(super) const MAX_DEGREE: u32 = 8;

/// The single operations of the paper. The caller manages levels and switches keys. [`Self::automatic`] does both for the caller.
///
/// Every result states its noise by the formulas. A result that might not decrypt is an error.
#[derive(Debug, Clone, Copy)]
pub struct Evaluator<'a> {
    key: &'a ServerKey,
}

impl<'a> Evaluator<'a> {
    /// With the hints of that key.
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

    /// Basis of the ciphertexts of a level.
    pub fn basis(&self, level: Level) -> &'a Basis {
        &self.key.public().context().level(level).basis
    }

    /// The divisions by the primes of a level, in order. The lowest level has none.
    pub fn rescales(&self, level: Level) -> &'a [Rescale] {
        &self.key.public().context().level(level).rescales
    }

    fn context(&self) -> &Context {
        self.key.public().context()
    }

    /// Checks that a ciphertext belongs to the key. `what` names it in the error.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`].
    pub fn check<P>(&self, what: &'static str, x: &Ciphertext<P>) -> Result<(), Error> {
        self.key.public().check(what, x.key)
    }

    pub(super) fn stage<P>(operation: &'static str, x: &Ciphertext<P>, want: Stage) -> Result<(), Error> {
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
    fn pair<P>(&self, operation: &'static str, x: &Ciphertext<P>, y: &Ciphertext<P>) -> Result<(), Error> {
        self.check("the first operand", x)?;
        self.check("the second operand", y)?;
        Self::stage(operation, x, Stage::Ready)?;
        Self::stage(operation, y, Stage::Ready)?;
        if x.level != y.level {
            return Err(Error::level_mismatch(x.level, y.level));
        }
        Ok(())
    }

    /// `x` with other parts and noise, if that decrypts.
    pub(super) fn checked<P>(
        &self,
        operation: &'static str,
        x: Ciphertext<P>,
        remedy: &'static str,
    ) -> Result<Ciphertext<P>, Error> {
        let limit = noise::limit(self.key.params(), self.context().level(x.level).basis.log2_modulus());
        if x.noise > limit {
            return Err(Error::Noise { operation, noise: x.noise, limit, remedy });
        }
        Ok(x)
    }

    /// A sum or difference, of one level and degree. `combine` makes its numbers.
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
        if x.degree() != y.degree() {
            return Err(Error::DegreeMismatch { lhs: x.degree(), rhs: y.degree() }.into());
        }
        let mut sum = x.moved(|parts| combine(parts, &y.parts))?;
        sum.noise = x.noise.sum(y.noise);
        Ok(self.checked(operation, sum, "multiply or lower first, which brings the noise down")?)
    }

    fn sum_with(
        &self,
        operation: &'static str,
        x: &Ciphertext,
        y: &Ciphertext,
        combine: impl Fn(&mut RnsPoly<Eval>, &RnsPoly<Eval>) -> Result<(), solinas_ring::Error>,
    ) -> Result<Ciphertext, Error> {
        self.sum_by(operation, x, y, |x, y| {
            let mut sum = x.clone();
            sum.iter_mut().zip(y).try_for_each(|(x, y)| combine(x, y))?;
            Ok(sum)
        })
    }

    /// `x + mu` for a known polynomial `mu`. Shape: n. Range: `0..p`.
    ///
    /// # Errors
    /// [`Error::Plaintext`], [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn add_plain(&self, x: &Ciphertext, plaintext: &[u64]) -> Result<Ciphertext, Error> {
        self.add_plain_by(x, plaintext, |parts, plaintext| {
            let mut sums = parts.clone();
            for (part, poly) in sums.iter_mut().enumerate() {
                poly.add_assign(&plaintext(part)?)?;
            }
            Ok(sums)
        })
    }

    /// As [`Self::add_plain`]. `combine` makes the sum from the numbers of `x` and the polynomial of `mu` for each part.
    ///
    /// # Errors
    /// As [`Self::add_plain`]; the errors of `combine`.
    pub fn add_plain_by<P, E: From<Error>>(
        &self,
        x: &Ciphertext<P>,
        plaintext: &[u64],
        combine: impl FnOnce(&P, &dyn Fn(usize) -> Result<RnsPoly<Eval>, Error>) -> Result<P, E>,
    ) -> Result<Ciphertext<P>, E> {
        let context = self.context();
        self.check("the operand", x)?;
        context.check_plaintext(plaintext)?;
        let basis = x.basis(context);
        let mut sum = x.moved(|parts| combine(parts, &|part| context.embed(plaintext, basis, part)))?;
        sum.noise = noise::sum_plain(self.key.params(), x.noise, x.degree(), context.log2_norm(plaintext));
        let remedy = "multiply or lower first, which brings the noise down";
        Ok(self.checked("a sum with a plaintext", sum, remedy)?)
    }

    /// As [`Evaluate::multiply_plain`]. `combine` makes the product from the numbers of `x` and the polynomial of `mu` for
    /// each part.
    ///
    /// # Errors
    /// As [`Evaluate::multiply_plain`]; the errors of `combine`.
    pub fn multiply_plain_by<P, E: From<Error>>(
        &self,
        x: &Ciphertext<P>,
        plaintext: &[u64],
        combine: impl FnOnce(&P, &dyn Fn(usize) -> Result<RnsPoly<Eval>, Error>) -> Result<P, E>,
    ) -> Result<Ciphertext<P>, E> {
        let context = self.context();
        self.check("the operand", x)?;
        Self::stage("a product with a plaintext", x, Stage::Ready)?;
        context.check_plaintext(plaintext)?;
        let basis = x.basis(context);
        let mut product = x.moved(|parts| combine(parts, &|part| context.embed(plaintext, basis, part)))?;
        product.noise = noise::product_plain(x.noise, context.log2_norm(plaintext));
        let remedy = "lower the ciphertext first, which brings its noise down";
        Ok(self.checked("a product with a plaintext", product, remedy)?)
    }

    /// EvalMult: `x y`, of the sum of their degrees; [`Self::key_switch`] makes it one of degree 1.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`], [`Error::Degree`], [`Error::Stage`], [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn multiply_without_switch(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.pair("a product", x, y)?;
        let degree = x.degree() + y.degree();
        if degree > MAX_DEGREE {
            return Err(Error::Degree { operation: "a product", degree, max: MAX_DEGREE });
        }
        let parts = self.context().product(x.level, &x.parts, &y.parts)?;
        let noise = noise::product(self.key.params(), x.noise, y.noise);
        let product = Ciphertext { stage: Stage::Ready.at_degree(degree), ..x.of_same(parts, noise) };
        self.checked("a product", product, "switch keys and reduce the modulus between products")
    }

    /// The hint for that degree at that level.
    fn hint(&self, operation: &'static str, level: Level, degree: u32) -> Result<&'a RnsPoly<Eval>, Error> {
        if level == Level::LOWEST {
            return Err(Error::OutOfLevels { operation, level, depth: self.key.params().depth() });
        }
        let hints = self.key.level_hints(level);
        match degree {
            1 => Ok(&hints.linear),
            2 => Ok(&hints.square),
            _ => Err(Error::Degree { operation, degree, max: 2 }),
        }
    }

    /// KeySwitch: degree 1 or 2 under `f_j` to degree 1 under `f_(j-1)`, still modulo `Q_j`: one product with a hint.
    ///
    /// # Errors
    /// [`Error::OutOfLevels`], [`Error::Degree`], [`Error::Stage`], [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn key_switch(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check("the operand", x)?;
        Self::stage("a key switch", x, Stage::Ready)?;
        let hint = self.hint("a key switch", x.level, x.degree())?;
        let mut switched = x.clone();
        switched.parts.iter_mut().try_for_each(|part| part.mul_assign(hint))?;
        switched.stage = Stage::Switched.at_degree(1);
        switched.noise = noise::hint(self.key.params(), x.noise, hint.basis().dimension());
        self.checked("a key switch", switched, "choose parameters with primes of more bits")
    }

    /// ModReduce: divides by the level's primes, and the noise with them; the result is at the level below.
    ///
    /// # Errors
    /// [`Error::Stage`] unless the key was switched; [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn modulus_switch(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check("the operand", x)?;
        Self::stage("a reduction of the modulus", x, Stage::Switched)?;
        let rescale = |part: &RnsPoly<Eval>| self.rescaled(x.level, |i, out| out.copy_from_slice(part.tower(i)));
        let parts = x.parts.iter().map(rescale).collect::<Result<_, _>>()?;
        self.at_next_level(x, x.noise, parts)
    }

    /// The polynomial with those towers, divided by the level's primes.
    pub(super) fn rescaled(
        &self,
        level: Level,
        tower: impl Fn(usize, &mut [u64]) + Send + Sync,
    ) -> Result<RnsPoly<Eval>, Error> {
        let mut rescales = self.context().level(level).rescales.iter();
        let first = rescales.next().ok_or(Error::OutOfLevels {
            operation: "a reduction of the modulus",
            level,
            depth: self.key.params().depth(),
        })?;
        rescales.try_fold(first.apply_to(tower), |poly, rescale| Ok(rescale.apply(&poly)?))
    }

    /// Returns the ciphertext with these numbers at the level below, before its ring is reduced. `switched` is its
    /// noise before the division.
    fn at_next_level<P>(&self, x: &Ciphertext<P>, switched: Noise, parts: P) -> Result<Ciphertext<P>, Error> {
        let params = self.key.params();
        let out_of_levels =
            Error::OutOfLevels { operation: "a reduction of the modulus", level: x.level, depth: params.depth() };
        let level = x.level.below().ok_or(out_of_levels)?;
        let wide = params.dimension_at(level) < params.wide_dimension_at(level);
        let stage = if wide { Stage::Wide } else { Stage::Ready };
        let noise = params.noise_after_division(switched, x.level);
        let entered = Ciphertext { key: x.key, level, stage: stage.at_degree(1), noise, parts };
        self.checked("a reduction of the modulus", entered, "choose parameters with primes of more bits")
    }

    /// RingReduce: to the level's smaller ring, all components kept. A product with a hint, then each part is cut into its coefficients of the
    /// same place modulo the factor between the rings.
    ///
    /// # Errors
    /// [`Error::Stage`] unless the modulus was reduced into a level of a smaller ring; [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn ring_reduce(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check("the operand", x)?;
        Self::stage("a reduction of the ring", x, Stage::Wide)?;
        let (context, params) = (self.context(), self.key.params());
        let (from, to) = (x.basis(context), &context.level(x.level).basis);
        // A level that is entered from above has hints above it.
        let hint = self.key.level_hints(x.level.above()).ring.as_ref().ok_or(Error::Material {
            part: "server key",
            problem: format!("no hint for the ring of level {}", x.level),
        })?;
        let (step, width) = (from.dimension() / to.dimension(), x.parts.len());
        let mut parts = vec![None; step * width];
        for (i, part) in x.parts.iter().enumerate() {
            let mut part = part.clone();
            part.mul_assign(hint)?;
            let part = part.into_coeff();
            for l in 0..step {
                let component = RnsPoly::from_towers(to, |tower, out| {
                    let from = part.tower(tower).iter().skip(l).step_by(step);
                    out.iter_mut().zip(from).for_each(|(out, &x)| *out = x);
                    to.plan(tower).forward(out);
                });
                // m = sum_i Y^i m_i(Y^w) and m_i = sum_l V^l m_il(V^s) with V = Y^w.
                parts[i + width * l] = Some(component);
            }
        }
        let noise = noise::ring_hint(params, x.noise, from.dimension());
        let parts = parts.into_iter().flatten().collect();
        let reduced = Ciphertext { stage: Stage::Ready.at_degree(1), ..x.of_same(parts, noise) };
        self.checked("a reduction of the ring", reduced, "choose parameters with primes of more bits")
    }

    /// The component of a ciphertext in a reduced ring that holds the coefficients `part` modulo their number, alone: the rest of the message becomes 0. The paper keeps
    /// component 0.
    ///
    /// # Errors
    /// [`Error::Material`] for a component there is not; [`Error::KeyMismatch`].
    pub fn component(&self, x: &Ciphertext, part: usize) -> Result<Ciphertext, Error> {
        self.check("the operand", x)?;
        if part >= x.parts.len() {
            let problem = format!("component {part} of {}", x.parts.len());
            return Err(Error::Material { part: "ciphertext", problem });
        }
        let mut alone = x.clone();
        for (i, poly) in alone.parts.iter_mut().enumerate() {
            if i != part {
                *poly = RnsPoly::zero(poly.basis());
            }
        }
        Ok(alone)
    }

    /// Each part times the hint, divided by the level's primes.
    fn switched_parts(
        &self,
        level: Level,
        parts: &[RnsPoly<Eval>],
        hint: &RnsPoly<Eval>,
    ) -> Result<Vec<RnsPoly<Eval>>, Error> {
        let switch = |part: &RnsPoly<Eval>| {
            self.rescaled(level, |i, out| {
                out.copy_from_slice(part.tower(i));
                hint.basis().pointwise(i).multiply(out, hint.tower(i));
            })
        };
        parts.iter().map(switch).collect()
    }

    /// The noise of a product with a hint, if the level's modulus has room for it.
    fn switched_noise(&self, operation: &'static str, x: Noise, hint: &RnsPoly<Eval>) -> Result<Noise, Error> {
        let noise = noise::hint(self.key.params(), x, hint.basis().dimension());
        let limit = noise::limit(self.key.params(), hint.basis().log2_modulus());
        if noise > limit {
            let remedy = "add fewer ciphertexts before, or choose parameters with primes of more bits";
            return Err(Error::Noise { operation, noise, limit, remedy });
        }
        Ok(noise)
    }

    /// ComposedEvalMult without RingReduce. `product` makes the numbers at the level below from those of `x` and `y` and
    /// the hint.
    ///
    /// # Errors
    /// As [`Self::multiply`](Evaluate::multiply); the errors of `product`.
    pub fn multiply_by<P, E: From<Error>>(
        &self,
        x: &Ciphertext<P>,
        y: &Ciphertext<P>,
        product: impl FnOnce(&P, &P, &'a RnsPoly<Eval>) -> Result<P, E>,
    ) -> Result<Ciphertext<P>, E> {
        const WHAT: &str = "a composed product";
        self.pair(WHAT, x, y)?;
        if let Some(degree) = [x.degree(), y.degree()].into_iter().find(|&degree| degree != 1) {
            return Err(Error::Degree { operation: WHAT, degree, max: 1 }.into());
        }
        let hint = self.hint(WHAT, x.level, 2)?;
        let switched = self.switched_noise(WHAT, noise::product(self.key.params(), x.noise, y.noise), hint)?;
        Ok(self.at_next_level(x, switched, product(&x.parts, &y.parts, hint)?)?)
    }

    /// KeySwitch and ModReduce without RingReduce. `lower` makes the numbers at the level below from those of `x` and the
    /// hint.
    ///
    /// # Errors
    /// As [`Self::drop_level`](Evaluate::drop_level); the errors of `lower`.
    pub fn lower_by<P, E: From<Error>>(
        &self,
        x: &Ciphertext<P>,
        lower: impl FnOnce(&P, &'a RnsPoly<Eval>) -> Result<P, E>,
    ) -> Result<Ciphertext<P>, E> {
        const WHAT: &str = "lowering";
        self.check("the operand", x)?;
        Self::stage(WHAT, x, Stage::Ready)?;
        let hint = self.hint(WHAT, x.level, x.degree())?;
        let switched = self.switched_noise(WHAT, x.noise, hint)?;
        Ok(self.at_next_level(x, switched, lower(&x.parts, hint)?)?)
    }

    /// Bootstrapping of a ciphertext at the first level, whose noise is within the limit. `work` makes the numbers of the
    /// result.
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
        let level = self.key().params().bootstrapped_level();
        let parts = work(&x.parts)?;
        Ok(Ciphertext { key: x.key, level, stage: Stage::Ready.at_degree(1), noise: growth.output, parts })
    }

    fn reduce_if_wide(&self, x: Ciphertext) -> Result<Ciphertext, Error> {
        if x.stage() == Stage::Wide { self.ring_reduce(&x) } else { Ok(x) }
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
        // A change of sign adds no noise and takes no transform.
        if value == self.key.params().plaintext_modulus() - 1 {
            return self.negate(x);
        }
        self.multiply_plain(x, &self.key.params().constant_plaintext(value))
    }

    /// EvalAdd: `x + y`, of one level and degree.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`], [`Error::DegreeMismatch`], [`Error::Stage`], [`Error::KeyMismatch`], [`Error::Noise`].
    fn add(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.sum_with("a sum", x, y, RnsPoly::add_assign)
    }

    /// EvalSub: `x - y`, of one level and degree.
    ///
    /// # Errors
    /// As [`Self::add`].
    fn sub(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        self.sum_with("a difference", x, y, RnsPoly::sub_assign)
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

    /// `mu x` for a known polynomial `mu`. Shape: n. Range: `0..p`.
    ///
    /// # Errors
    /// [`Error::Plaintext`], [`Error::Stage`], [`Error::KeyMismatch`], [`Error::Noise`].
    fn multiply_plain(&self, x: &Ciphertext, plaintext: &[u64]) -> Result<Ciphertext, Error> {
        self.multiply_plain_by(x, plaintext, |parts, plaintext| {
            let factor = (0..parts.len()).map(plaintext).collect::<Result<Vec<_>, _>>()?;
            self.context().product(x.level, parts, &factor)
        })
    }

    /// The same message one level below, of degree 1: KeySwitch, ModReduce, and RingReduce where the ring is smaller there.
    ///
    /// # Errors
    /// As of its parts.
    fn drop_level(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        let lowered = self.lower_by(x, |parts, hint| self.switched_parts(x.level, parts, hint))?;
        self.reduce_if_wide(lowered)
    }

    /// ComposedEvalMult: EvalMult, KeySwitch, ModReduce, and RingReduce where the level below has a smaller ring: a product at the level below. The first three
    /// are one pass over the towers.
    ///
    /// # Errors
    /// As of its parts; [`Error::Degree`] unless both have degree 1.
    fn multiply(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        let product = self.multiply_by(x, y, |x_parts, y_parts, hint| {
            let ([x_part], [y_part]) = (x_parts.as_slice(), y_parts.as_slice()) else {
                return self.switched_parts(x.level, &self.context().product(x.level, x_parts, y_parts)?, hint);
            };
            let basis = hint.basis();
            let part = self.rescaled(x.level, |i, out| {
                out.copy_from_slice(x_part.tower(i));
                basis.pointwise(i).multiply_both(out, y_part.tower(i), hint.tower(i));
            })?;
            Ok(vec![part])
        })?;
        self.reduce_if_wide(product)
    }

    /// Bootstrapping: the bit in the constant coefficient, with the noise of [`BootstrapNoise::output`](super::bootstrap::BootstrapNoise::output), at level
    /// [`Params::bootstrapped_level`](crate::ntru::Params::bootstrapped_level). The other coefficients of the message become 0. Takes a ciphertext at any level
    /// and lowers it to the first.
    ///
    /// # Errors
    /// [`Error::NoBootstrapping`] without a bootstrapping key; [`Error::Noise`] for a ciphertext of which the bit might come out wrong;
    /// [`Error::KeyMismatch`].
    fn bootstrap(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        let key = self.bootstrapping()?;
        self.check("the operand", x)?;
        let x = self.automatic().at_bootstrap_level(x, key.plan.growth.limit)?;
        self.bootstrap_by(&x, |parts| {
            let traced = self.trace(key, self.embed(key, &self.round(key, &parts[0])?)?)?;
            Ok(vec![self.highest_digit(key, traced)?])
        })
    }

    fn slot_rotations(&self) -> Option<&dyn RotateSlots<Ciphertext = Ciphertext>> {
        let key = self.key.rotation_key()?;
        let needed = Rotation::all(self.key.params());
        if needed.into_iter().all(|rotation| key.keys(rotation).is_some()) { Some(self) } else { None }
    }
}
