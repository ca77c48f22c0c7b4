//! Ciphertexts as files and programs hold them.

/// A ciphertext without its key: ready to be computed on, never a product that is still to be reduced.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredCiphertext {
    /// The level. Range: `1..=depth + 1`.
    pub level: usize,
    /// `log2` of the standard deviation of the noise, by the formulas, 0 or more. A file states it: if the writer of the file states too little, a later result is wrong, and
    /// nothing worse follows.
    pub noise: f64,
    /// The plaintext of a public input: a product with it is a product with a plaintext. Files do not hold it.
    pub plaintext: Option<Vec<u64>>,
    /// The seed of the last part, if `parts` lacks that part.
    pub seed: Option<[u8; 32]>,
    /// The words of each part: for each prime of the level, all residues.
    pub parts: Vec<Vec<u64>>,
}
