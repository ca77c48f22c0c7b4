//! The places that an access touches: addresses are resolved and checked, and races are looked for.

use std::ops::{Range, RangeInclusive};

use super::Trouble;
use super::block::{Device, State};
use super::group::{Group, Step};
use super::mask::Mask;
use super::order::Knowledge;
use super::pattern::{Lanes, WARP};
use super::shadow::{Cells, Conflict, Manner, Pages, Who};
use crate::error::FaultKind;
use crate::isa::{Access, Space};
use crate::launch::Checks;
use crate::syntax::SHARED_START;

/// Places that are no slot of global memory.
pub(super) const SHARED: u32 = u32::MAX;
pub(super) const CONST: u32 = u32::MAX - 1;
/// An address outside of everything, with the check of bounds off.
pub(super) const NOWHERE: u32 = u32::MAX - 2;

/// The places that the lanes of the current access touch.
#[derive(Debug)]
pub(super) struct Touched {
    pub(super) addresses: Vec<u64>,
    /// Slot of global memory, or another place.
    pub(super) slots: Vec<u32>,
    pub(super) offsets: Vec<usize>,
    /// The lanes of `mask` in ascending order.
    pub(super) list: Vec<usize>,
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

/// The effect of an access on its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    Read,
    Write,
    Both,
}

#[cold]
pub(super) fn race(conflict: Conflict, lane: usize, address: u64) -> Trouble {
    let (what, earlier) = conflict;
    let fix = "put a barrier or a release and an acquire between them";
    Trouble::new(FaultKind::Race, lane, format!("{what} {}; {fix}", earlier.name())).at(address)
}

/// The places of an access to shared memory, which lies in an array.
#[inline(always)]
pub(super) fn shared_places(address: u64, bytes: u32, grain: u32) -> RangeInclusive<usize> {
    let start = (address - u64::from(SHARED_START)) as usize;
    start >> grain..=(start + bytes as usize - 1) >> grain
}

impl Group {
    /// Finds and checks the places of an access.
    pub(super) fn touch(
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
            self.touched.list.clear();
            self.touched.list.extend(active.lanes());
        }
        let bytes = access.bytes * access.count;
        let base = &self.registers[instruction.s[0] as usize];
        let Touched { addresses, list, .. } = &mut self.touched;
        let mut low_bits = 0;
        for &lane in &*list {
            addresses[lane] = base[lane].wrapping_add(access.offset as u64);
            low_bits |= addresses[lane];
        }
        let odd = u64::from(bytes - 1);
        if low_bits & odd != 0 && device.checks.alignment {
            let lane = list.iter().copied().find(|&lane| addresses[lane] & odd != 0).unwrap_or(0);
            let what = format!("an access of {bytes} bytes is not aligned to them");
            return Err(Trouble::new(FaultKind::Misaligned, lane, what).at(addresses[lane]));
        }
        // Lanes in order, cut where the space changes.
        let (list, mut rest) = (std::mem::take(&mut self.touched.list), 0);
        let mut anywhere = false;
        let mut result = Ok(());
        while rest < list.len() && result.is_ok() {
            let space = |lane: usize| match access.space {
                Space::Generic if self.touched.addresses[lane] < 1 << 32 => Space::Shared,
                Space::Generic => Space::Global,
                space => space,
            };
            let first = space(list[rest]);
            let same = |lane: &&usize| access.space == first || space(**lane) == first;
            let end = rest + list[rest..].iter().take_while(same).count();
            let run = Run { lanes: &list[rest..end], first: self.first, bytes, access, does };
            result = match first {
                Space::Shared => self.touched.shared(&run, state, device),
                Space::Const => self.touched.constant(&run, device),
                Space::Global | Space::Generic => {
                    anywhere = true;
                    self.touched.global(&run, state, device)
                }
            };
            rest = end;
        }
        self.touched.list = list;
        result?;
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
}

/// Lanes of an access that touch one space.
struct Run<'a> {
    lanes: &'a [usize],
    /// The thread of lane 0.
    first: u32,
    bytes: u32,
    access: Access,
    does: Does,
}

impl Run<'_> {
    /// The lowest address, and the end of the highest one.
    fn range(&self, addresses: &[u64]) -> Range<u64> {
        let bounds = |(low, high): (u64, u64), &lane: &usize| (low.min(addresses[lane]), high.max(addresses[lane]));
        let (low, high) = self.lanes.iter().fold((u64::MAX, 0), bounds);
        low..high.saturating_add(u64::from(self.bytes))
    }

    fn is_read(&self) -> bool {
        self.does != Does::Write
    }

    /// Records the access of `who` to some places.
    #[inline(always)]
    fn record(
        &self,
        cells: &mut Cells,
        places: RangeInclusive<usize>,
        who: &Who,
        knowledge: &Knowledge,
    ) -> Result<(), Conflict> {
        let manner = if self.access.order.strong {
            Manner::Strong
        } else if self.access.constant {
            Manner::Cached
        } else {
            Manner::Weak
        };
        if self.is_read() {
            cells.read(places.clone(), who, manner, knowledge)?;
        }
        if self.does != Does::Read {
            cells.write(places, who, manner, knowledge)?;
        }
        Ok(())
    }
}

impl Touched {
    /// The lanes, cut where the slot changes.
    pub(super) fn runs(&self) -> impl Iterator<Item = (u32, &[usize])> {
        self.list.chunk_by(|&a, &b| self.slots[a] == self.slots[b]).map(|lanes| (self.slots[lanes[0]], lanes))
    }

    fn shared(&mut self, run: &Run<'_>, state: &mut State, device: &Device<'_>) -> Result<(), Trouble> {
        let Self { addresses, slots, offsets, .. } = self;
        let is_inside = device.is_in_array(run.range(addresses));
        for &lane in run.lanes {
            (slots[lane], offsets[lane]) = (SHARED, addresses[lane] as usize);
            if !is_inside && !device.is_in_array(addresses[lane]..addresses[lane].saturating_add(run.bytes.into())) {
                slots[lane] = NOWHERE;
                if device.checks.bounds {
                    let what = format!("{} bytes lie in no array of shared memory", run.bytes);
                    return Err(Trouble::new(FaultKind::OutOfBounds, lane, what).at(addresses[lane]));
                }
            }
        }
        let Checks { races, uninitialised, .. } = device.checks;
        if !races && !uninitialised {
            return Ok(());
        }
        let grain = device.program.shared_grain;
        let mut who = state.who(run.first + run.lanes[0] as u32);
        for &lane in run.lanes {
            if slots[lane] == NOWHERE {
                continue;
            }
            state.next(&mut who, run.first + lane as u32);
            let places = shared_places(addresses[lane], run.bytes, grain);
            if run.is_read() && uninitialised && !places.clone().all(|place| state.cells.was_written(place)) {
                let what = if places.into_iter().any(|place| state.cells.is_awaited(place)) {
                    "nobody wrote these bytes of shared memory: no wait completed the cp.async into them"
                } else {
                    "nobody wrote these bytes of shared memory"
                };
                return Err(Trouble::new(FaultKind::Uninitialised, lane, what).at(addresses[lane]));
            }
            let recorded = run.record(&mut state.cells, places, &who, &device.knowledge);
            if let Some(conflict) = recorded.err().filter(|_| races) {
                return Err(race(conflict, lane, addresses[lane]));
            }
        }
        Ok(())
    }

    fn constant(&mut self, run: &Run<'_>, device: &Device<'_>) -> Result<(), Trouble> {
        for &lane in run.lanes {
            let address = self.addresses[lane];
            (self.slots[lane], self.offsets[lane]) = (CONST, address as usize);
            let end = address.checked_add(u64::from(run.bytes));
            if end.is_none_or(|end| end > device.program.constants.len() as u64) && device.checks.bounds {
                let what = format!("{} bytes lie outside of constant memory", run.bytes);
                return Err(Trouble::new(FaultKind::OutOfBounds, lane, what).at(address));
            }
        }
        Ok(())
    }

    fn global(&mut self, run: &Run<'_>, state: &State, device: &mut Device<'_>) -> Result<(), Trouble> {
        let Self { addresses, slots, offsets, .. } = self;
        let bytes = u64::from(run.bytes);
        // The buffer of the last lane.
        let (mut slot, mut start, mut length) = (NOWHERE, 1, 0);
        for &lane in run.lanes {
            let address = addresses[lane];
            if address.wrapping_sub(start) > length || length - (address - start) < bytes {
                match device.memory.find(address, bytes) {
                    Some((found, _)) => {
                        let buffer = device.memory.buffer(found);
                        (slot, start, length) = (found as u32, buffer.start, buffer.len() as u64);
                    }
                    None if device.checks.bounds => {
                        let what = format!("{bytes} bytes lie in no allocation");
                        return Err(Trouble::new(FaultKind::OutOfBounds, lane, what).at(address));
                    }
                    None => {
                        slots[lane] = NOWHERE;
                        continue;
                    }
                }
            }
            (slots[lane], offsets[lane]) = (slot, (address - start) as usize);
        }
        if run.is_read() && device.checks.uninitialised {
            for &lane in run.lanes {
                if slots[lane] == NOWHERE {
                    continue;
                }
                let buffer = device.memory.buffer(slots[lane] as usize);
                if !buffer.is_written(offsets[lane], run.bytes as usize) {
                    let what = "nobody wrote these bytes of global memory";
                    return Err(Trouble::new(FaultKind::Uninitialised, lane, what).at(addresses[lane]));
                }
            }
        }
        if !device.checks.races {
            return Ok(());
        }
        let Device { pages, knowledge, program, .. } = device;
        let mut who = state.who(run.first + run.lanes[0] as u32);
        for &lane in run.lanes {
            if slots[lane] == NOWHERE {
                continue;
            }
            state.next(&mut who, run.first + lane as u32);
            let (offset, grain) = (offsets[lane], program.global_grain);
            // An access is aligned to its bytes, so it lies in one page.
            let (first, last) = (offset >> grain, (offset + run.bytes as usize - 1) >> grain);
            let page = first / Pages::CELLS;
            let cells = pages.page(slots[lane] as usize, page);
            let places = first % Pages::CELLS..=(last - page * Pages::CELLS).min(Pages::CELLS - 1);
            let recorded = run.record(cells, places.clone(), &who, knowledge);
            recorded.map_err(|conflict| race(conflict, lane, addresses[lane]))?;
            if places.into_iter().any(|place| cells.was_cached(place) && cells.was_written(place)) {
                let what = "a load through the read-only cache (.nc) reads bytes that this launch writes";
                return Err(Trouble::new(FaultKind::Race, lane, what).at(addresses[lane]));
            }
        }
        Ok(())
    }
}
