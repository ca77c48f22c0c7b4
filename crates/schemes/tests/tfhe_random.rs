//! Random blocks of TFHE: values against their definition in the clear, their distribution, their noise, and equal bytes on
//! every back end and number of threads.

#![allow(clippy::unwrap_used, reason = "tests")]

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_field::Backend;
use solinas_schemes::tfhe::params::{Cut, Family};
use solinas_schemes::tfhe::{
    BootstrapTask, ClientKey, Evaluator, LookupTable, LweCiphertext, Params, ParamsLiteral, RandomSeed, encode_bool,
    encode_value, noise,
};
use solinas_schemes::{Control, Entropy, Error, KeyId};
use solinas_testing::{is_long, rounds};

fn client_of(params: &Params, seed: u64) -> ClientKey {
    ClientKey::generate(params, true, Entropy::Insecure(seed), &Control::default()).unwrap()
}

fn client(name: &str) -> ClientKey {
    client_of(&Params::named(name).unwrap(), 11)
}

fn evaluator(client: &ClientKey) -> Evaluator {
    Evaluator::new(&client.server_key(&Control::default()).unwrap()).unwrap()
}

/// Small parameters, for many blocks. They protect nothing.
fn small(family: Family) -> Params {
    let (ring_dimension, glwe_log2_std) = (256, -45.0);
    Params::try_from(ParamsLiteral {
        name: "small".into(),
        family,
        lwe_dimension: 40,
        block_bits: 1,
        lwe_log2_std: -25.0,
        ring_dimension,
        glwe_dimension: 1,
        glwe_log2_std,
        decomposition: Cut { base_log: 15, levels: 2 },
        keyswitch: Cut { base_log: 4, levels: 5 },
        body_bits: 64,
        classical_bits: 0.0,
        quantum_bits: 0.0,
    })
    .unwrap()
}

/// The definition: the value of a block from the client key, in the clear.
fn value(client: &ClientKey, purpose: &str, seed: &[u8], number: u64, bits: u32) -> u32 {
    let mut hasher = blake3::Hasher::new_derive_key("solinas 2026 tfhe random blocks");
    hasher.update(&client.id().0).update(&(purpose.len() as u64).to_le_bytes());
    hasher.update(purpose.as_bytes()).update(seed);
    let mut stream = ChaCha20Rng::from_seed(*hasher.finalize().as_bytes());
    stream.set_stream(number);
    let turn = 2 * client.params().literal().ring_dimension as u64;
    let product: u64 =
        client.lwe_bits().iter().map(|&bit| u64::from(bit) * ((u64::from(stream.next_u32()) * turn) >> 32)).sum();
    let phase = (turn - product % turn) % turn;
    // The arc of the phase, among 2^b of them.
    let arc = ((phase << bits) / turn) as u32;
    if arc < 1 << (bits - 1) { arc } else { (1 << bits) - 1 - (arc - (1 << (bits - 1))) }
}

fn message(client: &ClientKey, value: u32) -> u32 {
    match client.params().family() {
        Family::Gates => encode_bool(value == 1),
        Family::Integers => encode_value(value),
    }
}

fn most_bits(client: &ClientKey) -> u32 {
    client.params().message_modulus().ilog2()
}

/// Pearson's statistic of values of `0..cells`, and its bound: four standard deviations of its distribution, in which both
/// tails have probability 2^-14 (Wilson and Hilferty's approximation).
fn chi_square(values: impl Iterator<Item = u32>, cells: usize) -> (f64, f64) {
    let mut counts = vec![0u32; cells];
    values.for_each(|value| counts[value as usize] += 1);
    let want = f64::from(counts.iter().sum::<u32>()) / cells as f64;
    let statistic = counts.iter().map(|&count| (f64::from(count) - want).powi(2) / want).sum();
    let (freedom, z) = ((cells - 1) as f64, 4.0);
    (statistic, freedom * (1.0 - 2.0 / (9.0 * freedom) + z * (2.0 / (9.0 * freedom)).sqrt()).powi(3))
}

#[track_caller]
fn assert_uniform(what: &str, values: impl Iterator<Item = u32>, cells: usize) {
    let (statistic, bound) = chi_square(values, cells);
    println!("{what}: {statistic:.2} of at most {bound:.2}");
    assert!(statistic < bound, "{what}: {statistic} is more than {bound}");
}

/// Checks that values are uniform, in single values, in pairs of neighbours at several distances, and in each bit.
#[track_caller]
fn assert_random(what: &str, values: &[u32], bits: u32) {
    let cells = 1usize << bits;
    assert_uniform(what, values.iter().copied(), cells);
    for distance in [1, 2, 3, 16] {
        let pairs = values.iter().zip(&values[distance..]).map(|(a, b)| a << bits | b);
        assert_uniform(&format!("{what}, pairs {distance} apart"), pairs, cells * cells);
    }
    for bit in 0..bits {
        assert_uniform(&format!("{what}, bit {bit}"), values.iter().map(|value| value >> bit & 1), 2);
    }
}

/// The sets for tests; all others in a long run.
#[test]
fn values_are_those_of_the_definition() {
    for name in if is_long() { Params::names() } else { Params::test_names() } {
        let client = client(&name);
        let evaluator = evaluator(&client);
        let bits: Vec<u32> = (0..20).map(|i| 1 + i % most_bits(&client)).collect();
        // Numbers from 2^64 - 3 on go on with 0.
        for (purpose, seed, first) in [("u32", &b"a seed"[..], 0), ("", b"", u64::MAX - 2)] {
            let blocks = evaluator.random(&RandomSeed::new(client.id(), purpose, seed), first, &bits).unwrap();
            for (i, (block, &bits)) in blocks.iter().zip(&bits).enumerate() {
                let want = value(&client, purpose, seed, first.wrapping_add(i as u64), bits);
                let error = client.phase(block).unwrap().wrapping_sub(message(&client, want)) as i32;
                assert_eq!(client.decrypt(block).unwrap(), want, "{name}, block {i} of {bits} bits");
                // Twelve standard deviations of the noise.
                let bound = 12.0 * noise::bootstrap(client.params()).sqrt();
                assert!(f64::from(error).abs() / 2f64.powi(32) < bound, "{name}, block {i}: error {error}");
            }
        }
    }
}

/// The encrypted values themselves, of small parameters, which take a second.
#[test]
fn decrypted_blocks_are_uniform_and_independent() {
    for family in [Family::Gates, Family::Integers] {
        let client = client_of(&small(family), 5);
        let evaluator = evaluator(&client);
        let draw = |client: &ClientKey, evaluator: &Evaluator, purpose: &str, seed: &[u8], bits: u32| -> Vec<u32> {
            let seed = RandomSeed::new(client.id(), purpose, seed);
            let blocks = evaluator.random(&seed, 0, &[bits; 4096]).unwrap();
            blocks.iter().map(|block| client.decrypt(block).unwrap()).collect()
        };
        for bits in 1..=most_bits(&client).min(2) {
            let values = draw(&client, &evaluator, "u8", b"1", bits);
            assert_random(&format!("{family:?}, {bits} bits"), &values, bits);
            let other = client_of(&small(family), 6);
            let others = [
                ("another seed", draw(&client, &evaluator, "u8", b"2", bits)),
                ("another purpose", draw(&client, &evaluator, "u", b"81", bits)),
                ("another key", draw(&other, &self::evaluator(&other), "u8", b"1", bits)),
            ];
            for (what, others) in others {
                let pairs = values.iter().zip(&others).map(|(a, b)| a << bits | b);
                assert_uniform(&format!("{family:?}, {bits} bits, {what}"), pairs, 1 << (2 * bits));
            }
        }
    }
}

/// The definition in the clear, which [`values_are_those_of_the_definition`] compares with the encrypted values.
#[test]
fn values_of_every_parameter_set_are_uniform() {
    for name in Params::names() {
        let client = client(&name);
        let bits = most_bits(&client).min(2);
        let values: Vec<u32> = (0..20_000).map(|number| value(&client, "u32", b"uniform", number, bits)).collect();
        assert_random(&name, &values, bits);
    }
    // The test finds a bias of 2%, and pairs that depend on each other.
    let biased = (0..20_000).map(|i| u32::from(i % 100 < 48));
    let (statistic, bound) = chi_square(biased, 2);
    assert!(statistic > bound);
    let (statistic, bound) = chi_square((0..20_000u32).map(|i| 4 * (i % 4) + (i + 1) % 4), 16);
    assert!(statistic > bound);
}

/// Every phase has the same number of masks, so values are exactly uniform if a bit of the key is 1: here by enumeration of
/// all masks of three words, for every key.
#[test]
fn phases_of_all_masks_are_equally_many() {
    let turn = 16usize;
    for key in 0..8usize {
        let mut counts = vec![0; turn];
        for mask in 0..turn.pow(3) {
            let words = [mask % turn, mask / turn % turn, mask / turn.pow(2)];
            let product: usize = words.iter().enumerate().map(|(i, word)| word * (key >> i & 1)).sum();
            counts[(turn - product % turn) % turn] += 1;
        }
        assert_eq!(counts.iter().all(|&count| count == turn.pow(2)), key != 0);
    }
}

#[test]
fn bytes_depend_neither_on_the_back_end_nor_on_threads_nor_on_calls() {
    for name in Params::test_names() {
        let client = client(&name);
        let key = client.server_key(&Control::default()).unwrap();
        let seed = RandomSeed::new(client.id(), "u5", b"seed");
        let bits: Vec<u32> = (0..11).map(|i| 1 + i % most_bits(&client).min(2)).collect();
        let first = Evaluator::new(&key).unwrap().random(&seed, 7, &bits).unwrap();
        for backend in solinas_testing::back_ends(Backend::available()) {
            let evaluator = Evaluator::with_backend(&key, backend).unwrap();
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let all = pool.install(|| evaluator.random(&seed, 7, &bits)).unwrap();
                assert!(all == first, "{name}, {backend}, {threads} threads");
            }
            let parts = [(7, 0..2), (9, 2..2), (9, 2..3), (10, 3..11)];
            let parts = parts.map(|(number, range)| evaluator.random(&seed, number, &bits[range]).unwrap());
            assert!(parts.concat() == first, "{name}, {backend}, in parts");
        }
        assert!(first.iter().zip(&first[1..]).all(|(a, b)| a.words()[..8] != b.words()[..8]), "masks repeat");
    }
}

#[test]
fn noise_is_that_of_a_bootstrap() {
    let samples = rounds(128, 512);
    for name in ["gates-128", "integers-128"] {
        let client = client(name);
        let (bits, seed) = (most_bits(&client).min(2), RandomSeed::new(client.id(), "noise", b"1"));
        let blocks = evaluator(&client).random(&seed, 0, &vec![bits; samples]).unwrap();
        let error = |block: &LweCiphertext| {
            let message = message(&client, client.decrypt(block).unwrap());
            f64::from(client.phase(block).unwrap().wrapping_sub(message) as i32) / 2f64.powi(32)
        };
        let got = blocks.iter().map(|block| error(block).powi(2)).sum::<f64>() / samples as f64;
        let ones = |bits: &[u8]| bits.iter().map(|&bit| f64::from(bit)).sum();
        let formula = noise::bootstrap_of_key(client.params(), ones(client.lwe_bits()), ones(client.glwe_bits()));
        println!("{name}: measured 2^{:.3}, formula 2^{:.3}", got.log2(), formula.log2());
        // The variance of `n` normal samples errs by `sqrt(2 / n)` of itself, and four times that is allowed.
        let tolerance = 4.0 * (2.0 / samples as f64).sqrt();
        assert!((got / formula - 1.0).abs() < tolerance, "{name}: variance {got:e}, formula {formula:e}");
    }
}

#[test]
fn blocks_are_arguments_of_bootstraps() {
    let client = client("integers-40");
    let evaluator = evaluator(&client);
    let blocks = evaluator.random(&RandomSeed::new(client.id(), "u8", b"7"), 0, &[2; 16]).unwrap();
    let square = LookupTable::Entries(vec![std::array::from_fn(|v| (v * v % 16) as u8)]);
    let dimension = client.params().big_dimension();
    let sum = |pair: &[LweCiphertext]| LweCiphertext::linear(dimension, &[(1, &pair[0]), (1, &pair[1])], 0).unwrap();
    let tasks: Vec<_> = blocks.chunks(2).map(|pair| BootstrapTask { input: sum(pair), table: &square }).collect();
    for (pair, output) in blocks.chunks(2).zip(evaluator.bootstrap(&tasks).unwrap()) {
        let sum = client.decrypt(&pair[0]).unwrap() + client.decrypt(&pair[1]).unwrap();
        assert_eq!(client.decrypt(&output[0]).unwrap(), sum * sum % 16);
    }
}

#[test]
fn sizes_of_blocks_are_checked() {
    for (name, most) in [("gates-40", 1), ("integers-40", 4)] {
        let client = client(name);
        let evaluator = evaluator(&client);
        let seed = RandomSeed::new(KeyId([0; 32]), "", b"");
        assert!(evaluator.random(&seed, 0, &[]).unwrap().is_empty());
        for bits in [0, most + 1, u32::MAX] {
            let error = evaluator.random(&seed, 0, &[1, bits]).unwrap_err();
            assert!(matches!(error, Error::RandomBits { bits: b, most: m } if (b, m) == (bits, most)), "{error}");
            assert!(error.to_string().contains(&format!("1 to {most} bits")), "{error}");
        }
    }
}
