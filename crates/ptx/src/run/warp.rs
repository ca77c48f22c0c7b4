//! Instructions that lanes of a warp execute together: shuffles, votes, reductions and barriers of a warp.

use super::Trouble;
use super::block::State;
use super::group::{Group, Next};
use super::mask::Mask;
use super::pattern::WARP;
use crate::error::FaultKind;
use crate::isa::{Instruction, NONE, Op, Shuffle, Vote};

impl Group {
    /// Executes the instruction for the lanes whose member masks are complete. The others wait.
    pub(super) fn exchange(
        &mut self,
        instruction: &Instruction,
        active: &Mask,
        state: &mut State,
    ) -> Result<Next, Trouble> {
        let members = match instruction.op {
            Op::Shuffle(_) => instruction.s[3],
            Op::WarpBarrier => instruction.s[0],
            _ => instruction.s[1],
        };
        let mut ready = Mask::NONE;
        let alive = self.all.without(&self.exited);
        let mut sets = [0u32; WARP];
        for warp in 0..self.lanes / WARP {
            let here = active.warp(warp);
            if here == 0 {
                continue;
            }
            for (lane, set) in sets.iter_mut().enumerate() {
                *set = self.registers[members as usize][WARP * warp + lane] as u32 & alive.warp(warp);
            }
            let mut complete = 0;
            for lane in bits(here) {
                if sets[lane] >> lane & 1 == 0 {
                    let what = "a lane is not in its own set of members";
                    return Err(Trouble::new(FaultKind::Barrier, WARP * warp + lane, what));
                }
                let together = sets[lane] & !here == 0 && bits(sets[lane]).all(|other| sets[other] == sets[lane]);
                complete |= u32::from(together) << lane;
            }
            ready.set_warp(warp, complete);
            if complete != 0 {
                self.exchange_warp(instruction, warp, complete, &sets, alive.warp(warp), state)?;
            }
        }
        let (value, valid) = (instruction.d[0], instruction.d[1]);
        if value != NONE {
            self.commit(value, &ready);
        }
        if valid != NONE {
            std::mem::swap(&mut self.scratch, &mut self.touched.valid);
            self.commit(valid, &ready);
        }
        let waiting = active.without(&ready);
        Ok(if waiting.is_empty() { Next::Straight } else { Next::Wait(waiting) })
    }

    fn exchange_warp(
        &mut self,
        instruction: &Instruction,
        warp: usize,
        ready: u32,
        sets: &[u32; WARP],
        alive: u32,
        state: &mut State,
    ) -> Result<(), Trouble> {
        let base = WARP * warp;
        match instruction.op {
            Op::Shuffle(mode) => {
                let register = |at: usize, lane: usize| self.registers[instruction.s[at] as usize][base + lane];
                for lane in bits(ready) {
                    let (amount, limits) = (register(1, lane) as usize & 31, register(2, lane) as usize);
                    let (from, valid) = source_lane(mode, lane, amount, limits);
                    if sets[lane] >> from & 1 == 0 {
                        let what = format!("the value of lane {from} is undefined: that lane takes no part");
                        return Err(Trouble::new(FaultKind::Uninitialised, base + lane, what));
                    }
                    self.scratch[base + lane] = register(0, from);
                    self.touched.valid[base + lane] = u64::from(valid);
                }
            }
            Op::Vote(vote) => {
                let flags = &self.registers[instruction.s[0] as usize][base..base + WARP];
                for lane in bits(ready) {
                    let ballot: u32 = bits(sets[lane]).map(|other| u32::from(flags[other] != 0) << other).sum();
                    self.scratch[base + lane] = match vote {
                        Vote::All => u64::from(ballot == sets[lane]),
                        Vote::Any => u64::from(ballot != 0),
                        Vote::Uniform => u64::from(ballot == 0 || ballot == sets[lane]),
                        Vote::Ballot => u64::from(ballot),
                        Vote::Count => u64::from(ballot.count_ones()),
                    };
                }
            }
            Op::Reduce(f) => {
                let values = &self.registers[instruction.s[0] as usize][base..base + WARP];
                for lane in bits(ready) {
                    self.scratch[base + lane] = bits(sets[lane]).map(|other| values[other]).reduce(f).unwrap_or(0);
                }
            }
            _ => {
                let mut left = ready;
                while left != 0 {
                    let set = sets[left.trailing_zeros() as usize];
                    state.warp_barrier(self.first / 32 + warp as u32, set, set == alive);
                    left &= !set;
                }
            }
        }
        Ok(())
    }
}

fn bits(mask: u32) -> impl Iterator<Item = usize> {
    (0..WARP).filter(move |bit| mask >> bit & 1 == 1)
}

/// The lane that a shuffle reads, and whether it was in range.
fn source_lane(mode: Shuffle, lane: usize, amount: usize, limits: usize) -> (usize, bool) {
    let (clamp, segment) = (limits & 31, limits >> 8 & 31);
    let first = lane & segment;
    let last = first | clamp & !segment;
    let (from, valid) = match mode {
        Shuffle::Up => (lane.wrapping_sub(amount), lane as isize - amount as isize >= last as isize),
        Shuffle::Down => (lane + amount, lane + amount <= last),
        Shuffle::Butterfly => (lane ^ amount, (lane ^ amount) <= last),
        Shuffle::Index => (first | amount & !segment, (first | amount & !segment) <= last),
    };
    if valid { (from, true) } else { (lane, false) }
}
