//! What a server does for a scheme.

use crate::device::Device;
use crate::engine::{Engine, Facts, Operands};
use crate::{Control, Error, Estimate, Scheme, ServerKey, ServerOptions};
use solinas_circuits::steps::Kernel;
use std::sync::Arc;

/// The interface that the engines of a scheme register. It makes engines of keys, and it counts costs without a key.
pub(crate) trait EngineEntry: Sync {
    /// The scheme.
    fn scheme(&self) -> Scheme;

    /// Loads a key for evaluation on a device, or without one on the current thread pool.
    ///
    /// # Errors
    /// [`Error::Device`] if the device has nothing for the scheme. The errors of the device.
    fn engine(
        &self,
        key: &ServerKey,
        device: Option<&dyn Device>,
        options: &ServerOptions,
    ) -> Result<Arc<dyn Engine>, Error>;

    /// The noise weight of the operands of a kernel. It is 1 where costs do not depend on it.
    fn weight(&self, _operands: &Operands<'_>, _control: &Control<'_>) -> Result<u64, Error> {
        Ok(1)
    }

    /// Counts the operations of a kernel on one element, whose operands have that noise weight, under the parameter set of that name.
    fn cost(
        &self,
        kernel: &Kernel,
        params: &str,
        weight: u64,
        control: &Control<'_>,
    ) -> Result<(Estimate, Vec<Facts>), Error>;

    /// The counts of an estimate as text.
    fn counts(&self, estimate: &Estimate) -> String;
}
