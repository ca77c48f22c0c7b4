//! Products of matrices of residues: resident, from the seed and streamed, the words of the CPU.

use super::problem;
use crate::Size;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use solinas_gpu::lwe::Engine;
use solinas_gpu::{Device, Error};
use solinas_schemes::lwe::{Layout, Matrix, Modulus, Multiplier, SeededMatrix, Vector};
use solinas_schemes::{Control, Error as SchemeError};

/// Products with random vectors, and with vectors of ones and of the largest residues.
pub(super) fn check(device: &Device, seed: u64, size: Size) -> Result<(), String> {
    let (side, words) = if size == Size::Quick { (100, 3) } else { (3000, 32) };
    let compared = || {
        let control = Control::default();
        let modulus = Modulus::of_primes(words, 32)?;
        let matrix = seeded(side, &modulus, seed)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let random = |_| Vector::uniform(&modulus, side, &mut rng);
        let mut vectors: Vec<Vector> = (0..2).map(random).collect();
        vectors.extend([1, -1].map(|number| Vector::from_signed(&modulus, &vec![number; side])));
        let whole = Matrix::expand(&matrix, u64::MAX)?;
        let expected = Multiplier::new()?.multiply(&whole, &vectors)?;
        let engine = Engine::new(device)?;
        let resident = engine.multiply(&engine.load(&whole, &control)?, &vectors, &control)?;
        let from_seed = engine.multiply_seeded(&matrix, &vectors, &control)?;
        let streamed = engine.multiply_streamed(&whole, &vectors, &control)?;
        let forms = [("resident", resident), ("from the seed", from_seed), ("streamed", streamed)];
        Ok::<_, Error>(forms.into_iter().find(|(_, products)| *products != expected).map(|(form, _)| form))
    };
    match compared().map_err(problem)? {
        None => Ok(()),
        Some(form) => {
            Err(format!("seed {seed}: a product of a {side} x {side} matrix, {form}, differs from that of the CPU"))
        }
    }
}

/// A square matrix from a seed.
pub(crate) fn seeded(side: usize, modulus: &Modulus, seed: u64) -> Result<SeededMatrix, SchemeError> {
    SeededMatrix::new(Layout::new(side, side, modulus)?, modulus, &[seed as u8; 32])
}
