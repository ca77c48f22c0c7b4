//! Simulates the noise of recrypted Gentry-Halevi ciphertexts at every root of `x^n + 1`, without integers modulo `d`, beside the noise bound that
//! ciphertexts carry.
//!
//! ```sh
//! cargo measure gh-embedding -- --params toy --keys 10 --samples 1000 --tail 40
//! ```
//!
//! For each key it simulates recryptions of random candidates. It prints quantiles of their noise minus the carried bound, and the number above it.
//! With `--tail` it prints the noises that are exceeded with probability `2^-4, 2^-8, ..`, by subset simulation: of `--chains` recryptions it keeps
//! the noisiest quarter. From these it draws as many again, by steps that change some candidates and stay above the least of that quarter, and
//! repeats. `--any` takes keys as they are drawn, without a choice of the indicators' noise.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use bench_common::{command, machine};
use bench_measure::Result;
use clap::Parser;
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_schemes::gh::keygen::Simulation;
use solinas_schemes::gh::{Params, noise};

/// Recryptions that are simulated at once.
const BATCH: usize = 64;
/// Steps of a chain at each level.
const STEPS: usize = 3;

fn noises(simulation: &Simulation, recryptions: &[Vec<u8>]) -> Vec<f64> {
    recryptions.chunks(BATCH).flat_map(|some| simulation.noises(&some.concat())).collect()
}

/// Noises that are exceeded with a probability of `4^-1, 4^-2, ..`.
fn tail(simulation: &Simulation, chains: usize, levels: usize, rng: &mut ChaCha20Rng) -> Vec<f64> {
    let mut states: Vec<Vec<u8>> = (0..chains).map(|_| simulation.candidates(1, rng)).collect();
    let mut values = noises(simulation, &states);
    // A step changes a candidate with probability `changed / 256`.
    let mut changed = 40;
    let mut limits = Vec::new();
    for _ in 0..levels {
        let mut order: Vec<usize> = (0..chains).collect();
        order.sort_by(|&i, &j| values[j].total_cmp(&values[i]));
        let kept = chains / 4;
        let limit = 0.5 * (values[order[kept - 1]] + values[order[kept]]);
        limits.push(limit);
        (states, values) = (0..chains).map(|i| order[i % kept]).map(|i| (states[i].clone(), values[i])).unzip();
        let mut accepted = 0;
        for _ in 0..STEPS {
            let step = |state: &Vec<u8>| {
                let (mut next, mut choice) = (simulation.candidates(1, rng), vec![0; state.len()]);
                rng.fill_bytes(&mut choice);
                for ((next, &old), choice) in next.iter_mut().zip(state).zip(choice) {
                    if choice >= changed {
                        *next = old;
                    }
                }
                next
            };
            let next: Vec<Vec<u8>> = states.iter().map(step).collect();
            let found = noises(simulation, &next);
            for (i, (next, value)) in next.into_iter().zip(found).enumerate() {
                if value > limit {
                    (states[i], values[i]) = (next, value);
                    accepted += 1;
                }
            }
        }
        if 4 * accepted < STEPS * chains {
            changed = (changed / 4 * 3).max(4);
        }
    }
    limits
}

/// Simulation of Gentry-Halevi noise at all roots.
#[derive(Parser)]
struct Args {
    #[arg(long, default_value = "toy")]
    params: String,
    /// At least 1
    #[arg(long, default_value_t = 4)]
    keys: u64,
    /// At least 2
    #[arg(long, default_value_t = 256)]
    samples: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[arg(long, default_value_t = 2)]
    threads: usize,
    #[arg(long, default_value_t = 0)]
    tail: usize,
    /// At least 8
    #[arg(long, default_value_t = 100)]
    chains: usize,
    #[arg(long)]
    any: bool,
    #[arg(long)]
    total: bool,
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<()> {
    machine::free_pool(args.threads)?.install(|| measure(args))
}

fn measure(args: &Args) -> Result<()> {
    let &Args { params: ref name, keys, samples, seed, tail: twice, chains, any, total: quiet, .. } = args;
    let (keys, samples, chains) = (keys.max(1), samples.max(2), chains.max(8));
    let (levels, chosen) = (twice / 2, !any);
    let params = Params::named(name)?;
    let (carried, mean) = (noise::recrypted(&params), noise::recrypted_mean(&params));
    println!(
        "{name}: capacity {:.2}; recrypted ciphertexts carry {carried:.2}, keys have a mean up to {:.2} less; a product of two could be recrypted up to {:.2} more",
        noise::capacity(&params),
        carried - mean,
        0.5 * (noise::capacity(&params) - noise::recrypt_need(&params)) - carried
    );
    println!(
        "noises less what is carried: mean, deviation, quantiles 50, 90, 99, 99.9 %, most; above 0, and above a mean"
    );
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let (mut all, mut time) = (Vec::new(), Duration::ZERO);
    for key in 0..keys {
        let start = Instant::now();
        let simulation = Simulation::insecure(&params, seed << 32 | key, chosen)?;
        time += start.elapsed();
        let mut values = Vec::new();
        while values.len() < samples {
            let batch = simulation.candidates(BATCH.min(samples - values.len()), &mut rng);
            values.extend(simulation.noises(&batch).into_iter().map(|noise| noise - carried));
        }
        if !quiet {
            print(&format!("key {key}"), &mut values);
        }
        all.extend(values);
        if levels > 0 {
            print!("  exceeded with probability 2^-4, 2^-8, ..:");
            for limit in tail(&simulation, chains, levels, &mut rng).iter().skip(1).step_by(2) {
                print!(" {:.2}", limit - carried);
            }
            println!();
        }
    }
    print("all", &mut all);
    println!("choice of the indicators' noise: {:.3} s of wall time for each key", time.as_secs_f64() / keys as f64);
    Ok(())
}

fn print(name: &str, values: &mut [f64]) {
    values.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    print!("{name:<8} {mean:>7.2} {deviation:>5.2}");
    for part in [0.5, 0.9, 0.99, 0.999, 1.0] {
        print!(" {:>6.2}", values[((count - 1.0) * part).round() as usize]);
    }
    println!("; {} of {count}", values.iter().filter(|&&value| value > 0.0).count());
}
