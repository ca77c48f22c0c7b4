//! Prints the test vectors of F_p against which every substrate (CPU, GPU, RTL) is checked.
//!
//! `cargo run -p solinas-field --example solinas_vectors > crates/field/tests/vectors/solinas.txt`

use solinas_field::Backend;
use solinas_field::solinas::{
    Convolution, P, Plan, add, carry, inv, mul, mul_pow2, reduce, reduce_u128, root_of_unity, split, sub,
};

const HEADER: &str = "\
# Test vectors of the field F_p, p = 2^64 - 2^32 + 1, and of its transforms.
# Made by `cargo run -p solinas-field --example solinas_vectors`; do not edit. Numbers are hexadecimal, lengths, exponents and bits decimal.
#
# add|sub|mul a b = c            canonical elements
# shift a e = c                  c = a 2^e
# inverse a = c                  c = 1 / a
# reduce high low = c            c = (high 2^64 + low) mod p
# root n = c                     the root of unity of order n that the transforms use
# exponents KIND n = e ...       the order of a spectrum: place i holds the value at the e_i-th power of the root of order n (cyclic) or 2n (negacyclic)
# forward KIND n : x ... = X ... coefficients in natural order, spectrum in the order above
# checksum KIND n = c            for x_0 = 1, x_(i+1) = 7 x_i + i: c = sum_i X_i 7^i
# split b : w ... = d ...        digits of b bits of the integer of these words, little-endian
# carry b : c ... = w ... q      words of sum_i c_i 2^(b i), and the quotient";

fn hex(values: &[u64]) -> String {
    values.iter().map(|v| format!("{v:x}")).collect::<Vec<_>>().join(" ")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{HEADER}");
    let corners =
        [0, 1, 2, 0xFFFF_FFFF, 1 << 32, P - (1 << 32), P - 2, P - 1, 0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210];
    for a in corners {
        for b in corners {
            println!("add {a:x} {b:x} = {:x}", add(a, b));
            println!("sub {a:x} {b:x} = {:x}", sub(a, b));
            println!("mul {a:x} {b:x} = {:x}", mul(a, b));
        }
        for e in [1, 3, 24, 31, 32, 48, 63, 64, 72, 95, 96, 97, 191] {
            println!("shift {a:x} {e} = {:x}", mul_pow2(a, e));
        }
        if let Some(inverse) = inv(a) {
            println!("inverse {a:x} = {inverse:x}");
        }
    }
    let words = [0, 1, 0xFFFF_FFFF, 1 << 32, P - 1, P, u64::MAX, 0xFEDC_BA98_7654_3210];
    for high in words {
        for low in words {
            println!("reduce {high:x} {low:x} = {:x}", reduce_u128(u128::from(high) << 64 | u128::from(low)));
        }
    }
    for n in (0..=32).map(|k| 1 << k).chain([3, 5, 17, 192, 98_304, 3 << 32]) {
        println!("root {n} = {:x}", root_of_unity(n).ok_or("no such root")?);
    }
    let input = |n: usize| -> Vec<u64> {
        std::iter::successors(Some((0, 1)), |&(i, x)| Some((i + 1, add(mul(7, x), i))))
            .map(|(_, x)| x)
            .take(n)
            .collect()
    };
    for (name, kind) in [("cyclic", Convolution::Cyclic), ("negacyclic", Convolution::Negacyclic)] {
        for n in [2, 4, 8, 16, 32, 64, 192] {
            let plan = Plan::new(n, kind, Backend::Scalar, 1)?;
            let exponents: Vec<String> = (0..n).map(|i| plan.exponent(i).to_string()).collect();
            println!("exponents {name} {n} = {}", exponents.join(" "));
            let x = input(n);
            let mut spectrum = x.clone();
            plan.forward(&mut spectrum)?;
            println!("forward {name} {n} : {} = {}", hex(&x), hex(&spectrum));
        }
        for n in [1 << 12, 1 << 15, 1 << 16, 3 << 15, 5 << 14, 17 << 14] {
            let plan = Plan::new(n, kind, Backend::Scalar, 1)?;
            let mut spectrum = input(n);
            plan.forward(&mut spectrum)?;
            let checksum = spectrum.iter().rev().fold(0, |sum, &x| add(mul(7, sum), x));
            println!("checksum {name} {n} = {checksum:x}");
        }
    }
    for bits in [16, 22, 23, 24] {
        let x: Vec<u64> = input(9).iter().skip(1).map(|&x| x.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        let mut digits = vec![0; (64 * x.len()).div_ceil(bits as usize)];
        split(Backend::Scalar, &x, bits, &mut digits)?;
        println!("split {bits} : {} = {}", hex(&x), hex(&digits));
        let coefficients: Vec<u64> = input(40).iter().skip(20).map(|&c| reduce(c)).collect();
        let mut words = vec![0; (coefficients.len() * bits as usize).div_ceil(64)];
        let quotient = carry(Backend::Scalar, &coefficients, bits, &mut words)?;
        println!("carry {bits} : {} = {} {quotient:x}", hex(&coefficients), hex(&words));
    }
    Ok(())
}
