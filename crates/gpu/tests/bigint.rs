//! Integers on the emulated device equal those of `solinas-bigint`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_bigint::Natural;
use solinas_gpu::bigint::{self, Modulus};
use solinas_gpu::complex::Operand;
use solinas_gpu::{Device, DeviceOptions, Error, Stream};
use solinas_gpu_lab::checks::bigint as checks;

fn device(seed: u64) -> Device {
    Device::emulated(DeviceOptions { seed, ..DeviceOptions::default() })
}

fn random(rng: &mut ChaCha8Rng, bits: usize) -> Natural {
    let mut words: Vec<u64> = (0..bits.div_ceil(64)).map(|_| rng.next_u64()).collect();
    if let (Some(top), rest @ 1..) = (words.last_mut(), bits % 64) {
        *top &= (1 << rest) - 1;
    }
    Natural::from_words(words)
}

fn numbers(bits: usize) -> Vec<Natural> {
    checks::numbers(bits, bits as u64)
}

#[test]
fn products_and_squares_are_those_of_the_processor() {
    let device = device(1);
    for bits in [1, 64, 1000, 30_000] {
        checks::products(&device, bits, bits as u64).unwrap();
    }
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (a, b) = (random(&mut rng, 100_000), random(&mut rng, 100));
    assert_eq!(bigint::mul(&device, &a, &b).unwrap(), &a * &b);
}

/// Moduli whose reciprocal has the least and the most words, whose quotients are one or two too small, and random ones.
#[test]
fn products_modulo_a_number_are_those_of_the_processor() {
    let device = device(2);
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let one = Natural::one();
    for bits in [2, 64, 65, 128, 129, 1000, 4096, 20_000] {
        let power = &one << bits;
        let moduli = [
            &one << (bits - 1),
            &(&one << (bits - 1)) + &one,
            power.checked_sub(&one).unwrap(),
            &random(&mut rng, bits) + &Natural::from(2u64),
        ];
        for modulus in moduli {
            let gpu = Modulus::new(&device, &modulus).unwrap();
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for x in numbers(bits) {
                for y in numbers(bits) {
                    a.push(x.clone());
                    b.push(y);
                }
            }
            let products = gpu.mul(&a, &b).unwrap();
            for ((a, b), product) in a.iter().zip(&b).zip(products) {
                assert_eq!(product, (a * b).div_rem(&modulus).unwrap().1, "{a} {b} modulo {modulus}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn quotients_near_an_integer_are_right(words in 1usize..6, seed: u64, offset in -3i64..4) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let modulus = &random(&mut rng, 64 * words) + &Natural::from(8u64);
        // Products a b near a multiple of the modulus: b is near the modulus divided by a.
        let a = random(&mut rng, 32 * words).checked_sub(&Natural::one()).unwrap_or_default();
        let a = &a + &Natural::one();
        let near = modulus.div_rem(&a).unwrap().0;
        let step = Natural::from(offset.unsigned_abs());
        let b = if offset < 0 { near.checked_sub(&step).unwrap_or_default() } else { &near + &step };
        let gpu = Modulus::new(&device(seed), &modulus).unwrap();
        let expected = (&a * &b).div_rem(&modulus).unwrap().1;
        prop_assert_eq!(gpu.mul(&[a], &[b]).unwrap(), [expected]);
    }
}

#[test]
fn powers_are_those_of_the_processor() {
    let device = device(3);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for (bits, exponent_bits) in [(64, 64), (500, 37), (2000, 11)] {
        let modulus = &random(&mut rng, bits) + &Natural::from(2u64);
        let (gpu, cpu) = (Modulus::new(&device, &modulus).unwrap(), solinas_bigint::Modulus::new(&modulus).unwrap());
        for exponent in [Natural::default(), Natural::one(), Natural::from(31u64), random(&mut rng, exponent_bits)] {
            let bases = [Natural::default(), Natural::one(), random(&mut rng, bits), &modulus + &Natural::one()];
            let mut steps = 0;
            let powers = gpu.pow(&bases, &exponent, || -> Result<(), Error> {
                steps += 1;
                Ok(())
            });
            assert!(steps >= exponent.bit_len());
            let expected: Vec<_> = bases.iter().map(|base| cpu.vartime_pow(base, &exponent).unwrap()).collect();
            assert_eq!(powers.unwrap(), expected, "{bits} bits, exponent {exponent}");
        }
    }
}

/// The modular product of the papers.
#[test]
fn a_modular_product_of_785_006_bits() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let modulus = &(&Natural::one() << 785_005) + &random(&mut rng, 785_000);
    let gpu = Modulus::new(&device(4), &modulus).unwrap();
    let (a, b) = (random(&mut rng, 785_005), random(&mut rng, 785_005));
    let expected = (&a * &b).div_rem(&modulus).unwrap().1;
    assert_eq!(gpu.mul(&[a], &[b]).unwrap(), [expected]);
}

#[test]
fn errors_say_what_is_wrong() {
    let small = Device::emulated(DeviceOptions { memory: Some(1 << 20), ..DeviceOptions::default() });
    let a = &Natural::one() << 1_000_000;
    let error = bigint::square(&small, &a).unwrap_err();
    assert!(matches!(error, Error::Memory { .. }), "{error}");
    assert!(matches!(Modulus::new(&device(0), &Natural::default()), Err(Error::Unsupported { .. })));
    let modulus = Modulus::new(&device(0), &Natural::from(97u64)).unwrap();
    assert!(modulus.mul(&[Natural::one()], &[]).is_err());
    assert_eq!(modulus.mul(&[], &[]).unwrap(), []);
    let stream = Stream::new(modulus.device()).unwrap();
    let buffer = |words: usize| stream.buffer_of(&vec![1u64; words], "a test").unwrap();
    let (one, two, three) = (buffer(1), buffer(2), buffer(3));
    let workspace = modulus.workspace(&stream, 2).unwrap();
    let operand = |buffer, items| Operand::new(buffer, items).unwrap();
    assert!(modulus.product(operand(&two, 2), Some(operand(&two, 2)), &two, &workspace).is_ok());
    for (x, y, out) in [
        (operand(&two, 2), None, &one),
        (operand(&two, 2), None, &three),
        (operand(&two, 1), None, &one),
        (operand(&three, 3), None, &three),
        (operand(&two, 2), Some(operand(&two, 1)), &two),
    ] {
        assert!(modulus.product(x, y, out, &workspace).is_err());
    }
    // The work stops when the caller says so.
    let stopped = modulus.pow(&[Natural::one()], &Natural::from(9u64), || Err(Error::Fault("stop".into())));
    assert_eq!(stopped, Err(Error::Fault("stop".into())));
    let none = modulus.pow(&[], &Natural::one(), || Ok::<(), Error>(()));
    assert_eq!(none.unwrap(), []);
}
