//! The simulated accelerator for Gentry-Halevi.

use crate::Error;
use crate::device::Device;
use crate::gh::{Backend as GhBackend, KeyWithin};
use solinas_schemes::DeviceError;
use solinas_schemes::gh::{Evaluator, Params, RecryptMethod, ServerKey};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug)]
pub(super) struct Rtl;

impl Device for Rtl {
    fn name(&self) -> String {
        "rtl".into()
    }

    fn schemes(&self) -> &'static str {
        "gh"
    }

    fn part(&self, key: &dyn Any) -> Option<Result<Box<dyn Any>, Error>> {
        let KeyWithin { key, memory } = key.downcast_ref()?;
        let tables = || -> Result<Box<dyn GhBackend>, Error> {
            solinas_rtl::gh::Evaluation::check(key).map_err(DeviceError::new)?;
            Ok(Box::new(Simulated { memory: *memory, cycles: Arc::default() }))
        };
        Some(tables().map(|tables| Box::new(tables) as Box<dyn Any>))
    }
}

/// The tables of Recrypt that the circuit reads.
#[derive(Debug)]
struct Simulated {
    memory: u64,
    cycles: Arc<AtomicU64>,
}

impl GhBackend for Simulated {
    fn memory(&self) -> u64 {
        self.memory
    }

    fn bytes(&self, _: &Params, _: RecryptMethod) -> Option<u64> {
        None
    }

    fn fastest(&self, _: &Params) -> Result<RecryptMethod, Error> {
        Ok(RecryptMethod::PairTable)
    }

    fn evaluator(&self, key: &Arc<ServerKey>, _: RecryptMethod) -> Result<Evaluator<'static>, Error> {
        let evaluation = solinas_rtl::gh::Evaluation::new(key, self.memory, Arc::clone(&self.cycles))?;
        Ok(Evaluator::accelerated(Arc::clone(key), Arc::new(evaluation))?)
    }

    fn cycles(&self) -> Option<u64> {
        Some(self.cycles.load(Ordering::Relaxed))
    }
}
