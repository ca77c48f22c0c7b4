//! Our negacyclic transforms beside the `tfhe-ntt` crate's, in one run.

use solinas_field::Backend;
use solinas_field::prime::{Kernel, Modulus, NttPlan, primes};
use std::time::{Duration, Instant};

/// Shortest of many timings of each of `actions`, taken in turns so that both see the same machine. Microseconds.
fn race(actions: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; actions.len()];
    let started = Instant::now();
    let mut rounds = 0;
    while rounds < 20 || started.elapsed() < Duration::from_millis(150) {
        for (best, action) in best.iter_mut().zip(actions.iter_mut()) {
            action();
            let start = Instant::now();
            action();
            *best = best.min(start.elapsed().as_secs_f64() * 1e6);
        }
        rounds += 1;
    }
    best
}

fn words(q: Modulus, n: usize) -> Vec<u64> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            q.reduce(state)
        })
        .collect()
}

fn main() -> Result<(), solinas_field::Error> {
    let kernels = [Kernel::Scalar, Kernel::Double, Kernel::Word, Kernel::Ifma];
    let only: Option<u32> = std::env::args().nth(1).and_then(|a| a.parse().ok());
    println!("{:>4} {:>6} {:>8} {:>8} {:>9} {:>9} {:>6} {:>9} {:>9} {:>6} {:>8}", "bits", "N", "backend", "kernel", "fwd us", "peer", "ratio", "inv us", "peer", "ratio", "ns/bf");
    for bits in [30, 50, 51, 61] {
        if only.is_some_and(|only| only != bits) { continue; }
        for log in 10..=17 {
            let n = 1usize << log;
            let q = primes(bits, 1, 2 * n as u64)?[0];
            let peer = tfhe_ntt::prime64::Plan::try_new(n, q.value()).expect("a peer's plan");
            for backend in Backend::available() {
                for kernel in kernels {
                    if (kernel == Kernel::Scalar) != (backend == Backend::Scalar) { continue; }
                    if kernel == Kernel::Scalar && log != 14 { continue; }
                    let Ok(plan) = NttPlan::with_kernel(q, n, backend, kernel) else { continue };
                    let (mut x, mut y) = (words(q, n), words(q, n));
                    let forward = race(&mut [&mut || plan.forward(&mut x), &mut || peer.fwd(&mut y)]);
                    let inverse = race(&mut [&mut || plan.inverse(&mut x), &mut || { peer.inv(&mut y); peer.normalize(&mut y) }]);
                    let butterflies = (n / 2 * log) as f64;
                    println!("{bits:>4} {n:>6} {:>8} {:>8} {:>9.2} {:>9.2} {:>6.2} {:>9.2} {:>9.2} {:>6.2} {:>8.3}", backend.name(), kernel.name(),
                        forward[0], forward[1], forward[1] / forward[0], inverse[0], inverse[1], inverse[1] / inverse[0], forward[0] * 1e3 / butterflies);
                }
            }
        }
    }
    Ok(())
}
