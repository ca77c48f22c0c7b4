//! Options of keys, and the variables that set limits.

use crate::Scheme;
use std::path::PathBuf;

/// The variable that sets the memory for tables, in MiB.
pub const MEMORY_VARIABLE: &str = "SOLINAS_MEMORY_MIB";

/// The variable that bounds the gates or bootstraps of a plan.
pub const NODES_VARIABLE: &str = "SOLINAS_PLAN_NODES";

/// The variable that bounds the time of planning, in seconds.
pub const SECONDS_VARIABLE: &str = "SOLINAS_PLAN_SECONDS";

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
