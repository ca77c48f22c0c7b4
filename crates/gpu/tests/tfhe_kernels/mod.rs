//! The CUDA kernels of TFHE give the words of the CPU engine, on the emulated device with all its checks.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod emulator;

use emulator::{Arg, Arg::Word, Emulator};
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_field::Backend;
use solinas_field::torus::{BlindRotation, Decomposition, KeyswitchKey};
use solinas_schemes::tfhe::LweCiphertext;

fn backend() -> Backend {
    Backend::available()[0]
}

/// Words that are often at the ends of their range.
fn words(rng: &mut impl RngCore, count: usize) -> Vec<u32> {
    let word = |_| {
        let word = rng.next_u32();
        match rng.next_u32() % 8 {
            0 => [0, 1, u32::MAX, 1 << 31, (1 << 31) - 1][word as usize % 5],
            _ => word,
        }
    };
    (0..count).map(word).collect()
}

/// A shape of blind rotations.
#[derive(Clone, Copy)]
struct Rotation {
    kernel: &'static str,
    ring_dimension: usize,
    glwe_dimension: usize,
    base_log: u32,
    /// Bits of a block of the key.
    block_bits: usize,
    /// Bytes of shared memory for each word of an accumulator.
    shared: usize,
    /// Bytes of shared memory for the stages of the key.
    stages: usize,
}

const INTEGERS: Rotation = Rotation {
    kernel: "tfhe_blind_rotate_blocks_2048_1",
    ring_dimension: 2048,
    glwe_dimension: 1,
    base_log: 23,
    block_bits: 3,
    shared: 8,
    stages: 102_400,
};
const GATES: Rotation = Rotation {
    kernel: "tfhe_blind_rotate_blocks_512_3",
    ring_dimension: 512,
    glwe_dimension: 3,
    base_log: 17,
    block_bits: 3,
    shared: 8,
    stages: 101_376,
};
const INTEGERS_OF_BITS: Rotation =
    Rotation { kernel: "tfhe_blind_rotate_2048_1", block_bits: 1, shared: 12, stages: 0, ..INTEGERS };
const GATES_OF_BITS: Rotation =
    Rotation { kernel: "tfhe_blind_rotate_512_3", base_log: 18, block_bits: 1, shared: 12, stages: 0, ..GATES };

/// Rotates `jobs` random test polynomials by a random key of `n` bits, with `accumulators` to a block, on both devices.
/// Panics if a word differs.
fn rotate(shape: Rotation, jobs: usize, n: usize, accumulators: usize, seed: u64) {
    let Rotation { kernel, ring_dimension: dimension, glwe_dimension: k, base_log, block_bits, shared, stages } = shape;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let cut = Decomposition::new(base_log, 1).unwrap();
    let plan = BlindRotation::new(dimension, k, cut, block_bits, backend()).unwrap();
    // A key in turns, times 2/N, has spectra of this size.
    let unit = 2.0 / (dimension as f64).sqrt() / f64::from(1u32 << 31);
    let key: Vec<f64> =
        (0..n / block_bits * plan.block_len()).map(|_| f64::from(rng.next_u32() as i32) * unit).collect();
    let mut exponents: Vec<u32> = (0..jobs * (n + 1)).map(|_| rng.next_u32() % (2 * dimension as u32)).collect();
    for (at, corner) in exponents.iter_mut().step_by(2).zip([0, 2 * dimension - 1, dimension, 1, dimension - 1]) {
        *at = corner as u32;
    }
    let boxes = words(&mut rng, 3 * 16);
    let tables: Vec<u32> = (0..jobs).map(|job| (job % 3) as u32).collect();

    let mut expected = vec![0u32; jobs * plan.accumulator_len()];
    for ((accumulator, exponents), table) in
        expected.chunks_exact_mut(plan.accumulator_len()).zip(exponents.chunks_exact(n + 1)).zip(&tables)
    {
        // Coefficient j of the test polynomial times X^-r is coefficient j + r of the polynomial and its negation.
        for (j, word) in accumulator[k * dimension..].iter_mut().enumerate() {
            let at = (j + exponents[n] as usize) % (2 * dimension);
            let value = boxes[16 * *table as usize + at % dimension * 16 / dimension];
            *word = if at < dimension { value } else { value.wrapping_neg() };
        }
    }
    let masks: Vec<u16> = exponents.chunks_exact(n + 1).flat_map(|e| e[..n].iter().map(|&e| e as u16)).collect();
    plan.blind_rotate(&key, &masks, &mut expected, &mut plan.scratch());

    let mut emulator = Emulator::new(kernel, seed);
    let out = emulator.reserve(expected.len() * 4);
    let mut args = vec![
        Arg::Buffer(out),
        Arg::Buffer(emulator.upload(&key)),
        Arg::Buffer(emulator.upload(&exponents)),
        Arg::Buffer(emulator.upload(&boxes)),
        Arg::Buffer(emulator.upload(&tables)),
        Word(jobs as u32),
        Word(n as u32),
        Word(base_log),
        Arg::Buffer(emulator.upload(&plan.fft().twiddles())),
    ];
    if block_bits > 1 {
        args.push(Arg::Buffer(emulator.upload(&plan.monomials())));
    }
    let (threads, shared) = ((k + 1) * dimension / 32, (k + 1) * dimension * shared);
    let grid = [jobs.div_ceil(accumulators) as u32, 1];
    emulator.launch(grid, (accumulators * threads) as u32, (stages + accumulators * shared) as u32, &args);
    assert!(emulator.download(out) == expected, "{kernel}: a word differs from the CPU's");
}

#[test]
fn blind_rotations_of_the_integers_sets_give_the_words_of_the_cpu() {
    rotate(INTEGERS, 3, 6, 2, 1);
    rotate(INTEGERS, 2, 9, 1, 2);
    rotate(INTEGERS, 1, 3, 2, 3);
    rotate(INTEGERS_OF_BITS, 3, 2, 2, 1);
    rotate(INTEGERS_OF_BITS, 2, 3, 1, 2);
}

#[test]
fn blind_rotations_of_the_gates_sets_give_the_words_of_the_cpu() {
    rotate(GATES, 5, 6, 4, 1);
    rotate(GATES, 3, 9, 2, 2);
    rotate(GATES, 1, 3, 2, 3);
    rotate(GATES_OF_BITS, 5, 3, 4, 1);
    rotate(GATES_OF_BITS, 3, 4, 2, 2);
}

/// Switches `jobs` ciphertexts from dimension `big` to dimension `n` on both devices. Panics if a word differs.
fn keyswitch(big: usize, n: usize, cut: (u32, u32), jobs: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(jobs as u64);
    let mut key = KeyswitchKey::new(big, n, Decomposition::new(cut.0, cut.1).unwrap(), backend());
    for coefficient in 0..big {
        for level in 0..cut.1 as usize {
            key.place(coefficient, level, &words(&mut rng, n + 1));
        }
    }
    let args = words(&mut rng, jobs * (big + 1));
    let mut expected = vec![0u32; jobs * (n + 1)];
    key.keyswitch(&args, &mut expected);

    let mut emulator = Emulator::new("tfhe_keyswitch", jobs as u64);
    let out = emulator.reserve(expected.len() * 4);
    let args = [
        Arg::Buffer(out),
        Arg::Buffer(emulator.upload(&args)),
        Arg::Buffer(emulator.upload(key.words())),
        Word(jobs as u32),
        Word(big as u32),
        Word(n as u32),
        Word(cut.0),
        Word(cut.1),
    ];
    emulator.launch([(n as u32 + 1).div_ceil(64), (jobs as u32).div_ceil(16)], 256, 0, &args);
    assert!(emulator.download(out) == expected, "{big} to {n}, {cut:?}: a word differs from the CPU's");
}

#[test]
fn keyswitches_give_the_words_of_the_cpu() {
    // The cuts of all sets, then ends: one digit, all 32 bits, and dimensions around the size of a run.
    for (big, n, cut, jobs) in [
        (512, 100, (4, 4), 17),
        (200, 70, (5, 3), 16),
        (300, 130, (3, 3), 3),
        (90, 63, (31, 1), 1),
        (33, 64, (1, 32), 2),
    ] {
        keyswitch(big, n, cut, jobs);
    }
}

/// The definition for one word: the nearest multiple of 1/2N turn, the larger one of two.
fn nearest(word: u32, log: u32) -> u32 {
    let unit = 1u64 << (32 - log);
    ((u64::from(word) + unit / 2) / unit % (1 << log)) as u32
}

/// The definition for a block of the key: of all ways to round its words up or down, that with the least cost
/// `(l + 1) sum r^2 - (sum r)^2` for the errors `r`. Of several it is that with the fewest words rounded up. Returns the
/// exponents and the sum of the errors.
fn nearest_of_block(words: &[u32], log: u32) -> (Vec<u32>, i64) {
    let (dropped, count) = (32 - log, words.len());
    let errors = |up: u32| {
        let error = |(i, &word): (usize, &u32)| i64::from(word % (1 << dropped)) - (i64::from(up >> i & 1) << dropped);
        words.iter().enumerate().map(error).collect::<Vec<i64>>()
    };
    let cost = |up: &u32| {
        let errors = errors(*up);
        let (sum, squares) = (errors.iter().sum::<i64>(), errors.iter().map(|r| r * r).sum::<i64>());
        ((count as i64 + 1) * squares - sum * sum, up.count_ones())
    };
    let up = (0..1 << count).min_by_key(cost).unwrap();
    let exponent = |(i, &word): (usize, &u32)| ((word >> dropped) + (up >> i & 1)) % (1 << log);
    (words.iter().enumerate().map(exponent).collect(), errors(up).iter().sum())
}

/// Switches random ciphertexts of dimension `n` to multiples of `2^-log` turn, for a key with blocks of `bits` bits.
/// Panics if a word differs from the definition.
fn modulus_switch(n: usize, log: u32, offset: u32, bits: usize) {
    let jobs = 3;
    let mut switched = words(&mut ChaCha8Rng::seed_from_u64(n as u64), jobs * (n + 1));
    // Equal fractions, and fractions of half a unit.
    for (at, word) in switched.iter_mut().enumerate().skip(n / 2).take(n / 4) {
        *word = *word >> (32 - log) << (32 - log) | [1 << (31 - log), 3][at / 5 % 2];
    }
    let expected: Vec<u32> = switched
        .chunks_exact(n + 1)
        .flat_map(|words| {
            let block = |block: &[u32]| match block {
                [word] => {
                    (vec![nearest(*word, log)], i64::from(word.wrapping_sub(nearest(*word, log) << (32 - log)) as i32))
                }
                _ => nearest_of_block(block, log),
            };
            let (exponents, errors): (Vec<Vec<u32>>, Vec<i64>) = words[..n].chunks_exact(bits).map(block).unzip();
            let mean = (errors.iter().sum::<i64>() / (bits as i64 + 1)) as u32;
            let body = nearest(words[n].wrapping_add(offset).wrapping_sub(mean), log);
            exponents.into_iter().flatten().chain([body]).collect::<Vec<u32>>()
        })
        .collect();
    let mut emulator = Emulator::new("tfhe_modswitch", log.into());
    let out = emulator.reserve(expected.len() * 4);
    let switched = Arg::Buffer(emulator.upload(&switched));
    let args = [Arg::Buffer(out), switched, Word(n as u32), Word(log), Word(offset), Word(bits as u32)];
    emulator.launch([jobs as u32, 1], 256, 0, &args);
    assert!(emulator.download(out) == expected, "2^{log}, blocks of {bits} bits: a word differs from the definition");
}

#[test]
fn modulus_switches_give_the_words_of_the_definition() {
    for (n, log, offset, bits) in [
        (795, 10, 0, 3),
        (963, 12, 1 << 26, 3),
        (724, 10, 0, 1),
        (918, 12, 1 << 26, 1),
        (1200, 11, 7, 4),
        (600, 9, 7, 2),
        (6, 10, u32::MAX, 3),
        (5, 10, u32::MAX, 1),
    ] {
        modulus_switch(n, log, offset, bits);
    }
}

/// Extracts values from random accumulators. Panics if a word differs from the definition.
fn extract(dimension: usize, k: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(dimension as u64);
    let (jobs, slots, period) = (2, 4, 2 * dimension);
    let accumulators = words(&mut rng, jobs * (k + 1) * dimension);
    let mut steps = vec![0u32; 3 * 16];
    steps[0] = 1;
    steps[16..].copy_from_slice(&words(&mut rng, 32));
    let outputs: [[usize; 3]; 4] = [[1, 2, 0], [0, 0, 1], [0, 3, 2], [1, 1, 1]];
    let values = outputs.map(|[job, slot, set]| {
        // Coefficient `at`, of any integer, of a polynomial times the steps of the set.
        let coefficient = |polynomial: usize, at: usize| {
            let a = &accumulators[(job * (k + 1) + polynomial) * dimension..][..dimension];
            let product = |v: usize| {
                let from = (at + 2 * period - v * dimension / 16) % period;
                let value = a[from % dimension];
                steps[16 * set + v].wrapping_mul(if from < dimension { value } else { value.wrapping_neg() })
            };
            (0..16).map(product).fold(0, u32::wrapping_add)
        };
        let mask = (0..k * dimension).map(|w| coefficient(w / dimension, period - w % dimension));
        (slot, mask.chain([coefficient(k, 0)]).collect::<Vec<u32>>())
    });
    let mut expected = vec![0u32; slots * (k * dimension + 1)];
    for (slot, value) in values {
        expected[slot * value.len()..][..value.len()].copy_from_slice(&value);
    }
    let mut emulator = Emulator::new("tfhe_extract", 1);
    let out = emulator.reserve(expected.len() * 4);
    let outputs: Vec<u32> = outputs.as_flattened().iter().map(|&number| number as u32).collect();
    let args = [
        Arg::Buffer(out),
        Arg::Buffer(emulator.upload(&accumulators)),
        Arg::Buffer(emulator.upload(&outputs)),
        Arg::Buffer(emulator.upload(&steps)),
        Word(dimension as u32),
        Word(k as u32),
    ];
    emulator.launch([(k as u32 * dimension as u32 + 1).div_ceil(256), slots as u32], 256, 0, &args);
    assert!(emulator.download(out) == expected, "N = {dimension}: a word differs from the definition");
}

#[test]
fn extractions_give_the_words_of_the_definition() {
    extract(2048, 1);
    extract(512, 3);
}

/// Computes arguments from random values. Panics if a word differs from the CPU's.
fn linear(dimension: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let values = words(&mut rng, 4 * (dimension + 1));
    let terms: Vec<Vec<(u32, u32)>> =
        [0usize, 1, 7, 3].map(|count| (0..count).map(|_| (rng.next_u32() % 4, rng.next_u32())).collect()).into();
    let constants = words(&mut rng, terms.len());
    let ciphertexts: Vec<LweCiphertext> =
        values.chunks_exact(dimension + 1).map(|words| LweCiphertext::from_words(words.to_vec())).collect();
    let mut expected = Vec::new();
    let mut starts = vec![0u32];
    for (terms, &constant) in terms.iter().zip(&constants) {
        let of_cpu: Vec<(i32, &LweCiphertext)> =
            terms.iter().map(|&(slot, coefficient)| (coefficient as i32, &ciphertexts[slot as usize])).collect();
        expected.extend_from_slice(LweCiphertext::linear(dimension, &of_cpu, constant).unwrap().words());
        starts.push(starts[starts.len() - 1] + terms.len() as u32);
    }
    let pairs: Vec<u32> = terms.concat().into_iter().flat_map(|(slot, coefficient)| [slot, coefficient]).collect();
    let mut emulator = Emulator::new("tfhe_linear", 1);
    let out = emulator.reserve(expected.len() * 4);
    let words = dimension as u32 + 1;
    let args = [
        Arg::Buffer(out),
        Arg::Buffer(emulator.upload(&values)),
        Arg::Buffer(emulator.upload(&starts)),
        Arg::Buffer(emulator.upload(&pairs)),
        Arg::Buffer(emulator.upload(&constants)),
        Word(words),
    ];
    emulator.launch([words.div_ceil(256), terms.len() as u32], 256, 0, &args);
    assert!(emulator.download(out) == expected, "a word differs from the CPU's");
}

#[test]
fn linear_combinations_give_the_words_of_the_cpu() {
    linear(1536);
    linear(255);
}
