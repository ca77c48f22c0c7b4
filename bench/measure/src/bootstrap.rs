//! The common part of the bootstrapping measurements: options, times of single operations, and the checks of many bits.

use std::process::ExitCode;
use std::time::Instant;

use bench_common::{command, machine};
use clap::Parser;
use rayon::prelude::*;
use solinas_field::prime::Modulus;
use solinas_ring::{Basis, Coeff, RnsPoly};

use crate::{Result, least};

#[derive(Parser)]
struct Args {
    /// Parameter set
    #[arg(long)]
    params: Option<String>,
    /// Number of bits
    #[arg(long, default_value_t = 20)]
    bits: usize,
    /// Squares of the chain
    #[arg(long, default_value_t = 20)]
    chain: usize,
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

/// Runs `work` with `--params`, `--bits` and `--chain` on `--threads` threads.
pub fn main(default: &str, work: impl Fn(&str, usize, usize) -> Result<()> + Send + Sync) -> ExitCode {
    command::main(|Args { params, bits, chain, threads }: &Args| {
        machine::free_pool(*threads)?.install(|| work(params.as_deref().unwrap_or(default), *bits, *chain))
    })
}

/// Milliseconds since the start.
pub fn since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Numbers of operations of a bootstrapping, each on one tower.
pub struct Operations {
    /// Transforms.
    pub transforms: usize,
    /// Products with keys.
    pub with_keys: usize,
    /// Other products.
    pub others: usize,
}

/// Milliseconds of the operations on one core, from the time of one transform and of one product. Prints also the time to read the key.
///
/// # Errors
/// From the ring.
pub fn bound<'k>(
    dimension: usize,
    prime: Modulus,
    operations: &Operations,
    key: impl Iterator<Item = &'k [u64]>,
) -> Result<f64> {
    let basis = Basis::new(dimension, &[prime], solinas_field::Backend::detect()?)?;
    let mut words = RnsPoly::<Coeff>::from_signed(&basis, &vec![1; dimension])?.words().to_vec();
    let other = words.clone();
    let transform = least(200, 0.0, || basis.plan(0).forward(&mut words)).wall;
    let product = least(200, 0.0, || basis.pointwise(0).multiply(&mut words, &other)).wall;
    let Operations { transforms, with_keys, others } = operations;
    let bound = (*transforms as f64 * transform + (with_keys + others) as f64 * product) / 1e3;
    println!("one transform {transform:.1} us ({}), one product {product:.1} us", basis.plan(0).kernel().name());
    println!(
        "{transforms} transforms, {with_keys} products with keys, {others} other products: {bound:.1} ms on one core"
    );
    let (start, mut bytes) = (Instant::now(), 0);
    let sum = key.fold(0u64, |sum, words| {
        bytes += size_of_val(words);
        words.iter().fold(sum, |sum, &word| sum.wrapping_add(word))
    });
    let read = since(start);
    println!("reading the key once: {read:.1} ms, {:.1} GB/s (sum {sum:x})", bytes as f64 / read / 1e6);
    Ok(bound)
}

/// The operations of a scheme that the checks use.
pub struct Scheme<'a, C> {
    /// Bootstraps a ciphertext.
    pub bootstrap: &'a (dyn Fn(&C) -> Result<C> + Sync),
    /// Multiplies two bits.
    pub multiply: &'a (dyn Fn(&C, &C) -> Result<C> + Sync),
    /// Decrypts to coefficients.
    pub decrypt: &'a dyn Fn(&C) -> Result<Vec<u64>>,
    /// Noise by the formula and measured.
    pub noise: &'a dyn Fn(&C) -> Result<[f64; 2]>,
}

/// Number `i` of the bits that are encrypted.
pub fn value(i: usize) -> bool {
    (i * i + i / 3) % 5 < 2
}

impl<C: Send + Sync + Clone> Scheme<'_, C> {
    /// Bootstraps encryptions of [`value`] one by one and in parallel, then products of the results, then a chain of squares. Compares every
    /// result.
    ///
    /// # Errors
    /// From the scheme, and if a bit is wrong.
    pub fn run(&self, inputs: &[C], chain: usize, bound: f64) -> Result<()> {
        let (count, threads) = (inputs.len(), rayon::current_num_threads());
        // One by one, with all threads within each.
        let mut best = f64::INFINITY;
        for x in &inputs[..count.min(5)] {
            let start = Instant::now();
            (self.bootstrap)(x)?;
            best = best.min(since(start));
        }
        println!(
            "one bit            {best:>10.2} ms on {threads} threads, bound {:.2} ms, ratio {:.2}",
            bound / threads as f64,
            best * threads as f64 / bound
        );

        // In parallel.
        let start = Instant::now();
        let refreshed = inputs.par_iter().map(self.bootstrap).collect::<Result<Vec<_>>>()?;
        let each = since(start) / count as f64;
        println!("{count} bits, each   {each:>10.2} ms, ratio to the bound {:.2}", each * threads as f64 / bound);
        let mut noise: f64 = 0.0;
        for (i, x) in refreshed.iter().enumerate() {
            self.check(x, value(i))?;
            noise = noise.max((self.noise)(x)?[1]);
        }
        let [formula, _] = (self.noise)(&refreshed[0])?;
        println!("all right; noise 2^{formula:.2} by the formula, 2^{noise:.2} measured at most");

        // Products of bootstrapped bits, bootstrapped again.
        let pairs: Vec<usize> = (1..count).collect();
        let product = |&i: &usize| (self.bootstrap)(&(self.multiply)(&refreshed[i - 1], &refreshed[i])?);
        let products = pairs.par_iter().map(product).collect::<Result<Vec<_>>>()?;
        for (&i, x) in pairs.iter().zip(&products) {
            self.check(x, value(i - 1) && value(i))?;
        }
        println!("{} products of them, bootstrapped: all right", products.len());

        let mut x = refreshed[0].clone();
        for _ in 0..chain {
            x = (self.bootstrap)(&(self.multiply)(&x, &x)?)?;
            self.check(&x, value(0))?;
        }
        println!("chain of {chain} squares: all right, noise 2^{:.2} measured", (self.noise)(&x)?[1]);
        Ok(())
    }

    fn check(&self, x: &C, bit: bool) -> Result<()> {
        let plain = (self.decrypt)(x)?;
        if (plain[0] == 1) != bit || plain[1..].iter().any(|&x| x != 0) {
            return Err("a bit came out wrong".into());
        }
        Ok(())
    }
}
