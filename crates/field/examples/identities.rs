//! Checks that the inverse transform of a transform is the identity, for every supported length of both engines, both
//! wraps and every back end.
//!
//! `cargo run --release -p solinas-field --example identities [largest length [threads]]` takes minutes and 3 GiB
//! without arguments.

use std::cell::Cell;
use std::process::ExitCode;
use std::time::Instant;

use solinas_field::complex::{self, MAX_DIGITS, Wrap, max_digit_bits};
use solinas_field::solinas::{self, Convolution, P};
use solinas_field::{Backend, Error};

/// Returns words of which one in eight is a corner value.
fn words(seed: u64, len: usize) -> Vec<u64> {
    const CORNERS: [u64; 6] = [0, 1, P - 1, P, u64::MAX, 0xFFFF_FFFF];
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if state.is_multiple_of(8) { CORNERS[(state >> 3) as usize % CORNERS.len()] } else { state }
    };
    (0..len).map(|_| next()).collect()
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

fn main() -> ExitCode {
    let arguments: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let largest = arguments.first().copied().unwrap_or(MAX_DIGITS);
    let threads = arguments.get(1).copied().unwrap_or(2);
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
