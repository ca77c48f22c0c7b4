//! Plans that all keys and ciphertexts of a parameter set share.

use std::sync::Arc;

use solinas_field::Backend;
use solinas_ring::{Basis, Divisor, Rescale};

use super::switch::Switch;
use super::{Error, Params};
use crate::Level;

/// The plans of a parameter set.
#[derive(Debug)]
pub struct Context {
    pub(super) params: Params,
    pub(super) plaintext: Divisor,
    /// The primes of `Q`, then of `P`. Switching keys are modulo their product.
    pub(super) extended: Basis,
    levels: Vec<LevelPlans>,
}

/// The plans of a level.
#[derive(Debug)]
pub(super) struct LevelPlans {
    pub(super) basis: Basis,
    /// Division by the level's prime. The lowest level has none.
    pub(super) rescale: Option<Rescale>,
    pub(super) switch: Switch,
    /// `f`, by which messages of ready ciphertexts are multiplied.
    pub(super) correction_factor: u64,
}

impl Context {
    pub(super) fn new(params: &Params) -> Result<Arc<Self>, Error> {
        Self::on(params, Backend::detect()?)
    }

    /// Plans for a back end that the caller chooses.
    pub(super) fn on(params: &Params, backend: Backend) -> Result<Arc<Self>, Error> {
        let (p, n) = (params.plaintext_modulus(), params.dimension());
        let plaintext = Divisor::new(p)?;
        let top = Basis::new(n, params.moduli(), backend)?;
        let special = match params.special() {
            [] => None,
            special => Some(Basis::new(n, special, backend)?),
        };
        let extended = special.as_ref().map_or(Ok(top.clone()), |special| top.joined(special))?;
        let mut levels = Vec::with_capacity(params.levels());
        for level in Level::LOWEST.up_to(params.highest_level()).rev() {
            let basis = top.prefix(level.number())?;
            let rescale = if level > Level::LOWEST { Some(Rescale::new(&basis, p)?) } else { None };
            let switch = Switch::new(params, &basis, special.as_ref())?;
            levels.push(LevelPlans { basis, rescale, switch, correction_factor: params.correction_factor(level) });
        }
        levels.reverse();
        Ok(Arc::new(Self { params: params.clone(), plaintext, extended, levels }))
    }

    pub(super) fn level(&self, level: Level) -> &LevelPlans {
        &self.levels[level.index()]
    }

    /// The level above, if there is one.
    pub(super) fn level_above(&self, level: Level) -> Option<&LevelPlans> {
        self.levels.get(level.above().index())
    }

    /// A plaintext polynomial times `factor` modulo `p`, centred.
    pub(super) fn embed(&self, plaintext: &[u64], factor: u64) -> Vec<i64> {
        let m = self.plaintext;
        plaintext.iter().map(|&x| m.centered(m.reduce(x * factor))).collect()
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

    /// Checks that the parameters have a level.
    pub(super) fn check_level(&self, part: &'static str, level: Level) -> Result<(), Error> {
        let levels = self.params.highest_level();
        if level <= levels {
            return Ok(());
        }
        Err(Error::Material { part, problem: format!("level {level} is not in 1..={levels}") })
    }
}
