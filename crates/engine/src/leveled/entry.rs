//! The entry of a leveled scheme in the registry.

use super::Leveled;
use super::engine::{self, LeveledEngine};
use crate::device::{Device, part};
use crate::engine::{Engine, Facts};
use crate::entry::EngineEntry;
use crate::{Control, Error, Estimate, Scheme, ServerKey, ServerOptions};
use solinas_circuits::counted;
use solinas_circuits::steps::Kernel;
use solinas_values::leveled::Server;
use std::sync::Arc;

impl<S: Leveled> EngineEntry for S {
    fn scheme(&self) -> Scheme {
        S::SCHEME
    }

    fn engine(
        &self,
        key: &ServerKey,
        device: Option<&dyn Device>,
        _: &ServerOptions,
    ) -> Result<Arc<dyn Engine>, Error> {
        let server = key.of_scheme::<Server<S>>()?;
        let on_device = device.map(|device| part(device, S::NAME, &server.key)).transpose()?;
        Ok(Arc::new(LeveledEngine::new(server, on_device)?))
    }

    fn cost(
        &self,
        kernel: &Kernel,
        params: &str,
        _: u64,
        control: &Control<'_>,
    ) -> Result<(Estimate, Vec<Facts>), Error> {
        Ok((engine::cost::<S>(kernel, &S::named(params)?, control)?, Facts::fresh(kernel)))
    }

    fn counts(&self, estimate: &Estimate) -> String {
        let mut products = counted(estimate.products, "product");
        if estimate.rotations > 0 {
            products += &format!(", {}", counted(estimate.rotations, "rotation"));
        }
        match estimate.bootstraps {
            0 => products,
            bootstraps => format!("{}, {products}", counted(bootstraps, "bootstrap")),
        }
    }
}
