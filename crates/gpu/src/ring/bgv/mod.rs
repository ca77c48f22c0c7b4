//! BGV on a device: sums, products, rotations and bootstraps of ciphertexts. Every byte of the results is that of the
//! CPU.
//!
//! An [`Engine`] holds the keys of a server on a device: the back end of an [`Evaluator`](solinas_schemes::bgv::Evaluator), which checks the operands and
//! states the levels and the noise. A [`Value`] is a ciphertext whose numbers stay there.

mod bootstrap;
mod numbers;
mod switch;

use super::basis::{Ring, TABLES, refused};
use super::hybrid::Keys;
use super::numbers::Parts;
use super::poly::{Permutation, Polys};
use super::rescale::Rescale;
use crate::{Error, Stream};
use bootstrap::Bootstrap;
use solinas_ring::{Automorphism, Eval};
use solinas_schemes::Level;
use solinas_schemes::bgv::{Ciphertext, ServerKey};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use switch::Switch;

/// A ready ciphertext of two parts on a device. A clone is the same value.
pub type Value = Ciphertext<Parts>;

/// The keys of a server on a device. They are public.
#[derive(Debug)]
pub struct Engine {
    key: Arc<ServerKey>,
    /// The ring of each level, lowest first. They share the tables of the highest one.
    rings: Vec<Ring>,
    /// The ring of the primes of keys.
    extended: Ring,
    switches: Vec<Switch>,
    /// The divisions by the prime of each level from the second on.
    rescales: Vec<Rescale>,
    relinearization: Keys,
    /// The automorphisms that were used, by exponent.
    rotations: Mutex<BTreeMap<usize, Arc<(Permutation, Keys)>>>,
    bootstrap: Option<Bootstrap>,
}

impl Engine {
    /// Copies the relinearization key and the bootstrapping key to the device of `stream`. The first rotation of each kind
    /// copies its key. All operations run on this stream.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for parameters whose digits are bits of towers; [`Error::Memory`]; the errors of the device.
    pub fn new(stream: &Arc<Stream>, key: Arc<ServerKey>) -> Result<Self, Error> {
        let params = key.params();
        let highest = params.highest_level();
        stream.device().check_memory(
            format!("a server key of {}", params.name()),
            Self::size_of(&key),
            "take the device cpu",
        )?;
        let unsupported = || Error::Unsupported { params: format!("{} (digits of bits)", params.name()) };
        let plans = |level| key.key_switch(level).ok_or_else(unsupported);
        let extended = Ring::new(stream, plans(highest)?.0.extended())?;
        let levels = || Level::LOWEST.up_to(highest);
        let rings: Vec<Ring> = levels().map(|level| extended.prefix(level.number())).collect::<Result<_, _>>()?;
        let of_level = |level: Level| {
            let below = level.below().map(|below| &rings[below.index()]);
            Switch::new(&rings[level.index()], below, plans(level)?)
        };
        let switches: Vec<Switch> = levels().map(of_level).collect::<Result<_, Error>>()?;
        let rescales =
            levels().filter_map(|level| key.rescale(level).map(|plan| Rescale::new(&rings[level.index()], plan)));
        let bootstrap = key.bootstrap_key();
        Ok(Self {
            rescales: rescales.collect::<Result<_, _>>()?,
            relinearization: switch::key(&extended, key.relinearization())?,
            bootstrap: bootstrap.map(|key| Bootstrap::new(key, params, (&rings, &switches), &extended)).transpose()?,
            rotations: Mutex::default(),
            rings,
            extended,
            switches,
            key,
        })
    }

    /// Approximate bytes that a key takes on a device, with the work of one product. Keys of rotations come on top.
    pub fn size_of(key: &ServerKey) -> u64 {
        let highest = key.params().highest_level();
        let extended = |level| key.key_switch(level).map_or(0, |(plan, ..)| plan.extended().words());
        // Each level has tables of its own.
        let tables = TABLES * (extended(highest) + Level::LOWEST.up_to(highest).map(extended).sum::<usize>());
        let rows = key.relinearization().rows();
        let relinearization: usize = rows.iter().flatten().map(|part| size_of_val(part.words())).sum();
        // Two operands and a product have two parts each. There are as many polynomials of digits as rows of the key.
        let work = 8 * extended(highest) * (6 + rows.len());
        (tables + relinearization + key.bootstrap_key().map_or(0, |key| key.bytes()) + work) as u64
    }

    /// A product of three parts, relinearized and divided by the prime of its level, which is not the lowest one.
    fn relinearized(&self, level: Level, low: &Polys<Eval>, high: &Polys<Eval>) -> Result<Polys<Eval>, Error> {
        let switch = &self.switches[level.index()];
        let lowest = || Error::Unsupported { params: "products at the lowest level".into() };
        let both = switch.both.as_ref().ok_or_else(lowest)?;
        both.apply(switch.sums(&self.relinearization, high, low)?)
    }

    /// The automorphism and its key on the device.
    fn rotation(&self, exponent: usize) -> Result<Arc<(Permutation, Keys)>, Error> {
        let mut rotations = self.rotations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = rotations.get(&exponent) {
            return Ok(Arc::clone(entry));
        }
        let automorphism = Automorphism::new(self.extended.basis(), exponent).map_err(refused)?;
        let key = switch::key(&self.extended, self.key.rotation(exponent)?)?;
        let entry = Arc::new((Permutation::new(&self.extended, &automorphism)?, key));
        rotations.insert(exponent, Arc::clone(&entry));
        Ok(entry)
    }
}
