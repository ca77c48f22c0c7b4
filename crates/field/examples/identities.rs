//! Checks that the inverse transform of a transform is the identity, for every supported length of both engines, both
//! wraps and every back end.
//!
//! `cargo run --release -p solinas-field --example identities [largest length [threads]]` takes minutes and 3 GiB
//! without arguments.

use std::cell::Cell;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use solinas_field::complex::{self, MAX_DIGITS, Wrap, max_digit_bits};
use solinas_field::solinas::{self, Convolution, P};
use solinas_field::{Backend, Error};

/// Returns words of which one in eight is a corner value.
fn words(seed: u64, len: usize) -> Vec<u64> {
    const CORNERS: [u64; 6] = [0, 1, P - 1, P, u64::MAX, 0xFFFF_FFFF];
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let word =
        |_| if random.random_ratio(1, 8) { CORNERS[random.random_range(0..CORNERS.len())] } else { random.random() };
    (0..len).map(word).collect()
}

/// Returns `odd 2^k` for every `k`, in order, as far as plans of that length exist.
fn lengths(odd: &[usize], largest: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..28).flat_map(|k| odd.iter().map(move |m| m << k)).collect();
    all.retain(|&n| n <= largest);
    all.sort_unstable();
    all
}

/// Returns whether the identity holds.
///
/// # Errors
/// An error if there is no such length.
fn solinas(n: usize, convolution: Convolution, backend: Backend, threads: usize) -> Result<bool, Error> {
    let plan = solinas::Plan::new(n, convolution, backend, threads)?;
    let mut x = words(n as u64, n);
    let want: Vec<u64> = x.iter().map(|&x| solinas::reduce(x)).collect();
    plan.forward(&mut x)?;
    plan.inverse(&mut x)?;
    Ok(x == want)
}

/// As [`solinas`], with digits of as many bits as products of this length allow.
fn complex(digits: usize, wrap: Wrap, backend: Backend, threads: usize) -> Result<bool, Error> {
    let plan = complex::Plan::new(digits, wrap, backend, threads)?;
    let bits = max_digit_bits(digits, wrap, digits, digits, 1);
    let x = words(digits as u64, plan.words(bits));
    let (mut spectrum, mut out) = (plan.spectrum(), vec![0; x.len() + 1]);
    plan.forward(bits, &x, &mut spectrum);
    let len = if wrap == Wrap::Plus { x.len() + 1 } else { x.len() };
    plan.inverse(bits, &mut spectrum, &mut out[..len]);
    Ok(out[..x.len()] == x && out[x.len()] == 0)
}

/// Checks that inverse transforms invert.
#[derive(Parser)]
struct Args {
    /// Largest length
    #[arg(default_value_t = MAX_DIGITS)]
    largest: usize,
    #[arg(default_value_t = 2)]
    threads: usize,
}

fn main() -> ExitCode {
    let Args { largest, threads } = Args::parse();
    let start = Instant::now();
    let (held, failed) = (Cell::new(0), Cell::new(0));
    let note = |name: &str, n: usize, backend: Backend, result: Result<bool, Error>| match result {
        Ok(true) => held.set(held.get() + 1),
        Ok(false) => {
            failed.set(failed.get() + 1);
            println!("NOT the identity: {name}, length {n}, {backend}");
        }
        Err(_) => {}
    };
    for backend in Backend::available() {
        for n in lengths(&[1, 3, 5, 17], largest) {
            for convolution in [Convolution::Cyclic, Convolution::Negacyclic] {
                note(&format!("F_p {convolution:?}"), n, backend, solinas(n, convolution, backend, threads));
            }
        }
        for n in lengths(&[1, 3, 5, 7], largest) {
            for wrap in [Wrap::Minus, Wrap::Plus] {
                note(&format!("complex {wrap:?}"), n, backend, complex(n, wrap, backend, threads));
            }
        }
        println!("{backend}: {} lengths so far, {:.0} s", held.get(), start.elapsed().as_secs_f64());
    }
    let (held, failed) = (held.get(), failed.get());
    println!("{held} identities hold, {failed} do not");
    if failed == 0 && held > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
