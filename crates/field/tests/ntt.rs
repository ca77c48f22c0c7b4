//! Laws of the word-size primes' transforms, on every back end and kernel.

#![allow(clippy::unwrap_used, reason = "tests")]

use solinas_field::Backend;
use solinas_field::prime::{Kernel, Modulus, NttPlan, primes};

const KERNELS: [Kernel; 4] = [Kernel::Scalar, Kernel::Double, Kernel::Word, Kernel::Ifma];

/// Small deterministic generator.
fn words(seed: u64, len: usize, q: Modulus) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            q.reduce(state)
        })
        .collect()
}

/// Every plan that runs here.
fn plans(q: Modulus, n: usize) -> Vec<NttPlan> {
    let mut plans = Vec::new();
    for backend in Backend::available() {
        plans.extend(KERNELS.into_iter().filter_map(|k| NttPlan::with_kernel(q, n, backend, k).ok()));
    }
    plans
}

#[test]
fn forward_is_evaluation_at_the_stated_powers() {
    for n in [16, 32, 64, 128, 256] {
        for bits in [30, 49, 50, 51, 61] {
            let q = primes(bits, 1, 2 * n as u64).unwrap()[0];
            let f = words(n as u64, n, q);
            for plan in plans(q, n) {
                let mut got = f.clone();
                plan.forward(&mut got);
                let want: Vec<u64> = (0..n)
                    .map(|p| {
                        let x = q.pow(plan.root(), plan.exponent(p) as u64);
                        f.iter().rev().fold(0, |acc, &c| q.mul_add(acc, x, c))
                    })
                    .collect();
                assert_eq!(got, want, "{n} {bits} {:?} {}", plan.kernel(), plan.backend());
                plan.inverse(&mut got);
                assert_eq!(got, f, "{n} {bits} {:?} {}", plan.kernel(), plan.backend());
            }
        }
    }
}
