//! Compares products, squares, reductions, divisions and powers with GMP's. It covers every size from 1 to 5000 words
//! and 200 larger ones up to 20 million bits, on every engine and back end, with 1 and 2 threads.
//!
//! ```text
//! cargo run --release -p solinas-bigint --example against_gmp [SMALL_END [LARGE_COUNT [SEED]]]
//! ```
#![allow(clippy::unwrap_used, reason = "a comparison that fails may panic")]

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;

use clap::Parser;
use common::sweep;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Largest size, 20 million bits.
const LARGEST: usize = 312_500;
/// Number of words from which each size tries one way of taking transforms, in rotation.
const ROTATE_FROM: usize = 600;

/// Compares results with GMP's.
#[derive(Parser)]
struct Args {
    /// Words of the largest of the sizes that are all tried
    #[arg(default_value_t = 5000)]
    small_end: usize,
    /// Number of larger sizes
    #[arg(default_value_t = 200)]
    large_count: u64,
    #[arg(default_value_t = 1)]
    seed: u64,
}

fn main() {
    let Args { small_end, large_count, seed } = Args::parse();
    let options = sweep::options();
    let start = Instant::now();
    let mut count = 0;
    for words in 1..=small_end {
        count += sweep::products(words, seed) + sweep::divisions(words, seed);
        count += sweep::transforms(words, &options, seed);
        let turn = words % options.len();
        let tried = if words < ROTATE_FROM { &options[..] } else { &options[turn..=turn] };
        count += sweep::moduli(words, tried, 12, seed);
        if words % 250 == 0 {
            println!("{words} words: {count} results equal, {:.0} s", start.elapsed().as_secs_f64());
        }
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for i in 0..large_count {
        // Evenly spread on a logarithmic scale, with a random offset.
        let fraction = (i as f64 + random.random::<f64>()) / large_count as f64;
        let words = (5000.0 * (LARGEST as f64 / 5000.0).powf(fraction)) as usize;
        let turn = i as usize % options.len();
        count += sweep::products(words, seed);
        count += sweep::transforms(words, &options, seed);
        count += sweep::moduli(words, &options[turn..=turn], 4, seed);
        if i % 10 == 9 {
            println!("{words} words: {count} results equal, {:.0} s", start.elapsed().as_secs_f64());
        }
    }
    println!(
        "against GMP: sizes 1 to {small_end} words and {large_count} up to {LARGEST}, {} ways of taking transforms: {count} results, all equal, {:.0} s",
        options.len(),
        start.elapsed().as_secs_f64()
    );
}
