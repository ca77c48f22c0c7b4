//! The values of a run, in slots: on the host, or on devices.

use crate::Error;
use solinas_gpu::tfhe::{Engines, Session, Sessions, Sum, Task};
use solinas_schemes::tfhe::{BootstrapTask, Evaluator, LookupTable, LweCiphertext};

/// The back end on which a run computes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target<'a> {
    /// The current thread pool.
    Host(&'a Evaluator),
    Devices(&'a Engines),
}

/// Ciphertexts in slots, and bootstraps on them.
pub(crate) trait Values {
    /// The number of bootstraps that [`Self::bootstrap`] takes best. It is large enough to share passes over the key, and
    /// small enough for frequent progress reports and quick cancellation.
    fn batch(&self) -> usize;

    /// Stores a ciphertext.
    fn write(&mut self, slot: u32, value: &LweCiphertext) -> Result<(), Error>;

    /// Computes independent bootstraps: no task reads an output of another one.
    fn bootstrap(&mut self, tasks: &[Task]) -> Result<(), Error>;

    /// Computes sums.
    fn read(&mut self, sums: &[Sum]) -> Result<Vec<LweCiphertext>, Error>;
}

impl<'a> Target<'a> {
    /// The number of instances that run side by side, of a program that takes `slots` slots. More instances than fill the
    /// batches would only hold more values in memory.
    pub(crate) fn instances(self, slots: usize) -> usize {
        match self {
            Self::Host(_) => host_batch(),
            Self::Devices(engines) => (engines.room() / slots.max(1)).clamp(1, Session::MAX_JOBS),
        }
    }

    /// Makes empty slots. `jobs` is the largest number of bootstraps or sums at once.
    pub(crate) fn values(
        self,
        slots: usize,
        jobs: usize,
        tables: &'a [LookupTable],
    ) -> Result<Box<dyn Values + 'a>, Error> {
        Ok(match self {
            Self::Host(evaluator) => Box::new(Host { evaluator, tables, slots: vec![None; slots] }),
            Self::Devices(engines) => Box::new(Sessions::new(engines, slots, jobs, tables)?),
        })
    }
}

/// The number of bootstraps on the current thread pool between two progress reports.
pub(crate) fn host_batch() -> usize {
    32 * rayon::current_num_threads()
}

/// Values in the memory of the host.
struct Host<'a> {
    evaluator: &'a Evaluator,
    tables: &'a [LookupTable],
    slots: Vec<Option<LweCiphertext>>,
}

impl Host<'_> {
    fn sum(&self, sum: &Sum) -> Result<LweCiphertext, Error> {
        let term = |&(slot, coefficient): &(u32, i32)| {
            let value = self.slots.get(slot as usize).and_then(Option::as_ref);
            Ok((coefficient, value.ok_or_else(|| Error::Internal(format!("slot {slot} is empty")))?))
        };
        let terms = sum.terms.iter().map(term).collect::<Result<Vec<_>, Error>>()?;
        Ok(LweCiphertext::linear(self.evaluator.params().big_dimension(), &terms, sum.constant)?)
    }
}

impl Values for Host<'_> {
    fn batch(&self) -> usize {
        host_batch()
    }

    fn write(&mut self, slot: u32, value: &LweCiphertext) -> Result<(), Error> {
        self.slots[slot as usize] = Some(value.clone());
        Ok(())
    }

    fn bootstrap(&mut self, tasks: &[Task]) -> Result<(), Error> {
        let job = |task: &Task| Ok(BootstrapTask { input: self.sum(&task.argument)?, table: &self.tables[task.table] });
        let jobs = tasks.iter().map(job).collect::<Result<Vec<_>, Error>>()?;
        for (task, outputs) in tasks.iter().zip(self.evaluator.bootstrap(&jobs)?) {
            for (&slot, output) in task.outputs.iter().zip(outputs) {
                self.slots[slot as usize] = Some(output);
            }
        }
        Ok(())
    }

    fn read(&mut self, sums: &[Sum]) -> Result<Vec<LweCiphertext>, Error> {
        sums.iter().map(|sum| self.sum(sum)).collect()
    }
}

impl Values for Sessions<'_> {
    fn batch(&self) -> usize {
        self.jobs()
    }

    fn write(&mut self, slot: u32, value: &LweCiphertext) -> Result<(), Error> {
        Ok(Sessions::write(self, slot, value)?)
    }

    fn bootstrap(&mut self, tasks: &[Task]) -> Result<(), Error> {
        Ok(Sessions::bootstrap(self, tasks)?)
    }

    fn read(&mut self, sums: &[Sum]) -> Result<Vec<LweCiphertext>, Error> {
        Ok(Sessions::read(self, sums)?)
    }
}
