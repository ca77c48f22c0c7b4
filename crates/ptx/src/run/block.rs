//! A block of threads: its shared memory, its time and its groups of warps.

use std::ops::Range;

use super::Trouble;
use super::group::Group;
use super::order::Knowledge;
use super::pattern::{Patterns, WARP};
use super::shadow::{Cells, Pages, TIME_BITS, Who};
use crate::counters::Counters;
use crate::error::{Fault, FaultKind};
use crate::isa::{Op, Program, Vote};
use crate::launch::{Checks, Launch};
use crate::memory::Memory;
use crate::random::Random;
use crate::syntax::{SHARED_START, Statement};

/// A byte of shared memory that nobody wrote.
pub(super) const UNWRITTEN: u8 = 0xA5;

/// The state that all blocks of a launch share.
#[derive(Debug)]
pub(super) struct Device<'a> {
    pub(super) program: &'a Program,
    pub(super) launch: &'a Launch,
    pub(super) checks: Checks,
    pub(super) parameters: &'a [u8],
    pub(super) memory: &'a Memory,
    pub(super) pages: Pages,
    pub(super) knowledge: Knowledge,
    pub(super) patterns: Patterns,
    pub(super) counters: Counters,
    /// Executions of each instruction, summed over the threads.
    pub(super) counts: Vec<u64>,
    /// Addresses of the arrays in shared memory.
    pub(super) arrays: Vec<Range<u64>>,
    /// Bytes of shared memory with its gaps.
    pub(super) shared_end: u32,
    /// Strong reads since the last store, exit or barrier, as a thread makes them that waits for another block.
    pub(super) polls: u64,
}

impl Device<'_> {
    /// Something happened that a thread may wait for.
    pub(super) fn advance(&mut self) {
        self.polls = 0;
    }

    /// Whether addresses of shared memory lie in one array.
    #[inline]
    pub(super) fn is_in_array(&self, range: Range<u64>) -> bool {
        self.arrays.iter().any(|array| array.start <= range.start && range.end <= array.end)
    }

    pub(super) fn statement(&self, pc: usize) -> Option<&Statement> {
        self.program.entry.statements.get(self.program.code[pc].statement)
    }
}

/// The part of a block that its groups share.
#[derive(Debug)]
pub(super) struct State {
    pub(super) index: u32,
    pub(super) index3: [u32; 3],
    pub(super) shared: Vec<u8>,
    pub(super) cells: Cells,
    now: u32,
    barrier: u32,
    /// Time of the last barrier of all lanes of each warp.
    warps: [u32; WARP],
    /// The last barrier of a part of its warp, for each thread. Empty if there was none.
    parts: Vec<(u32, u32)>,
}

impl State {
    /// A thread of this block, now.
    #[inline]
    pub(super) fn who(&self, thread: u32) -> Who {
        let warp = self.warps[thread as usize / WARP % WARP];
        let part = self.parts.get(thread as usize).copied().unwrap_or_default();
        Who { block: self.index, thread, time: self.now, barrier: self.barrier, warp, part }
    }

    /// Makes `who` another thread of this block, now.
    #[inline(always)]
    pub(super) fn next(&self, who: &mut Who, thread: u32) {
        if who.thread / 32 != thread / 32 || !self.parts.is_empty() {
            *who = self.who(thread);
        }
        who.thread = thread;
    }

    /// The name of an address among those of all blocks.
    pub(super) fn key(&self, address: u64) -> u64 {
        if address < 1 << 32 { u64::from(self.index) << 32 | address } else { address }
    }

    /// Later accesses get a later time.
    pub(super) fn advance(&mut self) {
        self.now += 1;
    }

    /// A barrier of some lanes of a warp. `full`: they are all that did not exit.
    pub(super) fn warp_barrier(&mut self, warp: u32, lanes: u32, full: bool) {
        self.now += 1;
        if full {
            self.warps[warp as usize % WARP] = self.now;
            return;
        }
        self.parts.resize(WARP * WARP, (0, 0));
        let first = warp as usize % WARP * WARP;
        for (lane, part) in self.parts[first..first + WARP].iter_mut().enumerate() {
            if lanes >> lane & 1 == 1 {
                *part = (lanes, self.now);
            }
        }
    }
}

/// A block that runs.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) state: State,
    groups: Vec<Group>,
}

impl Block {
    /// A block without an index. Its warps are cut into groups at random.
    pub(super) fn new(threads: u32, random: &mut Random, device: &Device<'_>) -> Self {
        let warps = threads.div_ceil(WARP as u32);
        let most = (warps / 4).clamp(1, 4);
        let mut cuts = vec![0, warps];
        for _ in 0..random.below(most) {
            cuts.push(1 + random.below(warps - 1));
        }
        cuts.sort_unstable();
        cuts.dedup();
        let groups = cuts.windows(2).map(|pair| {
            let (first, end) = (pair[0] * WARP as u32, (pair[1] * WARP as u32).min(threads));
            Group::new(first, (end - first) as usize, device)
        });
        let groups = groups.collect();
        let grains = (device.shared_end - SHARED_START).div_ceil(1 << device.program.shared_grain);
        let state = State {
            index: 0,
            index3: [0; 3],
            shared: vec![UNWRITTEN; device.shared_end as usize],
            cells: Cells::new(grains as usize, device.program.strong_shared),
            now: 1,
            barrier: 1,
            warps: [1; WARP],
            parts: Vec::new(),
        };
        Self { state, groups }
    }

    /// Begins block `index` of the grid.
    pub(super) fn start(&mut self, index: u32, device: &Device<'_>) {
        let [x, y, _] = device.launch.grid;
        let state = &mut self.state;
        (state.index, state.index3) = (index, [index % x, index / x % y, index / x / y]);
        (state.now, state.barrier, state.warps) = (1, 1, [1; WARP]);
        state.parts.clear();
        state.shared.fill(UNWRITTEN);
        state.cells.clear();
        for group in &mut self.groups {
            group.start(&self.state, device);
        }
    }

    /// Runs for about `budget` instructions. Returns whether the block ended.
    pub(super) fn run(&mut self, mut budget: u64, random: &mut Random, device: &mut Device<'_>) -> Result<bool, Fault> {
        while budget > 0 {
            let first = random.below(self.groups.len() as u32) as usize;
            for at in 0..self.groups.len() {
                let at = (first + at) % self.groups.len();
                self.groups[at].run(&mut self.state, device, &mut budget)?;
            }
            if self.groups.iter().any(Group::is_ready) {
                continue;
            }
            if self.groups.iter().all(|group| group.exited == group.all) {
                return Ok(true);
            }
            self.barrier(device)?;
        }
        Ok(false)
    }

    /// All threads wait or exited. Ends a barrier, or reports that it cannot end.
    fn barrier(&mut self, device: &mut Device<'_>) -> Result<(), Fault> {
        for group in &self.groups {
            if let Some((pc, lane)) = group.stuck() {
                let what = "a thread waits for other threads of its warp, which never arrive";
                return Err(group.fault(Trouble::new(FaultKind::Barrier, lane, what), pc, &self.state, device));
            }
        }
        let arrivals =
            || self.groups.iter().flat_map(|group| group.arrived.iter().map(move |arrival| (group, arrival)));
        let Some((first_group, first)) = arrivals().next() else { return Ok(()) };
        let lane = |mask: &super::mask::Mask| mask.lanes().next().unwrap_or(0);
        if device.checks.barriers {
            let statement = |pc: usize| device.program.code[pc].statement;
            if let Some((group, other)) = arrivals().find(|(_, other)| statement(other.pc) != statement(first.pc)) {
                let line = device.statement(first.pc).map_or(0, |statement| statement.line);
                let what = format!("other threads of the block wait at the barrier of line {line}");
                return Err(group.fault(
                    Trouble::new(FaultKind::Barrier, lane(&other.mask), what),
                    other.pc,
                    &self.state,
                    device,
                ));
            }
            if let Some(group) = self.groups.iter().find(|group| !group.exited.is_empty()) {
                let thread = group.first + lane(&group.exited) as u32;
                let what = format!("thread {thread} of the block ended and never reaches the barrier");
                return Err(first_group.fault(
                    Trouble::new(FaultKind::Barrier, lane(&first.mask), what),
                    first.pc,
                    &self.state,
                    device,
                ));
            }
        }
        let result = self.vote(first.pc, device);
        self.state.now += 1;
        if self.state.now >= (1 << TIME_BITS) - (1 << 20) {
            let what = "the block has too many barriers and atomic operations";
            return Err(first_group.fault(Trouble::new(FaultKind::Launch, 0, what), first.pc, &self.state, device));
        }
        self.state.barrier = self.state.now;
        device.knowledge.barrier(self.state.index);
        device.advance();
        for group in &mut self.groups {
            group.release(result, device);
        }
        Ok(())
    }

    /// The result of a barrier that reduces a predicate.
    fn vote(&self, pc: usize, device: &Device<'_>) -> u64 {
        let instruction = &device.program.code[pc];
        let Op::Barrier(Some(vote)) = instruction.op else { return 0 };
        let (mut yes, mut all) = (0, 0);
        for group in &self.groups {
            let flags = &group.registers[instruction.s[1] as usize];
            for arrival in &group.arrived {
                all += u64::from(arrival.mask.count());
                yes += arrival.mask.lanes().filter(|&lane| flags[lane] != 0).count() as u64;
            }
        }
        match vote {
            Vote::All => u64::from(yes == all),
            Vote::Any => u64::from(yes > 0),
            _ => yes,
        }
    }
}
