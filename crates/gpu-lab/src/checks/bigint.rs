//! Products, reductions and powers of long integers.

use super::problem;
use crate::Size;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_bigint::Natural;
use solinas_gpu::Device;
use solinas_gpu::bigint::{self, Modulus};

/// A random number of that many bits.
pub(crate) fn random(rng: &mut ChaCha8Rng, bits: usize) -> Natural {
    let words: Vec<u64> = (0..bits.div_ceil(64)).map(|_| rng.next_u64()).collect();
    let excess = bits.next_multiple_of(64) - bits;
    &Natural::from_words(words) >> excess
}

/// Products and squares: random ones, and those of all ones.
pub(super) fn products(device: &Device, seed: u64, size: Size) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let lengths: &[usize] =
        if size == Size::Quick { &[1000, 30_000] } else { &[30_000, 785_006, 3_148_249, 12_625_500] };
    for &bits in lengths {
        let ones = (&Natural::one() << bits).checked_sub(&Natural::one()).unwrap_or_default();
        for a in [random(&mut rng, bits), ones] {
            let b = random(&mut rng, bits);
            let product = bigint::mul(device, &a, &b).map_err(problem)?;
            let square = bigint::square(device, &a).map_err(problem)?;
            if product != &a * &b || square != a.square() {
                return Err(format!("a product of {bits} bits differs"));
            }
        }
    }
    Ok(())
}

/// Batches of products modulo a number, and powers.
pub(super) fn residues(device: &Device, seed: u64, size: Size) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let lengths: &[usize] = if size == Size::Quick { &[1000] } else { &[8192, 785_006, 12_625_500] };
    for &bits in lengths {
        let value = &random(&mut rng, bits) + &Natural::from(2u64);
        let modulus = Modulus::new(device, &value).map_err(problem)?;
        let mut numbers = || (0..3).map(|_| random(&mut rng, bits)).collect::<Vec<_>>();
        let (a, b) = (numbers(), numbers());
        let products = modulus.mul(&a, &b).map_err(problem)?;
        let cpu = solinas_bigint::Modulus::new(&value).map_err(|error| error.to_string())?;
        for ((a, b), product) in a.iter().zip(&b).zip(products) {
            if cpu.mul(a, b).map_err(|error| error.to_string())? != product {
                return Err(format!("a product modulo a number of {bits} bits differs"));
            }
        }
        let exponent = random(&mut rng, 20);
        let powers = modulus.pow(&a[..1], &exponent, || Ok::<(), solinas_gpu::Error>(())).map_err(problem)?;
        if powers != [cpu.vartime_pow(&a[0], &exponent).map_err(|error| error.to_string())?] {
            return Err(format!("a power modulo a number of {bits} bits differs"));
        }
    }
    Ok(())
}
