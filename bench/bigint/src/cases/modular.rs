//! Arithmetic modulo a number of the papers' sizes.

use std::hint::black_box;

use super::{Bench, on};
use crate::ours;
use crate::peers::Gmp;
use crate::report::{Row, Target};
use bench_common::Error;
use bench_common::numbers::{below, modulus, trimmed};
use bench_common::sample::{Contestant, Job, Work};

/// The papers' determinants, in bits.
const MULTIPLICATION: [usize; 3] = [785_006, 3_148_249, 12_625_500];
const ADDITION: [usize; 2] = [785_006, 1 << 24];

/// Products modulo a number known beforehand.
pub fn multiplication(bench: &Bench<'_>, threads: usize) -> Result<Vec<Row>, Error> {
    let rows = MULTIPLICATION.into_iter().map(|bits| multiply(bench, bits, threads));
    Ok(rows.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

fn multiply(bench: &Bench<'_>, bits: usize, threads: usize) -> Result<Option<Row>, Error> {
    let suffix = if threads == 1 { String::new() } else { format!("/threads={threads}") };
    let mut targets = Vec::new();
    if threads == 1 && bits == 785_006 {
        for flint in &bench.peers.flint {
            for ours in ["ours", "ours, McLaughlin"] {
                targets.extend(["", " Barrett"].map(|how| Target::new(ours, &(flint.column() + how), 2.0)));
            }
        }
    }
    let contestants = || {
        let m = modulus(bits, 3);
        let (a, b, n) = (below(&m, 4), below(&m, 5), m.len());
        let mut all = Vec::new();
        for threads in if threads == 1 { vec![1] } else { vec![threads, 1] } {
            all.push(Contestant::new(on("ours", threads), ours::mulmod(threads, &a, &b, &m)));
            all.push(Contestant::new(on("ours, McLaughlin", threads), ours::mulmod_form(threads, &a, &b, &m)));
        }
        if let Some(gmp) = bench.peers.gmp.filter(|_| threads == 1) {
            let (x, y, z) = (a.clone(), b.clone(), m.clone());
            let (mut product, mut quotient) = (vec![0; 2 * n], vec![0; n + 1]);
            let run = move |out: &mut [u64]| {
                gmp.mul(&mut product, &x, &y);
                gmp.div_rem(&mut quotient, out, &product, &z);
            };
            all.push(Contestant::new("GMP mul, div", Job::new(n, run)));
            all.push(Contestant::new("GMP Barrett", gmp_barrett(gmp, &a, &b, &m)));
        }
        for flint in &bench.peers.flint {
            flint.set_threads(threads);
            let name = flint.column();
            all.push(Contestant::new(on(&name, threads), flint.mulmod_preinvn(&a, &b, &m)));
            if let Some(work) = bench.peers.gmp.and_then(|gmp| flint.mulmod_barrett(gmp, &a, &b, &m)) {
                all.push(Contestant::new(on(&(name + " Barrett"), threads), work));
            }
        }
        all
    };
    bench.row(format!("mulmod/bits={bits}{suffix}"), contestants, targets)
}

/// Barrett's reduction on GMP's products: the quotient is at most two too small.
fn gmp_barrett(gmp: Gmp, a: &[u64], b: &[u64], m: &[u64]) -> impl Work + use<> {
    let n = m.len();
    let mut power = vec![0; 2 * n + 1];
    power[2 * n] = 1;
    let (mut mu, mut rest) = (vec![0; n + 2], vec![0; n]);
    gmp.div_rem(&mut mu, &mut rest, &power, m);
    let mu = trimmed(&mu).to_vec();
    let (a, b, m) = (a.to_vec(), b.to_vec(), m.to_vec());
    let (mut x, mut y, mut z) = (vec![0; 2 * n], vec![0; n + 1 + mu.len()], vec![0; n + mu.len()]);
    Job::new(n, move |out: &mut [u64]| {
        gmp.mul(&mut x, &a, &b);
        gmp.mul(&mut y, &x[n - 1..], &mu);
        gmp.mul(&mut z, &y[n + 1..], &m);
        gmp.sub_assign(&mut x[..n + 1], &z[..n + 1]);
        while x[n] != 0 || !gmp.less(&x[..n], &m) {
            let borrow = gmp.sub_assign(&mut x[..n], &m);
            x[n] = x[n].wrapping_sub(borrow);
        }
        out.copy_from_slice(&x[..n]);
    })
}

/// Sums modulo a number, of operands whose sum passes it; and the floor, the same words added and subtracted without carries.
pub fn addition(bench: &Bench<'_>) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for bits in ADDITION {
        let contestants = || {
            let m = modulus(bits, 3);
            let (a, b, n) = (below(&m, 4), below(&m, 5), m.len());
            let mut all = Vec::new();
            all.push(Contestant::new("ours, into words", ours::addmod_into(&a, &b, &m)));
            all.push(Contestant::new("ours, a new number", ours::addmod(&a, &b, &m)));
            if let Some(gmp) = bench.peers.gmp {
                let (a, b, m) = (a.clone(), b.clone(), m.clone());
                let run = move |out: &mut [u64]| {
                    if gmp.add_n(out, &a, &b) != 0 || !gmp.less(out, &m) {
                        gmp.sub_assign(out, &m);
                    }
                };
                all.push(Contestant::new("GMP two passes", Job::new(n, run)));
            }
            all.push(Contestant::new("floor", Floor { a, b, m, out: vec![0; n] }));
            all
        };
        let target = Target::new("ours, into words", "floor", 0.5);
        rows.extend(bench.row(format!("addmod/bits={bits}"), contestants, vec![target])?);
    }
    Ok(rows)
}

/// Reads and writes what a modular sum must.
struct Floor {
    a: Vec<u64>,
    b: Vec<u64>,
    m: Vec<u64>,
    out: Vec<u64>,
}

impl Work for Floor {
    fn run(&mut self) {
        let operands = self.a.iter().zip(&self.b).zip(&self.m);
        for (out, ((a, b), m)) in self.out.iter_mut().zip(operands) {
            *out = a.wrapping_add(*b).wrapping_sub(*m);
        }
        black_box(&mut self.out);
    }

    fn result(&self) -> Option<Vec<u64>> {
        None
    }
}
