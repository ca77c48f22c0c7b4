//! The end of a run in parts.

use super::RunState;
use crate::Ciphertext;

/// The end of a run in parts.
#[derive(Debug)]
pub enum Ran {
    /// The results.
    Done(Vec<Ciphertext>),
    /// The state from which a later call continues.
    Paused(Box<RunState>),
}
