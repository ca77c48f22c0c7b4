//! Asynchronous copies: the bytes that `cp.async` took from global memory, until its thread waits for them.
//!
//! The issue writes the destination without a value, so that a read before the wait is a read of bytes that nobody wrote.
//! The wait writes the bytes. Both are stores of the thread for the check of races.

use std::collections::VecDeque;

use super::Trouble;
use super::block::{Device, State, UNWRITTEN};
use super::group::{Group, Step};
use super::mask::Mask;
use super::shadow::Manner;
use super::touch::{Does, NOWHERE, race, shared_places};
use crate::error::FaultKind;
use crate::isa::Access;

/// A copy that is under way.
#[derive(Debug)]
struct Pending {
    /// Number of its group among those of the thread.
    group: u64,
    /// Address in shared memory.
    address: u64,
    bytes: u32,
    values: [u64; 2],
}

/// The copies of a thread in the order of their issue.
#[derive(Debug, Default)]
struct Queue {
    /// Number of groups that the thread closed.
    closed: u64,
    pending: VecDeque<Pending>,
}

/// The copies of each lane of a group. It is empty before the first one.
#[derive(Debug, Default)]
pub(super) struct Copies(Vec<Queue>);

impl Copies {
    /// Drops all copies.
    pub(super) fn clear(&mut self) {
        for queue in &mut self.0 {
            queue.closed = 0;
            queue.pending.clear();
        }
    }

    fn queues(&mut self, lanes: usize) -> &mut [Queue] {
        self.0.resize_with(lanes, Queue::default);
        &mut self.0
    }

    /// Each active lane closes its group, which may be empty.
    #[inline(never)]
    pub(super) fn close(&mut self, lanes: usize, active: &Mask) {
        let queues = self.queues(lanes);
        active.lanes().for_each(|lane| queues[lane].closed += 1);
    }
}

impl Group {
    /// Begins a copy. An instruction before this one loaded the bytes.
    #[inline(never)]
    pub(super) fn copy(
        &mut self,
        step: Step<'_>,
        access: Access,
        state: &mut State,
        device: &mut Device<'_>,
    ) -> Result<(), Trouble> {
        self.touch(step, access, Does::Write, state, device)?;
        device.advance();
        let (bytes, count) = (access.bytes * access.count, access.count as usize);
        let queues = self.copies.queues(self.lanes);
        for &lane in &self.touched.list {
            if self.touched.slots[lane] == NOWHERE {
                continue;
            }
            let address = self.touched.addresses[lane];
            let sources = step.instruction.s[1..=count].iter();
            let mut values = [0; 2];
            for (value, &source) in values.iter_mut().zip(sources) {
                *value = self.registers[source as usize][lane];
            }
            state.cells.take_values(shared_places(address, bytes, device.program.shared_grain));
            if let Some(target) = state.shared.get_mut(address as usize..address as usize + bytes as usize) {
                target.fill(UNWRITTEN);
            }
            let Queue { closed, pending } = &mut queues[lane];
            pending.push_back(Pending { group: *closed, address, bytes, values });
        }
        Ok(())
    }

    /// Ends the copies of the active lanes, but for the youngest closed groups (`left` of them) and the open group.
    #[inline(never)]
    pub(super) fn land(
        &mut self,
        active: &Mask,
        left: u64,
        state: &mut State,
        device: &mut Device<'_>,
    ) -> Result<(), Trouble> {
        for lane in active.lanes() {
            // Without queues there is no copy.
            let Some(queue) = self.copies.0.get_mut(lane) else { return Ok(()) };
            let end = queue.closed.saturating_sub(left);
            while let Some(copy) = queue.pending.pop_front_if(|copy| copy.group < end) {
                device.advance();
                write(&copy, lane, self.first + lane as u32, state, device)?;
            }
        }
        Ok(())
    }
}

impl Group {
    /// Lanes exit. A copy without a wait may still end later, so nothing may have written its bytes since.
    #[inline(never)]
    pub(super) fn leave(&mut self, active: &Mask, state: &State, device: &Device<'_>) -> Result<(), Trouble> {
        if self.copies.0.is_empty() || !device.checks.races {
            return Ok(());
        }
        for lane in active.lanes() {
            for &Pending { address, bytes, .. } in &self.copies.0[lane].pending {
                if !shared_places(address, bytes, device.program.shared_grain)
                    .all(|place| state.cells.is_awaited(place))
                {
                    let what = "a thread ends without a wait for a cp.async, whose bytes were written since its issue";
                    return Err(Trouble::new(FaultKind::Race, lane, what).at(address));
                }
            }
        }
        Ok(())
    }
}

/// Stores the bytes of a copy. The issue checked the address.
fn write(copy: &Pending, lane: usize, thread: u32, state: &mut State, device: &Device<'_>) -> Result<(), Trouble> {
    let &Pending { address, bytes, values, .. } = copy;
    if device.checks.races || device.checks.uninitialised {
        let places = shared_places(address, bytes, device.program.shared_grain);
        let is_whole = places.clone().all(|place| state.cells.is_awaited(place));
        let who = state.who(thread);
        // A conflict does not keep the other places from their value, if the check of races is off.
        let mut recorded = Ok(());
        for place in places {
            let result = state.cells.write(place..=place, &who, Manner::Weak, &device.knowledge);
            recorded = recorded.and(result);
        }
        if let Some(conflict) = recorded.err().filter(|_| device.checks.races) {
            return Err(race(conflict, lane, address));
        }
        if !is_whole && device.checks.races {
            let what = "a cp.async ends on bytes that were written after its issue; wait for it before that write";
            return Err(Trouble::new(FaultKind::Race, lane, what).at(address));
        }
    }
    let [low, high] = values.map(u64::to_le_bytes);
    let start = address as usize;
    if let Some(target) = state.shared.get_mut(start..start + bytes as usize) {
        target.iter_mut().zip(low.into_iter().chain(high)).for_each(|(target, byte)| *target = byte);
    }
    Ok(())
}
