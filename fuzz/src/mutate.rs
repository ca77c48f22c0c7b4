//! Small deterministic mutations of byte strings.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Values that often break parsers.
const CORNERS: [u64; 9] = [0, 1, 0x7f, 0xff, 0xffff, 0x7fff_ffff, 0xffff_ffff, u64::MAX / 2, u64::MAX];

/// Largest size of a generated input, bytes.
pub(crate) const MAX_LEN: usize = 1 << 16;

/// Draws mutations. The same seed gives the same mutations.
pub(crate) struct Mutator {
    random: ChaCha8Rng,
}

impl Mutator {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// A random number in 0..bound; 0 if the bound is 0.
    fn below(&mut self, bound: usize) -> usize {
        self.random.random_range(0..bound.max(1))
    }

    /// A random seed after one to eight mutations.
    pub(crate) fn mutate(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut input = self.pick(seeds);
        for _ in 0..=self.below(8) {
            self.step(&mut input, seeds);
        }
        input.truncate(MAX_LEN);
        input
    }

    fn pick(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let i = self.below(seeds.len());
        seeds.get(i).cloned().unwrap_or_default()
    }

    fn step(&mut self, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let at = self.below(input.len());
        let span = at..at + self.below(1 + (input.len() - at).min(64));
        match self.below(8) {
            0 => input.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << self.below(8)),
            1 => input.iter_mut().skip(at).take(1).for_each(|byte| *byte = self.random.random()),
            2 => drop(input.drain(span)),
            3 => {
                let copy = input[span].to_vec();
                let to = self.below(input.len());
                input.splice(to..to, copy);
            }
            4 => {
                let width = 1 << self.below(4);
                let corner = CORNERS[self.below(CORNERS.len())];
                let bytes = if self.random.random() {
                    corner.to_le_bytes()
                } else {
                    (corner << (64 - 8 * width)).to_be_bytes()
                };
                input.iter_mut().skip(at).zip(&bytes[..width]).for_each(|(byte, new)| *byte = *new);
            }
            5 => input.truncate(at),
            6 => {
                let other = self.pick(seeds);
                let from = self.below(other.len());
                input.splice(at.., other[from..].iter().copied());
            }
            _ => {
                let len = self.below(16);
                let new: Vec<u8> = (&mut self.random).random_iter().take(len).collect();
                input.splice(at..at, new);
            }
        }
    }
}
