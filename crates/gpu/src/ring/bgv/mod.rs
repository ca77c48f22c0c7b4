//! BGV on a device: sums, products, rotations and bootstraps of ciphertexts, with those of the CPU in every byte.
//!
//! An [`Engine`] holds the keys of a server on a device. A [`Value`] is a ciphertext whose numbers stay there. The levels
//! and the noise of values are those of the [`Evaluator`] of the CPU, which also checks the operands.

mod bootstrap;
mod switch;

use super::basis::{Ring, refused};
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
pub struct Engine<'k> {
    host: Evaluator<'k>,
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
    bootstrap: Option<Bootstrap<'k>>,
}

impl<'k> Engine<'k> {
    /// Copies the relinearization key and the bootstrapping key to the device of `stream`. The first rotation of each kind
    /// copies its key. All operations run on this stream.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for parameters whose digits are bits of towers; [`Error::Memory`]; the errors of the device.
    pub fn new(stream: &Arc<Stream>, key: &'k ServerKey) -> Result<Self, Error> {
        let (host, params) = (Evaluator::new(key), key.params());
        let highest = params.highest_level();
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
            host,
            rings,
            extended,
            switches,
        })
    }

    /// The evaluator of the CPU.
    pub fn host(&self) -> Evaluator<'k> {
        self.host
    }

    /// Copies a ciphertext to the device.
    ///
    /// # Errors
    /// [`Error::Scheme`] for a ciphertext of another key, for a product that is to be reduced, and for three parts;
    /// [`Error::Memory`]; the errors of the device.
    pub fn load(&self, x: &Ciphertext) -> Result<Value, Error> {
        const WHAT: &str = "a copy to a device";
        self.host.check("the ciphertext", x)?;
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
    pub fn store(&self, x: &Value) -> Result<Ciphertext, Error> {
        x.moved(|parts| parts.0.download())
    }

    /// As [`Evaluator::add`](solinas_schemes::Evaluate::add).
    ///
    /// # Errors
    /// [`Error::Scheme`] as there; [`Error::Memory`]; the errors of the device.
    pub fn add(&self, x: &Value, y: &Value) -> Result<Value, Error> {
        self.host.sum_by("a sum", x, y, |x, y| x.0.plus(&y.0).map(parts))
    }

    /// As [`Evaluator::sub`](solinas_schemes::Evaluate::sub).
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn sub(&self, x: &Value, y: &Value) -> Result<Value, Error> {
        self.host.sum_by("a difference", x, y, |x, y| x.0.minus(&y.0).map(parts))
    }

    /// As [`Evaluator::negate`](solinas_schemes::Evaluate::negate).
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn negate(&self, x: &Value) -> Result<Value, Error> {
        self.host.check("the operand", x)?;
        x.moved(|x| x.0.scaled(-1).map(parts))
    }

    /// As [`Evaluator::add_plain`].
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn add_plain(&self, x: &Value, plaintext: &[u64]) -> Result<Value, Error> {
        self.host.add_plain_by(x, plaintext, |x, plaintext| {
            let mut sum = x.0.copy()?;
            sum.add_low(&x.0.ring().upload(&[plaintext])?)?;
            Ok(parts(sum))
        })
    }

    /// As [`Evaluator::multiply_constant`](solinas_schemes::Evaluate::multiply_constant).
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn multiply_constant(&self, x: &Value, value: u64) -> Result<Value, Error> {
        self.host.multiply_constant_by(x, value, |x, factor| x.0.scaled(factor).map(parts))
    }

    /// As [`Evaluator::multiply_plain`](solinas_schemes::Evaluate::multiply_plain).
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn multiply_plain(&self, x: &Value, plaintext: &[u64]) -> Result<Value, Error> {
        self.host
            .multiply_plain_by(x, plaintext, |x, plaintext| x.0.times(&x.0.ring().upload(&[plaintext])?).map(parts))
    }

    /// As [`Evaluator::multiply`](solinas_schemes::Evaluate::multiply): product, relinearization and division by the prime of
    /// the level.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn multiply(&self, x: &Value, y: &Value) -> Result<Value, Error> {
        self.dot(&[x], &[y])
    }

    /// As [`Evaluator::dot`].
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn dot(&self, x: &[&Value], y: &[&Value]) -> Result<Value, Error> {
        self.host.dot_by(x, y, |x, y| {
            let pairs: Vec<_> = x.iter().zip(y).map(|(x, y)| (&*x.numbers().0, &*y.numbers().0)).collect();
            let (low, high) = Polys::tensor(&pairs)?;
            self.relinearized(x[0].level(), &low, &high).map(parts)
        })
    }

    /// The same message one level below, as [`Evaluator::drop_level`](solinas_schemes::Evaluate::drop_level).
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn drop_level(&self, x: &Value) -> Result<Value, Error> {
        self.host.lower_by(x, |x_parts, factor| {
            let scaled = match factor {
                Some(factor) => x_parts.0.scaled(factor)?,
                None => x_parts.0.copy()?,
            };
            self.rescales[x.level().index() - 1].apply(scaled).map(parts)
        })
    }

    /// As [`Evaluator::rotate`](solinas_schemes::RotateSlots::rotate).
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn rotate(&self, x: &Value, step: i64) -> Result<Value, Error> {
        let exponents = self.host.rotation_exponents(step)?;
        exponents.into_iter().try_fold(x.clone(), |x, exponent| self.automorphism(&x, exponent))
    }

    /// As [`Evaluator::swap_rows`](solinas_schemes::RotateSlots::swap_rows).
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn swap_rows(&self, x: &Value) -> Result<Value, Error> {
        self.automorphism(x, self.host.swap_exponent()?)
    }

    /// As [`Evaluator::automorphism`].
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn automorphism(&self, x: &Value, exponent: usize) -> Result<Value, Error> {
        self.host.automorphism_by(x, exponent, |x_parts, automorphism, key| {
            let entry = self.rotation(automorphism, key)?;
            let (permutation, keys) = &*entry;
            let switch = &self.switches[x.level().index()];
            let permuted = x_parts.0.permuted(permutation)?;
            let sums = switch.sums(keys, &permuted.item(1)?, &permuted.item(0)?)?;
            switch.down.apply(sums).map(parts)
        })
    }

    /// As [`Evaluator::bootstrap`](solinas_schemes::Evaluate::bootstrap): lowers the value to the first level, and
    /// bootstraps its number. The processor rounds the coefficients in between.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn bootstrap(&self, x: &Value) -> Result<Value, Error> {
        let Some(bootstrap) = &self.bootstrap else {
            // The error of the processor.
            return self.host.bootstrap_by(x, |x| Ok(x.clone()));
        };
        let mut x = x.clone();
        while x.level() > Level::LOWEST {
            x = self.drop_level(&x)?;
        }
        self.host.bootstrap_by(&x, |x| bootstrap.run(self, &x.0).map(parts))
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
