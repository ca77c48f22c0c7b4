//! Carries, sums, differences and comparisons of long numbers.

use crate::chain::{add, carry};
use crate::lab::{Lab, random};
use solinas_field::solinas::carry as cpu_carry;
use solinas_field::{Backend, limbs};
use solinas_gpu::Arg;

/// Numbers whose carries run through all words, and random ones: pairs.
fn pairs(words: usize) -> Vec<(Vec<u64>, Vec<u64>)> {
    let (zero, ones) = (vec![0; words], vec![u64::MAX; words]);
    let mut one = zero.clone();
    one[0] = 1;
    let mut top = zero.clone();
    top[words - 1] = 1 << 63;
    let noise = random(words as u64, 2 * words);
    let (a, b) = noise.split_at(words);
    // Differs from a in the lowest word only.
    let mut near = a.to_vec();
    near[0] ^= 1;
    vec![
        (ones.clone(), one.clone()),
        (ones.clone(), ones.clone()),
        (top.clone(), one),
        (zero, top),
        (a.to_vec(), b.to_vec()),
        (a.to_vec(), near),
        (a.to_vec(), a.to_vec()),
    ]
}

const LENGTHS: [usize; 7] = [1, 31, 33, 2047, 2048, 2049, 70_000];

#[test]
fn sums_and_differences_match_the_cpu() {
    for words in LENGTHS {
        let pairs = pairs(words);
        let (a, b): (Vec<_>, Vec<_>) = pairs.iter().flat_map(|(a, b)| [(a, b), (b, a)]).unzip();
        let (a, b) = (
            a.into_iter().flatten().copied().collect::<Vec<u64>>(),
            b.into_iter().flatten().copied().collect::<Vec<u64>>(),
        );
        for subtract in [false, true] {
            let (got, carries) = add(&Lab::new(2), &a, &b, words as u32, subtract);
            for (item, (a, b)) in a.chunks(words).zip(b.chunks(words)).enumerate() {
                let mut want = a.to_vec();
                let carry = if subtract { 1 - limbs::sub(&mut want, b) } else { limbs::add(&mut want, b) };
                let place = item * words..(item + 1) * words;
                assert!(got[place] == want, "{words} words, item {item}, subtract {subtract}");
                assert_eq!(u64::from(carries[item]), carry, "{words} words, item {item}, subtract {subtract}");
            }
        }
    }
}

#[test]
fn comparisons_match_the_cpu() {
    let lab = Lab::new(4);
    for words in LENGTHS {
        for (a, b) in pairs(words) {
            for (a, b) in [(&a, &b), (&b, &a)] {
                let out = lab.buffer::<i32>(1);
                let (x, y) = (lab.upload(a), lab.upload(b));
                let args = vec![Arg::read(&x), Arg::read(&y), Arg::write(&out), (words as u32).into()];
                lab.run("carry_compare", "carry_compare", [1, 1], 256, args);
                let want = a.iter().rev().cmp(b.iter().rev()) as i32;
                assert_eq!(lab.download(&out), [want], "{words} words");
            }
        }
    }
}

#[test]
fn carries_of_coefficients_match_the_cpu() {
    for (bits, count) in [(24, 5000), (17, 2048), (29, 512), (6, 300), (32, 64), (21, 6000)] {
        let words = bits as usize * count / 64 + 2;
        // Digits that carry through the whole number follow a coefficient that overflows its digit.
        let mut run = vec![(1 << bits) - 1; count];
        run[0] += 1;
        for coefficients in [random(u64::from(bits), count), vec![u64::MAX; count], run] {
            let lab = Lab::new(bits.into());
            let got = carry(&lab, &lab.upload(&coefficients), 1, bits, words as u32);
            let mut want = vec![0; words];
            assert_eq!(cpu_carry(Backend::detect().unwrap(), &coefficients, bits, &mut want), Ok(0));
            assert!(got == want, "{count} coefficients at {bits} bits");
        }
    }
}
