//! Times products and squares: `cargo measure products [BITS ..]`.
//!
//! Each figure is the least of many repetitions, in microseconds, on one thread. For both engines it times a product, a square, a product
//! with one operand transformed before (`kept`), and a transform. `fused` is `fft::mul`, which takes a tile through all steps at once.

use std::process::ExitCode;

use bench_common::command;
use bench_common::numbers::words;
use bench_measure::{least, try_least};
use clap::Parser;
use solinas_bigint::Error;
use solinas_bigint::fft::{self, Engine, Options, Plan};

/// Microseconds of one call.
fn time(call: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
    Ok(try_least(3, 0.25, call)?.0.wall)
}

/// The four times of an engine, and its digits.
fn engine_times(engine: Engine, a: &[u64], b: &[u64]) -> Result<([f64; 4], (usize, u32)), Error> {
    let plan = Plan::for_product(a.len(), b.len(), &Options { engine: Some(engine), ..Options::default() })?;
    let (mut s, mut t, mut kept) = (plan.spectrum(), plan.spectrum(), plan.spectrum());
    let mut out = vec![0; plan.out_words()];
    plan.forward(b, &mut kept)?;
    let transform = time(|| plan.forward(a, &mut s))?;
    let product = time(|| {
        plan.forward(a, &mut s)?;
        plan.forward(b, &mut t)?;
        plan.multiply(&mut s, &t)?;
        plan.inverse(&mut s, &mut out)
    })?;
    let square = time(|| {
        plan.forward(a, &mut s)?;
        plan.square(&mut s)?;
        plan.inverse(&mut s, &mut out)
    })?;
    let once = time(|| {
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

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<(), Error> {
    println!("     bits  engine       digits     product      square        kept   transform");
    for &bits in &args.bits {
        let len = bits.div_ceil(64);
        let (a, b) = (words(len, 1), words(len, 2));
        let mut out = vec![0; 2 * len];
        let product = least(3, 0.25, || fft::mul(&mut out, &a, &b)).wall;
        let square = least(3, 0.25, || fft::square(&mut out, &a)).wall;
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
