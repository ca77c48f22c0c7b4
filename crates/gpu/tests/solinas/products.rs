//! Products of integers against `solinas-bigint`.

use crate::chain::product;
use crate::lab::{Lab, random};
use solinas_bigint::Natural;

/// All ones, a power of two, and random words.
fn operands(words: usize, seed: u64) -> [Vec<u64>; 3] {
    let mut power = vec![0; words];
    power[words - 1] = 1 << 62;
    [vec![u64::MAX; words], power, random(seed, words)]
}

fn check(a: &[u64], b: Option<&[u64]>, items: usize, (odd, log): (usize, u32), bits: u32) {
    let lab = Lab::new(9);
    let got = product(&lab, (a, b), items as u32, (odd, log), bits);
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
