//! NTRU on a device: sums, products, rotations and bootstraps of ciphertexts, with those of the CPU in every byte.
//!
//! An [`Engine`] holds the hints of a server key on a device. A [`Value`] is a ciphertext whose numbers stay there. The
//! levels, stages and noise of values are those of the [`Evaluator`] of the CPU, which also checks the operands.

mod bootstrap;
mod rotate;

use super::basis::{Ring, refused};
use super::poly::Polys;
use super::rescale::Rescale;
use crate::{Error, Stream};
use bootstrap::Bootstrap;
use rotate::Rotations;
use solinas_ring::{Eval, RnsPoly};
use solinas_schemes::Level;
use solinas_schemes::ntru::{Ciphertext, Evaluator, Rotation, ServerKey, Stage};
use std::sync::Arc;

/// A ciphertext on a device. A clone is the same value.
pub type Value = Ciphertext<Arc<Polys<Eval>>>;

/// The hints of a server key on a device. They are public.
#[derive(Debug)]
pub struct Engine<'k> {
    host: Evaluator<'k>,
    /// The ring of each level, lowest first. They share the tables of the highest one.
    rings: Vec<Ring>,
    /// The keys of level 2 and up.
    keys: Vec<LevelKeys>,
    rotations: Rotations,
    bootstrap: Option<Bootstrap<'k>>,
}

/// What a level above the lowest needs to reach the level below.
#[derive(Debug)]
struct LevelKeys {
    square: Polys<Eval>,
    linear: Polys<Eval>,
    /// The divisions by the primes of the level, in order.
    divisions: Vec<Rescale>,
}

impl<'k> Engine<'k> {
    /// Copies the hints of a key to the device of `stream`. All operations run on this stream.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for parameters with rings of several dimensions; [`Error::Memory`]; the errors of the
    /// device.
    pub fn new(stream: &Arc<Stream>, key: &'k ServerKey) -> Result<Self, Error> {
        let (host, params) = (Evaluator::new(key), key.params());
        let levels: Vec<Level> = (1..=params.levels()).filter_map(Level::new).collect();
        let top = Ring::new(stream, host.basis(params.fresh_level()))?;
        let ring = |&level: &Level| {
            let (basis, ring) = (host.basis(level), top.prefix(host.basis(level).len())?);
            if basis != ring.basis() {
                return Err(Error::Unsupported { params: format!("{} (rings of several dimensions)", params.name()) });
            }
            Ok(ring)
        };
        let rings = levels.iter().map(ring).collect::<Result<Vec<_>, _>>()?;
        // Two hints a level, since no level has a smaller ring.
        let hints: Vec<&RnsPoly<Eval>> = key.hints().collect();
        let keys = hints.chunks_exact(2).zip(&levels[1..]).zip(&rings[1..]).map(|((hints, &level), ring)| {
            let divisions = host.rescales(level).iter().map(|plan| Rescale::new(ring, plan));
            Ok(LevelKeys {
                square: ring.upload(&hints[..1])?,
                linear: ring.upload(&hints[1..])?,
                divisions: divisions.collect::<Result<_, Error>>()?,
            })
        });
        let keys = keys.collect::<Result<_, Error>>()?;
        let bootstrap = key.bootstrap_key().map(|key| Bootstrap::new(key, &host, &rings)).transpose()?;
        Ok(Self { host, keys, rotations: Rotations::new(rings.len()), bootstrap, rings })
    }

    /// The evaluator of the CPU.
    pub fn host(&self) -> Evaluator<'k> {
        self.host
    }

    /// Copies a ciphertext to the device.
    ///
    /// # Errors
    /// [`Error::Scheme`] for a ciphertext of another key; [`Error::Memory`]; the errors of the device.
    pub fn load(&self, x: &Ciphertext) -> Result<Value, Error> {
        self.host.check("the ciphertext", x)?;
        let ring = &self.rings[x.level().index()];
        x.moved(|parts| Ok(Arc::new(ring.upload(&parts.iter().collect::<Vec<_>>())?)))
    }

    /// Copies a value from the device, after the operations that make it.
    ///
    /// # Errors
    /// The errors of the device, and of the operations.
    pub fn store(&self, x: &Value) -> Result<Ciphertext, Error> {
        x.moved(|parts| parts.download())
    }

    /// As [`Evaluator::add`](solinas_schemes::Evaluate::add).
    ///
    /// # Errors
    /// [`Error::Scheme`] as there; [`Error::Memory`]; the errors of the device.
    pub fn add(&self, x: &Value, y: &Value) -> Result<Value, Error> {
        self.host.sum_by("a sum", x, y, |x, y| x.plus(y).map(Arc::new))
    }

    /// As [`Evaluator::sub`](solinas_schemes::Evaluate::sub).
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn sub(&self, x: &Value, y: &Value) -> Result<Value, Error> {
        self.host.sum_by("a difference", x, y, |x, y| x.minus(y).map(Arc::new))
    }

    /// As [`Evaluator::negate`](solinas_schemes::Evaluate::negate).
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn negate(&self, x: &Value) -> Result<Value, Error> {
        self.host.check("the operand", x)?;
        x.moved(|parts| parts.scaled(-1).map(Arc::new))
    }

    /// As [`Evaluator::add_plain`].
    ///
    /// # Errors
    /// [`Error::Scheme`] as there; [`Error::Memory`]; the errors of the device.
    pub fn add_plain(&self, x: &Value, plaintext: &[u64]) -> Result<Value, Error> {
        self.host.add_plain_by(x, plaintext, |parts, plaintext| {
            parts.plus(&parts.ring().upload(&[&plaintext(0)?])?).map(Arc::new)
        })
    }

    /// As [`Evaluator::multiply_plain`](solinas_schemes::Evaluate::multiply_plain).
    ///
    /// # Errors
    /// As [`Self::add_plain`].
    pub fn multiply_plain(&self, x: &Value, plaintext: &[u64]) -> Result<Value, Error> {
        self.host.multiply_plain_by(x, plaintext, |parts, plaintext| {
            parts.times(&parts.ring().upload(&[&plaintext(0)?])?).map(Arc::new)
        })
    }

    /// As [`Evaluator::permute_slots`].
    ///
    /// # Errors
    /// As [`Self::add_plain`].
    pub fn permute_slots(&self, x: &Value, rotation: Rotation) -> Result<Value, Error> {
        self.rotations.apply(&self.host, &self.rings[x.level().index()], x, rotation)
    }

    /// As [`Evaluator::bootstrap`](solinas_schemes::Evaluate::bootstrap): lowers the value to the first level, and
    /// bootstraps its bit. The processor rounds the coefficients in between.
    ///
    /// # Errors
    /// As [`Self::add_plain`].
    pub fn bootstrap(&self, x: &Value) -> Result<Value, Error> {
        let Some(bootstrap) = &self.bootstrap else {
            // The error of the processor.
            return self.host.bootstrap_by(x, |parts| Ok(Arc::clone(parts)));
        };
        let mut x = x.clone();
        while x.stage() == Stage::Ready && x.level() > Level::LOWEST {
            x = self.drop_level(&x)?;
        }
        self.host.bootstrap_by(&x, |parts| bootstrap.run(self, parts).map(Arc::new))
    }

    /// ComposedEvalMult, as [`Evaluator::multiply`](solinas_schemes::Evaluate::multiply): product, key switch and
    /// division by the primes of the level.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn multiply(&self, x: &Value, y: &Value) -> Result<Value, Error> {
        self.host.multiply_by(x, y, |parts, others, _| {
            let mut product = parts.times(others)?;
            let keys = &self.keys[x.level().index() - 1];
            product.mul_assign(&keys.square)?;
            keys.divide(product).map(Arc::new)
        })
    }

    /// The same message one level below, as [`Evaluator::drop_level`](solinas_schemes::Evaluate::drop_level).
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn drop_level(&self, x: &Value) -> Result<Value, Error> {
        self.host.lower_by(x, |parts, _| {
            let keys = &self.keys[x.level().index() - 1];
            let hint = if x.degree() == 1 { &keys.linear } else { &keys.square };
            keys.divide(parts.times(hint)?).map(Arc::new)
        })
    }
}

impl LevelKeys {
    /// Divides by the primes of the level.
    fn divide(&self, x: Polys<Eval>) -> Result<Polys<Eval>, Error> {
        self.divisions.iter().try_fold(x, |x, division| division.apply(x))
    }
}
