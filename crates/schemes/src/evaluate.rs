//! The operations on ciphertexts that a run of a circuit or a program consists of.

use crate::slots::SlotEncoder;
use crate::{Control, Error, Level};
use std::time::{Duration, Instant};

/// Evaluation under one key: sums and products of encrypted numbers modulo `p`. For bits, `p` is 2, so that a sum is their exclusive or and a product their
/// conjunction.
///
/// Every operation checks its operands. A result that might not decrypt is an error. Operations that only some schemes have are inherent methods of their evaluators.
pub trait Evaluate: Send + Sync {
    /// A ciphertext as inputs, outputs and files hold it.
    type Stored: Send + Sync;
    /// A ciphertext in work.
    type Ciphertext: Clone + Send + Sync;

    /// Takes a stored ciphertext into work.
    ///
    /// # Errors
    /// For a ciphertext that does not belong to the key.
    fn load(&self, stored: &Self::Stored) -> Result<Self::Ciphertext, Error>;

    /// Stores a ciphertext, ready and of the fewest parts.
    ///
    /// # Errors
    /// From the device that holds the ciphertext, if there is one.
    fn store(&self, x: &Self::Ciphertext) -> Result<Self::Stored, Error>;

    /// The plaintext of a stored ciphertext that holds a public input.
    fn plaintext(_stored: &Self::Stored) -> Option<&[u64]> {
        None
    }

    /// The level of a ciphertext. The lowest is the only one of a scheme without levels.
    fn level(&self, _x: &Self::Ciphertext) -> Level {
        Level::LOWEST
    }

    /// A ciphertext of a public number, which anyone can read; of vectors it holds the number in every slot.
    ///
    /// # Errors
    /// From the scheme.
    fn constant(&self, value: u64) -> Result<Self::Ciphertext, Error>;

    /// `x + c` for a public number, modulo `p`.
    ///
    /// # Errors
    /// From the scheme, as for a sum.
    fn add_constant(&self, x: &Self::Ciphertext, value: u64) -> Result<Self::Ciphertext, Error>;

    /// `c x` for a public number, modulo `p`.
    ///
    /// # Errors
    /// From the scheme, as for a product.
    fn multiply_constant(&self, x: &Self::Ciphertext, value: u64) -> Result<Self::Ciphertext, Error>;

    /// `x + y`, of one level.
    ///
    /// # Errors
    /// For operands of different levels or of another key; for a sum that might not decrypt.
    fn add(&self, x: &Self::Ciphertext, y: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// `x - y`, of one level.
    ///
    /// # Errors
    /// As [`Self::add`].
    fn sub(&self, x: &Self::Ciphertext, y: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// `-x`.
    ///
    /// # Errors
    /// For an operand of another key.
    fn negate(&self, x: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// `x y`, of one level above the lowest; the product is at the level below. Schemes without levels keep the level.
    ///
    /// # Errors
    /// As [`Self::add`]; for operands at the lowest level.
    fn multiply(&self, x: &Self::Ciphertext, y: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// The products of pairs, in their order. A scheme that computes several products faster together than one after the other overrides it.
    ///
    /// # Errors
    /// As [`Self::multiply`]; where `control` is observed, if the caller cancels.
    fn multiply_batch(
        &self,
        pairs: &[(&Self::Ciphertext, &Self::Ciphertext)],
        _control: &Control<'_>,
    ) -> Result<Vec<Self::Ciphertext>, Error> {
        pairs.iter().map(|(x, y)| self.multiply(x, y)).collect()
    }

    /// Measures the time of the products of those pairs as one batch.
    ///
    /// # Errors
    /// As [`Self::multiply_batch`] and [`Self::finish`].
    fn time_products(
        &self,
        pairs: &[(&Self::Ciphertext, &Self::Ciphertext)],
        control: &Control<'_>,
    ) -> Result<Duration, Error> {
        self.time(|| self.multiply_batch(pairs, control).map(drop), control)
    }

    /// Runs `work` twice and returns the time of the second run.
    ///
    /// # Errors
    /// From `work`; [`Error::Cancelled`]; as [`Self::finish`].
    fn time(&self, work: impl Fn() -> Result<(), Error>, control: &Control<'_>) -> Result<Duration, Error> {
        control.check()?;
        work()?;
        self.finish()?;
        control.check()?;
        let start = Instant::now();
        work()?;
        self.finish()?;
        Ok(start.elapsed())
    }

    /// Waits for the operations that run on a device.
    ///
    /// # Errors
    /// From the device.
    fn finish(&self) -> Result<(), Error> {
        Ok(())
    }

    /// `mu x` for a public plaintext. Shape: the coefficients of a plaintext. Range: `0..p`.
    ///
    /// # Errors
    /// For a plaintext of another shape or range; for a product that might not decrypt.
    fn multiply_plain(&self, x: &Self::Ciphertext, plaintext: &[u64]) -> Result<Self::Ciphertext, Error>;

    /// The same message one level below.
    ///
    /// # Errors
    /// For an operand at the lowest level.
    fn drop_level(&self, x: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// The same message with the noise of a bootstrapped ciphertext.
    ///
    /// # Errors
    /// For a key that cannot bootstrap; for an operand that is too noisy already.
    fn bootstrap(&self, x: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;

    /// Rotations of slots, if the key has all that arrays need.
    fn slot_rotations(&self) -> Option<&dyn RotateSlots<Ciphertext = Self::Ciphertext>> {
        None
    }
}

/// Rotations of the slots of ciphertexts.
pub trait RotateSlots: Sync {
    /// A ciphertext in work.
    type Ciphertext;

    /// Slots of a ciphertext, in both rows.
    fn slot_count(&self) -> usize;

    /// Packs numbers into the slots of a plaintext.
    ///
    /// # Errors
    /// From the scheme.
    fn encoder(&self) -> Result<SlotEncoder, Error>;

    /// The slots of both rows rotated by `step` places to the left, to the right if it is negative: slot `j` becomes slot `j - step`.
    ///
    /// # Errors
    /// For a step that the key cannot rotate by; for a result that might not decrypt.
    fn rotate(&self, x: &Self::Ciphertext, step: i64) -> Result<Self::Ciphertext, Error>;

    /// The two rows of slots swapped.
    ///
    /// # Errors
    /// As [`Self::rotate`].
    fn swap_rows(&self, x: &Self::Ciphertext) -> Result<Self::Ciphertext, Error>;
}
