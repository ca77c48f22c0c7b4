//! Figures of the pages that can be computed: sizes of files and keys, and counts of bootstraps.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use solinas_circuits::program::{Op, Program, ProgramBuilder, Type};
use solinas_engine::{Control, KeygenOptions, Plain, Server, Work, cost, keygen};
use solinas_schemes::tfhe::{Params, noise};
use std::path::Path;

/// A page without its line breaks.
fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(path).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Checks that the pages have these words. All that are missing are named.
fn check(figures: &[(&str, String)]) {
    let missing: Vec<_> = figures.iter().filter(|(name, words)| !page(name).contains(words)).collect();
    assert!(missing.is_empty(), "the pages have other figures than these: {missing:#?}");
}

/// Bytes in units of 1000, with this number of decimals.
fn kilo(bytes: usize, decimals: usize) -> String {
    format!("{:.decimals$}", bytes as f64 / 1e3)
}

fn mega(bytes: usize, decimals: usize) -> String {
    format!("{:.decimals$}", bytes as f64 / 1e6)
}

/// A number with commas between its thousands.
fn thousands(number: usize) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
}

#[test]
fn sizes_of_keys_and_files_are_those_of_the_pages() {
    let control = Control::default();
    let made = |params: &str| {
        let options = KeygenOptions { params: Some(params.into()), insecure_seed: Some(1), ..KeygenOptions::default() };
        keygen(&options, &control).unwrap()
    };
    let (client, key) = made("integers-128");
    let server = Server::new(&key, None).unwrap();
    // The program that returns its input gives the full form without a bootstrap.
    let full = |ty: Type, count: usize| {
        let shape = (count > 1).then(|| vec![count]);
        let value = client.encrypt(&Plain::new(ty, shape, vec![1; count]).unwrap()).unwrap();
        let mut builder = ProgramBuilder::new();
        let x = builder.input("x", ty).unwrap();
        builder.output("x", x);
        let program = builder.finish().unwrap();
        let result = server.run(Work::program(&program, std::slice::from_ref(&value)), &control).unwrap().remove(0);
        let compact = server.compact(&result).unwrap();
        [value, result, compact].map(|ciphertext| ciphertext.to_bytes().unwrap().len())
    };
    let [bool_, u8_, u32_] = [Type::Bool, Type::Uint(8), Type::Uint(32)].map(|ty| full(ty, 1));
    let many = full(Type::Uint(32), 256);
    let [one, thousand] = [1, 1000].map(|count| {
        let shape = (count > 1).then(|| vec![count]);
        let plain = Plain::new(Type::Uint(32), shape, vec![1; count]).unwrap();
        client.public_key().unwrap().encrypt(&plain).unwrap().to_bytes().unwrap().len()
    });
    let stored = key.to_bytes().unwrap().len();
    let gates = made("gates-128").1.to_bytes().unwrap().len();
    let memory =
        |params: &str| cost(&Program::from_op("and", &[Type::Bool; 2]).unwrap(), params).unwrap().memory_bytes as usize;
    // A block under the dimension n, in words of 12 bits (10 for gates), and in full.
    let small = |params: &str, bits: usize| {
        let params = Params::named(params).unwrap();
        ((params.literal().lwe_dimension + 1) * bits).div_ceil(8)
    };
    let block = |params: &str| 4 * (Params::named(params).unwrap().big_dimension() + 1);
    check(&[
        ("book/tfhe.md", format!("a `u32` takes {} bytes instead of {}", u32_[0], thousands(u32_[1]))),
        ("book/tfhe.md", format!("{} kB for a `u32`, and {} kB for 1000 of them", kilo(one, 0), kilo(thousand, 0))),
        ("book/tfhe.md", format!("a `bool`, 1 block | {} kB | {} kB", kilo(bool_[1], 1), kilo(bool_[2], 1))),
        ("book/tfhe.md", format!("a `u8`, 4 blocks | {} kB | {} kB", kilo(u8_[1], 1), kilo(u8_[2], 1))),
        ("book/tfhe.md", format!("a `u32`, 16 blocks | {} kB | {} kB", kilo(u32_[1], 1), kilo(u32_[2], 1))),
        ("book/tfhe.md", format!("256 `u32`, 4096 blocks | {} MB | {} kB", mega(many[1], 1), kilo(many[2], 1))),
        (
            "book/tfhe.md",
            format!(
                "{} bytes for a block instead of {} ({} instead of {} for gates)",
                small("integers-128", 12),
                block("integers-128"),
                small("gates-128", 10),
                block("gates-128")
            ),
        ),
        ("book/files.md", format!("residues modulo 2^64 - 2^32 + 1 | {} MB", mega(stored, 1))),
        ("book/files.md", format!("a word of 32 bits for each block | {} bytes", u32_[0])),
        ("book/cli.md", format!("{} kB instead of {} kB for a `u32`", kilo(u32_[2], 0), kilo(u32_[1], 0))),
        ("book/cluster.md", format!("A `u32` that a client encrypted takes {} bytes", u32_[0])),
        ("book/cluster.md", format!("with {} kB for a `u32`", kilo(u32_[1], 0))),
        ("book/guides/two-machines.md", format!("sent once, {} MB", mega(stored, 0))),
        ("book/guides/two-parties.md", format!("sent once, {} MB", mega(stored, 0))),
        (
            "book/performance.md",
            format!(
                "server key of integers, in memory / stored | {} MB / {} MB",
                mega(memory("integers-128"), 0),
                mega(stored, 1)
            ),
        ),
        (
            "book/performance.md",
            format!(
                "server key of gates, in memory / stored | {} MB / {} MB",
                mega(memory("gates-128"), 0),
                mega(gates, 1)
            ),
        ),
    ]);
}

#[test]
fn counts_of_bootstraps_are_those_of_the_pages() {
    let bootstraps = |program: &Program| cost(program, "integers-128").unwrap().bootstraps;
    let one = |op: &str, ty: Type| bootstraps(&Program::from_op(op, &[ty; 2]).unwrap());
    let exchanged = {
        let mut builder = ProgramBuilder::new();
        let [a, b] = ["a", "b"].map(|name| builder.input(name, Type::Uint(16)).unwrap());
        let less = builder.op(Op::Lt, &[b, a]).unwrap();
        for (name, pair) in [("low", [less, b, a]), ("high", [less, a, b])] {
            let chosen = builder.op(Op::Select, &pair).unwrap();
            builder.output(name, chosen);
        }
        builder.finish().unwrap()
    };
    let rounds = |params: &str| noise::sanitizing_rounds(&Params::named(params).unwrap());
    let [integers, gates] = ["integers-128", "gates-128"].map(rounds);
    check(&[
        ("book/security.md", format!("multiplication ({} bootstraps)", one("mul", Type::Uint(64)))),
        ("book/security.md", format!("{integers} more bootstraps ({gates} under sets of gates)")),
        ("book/cli.md", format!("for {integers} more bootstraps for each block of 2 bits")),
        (
            "book/python-library.md",
            format!("A comparison of two `u16` with its two selections takes {} bootstraps", bootstraps(&exchanged)),
        ),
    ]);
}
