//! The values of a run. They lie in numbered slots, in the memory of the host or of devices.

use crate::Error;
use solinas_gpu::tfhe::{Engines, Session, Sessions, Sum, Task};
use solinas_schemes::tfhe::{BootstrapTask, Evaluator, LookupTable, LweCiphertext};

/// The place where a run computes its bootstraps and keeps its values.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target<'a> {
    /// The processor, on the current thread pool.
    Host(&'a Evaluator),
    /// One or several devices.
    Devices(&'a Engines),
}

/// Ciphertexts in slots, with the operations on them. Each slot holds one LWE ciphertext or is empty.
pub(crate) trait Values {
    /// The best number of bootstraps for one call of [`Self::bootstrap`]. It is large enough to share passes over the
    /// key. It is small enough for frequent progress reports and quick cancellation.
    fn batch(&self) -> usize;

    /// Stores ciphertexts in their slots.
    fn write(&mut self, values: &[(u32, &LweCiphertext)]) -> Result<(), Error>;

    /// Computes independent bootstraps and stores their outputs in slots. No task reads an output of another one.
    fn bootstrap(&mut self, tasks: &[Task]) -> Result<(), Error>;

    /// Computes sums of slots and returns them in order.
    fn read(&mut self, sums: &[Sum]) -> Result<Vec<LweCiphertext>, Error>;
}

impl<'a> Target<'a> {
    /// Returns the number of instances to run side by side if each of them takes `slots` slots.
    ///
    /// This number fills the batches of [`Values::batch`] as far as the memory of the devices allows. More instances
    /// would take more memory and save no time.
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

    fn write(&mut self, values: &[(u32, &LweCiphertext)]) -> Result<(), Error> {
        for &(slot, value) in values {
            self.slots[slot as usize] = Some(value.clone());
        }
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

    fn write(&mut self, values: &[(u32, &LweCiphertext)]) -> Result<(), Error> {
        Ok(Sessions::write(self, values)?)
    }

    fn bootstrap(&mut self, tasks: &[Task]) -> Result<(), Error> {
        Ok(Sessions::bootstrap(self, tasks)?)
    }

    fn read(&mut self, sums: &[Sum]) -> Result<Vec<LweCiphertext>, Error> {
        Ok(Sessions::read(self, sums)?)
    }
}
