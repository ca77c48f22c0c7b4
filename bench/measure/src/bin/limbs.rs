//! Times word kernels and GMP's in one process, by the least of many short runs: `cargo measure limbs`.

use std::hint::black_box;
use std::process::ExitCode;

use bench_common::numbers::{modulus, words};
use bench_common::{Gmp, command};
use bench_measure::{Result, least};
use clap::Parser;
use solinas_field::Backend;
use solinas_field::limbs::{self, Montgomery, Multiplier};

/// Nanoseconds of one call.
fn time(call: impl FnMut()) -> f64 {
    1e3 * least(20, 0.03, call).wall
}

/// `out <- a ^ b ^ c`, in the widest vectors.
fn combine(out: &mut [u64], a: &[u64], b: &[u64], c: &[u64]) {
    #[inline(always)]
    fn pass(out: &mut [u64], a: &[u64], b: &[u64], c: &[u64]) {
        for (((out, &a), &b), &c) in out.iter_mut().zip(a).zip(b).zip(c) {
            *out = a ^ b ^ c;
        }
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    fn wide(out: &mut [u64], a: &[u64], b: &[u64], c: &[u64]) {
        pass(out, a, b, c);
    }
    match Backend::available().last() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the token proves AVX-512.
        Some(Backend::Avx512(_)) => unsafe { wide(out, a, b, c) },
        _ => pass(out, a, b, c),
    }
}

/// Times word kernels beside GMP's.
#[derive(Parser)]
struct Args {}

fn main() -> ExitCode {
    command::main(run)
}

fn run(_: &Args) -> Result<()> {
    let gmp = Gmp::find().ok_or("GMP is not found: install libgmp (Debian: libgmp10)")?;
    let mut all: Vec<_> = Backend::available().into_iter().flat_map(Multiplier::available).collect();
    all.sort_by_key(|m| ["portable", "adx", "fma", "fma512", "ifma"].iter().position(|&name| name == m.name()));
    all.dedup();

    println!("products, ns");
    print!("{:>6} {:>9} {:>9} {:>9}", "words", "gmp base", "gmp mul", "gmp sqr");
    for m in &all {
        print!(" {:>13}", format!("{} m/s", m.name()));
    }
    println!();
    for n in [8, 16, 24, 32, 37, 48, 64, 96, 128, 192, 256] {
        let (a, b) = (words(n, 1), words(n, 2));
        let mut out = vec![0; 2 * n];
        let base = time(|| gmp.mul_basecase(&mut out, &a, &b));
        let mul = time(|| gmp.mul(&mut out, &a, &b));
        let sqr = time(|| gmp.sqr(&mut out, &a));
        print!("{n:>6} {base:>9.0} {mul:>9.0} {sqr:>9.0}");
        for m in &all {
            let mul = time(|| m.mul(black_box(&mut out), &a, &b));
            let sqr = time(|| m.square(black_box(&mut out), &a));
            print!(" {:>13}", format!("{mul:.0}/{sqr:.0}"));
        }
        println!();
    }

    println!("\nsums, ns; the floor is a pass that combines three numbers without carries");
    println!(
        "{:>7} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "words", "gmp add", "add", "sub", "gmp mod", "add_mod", "vartime", "subvar", "floor", "addmul_1"
    );
    for n in [8, 64, 1000, 12_266, 49_192, 197_274, 262_144] {
        let (mut a, mut b, m) = (words(n, 1), words(n, 2), vec![u64::MAX; n]);
        (a[n - 1], b[n - 1]) = (u64::MAX - 1, u64::MAX - 2);
        let mut out = vec![0; n];
        let gmp_add = time(|| {
            gmp.add_n(&mut out, &a, &b);
        });
        let add = time(|| {
            limbs::add_to(black_box(&mut out), &a, &b);
        });
        let sub = time(|| {
            limbs::sub_to(black_box(&mut out), &a, &b);
        });
        let gmp_mod = time(|| {
            gmp.add_n(&mut out, &a, &b);
            gmp.sub_assign(&mut out, &m);
        });
        let add_mod = time(|| limbs::add_mod(black_box(&mut out), &a, &b, &m));
        let one_pass = time(|| limbs::vartime_add_mod(black_box(&mut out), &a, &b, &m));
        let one_pass_sub = time(|| limbs::vartime_sub_mod(black_box(&mut out), &b, &a, &m));
        let floor = time(|| combine(black_box(&mut out), &a, &b, &m));
        let addmul = time(|| {
            limbs::addmul_1(black_box(&mut out), &a, b[0]);
        });
        println!(
            "{n:>7} {gmp_add:>9.0} {add:>9.0} {sub:>9.0} {gmp_mod:>9.0} {add_mod:>9.0} {one_pass:>9.0} {one_pass_sub:>9.0} {floor:>9.0} {addmul:>9.0}"
        );
    }

    println!("\nMontgomery products, ns: mul / square");
    print!("{:>6}", "bits");
    for m in &all {
        print!(" {:>17}", m.name());
    }
    println!();
    for n in [4, 8, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128, 192, 256] {
        print!("{:>6}", 64 * n);
        let modulus = modulus(64 * n, 3);
        for &m in &all {
            let plan = Montgomery::new(&modulus, m);
            let mut scratch = vec![0; plan.scratch_len()];
            let (mut a, mut b) = (vec![0; plan.residue_len()], vec![0; plan.residue_len()]);
            plan.enter(&mut a, &words(n, 4), &mut scratch);
            let mul = time(|| plan.mul(black_box(&mut b), &a, &a, &mut scratch));
            let square = time(|| plan.square(black_box(&mut b), &a, &mut scratch));
            print!(" {:>17}", format!("{mul:.0} / {square:.0}"));
        }
        println!();
    }
    Ok(())
}
