//! The simulated accelerator for Gentry-Halevi.

use super::Device;
use crate::Error;
use crate::gh::Backend as GhBackend;
use solinas_schemes::gh::{Evaluator, Params, RecryptMethod, ServerKey};
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

    fn gh(&self, key: &Arc<ServerKey>, memory: u64) -> Option<Result<Box<dyn GhBackend>, Error>> {
        let check = solinas_rtl::gh::Evaluation::check(key);
        Some(check.map(|()| Box::new(Simulated { memory, cycles: Arc::default() }) as Box<_>).map_err(Error::from))
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

impl From<solinas_rtl::Error> for Error {
    fn from(error: solinas_rtl::Error) -> Self {
        solinas_schemes::DeviceError::new(error).into()
    }
}
