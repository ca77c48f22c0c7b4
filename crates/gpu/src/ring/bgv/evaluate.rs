//! The operations of programs on values that stay on a device.

use super::{Engine, Value, parts};
use solinas_schemes::bgv::Evaluator;
use solinas_schemes::leveled::{Params as _, StoredCiphertext};
use solinas_schemes::slots::SlotEncoder;
use solinas_schemes::{Error, Evaluate, Level, RotateSlots};

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
        self.host().multiply_constant_by(x, value, |x, factor| Ok(parts(x.0.scaled(factor)?)))
    }

    fn add(&self, x: &Value, y: &Value) -> Result<Value, Error> {
        self.host().sum_by("a sum", x, y, |x, y| Ok(parts(x.0.plus(&y.0)?)))
    }

    fn sub(&self, x: &Value, y: &Value) -> Result<Value, Error> {
        self.host().sum_by("a difference", x, y, |x, y| Ok(parts(x.0.minus(&y.0)?)))
    }

    fn negate(&self, x: &Value) -> Result<Value, Error> {
        self.host().check("the operand", x)?;
        x.moved(|x| Ok(parts(x.0.scaled(-1)?)))
    }

    /// Product, relinearization and division by the prime of the level.
    fn multiply(&self, x: &Value, y: &Value) -> Result<Value, Error> {
        self.dot(&[x], &[y])
    }

    fn multiply_plain(&self, x: &Value, plaintext: &[u64]) -> Result<Value, Error> {
        self.host()
            .multiply_plain_by(x, plaintext, |x, plaintext| Ok(parts(x.0.times(&x.0.ring().upload(&[plaintext])?)?)))
    }

    fn drop_level(&self, x: &Value) -> Result<Value, Error> {
        self.host().lower_by(x, |x_parts, factor| {
            let scaled = match factor {
                Some(factor) => x_parts.0.scaled(factor)?,
                None => x_parts.0.copy()?,
            };
            Ok(parts(self.rescales[x.level().index() - 1].apply(scaled)?))
        })
    }

    /// Lowers the value to the first level, and bootstraps its number. The processor rounds the coefficients in between.
    fn bootstrap(&self, x: &Value) -> Result<Value, Error> {
        let (Some(bootstrap), Some(key)) = (&self.bootstrap, self.key.bootstrap_key()) else {
            // The error of the processor.
            return self.host().bootstrap_by(x, |x| Ok(x.clone()));
        };
        let mut x = x.clone();
        while x.level() > Level::LOWEST {
            x = self.drop_level(&x)?;
        }
        self.host().bootstrap_by(&x, |x| Ok(parts(bootstrap.run(self, key, &x.0)?)))
    }

    fn finish(&self) -> Result<(), Error> {
        Ok(self.extended.stream.synchronize()?)
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
        let exponents = self.host().rotation_exponents(step)?;
        exponents.into_iter().try_fold(x.clone(), |x, exponent| self.automorphism(&x, exponent))
    }

    fn swap_rows(&self, x: &Value) -> Result<Value, Error> {
        self.automorphism(x, self.host().swap_exponent()?)
    }
}
