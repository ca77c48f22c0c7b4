//! Polynomials on the emulated device: the words of `solinas-ring`, at the ends of the ranges and at random.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bgv;
mod ntru;
mod switch;

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_field::Backend;
use solinas_field::prime::{Modulus, primes};
use solinas_gpu::ring::{BaseConversion, Permutation, Rescale, Ring};
use solinas_gpu::{Device, DeviceOptions, Error, Stream};
use solinas_ring::{Automorphism, Basis, Coeff, Domain, Eval, RnsPoly};
use std::sync::Arc;

/// The order of blocks and warps depends on the seed.
fn stream(seed: u64) -> Arc<Stream> {
    Arc::new(Stream::new(&Device::emulated(DeviceOptions { seed, ..DeviceOptions::default() })).unwrap())
}

/// The basis of one prime of each number of bits, in order.
fn basis(dimension: usize, bits: &[u32]) -> Basis {
    let prime = |(i, &width): (usize, &u32)| -> Modulus {
        let earlier = bits[..i].iter().filter(|&&bits| bits == width).count();
        primes(width, earlier + 1, 2 * dimension as u64).unwrap()[earlier]
    };
    let moduli: Vec<Modulus> = bits.iter().enumerate().map(prime).collect();
    Basis::new(dimension, &moduli, Backend::detect().unwrap()).unwrap()
}

/// Polynomials of all words 0, all 1, and all q - 1, then random ones.
fn polys<D: Domain>(basis: &Basis, count: usize, seed: u64) -> Vec<RnsPoly<D>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut poly = |item: usize| {
        let mut words = Vec::new();
        for q in basis.moduli() {
            words.extend((0..basis.dimension()).map(|_| match item {
                0 => q.value() - 1,
                1 => [0, 1, q.value() / 2, q.value() / 2 + 1, q.value() - 1][rng.next_u32() as usize % 5],
                2 => u64::from(rng.next_u32() % 64 == 0),
                _ => q.reduce(rng.next_u64()),
            }));
        }
        RnsPoly::from_words(basis, &words).unwrap()
    };
    (0..count).map(&mut poly).collect()
}

fn references<D: Domain>(polys: &[RnsPoly<D>]) -> Vec<&RnsPoly<D>> {
    polys.iter().collect()
}

/// Transforms `items` polynomials there and back.
fn transforms_agree(dimension: usize, bits: &[u32], items: usize) {
    let basis = basis(dimension, bits);
    let ring = Ring::new(&stream(dimension as u64), &basis).unwrap();
    let inputs: Vec<RnsPoly<Coeff>> = polys(&basis, items, 1);
    let values = ring.upload(&references(&inputs)).unwrap().into_eval().unwrap();
    let want: Vec<_> = inputs.iter().map(|x| x.clone().into_eval()).collect();
    assert!(values.download().unwrap() == want, "forward, N = {dimension}, primes of {bits:?} bits");
    // Words that are no transforms of the polynomials above.
    let inputs: Vec<RnsPoly<Eval>> = polys(&basis, items, 2);
    let coefficients = ring.upload(&references(&inputs)).unwrap().into_coeff().unwrap();
    let want: Vec<_> = inputs.iter().map(|x| x.clone().into_coeff()).collect();
    assert!(coefficients.download().unwrap() == want, "inverse, N = {dimension}, primes of {bits:?} bits");
}

#[test]
fn transforms_that_fit_a_block_are_those_of_the_cpu() {
    for log in 4..=12 {
        // The second number of words does not fill its blocks.
        transforms_agree(1 << log, &[61, 30, 50], 4);
        transforms_agree(1 << log, &[61], 1);
    }
    transforms_agree(64, &[61, 60, 59, 51, 50, 49, 40, 30, 20, 12], 9);
    transforms_agree(16, &[7, 8], 3);
}

#[test]
fn transforms_of_two_kernels_are_those_of_the_cpu() {
    for log in 13..=15 {
        transforms_agree(1 << log, &[61, 30], 2);
    }
    transforms_agree(1 << 16, &[61], 1);
}

/// `f` of each polynomial and its partner, or the only one there is.
fn each(
    x: &[RnsPoly<Eval>],
    y: &[RnsPoly<Eval>],
    f: impl Fn(&RnsPoly<Eval>, &RnsPoly<Eval>) -> RnsPoly<Eval>,
) -> Vec<RnsPoly<Eval>> {
    x.iter().zip(y.iter().cycle()).map(|(x, y)| f(x, y)).collect()
}

#[test]
fn sums_and_products_are_those_of_the_cpu() {
    let basis = basis(128, &[61, 20, 51, 50, 49, 12]);
    let ring = Ring::new(&stream(1), &basis).unwrap();
    let (x, y): (Vec<RnsPoly<Eval>>, Vec<_>) = (polys(&basis, 5, 3), polys(&basis, 5, 4));
    let on_device = |x: &[RnsPoly<Eval>]| ring.upload(&references(x)).unwrap();
    // Every polynomial with its own partner, then with one for all.
    for count in [5, 1] {
        let y = &y[..count];
        let (dx, dy) = (on_device(&x), on_device(y));
        let product = |x: &RnsPoly<Eval>, y: &RnsPoly<Eval>| {
            let mut product = x.clone();
            product.mul_assign(y).unwrap();
            product
        };
        assert!(dx.plus(&dy).unwrap().download().unwrap() == each(&x, y, |x, y| x.plus(y).unwrap()));
        assert!(dx.minus(&dy).unwrap().download().unwrap() == each(&x, y, |x, y| x.minus(y).unwrap()));
        assert!(dx.times(&dy).unwrap().download().unwrap() == each(&x, y, product));
        let mut sum = on_device(&x);
        sum.add_product(&dx, &dy).unwrap();
        assert!(sum.download().unwrap() == each(&x, y, |x, y| x.plus(&product(x, y)).unwrap()));
        sum.mul_assign(&dy).unwrap();
        assert!(sum.download().unwrap() == each(&x, y, |x, y| product(&x.plus(&product(x, y)).unwrap(), y)));
    }
    for factor in [0, 1, -1, 2, 1 << 62, i64::MIN] {
        let scaled = |x: &RnsPoly<Eval>| {
            let mut x = x.clone();
            x.scale(factor);
            x
        };
        let want: Vec<_> = x.iter().map(scaled).collect();
        assert!(on_device(&x).scaled(factor).unwrap().download().unwrap() == want, "times {factor}");
    }
}

#[test]
fn automorphisms_are_those_of_the_cpu() {
    let basis = basis(512, &[50, 30]);
    let ring = Ring::new(&stream(2), &basis).unwrap();
    let x: Vec<RnsPoly<Eval>> = polys(&basis, 4, 5);
    for exponent in [1, 3, 5, 25, 511, 1023] {
        let automorphism = Automorphism::new(&basis, exponent).unwrap();
        let permutation = Permutation::new(&ring, &automorphism).unwrap();
        let got = ring.upload(&references(&x)).unwrap().permuted(&permutation).unwrap().download().unwrap();
        let want: Vec<_> = x.iter().map(|x| automorphism.of_values(x).unwrap()).collect();
        assert!(got == want, "exponent {exponent}");
    }
}

#[test]
fn base_conversions_are_those_of_the_cpu() {
    for (from, to) in [(&[61, 50, 40, 61, 30][..], &[60, 20, 51, 59][..]), (&[30], &[61, 12, 50]), (&[50, 49], &[48])] {
        let (from, to) = (basis(64, from), basis(64, to));
        let ring = Ring::new(&stream(5), &from).unwrap();
        let target = ring.another(&to).unwrap();
        let plan = solinas_ring::BaseConversion::new(&from, &to).unwrap();
        let conversion = BaseConversion::new(&ring, &target, &plan).unwrap();
        let x: Vec<RnsPoly<Coeff>> = polys(&from, 5, 8);
        let got = conversion.convert(&ring.upload(&references(&x)).unwrap()).unwrap();
        let want: Vec<_> = x.iter().map(|x| plan.convert(x).unwrap()).collect();
        assert!(got.download().unwrap() == want, "from {from} to {to}");
        assert!(matches!(BaseConversion::new(&target, &ring, &plan), Err(Error::Scheme(_))));
    }
}

/// Divides by the last primes, one after the other.
fn divisions_agree(dimension: usize, bits: &[u32], plaintext: u64) {
    let mut basis = basis(dimension, bits);
    let ring = Ring::new(&stream(plaintext), &basis).unwrap();
    let mut x: Vec<RnsPoly<Eval>> = polys(&basis, 4, plaintext);
    let mut on_device = ring.upload(&references(&x)).unwrap();
    while basis.len() > 1 {
        let plan = solinas_ring::Rescale::new(&basis, plaintext).unwrap();
        on_device = Rescale::new(&ring, &plan).unwrap().apply(on_device).unwrap();
        x = x.iter().map(|x| plan.apply(x).unwrap()).collect();
        assert!(on_device.download().unwrap() == x, "p = {plaintext}, {basis}");
        basis = basis.prefix(basis.len() - 1).unwrap();
    }
}

#[test]
fn divisions_by_the_last_prime_are_those_of_the_cpu() {
    for plaintext in [1, 2, 3, 16, 257, 65_537, (1 << 31) - 1] {
        divisions_agree(64, &[61, 50, 40, 61, 30], plaintext);
    }
    divisions_agree(8192, &[50, 48, 45], 2);
}

/// Division of constants is exact at the ends: those near 0, q/2 and q, for coefficients.
#[test]
fn divisions_of_the_ends_of_the_range_are_those_of_the_cpu() {
    let basis = basis(16, &[61, 60]);
    let ring = Ring::new(&stream(3), &basis).unwrap();
    let q = basis.modulus(1).value();
    let mut words = vec![0; 16];
    words.extend([0, 1, 2, 3, q / 2 - 2, q / 2 - 1, q / 2, q / 2 + 1, q / 2 + 2, q - 4, q - 3, q - 2, q - 1, 7, 8, 9]);
    let x = RnsPoly::<Coeff>::from_words(&basis, &words).unwrap().into_eval();
    for plaintext in [1, 2, 4, 5, 6, 1 << 30] {
        let plan = solinas_ring::Rescale::new(&basis, plaintext).unwrap();
        let on_device = Rescale::new(&ring, &plan).unwrap().apply(ring.upload(&[&x]).unwrap()).unwrap();
        assert!(on_device.download().unwrap() == [plan.apply(&x).unwrap()], "p = {plaintext}");
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let (basis, other) = (basis(64, &[50, 30]), basis(64, &[50, 31]));
    let stream = stream(4);
    let ring = Ring::new(&stream, &basis).unwrap();
    let (x, y): (Vec<RnsPoly<Eval>>, Vec<RnsPoly<Eval>>) = (polys(&basis, 3, 6), polys(&other, 3, 7));
    assert!(matches!(ring.upload(&references(&y)), Err(Error::Scheme(_))));
    assert!(matches!(ring.upload::<Eval>(&[]), Err(Error::Unsupported { .. })));
    let (dx, dy) = (ring.upload(&references(&x)).unwrap(), ring.upload(&references(&x[..2])).unwrap());
    assert!(matches!(dx.times(&dy), Err(Error::Scheme(_))));
    let foreign = ring.another(&other).unwrap().upload(&references(&y)).unwrap();
    assert!(matches!(dx.plus(&foreign), Err(Error::Scheme(_))));
    let plan = solinas_ring::Rescale::new(&other, 2).unwrap();
    assert!(matches!(Rescale::new(&ring, &plan), Err(Error::Scheme(_))));
    let large = Basis::new(1 << 17, &primes(50, 1, 2 << 17).unwrap(), Backend::detect().unwrap()).unwrap();
    assert!(matches!(Ring::new(&stream, &large), Err(Error::Unsupported { .. })));
    let small = Device::emulated(DeviceOptions { memory: Some(1 << 12), ..DeviceOptions::default() });
    let error = Ring::new(&Arc::new(Stream::new(&small).unwrap()), &basis);
    assert!(matches!(error, Err(Error::Memory { .. })), "{error:?}");
}
