//! Times products and squares: `cargo run --release -p solinas-bigint --example product_times [bits..]`.
//!
//! Each figure is the least of many repetitions, in microseconds, on one thread. For both engines it times a product, a
//! square, a product with one operand transformed before (`kept`), and a transform. `fused` is `fft::mul`, which takes
//! a tile through all steps at once.

use std::time::{Duration, Instant};

use clap::Parser;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use solinas_bigint::Error;
use solinas_bigint::fft::{self, Engine, Options, Plan};

/// Least time of `work` in about a quarter of a second, in microseconds.
fn least(mut work: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
    let start = Instant::now();
    let mut least = Duration::MAX;
    let mut runs = 0;
    while runs < 3 || start.elapsed() < Duration::from_millis(250) {
        let once = Instant::now();
        work()?;
        least = least.min(once.elapsed());
        runs += 1;
    }
    Ok(least.as_secs_f64() * 1e6)
}

fn operand(words: usize, seed: u64) -> Vec<u64> {
    ChaCha8Rng::seed_from_u64(seed).random_iter().take(words).collect()
}

/// The four times of an engine, and its digits.
fn engine_times(engine: Engine, a: &[u64], b: &[u64]) -> Result<([f64; 4], (usize, u32)), Error> {
    let plan = Plan::for_product(a.len(), b.len(), &Options { engine: Some(engine), ..Options::default() })?;
    let (mut s, mut t, mut kept) = (plan.spectrum(), plan.spectrum(), plan.spectrum());
    let mut out = vec![0; plan.out_words()];
    plan.forward(b, &mut kept)?;
    let transform = least(|| plan.forward(a, &mut s))?;
    let product = least(|| {
        plan.forward(a, &mut s)?;
        plan.forward(b, &mut t)?;
        plan.multiply(&mut s, &t)?;
        plan.inverse(&mut s, &mut out)
    })?;
    let square = least(|| {
        plan.forward(a, &mut s)?;
        plan.square(&mut s)?;
        plan.inverse(&mut s, &mut out)
    })?;
    let once = least(|| {
        plan.forward(a, &mut s)?;
        plan.multiply(&mut s, &kept)?;
        plan.inverse(&mut s, &mut out)
    })?;
    Ok(([product, square, once, transform], plan.digits()))
}

/// Times products and squares.
#[derive(Parser)]
struct Args {
    /// Bits of the operands
    #[arg(default_values_t =
        [4096, 8192, 16_384, 65_536, 262_144, 785_006, 1 << 20, 3_148_249, 1 << 22, 12_625_500, 1 << 24])]
    bits: Vec<usize>,
}

fn main() -> Result<(), Error> {
    println!("     bits  engine       digits     product      square        kept   transform");
    for bits in Args::parse().bits {
        let words = bits.div_ceil(64);
        let (a, b) = (operand(words, 1), operand(words, 2));
        let mut out = vec![0; 2 * words];
        let product = least(|| {
            fft::mul(&mut out, &a, &b);
            Ok(())
        })?;
        let square = least(|| {
            fft::square(&mut out, &a);
            Ok(())
        })?;
        println!("{bits:>9}   fused {:>12} {product:>11.2} {square:>11.2}", "");
        for engine in [Engine::Complex, Engine::Solinas] {
            let (times, (digits, digit_bits)) = engine_times(engine, &a, &b)?;
            let [product, square, once, transform] = times;
            println!(
                "{bits:>9} {engine:?} {digits:>9}*{digit_bits} {product:>11.2} {square:>11.2} {once:>11.2} {transform:>11.2}"
            );
        }
    }
    Ok(())
}
