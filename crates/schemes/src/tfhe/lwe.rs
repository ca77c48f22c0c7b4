//! LWE ciphertexts and linear operations on them.

use super::Error;

/// LWE ciphertext `(a_0, .., a_{d-1}, b)` on the torus, in units of `2^-32` turn. Its phase `b - <a, s>` is the message
/// plus noise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LweCiphertext(pub(crate) Vec<u32>);

impl LweCiphertext {
    /// Builds a ciphertext from the words of mask and body. Shape: `dimension + 1` words.
    pub fn from_words(words: Vec<u32>) -> Self {
        Self(words)
    }

    /// The words of the mask, then the body.
    pub fn words(&self) -> &[u32] {
        &self.0
    }

    /// Returns a noiseless encryption of `message` (in units of `2^-32` turn) that is valid under every key of this
    /// dimension.
    pub fn trivial(dimension: usize, message: u32) -> Self {
        let mut words = vec![0; dimension + 1];
        words[dimension] = message;
        Self(words)
    }

    /// Computes `sum_i c_i x_i + constant` modulo `2^32`, word by word.
    ///
    /// # Errors
    /// [`Error::CiphertextLength`] if a ciphertext has another dimension than `dimension`.
    pub fn linear(dimension: usize, terms: &[(i32, &Self)], constant: u32) -> Result<Self, Error> {
        let mut sum = Self::trivial(dimension, constant);
        for &(coefficient, x) in terms {
            if x.0.len() != dimension + 1 {
                return Err(Error::CiphertextLength { got: x.0.len(), want: dimension + 1 });
            }
            let coefficient = coefficient as u32;
            for (sum, x) in sum.0.iter_mut().zip(&x.0) {
                *sum = sum.wrapping_add(coefficient.wrapping_mul(*x));
            }
        }
        Ok(sum)
    }
}
