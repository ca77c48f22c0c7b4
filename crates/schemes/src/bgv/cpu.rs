//! The processor as a back end, and the operations that it alone has: products in single steps.

use std::borrow::Cow;

use solinas_ring::{Automorphism, Basis, Eval, Hybrid, Rescale, RnsPoly, SwitchDown};

use super::context::LevelPlans;
use super::evaluate::LOWER;
use super::{Bgv, Ciphertext, Error, Evaluator, ServerKey, Stage};
use crate::Level;
use crate::leveled::{Numbers, RingScheme};

type Poly = RnsPoly<Eval>;

impl RingScheme for Bgv {
    /// The exponent.
    type Rotation = usize;
}

impl Numbers<Bgv> for &ServerKey {
    /// A ready ciphertext of two parts.
    fn normalize<'x>(&self, x: &'x Ciphertext) -> Result<Cow<'x, Ciphertext>, Error> {
        let (evaluator, mut x) = (Evaluator::new(self), Cow::Borrowed(x));
        if x.parts.len() > 2 {
            x = Cow::Owned(evaluator.relinearize(&x)?);
        }
        if x.stage == Stage::Product {
            x = Cow::Owned(evaluator.modulus_switch(&x)?);
        }
        Ok(x)
    }

    fn multiply_plain(&self, x: &Ciphertext, plain: &[Poly]) -> Result<Vec<Poly>, Error> {
        let mut parts = x.parts.clone();
        parts.iter_mut().try_for_each(|part| part.mul_assign(&plain[0]))?;
        Ok(parts)
    }

    fn dot(&self, x: &[&Ciphertext], y: &[&Ciphertext]) -> Result<Vec<Poly>, Error> {
        let LevelPlans { basis, switch, .. } = self.public().context().level(x[0].level);
        let tensor = Tensor::of(x, y);
        let (high, low) =
            (|i, out: &mut [u64]| tensor.high(basis, i, out), |i, out: [&mut [u64]; 2]| tensor.low(basis, i, out));
        Ok(switch.apply(self.relinearization(), true, high, low)?.into())
    }

    fn lower(&self, x: &Ciphertext) -> Result<Vec<Poly>, Error> {
        Ok(self.divided(x, self.lowering_factor(x.level)))
    }

    fn rotate(&self, x: &Ciphertext, exponent: usize) -> Result<Vec<Poly>, Error> {
        let LevelPlans { basis, switch, .. } = self.public().context().level(x.level);
        let (automorphism, key) = (Automorphism::new(basis, exponent)?, self.rotation(exponent)?);
        let switched = switch.apply(
            key,
            false,
            |i, out| automorphism.permute(x.parts[1].tower(i), out),
            |i, [b, _]| automorphism.permute(x.parts[0].tower(i), b),
        )?;
        Ok(switched.into())
    }

    fn bootstrap(&self, x: &Ciphertext) -> Result<Vec<Poly>, Error> {
        let (key, evaluator) = (self.bootstrapping()?, Evaluator::new(self));
        let rounded = evaluator.round(key, evaluator.under_sparse(key, &x.parts)?);
        let traced = evaluator.trace(key, evaluator.embed(key, &rounded))?;
        Ok(evaluator.highest_digits(key, &traced, |_| ())?.into())
    }
}

impl ServerKey {
    /// Basis of the ciphertexts of a level.
    pub fn basis(&self, level: Level) -> &Basis {
        &self.public().context().level(level).basis
    }

    /// The division by the prime of a level. The lowest level has none.
    pub fn rescale(&self, level: Level) -> Option<&Rescale> {
        self.public().context().level(level).rescale.as_ref()
    }

    /// The key switch of a level: its decomposition, the division by `P`, and that by `P` and the prime of the level, which
    /// the lowest one does not have. `None` for parameters whose digits are bits of towers.
    pub fn key_switch(&self, level: Level) -> Option<(&Hybrid, &SwitchDown, Option<&SwitchDown>)> {
        self.public().context().level(level).switch.by_groups()
    }

    /// The parts, times an integer, divided by the level's prime.
    fn divided(&self, x: &Ciphertext, factor: i64) -> Vec<Poly> {
        let LevelPlans { rescale, basis, .. } = self.public().context().level(x.level);
        let divide = |part: &Poly| {
            let rescale = rescale.as_ref()?;
            Some(rescale.apply_to(|i, out| {
                out.copy_from_slice(part.tower(i));
                if factor != 1 {
                    let q = basis.modulus(i);
                    basis.pointwise(i).scale(out, q.shoup(q.reduce_i64(factor)));
                }
            }))
        };
        x.parts.iter().filter_map(divide).collect()
    }
}

impl Evaluator<'_> {
    /// `x y` of three parts, to be relinearized and reduced.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`], [`Error::Parts`], [`Error::Stage`], [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn tensor(&self, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        let product = self.product(x, y)?;
        let (basis, tensor) = (self.key().basis(x.level), Tensor::of(&[x], &[y]));
        let [first, second] = RnsPoly::two_from_towers(basis, 0, |i, out, _| tensor.low(basis, i, out));
        let third = RnsPoly::from_towers(basis, |i, out| tensor.high(basis, i, out));
        Ok(product.with(vec![first, second, third]))
    }

    /// A ciphertext of two parts from one of three: one key switch.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn relinearize(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        self.check("the operand", x)?;
        let [first, second, third] = x.parts.as_slice() else { return Ok(x.clone()) };
        let noise = self.key().params().switched(x.noise, x.level);
        let relinearized = self.result("a relinearization", x, noise, LOWER)?;
        let parts = self.context().level(x.level).switch.apply(
            self.key().relinearization(),
            false,
            |i, out| out.copy_from_slice(third.tower(i)),
            |i, [b, a]| {
                b.copy_from_slice(first.tower(i));
                a.copy_from_slice(second.tower(i));
            },
        )?;
        Ok(relinearized.with(parts.into()))
    }

    /// ModReduce: divides a product by the level's prime, and the noise with it; the result is ready at the level below.
    ///
    /// # Errors
    /// [`Error::Stage`] unless it is a product; [`Error::OutOfLevels`], [`Error::KeyMismatch`], [`Error::Noise`].
    pub fn modulus_switch(&self, x: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(self.reduced(x)?.with(self.key().divided(x, 1)))
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

    fn of(x: &[&'x Ciphertext], y: &[&'x Ciphertext]) -> Self {
        let parts = |x: &'x Ciphertext| [&x.parts[0], &x.parts[1]];
        Self { terms: x.iter().zip(y).map(|(x, y)| [parts(x), parts(y)]).collect() }
    }

    /// Tower `i` of `sum x_1 y_1`.
    pub(super) fn high(&self, basis: &Basis, i: usize, out: &mut [u64]) {
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
    pub(super) fn low(&self, basis: &Basis, i: usize, [first, second]: [&mut [u64]; 2]) {
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
