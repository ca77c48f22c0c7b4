//! Randomness of keys and encryptions: ChaCha20, seeded by the operating system or, for tests, by a chosen seed.

use crate::{Entropy, NoEntropy};
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A secret seed of 32 bytes. It is overwritten on drop and never printed.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct SecretSeed([u8; 32]);

impl SecretSeed {
    /// Draws a seed from the operating system.
    pub(crate) fn from_os() -> Result<Self, NoEntropy> {
        use rand_core::TryRngCore;
        let mut seed = [0; 32];
        rand_core::OsRng.try_fill_bytes(&mut seed).map_err(|error| NoEntropy(error.to_string()))?;
        Ok(Self(seed))
    }

    /// Restores a stored seed.
    pub(crate) fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self(*bytes)
    }

    /// The bytes of the seed, for storage. Secret.
    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Derives a seed for a purpose.
    pub fn derive(&self, purpose: &str) -> Self {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        let seed = Self(hasher.update(purpose.as_bytes()).finalize().into());
        hasher.zeroize();
        seed
    }

    /// Derives a seed from the secret parts of an object.
    pub(crate) fn of_secret(context: &str, parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(context);
        for part in parts {
            hasher.update(part);
        }
        let seed = Self(hasher.finalize().into());
        hasher.zeroize();
        seed
    }

    /// Returns the reproducible seed of a number, for tests and benchmarks only.
    pub(crate) fn insecure(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self(bytes).derive("solinas insecure seed")
    }

    /// Draws a seed from the operating system, or returns the reproducible seed of a number.
    ///
    /// # Errors
    /// [`NoEntropy`] if the operating system has no randomness.
    pub fn new(entropy: Entropy) -> Result<Self, NoEntropy> {
        match entropy {
            Entropy::System => Self::from_os(),
            Entropy::Insecure(seed) => Ok(Self::insecure(seed)),
        }
    }

    /// Returns generator number `stream` of the seed.
    pub fn stream(&self, stream: u64) -> SecretRng {
        SecretRng(Box::new(public_stream(&self.0, stream)))
    }

    /// Returns the seed for publication, such as the seed of masks.
    pub(crate) fn publish(&self) -> [u8; 32] {
        self.0
    }
}

/// A generator of secrets. Its seed and its buffer are overwritten on drop. They are on the heap, so that a move of the generator leaves no copy of them.
pub struct SecretRng(Box<ChaCha20Rng>);

impl SecretRng {
    /// A generator that repeats what this one draws next.
    pub(crate) fn duplicate(&self) -> Self {
        Self(self.0.clone())
    }

    fn wipe(&mut self) {
        *self.0 = ChaCha20Rng::from_seed([0; 32]);
        // Refills the buffer. black_box keeps the compiler from removing the writes.
        core::hint::black_box(self.0.next_u32());
        core::hint::black_box(&mut self.0);
    }
}

impl Drop for SecretRng {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl RngCore for SecretRng {
    #[inline]
    fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    #[inline]
    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    #[inline]
    fn fill_bytes(&mut self, out: &mut [u8]) {
        self.0.fill_bytes(out);
    }
}

/// Returns generator number `stream` of a public seed.
pub(crate) fn public_stream(seed: &[u8; 32], stream: u64) -> ChaCha20Rng {
    let mut rng = ChaCha20Rng::from_seed(*seed);
    rng.set_stream(stream);
    rng
}

/// Rounded Gaussian numbers, in units of `2^-64` turn (Box-Muller).
#[derive(Clone, Copy)]
pub(crate) struct Gaussian {
    /// The standard deviation.
    std: f64,
}

impl Gaussian {
    /// Numbers of standard deviation `2^log2_std` turns.
    pub(crate) fn new(log2_std: f64) -> Self {
        Self { std: libm::exp2(log2_std + 64.0) }
    }

    /// Draws a number. Only `log`, `sqrt` and `cos` can make the time vary.
    pub(crate) fn draw(self, rng: &mut impl RngCore) -> u64 {
        // 53 random bits in (0, 1]. They truncate the tail at 8.57 standard deviations, which has probability 2^-56.
        let uniform = |word: u64| ((word >> 11) + 1) as f64 * 2f64.powi(-53);
        let (u, v) = (uniform(rng.next_u64()), uniform(rng.next_u64()));
        let normal = (-2.0 * libm::log(u)).sqrt() * libm::cos(core::f64::consts::TAU * v);
        (normal * self.std).round_ties_even() as i64 as u64
    }
}

/// Draws `len` uniform bits, one in each byte.
pub(crate) fn bits(rng: &mut impl RngCore, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    rng.fill_bytes(&mut bytes);
    for byte in &mut bytes {
        *byte &= 1;
    }
    bytes
}

/// Draws `len` bits, one in each byte, in blocks of `block_bits`. Blocks of one bit are uniform bits. A longer block is
/// uniform among the blocks with at most one bit equal to 1.
pub(crate) fn block_binary(rng: &mut impl RngCore, len: usize, block_bits: usize) -> Vec<u8> {
    if block_bits == 1 {
        return bits(rng, len);
    }
    let patterns = block_bits as u32 + 1;
    let mut key = vec![0; len];
    for block in key.chunks_exact_mut(block_bits) {
        // A word above the largest multiple of the number of patterns would favour some of them.
        let word = loop {
            let word = rng.next_u32();
            if word < u32::MAX / patterns * patterns {
                break word;
            }
        };
        let hot = word % patterns;
        for (bit, byte) in block.iter_mut().enumerate() {
            *byte = u8::from(bit as u32 == hot);
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wiped_generators_have_nothing_of_their_seed() {
        let mut rng = SecretSeed::insecure(1).stream(7);
        let mut same = public_stream(SecretSeed::insecure(1).as_bytes(), 7);
        assert!((0..100).all(|_| rng.next_u32() == same.next_u32() && rng.next_u64() == same.next_u64()));
        rng.wipe();
        assert_eq!(rng.0.get_seed(), [0; 32]);
        assert_ne!(rng.next_u64(), same.next_u64());
    }

    #[test]
    fn gaussian_has_its_standard_deviation() {
        let mut rng = SecretSeed::insecure(1).stream(0);
        let n = 100_000;
        let gaussian = Gaussian::new(-15.0);
        let variance = (0..n).map(|_| (gaussian.draw(&mut rng) as i64 as f64 * 2f64.powi(-64)).powi(2)).sum::<f64>()
            / f64::from(n);
        assert!((variance * 2f64.powi(30) - 1.0).abs() < 0.03, "{variance}");
    }
}
