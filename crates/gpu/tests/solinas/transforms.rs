//! Transforms against the plans of the CPU, in the order of their spectra.

use super::lab::{Lab, random};
use solinas_field::Backend;
use solinas_field::solinas::{Convolution, P, mul, reduce};
use solinas_gpu::solinas::Plan;
use solinas_gpu::{Arg, Device, DeviceOptions, Error};

/// Words that meet at the ends of the ranges of digits and of sums.
const CORNERS: [u64; 8] = [0, 1, 0x8000_0000, 0xFFFF_FFFF, 1 << 32, P - 1, P, u64::MAX];

/// Transforms `items` items, compares their spectra with the CPU's, and transforms them back.
fn check(odd: usize, log: u32, items: usize, seed: u64) {
    let n = odd << log;
    let mut words = random(n as u64, items * n);
    // The second item has corners, the third all p - 1.
    for (i, word) in words.iter_mut().enumerate().skip(n) {
        *word = if i < 2 * n { CORNERS[(*word % 8) as usize] } else { P - 1 };
    }
    let lab = Lab::new(seed);
    let data = lab.upload(&words);
    let gpu = Plan::new(&lab.device, odd, log).unwrap();
    lab.run_all(&gpu.transform(&data).unwrap());
    let plan = solinas_field::solinas::Plan::new(n, Convolution::Cyclic, Backend::detect().unwrap(), 1).unwrap();
    let mut want = words.clone();
    want.chunks_mut(n).for_each(|item| plan.forward(item).unwrap());
    assert_eq!(lab.download(&data), want, "forward, {odd} * 2^{log} points");
    lab.run_all(&gpu.inverse(&data).unwrap());
    let coefficients: Vec<u64> = words.iter().map(|&word| reduce(word)).collect();
    assert_eq!(lab.download(&data), coefficients, "inverse, {odd} * 2^{log} points");
}

#[test]
fn transforms_of_one_kernel_match_the_cpu() {
    (1..=12).for_each(|log| check(1, log, 3, log.into()));
}

#[test]
fn transforms_of_two_kernels_match_the_cpu() {
    (13..=15).for_each(|log| check(1, log, 2, log.into()));
}

#[test]
fn the_transform_of_65536_points_matches_the_cpu() {
    check(1, 16, 1, 5);
}

#[test]
fn the_transform_of_three_kernels_matches_the_cpu() {
    check(1, 17, 1, 6);
}

#[test]
fn transforms_with_an_odd_factor_match_the_cpu() {
    for odd in [3, 5, 17] {
        [1, 2, 6, 9].into_iter().for_each(|log| check(odd, log, 3, log.into()));
    }
    check(3, 13, 1, 7);
}

#[test]
fn pointwise_products_match_the_field() {
    let (lab, n) = (Lab::new(1), 1000);
    let mut words = random(7, 3 * n);
    for (word, corner) in words.iter_mut().zip(CORNERS.repeat(40)) {
        *word = corner;
    }
    let (a, b, c) = (&words[..n], &words[n / 2..n / 2 + n], &words[2 * n..]);
    let (x, y, sum) = (lab.upload(a), lab.upload(b), lab.upload(c));
    let args = |name| match name {
        "solinas_multiply" => vec![Arg::write(&x), Arg::read(&x), Arg::read(&y), (n as u64).into()],
        _ => vec![Arg::write(&sum), Arg::read(&x), Arg::read(&y), (n as u64).into()],
    };
    for name in ["solinas_multiply_add", "solinas_multiply"] {
        lab.run("solinas_pointwise", name, [n.div_ceil(256) as u32, 1], 256, args(name));
    }
    let products: Vec<u64> = a.iter().zip(b).map(|(&a, &b)| mul(a, b)).collect();
    let sums = products.iter().zip(c).map(|(&p, &c)| solinas_field::solinas::add(p, reduce(c))).collect::<Vec<_>>();
    assert_eq!((lab.download(&x), lab.download(&sum)), (products, sums));
}

#[test]
fn lengths_without_kernels_are_refused() {
    let device = Device::emulated(DeviceOptions::default());
    for (odd, log) in [(2, 8), (7, 8), (1, 0), (1, 25), (3, 21)] {
        assert!(matches!(Plan::new(&device, odd, log), Err(Error::Unsupported { .. })), "{odd} * 2^{log}");
    }
}
