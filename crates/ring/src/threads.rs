//! Distribution of work over towers.

use core::cell::RefCell;
use core::ops::{Deref, DerefMut};

use rayon::prelude::*;
use solinas_field::buffer::AlignedVec;

thread_local! {
    /// Scratch memory of a thread, kept from one operation to the next. New memory would take longer than much of the
    /// work.
    static SCRATCH: RefCell<Vec<AlignedVec<u64>>> = const { RefCell::new(Vec::new()) };
}

/// Scratch buffers that a thread keeps, and the largest, in words.
const KEPT: usize = 4;
const LARGEST_KEPT: usize = 1 << 20;

/// Words with arbitrary contents, which go back to the thread on drop. They hold data of earlier work unless that work
/// wiped it.
pub(crate) struct Scratch(AlignedVec<u64>);

impl Scratch {
    pub(crate) fn take(words: usize) -> Self {
        let kept = SCRATCH.with_borrow_mut(|kept| {
            let fits = kept.iter().position(|buffer| buffer.len() >= words)?;
            Some(kept.swap_remove(fits))
        });
        Self(kept.unwrap_or_else(|| AlignedVec::zeroed(words)))
    }
}

impl Deref for Scratch {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.0
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let buffer = core::mem::replace(&mut self.0, AlignedVec::zeroed(0));
        if buffer.len() > LARGEST_KEPT {
            return;
        }
        // The thread may be ending, so an error is ignored.
        let _ = SCRATCH.try_with(|kept| {
            if let Ok(mut kept) = kept.try_borrow_mut() {
                kept.push(buffer);
                kept.sort_unstable_by_key(|buffer| buffer.len());
                if kept.len() > KEPT {
                    kept.remove(0);
                }
            }
        });
    }
}

/// Number of words below which a second thread takes more time than it saves.
const WORTH_A_THREAD: usize = 1 << 13;

/// Returns whether one thread does all the work.
pub(crate) fn alone(words: usize, n: usize) -> bool {
    words == n || words < WORTH_A_THREAD || rayon::current_num_threads() == 1
}

/// Runs `work(tower, words of the tower)` for every `n` words, on the current pool if there is enough work.
pub(crate) fn for_each_tower(words: &mut [u64], n: usize, work: impl Fn(usize, &mut [u64]) + Send + Sync) {
    if alone(words.len(), n) {
        words.chunks_exact_mut(n).enumerate().for_each(|(i, tower)| work(i, tower));
    } else {
        words.par_chunks_exact_mut(n).enumerate().for_each(|(i, tower)| work(i, tower));
    }
}

/// As [`for_each_tower`], with `scratch` words of scratch with arbitrary contents.
pub(crate) fn for_each_tower_with(
    words: &mut [u64],
    n: usize,
    scratch: usize,
    work: impl Fn(usize, &mut [u64], &mut [u64]) + Send + Sync,
) {
    let taken = || Scratch::take(scratch);
    if alone(words.len(), n) {
        let mut taken = taken();
        words.chunks_exact_mut(n).enumerate().for_each(|(i, tower)| work(i, tower, &mut taken[..scratch]));
    } else {
        let towers = words.par_chunks_exact_mut(n).enumerate();
        towers.for_each_init(taken, |taken, (i, tower)| work(i, tower, &mut taken[..scratch]));
    }
}

/// Runs `work(tower, [words of it in each], scratch)` for every `n` words of both, with `scratch` words of scratch with
/// arbitrary contents.
pub(crate) fn for_each_tower_of_two(
    words: [&mut [u64]; 2],
    n: usize,
    scratch: usize,
    work: impl Fn(usize, [&mut [u64]; 2], &mut [u64]) + Send + Sync,
) {
    let scratch = || AlignedVec::<u64>::zeroed(scratch);
    let [x, y] = words;
    if alone(x.len(), n) {
        let mut scratch = scratch();
        let towers = x.chunks_exact_mut(n).zip(y.chunks_exact_mut(n)).enumerate();
        towers.for_each(|(i, (x, y))| work(i, [x, y], &mut scratch));
    } else {
        let towers = x.par_chunks_exact_mut(n).zip(y.par_chunks_exact_mut(n)).enumerate();
        towers.for_each_init(scratch, |scratch, (i, (x, y))| work(i, [x, y], scratch));
    }
}

/// Runs `work(first coefficient, block)` on blocks of `out`, on the current pool if there is enough work.
pub(crate) fn for_each_block<T: Send>(out: &mut [T], block: usize, work: impl Fn(usize, &mut [T]) + Send + Sync) {
    if out.len() < WORTH_A_THREAD || rayon::current_num_threads() == 1 {
        out.chunks_mut(block).enumerate().for_each(|(i, part)| work(i * block, part));
    } else {
        out.par_chunks_mut(block).enumerate().for_each(|(i, part)| work(i * block, part));
    }
}
