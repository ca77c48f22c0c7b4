//! Uniform residues from a public seed: ChaCha8, 16 blocks side by side.
//!
//! A group is 256 words, from the 16 blocks with counters `16 g .. 16 g + 15`. Word `i` of block `16 g + c` is at place
//! `16 i + c`, the order in which registers hold them. A word is cut to the bits of the modulus and kept if it is below
//! the modulus. Otherwise it is replaced by the first such word of another block, whose counter is the place in the
//! stream and whose nonce has 1 as third word.

use super::Word;
use super::lanes::U32Lanes;
use crate::Backend;
use crate::simd::dispatch;

/// Words of a group.
pub const GROUP: usize = 256;

/// Groups of one call of the kernel.
const RUN: usize = 64;

const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];
/// Number of rounds. A public matrix has no secret to protect; the generator's output only needs to have no structure
/// that helps to solve LWE. No such structure is known for eight rounds (the best distinguishers reach seven). Twenty
/// rounds take twice the time of a product.
const ROUNDS: usize = 8;
const LANES: [u32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Generator of uniform residues, addressed by place, for public matrices. Every back end gives the same words.
#[derive(Clone, Copy, Debug)]
pub struct Uniform {
    key: [u32; 8],
    backend: Backend,
}

/// Position of a run of words, and its modulus.
#[derive(Clone, Copy)]
struct Call {
    key: [u32; 8],
    nonce: [u32; 3],
    first: u32,
    mask: u32,
    modulus: u32,
    groups: usize,
    out: *mut u32,
    /// Set for a group with a word that is not below the modulus.
    rejected: *mut bool,
}

impl Uniform {
    /// Makes a generator from a seed.
    pub fn new(seed: &[u8; 32], backend: Backend) -> Self {
        let (words, _) = seed.as_chunks::<4>();
        let mut key = [0; 8];
        key.iter_mut().zip(words).for_each(|(key, word)| *key = u32::from_le_bytes(*word));
        Self { key, backend }
    }

    /// The key of ChaCha8.
    pub fn key(&self) -> [u32; 8] {
        self.key
    }

    /// Fills `out` with groups `first ..` of stream `stream`, uniform modulo `word`.
    ///
    /// # Panics
    /// Panics unless `out` is whole groups, and these end at `2^24` or before.
    pub fn fill(&self, word: Word, stream: [u32; 2], first: usize, out: &mut [u32]) {
        let mask = (((1u64 << word.bits) - 1) & u64::from(u32::MAX)) as u32;
        for (part, place) in self.parts(first, out) {
            let rejected = self.draw(mask, word.value(), stream, place, part);
            for (group, _) in rejected.iter().enumerate().filter(|&(_, &rejected)| rejected) {
                for (i, value) in part[group * GROUP..][..GROUP].iter_mut().enumerate() {
                    if *value >= word.value() {
                        let place = (place + group) as u32 * GROUP as u32 + i as u32;
                        let drawn = (1..)
                            .flat_map(|attempt| block::<ROUNDS>(&self.key, place, [stream[0], stream[1], attempt]));
                        let mut drawn = drawn.map(|drawn| drawn & mask);
                        *value = drawn.find(|&drawn| drawn < word.value()).unwrap_or(0);
                    }
                }
            }
        }
    }

    /// Fills `out` with groups `first ..` of stream `stream`, uniform modulo `2^32`.
    ///
    /// # Panics
    /// As [`Self::fill`].
    pub fn fill_words(&self, stream: [u32; 2], first: usize, out: &mut [u32]) {
        for (part, place) in self.parts(first, out) {
            // Every word is taken.
            self.draw(u32::MAX, u32::MAX, stream, place, part);
        }
    }

    /// Runs of up to [`RUN`] groups, each with the place of its first group.
    fn parts<'a>(&self, first: usize, out: &'a mut [u32]) -> impl Iterator<Item = (&'a mut [u32], usize)> + use<'a> {
        let groups = out.len() / GROUP;
        assert!(out.len() == groups * GROUP && first + groups <= 1 << 24, "{} words from group {first}", out.len());
        out.chunks_mut(RUN * GROUP).zip((first..).step_by(RUN))
    }

    /// Fills a run with masked words. Returns for each group whether it has a word that is not below the modulus.
    fn draw(&self, mask: u32, modulus: u32, stream: [u32; 2], place: usize, part: &mut [u32]) -> [bool; RUN] {
        let mut rejected = [false; RUN];
        let call = Call {
            key: self.key,
            nonce: [stream[0], stream[1], 0],
            first: place as u32,
            mask,
            modulus,
            groups: part.len() / GROUP,
            out: part.as_mut_ptr(),
            rejected: rejected.as_mut_ptr(),
        };
        // SAFETY: `groups` groups are writable at `out`, and as many flags, because a run has no more.
        dispatch!(self.backend, groups_kernel<_>(call: Call));
        rejected
    }
}

/// Computes one block.
fn block<const ROUNDS: usize>(key: &[u32; 8], counter: u32, nonce: [u32; 3]) -> [u32; 16] {
    let mut start = [0; 16];
    start[..4].copy_from_slice(&CONSTANTS);
    start[4..12].copy_from_slice(key);
    start[12] = counter;
    start[13..].copy_from_slice(&nonce);
    let mut x = start;
    for _ in 0..ROUNDS / 2 {
        for [a, b, c, d] in QUARTERS {
            x[a] = x[a].wrapping_add(x[b]);
            x[d] = (x[d] ^ x[a]).rotate_left(16);
            x[c] = x[c].wrapping_add(x[d]);
            x[b] = (x[b] ^ x[c]).rotate_left(12);
            x[a] = x[a].wrapping_add(x[b]);
            x[d] = (x[d] ^ x[a]).rotate_left(8);
            x[c] = x[c].wrapping_add(x[d]);
            x[b] = (x[b] ^ x[c]).rotate_left(7);
        }
    }
    x.iter_mut().zip(start).for_each(|(x, start)| *x = x.wrapping_add(start));
    x
}

const QUARTERS: [[usize; 4]; 8] = [
    [0, 4, 8, 12],
    [1, 5, 9, 13],
    [2, 6, 10, 14],
    [3, 7, 11, 15],
    [0, 5, 10, 15],
    [1, 6, 11, 12],
    [2, 7, 8, 13],
    [3, 4, 9, 14],
];

/// A step of four quarter rounds at once, so that they overlap.
#[inline(always)]
fn half<L: U32Lanes, const LEFT: i32, const RIGHT: i32>(l: L, x: &mut [L::W; 16], at: [[usize; 3]; 4]) {
    for [a, b, d] in at {
        x[a] = l.add_words(x[a], x[b]);
        x[d] = l.rotate::<LEFT, RIGHT>(l.xor(x[d], x[a]));
    }
}

#[inline(always)]
unsafe fn groups_kernel<L: U32Lanes>(l: L, call: Call) {
    let Call { key, nonce, modulus, mask, .. } = call;
    let (modulus, mask) = (l.splat(modulus), l.splat(mask));
    for group in 0..call.groups {
        let mut largest = l.splat(0);
        for lane in (0..16).step_by(L::WORDS) {
            let first = (call.first + group as u32) << 4;
            // SAFETY: a register's worth of `LANES` is left.
            let counter = l.add_words(l.splat(first), unsafe { l.load(LANES.as_ptr().add(lane)) });
            let mut start = [counter; 16];
            for (i, &constant) in CONSTANTS.iter().enumerate() {
                start[i] = l.splat(constant);
            }
            for (i, &key) in key.iter().enumerate() {
                start[4 + i] = l.splat(key);
            }
            for (i, &nonce) in nonce.iter().enumerate() {
                start[13 + i] = l.splat(nonce);
            }
            let mut x = start;
            for _ in 0..ROUNDS / 2 {
                half::<L, 16, 16>(l, &mut x, [[0, 4, 12], [1, 5, 13], [2, 6, 14], [3, 7, 15]]);
                half::<L, 12, 20>(l, &mut x, [[8, 12, 4], [9, 13, 5], [10, 14, 6], [11, 15, 7]]);
                half::<L, 8, 24>(l, &mut x, [[0, 4, 12], [1, 5, 13], [2, 6, 14], [3, 7, 15]]);
                half::<L, 7, 25>(l, &mut x, [[8, 12, 4], [9, 13, 5], [10, 14, 6], [11, 15, 7]]);
                half::<L, 16, 16>(l, &mut x, [[0, 5, 15], [1, 6, 12], [2, 7, 13], [3, 4, 14]]);
                half::<L, 12, 20>(l, &mut x, [[10, 15, 5], [11, 12, 6], [8, 13, 7], [9, 14, 4]]);
                half::<L, 8, 24>(l, &mut x, [[0, 5, 15], [1, 6, 12], [2, 7, 13], [3, 4, 14]]);
                half::<L, 7, 25>(l, &mut x, [[10, 15, 5], [11, 12, 6], [8, 13, 7], [9, 14, 4]]);
            }
            for i in 0..16 {
                let value = l.and(l.add_words(x[i], start[i]), mask);
                largest = l.max_words(largest, value);
                // SAFETY: the group is writable.
                unsafe { l.store(call.out.add(group * GROUP + 16 * i + lane), value) };
            }
        }
        // SAFETY: as many flags as groups are writable.
        unsafe { *call.rejected.add(group) = l.any_at_least(largest, modulus) };
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// The vector of RFC 8439, section 2.3.2.
    #[test]
    fn a_block_is_that_of_the_standard() {
        let key: Vec<u8> = (0..32).collect();
        let uniform = Uniform::new(key.as_slice().try_into().unwrap(), Backend::Scalar);
        let x = block::<20>(&uniform.key, 1, [0x0900_0000, 0x4a00_0000, 0]);
        assert_eq!(x[..4], [0xe4e7_f110, 0x1559_3bd1, 0x1fdd_0f50, 0xc471_20a3]);
        assert_eq!(x[15], 0x4e3c_50a2);
    }

    #[test]
    fn words_are_those_of_the_blocks_on_every_backend() {
        for (m, bits) in [(u32::MAX - 4, 32), ((1 << 31) - 1, 31), (0x00C0_0001, 24)] {
            let word = Word::new(m).unwrap();
            for backend in solinas_testing::back_ends(Backend::available()) {
                let uniform = Uniform::new(&[7; 32], backend);
                let mut out = vec![0; 70 * GROUP];
                uniform.fill(word, [5, 9], 3, &mut out);
                for (i, &value) in out.iter().enumerate() {
                    let (group, place) = (3 + i / GROUP, i % GROUP);
                    let drawn = block::<ROUNDS>(&uniform.key, (16 * group + place % 16) as u32, [5, 9, 0])[place / 16];
                    let drawn = (u64::from(drawn) & ((1 << bits) - 1)) as u32;
                    assert!(value < m);
                    assert!(value == drawn || drawn >= m, "{backend}, word {i}");
                }
                let mut tail = vec![0; 5 * GROUP];
                uniform.fill(word, [5, 9], 68, &mut tail);
                assert_eq!(tail, out[65 * GROUP..]);
            }
        }
    }

    #[test]
    fn whole_words_are_those_of_the_blocks_on_every_backend() {
        for backend in solinas_testing::back_ends(Backend::available()) {
            let uniform = Uniform::new(&[7; 32], backend);
            let mut out = vec![0; 70 * GROUP];
            uniform.fill_words([5, 9], 3, &mut out);
            for (i, &value) in out.iter().enumerate() {
                let (group, place) = (3 + i / GROUP, i % GROUP);
                let drawn = block::<ROUNDS>(&uniform.key, (16 * group + place % 16) as u32, [5, 9, 0])[place / 16];
                assert_eq!(value, drawn, "{backend}, word {i}");
            }
        }
    }
}
