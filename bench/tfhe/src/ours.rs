//! Our engine's place in the comparison.

use crate::engine::Engine;

/// Our engine, or `None` in a build that measures the peer alone.
///
/// To plug one in, implement [`Engine`] over its public interface and return it here: per [`crate::case::GateSet`]
/// choose a parameter set whose failure probability is at most the one named.
pub fn engine() -> Option<Box<dyn Engine>> {
    None
}
