//! Times our negacyclic transforms and those of the crate `tfhe-ntt`, in one run: see README.md.

use bench_common::command;
use clap::Parser;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use solinas_field::buffer::{AlignedVec, Word};
use solinas_field::prime::{Kernel, Modulus, NttPlan, primes};
use solinas_field::{Backend, Error};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The shortest of many times of each action, in microseconds. The actions run in turn, so that all see the same machine.
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

/// Pseudorandom residues, aligned to a cache line.
fn words<T: Word>(q: Modulus, n: usize, word: fn(u64) -> T) -> AlignedVec<T> {
    let mut out = AlignedVec::zeroed(n);
    for (out, random) in out.iter_mut().zip(ChaCha8Rng::seed_from_u64(0).random_iter()) {
        *out = word(q.reduce(random));
    }
    out
}

/// The peer's plan, with words of 64 or of 32 bits.
enum Peer {
    Wide(Box<tfhe_ntt::prime64::Plan>),
    Narrow(Box<tfhe_ntt::prime32::Plan>),
}

/// Prints one line: forward transform, inverse with its scaling, and pointwise product with scaling, ours beside the peer's.
fn line(plan: &NttPlan, peer: &Peer) {
    let (q, n) = (plan.modulus(), plan.dimension());
    let (mut x, mut y) = (words(q, n, |x| x), words(q, n, |x| x));
    let ours = plan.pointwise();
    let rhs = words(q, n, |x| x);
    let mut times = match peer {
        Peer::Wide(peer) => [
            race(&mut [&mut || plan.forward(&mut x), &mut || peer.fwd(&mut y)]),
            race(&mut [&mut || plan.inverse(&mut x), &mut || {
                peer.inv(&mut y);
                peer.normalize(&mut y);
            }]),
            race(&mut [&mut || ours.multiply(&mut x, &rhs), &mut || peer.mul_assign_normalize(&mut y, &rhs)]),
        ],
        Peer::Narrow(peer) => {
            let (mut y, narrow) = (words(q, n, |x| x as u32), words(q, n, |x| x as u32));
            [
                race(&mut [&mut || plan.forward(&mut x), &mut || peer.fwd(&mut y)]),
                race(&mut [&mut || plan.inverse(&mut x), &mut || {
                    peer.inv(&mut y);
                    peer.normalize(&mut y);
                }]),
                race(&mut [&mut || ours.multiply(&mut x, &rhs), &mut || peer.mul_assign_normalize(&mut y, &narrow)]),
            ]
        }
    }
    .into_iter();
    print!("{:>4} {n:>7} {:>7} {:>7} |", q.bits(), plan.backend().name(), plan.kernel().name());
    let butterflies = (n / 2) as f64 * f64::from(n.ilog2());
    for (column, t) in times.by_ref().enumerate() {
        print!(" {:>8.2} {:>8.2} {:>5.2} |", t[0], t[1], t[1] / t[0]);
        if column == 0 {
            let ns = 1e3 * t[0] / butterflies;
            print!(" {ns:>6.3} {:>7.0} |", f64::from(q.bits()) / ns);
        }
    }
    println!();
}

/// Times our negacyclic transforms beside those of `tfhe-ntt`.
#[derive(Parser)]
struct Args {
    /// Times every kernel of every back end, and not only the kernels that a plan chooses
    #[arg(long)]
    kernels: bool,
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<(), Error> {
    println!("microseconds, shortest of many; peer: tfhe-ntt 0.7.1 (prime64; the last rows prime32)");
    println!(
        "{:>4} {:>7} {:>7} {:>7} | {:>8} {:>8} {:>5} | {:>6} {:>7} | {:>8} {:>8} {:>5} | {:>8} {:>8} {:>5} |",
        "bits",
        "N",
        "backend",
        "kernel",
        "forward",
        "peer",
        "ratio",
        "ns/bfly",
        "bits/ns",
        "inverse",
        "peer",
        "ratio",
        "product",
        "peer",
        "ratio"
    );
    for (bits, narrow) in [(48, false), (50, false), (51, false), (60, false), (61, false), (30, false), (30, true)] {
        for n in (10..=17).map(|log| 1usize << log) {
            let q = primes(bits, 1, 2 * n as u64)?[0];
            let peer = if narrow {
                Peer::Narrow(Box::new(tfhe_ntt::prime32::Plan::try_new(n, q.value() as u32).expect("the peer's plan")))
            } else {
                Peer::Wide(Box::new(tfhe_ntt::prime64::Plan::try_new(n, q.value()).expect("the peer's plan")))
            };
            if args.kernels {
                for backend in Backend::available() {
                    let kernels = [Kernel::Scalar, Kernel::Word, Kernel::Double, Kernel::Ifma];
                    let plans = kernels.into_iter().filter_map(|k| NttPlan::with_kernel(q, n, backend, k).ok());
                    plans
                        .filter(|p| p.kernel() != Kernel::Scalar || backend == Backend::Scalar)
                        .for_each(|p| line(&p, &peer));
                }
            } else {
                line(&NttPlan::new(q, n, Backend::detect()?)?, &peer);
            }
        }
    }
    Ok(())
}
