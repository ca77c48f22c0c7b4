//! The threads that wrote and read each place of memory. The record finds races, and reads of places that were not
//! written.
//!
//! A place has `grain` bytes: the smallest access of the kernel. Accesses are aligned, so no place is touched in part.

use std::ops::{Range, RangeInclusive};

use super::order::Knowledge;

/// A thread at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who {
    pub(super) block: u32,
    pub(super) thread: u32,
    /// Time of the block: the number of its barriers so far, those of its warps included.
    pub(super) time: u32,
    /// Time of the block's last barrier.
    pub(super) barrier: u32,
    /// Time of the last barrier of all lanes of the thread's warp.
    pub(super) warp: u32,
    /// The thread's last barrier of some lanes of its warp: these lanes, and the time.
    pub(super) part: (u32, u32),
}

/// Bits of a block's index in a [`Touch`].
pub(super) const BLOCK_BITS: u32 = 23;
/// Bits of a time.
pub(super) const TIME_BITS: u32 = 27;

/// Places of the fields of a [`Touch`].
const KIND: u32 = 1;
const THREAD: u32 = 4;
const TIME: u32 = 14;
const BLOCK_AT: u32 = TIME + TIME_BITS;
/// The latest time: that of accesses of several blocks, so that no barrier comes after it.
const NEVER: u64 = (1 << TIME_BITS) - 1;
/// The lowest bit of reads: one was a load through the read-only cache.
const CACHED: u64 = 1;
/// The lowest bit of writes: the place has a value. It has none while an asynchronous copy to it is under way.
const VALUE: u64 = 1;

/// Accesses in one word, from the lowest bit: [`CACHED`] or [`VALUE`] (1 bit), kind (3), thread (10), time (27),
/// block (23).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Touch(u64);

/// One thread, several lanes of one warp, several threads of one block, several blocks.
const SINGLE: u64 = 1;
const WARP: u64 = 3;
const BLOCK: u64 = 4;
const GRID: u64 = 5;

impl Touch {
    const NONE: Self = Self(0);

    #[inline(always)]
    fn new(who: &Who, kind: u64) -> Self {
        let (block, thread, time) = (u64::from(who.block), u64::from(who.thread), u64::from(who.time));
        let time = if kind == GRID { NEVER } else { time };
        Self(kind << KIND | thread << THREAD | time << TIME | block << BLOCK_AT)
    }

    /// A write of a value.
    #[inline(always)]
    fn value(who: &Who) -> Self {
        Self(Self::new(who, SINGLE).0 | VALUE)
    }

    fn kind(self) -> u64 {
        self.0 >> KIND & 7
    }

    pub(super) fn time(self) -> u32 {
        (self.0 >> TIME & NEVER) as u32
    }

    pub(super) fn thread(self) -> u32 {
        (self.0 >> THREAD) as u32 & 1023
    }

    pub(super) fn block(self) -> u32 {
        (self.0 >> BLOCK_AT) as u32
    }

    /// This one, with the mark of another one.
    #[inline(always)]
    fn keep(self, other: Self) -> Self {
        Self(self.0 | other.0 & CACHED)
    }

    /// Whether it comes before the last barrier of `who`'s block, as most do. A sufficient condition for an order.
    #[inline(always)]
    fn is_old(self, who: &Who) -> bool {
        let since = self.0.wrapping_sub(u64::from(who.block) << BLOCK_AT);
        self.0 == 0 || since < u64::from(who.barrier) << TIME
    }

    /// Whether it is of the same warp, and of the same thread or before a barrier of the warp. A sufficient condition.
    #[inline(always)]
    fn is_near(self, who: &Who) -> bool {
        let (kind, time, thread) = (self.kind(), self.time(), self.thread());
        if self.block() != who.block || thread / 32 != who.thread / 32 || kind > WARP {
            return false;
        }
        let (lanes, moment) = who.part;
        time < who.warp || kind == SINGLE && (thread == who.thread || lanes >> (thread % 32) & 1 == 1 && time < moment)
    }

    /// Whether the access comes before everything that `who` does now.
    #[inline(always)]
    fn is_before(self, who: &Who, knowledge: &Knowledge) -> bool {
        self.is_old(who) || self.is_near(who) || self.kind() == SINGLE && knowledge.orders(self, who)
    }

    /// This access and one of `who`, as far as one word can tell.
    #[inline(always)]
    fn join(self, who: &Who, knowledge: &Knowledge) -> Self {
        let single = Self::new(who, SINGLE);
        let kind = if self.is_old(who) || self.is_near(who) {
            SINGLE
        } else if (self.0 ^ single.0) >> (THREAD + 5) == 0 && self.kind() <= WARP {
            // Lanes of one warp at one time, as they read a constant.
            WARP
        } else if self.kind() >= BLOCK {
            if self.kind() == GRID || self.block() != who.block { GRID } else { BLOCK }
        } else {
            self.kind_with(who, knowledge)
        };
        Self::new(who, kind).keep(self)
    }

    #[inline(never)]
    fn kind_with(self, who: &Who, knowledge: &Knowledge) -> u64 {
        if self.is_before(who, knowledge) {
            SINGLE
        } else if self.block() != who.block {
            GRID
        } else if self.thread() / 32 != who.thread / 32 {
            BLOCK
        } else {
            WARP
        }
    }

    /// How an error names it.
    pub(super) fn name(self) -> String {
        match self.kind() {
            WARP | BLOCK => format!("of several threads of block {}, thread {} the last", self.block(), self.thread()),
            GRID => format!("of several blocks, thread {} of block {} the last", self.thread(), self.block()),
            _ => format!("of thread {} of block {}", self.thread(), self.block()),
        }
    }
}

/// The accesses of one sort to one place. Strong accesses may race with each other. The others are weak.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: Touch,
    read: Touch,
}

impl Cell {
    /// Whether a write of `who` comes after all of them.
    #[inline(always)]
    fn is_before(&self, who: &Who, knowledge: &Knowledge) -> Result<(), Conflict> {
        if !self.write.is_before(who, knowledge) {
            Err(("a write after a write", self.write))
        } else if !self.read.is_before(who, knowledge) {
            Err(("a write after a read", self.read))
        } else {
            Ok(())
        }
    }
}

/// Two accesses without an order: what the first was, and its description.
pub(super) type Conflict = (&'static str, Touch);

/// How an access orders others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    Weak,
    /// Through the read-only cache.
    Cached,
    Strong,
}

const READ_AFTER_WRITE: &str = "a read after a write";

/// The accesses to neighbouring places.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    weak: Vec<Cell>,
    /// As many, or none if the kernel makes no strong accesses there.
    strong: Vec<Cell>,
}

impl Cells {
    pub(super) fn new(count: usize, strong: bool) -> Self {
        let cells = || vec![Cell::default(); count];
        Self { weak: cells(), strong: if strong { cells() } else { Vec::new() } }
    }

    /// Forgets all accesses.
    pub(super) fn clear(&mut self) {
        self.weak.fill(Cell::default());
        self.strong.fill(Cell::default());
    }

    #[inline(always)]
    pub(super) fn was_written(&self, at: usize) -> bool {
        self.weak[at].write.0 & VALUE != 0 || !self.strong.is_empty() && self.strong[at].write.0 & VALUE != 0
    }

    /// Whether an asynchronous copy to the place is under way.
    pub(super) fn is_awaited(&self, at: usize) -> bool {
        self.weak[at].write != Touch::NONE && !self.was_written(at)
    }

    /// Takes the value of some places that an asynchronous copy will write.
    pub(super) fn take_values(&mut self, places: RangeInclusive<usize>) {
        self.weak[places.clone()].iter_mut().for_each(|cell| cell.write.0 &= !VALUE);
        self.strong.get_mut(places).into_iter().flatten().for_each(|cell| cell.write.0 &= !VALUE);
    }

    fn was_read(&self, at: usize) -> bool {
        self.weak[at].read != Touch::NONE || self.strong.get(at).is_some_and(|cell| cell.read != Touch::NONE)
    }

    /// Whether a load through the read-only cache read the place in this launch.
    #[inline(always)]
    pub(super) fn was_cached(&self, at: usize) -> bool {
        self.weak[at].read.0 & CACHED != 0
    }

    /// Records a read of some places.
    #[inline(always)]
    pub(super) fn read(
        &mut self,
        places: RangeInclusive<usize>,
        who: &Who,
        manner: Manner,
        knowledge: &Knowledge,
    ) -> Result<(), Conflict> {
        if !self.strong.is_empty() {
            return self.read_among_strong(places, who, manner, knowledge);
        }
        let cached = if manner == Manner::Cached { CACHED } else { 0 };
        for cell in &mut self.weak[places] {
            cell.read = cell.read.join(who, knowledge);
            cell.read.0 |= cached;
            if !cell.write.is_before(who, knowledge) {
                return Err((READ_AFTER_WRITE, cell.write));
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn read_among_strong(
        &mut self,
        places: RangeInclusive<usize>,
        who: &Who,
        manner: Manner,
        knowledge: &Knowledge,
    ) -> Result<(), Conflict> {
        for (cell, strong) in self.weak[places.clone()].iter_mut().zip(&mut self.strong[places]) {
            let reads = if manner == Manner::Strong { &mut strong.read } else { &mut cell.read };
            *reads = reads.join(who, knowledge);
            if manner == Manner::Cached {
                reads.0 |= CACHED;
            }
            let writes = if manner == Manner::Strong { [cell.write; 2] } else { [cell.write, strong.write] };
            if let Some(write) = writes.into_iter().find(|write| !write.is_before(who, knowledge)) {
                return Err((READ_AFTER_WRITE, write));
            }
        }
        Ok(())
    }

    /// Records a write of some places.
    #[inline(always)]
    pub(super) fn write(
        &mut self,
        places: RangeInclusive<usize>,
        who: &Who,
        manner: Manner,
        knowledge: &Knowledge,
    ) -> Result<(), Conflict> {
        if !self.strong.is_empty() {
            return self.write_among_strong(places, who, manner, knowledge);
        }
        for cell in &mut self.weak[places] {
            let earlier = std::mem::replace(&mut cell.write, Touch::value(who));
            Cell { write: earlier, ..*cell }.is_before(who, knowledge)?;
        }
        Ok(())
    }

    #[inline(never)]
    fn write_among_strong(
        &mut self,
        places: RangeInclusive<usize>,
        who: &Who,
        manner: Manner,
        knowledge: &Knowledge,
    ) -> Result<(), Conflict> {
        for (cell, strong) in self.weak[places.clone()].iter_mut().zip(&mut self.strong[places]) {
            let earlier = *cell;
            if manner == Manner::Strong {
                strong.write = strong.write.join(who, knowledge);
                strong.write.0 |= VALUE;
            } else {
                cell.write = Touch::value(who);
                strong.is_before(who, knowledge)?;
            }
            earlier.is_before(who, knowledge)?;
        }
        Ok(())
    }
}

/// Cells of global memory, made as they are touched.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// By slot of the allocation, then by page.
    slots: Vec<Vec<Option<Cells>>>,
    /// Whether the kernel makes strong accesses.
    strong: bool,
}

impl Pages {
    /// Cells of a page.
    pub(super) const CELLS: usize = 1024;

    pub(super) fn new(strong: bool) -> Self {
        Self { slots: Vec::new(), strong }
    }

    /// A page of an allocation.
    #[inline]
    pub(super) fn page(&mut self, slot: usize, page: usize) -> &mut Cells {
        let strong = self.strong;
        self.entry(slot, page).get_or_insert_with(|| Cells::new(Self::CELLS, strong))
    }

    #[inline]
    fn entry(&mut self, slot: usize, page: usize) -> &mut Option<Cells> {
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, Vec::new);
        }
        let pages = &mut self.slots[slot];
        if pages.len() <= page {
            pages.resize_with(page + 1, || None);
        }
        &mut pages[page]
    }

    /// Adds the accesses of other blocks. Returns the first place with accesses of both, one of them a write.
    pub(super) fn merge(&mut self, other: Self) -> Option<(usize, usize)> {
        let mut race = None;
        for (slot, pages) in other.slots.into_iter().enumerate() {
            for (page, cells) in pages.into_iter().enumerate().filter_map(|(page, cells)| Some((page, cells?))) {
                let entry = self.entry(slot, page);
                let Some(own) = entry else {
                    *entry = Some(cells);
                    continue;
                };
                for (at, (own, cell)) in own.weak.iter_mut().zip(cells.weak).enumerate() {
                    let touched = |cell: &Cell| cell.read != Touch::NONE || cell.write != Touch::NONE;
                    let writes = own.write != Touch::NONE || cell.write != Touch::NONE;
                    if writes && touched(own) && touched(&cell) {
                        race.get_or_insert((slot, page * Self::CELLS + at));
                    }
                    // From here on, only whether there was an access counts.
                    *own = Cell { write: Touch(own.write.0 | cell.write.0), read: Touch(own.read.0 | cell.read.0) };
                }
            }
        }
        race
    }

    /// Runs of places that were read and written alike: slot, indices, and whether they were read and written.
    pub(super) fn runs(&self) -> impl Iterator<Item = (usize, Range<usize>, [bool; 2])> {
        self.slots.iter().enumerate().flat_map(|(slot, pages)| {
            let pages = pages.iter().enumerate().filter_map(|(page, cells)| Some((page, cells.as_ref()?)));
            pages.flat_map(move |(page, cells)| {
                let mut at = 0;
                std::iter::from_fn(move || {
                    let start = at;
                    let kind = |at| [cells.was_read(at), cells.was_written(at)];
                    while at < Self::CELLS && kind(at) == kind(start) {
                        at += 1;
                    }
                    let first = page * Self::CELLS;
                    (start < at).then(|| (slot, first + start..first + at, kind(start)))
                })
            })
        })
    }
}
