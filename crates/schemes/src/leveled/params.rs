//! Parameter sets of leveled schemes.

use core::fmt::Debug;

use crate::security::SecurityClaim;

/// A parameter set.
pub trait Params: Debug + Clone + PartialEq + Send + Sync + 'static {
    /// Name of the set.
    fn name(&self) -> &str;

    /// The security claim.
    fn security(&self) -> SecurityClaim;
}
