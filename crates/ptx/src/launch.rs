//! The shape of a launch, the properties of a device, and the result of a launch.

use std::ops::Range;

use crate::counters::Counters;

/// Switches of the checks. By default all are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Reads of bytes and registers that nobody wrote.
    pub uninitialised: bool,
    /// Accesses outside of allocations and shared arrays. Without it, such a read gives 0 and such a write does nothing.
    pub bounds: bool,
    /// Addresses that are no multiple of the access size.
    pub alignment: bool,
    /// Data races between threads, lanes of a warp, and blocks. Without it, reports have no ranges.
    pub races: bool,
    /// Barriers that not all threads reach together.
    pub barriers: bool,
}

impl Checks {
    /// Every check.
    pub const ALL: Self = Self { uninitialised: true, bounds: true, alignment: true, races: true, barriers: true };
    /// No check.
    pub const NONE: Self =
        Self { uninitialised: false, bounds: false, alignment: false, races: false, barriers: false };
}

impl Default for Checks {
    fn default() -> Self {
        Self::ALL
    }
}

/// Properties of an emulated device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Global memory, bytes.
    pub memory: u64,
    /// Number of multiprocessors. It bounds the number of blocks that run side by side.
    pub multiprocessors: u32,
    /// Seed of the order in which blocks and warps run.
    pub seed: u64,
    /// Switches of the checks.
    pub checks: Checks,
    /// Steps of groups of warps in one launch, at most. A launch that needs more is stuck.
    pub steps: u64,
    /// Threads of the host that run the blocks of a launch. Results, counters and faults do not depend on it.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
        Self { memory: 1 << 30, multiprocessors: 4, seed: 0, checks: Checks::ALL, steps: 1 << 36, threads }
    }
}

/// The shape of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, bytes.
    pub shared: u32,
    /// Blocks of a cluster in x, y, z. Only `[1, 1, 1]` is supported.
    pub cluster: [u32; 3],
}

impl Launch {
    /// A launch of `blocks` blocks of `threads` threads in one dimension.
    pub fn line(blocks: u32, threads: u32) -> Self {
        Self { grid: [blocks, 1, 1], block: [threads, 1, 1], shared: 0, cluster: [1, 1, 1] }
    }
}

/// Device addresses in ascending order. Neighbouring ranges are joined.
pub type Ranges = Vec<Range<u64>>;

/// The result of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The counts of what the launch executed.
    pub counters: Counters,
    /// Global bytes that the launch read.
    pub reads: Ranges,
    /// Global bytes that the launch wrote.
    pub writes: Ranges,
}
