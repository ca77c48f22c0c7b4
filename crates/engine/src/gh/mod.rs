//! The Gentry-Halevi scheme. Exclusive or is a sum, and is a product. Bits are recrypted when the bounds of their noise
//! require it.

mod backend;
mod engine;
mod run;
mod schedule;

#[cfg_attr(not(any(feature = "gpu", feature = "rtl")), allow(unused_imports, reason = "devices use it"))]
pub(crate) use backend::{Backend, KeyWithin};

use crate::device::{Device, part};
use crate::engine::{Engine, Facts};
use crate::entry::EngineEntry;
use crate::{Control, Error, Estimate, Scheme, ServerKey, ServerOptions};
use engine::GhEngine;
use solinas_circuits::counted;
use solinas_circuits::steps::Kernel;
use solinas_schemes::gh::Params;
use solinas_values::gh::{SCHEME, Server};
use solinas_values::memory;
use std::sync::Arc;

/// The Gentry-Halevi scheme.
pub(crate) struct Gh;

impl EngineEntry for Gh {
    fn scheme(&self) -> Scheme {
        SCHEME
    }

    fn engine(
        &self,
        key: &ServerKey,
        device: Option<&dyn Device>,
        options: &ServerOptions,
    ) -> Result<Arc<dyn Engine>, Error> {
        let server = key.of_scheme::<Server>()?;
        let memory = options.memory.map_or_else(memory::budget, Ok)?;
        let key = KeyWithin { key: Arc::clone(&server.key), memory };
        let backend = device.map(|device| part(device, SCHEME.name(), &key)).transpose()?;
        Ok(Arc::new(GhEngine::new(key.key, memory, backend)?))
    }

    fn cost(
        &self,
        kernel: &Kernel,
        params: &str,
        _: u64,
        control: &Control<'_>,
    ) -> Result<(Estimate, Vec<Facts>), Error> {
        Ok((engine::cost(kernel, &Params::named(params)?, control)?, Facts::fresh(kernel)))
    }

    fn counts(&self, estimate: &Estimate) -> String {
        format!("{}, {}", counted(estimate.recrypts, "recrypt"), counted(estimate.products, "product"))
    }
}
