//! Graphs that compute the same with fewer rotations.

use super::LutGraph;

impl LutGraph {
    /// An equivalent graph that is never larger.
    #[must_use]
    pub fn optimize(&self) -> Self {
        self.clone()
    }
}
