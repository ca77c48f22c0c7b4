//! A launch: which blocks run side by side, and in which order.

use std::ops::Range;

use super::block::{Block, Device};
use super::order::Knowledge;
use super::parcel::{self, Done};
use super::pattern::Patterns;
use super::shadow::{BLOCK_BITS, Pages};
use crate::counters::Counters;
use crate::error::{Fault, FaultKind};
use crate::isa::Program;
use crate::launch::{Launch, Options, Ranges, Report};
use crate::memory::Memory;
use crate::random::Random;

/// Shared memory of a multiprocessor and of a block, bytes (Hopper).
const SHARED_TOTAL: u32 = 228 << 10;
const SHARED_BLOCK: u32 = 227 << 10;
/// Threads and blocks of a multiprocessor, at most.
const THREADS: u32 = 2048;
const BLOCKS: u32 = 32;
/// Lane instructions of a parcel, about, and most parcels of a launch.
const PARCEL: u64 = 1 << 21;
const MOST_PARCELS: u32 = 16;
/// A launch is stuck if each resident block polls this often without a store, a barrier or an exit of any block.
const POLLS: u64 = 1 << 14;

/// The arguments of a launch.
pub(crate) struct Setup<'a> {
    pub(crate) program: &'a Program,
    pub(crate) launch: &'a Launch,
    pub(crate) options: &'a Options,
    pub(crate) parameters: &'a [u8],
    /// Number of the launch on its device. It changes the random order.
    pub(crate) number: u64,
}

fn refuse<T>(setup: &Setup<'_>, what: impl std::fmt::Display) -> Result<T, Fault> {
    Err(Fault::new(FaultKind::Launch, format!("kernel {}: {what}", setup.program.entry.name)))
}

/// The number of blocks and the threads of each.
fn shape(setup: &Setup<'_>) -> Result<(u32, u32), Fault> {
    let Setup { program, launch, .. } = setup;
    let product = |size: [u32; 3]| size.into_iter().map(u128::from).product::<u128>();
    let (blocks, threads) = (product(launch.grid), product(launch.block));
    if launch.cluster != [1, 1, 1] {
        return refuse(setup, "clusters are not supported yet; pass [1, 1, 1]");
    }
    if blocks == 0 || launch.grid[1].max(launch.grid[2]) > 65_535 || blocks >= 1 << BLOCK_BITS {
        return refuse(setup, format_args!("the grid {:?} has no block or too many", launch.grid));
    }
    let most = program.entry.max_threads.unwrap_or(1024);
    if threads == 0 || threads > u128::from(most) {
        return refuse(setup, format_args!("a block of {threads} threads; it may have 1 to {most}"));
    }
    let shared = u64::from(program.entry.shared_bytes) + u64::from(launch.shared);
    if shared > u64::from(SHARED_BLOCK) {
        return refuse(setup, format_args!("{shared} bytes of shared memory; a block has {SHARED_BLOCK}"));
    }
    let expected = program.entry.parameters.last().map_or(0, |last| (last.offset + last.bytes) as usize);
    if setup.parameters.len() != expected {
        return refuse(setup, format_args!("{} bytes of parameters; it takes {expected}", setup.parameters.len()));
    }
    Ok((blocks as u32, threads as u32))
}

/// Runs a launch to its end.
pub(crate) fn run(setup: &Setup<'_>, memory: &Memory) -> Result<Report, Fault> {
    let (count, threads) = shape(setup)?;
    let Setup { program, options, .. } = setup;
    // Blocks that wait for each other must run side by side.
    let lanes = u64::from(count) * u64::from(threads) * program.code.len() as u64;
    let parcels = if program.strong { 1 } else { (lanes / PARCEL).clamp(1, u64::from(MOST_PARCELS.min(count))) as u32 };
    let run_parcel = |parcel: u32, parcels: u32| {
        let first = |parcel: u32| (u64::from(count) * u64::from(parcel) / u64::from(parcels)) as u32;
        run_blocks(setup, memory, threads, first(parcel)..first(parcel + 1), parcel)
    };
    let done = parcel::run(parcels, options.threads, |parcel| run_parcel(parcel, parcels))?;
    let done = match done {
        Ok(done) => done,
        // Blocks of different parcels race. Together they show where.
        Err(place) => {
            run_parcel(0, 1)?;
            let what = "two blocks touch these bytes, and one of them writes; use one block, or two launches";
            let buffer = memory.buffer(place.0);
            return Err(Fault::new(FaultKind::Race, what).at(buffer.start + ((place.1 as u64) << program.global_grain)));
        }
    };
    Ok(report(program, memory, &done))
}

/// Runs some blocks of a launch to their end, side by side in random order.
fn run_blocks(
    setup: &Setup<'_>,
    memory: &Memory,
    threads: u32,
    blocks: Range<u32>,
    parcel: u32,
) -> Result<Done, Fault> {
    let Setup { program, launch, options, .. } = setup;
    let shared = (program.entry.shared_bytes + launch.shared).max(1);
    let per_processor = (SHARED_TOTAL / (shared + 1024)).min(THREADS / threads.next_multiple_of(32)).clamp(1, BLOCKS);
    let most = options.multiprocessors.max(1).saturating_mul(per_processor);
    let mut device = device(setup, memory);
    let mut random = Random::new(options.seed ^ setup.number << 32 ^ u64::from(parcel) << 24);
    let mut order: Vec<u32> = blocks.collect();
    let mut resident: Vec<Block> = Vec::new();
    let mut spare: Vec<Block> = Vec::new();
    let mut steps = options.steps;
    loop {
        let places = most.min(resident.len() as u32 + order.len() as u32);
        if places == 0 {
            break;
        }
        let mut at = random.below(places) as usize;
        if at >= resident.len() {
            at = resident.len();
            let next = random.below(order.len() as u32) as usize;
            let mut block = spare.pop().unwrap_or_else(|| Block::new(threads, &mut random, &device));
            block.start(order.swap_remove(next), &device);
            resident.push(block);
        }
        let slice = 1 << (10 + random.below(6));
        if resident[at].run(slice, &mut random, &mut device)? {
            let block = resident.swap_remove(at);
            // Now and then the warps are cut anew.
            if random.below(8) != 0 {
                spare.push(block);
            }
        }
        steps = steps.saturating_sub(slice);
        if steps == 0 {
            let what = format!("kernel {}: it needs more than {} steps", program.entry.name, options.steps);
            return Err(Fault::new(FaultKind::Stuck, what));
        }
        if device.polls > POLLS * (resident.len() as u64 + 1) {
            let what = format!("blocks wait for something that never happens; {most} blocks run side by side");
            return Err(Fault::new(FaultKind::Stuck, format!("kernel {}: {what}", program.entry.name)));
        }
    }
    Ok(Done { counters: device.counters, counts: device.counts, pages: device.pages })
}

fn device<'a>(setup: &Setup<'a>, memory: &'a Memory) -> Device<'a> {
    let Setup { program, launch, options, parameters, .. } = *setup;
    let entry = &program.entry;
    let end = entry.dynamic + launch.shared;
    let dynamic = (entry.dynamic, launch.shared);
    let arrays = entry.arrays.iter().map(|array| (array.offset, array.bytes)).chain([dynamic]);
    let arrays = arrays.map(|(start, bytes)| u64::from(start)..u64::from(start + bytes)).collect();
    Device {
        program,
        launch,
        checks: options.checks,
        parameters,
        memory,
        pages: Pages::new(program.strong),
        knowledge: Knowledge::default(),
        patterns: Patterns::default(),
        counters: Counters::default(),
        counts: vec![0; program.code.len()],
        arrays,
        shared_end: end,
        polls: 0,
    }
}

fn report(program: &Program, memory: &Memory, done: &Done) -> Report {
    let mut counters = done.counters.clone();
    for (instruction, count) in program.code.iter().zip(&done.counts) {
        if instruction.counted {
            counters.lanes[instruction.class as usize] += count;
        }
    }
    let grain = 1 << program.global_grain;
    let (mut reads, mut writes) = (Ranges::new(), Ranges::new());
    for (slot, places, [read, written]) in done.pages.runs() {
        let buffer = memory.buffer(slot);
        let address = |place: usize| buffer.start + place as u64 * grain;
        let end = address(places.end).min(buffer.start + buffer.len() as u64);
        for (ranges, touched) in [(&mut reads, read), (&mut writes, written)] {
            match ranges.last_mut() {
                _ if !touched => {}
                Some(last) if last.end == address(places.start) => last.end = end,
                _ => ranges.push(address(places.start)..end),
            }
        }
    }
    // Slots are not in the order of their addresses.
    reads.sort_unstable_by_key(|range| range.start);
    writes.sort_unstable_by_key(|range| range.start);
    Report { counters, reads, writes }
}
