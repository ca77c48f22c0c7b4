//! One key on several devices, which share each wave.

use super::{Engine, Session};
use crate::{Device, Error};
use solinas_schemes::Error as SchemeError;
use solinas_schemes::tfhe::{Backend, Evaluator, LookupTable, LweCiphertext, SlotBootstrap, Slots, Sum};

/// A TFHE server key on each of one or several devices.
#[derive(Debug)]
pub struct Engines(Vec<Engine>);

impl Engines {
    /// Copies a key to each device.
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub fn new(devices: &[Device], evaluator: &Evaluator) -> Result<Self, Error> {
        Ok(Self(devices.iter().map(|device| Engine::new(device, evaluator)).collect::<Result<_, _>>()?))
    }
}

impl Backend for Engines {
    fn instances(&self, slots: usize) -> usize {
        let room = self.0.iter().map(Engine::room).min().unwrap_or(0);
        (room / slots.max(1)).clamp(1, Session::MAX_JOBS)
    }

    fn parallel(&self) -> Option<usize> {
        Some(self.0.iter().map(Engine::parallel).sum())
    }

    fn slots<'a>(
        &'a self,
        count: usize,
        jobs: usize,
        tables: &'a [LookupTable],
    ) -> Result<Box<dyn Slots + 'a>, SchemeError> {
        Ok(Box::new(Sessions::new(self, count, jobs, tables)?))
    }
}

/// The values of a program on one or several devices. Each device holds all of them and computes an even share of each
/// wave. Then it gets the outputs of the others through the memory of the host.
#[derive(Debug)]
pub struct Sessions<'a>(Vec<Session<'a>>);

impl<'a> Sessions<'a> {
    /// Makes slots on each device, and room for waves of at most `jobs` bootstraps on all devices together.
    ///
    /// # Errors
    /// As [`Session::new`].
    pub fn new(engines: &'a Engines, slots: usize, jobs: usize, tables: &[LookupTable]) -> Result<Self, Error> {
        let jobs = jobs.div_ceil(engines.0.len().max(1));
        let sessions = engines.0.iter().map(|engine| Session::new(engine, slots, jobs, tables));
        Ok(Self(sessions.collect::<Result<_, _>>()?))
    }

    /// Largest number of bootstraps of a wave.
    pub fn jobs(&self) -> usize {
        self.0.iter().map(Session::jobs).sum()
    }

    /// Copies the outputs of bootstraps from one device to the others.
    fn send(&mut self, from: usize, bootstraps: &[SlotBootstrap]) -> Result<(), Error> {
        let slots: Vec<u32> = bootstraps.iter().flat_map(|bootstrap| bootstrap.outputs.iter().copied()).collect();
        let values: Vec<Sum> = slots.iter().map(|&slot| Sum { terms: vec![(slot, 1)], constant: 0 }).collect();
        let values = self.0[from].read(&values)?;
        let values: Vec<(u32, &LweCiphertext)> = slots.into_iter().zip(&values).collect();
        let mut others = self.0.iter().enumerate().filter(|&(part, _)| part != from);
        others.try_for_each(|(_, session)| session.write(&values))
    }
}

impl Slots for Sessions<'_> {
    fn batch(&self) -> usize {
        self.jobs()
    }

    fn write(&mut self, values: &[(u32, &LweCiphertext)]) -> Result<(), SchemeError> {
        Ok(self.0.iter().try_for_each(|session| session.write(values))?)
    }

    fn bootstrap(&mut self, bootstraps: &[SlotBootstrap]) -> Result<(), SchemeError> {
        let parts = self.0.len();
        let share = |part: usize| &bootstraps[part * bootstraps.len() / parts..(part + 1) * bootstraps.len() / parts];
        for (part, session) in self.0.iter_mut().enumerate() {
            session.submit(share(part))?;
        }
        for part in 0..parts {
            self.0[part].synchronize()?;
            if parts > 1 {
                self.send(part, share(part))?;
            }
        }
        Ok(())
    }

    fn read(&mut self, sums: &[Sum]) -> Result<Vec<LweCiphertext>, SchemeError> {
        // Every device holds every value.
        Ok(self.0.first_mut().map_or(Ok(Vec::new()), |session| session.read(sums))?)
    }
}
