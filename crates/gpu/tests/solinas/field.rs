//! The functions of `cuda/gl.h` at the corners of their ranges, with inline PTX and without.

use super::lab::{Lab, random};
use solinas_field::solinas::{P, add, mul, mul_pow2, reduce, sub};
use solinas_gpu::Arg;
use solinas_gpu::solinas::{Twiddle, twiddle};

/// Words that a pair gives: see `cuda/solinas/field.h`.
const RESULTS: usize = 43;
const FLIP: u64 = 0x8000_0000_8000_0000;

/// The element `x0 + x1 2^32` of two signed halves.
fn element(x0: i128, x1: i128) -> u64 {
    (x0 + (x1 << 32)).rem_euclid(P.into()) as u64
}

/// The element of a word of two signed 32-bit digits.
fn packed(v: u64) -> u64 {
    element((v as i32).into(), ((v >> 32) as i32).into())
}

/// The results for a pair, from `element.rs`. The last functions do not give canonical words.
fn expected(a: u64, b: u64, w: u64) -> Vec<u64> {
    let (x, y) = (reduce(a), reduce(b));
    let difference = sub(x, y);
    let mut results = vec![
        x,
        add(x, y),
        difference,
        mul_pow2(x, 32),
        mul_pow2(x, 64),
        mul(a, b),
        mul(packed(a), w),
        element((a as i64).into(), (b as i64).into()),
        x,
        difference,
    ];
    for shift in (0..32).step_by(4) {
        results.extend([0, 32, 64].map(|phi| mul_pow2(difference, shift + phi)));
    }
    results.extend([0, 1, 8, 12, 16, 20, 24, 25, 26].map(|shift| mul_pow2(difference, shift)));
    results
}

#[test]
fn functions_of_the_field_match_the_cpu_at_the_corners() {
    let halves = [0, 1, 2, (1 << 31) - 1, 1 << 31, (1 << 31) + 1, (1 << 32) - 2, (1 << 32) - 1];
    let mut words: Vec<u64> = halves.iter().flat_map(|&low| halves.map(|high| high << 32 | low)).collect();
    words.extend([P - 2, P - 1, P, P + 1, u64::MAX - 1]);
    words.extend(random(1, 8));
    // The packed form of an element is never both of the least digits.
    let mut pairs: Vec<(u64, u64)> = words.iter().flat_map(|&a| words.iter().map(move |&b| (a, b))).collect();
    pairs.retain(|&(a, _)| a != FLIP);
    let (a, b): (Vec<u64>, Vec<u64>) = pairs.iter().copied().unzip();
    let twiddles: Vec<Twiddle> = b.iter().map(|&b| twiddle(reduce(b))).collect();
    for portable in ["", "_portable"] {
        let lab = Lab::new(3);
        let out = lab.buffer::<u64>(RESULTS * a.len());
        let args = vec![
            Arg::write(&out),
            Arg::read(&lab.upload(&a)),
            Arg::read(&lab.upload(&b)),
            Arg::read(&lab.upload(&twiddles)),
            (a.len() as u32).into(),
        ];
        let (file, name) = (format!("solinas_field{portable}"), format!("solinas_field_functions{portable}"));
        lab.run(&file, &name, [a.len().div_ceil(64) as u32, 1], 64, args);
        for (i, got) in lab.download(&out).chunks(RESULTS).enumerate() {
            let want = expected(a[i], b[i], reduce(b[i]));
            for (function, (&got, want)) in got.iter().zip(want).enumerate() {
                let got = match function {
                    8 => reduce(got),
                    9 => packed(got),
                    _ => got,
                };
                assert_eq!(got, want, "{name}: function {function} of {:#x}, {:#x}", a[i], b[i]);
            }
        }
    }
}
