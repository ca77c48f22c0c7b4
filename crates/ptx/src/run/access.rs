//! Loads, stores and atomic operations of a group: addresses are resolved and checked first, then values move.

use super::Trouble;
use super::block::{Device, State};
use super::group::{Group, Step};
use super::mask::Mask;
use super::order::Knowledge;
use super::pattern::{Lanes, WARP};
use super::shadow::{Cell, Conflict, Who};
use crate::error::FaultKind;
use crate::isa::{Access, Atomic, NONE, Space};
use crate::memory::Buffer;
use crate::syntax::SHARED_START;

/// Places that are no slot of global memory.
const SHARED: u32 = u32::MAX;
const CONST: u32 = u32::MAX - 1;
/// An address outside of everything, with the check of bounds off.
const NOWHERE: u32 = u32::MAX - 2;

/// What lanes of the current access touch.
#[derive(Debug)]
pub(super) struct Touched {
    addresses: Vec<u64>,
    /// Slot of global memory, or another place.
    slots: Vec<u32>,
    offsets: Vec<usize>,
    /// The lanes of `mask` in ascending order.
    list: Vec<usize>,
    mask: Mask,
    /// The second result of a shuffle.
    pub(super) valid: Box<[u64]>,
}

impl Touched {
    pub(super) fn new(lanes: usize) -> Self {
        Self {
            addresses: vec![0; lanes],
            slots: vec![NOWHERE; lanes],
            offsets: vec![0; lanes],
            list: Vec::new(),
            mask: Mask::NONE,
            valid: vec![0; lanes].into(),
        }
    }
}

/// What an access does to its place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Read,
    Write,
    Both,
}

fn fetch(bytes: &[u8], offset: usize, count: u32) -> u64 {
    fn part<const N: usize>(bytes: &[u8]) -> [u8; N] {
        bytes.first_chunk().copied().unwrap_or([0; N])
    }
    let bytes = bytes.get(offset..).unwrap_or_default();
    match count {
        8 => u64::from_le_bytes(part(bytes)),
        4 => u64::from(u32::from_le_bytes(part(bytes))),
        2 => u64::from(u16::from_le_bytes(part(bytes))),
        _ => u64::from(part::<1>(bytes)[0]),
    }
}

fn put(bytes: &mut [u8], offset: usize, count: u32, value: u64) {
    let count = count as usize;
    if let Some(bytes) = bytes.get_mut(offset..offset + count) {
        bytes.copy_from_slice(&value.to_le_bytes()[..count]);
    }
}

#[cold]
fn race(conflict: Conflict, lane: usize, address: u64) -> Trouble {
    let (what, earlier) = conflict;
    let fix = "put a barrier or a release and an acquire between them";
    Trouble::new(FaultKind::Race, lane, format!("{what} {}; {fix}", earlier.name())).at(address)
}

impl Group {
    /// Finds and checks the places of an access.
    fn touch(
        &mut self,
        step: Step<'_>,
        access: Access,
        does: Does,
        state: &mut State,
        device: &mut Device<'_>,
    ) -> Result<(), Trouble> {
        let Step { instruction, active, .. } = step;

        if self.touched.mask != *active {
            self.touched.mask = *active;
            self.touched.list = active.lanes().collect();
        }
        let bytes = access.bytes * access.count;
        let base = &self.registers[instruction.s[0] as usize];
        let touched = &mut self.touched;
        // The buffer of the last lane.
        let (mut slot, mut start, mut length) = (NOWHERE, 1, 0);
        let mut anywhere = false;
        for &lane in &touched.list {
            let address = base[lane].wrapping_add(access.offset as u64);
            touched.addresses[lane] = address;
            if address & u64::from(bytes - 1) != 0 && device.checks.alignment {
                let what = format!("an access of {bytes} bytes is not aligned to them");
                return Err(Trouble::new(FaultKind::Misaligned, lane, what).at(address));
            }
            let space = match access.space {
                Space::Generic if address < 1 << 32 => Space::Shared,
                Space::Generic => Space::Global,
                space => space,
            };
            match space {
                Space::Shared => {
                    touched.slots[lane] = SHARED;
                    touched.offsets[lane] = address as usize;
                    if !state.is_mapped(address, bytes, device) {
                        touched.slots[lane] = NOWHERE;
                        if device.checks.bounds {
                            let what = format!("{bytes} bytes lie in no array of shared memory");
                            return Err(Trouble::new(FaultKind::OutOfBounds, lane, what).at(address));
                        }
                        continue;
                    }
                    let who = state.who(self.first + lane as u32);
                    check_shared(&who, address, bytes, access, does, state, device)
                        .map_err(|trouble| Trouble { lane, ..trouble })?;
                }
                Space::Const => {
                    touched.slots[lane] = CONST;
                    touched.offsets[lane] = address as usize;
                    let end = address.checked_add(u64::from(bytes));
                    if end.is_none_or(|end| end > device.program.constants.len() as u64) && device.checks.bounds {
                        let what = format!("{bytes} bytes lie outside of constant memory");
                        return Err(Trouble::new(FaultKind::OutOfBounds, lane, what).at(address));
                    }
                }
                Space::Global | Space::Generic => {
                    anywhere = true;
                    if address.wrapping_sub(start) > length || length - (address - start) < u64::from(bytes) {
                        match device.memory.find(address, u64::from(bytes)) {
                            Some((found, _)) => {
                                let buffer = device.memory.buffer(found);
                                (slot, start, length) = (found as u32, buffer.start, buffer.bytes.len() as u64);
                            }
                            None if device.checks.bounds => {
                                let what = format!("{bytes} bytes lie in no allocation");
                                return Err(Trouble::new(FaultKind::OutOfBounds, lane, what).at(address));
                            }
                            None => {
                                touched.slots[lane] = NOWHERE;
                                continue;
                            }
                        }
                    }
                    let offset = (address - start) as usize;
                    touched.slots[lane] = slot;
                    touched.offsets[lane] = offset;
                    let buffer = device.memory.buffer(slot as usize);
                    if does != Does::Write && device.checks.uninitialised && !buffer.is_written(offset, bytes as usize)
                    {
                        let what = "nobody wrote these bytes of global memory";
                        return Err(Trouble::new(FaultKind::Uninitialised, lane, what).at(address));
                    }
                    if device.checks.races {
                        let grain = device.program.global_grain;
                        let who = state.who(self.first + lane as u32);
                        for place in offset >> grain..=(offset + bytes as usize - 1) >> grain {
                            let cell = device.pages.cell(slot as usize, place);
                            record(cell, &who, does, access, &device.knowledge)
                                .map_err(|conflict| race(conflict, lane, address))?;
                            let cached = access.constant || device.program.caches && does != Does::Read;
                            if cached && device.pages.is_stale(slot as usize, place, access.constant) {
                                let what =
                                    "a load through the read-only cache (.nc) reads bytes that this launch writes";
                                return Err(Trouble::new(FaultKind::Race, lane, what).at(address));
                            }
                        }
                    }
                }
            }
        }
        self.count_patterns(step, access, anywhere, device);
        Ok(())
    }

    fn count_patterns(&self, step: Step<'_>, access: Access, anywhere: bool, device: &mut Device<'_>) {
        let bytes = access.bytes * access.count;

        let shared = match access.space {
            Space::Const => return,
            Space::Generic => !anywhere,
            space => space == Space::Shared,
        };
        for (warp, addresses) in self.touched.addresses.chunks(WARP).enumerate() {
            let lanes = Lanes { addresses, active: step.active.warp(warp), bytes, shared };
            if lanes.active == 0 {
                continue;
            }
            let (taken, least) = device.patterns.cost(step.pc, warp, lanes);
            let counters = &mut device.counters;
            if shared {
                counters.bank_transactions += taken;
                counters.bank_least += least;
            } else {
                counters.sectors += taken;
                counters.sectors_least += least;
            }
        }
    }

    pub(super) fn load(
        &mut self,
        step: Step<'_>,
        access: Access,
        state: &mut State,
        device: &mut Device<'_>,
    ) -> Result<(), Trouble> {
        let Step { instruction, active, .. } = step;

        self.touch(step, access, Does::Read, state, device)?;
        if access.order.strong && device.program.strong {
            device.polls += 1;
            for &lane in &self.touched.list {
                let who = state.who(self.first + lane as u32);
                device.knowledge.read(&who, state.key(self.touched.addresses[lane]), access.order);
            }
        }
        for (element, &target) in instruction.d.iter().enumerate().take(access.count as usize) {
            if target == NONE {
                continue;
            }
            let shift = element * access.bytes as usize;
            let Touched { list, slots, offsets, .. } = &self.touched;
            let empty: &[u8] = &[];
            let (mut last, mut bytes) = (NOWHERE, empty);
            for &lane in list {
                if slots[lane] != last {
                    last = slots[lane];
                    bytes = match last {
                        SHARED => &state.shared,
                        CONST => &device.program.constants,
                        NOWHERE => empty,
                        slot => &device.memory.buffer(slot as usize).bytes,
                    };
                }
                self.scratch[lane] = fetch(bytes, offsets[lane] + shift, access.bytes);
            }
            if let Some(mask) = access.signed {
                let unused = 64 - 8 * access.bytes;
                for &lane in &self.touched.list {
                    self.scratch[lane] = ((self.scratch[lane] << unused) as i64 >> unused) as u64 & mask;
                }
            }
            self.commit(target, active);
        }
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        step: Step<'_>,
        access: Access,
        state: &mut State,
        device: &mut Device<'_>,
    ) -> Result<(), Trouble> {
        let Step { instruction, .. } = step;

        self.touch(step, access, Does::Write, state, device)?;
        device.advance();
        if access.order.strong && device.program.strong {
            for &lane in &self.touched.list {
                let who = state.who(self.first + lane as u32);
                device.knowledge.write(&who, state.key(self.touched.addresses[lane]), access.order, false);
            }
            state.advance();
        }
        for element in 0..access.count as usize {
            let shift = element * access.bytes as usize;
            let values = &self.registers[instruction.s[1 + element] as usize];
            let Touched { list, slots, offsets, .. } = &self.touched;
            for &lane in list {
                let offset = offsets[lane] + shift;
                match slots[lane] {
                    SHARED => put(&mut state.shared, offset, access.bytes, values[lane]),
                    NOWHERE | CONST => {}
                    slot => write_global(device.memory.buffer_mut(slot as usize), offset, access.bytes, values[lane]),
                }
            }
        }
        Ok(())
    }

    pub(super) fn atomic(
        &mut self,
        step: Step<'_>,
        atomic: Atomic,
        state: &mut State,
        device: &mut Device<'_>,
    ) -> Result<(), Trouble> {
        let Step { instruction, active, .. } = step;

        let access = atomic.access;
        self.touch(step, access, Does::Both, state, device)?;
        device.polls += 1;
        let mut changes = false;
        let (a, b) = (&self.registers[instruction.s[1] as usize], &self.registers[instruction.s[2] as usize]);
        let Touched { list, slots, offsets, .. } = &self.touched;
        for &lane in list {
            if device.program.strong {
                let (who, key) = (state.who(self.first + lane as u32), state.key(self.touched.addresses[lane]));
                device.knowledge.read(&who, key, access.order);
                device.knowledge.write(&who, key, access.order, true);
            }
            let offset = offsets[lane];
            let bytes = match slots[lane] {
                SHARED => &mut state.shared,
                NOWHERE | CONST => continue,
                slot => &mut device.memory.buffer_mut(slot as usize).bytes,
            };
            let old = fetch(bytes, offset, access.bytes);
            let new = (atomic.apply)(old, a[lane], b[lane]);
            changes |= new != old;
            put(bytes, offset, access.bytes, new);
            self.scratch[lane] = old;
        }
        if changes {
            device.advance();
        }
        state.advance();
        if instruction.d[0] != NONE {
            self.commit(instruction.d[0], active);
        }
        Ok(())
    }
}

fn write_global(buffer: &mut Buffer, offset: usize, bytes: u32, value: u64) {
    put(&mut buffer.bytes, offset, bytes, value);
    buffer.mark(offset, bytes as usize);
}

#[inline(always)]
fn record(cell: &mut Cell, who: &Who, does: Does, access: Access, knowledge: &Knowledge) -> Result<(), Conflict> {
    let strong = access.order.strong;
    match does {
        Does::Read => cell.read(who, strong, knowledge),
        Does::Write => cell.write(who, strong, knowledge),
        Does::Both => {
            cell.read(who, strong, knowledge)?;
            cell.write(who, strong, knowledge)
        }
    }
}

/// The checks of an access to shared memory, in each of its cells. The lane of an error is not set.
#[inline(always)]
fn check_shared(
    who: &Who,
    address: u64,
    bytes: u32,
    access: Access,
    does: Does,
    state: &mut State,
    device: &Device<'_>,
) -> Result<(), Trouble> {
    if !device.checks.races && !device.checks.uninitialised {
        return Ok(());
    }
    let grain = device.program.shared_grain;
    let start = address - u64::from(SHARED_START);
    for cell in start >> grain..=(start + u64::from(bytes) - 1) >> grain {
        let cell = &mut state.cells[cell as usize];
        if does != Does::Write && device.checks.uninitialised && !cell.was_written() {
            let what = "nobody wrote these bytes of shared memory";
            return Err(Trouble::new(FaultKind::Uninitialised, 0, what).at(address));
        }
        let recorded = record(cell, who, does, access, &device.knowledge);
        if let Some(conflict) = recorded.err().filter(|_| device.checks.races) {
            return Err(race(conflict, 0, address));
        }
    }
    Ok(())
}
