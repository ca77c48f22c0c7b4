//! The operations of programs on values that stay on a device.

use super::{Engine, Value};
use solinas_schemes::leveled::{Params as _, StoredCiphertext};
use solinas_schemes::ntru::{Evaluator, Rotation, Stage};
use solinas_schemes::slots::SlotEncoder;
use solinas_schemes::{Error, Evaluate, Level, RotateSlots};
use std::sync::Arc;

/// As the [`Evaluator`] of the CPU, with the same results and errors. Errors of the device are [`Error::Device`].
impl Evaluate for Engine {
    type Stored = StoredCiphertext;
    type Ciphertext = Value;

    fn load(&self, stored: &StoredCiphertext) -> Result<Value, Error> {
        Ok(self.upload(&self.host().load(stored)?)?)
    }

    fn store(&self, x: &Value) -> Result<StoredCiphertext, Error> {
        self.host().store(&self.download(x)?)
    }

    fn plaintext(stored: &StoredCiphertext) -> Option<&[u64]> {
        Evaluator::plaintext(stored)
    }

    fn level(&self, x: &Value) -> Level {
        x.level()
    }

    fn constant(&self, value: u64) -> Result<Value, Error> {
        Ok(self.upload(&self.host().constant(value)?)?)
    }

    fn add_constant(&self, x: &Value, value: u64) -> Result<Value, Error> {
        self.add_plain(x, &self.key.params().constant_plaintext(value))
    }

    fn multiply_constant(&self, x: &Value, value: u64) -> Result<Value, Error> {
        // A change of sign adds no noise.
        if value == self.key.params().plaintext_modulus() - 1 {
            return self.negate(x);
        }
        self.multiply_plain(x, &self.key.params().constant_plaintext(value))
    }

    fn add(&self, x: &Value, y: &Value) -> Result<Value, Error> {
        self.host().sum_by("a sum", x, y, |x, y| Ok(Arc::new(x.plus(y)?)))
    }

    fn sub(&self, x: &Value, y: &Value) -> Result<Value, Error> {
        self.host().sum_by("a difference", x, y, |x, y| Ok(Arc::new(x.minus(y)?)))
    }

    fn negate(&self, x: &Value) -> Result<Value, Error> {
        self.host().check("the operand", x)?;
        x.moved(|parts| Ok(Arc::new(parts.scaled(-1)?)))
    }

    /// ComposedEvalMult: product, key switch and division by the primes of the level.
    fn multiply(&self, x: &Value, y: &Value) -> Result<Value, Error> {
        self.host().multiply_by(x, y, |parts, others, _| {
            let mut product = parts.times(others)?;
            let keys = &self.keys[x.level().index() - 1];
            product.mul_assign(&keys.square)?;
            Ok(Arc::new(keys.divide(product)?))
        })
    }

    fn multiply_plain(&self, x: &Value, plaintext: &[u64]) -> Result<Value, Error> {
        self.host().multiply_plain_by(x, plaintext, |parts, plaintext| {
            Ok(Arc::new(parts.times(&parts.ring().upload(&[&plaintext(0)?])?)?))
        })
    }

    fn drop_level(&self, x: &Value) -> Result<Value, Error> {
        self.host().lower_by(x, |parts, _| {
            let keys = &self.keys[x.level().index() - 1];
            let hint = if x.degree() == 1 { &keys.linear } else { &keys.square };
            Ok(Arc::new(keys.divide(parts.times(hint)?)?))
        })
    }

    /// Lowers the value to the first level, and bootstraps its bit. The processor rounds the coefficients in between.
    fn bootstrap(&self, x: &Value) -> Result<Value, Error> {
        let (Some(bootstrap), Some(key)) = (&self.bootstrap, self.key.bootstrap_key()) else {
            // The error of the processor.
            return self.host().bootstrap_by(x, |parts| Ok(Arc::clone(parts)));
        };
        let mut x = x.clone();
        while x.stage() == Stage::Ready && x.level() > Level::LOWEST {
            x = self.drop_level(&x)?;
        }
        self.host().bootstrap_by(&x, |parts| Ok(Arc::new(bootstrap.run(self, key, parts)?)))
    }

    fn finish(&self) -> Result<(), Error> {
        Ok(self.rings[0].stream.synchronize()?)
    }

    fn slot_rotations(&self) -> Option<&dyn RotateSlots<Ciphertext = Value>> {
        self.host().slot_rotations().map(|_| self as _)
    }
}

impl RotateSlots for Engine {
    type Ciphertext = Value;

    fn slot_count(&self) -> usize {
        self.host().slot_count()
    }

    fn encoder(&self) -> Result<SlotEncoder, Error> {
        self.host().encoder()
    }

    fn rotate(&self, x: &Value, step: i64) -> Result<Value, Error> {
        self.permute_slots(x, Rotation::Left(step))
    }

    fn swap_rows(&self, x: &Value) -> Result<Value, Error> {
        self.permute_slots(x, Rotation::Swap)
    }
}
