//! Products: large ones by plans, small ones by the function that chooses its algorithm.

use super::{Bench, OURS, column, on};
use crate::ours::{self, Engine, Kind};
use crate::peers::malachite;
use crate::report::{Row, Target};
use bench_common::Error;
use bench_common::numbers::{number, words};
use bench_common::sample::{Contestant, Job};

/// The papers' sizes and those between, in bits.
const LARGE: [usize; 8] = [1 << 19, 785_006, 786_432, 1 << 20, 3_148_249, 1 << 22, 12_625_500, 1 << 24];

/// In words.
const SMALL: [usize; 14] = [8, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024, 2048, 3072, 5000];

/// Words of the short operand of a product of unequal lengths.
pub const SHORT: [usize; 30] = [
    1, 2, 3, 4, 5, 6, 8, 12, 16, 19, 20, 24, 30, 40, 48, 64, 96, 128, 136, 160, 200, 201, 256, 320, 400, 512, 700,
    1000, 1400, 2000,
];

/// Words of the long one.
pub const LONG: [usize; 3] = [3000, 50_000, 400_000];

/// The least ratio of GMP's time to ours in a product of unequal lengths: ours takes at most 1.5 times GMP's.
const UNEQUAL: f64 = 1.0 / 1.5;

/// Products, squares, and products by a transformed operand.
pub fn large(bench: &Bench<'_>, threads: usize) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for bits in LARGE {
        for kind in [Kind::Mul, Kind::Square, Kind::Transformed] {
            rows.extend(product(bench, bits, kind, threads)?);
        }
    }
    Ok(rows)
}

/// The row of a product of a long operand by a short one, words.
pub fn unequal_id(long: usize, short: usize) -> String {
    format!("mul/words={long}x{short}")
}

/// Products of a long operand by a short one.
pub fn unequal(bench: &Bench<'_>) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for (long, short) in LONG.into_iter().flat_map(|long| SHORT.map(|short| (long, short))) {
        let contestants = || {
            let (a, b) = (words(long, 1), words(short, 2));
            let mut all = vec![Contestant::new(OURS, ours::mul(&a, Some(&b)))];
            if let Some(gmp) = bench.peers.gmp {
                let run = move |out: &mut [u64]| gmp.mul(out, &a, &b);
                all.push(Contestant::new("GMP", Job::new(long + short, run)));
            }
            all
        };
        let targets = vec![Target::new(OURS, "GMP", UNEQUAL)];
        rows.extend(bench.row(unequal_id(long, short), contestants, targets)?);
    }
    Ok(rows)
}

fn product(bench: &Bench<'_>, bits: usize, kind: Kind, threads: usize) -> Result<Option<Row>, Error> {
    let name = match kind {
        Kind::Mul => "mul",
        Kind::Square => "square",
        Kind::Transformed => "mul/one-transformed",
    };
    let suffix = if threads == 1 { String::new() } else { format!("/threads={threads}") };
    let id = format!("{name}/bits={bits}{suffix}");
    let mine = column(Engine::Complex, threads);
    let mut targets = Vec::new();
    if kind == Kind::Mul && threads == 1 {
        targets.push(Target::new(OURS, "GMP", 4.0));
        match bits {
            785_006 => targets.extend(bench.flint_targets(OURS, 2.0)),
            12_625_500 => targets.extend(bench.flint_targets(OURS, 2.5)),
            _ => (),
        }
    }
    if kind == Kind::Mul && threads == 2 && bits == 785_006 {
        targets.extend([OURS, &column(Engine::Complex, 1)].map(|one| Target::new(&mine, one, 1.7)));
    }
    let contestants = || {
        let (a, b) = (number(bits, 1), number(bits, 2));
        let b = if kind == Kind::Square { a.clone() } else { b };
        let mut all = Vec::new();
        if kind != Kind::Transformed {
            all.push(Contestant::new(OURS, ours::mul(&a, (kind == Kind::Mul).then_some(&b))));
        }
        for (engine, threads) in [(Engine::Complex, threads), (Engine::Complex, 1), (Engine::Solinas, threads)] {
            let name = column(engine, threads);
            if all.iter().all(|other: &Contestant<'_>| other.name != name) {
                all.push(Contestant::new(name, ours::product(engine, threads, kind, &a, &b)));
            }
        }
        let len = a.len() + b.len();
        if let Some(gmp) = bench.peers.gmp.filter(|_| threads == 1 && kind != Kind::Transformed) {
            let (a, b) = (a.clone(), b.clone());
            all.push(Contestant::new(
                "GMP",
                Job::new(len, move |out: &mut [u64]| match kind {
                    Kind::Square => gmp.sqr(out, &a),
                    _ => gmp.mul(out, &a, &b),
                }),
            ));
        }
        for flint in &bench.peers.flint {
            flint.set_threads(threads);
            let name = on(&flint.column(), threads);
            if kind == Kind::Transformed {
                all.extend(flint.product_with_transformed(&a, &b).map(|work| Contestant::new(name, work)));
            } else {
                let (flint, a, b) = (*flint, a.clone(), (kind == Kind::Mul).then(|| b.clone()));
                let run = move |out: &mut [u64]| flint.mul_fft_small(out, &a, b.as_ref().unwrap_or(&a));
                all.push(Contestant::new(name, Job::new(len, run)));
            }
        }
        if threads == 1 && kind != Kind::Transformed {
            let b = (kind == Kind::Mul).then_some(b.as_slice());
            all.push(Contestant::new("malachite", malachite::Product::new(&a, b)));
        }
        all
    };
    bench.row(id, contestants, targets)
}

/// Products of equal operands of a few words to a few thousand.
pub fn small(bench: &Bench<'_>) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for len in SMALL {
        let contestants = || {
            let (a, b) = (words(len, 1), words(len, 2));
            let mut all = Vec::new();
            all.push(Contestant::new(OURS, ours::mul(&a, Some(&b))));
            if let Some(gmp) = bench.peers.gmp {
                let (a, b) = (a.clone(), b.clone());
                all.push(Contestant::new("GMP", Job::new(2 * len, move |out: &mut [u64]| gmp.mul(out, &a, &b))));
            }
            for flint in &bench.peers.flint {
                flint.set_threads(1);
                let (flint, a, b) = (*flint, a.clone(), b.clone());
                let run = move |out: &mut [u64]| flint.mul(out, &a, &b);
                all.push(Contestant::new(flint.column(), Job::new(2 * len, run)));
            }
            all.push(Contestant::new("malachite", malachite::Product::new(&a, Some(&b))));
            all
        };
        rows.extend(bench.row(format!("mul/words={len}"), contestants, Vec::new())?);
    }
    Ok(rows)
}
