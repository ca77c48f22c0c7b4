//! Options of keys and servers.

use crate::{CostModel, Scheme};
use solinas_schemes::DeviceName;
use std::path::PathBuf;

/// The variable that sets the memory for tables, in MiB.
pub(crate) const MEMORY_VARIABLE: &str = "SOLINAS_MEMORY_MIB";

/// The variable that names the device of servers.
pub(crate) const DEVICE_VARIABLE: &str = "SOLINAS_DEVICE";

/// Options of a key generation. Defaults to TFHE with its default set.
#[derive(Debug, Clone, Default)]
pub struct KeygenOptions {
    /// The scheme.
    pub scheme: Scheme,
    /// Name of the parameter set. Defaults to the default set of the scheme.
    pub params: Option<String>,
    /// Whether the server key can rotate slots, so that programs can rotate and sum arrays (NTRU, for research only). Keys of BGV always can.
    pub rotations: bool,
    /// Whether to allow sets that are for research only.
    pub research: bool,
    /// A seed that makes the keys reproducible. Such keys protect nothing, and their files say so.
    pub insecure_seed: Option<u64>,
    /// A secret file that keeps the progress of a long key generation (Gentry-Halevi). A later call with the same options continues from it. The file stays
    /// after the last step. Delete it after both keys are stored.
    pub checkpoint: Option<PathBuf>,
}

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
