//! Plans that all keys and ciphertexts of a parameter set share.

use std::sync::Arc;

use solinas_field::Backend;
use solinas_ring::{Basis, Divisor, Eval, MixedRadix, Rescale, RnsPoly};

use super::decrypt::Secret;
use super::{Error, Params};
use crate::Level;
use crate::canonical_embedding;

/// The plans of a parameter set.
#[derive(Debug)]
pub struct Context {
    pub(super) params: Params,
    pub(super) plaintext: Divisor,
    levels: Vec<LevelPlans>,
}

/// The plans of a level.
#[derive(Debug)]
pub(super) struct LevelPlans {
    /// The level's modulus in its own dimension.
    pub(super) basis: Basis,
    /// The level's modulus in the dimension of the level above.
    pub(super) wide: Basis,
    /// From `basis` to the wide basis of the level below, one prime after the other. Empty at level 1.
    pub(super) rescales: Vec<Rescale>,
    /// `X` of the level's own ring.
    variable: RnsPoly<Eval>,
}

impl Context {
    pub(super) fn new(params: &Params) -> Result<Arc<Self>, Error> {
        Self::with_backend(params, Backend::detect()?)
    }

    pub(super) fn with_backend(params: &Params, backend: Backend) -> Result<Arc<Self>, Error> {
        let p = params.plaintext_modulus();
        let mut levels: Vec<LevelPlans> = Vec::new();
        for level in Level::LOWEST.up_to(params.fresh_level()) {
            let moduli = &params.moduli()[..params.towers(level)];
            let basis = Basis::new(params.dimension_at(level), moduli, backend)?;
            let wide = if params.wide_dimension_at(level) == basis.dimension() {
                basis.clone()
            } else {
                Basis::new(params.wide_dimension_at(level), moduli, backend)?
            };
            let mut rescales = Vec::new();
            if let Some(below) = level.below() {
                let mut from = basis.clone();
                while from.len() > params.towers(below) {
                    rescales.push(Rescale::new(&from, p)?);
                    from = from.prefix(from.len() - 1)?;
                }
            }
            let mut x = vec![0; basis.dimension()];
            x[1] = 1;
            let variable = RnsPoly::from_signed(&basis, &x)?.into_eval();
            levels.push(LevelPlans { basis, wide, rescales, variable });
        }
        Ok(Arc::new(Self { params: params.clone(), plaintext: Divisor::new(p)?, levels }))
    }

    pub(super) fn level(&self, level: Level) -> &LevelPlans {
        &self.levels[level.index()]
    }

    /// Parts of a ciphertext in a ring of that dimension.
    pub(super) fn parts(&self, dimension: usize) -> usize {
        self.params.dimension() / dimension
    }

    /// A plaintext polynomial's part `part` of those of `basis`, centred: its coefficients `part` modulo the number of parts.
    pub(super) fn embed(&self, plaintext: &[u64], basis: &Basis, part: usize) -> Result<RnsPoly<Eval>, Error> {
        let step = self.parts(basis.dimension());
        let coefficients: Vec<i64> =
            plaintext.iter().skip(part).step_by(step).map(|&x| self.plaintext.centered(x)).collect();
        Ok(RnsPoly::from_signed(basis, &coefficients)?.into_eval())
    }

    /// All parts of a plaintext polynomial, as [`Self::embed`] makes them.
    pub(super) fn embed_parts(&self, plaintext: &[u64], basis: &Basis) -> Result<Vec<RnsPoly<Eval>>, Error> {
        (0..self.parts(basis.dimension())).map(|part| self.embed(plaintext, basis, part)).collect()
    }

    /// `log2` of the canonical norm of a centred plaintext.
    pub(super) fn log2_norm(&self, plaintext: &[u64]) -> f64 {
        canonical_embedding::log2_canonical_norm(
            &plaintext.iter().map(|&x| self.plaintext.centered(x)).collect::<Vec<_>>(),
        )
    }

    /// Checks that it is a polynomial of the plaintext space.
    pub(super) fn check_plaintext(&self, plaintext: &[u64]) -> Result<(), Error> {
        let (want, modulus) = (self.params.dimension(), self.params.plaintext_modulus());
        let error = |problem: String| Err(Error::Plaintext { want, modulus, problem });
        if plaintext.len() != want {
            return error(format!("{} given", plaintext.len()));
        }
        match plaintext.iter().position(|&x| x >= modulus) {
            Some(index) => error(format!("number {index} is larger")),
            None => Ok(()),
        }
    }

    /// Product of polynomials in parts, `sum_i Y^i a_i(Y^w)`: `Y^w` is the variable of the parts' ring.
    pub(super) fn product(
        &self,
        level: Level,
        a: &[RnsPoly<Eval>],
        b: &[RnsPoly<Eval>],
    ) -> Result<Vec<RnsPoly<Eval>>, Error> {
        let LevelPlans { basis, variable, .. } = self.level(level);
        if let ([a], [b]) = (a, b) {
            let mut product = a.clone();
            product.mul_assign(b)?;
            return Ok(vec![product]);
        }
        let width = a.len();
        (0..width)
            .map(|k| {
                // The products that wrap around are multiplied by the variable. The others are added then.
                let mut sum = RnsPoly::zero(basis);
                for i in k + 1..width {
                    sum.add_product(&a[i], &b[k + width - i])?;
                }
                if k + 1 < width {
                    sum.mul_assign(variable)?;
                }
                for i in 0..=k {
                    sum.add_product(&a[i], &b[k - i])?;
                }
                Ok(sum)
            })
            .collect()
    }

    /// Decryption's last step: parts in the coefficients of the plaintext.
    pub(super) fn decode(&self, basis: &Basis, parts: &[Secret]) -> Result<Vec<u64>, Error> {
        let (plan, step) = (MixedRadix::new(basis), parts.len());
        let mut out = vec![0; self.params.dimension()];
        for (part, poly) in parts.iter().enumerate() {
            let message = zeroize::Zeroizing::new(plan.centered_mod(poly, self.plaintext)?);
            out.iter_mut().skip(part).step_by(step).zip(message.iter()).for_each(|(out, &x)| *out = x);
        }
        Ok(out)
    }
}
