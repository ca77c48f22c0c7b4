//! Operands. They are the same in every run.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// `len` random words of the seed.
pub fn words(len: usize, seed: u64) -> Vec<u64> {
    ChaCha8Rng::seed_from_u64(seed).random_iter().take(len).collect()
}

/// A number of exactly `bits` bits.
pub fn number(bits: usize, seed: u64) -> Vec<u64> {
    let mut x = words(bits.div_ceil(64), seed);
    if let Some(top) = x.last_mut() {
        let free = (64 - bits % 64) % 64;
        *top = (*top | 1 << 63) >> free;
    }
    x
}

/// An odd modulus of exactly `bits` bits.
pub fn modulus(bits: usize, seed: u64) -> Vec<u64> {
    let mut x = number(bits, seed);
    x[0] |= 1;
    x
}

/// A number below the modulus, by less than an eighth of it: the sum of two such numbers exceeds the modulus. Shape: as the modulus.
pub fn below(modulus: &[u64], seed: u64) -> Vec<u64> {
    let bits = 64 * modulus.len() - modulus.last().map_or(0, |top| top.leading_zeros() as usize);
    let mut x = number(bits - 4, seed);
    x.resize(modulus.len(), 0);
    let mut borrow = false;
    for (x, &m) in x.iter_mut().zip(modulus) {
        let (difference, under) = m.overflowing_sub(*x);
        let (difference, under_again) = difference.overflowing_sub(borrow.into());
        (*x, borrow) = (difference, under | under_again);
    }
    x
}

/// The number without leading zeros.
pub fn trimmed(x: &[u64]) -> &[u64] {
    &x[..x.iter().rposition(|&word| word != 0).map_or(0, |top| top + 1)]
}

/// The words of a number as big-endian bytes.
pub fn to_bytes(x: &[u64]) -> Vec<u8> {
    x.iter().rev().flat_map(|word| word.to_be_bytes()).collect()
}

/// The words of a number given by big-endian bytes.
pub fn from_bytes(bytes: &[u8]) -> Vec<u64> {
    bytes.rchunks(8).map(|chunk| chunk.iter().fold(0, |word, &byte| word << 8 | u64::from(byte))).collect()
}
