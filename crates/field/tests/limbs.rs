//! Word kernels against GMP, on every multiplier.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use libloading::Library;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use solinas_field::Backend;
use solinas_field::limbs::{self, Montgomery, Multiplier};
use std::collections::BTreeMap;

/// Returns every multiplier that this CPU runs, within any back end.
fn multipliers() -> Vec<Multiplier> {
    let all = solinas_testing::back_ends(Backend::available()).into_iter().flat_map(Multiplier::available);
    all.map(|m| (m.name(), m)).collect::<BTreeMap<_, _>>().into_values().collect()
}

/// GMP's product of words, the reference.
struct Gmp(Library);

impl Gmp {
    fn get() -> Self {
        // SAFETY: loading GMP runs no code that could interfere with this process.
        Self(unsafe { Library::new("libgmp.so.10") }.expect("these tests compare with GMP: install libgmp10"))
    }

    fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        type Mul = unsafe extern "C" fn(*mut u64, *const u64, i64, *const u64, i64) -> u64;
        let (a, b) = if a.len() >= b.len() { (a, b) } else { (b, a) };
        let mut out = vec![0; a.len() + b.len()];
        // SAFETY: the symbol has this type in GMP's manual; the first operand is the longer one, and neither is empty.
        unsafe {
            let mul = self.0.get::<Mul>(b"__gmpn_mul").unwrap();
            mul(out.as_mut_ptr(), a.as_ptr(), a.len() as i64, b.as_ptr(), b.len() as i64);
        }
        out
    }

    fn remainder(&self, a: &[u64], m: &[u64]) -> Vec<u64> {
        type Divide = unsafe extern "C" fn(*mut u64, *mut u64, i64, *const u64, i64, *const u64, i64);
        let mut remainder = vec![0; m.len()];
        if a.len() < m.len() {
            remainder[..a.len()].copy_from_slice(a);
            return remainder;
        }
        let mut quotient = vec![0; a.len() - m.len() + 1];
        // SAFETY: the symbol has this type in GMP's manual; a is at least as long as m, whose top word is not zero.
        unsafe {
            let divide = self.0.get::<Divide>(b"__gmpn_tdiv_qr").unwrap();
            let (q, r) = (quotient.as_mut_ptr(), remainder.as_mut_ptr());
            divide(q, r, 0, a.as_ptr(), a.len() as i64, m.as_ptr(), m.len() as i64);
        }
        remainder
    }
}

/// Numbers of `n` words: random, sparse, all ones, a power of two, runs of ones (the longest carries).
fn operands(n: usize, seed: u64) -> Vec<Vec<u64>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut bit = || 1 << random.random_range(0..64);
    let (mut power, bits): (_, Vec<u64>) = (vec![0; n], (0..n).map(|_| bit()).collect());
    let sparse = bits.iter().map(|&bit| if random.random_ratio(1, 4) { bit } else { 0 }).collect();
    let runs = (0..n).map(|_| if random.random() { u64::MAX } else { 0 }).collect();
    power[random.random_range(0..n)] = bits[0];
    let dense = random.random_iter().take(n).collect();
    vec![dense, sparse, runs, power, vec![u64::MAX; n]]
}

#[test]
fn products_equal_gmp_at_every_length() {
    let gmp = Gmp::get();
    for n in 1..=200 {
        for (i, a) in operands(n, n as u64).iter().enumerate() {
            // The same length, and another one.
            let other = 1 + (n * 7 + i * 31) % 200;
            for b in [&operands(n, 1)[(i + 1) % 5], &operands(other, 2)[(i + n) % 5]] {
                let expected = gmp.mul(a, b);
                for m in multipliers() {
                    let mut out = vec![0x5555; a.len() + b.len()];
                    m.mul(&mut out, a, b);
                    assert!(out == expected, "{} words times {} on {}", a.len(), b.len(), m.name());
                }
            }
            let expected = gmp.mul(a, a);
            for m in multipliers() {
                let mut out = vec![0x5555; 2 * n];
                m.square(&mut out, a);
                assert!(out == expected, "square of {n} words on {}", m.name());
            }
        }
    }
}

#[test]
fn rows_equal_gmp_at_every_length() {
    let gmp = Gmp::get();
    for n in 1..=200 {
        for (a, b) in operands(n, 3).into_iter().zip(operands(n, 4)) {
            for w in [0, 1, b[0], u64::MAX] {
                let mut expected = gmp.mul(&a, &[w]);
                let mut out = vec![7; n];
                assert_eq!(limbs::mul_1(&mut out, &a, w), expected[n]);
                assert_eq!(out, expected[..n]);
                limbs::add(&mut expected, &b);
                for m in multipliers() {
                    let mut out = b.clone();
                    assert_eq!(m.addmul_1(&mut out, &a, w), expected[n], "{n} words on {}", m.name());
                    assert_eq!(out, expected[..n]);
                    assert_eq!(limbs::submul_1(&mut out, &a, w), expected[n]);
                    assert_eq!(out, b, "submul_1 undoes addmul_1");
                }
            }
        }
    }
}

/// Odd moduli of `n` words: random, sparse, 2^k - 1, 2^k + 1, 2^(64 n) - small, 2^(64 n - 1) + small.
fn moduli(n: usize) -> Vec<Vec<u64>> {
    let mut all = operands(n, 5);
    all.push(all[0].clone());
    let last = all.len() - 1;
    all[last].fill(0);
    all[last][n - 1] = 1 << (n % 64);
    let mut near = vec![u64::MAX; n];
    near[0] = u64::MAX - 58;
    all.push(near);
    let mut ones = vec![u64::MAX; n];
    ones[n - 1] >>= 1 + n % 63;
    all.push(ones);
    for m in &mut all {
        m[0] |= 1;
        if m[n - 1] == 0 {
            m[n - 1] = 1;
        }
    }
    all.retain(|m| m[..] != [1]);
    all
}

#[test]
fn montgomery_products_equal_gmp() {
    let gmp = Gmp::get();
    for n in (1..=40).chain([47, 48, 49, 63, 64, 65, 95, 96, 97, 127, 128, 129, 192, 200, 256, 415, 416, 417]) {
        for modulus in moduli(n) {
            for multiplier in multipliers() {
                let plan = Montgomery::new(&modulus, multiplier);
                let mut scratch = vec![0; plan.scratch_len()];
                let residue = || vec![0; plan.residue_len()];
                let (mut x, mut y, mut z) = (residue(), residue(), residue());
                for (a, b) in operands(n, 6).into_iter().zip(operands(1 + 3 * n / 2, 7)) {
                    plan.enter(&mut x, &a, &mut scratch);
                    plan.enter(&mut y, &b, &mut scratch);
                    plan.mul(&mut z, &x, &y, &mut scratch);
                    let mut out = vec![0; n];
                    plan.leave(&mut out, &z, &mut scratch);
                    assert!(
                        out == gmp.remainder(&gmp.mul(&a, &b), &modulus),
                        "{n} words, {}, {modulus:x?}",
                        multiplier.name()
                    );
                    plan.square(&mut z, &y, &mut scratch);
                    plan.leave(&mut out, &z, &mut scratch);
                    assert!(
                        out == gmp.remainder(&gmp.mul(&b, &b), &modulus),
                        "{n} words, {}, {modulus:x?}",
                        multiplier.name()
                    );
                }
            }
        }
    }
}

#[test]
fn montgomery_products_of_extreme_residues() {
    // Residues in the plan's own form at the ends of their range, above all m - 1.
    let gmp = Gmp::get();
    for n in [1, 7, 8, 16, 33, 64] {
        for modulus in moduli(n) {
            let mut below = modulus.clone();
            limbs::sub_1(&mut below, 1);
            for multiplier in multipliers() {
                let plan = Montgomery::new(&modulus, multiplier);
                let mut scratch = vec![0; plan.scratch_len()];
                let residue = || vec![0; plan.residue_len()];
                let (mut x, mut y) = (residue(), residue());
                plan.enter(&mut x, &below, &mut scratch);
                let mut expected = below.clone();
                for _ in 0..20 {
                    plan.mul(&mut y, &x, plan.one(), &mut scratch);
                    plan.mul(&mut x, &y, &y, &mut scratch);
                    expected = gmp.remainder(&gmp.mul(&expected, &expected), &modulus);
                    let mut out = vec![0; n];
                    plan.leave(&mut out, &x, &mut scratch);
                    assert!(out == expected, "{n} words on {}", multiplier.name());
                }
            }
        }
    }
}

/// Odd, of exactly `bits` bits, the highest `ones` of them ones and the others random.
fn modulus_with_leading_ones(bits: usize, ones: usize, seed: u64) -> Vec<u64> {
    let mut m = operands(bits.div_ceil(64), seed).swap_remove(0);
    let top = m.len() - 1;
    m[top] &= u64::MAX >> (64 * m.len() - bits);
    for bit in bits - ones..bits {
        m[bit / 64] |= 1 << (bit % 64);
    }
    m[0] |= 1;
    m
}

#[test]
fn montgomery_entry_of_long_numbers_under_the_largest_moduli() {
    // 416 k - 2 and 204 k - 2 bits: R is little more than 4 m in digits of 52 and 51 bits, so that sums come closest to
    // R.
    let gmp = Gmp::get();
    for bits in [2, 3, 5, 8].map(|k| 416 * k - 2).into_iter().chain([6, 7, 12].map(|k| 204 * k - 2)) {
        for seed in 0..100 {
            let m = modulus_with_leading_ones(bits, [2, 8, 60][seed as usize % 3], seed);
            let random = operands(5 * m.len(), seed + 1000).swap_remove(0);
            let cases = [vec![u64::MAX; 2 * m.len()], vec![u64::MAX; 5 * m.len()], random];
            let expected = cases.each_ref().map(|x| gmp.remainder(x, &m));
            for multiplier in multipliers() {
                let plan = Montgomery::new(&m, multiplier);
                let mut scratch = vec![0; plan.scratch_len()];
                let (mut residue, mut product) = (vec![0; plan.residue_len()], vec![0; plan.residue_len()]);
                let mut out = vec![0; plan.words()];
                for (x, expected) in cases.iter().zip(&expected) {
                    plan.enter(&mut residue, x, &mut scratch);
                    plan.leave(&mut out, &residue, &mut scratch);
                    assert_eq!(&out, expected, "{}, {bits} bits, seed {seed}: entered and left", multiplier.name());
                    plan.mul(&mut product, &residue, plan.one(), &mut scratch);
                    plan.leave(&mut out, &product, &mut scratch);
                    assert_eq!(&out, expected, "{}, {bits} bits, seed {seed}: times 1", multiplier.name());
                }
            }
        }
    }
}
