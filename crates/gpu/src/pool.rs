//! The memory pool of a device.
//!
//! Small blocks are powers of two from a buddy allocator in slabs of [`SLAB`] bytes. Larger blocks are slabs of their own.
//! A block that comes back keeps the clock of its last uses. Its next owner waits for them in stream order, so the host
//! never waits.

use crate::Error;
use crate::clock::Clock;
use std::collections::BTreeMap;

/// Bytes of a slab that small blocks share.
pub(crate) const SLAB: u64 = 32 << 20;
/// Smallest block. Addresses are multiples of it.
const LEAST: u64 = 256;
/// Blocks above this size are slabs of their own.
const LARGEST: u64 = SLAB / 2;
/// Large blocks are multiples of this size.
const PAGE: u64 = 2 << 20;
/// Number of sizes of small blocks.
const ORDERS: usize = (LARGEST / LEAST).ilog2() as usize + 1;

/// A block of device memory that belongs to one buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) address: u64,
    /// Size of the block, at least that of the buffer.
    pub(crate) bytes: u64,
}

/// Blocks in use and free blocks of one device.
#[derive(Debug)]
pub(crate) struct Pool {
    /// Starts of the slabs that small blocks share.
    shared: Vec<u64>,
    /// Free small blocks of each size `LEAST << order`, by address.
    small: [BTreeMap<u64, Clock>; ORDERS],
    /// Free large blocks: size and clock, by address.
    large: BTreeMap<u64, (u64, Clock)>,
    reserved: u64,
    live: u64,
    peak: u64,
    limit: u64,
}

impl Pool {
    /// Makes a pool that takes at most `limit` bytes from the device.
    pub(crate) fn new(limit: u64) -> Self {
        let small = std::array::from_fn(|_| BTreeMap::new());
        Self { shared: Vec::new(), small, large: BTreeMap::new(), reserved: 0, live: 0, peak: 0, limit }
    }

    /// Bytes that the pool may take from the device.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Bytes of the blocks in use.
    pub(crate) fn live(&self) -> u64 {
        self.live
    }

    /// The largest number of bytes that were in use at once.
    pub(crate) fn peak(&self) -> u64 {
        self.peak
    }

    /// Bytes that the pool holds of the device.
    #[cfg(test)]
    pub(crate) fn reserved(&self) -> u64 {
        self.reserved
    }

    /// Takes a block of at least `bytes` bytes, with the clock of its earlier uses. `allocate` gets memory from the
    /// device. `None` if the limit or the device do not allow the block.
    ///
    /// # Errors
    /// The errors of `allocate`.
    pub(crate) fn take(
        &mut self,
        bytes: u64,
        allocate: &mut dyn FnMut(u64) -> Result<Option<u64>, Error>,
    ) -> Result<Option<(Block, Clock)>, Error> {
        let taken =
            if bytes <= LARGEST { self.take_small(bytes, allocate)? } else { self.take_large(bytes, allocate)? };
        if let Some((block, _)) = &taken {
            self.live += block.bytes;
            self.peak = self.peak.max(self.live);
        }
        Ok(taken)
    }

    fn take_small(
        &mut self,
        bytes: u64,
        allocate: &mut dyn FnMut(u64) -> Result<Option<u64>, Error>,
    ) -> Result<Option<(Block, Clock)>, Error> {
        let size = bytes.max(LEAST).next_power_of_two();
        let order = order(size);
        let mut from = (order..ORDERS).find(|&order| !self.small[order].is_empty());
        if from.is_none() {
            let Some(slab) = self.reserve(SLAB, allocate)? else { return Ok(None) };
            self.shared.push(slab);
            for half in [slab, slab + LARGEST] {
                self.small[ORDERS - 1].insert(half, Clock::default());
            }
            from = Some(ORDERS - 1);
        }
        let Some((mut at, (address, clock))) = from.and_then(|at| Some((at, self.small[at].pop_first()?))) else {
            return Ok(None);
        };
        while at > order {
            at -= 1;
            self.small[at].insert(address + (LEAST << at), clock.clone());
        }
        Ok(Some((Block { address, bytes: size }, clock)))
    }

    fn take_large(
        &mut self,
        bytes: u64,
        allocate: &mut dyn FnMut(u64) -> Result<Option<u64>, Error>,
    ) -> Result<Option<(Block, Clock)>, Error> {
        let size = bytes.div_ceil(PAGE).saturating_mul(PAGE);
        // Takes a free block of which at most half is unused.
        let fit = self.large.iter().filter(|&(_, &(free, _))| free >= size && free / 2 <= size);
        let fit = fit.min_by_key(|&(_, &(free, _))| free).map(|(&address, _)| address);
        if let Some((address, (bytes, clock))) = fit.and_then(|fit| self.large.remove_entry(&fit)) {
            return Ok(Some((Block { address, bytes }, clock)));
        }
        let address = self.reserve(size, allocate)?;
        Ok(address.map(|address| (Block { address, bytes: size }, Clock::default())))
    }

    fn reserve(
        &mut self,
        bytes: u64,
        allocate: &mut dyn FnMut(u64) -> Result<Option<u64>, Error>,
    ) -> Result<Option<u64>, Error> {
        if self.reserved.saturating_add(bytes) > self.limit {
            return Ok(None);
        }
        let address = allocate(bytes)?;
        if address.is_some() {
            self.reserved += bytes;
        }
        Ok(address)
    }

    /// Takes a block back. `clock` has its uses and the uses of its earlier owners.
    pub(crate) fn give(&mut self, block: Block, mut clock: Clock) {
        let Block { mut address, bytes } = block;
        self.live -= bytes;
        if bytes > LARGEST {
            self.large.insert(address, (bytes, clock));
            return;
        }
        let mut order = order(bytes);
        // Slabs are aligned to `LEAST` only, so a buddy is found by its place in the slab.
        let slab = self.shared.iter().copied().find(|&slab| (slab..slab + SLAB).contains(&address));
        while let Some(slab) = slab.filter(|_| order + 1 < ORDERS) {
            let buddy = slab + ((address - slab) ^ (LEAST << order));
            let Some(other) = self.small[order].remove(&buddy) else { break };
            clock.join(&other);
            address = address.min(buddy);
            order += 1;
        }
        self.small[order].insert(address, clock);
    }

    /// Gives up all memory in which no block is in use. The caller frees these addresses on the device, after all
    /// operations of its streams.
    pub(crate) fn release(&mut self) -> Vec<u64> {
        let mut released: Vec<u64> = Vec::new();
        for (address, (bytes, _)) in std::mem::take(&mut self.large) {
            self.reserved -= bytes;
            released.push(address);
        }
        let top = &mut self.small[ORDERS - 1];
        let empty = |slab: &u64| [*slab, slab + LARGEST].iter().all(|half| top.contains_key(half));
        let (empty, used): (Vec<u64>, Vec<u64>) = self.shared.iter().copied().partition(empty);
        for slab in &empty {
            top.retain(|address, _| !(*slab..slab + SLAB).contains(address));
            self.reserved -= SLAB;
        }
        self.shared = used;
        released.extend(empty);
        released
    }
}

/// Order of a size `LEAST << order`.
fn order(size: u64) -> usize {
    (size / LEAST).ilog2() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A device of a given number of bytes, which hands out addresses that are multiples of 256.
    struct Memory {
        next: u64,
        free: u64,
    }

    impl Memory {
        fn allocate(&mut self, bytes: u64) -> Result<Option<u64>, Error> {
            assert!(bytes >= PAGE);
            if bytes > self.free {
                return Ok(None);
            }
            self.free -= bytes;
            // Neither slabs nor large blocks are neighbours or aligned.
            self.next += 768;
            let address = self.next;
            self.next += bytes;
            Ok(Some(address))
        }
    }

    fn sizes() -> impl Strategy<Value = u64> {
        prop_oneof![0..5000u64, 0..(3 * LARGEST), Just(LARGEST), Just(LARGEST + 1)]
    }

    proptest! {
        #[test]
        fn blocks_are_apart_and_all_memory_comes_back(
            calls in prop::collection::vec((any::<bool>(), sizes(), any::<prop::sample::Index>()), 1..200)
        ) {
            let mut memory = Memory { next: 1 << 20, free: 200 << 20 };
            let mut pool = Pool::new(150 << 20);
            let mut live: Vec<(Block, u64)> = Vec::new();
            for (step, (take, bytes, which)) in calls.into_iter().enumerate() {
                if take || live.is_empty() {
                    if let Some((block, _)) = pool.take(bytes, &mut |bytes| memory.allocate(bytes)).unwrap() {
                        prop_assert!(block.bytes >= bytes && block.address % LEAST == 0);
                        for (other, _) in &live {
                            let apart = block.address + block.bytes <= other.address
                                || other.address + other.bytes <= block.address;
                            prop_assert!(apart, "{block:?} and {other:?}");
                        }
                        live.push((block, step as u64));
                    }
                } else {
                    let (block, _) = live.swap_remove(which.index(live.len()));
                    pool.give(block, Clock::default());
                }
                prop_assert_eq!(pool.live(), live.iter().map(|(block, _)| block.bytes).sum::<u64>());
                prop_assert!(pool.reserved() <= pool.limit() && pool.live() <= pool.peak());
            }
            for (block, _) in live {
                pool.give(block, Clock::default());
            }
            pool.release();
            prop_assert_eq!((pool.live(), pool.reserved()), (0, 0));
            prop_assert!(pool.shared.is_empty() && pool.small.iter().all(BTreeMap::is_empty));
        }
    }

    #[test]
    fn a_block_keeps_the_clocks_of_all_its_parts() {
        let mut memory = Memory { next: 0, free: 1 << 30 };
        let mut pool = Pool::new(1 << 30);
        let mut take = |pool: &mut Pool, bytes| pool.take(bytes, &mut |bytes| memory.allocate(bytes)).unwrap().unwrap();
        let (a, _) = take(&mut pool, LARGEST / 2);
        let (b, _) = take(&mut pool, LARGEST / 2);
        assert_eq!(b.address, a.address + LARGEST / 2);
        for (block, stream) in [(a, 0), (b, 3)] {
            let mut clock = Clock::default();
            clock.raise(stream, 7);
            pool.give(block, clock);
        }
        let (joined, clock) = take(&mut pool, LARGEST);
        assert_eq!(joined.address, a.address);
        assert_eq!((clock.get(0), clock.get(3)), (7, 7));
        pool.give(joined, clock);
        let (part, clock) = take(&mut pool, 1);
        assert_eq!((part.address, clock.get(0), clock.get(3)), (a.address, 7, 7));
    }

    #[test]
    fn large_blocks_are_used_again() {
        let mut memory = Memory { next: 0, free: 100 << 20 };
        let mut pool = Pool::new(u64::MAX);
        let mut take = |pool: &mut Pool, bytes| pool.take(bytes, &mut |bytes| memory.allocate(bytes)).unwrap();
        let (first, _) = take(&mut pool, 60 << 20).unwrap();
        assert!(take(&mut pool, 60 << 20).is_none());
        pool.give(first, Clock::default());
        assert_eq!(take(&mut pool, 50 << 20).map(|(block, _)| block), Some(first));
        pool.give(first, Clock::default());
        assert!(take(&mut pool, 17 << 20).is_some_and(|(block, _)| block != first), "it would waste too much");
        assert_eq!(pool.release(), [first.address]);
    }
}
