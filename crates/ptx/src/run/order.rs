//! The order that release and acquire accesses and fences make between threads.

use std::collections::{BTreeMap, BTreeSet};

use super::shadow::{Touch, Who};
use crate::isa::Order;

/// All threads of a block.
const ALL: u32 = u32::MAX;

/// For a block and a thread of it (or [`ALL`]): every access at a time below this one is known.
type Clock = BTreeMap<(u32, u32), u32>;

fn join(clock: &mut Clock, other: &Clock) {
    for (&key, &time) in other {
        let known = clock.entry(key).or_insert(0);
        *known = time.max(*known);
    }
}

/// The knowledge that one thread gained since the last barrier of its block.
#[derive(Debug, Default)]
struct Thread {
    /// Accesses that come before everything it does now.
    known: Clock,
    /// The accesses that relaxed reads saw, for each scope. They become known at the next fence of that scope.
    seen: [Clock; 2],
    /// The knowledge at the last fence of each scope. Later strong writes publish it to that scope.
    fenced: [Option<Clock>; 2],
}

/// Scopes: the threads of one block, and those of the grid. A synchronisation of the grid is one of the block too.
const BLOCK: usize = 0;
const GRID: usize = 1;

/// The scopes of an access or fence.
fn scopes(grid: bool) -> std::ops::RangeInclusive<usize> {
    BLOCK..=if grid { GRID } else { BLOCK }
}

/// The knowledge of threads about accesses in other blocks and warps.
#[derive(Debug, Default)]
pub(super) struct Knowledge {
    /// Known to all threads of a block.
    blocks: BTreeMap<u32, Clock>,
    threads: BTreeMap<(u32, u32), Thread>,
    /// The knowledge that a read of an address gains: from threads of a block, and (without a block) from threads of
    /// the grid.
    places: BTreeMap<(u64, Option<u32>), Clock>,
    /// Blocks with an entry in `threads`.
    active: BTreeSet<u32>,
}

impl Knowledge {
    /// Whether `who` knows of the access.
    pub(super) fn orders(&self, touch: Touch, who: &Who) -> bool {
        let knows = |clock: &Clock| {
            [ALL, touch.thread()]
                .into_iter()
                .any(|thread| clock.get(&(touch.block(), thread)).is_some_and(|&time| touch.time() < time))
        };
        self.blocks.get(&who.block).is_some_and(knows)
            || self.threads.get(&(who.block, who.thread)).is_some_and(|thread| knows(&thread.known))
    }

    fn thread(&mut self, who: &Who) -> &mut Thread {
        self.active.insert(who.block);
        self.threads.entry((who.block, who.thread)).or_default()
    }

    /// Everything that comes before the next access of `who`. The block's time must advance afterwards.
    fn everything(&mut self, who: &Who) -> Clock {
        let mut clock = self.blocks.get(&who.block).cloned().unwrap_or_default();
        join(&mut clock, &self.thread(who).known);
        let own = Clock::from([((who.block, ALL), who.barrier), ((who.block, who.thread), who.time + 1)]);
        join(&mut clock, &own);
        clock
    }

    /// A strong read of an address.
    pub(super) fn read(&mut self, who: &Who, address: u64, order: Order) {
        for scope in scopes(order.grid) {
            let Some(clock) = self.places.get(&place(address, scope, who)).cloned() else { continue };
            let thread = self.thread(who);
            join(if order.acquire { &mut thread.known } else { &mut thread.seen[scope] }, &clock);
        }
    }

    /// A strong write of an address. `both`: the same operation read it, so earlier releases stay visible.
    pub(super) fn write(&mut self, who: &Who, address: u64, order: Order, both: bool) {
        if !both {
            let keys: Vec<_> =
                self.places.range((address, None)..=(address, Some(u32::MAX))).map(|(&key, _)| key).collect();
            keys.iter().for_each(|key| drop(self.places.remove(key)));
        }
        for scope in scopes(order.grid) {
            let clock = if order.release { Some(self.everything(who)) } else { self.thread(who).fenced[scope].clone() };
            if let Some(clock) = clock {
                join(self.places.entry(place(address, scope, who)).or_default(), &clock);
            }
        }
    }

    /// A fence, of the grid or of the block. The block's time must advance afterwards.
    pub(super) fn fence(&mut self, who: &Who, grid: bool) {
        for scope in scopes(grid) {
            let thread = self.thread(who);
            let seen = std::mem::take(&mut thread.seen[scope]);
            join(&mut thread.known, &seen);
        }
        let clock = self.everything(who);
        for scope in scopes(grid) {
            self.thread(who).fenced[scope] = Some(clock.clone());
        }
    }

    /// A barrier of a block: all its threads know what each of them knew.
    pub(super) fn barrier(&mut self, block: u32) {
        if !self.active.remove(&block) {
            return;
        }
        let mut threads = self.threads.split_off(&(block, 0));
        self.threads.append(&mut threads.split_off(&(block + 1, 0)));
        let clock = self.blocks.entry(block).or_default();
        for thread in threads.values() {
            join(clock, &thread.known);
        }
        // The fenced and the seen accesses stay with their thread.
        for (key, mut thread) in threads {
            thread.known.clear();
            if thread.fenced.iter().any(Option::is_some) || thread.seen.iter().any(|seen| !seen.is_empty()) {
                self.active.insert(block);
                self.threads.insert(key, thread);
            }
        }
    }
}

/// The key of an address in a scope.
fn place(address: u64, scope: usize, who: &Who) -> (u64, Option<u32>) {
    (address, (scope == BLOCK).then_some(who.block))
}
