//! The processor as a back end, and the operations that it alone has: products in single steps.

use std::borrow::Cow;

use solinas_ring::{Basis, Eval, Rescale, RnsPoly};

use super::evaluate::{MAX_DEGREE, WIDER};
use super::{Ciphertext, Error, Evaluator, Ntru, Rotation, ServerKey, Stage, noise};
use crate::Level;
use crate::leveled::evaluator::Head;
use crate::leveled::{Numbers, Polynomials as _, RingScheme};

type Poly = RnsPoly<Eval>;

impl RingScheme for Ntru {
    type Rotation = Rotation;
}

impl Numbers<Ntru> for &ServerKey {
    /// A ready ciphertext.
    fn normalize<'x>(&self, x: &'x Ciphertext) -> Result<Cow<'x, Ciphertext>, Error> {
        let (evaluator, mut x) = (Evaluator::new(self), Cow::Borrowed(x));
        if x.stage() == Stage::Switched {
            x = Cow::Owned(evaluator.modulus_switch(&x)?);
        }
        if x.stage() == Stage::Wide {
            x = Cow::Owned(evaluator.ring_reduce(&x)?);
        }
        Ok(x)
    }

    fn multiply_plain(&self, x: &Ciphertext, plain: &[Poly]) -> Result<Vec<Poly>, Error> {
        self.public().context().product(x.level, &x.parts, plain)
    }

    fn dot(&self, x: &[&Ciphertext], y: &[&Ciphertext]) -> Result<Vec<Poly>, Error> {
        let (level, context) = (x[0].level, self.public().context());
        let hint = &self.level_hints(level).square;
        let parts = if let ([x], [y]) = (x, y)
            && let ([x], [y]) = (x.parts.as_slice(), y.parts.as_slice())
        {
            let product = |i: usize, out: &mut [u64]| {
                out.copy_from_slice(x.tower(i));
                hint.basis().pointwise(i).multiply_both(out, y.tower(i), hint.tower(i));
            };
            vec![self.rescaled(level, product)?]
        } else {
            let mut products = x.iter().zip(y).map(|(x, y)| context.product(level, &x.parts, &y.parts));
            let first = products.next().unwrap_or_else(|| Ok(Vec::new()));
            let sum = products.try_fold(first?, |sum, product| sum.plus(&product?))?;
            self.switched(level, &sum, hint)?
        };
        self.in_ring_below(level, parts)
    }

    fn lower(&self, x: &Ciphertext) -> Result<Vec<Poly>, Error> {
        let hint = self.hint("lowering", x.level, x.degree())?;
        self.in_ring_below(x.level, self.switched(x.level, &x.parts, hint)?)
    }

    fn rotate(&self, x: &Ciphertext, rotation: Rotation) -> Result<Vec<Poly>, Error> {
        Ok(vec![self.slot_switch(rotation, x.level)?.apply(&x.parts[0])?])
    }

    fn bootstrap(&self, x: &Ciphertext) -> Result<Vec<Poly>, Error> {
        let (key, evaluator) = (self.bootstrapping()?, Evaluator::new(self));
        let embedded = evaluator.embed(key, &evaluator.round(key, &x.parts[0])?)?;
        Ok(vec![evaluator.highest_digit(key, evaluator.trace(key, embedded)?)?])
    }
}

impl ServerKey {
    /// Basis of the ciphertexts of a level.
    pub fn basis(&self, level: Level) -> &Basis {
        &self.public().context().level(level).basis
    }

    /// The divisions by the primes of a level, in order. The lowest level has none.
    pub fn rescales(&self, level: Level) -> &[Rescale] {
        &self.public().context().level(level).rescales
    }

    /// The polynomial with those towers, divided by the level's primes.
    pub(super) fn rescaled(
        &self,
        level: Level,
        tower: impl Fn(usize, &mut [u64]) + Send + Sync,
    ) -> Result<RnsPoly<Eval>, Error> {
        let mut rescales = self.rescales(level).iter();
        let first = rescales.next().ok_or(Error::OutOfLevels {
            operation: "a reduction of the modulus",
            level,
            depth: self.params().depth(),
        })?;
        rescales.try_fold(first.apply_to(tower), |poly, rescale| Ok(rescale.apply(&poly)?))
    }

    /// Each part times the hint, divided by the level's primes.
    fn switched(&self, level: Level, parts: &[Poly], hint: &Poly) -> Result<Vec<Poly>, Error> {
        let switch = |part: &Poly| {
            self.rescaled(level, |i, out| {
                out.copy_from_slice(part.tower(i));
                hint.basis().pointwise(i).multiply(out, hint.tower(i));
            })
        };
        parts.iter().map(switch).collect()
    }

    /// Parts that were divided by the primes of a level, in the ring of the level below.
    fn in_ring_below(&self, level: Level, parts: Vec<Poly>) -> Result<Vec<Poly>, Error> {
        let (below, params) = (level.lowered(1), self.params());
        let wide = params.dimension_at(below) < params.wide_dimension_at(below);
        if wide { self.in_own_ring(below, &parts) } else { Ok(parts) }
    }

    /// Parts in the ring of the level above, cut to the ring of the level: a product with a hint, then each part is cut into its coefficients of the same place
    /// modulo the factor between the rings.
    fn in_own_ring(&self, level: Level, parts: &[Poly]) -> Result<Vec<Poly>, Error> {
        let to = self.basis(level);
        // A level that is entered from above has hints above it.
        let hint = self
            .level_hints(level.above())
            .ring
            .as_ref()
            .ok_or(Error::Material { part: "server key", problem: format!("no hint for the ring of level {level}") })?;
        let (step, width) = (hint.basis().dimension() / to.dimension(), parts.len());
        let mut cut = vec![None; step * width];
        for (i, part) in parts.iter().enumerate() {
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
                cut[i + width * l] = Some(component);
            }
        }
        Ok(cut.into_iter().flatten().collect())
    }
}

impl Evaluator<'_> {
    /// EvalMult: `x y`, of the sum of their degrees; [`Self::key_switch`] makes it one of degree 1.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`], [`Error::Degree`], [`Error::Stage`], [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn multiply_without_switch(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        const WHAT: &str = "a product";
        self.pair(WHAT, x, y)?;
        let degree = x.degree() + y.degree();
        if degree > MAX_DEGREE {
            return Err(Error::Degree { operation: WHAT, degree, max: MAX_DEGREE });
        }
        let noise = noise::product(self.key().params(), x.noise, y.noise);
        let product = self.result(WHAT, x, noise, "switch keys and reduce the modulus between products")?;
        let product = Head { stage: Stage::Ready.at_degree(degree), ..product };
        Ok(product.with(self.context().product(x.level, &x.parts, &y.parts)?))
    }

    /// KeySwitch: degree 1 or 2 under `f_j` to degree 1 under `f_(j-1)`, still modulo `Q_j`: one product with a hint.
    ///
    /// # Errors
    /// [`Error::OutOfLevels`], [`Error::Degree`], [`Error::Stage`], [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn key_switch(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        const WHAT: &str = "a key switch";
        self.check("the operand", x)?;
        Self::stage(WHAT, x, Stage::Ready)?;
        let hint = self.key().hint(WHAT, x.level, x.degree())?;
        let noise = noise::hint(self.key().params(), x.noise, hint.basis().dimension());
        let switched = Head { stage: Stage::Switched.at_degree(1), ..self.result(WHAT, x, noise, WIDER)? };
        let mut parts = x.parts.clone();
        parts.iter_mut().try_for_each(|part| part.mul_assign(hint))?;
        Ok(switched.with(parts))
    }

    /// ModReduce: divides by the level's primes, and the noise with them; the result is at the level below.
    ///
    /// # Errors
    /// [`Error::Stage`] unless the key was switched; [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn modulus_switch(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check("the operand", x)?;
        Self::stage("a reduction of the modulus", x, Stage::Switched)?;
        let divided = self.divided(x, x.noise)?;
        let rescale = |part: &Poly| self.key().rescaled(x.level, |i, out| out.copy_from_slice(part.tower(i)));
        Ok(divided.with(x.parts.iter().map(rescale).collect::<Result<_, _>>()?))
    }

    /// RingReduce: to the level's smaller ring, all components kept.
    ///
    /// # Errors
    /// [`Error::Stage`] unless the modulus was reduced into a level of a smaller ring; [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn ring_reduce(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check("the operand", x)?;
        Self::stage("a reduction of the ring", x, Stage::Wide)?;
        let reduced = self.in_own_ring(x)?;
        Ok(reduced.with(self.key().in_own_ring(x.level, &x.parts)?))
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
}
