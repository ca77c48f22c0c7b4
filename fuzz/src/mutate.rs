//! Small deterministic mutations of byte strings.

/// Values on which parsers stumble.
const CORNERS: [u64; 9] = [0, 1, 0x7f, 0xff, 0xffff, 0x7fff_ffff, 0xffff_ffff, u64::MAX / 2, u64::MAX];

/// Longest input made, bytes.
const MAX_LEN: usize = 1 << 16;

/// Draws mutations from a SplitMix64 stream (Steele, Lea, Flood 2014); nothing here needs secrecy.
pub(crate) struct Mutator {
    state: u64,
}

impl Mutator {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number in 0..bound; 0 if the bound is 0.
    fn below(&mut self, bound: usize) -> usize {
        self.next().checked_rem(bound as u64).map_or(0, |n| n as usize)
    }

    /// One of the seeds after one to eight mutations.
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
            0 => input.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (self.next() % 8)),
            1 => input.iter_mut().skip(at).take(1).for_each(|byte| *byte = self.next() as u8),
            2 => drop(input.drain(span)),
            3 => {
                let copy = input[span].to_vec();
                let to = self.below(input.len());
                input.splice(to..to, copy);
            }
            4 => {
                let width = 1 << self.below(4);
                let corner = CORNERS[self.below(CORNERS.len())];
                let bytes = if self.next() & 1 == 0 {
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
                let new: Vec<u8> = (0..self.below(16)).map(|_| self.next() as u8).collect();
                input.splice(at..at, new);
            }
        }
    }
}
