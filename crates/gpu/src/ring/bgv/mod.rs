//! BGV on a device: sums, products, rotations and bootstraps of ciphertexts. Every byte of the results is that of the
//! CPU.
//!
//! An [`Engine`] holds the keys of a server on a device, and implements [`Evaluate`](solinas_schemes::Evaluate). A
//! [`Value`] is a ciphertext whose numbers stay there. The levels and the noise of values are those of the [`Evaluator`] of
//! the CPU, which also checks the operands.

mod bootstrap;
mod evaluate;
mod switch;

use super::basis::{Ring, TABLES, refused};
use super::hybrid::Keys;
use super::poly::{Permutation, Polys};
use super::rescale::Rescale;
use crate::{Error, Stream};
use bootstrap::Bootstrap;
use solinas_ring::{Automorphism, Eval};
use solinas_schemes::bgv::{self, Ciphertext, Evaluator, ServerKey, Stage, SwitchKey};
use solinas_schemes::{Error as SchemeError, Level};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use switch::Switch;

/// Both parts of a ciphertext on a device. A clone is the same polynomials.
#[derive(Debug, Clone)]
pub struct Parts(Arc<Polys<Eval>>);

impl Parts {
    /// Bytes on the device.
    pub fn bytes(&self) -> usize {
        8 * self.0.items() * self.0.ring().basis().words()
    }
}

impl bgv::Parts for Parts {
    fn count(&self) -> usize {
        self.0.items()
    }
}

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
        let (host, params) = (Evaluator::new(&key), key.params());
        let highest = params.highest_level();
        stream.device().check_memory(
            format!("a server key of {}", params.name()),
            Self::size_of(&key),
            "take the device cpu",
        )?;
        let unsupported = || Error::Unsupported { params: format!("{} (digits of bits)", params.name()) };
        let plans = |level| host.key_switch(level).ok_or_else(unsupported);
        let extended = Ring::new(stream, plans(highest)?.0.extended())?;
        let levels = || Level::LOWEST.up_to(highest);
        let rings: Vec<Ring> = levels().map(|level| extended.prefix(level.number())).collect::<Result<_, _>>()?;
        let of_level = |level: Level| {
            let below = level.below().map(|below| &rings[below.index()]);
            Switch::new(&rings[level.index()], below, plans(level)?)
        };
        let switches: Vec<Switch> = levels().map(of_level).collect::<Result<_, Error>>()?;
        let rescales =
            levels().filter_map(|level| host.rescale(level).map(|plan| Rescale::new(&rings[level.index()], plan)));
        let bootstrap = key.bootstrap_key();
        Ok(Self {
            rescales: rescales.collect::<Result<_, _>>()?,
            relinearization: switch::key(&extended, key.relinearization())?,
            bootstrap: bootstrap.map(|key| Bootstrap::new(key, &host, (&rings, &switches), &extended)).transpose()?,
            rotations: Mutex::default(),
            rings,
            extended,
            switches,
            key,
        })
    }

    /// Approximate bytes that a key takes on a device, with the work of one product. Keys of rotations come on top.
    pub fn size_of(key: &ServerKey) -> u64 {
        let (host, highest) = (Evaluator::new(key), key.params().highest_level());
        let extended = |level| host.key_switch(level).map_or(0, |(plan, ..)| plan.extended().words());
        // Each level has tables of its own.
        let tables = TABLES * (extended(highest) + Level::LOWEST.up_to(highest).map(extended).sum::<usize>());
        let rows = key.relinearization().rows();
        let relinearization: usize = rows.iter().flatten().map(|part| size_of_val(part.words())).sum();
        // Two operands and a product have two parts each. There are as many polynomials of digits as rows of the key.
        let work = 8 * extended(highest) * (6 + rows.len());
        (tables + relinearization + key.bootstrap_key().map_or(0, |key| key.bytes()) + work) as u64
    }

    /// The evaluator of the CPU.
    pub fn host(&self) -> Evaluator<'_> {
        Evaluator::new(&self.key)
    }

    /// Copies a ciphertext to the device.
    ///
    /// # Errors
    /// [`Error::Scheme`] for a ciphertext of another key, for a product that is to be reduced, and for three parts;
    /// [`Error::Memory`]; the errors of the device.
    pub fn upload(&self, x: &Ciphertext) -> Result<Value, Error> {
        const WHAT: &str = "a copy to a device";
        self.host().check("the ciphertext", x)?;
        let parts = x.parts().len();
        if parts != 2 {
            return Err(SchemeError::Parts { operation: WHAT, parts, max: 2 }.into());
        }
        if x.stage() != Stage::Ready {
            let remedy = "reduce its modulus first (`Evaluator::modulus_switch`)";
            return Err(SchemeError::Stage { operation: WHAT, want: "ready", got: "a product", remedy }.into());
        }
        let ring = &self.rings[x.level().index()];
        x.moved(|parts| Ok(Parts(Arc::new(ring.upload(&parts.iter().collect::<Vec<_>>())?))))
    }

    /// Copies a value from the device, after the operations that make it.
    ///
    /// # Errors
    /// The errors of the device, and of the operations.
    pub fn download(&self, x: &Value) -> Result<Ciphertext, Error> {
        x.moved(|parts| parts.0.download())
    }

    /// As [`Evaluator::add_plain`].
    ///
    /// # Errors
    /// As there; the errors of the device.
    pub fn add_plain(&self, x: &Value, plaintext: &[u64]) -> Result<Value, SchemeError> {
        self.host().add_plain_by(x, plaintext, |x, plaintext| {
            let mut sum = x.0.copy()?;
            sum.add_low(&x.0.ring().upload(&[plaintext])?)?;
            Ok(parts(sum))
        })
    }

    /// As [`Evaluator::dot`].
    ///
    /// # Errors
    /// As there; the errors of the device.
    pub fn dot(&self, x: &[&Value], y: &[&Value]) -> Result<Value, SchemeError> {
        self.host().dot_by(x, y, |x, y| {
            let pairs: Vec<_> = x.iter().zip(y).map(|(x, y)| (&*x.numbers().0, &*y.numbers().0)).collect();
            let (low, high) = Polys::tensor(&pairs)?;
            Ok(parts(self.relinearized(x[0].level(), &low, &high)?))
        })
    }

    /// As [`Evaluator::automorphism`].
    ///
    /// # Errors
    /// As there; the errors of the device.
    pub fn automorphism(&self, x: &Value, exponent: usize) -> Result<Value, SchemeError> {
        self.host().automorphism_by(x, exponent, |x_parts, automorphism, key| {
            let entry = self.rotation(automorphism, key)?;
            let (permutation, keys) = &*entry;
            let switch = &self.switches[x.level().index()];
            let permuted = x_parts.0.permuted(permutation)?;
            let sums = switch.sums(keys, &permuted.item(1)?, &permuted.item(0)?)?;
            Ok(parts(switch.down.apply(sums)?))
        })
    }

    /// A product of three parts, relinearized and divided by the prime of its level, which is not the lowest one.
    fn relinearized(&self, level: Level, low: &Polys<Eval>, high: &Polys<Eval>) -> Result<Polys<Eval>, Error> {
        let switch = &self.switches[level.index()];
        let lowest = || Error::Unsupported { params: "products at the lowest level".into() };
        let both = switch.both.as_ref().ok_or_else(lowest)?;
        both.apply(switch.sums(&self.relinearization, high, low)?)
    }

    /// The automorphism and its key on the device.
    fn rotation(&self, automorphism: &Automorphism, key: &SwitchKey) -> Result<Arc<(Permutation, Keys)>, Error> {
        let mut rotations = self.rotations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = rotations.get(&automorphism.exponent()) {
            return Ok(Arc::clone(entry));
        }
        let entry = Arc::new((Permutation::new(&self.extended, automorphism)?, switch::key(&self.extended, key)?));
        rotations.insert(automorphism.exponent(), Arc::clone(&entry));
        Ok(entry)
    }
}

fn parts(polys: Polys<Eval>) -> Parts {
    Parts(Arc::new(polys))
}
