//! TFHE: every operation bootstraps.

mod engine;
mod inputs;
mod private;
mod random;
mod trivial;
mod weight;

use crate::device::Device;
use crate::engine::{Engine, Facts, Operands};
use crate::entry::EngineEntry;
use crate::{Control, Error, Estimate, Scheme, ServerKey, ServerOptions};
use engine::TfheEngine;
use solinas_circuits::counted;
use solinas_circuits::steps::Kernel;
use solinas_formats::tfhe::ServerFile;
use solinas_schemes::tfhe::{Evaluator, Params};
use solinas_values::memory;
use solinas_values::tfhe::{SCHEME, info};
use std::sync::Arc;

/// The TFHE scheme.
pub(crate) struct Tfhe;

impl EngineEntry for Tfhe {
    fn scheme(&self) -> Scheme {
        SCHEME
    }

    fn engine(
        &self,
        key: &ServerKey,
        device: Option<&dyn Device>,
        _: &ServerOptions,
    ) -> Result<Arc<dyn Engine>, Error> {
        let file = key.of_scheme::<ServerFile>()?;
        let params = file.key.params();
        memory::check("a server key", &info(params), Evaluator::size_of(params) as u64, memory::FREE)?;
        Ok(Arc::new(TfheEngine::new(&file, device)?))
    }

    fn weight(&self, operands: &Operands<'_>, control: &Control<'_>) -> Result<u64, Error> {
        weight::of_operands(operands, control)
    }

    fn cost(
        &self,
        kernel: &Kernel,
        params: &str,
        weight: u64,
        control: &Control<'_>,
    ) -> Result<(Estimate, Vec<Facts>), Error> {
        engine::cost(kernel, &Params::named(params)?, weight, control)
    }

    fn counts(&self, estimate: &Estimate) -> String {
        counted(estimate.bootstraps, "bootstrap")
    }
}
