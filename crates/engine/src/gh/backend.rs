//! What computes the products and Recrypt of a key: the processor here, or a device.

use crate::Error;
use solinas_schemes::gh::{Arithmetic, Evaluator, Params, RecryptMethod, ServerKey};
use std::fmt::Debug;
use std::sync::Arc;

/// A server key, and the bytes that tables on the processor may take.
#[derive(Debug)]
#[cfg_attr(not(feature = "rtl"), allow(dead_code, reason = "the simulated accelerator reads it"))]
pub(crate) struct KeyWithin {
    pub(crate) key: Arc<ServerKey>,
    pub(crate) memory: u64,
}

/// Makes the tables of Recrypt, and computes with them. All back ends give the same results.
pub(crate) trait Backend: Debug + Send + Sync {
    /// Bytes that tables may take.
    fn memory(&self) -> u64;

    /// Bytes of the tables of a method. None where it does not run.
    fn bytes(&self, params: &Params, method: RecryptMethod) -> Option<u64>;

    /// The fastest method whose tables fit.
    fn fastest(&self, params: &Params) -> Result<RecryptMethod, Error>;

    /// Builds the tables of a method, on the current thread pool.
    fn evaluator(&self, key: &Arc<ServerKey>, method: RecryptMethod) -> Result<Evaluator<'static>, Error>;

    /// The cycles of a simulated circuit so far.
    fn cycles(&self) -> Option<u64> {
        None
    }
}

/// The processor, with tables of up to that many bytes.
#[derive(Debug)]
pub(super) struct Cpu(pub(super) u64);

impl Backend for Cpu {
    fn memory(&self) -> u64 {
        self.0
    }

    fn bytes(&self, params: &Params, method: RecryptMethod) -> Option<u64> {
        Some(method.memory(params))
    }

    fn fastest(&self, params: &Params) -> Result<RecryptMethod, Error> {
        Ok(RecryptMethod::fitting(params, self.0)?)
    }

    fn evaluator(&self, key: &Arc<ServerKey>, method: RecryptMethod) -> Result<Evaluator<'static>, Error> {
        Ok(Evaluator::shared(Arc::clone(key), method, self.0, Arithmetic::default())?)
    }
}
