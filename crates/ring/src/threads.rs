//! Work spread over towers.

use rayon::prelude::*;
use solinas_field::buffer::AlignedVec;

/// Words below which a thread costs more than it saves.
const WORTH_A_THREAD: usize = 1 << 13;

/// Whether one thread does it all.
pub(crate) fn alone(words: usize, n: usize) -> bool {
    words == n || words < WORTH_A_THREAD || rayon::current_num_threads() == 1
}

/// Runs `work(tower, words of the tower)` for every `n` words: on the current pool when there is enough to do.
pub(crate) fn for_each_tower(words: &mut [u64], n: usize, work: impl Fn(usize, &mut [u64]) + Send + Sync) {
    if alone(words.len(), n) {
        words.chunks_exact_mut(n).enumerate().for_each(|(i, tower)| work(i, tower));
    } else {
        words.par_chunks_exact_mut(n).enumerate().for_each(|(i, tower)| work(i, tower));
    }
}

/// As [`for_each_tower`], with `n` words of scratch of any content.
pub(crate) fn for_each_tower_with(
    words: &mut [u64],
    n: usize,
    work: impl Fn(usize, &mut [u64], &mut [u64]) + Send + Sync,
) {
    let scratch = || AlignedVec::<u64>::zeroed(n);
    if alone(words.len(), n) {
        let mut scratch = scratch();
        words.chunks_exact_mut(n).enumerate().for_each(|(i, tower)| work(i, tower, &mut scratch));
    } else {
        let towers = words.par_chunks_exact_mut(n).enumerate();
        towers.for_each_init(scratch, |scratch, (i, tower)| work(i, tower, scratch));
    }
}

/// Runs `work(tower, [words of it in each], scratch)` for every `n` words of both, with so many words of scratch of any content.
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

/// Runs `work(first coefficient, block)` on blocks of `out`: on the current pool when there is enough to do.
pub(crate) fn for_each_block<T: Send>(out: &mut [T], block: usize, work: impl Fn(usize, &mut [T]) + Send + Sync) {
    if out.len() < WORTH_A_THREAD || rayon::current_num_threads() == 1 {
        out.chunks_mut(block).enumerate().for_each(|(i, part)| work(i * block, part));
    } else {
        out.par_chunks_mut(block).enumerate().for_each(|(i, part)| work(i * block, part));
    }
}
