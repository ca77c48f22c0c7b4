//! Integers: products, squares, products modulo a number and powers are those of `solinas-bigint`.

use super::problem;
use crate::Size;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_bigint::Natural;
use solinas_gpu::bigint::{self, Modulus};
use solinas_gpu::{Device, Error};

/// Bits of the longest numbers of a check. The longer size is that of the papers.
fn bits(size: Size) -> usize {
    if size == Size::Quick { 5_000 } else { 785_006 }
}

/// Products and squares of a few lengths.
pub(super) fn check_products(device: &Device, seed: u64, size: Size) -> Result<(), String> {
    [1, 64, 1000, bits(size)].into_iter().try_for_each(|bits| products(device, bits, seed))
}

/// Products modulo numbers, and a power.
pub(super) fn check_modular(device: &Device, seed: u64, size: Size) -> Result<(), String> {
    for bits in [65, bits(size)] {
        let modulus = &(&Natural::one() << (bits - 1)) + &random(seed, bits - 2);
        modular(device, &modulus, seed)?;
    }
    Ok(())
}

/// A random number below `2^bits`.
pub fn random(seed: u64, bits: usize) -> Natural {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut words: Vec<u64> = (0..bits.div_ceil(64)).map(|_| rng.next_u64()).collect();
    if let (Some(top), rest @ 1..) = (words.last_mut(), bits % 64) {
        *top &= (1 << rest) - 1;
    }
    Natural::from_words(words)
}

/// 0, 1, 2^bits - 1, 2^(bits - 1), and random numbers. The powers of two and their neighbours carry through all words.
pub fn numbers(bits: usize, seed: u64) -> Vec<Natural> {
    let (one, power) = (Natural::one(), &Natural::one() << bits);
    let ones = power.checked_sub(&one).unwrap_or_default();
    let top = &Natural::one() << (bits - 1);
    vec![Natural::default(), one, ones, top, random(seed, bits), random(seed + 1, bits / 2 + 1)]
}

/// Products and squares of numbers below `2^bits`.
///
/// # Errors
/// If a result differs from that of the CPU, or if the device fails.
pub fn products(device: &Device, bits: usize, seed: u64) -> Result<(), String> {
    let numbers = numbers(bits, seed);
    for (i, a) in numbers.iter().enumerate() {
        if bigint::square(device, a).map_err(problem)? != a.square() {
            return Err(format!("the square of number {i} of {bits} bits differs, seed {seed}"));
        }
        for (j, b) in numbers.iter().enumerate() {
            if bigint::mul(device, a, b).map_err(problem)? != a * b {
                return Err(format!("the product of numbers {i} and {j} of {bits} bits differs, seed {seed}"));
            }
        }
    }
    Ok(())
}

/// Products of pairs modulo a number, as one batch, and powers with a short exponent.
///
/// # Errors
/// If a result differs from that of the CPU, or if the device fails.
pub fn modular(device: &Device, modulus: &Natural, seed: u64) -> Result<(), String> {
    let numbers = numbers(modulus.bit_len(), seed);
    let (a, b): (Vec<Natural>, Vec<Natural>) =
        numbers.iter().flat_map(|a| numbers.iter().map(|b| (a.clone(), b.clone()))).unzip();
    let remainder =
        |product: Natural| product.div_rem(modulus).map(|(_, rest)| rest).map_err(|error| error.to_string());
    let gpu = Modulus::new(device, modulus).map_err(problem)?;
    for (i, product) in gpu.mul(&a, &b).map_err(problem)?.into_iter().enumerate() {
        if product != remainder(&a[i] * &b[i])? {
            return Err(format!("product {i} modulo a number of {} bits differs, seed {seed}", modulus.bit_len()));
        }
    }
    for (i, (number, square)) in numbers.iter().zip(gpu.square(&numbers).map_err(problem)?).enumerate() {
        if square != remainder(number.square())? {
            return Err(format!("square {i} modulo a number of {} bits differs, seed {seed}", modulus.bit_len()));
        }
    }
    let exponent = 37u64;
    let powers = gpu.pow(&numbers, &Natural::from(exponent), || Ok::<(), Error>(())).map_err(problem)?;
    for (i, (base, power)) in numbers.iter().zip(powers).enumerate() {
        let one = remainder(Natural::one());
        if power != (0..exponent).try_fold(one?, |power, _| remainder(&power * base))? {
            return Err(format!("power {i} modulo a number of {} bits differs, seed {seed}", modulus.bit_len()));
        }
    }
    Ok(())
}
