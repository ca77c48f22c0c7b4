//! Analysis of a kernel's control flow: registers that may be read before they are written, and registers that may share a place.

use super::{Instruction, Op};
use crate::error::ParseError;
use crate::syntax::Entry;

/// A kernel is too large if its sets have more words than this.
const MAX_WORDS: usize = 1 << 25;

/// A set of registers.
#[derive(Clone, PartialEq)]
struct Set(Vec<u64>);

impl Set {
    fn new(size: usize, full: bool) -> Self {
        Self(vec![if full { u64::MAX } else { 0 }; size.div_ceil(64)])
    }

    fn has(&self, register: u32) -> bool {
        self.0[register as usize / 64] >> (register % 64) & 1 == 1
    }

    fn insert(&mut self, register: u32) {
        self.0[register as usize / 64] |= 1 << (register % 64);
    }

    fn remove(&mut self, register: u32) {
        self.0[register as usize / 64] &= !(1 << (register % 64));
    }

    fn members(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().flat_map(|(at, &word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at as u32 * 64 + bit)
        })
    }
}

/// Instructions without branches between them.
struct Block {
    start: usize,
    end: usize,
    next: Vec<usize>,
}

fn blocks(code: &[Instruction]) -> Vec<Block> {
    let mut leads = vec![false; code.len() + 1];
    leads[0] = true;
    for (at, instruction) in code.iter().enumerate() {
        match instruction.op {
            Op::Branch(target) => (leads[target], leads[at + 1]) = (true, true),
            Op::Exit | Op::Trap => leads[at + 1] = true,
            _ => {}
        }
    }
    let starts: Vec<usize> = (0..code.len()).filter(|&at| leads[at]).collect();
    let number = |at: usize| starts.partition_point(|&start| start < at);
    let mut blocks = Vec::with_capacity(starts.len());
    for (index, &start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(code.len());
        let last = &code[end - 1];
        let mut next = Vec::new();
        if let Op::Branch(target) = last.op {
            next.push(number(target));
        }
        let falls = last.guard.is_some() || !matches!(last.op, Op::Branch(_) | Op::Exit | Op::Trap);
        if falls && end < code.len() {
            next.push(index + 1);
        }
        blocks.push(Block { start, end, next });
    }
    blocks
}

/// Marks the reads of registers that some path reaches without a write, and all writes of these registers. The carry flag is
/// the register behind the last one. Returns the number of marks.
pub(super) fn watch(code: &mut [Instruction], registers: usize, entry: &Entry) -> Result<usize, ParseError> {
    let blocks = blocks(code);
    let size = registers + 1;
    if blocks.len().saturating_mul(size.div_ceil(64)) > MAX_WORDS {
        let statement = &entry.statements[0];
        return statement.error(format!("{} branches and {registers} registers are too many", blocks.len()));
    }
    let flag = registers as u32;
    let mut before = vec![Set::new(size, true); blocks.len()];
    before[0] = Set::new(size, false);
    let mut changed = true;
    while changed {
        changed = false;
        for block in &blocks {
            let index = blocks.partition_point(|other| other.start < block.start);
            let mut state = before[index].clone();
            for instruction in code[block.start..block.end].iter().filter(|instruction| instruction.guard.is_none()) {
                written(instruction, flag).for_each(|register| state.insert(register));
            }
            for &next in &block.next {
                for (word, mask) in before[next].0.iter_mut().zip(&state.0) {
                    changed |= *word & !mask != 0;
                    *word &= mask;
                }
            }
        }
    }
    let mut marks = vec![None; size];
    let mut count = 0;
    for (block, state) in blocks.iter().zip(&mut before) {
        for instruction in &mut code[block.start..block.end] {
            let carry = instruction.reads_carry.then_some(flag);
            let mut mark = |register: u32| {
                *marks[register as usize].get_or_insert_with(|| {
                    count += 1;
                    count - 1
                })
            };
            let unknown = |register: &u32| *register < flag && !state.has(*register);
            let guard = instruction.guard.map(|(register, _)| register);
            instruction.guard_needs = guard.filter(unknown).map(&mut mark);
            let carry = carry.filter(|&flag| !state.has(flag));
            let needs = instruction.sources().filter(unknown).chain(carry).map(&mut mark).collect();
            instruction.needs = needs;
            if instruction.guard.is_none() {
                written(instruction, flag).for_each(|register| state.insert(register));
            }
        }
    }
    for instruction in code {
        let sets: Vec<u32> = written(instruction, flag).filter_map(|register| marks[register as usize]).collect();
        instruction.sets = sets.into();
    }
    Ok(count as usize)
}

fn written(instruction: &Instruction, flag: u32) -> impl Iterator<Item = u32> + '_ {
    instruction.writes().chain(instruction.writes_carry.then_some(flag))
}

/// Lets registers share places where their lives do not overlap, so that a block's registers fit the cache. Returns the
/// number of places; the numbers of sources follow them.
pub(super) fn allocate(code: &mut [Instruction], registers: usize) -> usize {
    let blocks = blocks(code);
    let limit = registers as u32;
    let mut live = vec![Set::new(registers, false); blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (index, block) in blocks.iter().enumerate().rev() {
            let mut state = after(block, &live, registers);
            for instruction in code[block.start..block.end].iter().rev() {
                if instruction.guard.is_none() {
                    instruction.writes().for_each(|register| state.remove(register));
                }
                instruction.reads().filter(|&register| register < limit).for_each(|register| state.insert(register));
            }
            changed |= state != live[index];
            live[index] = state;
        }
    }
    // The first and last moment of each register. Instruction `at` reads at moment 2 at and writes at 2 at + 1, or at once
    // if it writes several registers, one after another.
    let mut lives = vec![(usize::MAX, 0); registers];
    let mut extend = |register: u32, moment: usize| {
        let life: &mut (usize, usize) = &mut lives[register as usize];
        *life = (life.0.min(moment), life.1.max(moment));
    };
    for (index, block) in blocks.iter().enumerate() {
        live[index].members().for_each(|register| extend(register, 2 * block.start));
        after(block, &live, registers).members().for_each(|register| extend(register, 2 * block.end));
        for (at, instruction) in code.iter().enumerate().take(block.end).skip(block.start) {
            instruction.reads().filter(|&register| register < limit).for_each(|register| extend(register, 2 * at));
            let several = instruction.writes().count() > 1;
            for register in instruction.writes() {
                extend(register, 2 * at + 1);
                if several || instruction.guard.is_some() {
                    extend(register, 2 * at);
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..registers).filter(|&register| lives[register].0 != usize::MAX).collect();
    order.sort_by_key(|&register| lives[register]);
    let mut places = vec![0; registers];
    let mut count = 0;
    let mut free: Vec<u32> = Vec::new();
    let mut busy = std::collections::BTreeSet::new();
    for register in order {
        let (start, end) = lives[register];
        while let Some(&(until, place)) = busy.first().filter(|(until, _)| *until < start) {
            busy.remove(&(until, place));
            free.push(place);
        }
        let place = free.pop().unwrap_or_else(|| {
            count += 1;
            count - 1
        });
        places[register] = place;
        busy.insert((end, place));
    }
    let renumber = |register: &mut u32| {
        if *register != super::NONE {
            *register = if *register < limit { places[*register as usize] } else { *register - limit + count };
        }
    };
    for instruction in code {
        instruction.d.iter_mut().chain(&mut instruction.s).for_each(renumber);
        if let Some((register, _)) = &mut instruction.guard {
            renumber(register);
        }
    }
    count as usize
}

/// The registers that are read behind a block.
fn after(block: &Block, live: &[Set], registers: usize) -> Set {
    let mut state = Set::new(registers, false);
    for &next in &block.next {
        for (word, other) in state.0.iter_mut().zip(&live[next].0) {
            *word |= other;
        }
    }
    state
}
