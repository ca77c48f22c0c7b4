//! Compares word kernels with GMP's in one process, by the least of many short runs:
//! `cargo run --release -p solinas-field --example limbs`

use libloading::{Library, Symbol};
use solinas_field::Backend;
use solinas_field::limbs::{self, Montgomery, Multiplier};
use std::hint::black_box;
use std::time::Instant;

/// Nanoseconds of one call: the least over many batches.
fn time(mut f: impl FnMut()) -> f64 {
    let start = Instant::now();
    f();
    let once = start.elapsed().as_nanos().max(50) as f64;
    let calls = (20_000.0 / once).clamp(1.0, 1000.0) as usize;
    let batches = (30_000_000.0 / (once * calls as f64)).clamp(20.0, 2000.0) as usize;
    let batch = |f: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..calls).for_each(|_| f());
        start.elapsed().as_nanos() as f64 / calls as f64
    };
    (0..batches).map(|_| batch(&mut f)).fold(f64::INFINITY, f64::min)
}

fn words(n: usize, mut seed: u64) -> Vec<u64> {
    (0..n)
        .map(|_| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            seed ^ seed >> 29
        })
        .collect()
}

type MulBasecase = unsafe extern "C" fn(*mut u64, *const u64, i64, *const u64, i64);
type Sum = unsafe extern "C" fn(*mut u64, *const u64, *const u64, i64) -> u64;
type Square = unsafe extern "C" fn(*mut u64, *const u64, i64);

/// out <- a ^ b ^ c, in the widest vectors.
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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // SAFETY: GMP's initialisers do nothing harmful; the signatures are those of gmp.h.
    let gmp = unsafe { Library::new("libgmp.so.10") }?;
    // SAFETY: as above.
    let (mul_basecase, mpn_mul, mpn_sqr): (Symbol<MulBasecase>, Symbol<MulBasecase>, Symbol<Square>) =
        unsafe { (gmp.get(b"__gmpn_mul_basecase")?, gmp.get(b"__gmpn_mul")?, gmp.get(b"__gmpn_sqr")?) };
    // SAFETY: as above.
    let (add_n, sub_n): (Symbol<Sum>, Symbol<Sum>) = unsafe { (gmp.get(b"__gmpn_add_n")?, gmp.get(b"__gmpn_sub_n")?) };
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
        // SAFETY: `out` has room for both operands together; no overlap.
        let base = time(|| unsafe { mul_basecase(out.as_mut_ptr(), a.as_ptr(), n as i64, b.as_ptr(), n as i64) });
        // SAFETY: as above.
        let mul = time(|| unsafe { mpn_mul(out.as_mut_ptr(), a.as_ptr(), n as i64, b.as_ptr(), n as i64) });
        // SAFETY: as above.
        let sqr = time(|| unsafe { mpn_sqr(out.as_mut_ptr(), a.as_ptr(), n as i64) });
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
        // SAFETY: all have n words.
        let gmp_add = time(|| unsafe {
            add_n(out.as_mut_ptr(), a.as_ptr(), b.as_ptr(), n as i64);
        });
        let add = time(|| {
            limbs::add_to(black_box(&mut out), &a, &b);
        });
        let sub = time(|| {
            limbs::sub_to(black_box(&mut out), &a, &b);
        });
        // SAFETY: all have n words.
        let gmp_mod = time(|| unsafe {
            add_n(out.as_mut_ptr(), a.as_ptr(), b.as_ptr(), n as i64);
            sub_n(out.as_mut_ptr(), out.as_ptr(), m.as_ptr(), n as i64);
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
        let mut modulus = words(n, 3);
        modulus[0] |= 1;
        modulus[n - 1] |= 1 << 63;
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
