//! Options of servers.

use crate::{CostModel, DeviceName};

/// The variable that names the device of servers.
pub(crate) const DEVICE_VARIABLE: &str = "SOLINAS_DEVICE";

/// Limits on a server. Defaults to everything the machine has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerOptions {
    /// Number of threads. Defaults to the number of processors.
    pub threads: Option<usize>,
    /// The device that computes. Defaults to `SOLINAS_DEVICE`, else to the processor.
    pub device: Option<DeviceName>,
    /// Bytes for tables beside the key, if the scheme has a choice (Gentry-Halevi). Defaults to `SOLINAS_MEMORY_MIB`, else to three quarters of the
    /// free memory. On each device, the most bytes that the server takes there, by default its free memory.
    pub memory: Option<u64>,
    /// Bytes that one run may take beside the key and its inputs: for intermediate values and results. Fewer instances run side by side if memory is short,
    /// and work that does not fit is refused before it begins. Defaults to `SOLINAS_MEMORY_MIB`, else to three quarters of the memory that is free then.
    pub run_memory: Option<u64>,
    /// The model by which plans are chosen (TFHE). Defaults to that of the number of threads.
    pub model: Option<CostModel>,
}
