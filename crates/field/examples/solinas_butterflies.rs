//! Times the transforms over F_p on every back end: nanoseconds per radix-2-equivalent butterfly, `n / 2 log2 n` of them.
//!
//! `cargo run --release -p solinas-field --example solinas_butterflies [length ..]`

use clap::Parser;
use solinas_field::Backend;
use solinas_field::buffer::AlignedVec;
use solinas_field::solinas::{Convolution, Plan, carry, max_digit_bits, split};
use std::time::{Duration, Instant};

/// The best of as many runs as fit a quarter of a second, 20 at least.
fn best(mut run: impl FnMut() + Send) -> Duration {
    rayon::scope(|_| measure(&mut run))
}

fn measure(run: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    let mut best = Duration::MAX;
    let mut runs = 0;
    while runs < 20 || start.elapsed() < Duration::from_millis(250) {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed());
        runs += 1;
    }
    best
}

/// Splitting, carrying and products, in nanoseconds a point.
fn digits(n: usize) -> Result<(), Box<dyn std::error::Error>> {
    let bits = max_digit_bits(n as u64 / 2).unwrap_or(1);
    for backend in Backend::available() {
        let plan = Plan::new(n, Convolution::Cyclic, backend, 1)?;
        let mut words = vec![0x9E37_79B9_7F4A_7C15; n * bits as usize / 64 + 1];
        let (mut x, y) = (AlignedVec::<u64>::zeroed(n), AlignedVec::<u64>::zeroed(n));
        let split = best(|| split(backend, &words, bits, &mut x).expect("a digit size"));
        let multiply = best(|| plan.multiply(&mut x, &y).expect("the plan's length"));
        let carry = best(|| assert!(carry(backend, &y, bits, &mut words).is_ok()));
        let [split, multiply, carry] = [split, multiply, carry].map(|t| t.as_nanos() as f64 / n as f64);
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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "{:>9} {:>8} {:>7} {:>11} {:>11} {:>11} {:>8} {:>8} {:>8}",
        "n", "backend", "threads", "forward us", "half us", "inverse us", "fwd ns/b", "half", "inv ns/b"
    );
    for n in Args::parse().lengths {
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
                let [f, h, i] = [forward, half, inverse].map(|t| t.as_nanos() as f64);
                println!(
                    "{n:>9} {:>8} {threads:>7} {:>11.2} {:>11.2} {:>11.2} {:>8.3} {:>8.3} {:>8.3}",
                    backend.name(),
                    f / 1e3,
                    h / 1e3,
                    i / 1e3,
                    f / butterflies,
                    h / butterflies,
                    i / butterflies
                );
            }
        }
    }
    Ok(())
}
