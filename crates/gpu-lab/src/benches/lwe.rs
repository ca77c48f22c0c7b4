//! Products of matrices of residues with one vector.

use super::Measured;
use crate::checks::lwe::seeded;
use crate::{Size, Timer};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use solinas_gpu::lwe::Engine;
use solinas_gpu::{Device, Error};
use solinas_schemes::Control;
use solinas_schemes::lwe::{Layout, Modulus, Vector};

/// The matrix of `wang2014`, 1024 bits in 32 words, resident on the device or made from its seed. The bound of a resident
/// matrix is one pass over it.
pub(super) fn products(device: &Device, from_seed: bool, size: Size, timer: &Timer) -> Result<Measured, Error> {
    let (side, words) = if size == Size::Quick { (100, 3) } else { (9326, 32) };
    let control = Control::default();
    let modulus = Modulus::of_primes(words, 32)?;
    let matrix = seeded(side, &modulus, 1)?;
    let vectors = [Vector::uniform(&modulus, side, &mut ChaCha8Rng::seed_from_u64(1))];
    let engine = Engine::new(device)?;
    let (seconds, bytes) = if from_seed {
        let seconds = timer.median(|| engine.multiply_seeded(&matrix, &vectors, &control).map(drop))?;
        (seconds, 4 * words * side)
    } else {
        let resident = engine.expand(&matrix, &control)?;
        let seconds = timer.median(|| engine.multiply(&resident, &vectors, &control).map(drop))?;
        (seconds, Layout::new(side, side, &modulus)?.bytes() as usize)
    };
    Ok(Measured { seconds, count: 1, fp64: 0.0, bytes: bytes as f64, share: 1.0 })
}
