//! Times blind rotations of the two shapes of TFHE's parameter sets, for every SIMD back end, batches of 1 to 16, and teams
//! of threads: `cargo measure blind-rotate`.
//!
//! Each figure is the least of at least ten samples in at least two seconds, in microseconds per rotation. A rotation by
//! a team of `m` threads is compared with one thread.

use std::process::ExitCode;

use bench_common::command;
use bench_measure::{Result, least};
use clap::Parser;
use solinas_field::Backend;
use solinas_field::buffer::AlignedVec;
use solinas_field::torus::{BlindRotation, Decomposition, Team};

/// Times blind rotations.
#[derive(Parser)]
struct Args {}

fn main() -> ExitCode {
    command::main(run)
}

fn run(_: &Args) -> Result<()> {
    for (n, block_bits) in [(759, 3), (724, 1)] {
        shape(n, block_bits, 512, 3, 17)?;
    }
    for (n, block_bits) in [(945, 3), (918, 1)] {
        shape(n, block_bits, 2048, 1, 23)?;
    }
    Ok(())
}

/// Times the shape with `n` key bits in blocks, polynomials of `dimension` coefficients, `k` mask polynomials and one level
/// of decomposition.
fn shape(n: usize, block_bits: usize, dimension: usize, k: usize, base_log: u32) -> Result<()> {
    let decomposition = Decomposition::new(base_log, 1)?;
    for backend in Backend::available().into_iter().filter(|&backend| backend != Backend::Scalar) {
        let plan = BlindRotation::new(dimension, k, decomposition, block_bits, backend)?;
        let mut key = AlignedVec::<f64>::zeroed(n / block_bits * plan.block_len());
        let mut state = 1u32;
        for x in key.iter_mut() {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *x = f64::from(state as i32) / 2f64.powi(36);
        }
        for (batch, members) in [(1usize, 1), (2, 1), (3, 1), (4, 1), (16, 1), (1, 2), (2, 2), (3, 2), (4, 2)] {
            if members > 1 && (block_bits == 1 || members > rayon::current_num_threads()) {
                continue;
            }
            let exponents: Vec<u16> = (0..n * batch).map(|i| (i * 7919 % (2 * dimension)) as u16).collect();
            let mut accumulators = AlignedVec::<u32>::zeroed(batch * plan.accumulator_len());
            accumulators[5] = 1 << 29;
            let mut scratch = plan.scratch();
            let mut team = Team::default();
            let time = least(10, 2.0, || {
                plan.blind_rotate_together(&key, &exponents, &mut accumulators, &mut scratch, (&mut team, members));
            });
            let suffix = if members == 1 { String::new() } else { format!("/team={members}") };
            let name = format!(
                "blind_rotate/n={n}/blocks={block_bits}/N={dimension}/k={k}/{}/batch={batch}{suffix}",
                backend.name()
            );
            println!("{name:<60} {:>10.1} us", time.wall / batch as f64);
        }
    }
    Ok(())
}
