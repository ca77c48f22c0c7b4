//! Execution of a launch.

mod access;
mod block;
mod copies;
mod grid;
mod group;
mod mask;
mod order;
mod parcel;
mod pattern;
mod shadow;
mod touch;
mod warp;

use crate::error::FaultKind;

pub(crate) use grid::{Setup, run};

/// A fault that has no place yet.
#[derive(Debug)]
struct Trouble {
    kind: FaultKind,
    what: String,
    address: Option<u64>,
    /// Lane of the group.
    lane: usize,
}

impl Trouble {
    fn new(kind: FaultKind, lane: usize, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), address: None, lane }
    }

    fn at(mut self, address: u64) -> Self {
        self.address = Some(address);
        self
    }
}
