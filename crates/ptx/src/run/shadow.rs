//! Who wrote and who read each place of memory, to find races and reads of what nobody wrote.
//!
//! A place has `grain` bytes: the smallest access of the kernel. Accesses are aligned, so no place is touched in part.

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
pub(super) const TIME_BITS: u32 = 28;

/// Accesses in one word: kind (3 bits), time (28), thread (10), block (23).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Touch(u64);

/// One thread, several lanes of one warp, several threads of one block, several blocks.
const SINGLE: u64 = 1;
const WARP: u64 = 3;
const BLOCK: u64 = 4;
const GRID: u64 = 5;

impl Touch {
    pub(super) const NONE: Self = Self(0);

    fn new(who: &Who, kind: u64) -> Self {
        let (block, thread, time) = (u64::from(who.block), u64::from(who.thread), u64::from(who.time));
        Self(kind | time << 3 | thread << 31 | block << 41)
    }

    fn kind(self) -> u64 {
        self.0 & 7
    }

    pub(super) fn time(self) -> u32 {
        (self.0 >> 3) as u32 & ((1 << TIME_BITS) - 1)
    }

    pub(super) fn thread(self) -> u32 {
        (self.0 >> 31) as u32 & 1023
    }

    pub(super) fn block(self) -> u32 {
        (self.0 >> 41) as u32
    }

    /// Whether the access comes before the last barrier of `who`'s block, which most do. A sufficient condition.
    #[inline(always)]
    fn is_old(self, who: &Who) -> bool {
        self.0 == 0 || self.block() == who.block && self.time() < who.barrier && self.kind() != GRID
    }

    /// Whether the access comes before everything that `who` does now.
    #[inline]
    fn is_before(self, who: &Who, knowledge: &Knowledge) -> bool {
        let kind = self.kind();
        if kind == 0 {
            return true;
        }
        if self.block() == who.block && kind != GRID {
            let (time, single) = (self.time(), kind == SINGLE);
            if time < who.barrier || single && self.thread() == who.thread {
                return true;
            }
            if kind <= WARP && self.thread() / 32 == who.thread / 32 && time < who.warp {
                return true;
            }
            let (lanes, moment) = who.part;
            let neighbour = single && self.thread() / 32 == who.thread / 32;
            if neighbour && lanes >> (self.thread() % 32) & 1 == 1 && time < moment {
                return true;
            }
        }
        kind == SINGLE && knowledge.orders(self, who)
    }

    /// This access and one of `who`, as far as one word can tell.
    fn join(self, who: &Who, knowledge: &Knowledge) -> Self {
        if self.is_before(who, knowledge) {
            return Self::new(who, SINGLE);
        }
        let kind = if self.kind() == GRID || self.block() != who.block {
            GRID
        } else if self.kind() == BLOCK || self.thread() / 32 != who.thread / 32 {
            BLOCK
        } else {
            WARP
        };
        Self::new(who, kind)
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

/// One place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    write: Touch,
    read: Touch,
    /// Strong accesses, which may race with each other.
    strong_write: Touch,
    strong_read: Touch,
}

/// Two accesses without an order: what the first was, and its description.
pub(super) type Conflict = (&'static str, Touch);

impl Cell {
    #[inline]
    pub(super) fn was_written(&self) -> bool {
        self.write != Touch::NONE || self.strong_write != Touch::NONE
    }

    #[inline]
    pub(super) fn was_read(&self) -> bool {
        self.read != Touch::NONE || self.strong_read != Touch::NONE
    }

    /// Records a read.
    #[inline(always)]
    pub(super) fn read(&mut self, who: &Who, strong: bool, knowledge: &Knowledge) -> Result<(), Conflict> {
        if !strong && self.write.is_old(who) && self.strong_write.is_old(who) && self.read.is_old(who) {
            self.read = Touch::new(who, SINGLE);
            return Ok(());
        }
        self.read_among_others(who, strong, knowledge)
    }

    #[inline(never)]
    fn read_among_others(&mut self, who: &Who, strong: bool, knowledge: &Knowledge) -> Result<(), Conflict> {
        let reads = if strong { &mut self.strong_read } else { &mut self.read };
        *reads = reads.join(who, knowledge);
        let races_with = |write: Touch| !write.is_before(who, knowledge);
        if races_with(self.write) {
            Err(("a read after a write", self.write))
        } else if !strong && races_with(self.strong_write) {
            Err(("a read after a write", self.strong_write))
        } else {
            Ok(())
        }
    }

    /// Records a write.
    #[inline(always)]
    pub(super) fn write(&mut self, who: &Who, strong: bool, knowledge: &Knowledge) -> Result<(), Conflict> {
        let Self { write, read, strong_write, strong_read } = *self;
        if !strong && [write, read, strong_write, strong_read].iter().all(|touch| touch.is_old(who)) {
            self.write = Touch::new(who, SINGLE);
            return Ok(());
        }
        self.write_among_others(who, strong, knowledge)
    }

    #[inline(never)]
    fn write_among_others(&mut self, who: &Who, strong: bool, knowledge: &Knowledge) -> Result<(), Conflict> {
        let earlier = *self;
        if strong {
            self.strong_write = earlier.strong_write.join(who, knowledge);
        } else {
            self.write = Touch::new(who, SINGLE);
        }
        let races_with = |touch: Touch| !touch.is_before(who, knowledge);
        if races_with(earlier.write) {
            Err(("a write after a write", earlier.write))
        } else if races_with(earlier.read) {
            Err(("a write after a read", earlier.read))
        } else if !strong && races_with(earlier.strong_write) {
            Err(("a write after a write", earlier.strong_write))
        } else if !strong && races_with(earlier.strong_read) {
            Err(("a write after a read", earlier.strong_read))
        } else {
            Ok(())
        }
    }
}

/// Neighbouring cells.
#[derive(Debug)]
struct Page {
    cells: [Cell; Pages::CELLS],
    /// Cells that a load through the read-only cache (`ld.global.nc`) read.
    constant: [bool; Pages::CELLS],
}

/// Cells of global memory, made as they are touched.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// By slot of the allocation, then by page.
    slots: Vec<Vec<Option<Box<Page>>>>,
}

impl Pages {
    /// Cells of a page.
    pub(super) const CELLS: usize = 256;

    #[inline]
    pub(super) fn cell(&mut self, slot: usize, index: usize) -> &mut Cell {
        &mut self.page(slot, index).cells[index % Self::CELLS]
    }

    /// Records a read through the read-only cache (`constant`) or a write. Returns whether the cell had both in this launch.
    pub(super) fn is_stale(&mut self, slot: usize, index: usize, constant: bool) -> bool {
        let (page, at) = (self.page(slot, index), index % Self::CELLS);
        page.constant[at] |= constant;
        page.constant[at] && page.cells[at].was_written()
    }

    #[inline]
    fn page(&mut self, slot: usize, index: usize) -> &mut Page {
        let page = index / Self::CELLS;
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, Vec::new);
        }
        let pages = &mut self.slots[slot];
        if pages.len() <= page {
            pages.resize_with(page + 1, || None);
        }
        let empty = || Box::new(Page { cells: [Cell::default(); Self::CELLS], constant: [false; Self::CELLS] });
        pages[page].get_or_insert_with(empty)
    }

    /// All touched cells: slot, index and content.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, usize, &Cell)> {
        self.slots.iter().enumerate().flat_map(|(slot, pages)| {
            pages.iter().enumerate().filter_map(|(page, cells)| Some((page, cells.as_ref()?))).flat_map(
                move |(page, content)| {
                    content.cells.iter().enumerate().map(move |(at, cell)| (slot, page * Self::CELLS + at, cell))
                },
            )
        })
    }
}
