//! TFHE end to end: encryption, bootstraps of both families on every back end, noise against the formulas.

#![allow(clippy::unwrap_used, reason = "tests")]

use rand_core::RngCore;
use solinas_field::Backend;
use solinas_schemes::tfhe::{
    BOOL_TRUE, BootstrapTask, ClientKey, Evaluator, LookupTable, LweCiphertext, Params, encode_bool, encode_value,
    noise, table_weight,
};
use solinas_schemes::{Control, Entropy, Error};
use solinas_testing::rounds;

fn client(name: &str) -> ClientKey {
    let research = name.ends_with("-toy");
    ClientKey::generate(&Params::named(name).unwrap(), research, Entropy::Insecure(7), &Control::default()).unwrap()
}

fn nand(inputs: [&LweCiphertext; 2]) -> LweCiphertext {
    LweCiphertext::linear(inputs[0].words().len() - 1, &[(-1, inputs[0]), (-1, inputs[1])], BOOL_TRUE).unwrap()
}

#[test]
fn nand_truth_table_on_every_back_end() {
    let client = client("gates-128");
    let key = client.server_key(&Control::default()).unwrap();
    let mut rng = client.encryption_rng(1).unwrap();
    let inputs: Vec<[LweCiphertext; 2]> =
        (0..4).map(|i| [i & 1, i >> 1].map(|bit| client.encrypt(bit, &mut rng).unwrap())).collect();
    let jobs: Vec<BootstrapTask<'_>> =
        inputs.iter().map(|[a, b]| BootstrapTask { input: nand([a, b]), table: &LookupTable::Sign }).collect();
    let mut first = None;
    for backend in solinas_testing::back_ends(Backend::available()) {
        let evaluator = Evaluator::with_backend(&key, backend).unwrap();
        let outputs = evaluator.bootstrap(&jobs).unwrap();
        for (i, output) in outputs.iter().enumerate() {
            assert_eq!(client.decrypt(&output[0]).unwrap(), u32::from(i != 3), "{backend}");
        }
        assert_eq!(&outputs, first.get_or_insert_with(|| outputs.clone()), "{backend} differs");
    }
}

#[test]
fn chains_of_bootstraps_by_teams_have_the_bytes_of_one_thread() {
    let client = client("gates-128");
    let evaluator = Evaluator::new(&client.server_key(&Control::default()).unwrap()).unwrap();
    let input = client.encrypt(1, &mut client.encryption_rng(2).unwrap()).unwrap();
    let length = 4;
    let chain = || {
        (0..length).fold(input.clone(), |value, _| {
            let task = BootstrapTask { input: nand([&value, &value]), table: &LookupTable::Sign };
            evaluator.bootstrap(&[task]).unwrap().remove(0).remove(0)
        })
    };
    let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(chain);
    let want = on(1);
    assert_eq!((client.decrypt(&want).unwrap(), evaluator.team_counters().runs), (1, 0));
    for threads in [2, 3] {
        let before = evaluator.team_counters();
        assert!(on(threads) == want, "{threads} threads");
        let after = evaluator.team_counters();
        // A bootstrap has a keyswitch and a rotation for the team. On a busy machine, the leader keeps some for itself.
        let (runs, alone) = (after.runs - before.runs, after.alone - before.alone);
        assert_eq!(runs + alone, 2 * length, "{threads} threads");
        assert_eq!(after.wanted - before.wanted, runs * threads as u64, "{threads} threads");
    }
}

/// Mean square distance in turns of phases from their messages.
fn variance(phases: impl Iterator<Item = (u32, u32)>) -> f64 {
    let (count, sum) = phases.fold((0.0, 0.0), |(count, sum), (phase, message)| {
        (count + 1.0, sum + (f64::from(phase.wrapping_sub(message) as i32) / 2f64.powi(32)).powi(2))
    });
    sum / count
}

/// Bootstraps of which each noise test takes the variance.
fn samples() -> usize {
    rounds(128, 512)
}

/// The variance of `n` normal samples errs by `sqrt(2 / n)` of itself; seeds are fixed, so four of those pass once and for all.
#[track_caller]
fn assert_variance(what: &str, got: f64, formula: f64) {
    let tolerance = 4.0 * (2.0 / samples() as f64).sqrt();
    println!("{what}: measured 2^{:.3}, formula 2^{:.3}, ratio {:.3}", got.log2(), formula.log2(), got / formula);
    assert!((got / formula - 1.0).abs() < tolerance, "{what}: variance {got:e}, formula {formula:e}");
}

/// Variance the formula gives for a bootstrap under this very key.
fn bootstrap_variance(client: &ClientKey) -> f64 {
    let ones = |bits: &[u8]| bits.iter().map(|&bit| f64::from(bit)).sum();
    noise::bootstrap_of_key(client.params(), ones(client.lwe_bits()), ones(client.glwe_bits()))
}

/// Phases of bootstrapped outputs beside the messages.
fn phases(
    client: &ClientKey,
    outputs: &[Vec<LweCiphertext>],
    which: usize,
    message: impl Fn(usize) -> u32,
) -> Vec<(u32, u32)> {
    outputs.iter().enumerate().map(|(i, outputs)| (client.phase(&outputs[which]).unwrap(), message(i))).collect()
}

/// Phase under the LWE key.
fn small_phase(client: &ClientKey, ciphertext: &LweCiphertext) -> u32 {
    let (mask, body) = ciphertext.words().split_at(client.lwe_bits().len());
    let key = client.lwe_bits().iter().zip(mask);
    key.fold(body[0], |phase, (&bit, &word)| phase.wrapping_sub(word * u32::from(bit)))
}

#[test]
fn gate_noise_matches_formula() {
    let client = client("gates-128");
    let evaluator = Evaluator::new(&client.server_key(&Control::default()).unwrap()).unwrap();
    let mut rng = client.encryption_rng(2).unwrap();
    let bits: Vec<u32> = (0..samples()).map(|_| rng.next_u32() & 1).collect();
    let inputs: Vec<LweCiphertext> = bits.iter().map(|&bit| client.encrypt(bit, &mut rng).unwrap()).collect();
    let jobs: Vec<BootstrapTask<'_>> =
        inputs.iter().map(|input| BootstrapTask { input: input.clone(), table: &LookupTable::Sign }).collect();
    let outputs = evaluator.bootstrap(&jobs).unwrap();
    let got = variance(phases(&client, &outputs, 0, |i| encode_bool(bits[i] == 1)).into_iter());
    assert_variance("bootstrap", got, bootstrap_variance(&client));

    let outputs = outputs.concat();
    let switched = evaluator.keyswitch(&outputs).unwrap();
    let got = variance(
        outputs.iter().zip(&switched).map(|(from, to)| (small_phase(&client, to), client.phase(from).unwrap())),
    );
    assert_variance("keyswitch", got, noise::keyswitch(client.params()));
    let rounded = switched.iter().map(|from| evaluator.modulus_switch(from).unwrap());
    let got = variance(
        switched.iter().zip(rounded).map(|(from, to)| (small_phase(&client, &to), small_phase(&client, from))),
    );
    assert_variance("modulus switch", got, noise::modulus_switch(client.params()));
}

#[test]
fn tables_of_every_value_share_a_rotation() {
    let client = client("integers-128");
    let evaluator = Evaluator::new(&client.server_key(&Control::default()).unwrap()).unwrap();
    let mut rng = client.encryption_rng(3).unwrap();
    let square: [u8; 16] = core::array::from_fn(|v| (v * v % 16) as u8);
    let low: [u8; 16] = core::array::from_fn(|v| (v % 4) as u8);
    let tables = [LookupTable::Entries(vec![square]), LookupTable::Entries(vec![low, square])];
    let inputs: Vec<LweCiphertext> = (0..16).map(|v| client.encrypt(v, &mut rng).unwrap()).collect();
    for table in &tables {
        let jobs: Vec<BootstrapTask<'_>> =
            inputs.iter().map(|input| BootstrapTask { input: input.clone(), table }).collect();
        for (value, outputs) in evaluator.bootstrap(&jobs).unwrap().iter().enumerate() {
            let LookupTable::Entries(entries) = table else { unreachable!() };
            for (output, entries) in outputs.iter().zip(entries) {
                assert_eq!(client.decrypt(output).unwrap(), u32::from(entries[value]), "value {value}");
            }
        }
    }
}

#[test]
fn table_noise_matches_formula() {
    let client = client("integers-128");
    let evaluator = Evaluator::new(&client.server_key(&Control::default()).unwrap()).unwrap();
    let mut rng = client.encryption_rng(4).unwrap();
    let table = |f: fn(u8) -> u8| core::array::from_fn::<u8, 16, _>(|v| f(v as u8));
    // Identical and opposite steps, small and large, far apart and near: the weights run from 4 to 275.
    let tables = [table(|v| v), table(|v| v % 4), table(|v| v.min(15 - v)), table(|v| (v / 4) * (v % 4) / 4)];
    let inputs: Vec<LweCiphertext> = (0..samples()).map(|i| client.encrypt(i as u32 % 16, &mut rng).unwrap()).collect();
    let run = |table: LookupTable| {
        let jobs: Vec<BootstrapTask<'_>> =
            inputs.iter().map(|input| BootstrapTask { input: input.clone(), table: &table }).collect();
        evaluator.bootstrap(&jobs).unwrap()
    };
    let bootstrap = bootstrap_variance(&client);
    let message = |table: [u8; 16]| move |i: usize| encode_value(table[i % 16].into());
    let table = LookupTable::Entries(vec![tables[0]]);
    let first_block = noise::first_block(client.params(), &table);
    let alone = phases(&client, &run(table), 0, message(tables[0]));
    assert_variance("a table alone", variance(alone.into_iter()), bootstrap + first_block);
    let shared = run(LookupTable::Entries(tables.to_vec()));
    for (which, &table) in tables.iter().enumerate() {
        let weight = table_weight(&table);
        let got = variance(phases(&client, &shared, which, message(table)).into_iter());
        assert_variance(&format!("a shared table of weight {weight}"), got, weight * bootstrap);
    }
}

/// Two bootstraps of one input share errors of the first block, whose digits are those of the tables. The shared errors are linear in the tables. Roundings within
/// the transforms are not, so less is shared than the formula for the table of the sum says, and the variance of the sum is below that of two bootstraps.
#[test]
fn tables_of_one_argument_share_no_more_than_the_formula_of_a_bootstrap_counts() {
    // The first block is most of the noise of the toy set, and less than a third of that of the others.
    let client = client(if solinas_testing::is_long() { "integers-128" } else { "integers-toy" });
    let params = client.params();
    let evaluator = Evaluator::new(&client.server_key(&Control::default()).unwrap()).unwrap();
    let mut rng = client.encryption_rng(6).unwrap();
    let count = rounds(512, 8192);
    let inputs: Vec<LweCiphertext> = (0..count).map(|i| client.encrypt(i as u32 % 16, &mut rng).unwrap()).collect();
    let table = |f: fn(u8) -> u8| core::array::from_fn::<u8, 16, _>(|v| f(v as u8));
    let errors = |table: [u8; 16]| -> Vec<f64> {
        let entries = LookupTable::Entries(vec![table]);
        let tasks: Vec<_> =
            inputs.iter().map(|input| BootstrapTask { input: input.clone(), table: &entries }).collect();
        let phases = phases(&client, &evaluator.bootstrap(&tasks).unwrap(), 0, |i| encode_value(table[i % 16].into()));
        phases.into_iter().map(|(phase, want)| f64::from(phase.wrapping_sub(want) as i32) / 2f64.powi(32)).collect()
    };
    let first = |table: [u8; 16]| noise::first_block(params, &LookupTable::Entries(vec![table]));
    let (alone, counted) = (bootstrap_variance(&client), noise::bootstrap(params));
    // The largest tables whose sums are arguments, and tables of which one is a multiple of the other.
    for (s, t) in [
        (table(|_| 7), table(|_| 8)),
        (table(|v| v / 2), table(|v| 8 - v / 2)),
        (table(|v| v % 4), table(|v| 2 * (v % 4))),
        (table(|v| v % 2), table(|v| v / 8)),
    ] {
        let mean = |products: &mut dyn Iterator<Item = f64>| products.sum::<f64>() / count as f64;
        let (x, y) = (errors(s), errors(t));
        let sum = mean(&mut x.iter().zip(&y).map(|(x, y)| (x + y).powi(2)));
        let covariance = mean(&mut x.iter().zip(&y).map(|(x, y)| x * y));
        let both: [u8; 16] = core::array::from_fn(|v| s[v] + t[v]);
        let shared = (first(both) - first(s) - first(t)) / 2.0;
        println!(
            "{s:?} and {t:?}: covariance {:.3}, formula {:.3}, variance of the sum {:.3} of 2",
            covariance / counted,
            shared / counted,
            sum / counted
        );
        // The covariance errs by about `V / sqrt(count)`, the variance of the sum by `sqrt(2 / count)` of itself.
        let error = 4.0 / (count as f64).sqrt();
        let error_of_both = error * (alone + shared.abs());
        let between = shared.min(0.0) - error_of_both..shared.max(0.0) + error_of_both;
        assert!(between.contains(&covariance), "{s:?} {t:?}: {covariance:e}, {shared:e}");
        assert!(sum < 2.0 * counted * (1.0 + error), "{s:?} {t:?}: {sum:e}, {counted:e}");
    }
}

#[test]
fn block_binary_keys_have_every_pattern_equally_often() {
    // Four patterns of a block: the chi-square statistic has three degrees of freedom and exceeds 27.9 once in 2^18.
    let params = Params::named("integers-128").unwrap();
    let mut counts = [0u32; 4];
    for seed in 0..20 {
        let client = ClientKey::generate(&params, false, Entropy::Insecure(seed), &Control::default()).unwrap();
        for block in client.lwe_bits().chunks_exact(3) {
            let pattern = block.iter().position(|&bit| bit == 1).map_or(0, |hot| hot + 1);
            assert!(block.iter().sum::<u8>() <= 1, "{block:?}");
            counts[pattern] += 1;
        }
    }
    let expected = f64::from(counts.iter().sum::<u32>()) / 4.0;
    let chi_square: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
    assert!(chi_square < 27.9, "{counts:?}: {chi_square}");
}

#[test]
fn keys_with_several_ones_in_a_block_are_refused() {
    let params = Params::named("gates-40").unwrap();
    let key = |bits: [u8; 3]| {
        let mut lwe = vec![0; params.literal().lwe_dimension];
        lwe[3..6].copy_from_slice(&bits);
        ClientKey::from_parts(params.clone(), [0; 32], true, lwe, vec![0; params.big_dimension()])
    };
    assert!(key([0, 0, 1]).is_ok());
    assert!(matches!(key([1, 0, 1]), Err(Error::KeyBlock { block_bits: 3 })));
    assert!(matches!(key([0, 2, 0]), Err(Error::KeyBits { part: "LWE key" })));
}

#[test]
fn a_client_key_has_one_server_key() {
    // The same masks with other noise could be averaged.
    let client = client("gates-40");
    assert!(client.server_key(&Control::default()).unwrap() == client.server_key(&Control::default()).unwrap());
}
