//! Lines of vectors and the values in them.

use std::fmt::Write as _;

use solinas_field::solinas::{P, pow};

/// The root of unity of the order 65,536 of `rtl/common/sol_pkg.sv`.
pub(crate) const ROOT: u64 = 0xdc92_18a8_6d10_f3a3;

/// Residues at which a carry, a borrow or a correction turns.
pub(crate) const CORNERS: [u64; 10] =
    [0, 1, 2, P - 1, P, P + 1, u64::MAX, u64::MAX - 1, 0xffff_ffff, 0xffff_ffff_0000_0000];

/// Head of a vector whose outputs are not compared.
pub(crate) const UNCHECKED: u64 = 0x80;

/// A line: fields in whole hexadecimal digits, joined by underscores.
pub(crate) struct Line(pub(crate) String);

impl Line {
    pub(crate) fn new(head: u64) -> Self {
        Self(String::new()).field(8, &[head])
    }

    /// A field of a given number of bits, from little-endian words.
    pub(crate) fn field(mut self, bits: usize, words: &[u64]) -> Self {
        for digit in (0..bits.div_ceil(4)).rev() {
            let _ = write!(self.0, "{:x}", words.get(digit / 16).map_or(0, |word| word >> (4 * (digit % 16)) & 15));
        }
        self.0.push('_');
        self
    }

    pub(crate) fn words(self, words: &[u64]) -> Self {
        self.field(64 * words.len(), words)
    }

    /// Values of a given number of bits, 64 at most, the first one lowest.
    pub(crate) fn packed(self, bits: usize, values: &[u64]) -> Self {
        let mut words = vec![0; (bits * values.len()).div_ceil(64)];
        for (i, &value) in values.iter().enumerate() {
            let (word, shift) = (bits * i / 64, bits * i % 64);
            let value = value & u64::MAX >> (64 - bits);
            words[word] |= value << shift;
            if shift + bits > 64 {
                words[word + 1] |= value >> (64 - shift);
            }
        }
        self.field(bits * values.len(), &words)
    }

    /// Powers of [`ROOT`] as factors of order 1024 and as rotations by three bits, since `ROOT^1024 = 8`.
    pub(crate) fn powers(self, exponents: &[u64]) -> Self {
        let factors: Vec<u64> = exponents.iter().map(|e| pow(ROOT, e % 1024)).collect();
        let rotations: Vec<u64> = exponents.iter().map(|e| e / 1024).collect();
        self.words(&factors).packed(6, &rotations)
    }
}

/// A reproducible generator (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.word() % bound as u64) as usize
    }

    /// A residue: a corner in one of four cases.
    pub(crate) fn residue(&mut self) -> u64 {
        if self.below(4) == 0 { CORNERS[self.below(CORNERS.len())] } else { self.word() }
    }

    pub(crate) fn residues(&mut self, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.residue()).collect()
    }

    /// Cycles between two vectors: none in most cases.
    pub(crate) fn gap(&mut self) -> u64 {
        if self.below(4) == 0 { self.below(6) as u64 } else { 0 }
    }
}

/// Points that are corners only, or single ones, or random.
pub(crate) fn group(random: &mut Random, count: usize, case: usize) -> Vec<u64> {
    match case {
        0..10 => vec![CORNERS[case]; count],
        // The lanes alternate between the ends: the largest sums and differences.
        10 => (0..count).map(|i| if i % 2 == 0 { u64::MAX } else { 0 }).collect(),
        11 => (0..count).map(|i| if i < count / 2 { 0 } else { u64::MAX }).collect(),
        12..20 => (0..count).map(|i| u64::from(i == (case - 12) * count / 8)).collect(),
        20..30 => (0..count).map(|_| CORNERS[random.below(CORNERS.len())]).collect(),
        _ => random.residues(count),
    }
}

/// A number of `bits` bits with its sign, modulo p.
pub(crate) fn signed(words: [u64; 2], bits: u32) -> u64 {
    let value = (i128::from(words[1] as i64) << 64 | i128::from(words[0])) << (128 - bits) >> (128 - bits);
    value.rem_euclid(i128::from(P)) as u64
}
