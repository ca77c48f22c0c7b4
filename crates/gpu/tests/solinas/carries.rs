//! Carries, sums, differences and comparisons of long numbers.

use super::lab::{Lab, random};
use solinas_field::solinas::carry as cpu_carry;
use solinas_field::{Backend, limbs};
use solinas_gpu::{Arg, Buffer};

/// Words of a block of carries.
const CARRY_BLOCK: u32 = 2048;

/// Adds the carries between the blocks of numbers of `words` words. Returns the carries out.
fn resolve(lab: &Lab, result: &Buffer<u64>, flags: &Buffer<u32>, words: u32, carry: u32) -> Vec<u32> {
    let items = result.len() as u32 / words;
    let out = lab.buffer::<u32>(items as usize);
    let args = vec![Arg::write(result), Arg::read(flags), Arg::write(&out), words.into(), carry.into()];
    lab.run("carry_resolve", "carry_resolve", [words.div_ceil(CARRY_BLOCK), items], 32, args);
    lab.download(&out)
}

/// Returns the sums of `coefficients[i] 2^(bits i)` modulo `2^(64 words)`, for `items` items.
fn carry(lab: &Lab, coefficients: &Buffer<u64>, items: u32, bits: u32, words: u32) -> Vec<u64> {
    let blocks = words.div_ceil(CARRY_BLOCK);
    let (result, flags) = (lab.buffer((items * words) as usize), lab.buffer((items * blocks) as usize));
    let reciprocal = (u64::MAX / u64::from(bits)) + 1;
    let args = vec![
        Arg::read(coefficients),
        Arg::write(&result),
        Arg::write(&flags),
        reciprocal.into(),
        (coefficients.len() as u32 / items).into(),
        words.into(),
        bits.into(),
    ];
    lab.run("carry_coefficients", "carry_coefficients", [blocks, items], 256, args);
    assert_eq!(resolve(lab, &result, &flags, words, 0), vec![0; items as usize]);
    lab.download(&result)
}

/// Returns a + b, or a - b if `subtract`, of numbers of `words` words, and the carries out.
fn add(lab: &Lab, a: &[u64], b: &[u64], words: u32, subtract: bool) -> (Vec<u64>, Vec<u32>) {
    let (items, blocks) = (a.len() as u32 / words, words.div_ceil(CARRY_BLOCK));
    let (sums, flags) = (lab.buffer(a.len()), lab.buffer((items * blocks) as usize));
    let (a, b, invert) = (lab.upload(a), lab.upload(b), u32::from(subtract));
    let args = vec![Arg::write(&sums), Arg::read(&a), Arg::read(&b), Arg::write(&flags), words.into(), invert.into()];
    lab.run("carry_add", "carry_add", [blocks, items], 256, args);
    let carries = resolve(lab, &sums, &flags, words, invert);
    (lab.download(&sums), carries)
}

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
