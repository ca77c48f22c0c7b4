//! Products of integers against `solinas-bigint`.

use super::lab::{Lab, random};
use solinas_bigint::Natural;
use solinas_gpu::solinas::{self, Plan};
use solinas_gpu::{Device, DeviceOptions};

/// All ones, a power of two, and random words.
fn operands(words: usize, seed: u64) -> [Vec<u64>; 3] {
    let mut power = vec![0; words];
    power[words - 1] = 1 << 62;
    [vec![u64::MAX; words], power, random(seed, words)]
}

fn check(a: &[u64], b: Option<&[u64]>, items: usize, (odd, log): (usize, u32), bits: u32) {
    let lab = Lab::new(9);
    let plan = Plan::new(&lab.device, odd, log).unwrap();
    let words = a.len() + b.unwrap_or(a).len();
    let (x, y, out) = (lab.upload(a), b.map(|b| lab.upload(b)), lab.buffer(words));
    let scratch = plan.scratch(&lab.stream, items, words / items).unwrap();
    lab.run_all(&plan.product(&x, y.as_ref(), items, bits, &out, &scratch).unwrap());
    let got: Vec<u64> = lab.download(&out);
    let (x, y) = (a.chunks(a.len() / items), b.unwrap_or(a).chunks(b.unwrap_or(a).len() / items));
    for (item, (got, (a, b))) in got.chunks(got.len() / items).zip(x.zip(y)).enumerate() {
        let want = &Natural::from_words(a.to_vec()) * &Natural::from_words(b.to_vec());
        assert_eq!(Natural::from_words(got.to_vec()), want, "item {item}, {odd} * 2^{log} digits of {bits} bits");
    }
}

#[test]
fn products_of_small_numbers_match_the_cpu() {
    for (log, bits) in [(12, 26), (13, 25), (14, 25)] {
        let words = (((1usize << log) / 2 - 1) * bits as usize) / 64;
        let all: Vec<u64> = operands(words, 1).concat();
        let turned: Vec<u64> = [&all[2 * words..], &all[..2 * words]].concat();
        check(&all, Some(&turned), 3, (1, log), bits);
    }
}

#[test]
fn operands_of_different_lengths_match_the_cpu() {
    let (log, bits) = (12, 26);
    let words = (1usize << log) * bits as usize / 64;
    let (long, short) = (random(2, words - 100), random(3, 99));
    check(&long, Some(&short), 1, (1, log), bits);
    check(&short, Some(&long), 1, (1, log), bits);
}

#[test]
fn products_by_transforms_of_an_odd_factor_match_the_cpu() {
    for odd in [3, 5, 17] {
        let words = (odd << 11) * 24 / 64;
        let [ones, _, noise] = operands(words, odd as u64);
        check(&[ones, noise.clone()].concat(), Some(&[noise.clone(), noise].concat()), 2, (odd, 12), 24);
    }
}

/// Two passes over columns, of other strides than 2^8.
#[test]
fn products_by_four_kernels_match_the_cpu() {
    let words = (1 << 16) * 23 / 64;
    let [ones, _, noise] = operands(words, 6);
    check(&noise, Some(&ones), 1, (1, 17), 23);
}

#[test]
fn squares_match_the_cpu() {
    check(&operands(800, 4).concat(), None, 3, (1, 12), 26);
}

/// The sizes of `wang2014` table 5.3: 785,006 bits, 2^16 digits of 24 bits.
#[test]
fn products_of_785006_bits_match_the_cpu() {
    let words = 785_006usize.div_ceil(64);
    let [ones, power, noise] = operands(words, 5);
    check(&noise, Some(&ones), 1, (1, 16), 24);
    check(&ones, None, 1, (1, 16), 24);
    check(&power, Some(&noise), 1, (1, 16), 24);
}

#[test]
fn products_and_squares_of_integers_match_the_cpu() {
    let device = Device::emulated(DeviceOptions::default());
    for (a, b) in [(1, 1), (1, 700), (40, 3), (900, 900)] {
        for (x, y) in operands(a, 1).into_iter().zip(operands(b, 2)) {
            let (x, y) = (Natural::from_words(x), Natural::from_words(y));
            assert_eq!(solinas::mul(&device, &x, &y).unwrap(), &x * &y, "{a} by {b} words");
            assert_eq!(solinas::square(&device, &x).unwrap(), x.square());
        }
    }
    assert_eq!(solinas::mul(&device, &Natural::default(), &Natural::one()).unwrap(), Natural::default());
}

/// Digits whose sums would exceed p, factors that are too long, and buffers of other lengths.
#[test]
fn products_that_do_not_fit_are_refused() {
    let lab = Lab::new(1);
    let plan = Plan::new(&lab.device, 1, 12).unwrap();
    let (x, out, short) = (lab.upload(&[1u64; 700]), lab.buffer::<u64>(1400), lab.buffer::<u64>(1399));
    let scratch = plan.scratch(&lab.stream, 1, 1400).unwrap();
    let product = |bits, items, out| plan.product(&x, None, items, bits, out, &scratch);
    assert!(product(26, 1, &out).is_ok());
    for (bits, items, out) in [(27, 1, &out), (0, 1, &out), (8, 1, &out), (26, 2, &out), (26, 0, &out), (26, 1, &short)]
    {
        assert!(product(bits, items, out).is_err(), "{bits} bits, {items} items");
    }
    assert!(Plan::new(&lab.device, 1, 11).unwrap().product(&x, None, 1, 26, &out, &scratch).is_err());
}
