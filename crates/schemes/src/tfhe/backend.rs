//! The back ends that compute the bootstraps of a program: the processor, or devices of another crate.
//!
//! The values of a run are in numbered slots. Each slot holds one LWE ciphertext or is empty.

use super::{BootstrapTask, Evaluator, LookupTable, LweCiphertext};
use crate::Error;

/// `constant + sum of coefficient * value`, word by word. The constant, in units of `2^-32` turn, is added to the body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sum {
    /// The slot of each value, and its coefficient.
    pub terms: Vec<(u32, i32)>,
    /// The constant.
    pub constant: u32,
}

/// A bootstrap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotBootstrap {
    /// The argument.
    pub argument: Sum,
    /// Number of its table in [`Backend::slots`].
    pub table: usize,
    /// The slots of its outputs, one for [`LookupTable::Sign`], else one for each table.
    pub outputs: Vec<u32>,
}

/// Computes for one server key. All back ends give the same bytes.
pub trait Backend: core::fmt::Debug + Send + Sync {
    /// The number of instances to run side by side if each of them takes `slots` slots. It fills the batches of [`Slots::batch`] as far as the memory of the
    /// back end allows. More instances would take more memory and save no time.
    fn instances(&self, slots: usize) -> usize;

    /// The number of bootstraps that a device runs at once. None for the processor, whose number is that of the threads.
    fn parallel(&self) -> Option<usize>;

    /// Makes `count` empty slots. `jobs` is the largest number of bootstraps or sums at once.
    ///
    /// # Errors
    /// [`Error::Table`]; [`Error::Device`].
    fn slots<'a>(&'a self, count: usize, jobs: usize, tables: &'a [LookupTable]) -> Result<Box<dyn Slots + 'a>, Error>;
}

/// The slots of a run, and the operations on them.
pub trait Slots {
    /// The best number of bootstraps for one call of [`Self::bootstrap`]. It is large enough to share passes over the
    /// key. It is small enough for frequent progress reports and quick cancellation.
    fn batch(&self) -> usize;

    /// Stores ciphertexts in their slots.
    ///
    /// # Errors
    /// [`Error::NoSlot`]; [`Error::Device`].
    fn write(&mut self, values: &[(u32, &LweCiphertext)]) -> Result<(), Error>;

    /// Computes independent bootstraps and stores their outputs in slots. None reads an output of another one.
    ///
    /// # Errors
    /// [`Error::NoSlot`]; [`Error::Table`]; [`Error::Device`].
    fn bootstrap(&mut self, bootstraps: &[SlotBootstrap]) -> Result<(), Error>;

    /// Computes sums of slots and returns them in order.
    ///
    /// # Errors
    /// [`Error::NoSlot`]; [`Error::Device`].
    fn read(&mut self, sums: &[Sum]) -> Result<Vec<LweCiphertext>, Error>;
}

/// The number of bootstraps on the current thread pool between two progress reports.
pub fn pool_batch() -> usize {
    32 * rayon::current_num_threads()
}

/// The processor, on the current thread pool.
impl Backend for Evaluator {
    fn instances(&self, _: usize) -> usize {
        pool_batch()
    }

    fn parallel(&self) -> Option<usize> {
        None
    }

    fn slots<'a>(&'a self, count: usize, _: usize, tables: &'a [LookupTable]) -> Result<Box<dyn Slots + 'a>, Error> {
        Ok(Box::new(Memory { evaluator: self, tables, slots: vec![None; count] }))
    }
}

/// Slots in the memory of the processor.
struct Memory<'a> {
    evaluator: &'a Evaluator,
    tables: &'a [LookupTable],
    slots: Vec<Option<LweCiphertext>>,
}

impl Memory<'_> {
    fn put(&mut self, slot: u32, value: LweCiphertext) -> Result<(), Error> {
        *self.slots.get_mut(slot as usize).ok_or(Error::NoSlot { slot })? = Some(value);
        Ok(())
    }

    fn sum(&self, sum: &Sum) -> Result<LweCiphertext, Error> {
        let term = |&(slot, coefficient): &(u32, i32)| {
            let value = self.slots.get(slot as usize).and_then(Option::as_ref);
            Ok((coefficient, value.ok_or(Error::NoSlot { slot })?))
        };
        let terms = sum.terms.iter().map(term).collect::<Result<Vec<_>, Error>>()?;
        LweCiphertext::linear(self.evaluator.params().big_dimension(), &terms, sum.constant)
    }
}

impl Slots for Memory<'_> {
    fn batch(&self) -> usize {
        pool_batch()
    }

    fn write(&mut self, values: &[(u32, &LweCiphertext)]) -> Result<(), Error> {
        values.iter().try_for_each(|&(slot, value)| self.put(slot, value.clone()))
    }

    fn bootstrap(&mut self, bootstraps: &[SlotBootstrap]) -> Result<(), Error> {
        let no_table = || Error::Table { params: self.evaluator.params().name().into() };
        let job = |bootstrap: &SlotBootstrap| {
            let table = self.tables.get(bootstrap.table).ok_or_else(no_table)?;
            Ok(BootstrapTask { input: self.sum(&bootstrap.argument)?, table })
        };
        let jobs = bootstraps.iter().map(job).collect::<Result<Vec<_>, Error>>()?;
        for (bootstrap, outputs) in bootstraps.iter().zip(self.evaluator.bootstrap(&jobs)?) {
            for (&slot, output) in bootstrap.outputs.iter().zip(outputs) {
                self.put(slot, output)?;
            }
        }
        Ok(())
    }

    fn read(&mut self, sums: &[Sum]) -> Result<Vec<LweCiphertext>, Error> {
        sums.iter().map(|sum| self.sum(sum)).collect()
    }
}
