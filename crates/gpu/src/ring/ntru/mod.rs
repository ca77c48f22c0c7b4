//! NTRU on a device: sums, products, rotations and bootstraps of ciphertexts. Every byte of the results is that of the
//! CPU.
//!
//! An [`Engine`] holds the hints of a server key on a device: the back end of an
//! [`Evaluator`](solinas_schemes::ntru::Evaluator), which checks the operands and states the levels, stages and noise. A
//! [`Value`] is a ciphertext whose numbers stay there.

mod bootstrap;
mod numbers;
mod rotate;

use super::basis::{Ring, TABLES, refused};
use super::numbers::Parts;
use super::poly::Polys;
use super::rescale::Rescale;
use crate::{Error, Stream};
use bootstrap::Bootstrap;
use rotate::Rotations;
use solinas_ring::{Eval, RnsPoly};
use solinas_schemes::Level;
use solinas_schemes::ntru::{Ciphertext, ServerKey};
use std::sync::Arc;

/// A ciphertext on a device. A clone is the same value.
pub type Value = Ciphertext<Parts>;

/// The hints of a server key on a device. They are public.
#[derive(Debug)]
pub struct Engine {
    key: Arc<ServerKey>,
    /// The ring of each level, lowest first. They share the tables of the highest one.
    rings: Vec<Ring>,
    /// The keys of level 2 and up.
    keys: Vec<LevelKeys>,
    rotations: Rotations,
    bootstrap: Option<Bootstrap>,
}

/// The keys and divisions by which a value at a level above the lowest reaches the level below.
#[derive(Debug)]
struct LevelKeys {
    square: Polys<Eval>,
    linear: Polys<Eval>,
    /// The divisions by the primes of the level, in order.
    divisions: Vec<Rescale>,
}

impl Engine {
    /// Copies the hints of a key to the device of `stream`. All operations run on this stream.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for parameters with rings of several dimensions; [`Error::Memory`]; the errors of the
    /// device.
    pub fn new(stream: &Arc<Stream>, key: Arc<ServerKey>) -> Result<Self, Error> {
        let params = key.params();
        let levels: Vec<Level> = (1..=params.levels()).filter_map(Level::new).collect();
        stream.device().check_memory(
            format!("a server key of {}", params.name()),
            Self::size_of(&key),
            "take the device cpu",
        )?;
        let top = Ring::new(stream, key.basis(params.fresh_level()))?;
        let ring = |&level: &Level| {
            let (basis, ring) = (key.basis(level), top.prefix(key.basis(level).len())?);
            if basis != ring.basis() {
                return Err(Error::Unsupported { params: format!("{} (rings of several dimensions)", params.name()) });
            }
            Ok(ring)
        };
        let rings = levels.iter().map(ring).collect::<Result<Vec<_>, _>>()?;
        // Two hints a level, since no level has a smaller ring.
        let hints: Vec<&RnsPoly<Eval>> = key.hints().collect();
        let keys = hints.chunks_exact(2).zip(&levels[1..]).zip(&rings[1..]).map(|((hints, &level), ring)| {
            let divisions = key.rescales(level).iter().map(|plan| Rescale::new(ring, plan));
            Ok(LevelKeys {
                square: ring.upload(&hints[..1])?,
                linear: ring.upload(&hints[1..])?,
                divisions: divisions.collect::<Result<_, Error>>()?,
            })
        });
        let keys = keys.collect::<Result<_, Error>>()?;
        let bootstrap = key.bootstrap_key().map(|key| Bootstrap::new(key, params, &rings)).transpose()?;
        Ok(Self { keys, rotations: Rotations::new(rings.len()), bootstrap, rings, key })
    }

    /// Approximate bytes that a key takes on a device, with the work of one product. Keys of rotations come on top.
    pub fn size_of(key: &ServerKey) -> u64 {
        let top = key.basis(key.params().fresh_level()).words();
        let hints: usize = key.hints().map(|hint| hint.words().len()).sum();
        let bootstrap = key.bootstrap_key().map_or(0, |key| key.bytes() + TABLES * key.switch().0.extended().words());
        // A product has two operands, a result, and one intermediate number.
        (TABLES * top + 8 * (hints + 4 * top) + bootstrap) as u64
    }
}

impl LevelKeys {
    /// Divides by the primes of the level.
    fn divide(&self, x: Polys<Eval>) -> Result<Polys<Eval>, Error> {
        self.divisions.iter().try_fold(x, |x, division| division.apply(x))
    }
}
