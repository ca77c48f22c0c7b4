//! The order that release and acquire accesses and fences make between threads.

use std::collections::{BTreeMap, BTreeSet};

use super::shadow::{Touch, Who};

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

/// What one thread learned since the last barrier of its block.
#[derive(Debug, Default)]
struct Thread {
    /// Accesses that come before everything it does now.
    known: Clock,
    /// What relaxed reads saw. It counts after the next fence.
    seen: Clock,
    /// What it knew at its last fence. Later strong writes publish it.
    fenced: Option<Clock>,
}

/// What threads know of accesses in other blocks and warps.
#[derive(Debug, Default)]
pub(super) struct Knowledge {
    /// Known to all threads of a block.
    blocks: BTreeMap<u32, Clock>,
    threads: BTreeMap<(u32, u32), Thread>,
    /// What a read of an address learns.
    places: BTreeMap<u64, Clock>,
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
    pub(super) fn read(&mut self, who: &Who, address: u64, acquire: bool) {
        let Some(clock) = self.places.get(&address).cloned() else { return };
        let thread = self.thread(who);
        join(if acquire { &mut thread.known } else { &mut thread.seen }, &clock);
    }

    /// A strong write of an address. `both`: the same operation read it, so earlier releases stay visible.
    pub(super) fn write(&mut self, who: &Who, address: u64, release: bool, both: bool) {
        let clock = if release { Some(self.everything(who)) } else { self.thread(who).fenced.clone() };
        let place = self.places.entry(address).or_default();
        if !both {
            place.clear();
        }
        if let Some(clock) = clock {
            join(place, &clock);
        }
    }

    /// A fence. The block's time must advance afterwards.
    pub(super) fn fence(&mut self, who: &Who) {
        let thread = self.thread(who);
        let seen = std::mem::take(&mut thread.seen);
        join(&mut thread.known, &seen);
        let clock = self.everything(who);
        self.thread(who).fenced = Some(clock);
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
        // What a thread fenced and saw stays its own.
        for (key, mut thread) in threads {
            thread.known.clear();
            if thread.fenced.is_some() || !thread.seen.is_empty() {
                self.active.insert(block);
                self.threads.insert(key, thread);
            }
        }
    }
}
