//! Times the transforms over F_p on every back end, in nanoseconds per butterfly of radix 2. A transform has `n / 2 log2 n` of them.
//!
//! `cargo measure solinas-butterflies [LENGTH ..]`

use std::process::ExitCode;

use bench_common::command;
use bench_measure::{Result, least};
use clap::Parser;
use solinas_field::Backend;
use solinas_field::buffer::AlignedVec;
use solinas_field::solinas::{Convolution, Plan, carry, max_digit_bits, split};

/// Nanoseconds of one call, on a thread of the pool.
fn best(call: impl FnMut() + Send) -> f64 {
    rayon::scope(|_| 1e3 * least(20, 0.25, call).wall)
}

/// Splitting, carrying and products, in nanoseconds a point.
fn digits(n: usize) -> Result<()> {
    let bits = max_digit_bits(n as u64 / 2).unwrap_or(1);
    for backend in Backend::available() {
        let plan = Plan::new(n, Convolution::Cyclic, backend, 1)?;
        let mut words = vec![0x9E37_79B9_7F4A_7C15; n * bits as usize / 64 + 1];
        let (mut x, y) = (AlignedVec::<u64>::zeroed(n), AlignedVec::<u64>::zeroed(n));
        let split = best(|| split(backend, &words, bits, &mut x).expect("a digit size"));
        let multiply = best(|| plan.multiply(&mut x, &y).expect("the plan's length"));
        let carry = best(|| assert!(carry(backend, &y, bits, &mut words).is_ok()));
        let [split, multiply, carry] = [split, multiply, carry].map(|t| t / n as f64);
        println!(
            "{n:>9} {:>8} digits of {bits} bits, ns a point: split {split:.3}, multiply {multiply:.3}, carry {carry:.3}",
            backend.name()
        );
    }
    Ok(())
}

/// Times butterflies of the Solinas transform.
#[derive(Parser)]
struct Args {
    /// Lengths of the transforms
    #[arg(default_values_t =
        [512, 4096, 1 << 14, 1 << 15, 1 << 16, 3 << 15, 5 << 15, 17 << 14, 1 << 18, 1 << 20, 5 << 18, 1 << 21])]
    lengths: Vec<usize>,
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<()> {
    println!(
        "{:>9} {:>8} {:>7} {:>11} {:>11} {:>11} {:>8} {:>8} {:>8}",
        "n", "backend", "threads", "forward us", "half us", "inverse us", "fwd ns/b", "half", "inv ns/b"
    );
    for &n in &args.lengths {
        digits(n)?;
        for backend in Backend::available() {
            for threads in [1, 2] {
                if threads > 1 && (backend != Backend::detect()? || n < 1 << 14) {
                    continue;
                }
                let plan = Plan::new(n, Convolution::Cyclic, backend, threads)?;
                let mut x = AlignedVec::<u64>::zeroed(n);
                for (i, x) in x.iter_mut().enumerate() {
                    *x = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 1;
                }
                let forward = best(|| plan.forward(&mut x).expect("the plan's length"));
                let half = best(|| plan.forward_prefix(&mut x, n / 2).expect("the plan's length"));
                let inverse = best(|| plan.inverse(&mut x).expect("the plan's length"));
                let butterflies = n as f64 / 2.0 * (n as f64).log2();
                println!(
                    "{n:>9} {:>8} {threads:>7} {:>11.2} {:>11.2} {:>11.2} {:>8.3} {:>8.3} {:>8.3}",
                    backend.name(),
                    forward / 1e3,
                    half / 1e3,
                    inverse / 1e3,
                    forward / butterflies,
                    half / butterflies,
                    inverse / butterflies
                );
            }
        }
    }
    Ok(())
}
