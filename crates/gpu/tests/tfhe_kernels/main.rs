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
}

const INTEGERS: Rotation =
    Rotation { kernel: "tfhe_blind_rotate_2048_1", ring_dimension: 2048, glwe_dimension: 1, base_log: 23 };
const GATES: Rotation =
    Rotation { kernel: "tfhe_blind_rotate_512_3", ring_dimension: 512, glwe_dimension: 3, base_log: 18 };

/// Rotates `jobs` random test polynomials by a random key of `n` bits, with `accumulators` to a block, on both devices.
/// Panics if a word differs.
fn rotate(shape: Rotation, jobs: usize, n: usize, accumulators: usize, seed: u64) {
    let Rotation { kernel, ring_dimension: dimension, glwe_dimension: k, base_log } = shape;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let plan = BlindRotation::new(dimension, k, Decomposition::new(base_log, 1).unwrap(), backend()).unwrap();
    // A key in turns, times 2/N, has spectra of this size.
    let unit = 2.0 / (dimension as f64).sqrt() / f64::from(1u32 << 31);
    let key: Vec<f64> = (0..n * plan.ggsw_len()).map(|_| f64::from(rng.next_u32() as i32) * unit).collect();
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
        for (j, word) in accumulator[2 * k * dimension..].iter_mut().enumerate() {
            let at = (j + exponents[n] as usize) % (2 * dimension);
            let value = boxes[16 * *table as usize + at % dimension * 16 / dimension];
            *word = if at < dimension { value } else { value.wrapping_neg() };
        }
    }
    let masks: Vec<u16> = exponents.chunks_exact(n + 1).flat_map(|e| e[..n].iter().map(|&e| e as u16)).collect();
    plan.blind_rotate(&key, &masks, &mut expected, &mut plan.scratch());
    let expected: Vec<u32> =
        expected.chunks_exact(2 * dimension).flat_map(|polynomial| &polynomial[..dimension]).copied().collect();

    let mut emulator = Emulator::new(kernel, seed);
    let out = emulator.reserve(expected.len() * 4);
    let args = [
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
    let (threads, shared) = ((k + 1) * dimension / 32, (k + 1) * dimension * 12);
    let grid = [jobs.div_ceil(accumulators) as u32, 1];
    emulator.launch(grid, (accumulators * threads) as u32, (accumulators * shared) as u32, &args);
    assert!(emulator.download(out) == expected, "{kernel}: a word differs from the CPU's");
}

#[test]
fn blind_rotations_of_the_integers_sets_give_the_words_of_the_cpu() {
    rotate(INTEGERS, 3, 2, 2, 1);
    rotate(INTEGERS, 2, 3, 1, 2);
}

#[test]
fn blind_rotations_of_the_gates_sets_give_the_words_of_the_cpu() {
    rotate(GATES, 5, 3, 4, 1);
    rotate(GATES, 3, 4, 2, 2);
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

/// The definition: the nearest multiple of 1/2N turn, the larger one of two.
fn nearest(word: u32, log: u32) -> u32 {
    let unit = 1u64 << (32 - log);
    ((u64::from(word) + unit / 2) / unit % (1 << log)) as u32
}

/// Switches random ciphertexts of dimension `n` to multiples of `2^-log` turn. Panics if a word differs from the
/// definition.
fn modulus_switch(n: usize, log: u32, offset: u32) {
    let jobs = 3;
    let switched = words(&mut ChaCha8Rng::seed_from_u64(n as u64), jobs * (n + 1));
    let expected: Vec<u32> = switched
        .chunks_exact(n + 1)
        .flat_map(|words| {
            let mut exponents: Vec<u32> = words[..n].iter().map(|&word| nearest(word, log)).collect();
            let errors = words.iter().zip(&exponents).map(|(word, e)| word.wrapping_sub(e << (32 - log)) as i32);
            let error: i64 = errors.map(i64::from).sum();
            exponents.push(nearest(words[n].wrapping_add(offset).wrapping_sub((error / 2) as u32), log));
            exponents
        })
        .collect();
    let mut emulator = Emulator::new("tfhe_modswitch", log.into());
    let out = emulator.reserve(expected.len() * 4);
    let args = [Arg::Buffer(out), Arg::Buffer(emulator.upload(&switched)), Word(n as u32), Word(log), Word(offset)];
    emulator.launch([jobs as u32, 1], 256, 0, &args);
    assert!(emulator.download(out) == expected, "2^{log}: a word differs from the definition");
}

#[test]
fn modulus_switches_give_the_words_of_the_definition() {
    for (n, log, offset) in [(724, 10, 0), (918, 12, 1 << 26), (5, 10, u32::MAX)] {
        modulus_switch(n, log, offset);
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
