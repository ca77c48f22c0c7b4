//! Ciphertexts as files and programs hold them.

use crate::{Level, Noise};

/// A ciphertext without its key: ready to be computed on, never a product that is still to be reduced.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredCiphertext {
    /// The level, at most that of fresh ciphertexts.
    pub level: Level,
    /// The noise, by the formulas; its logarithm is 0 or more. A file states it: if the writer of the file states too little, a later result is wrong, and
    /// nothing worse follows.
    pub noise: Noise,
    /// The plaintext of a public input: a product with it is a product with a plaintext. Files do not hold it.
    pub plaintext: Option<Vec<u64>>,
    /// The seed of the last part, if `parts` lacks that part.
    pub seed: Option<[u8; 32]>,
    /// The words of each part: for each prime of the level, all residues.
    pub parts: Vec<Vec<u64>>,
}
