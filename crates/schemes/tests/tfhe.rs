//! TFHE end to end: encryption, bootstraps of both families on every back end, noise against the formulas.

#![allow(clippy::unwrap_used, reason = "tests")]

use rand_core::RngCore;
use solinas_field::Backend;
use solinas_schemes::tfhe::{
    BOOL_TRUE, ClientKey, Evaluator, Job, LweCiphertext, Params, Table, encode_bool, encode_value, noise, table_weight,
};

fn client(name: &str) -> ClientKey {
    ClientKey::generate_insecure(Params::named(name).unwrap(), false, 7).unwrap()
}

fn nand(inputs: [&LweCiphertext; 2]) -> LweCiphertext {
    LweCiphertext::linear(inputs[0].words().len() - 1, &[(-1, inputs[0]), (-1, inputs[1])], BOOL_TRUE).unwrap()
}

#[test]
fn nand_truth_table_on_every_back_end() {
    let client = client("gates-128");
    let key = client.server_key(&|_, _| ()).unwrap();
    let mut rng = client.encryption_rng(1).unwrap();
    let inputs: Vec<[LweCiphertext; 2]> =
        (0..4).map(|i| [i & 1, i >> 1].map(|bit| client.encrypt(bit, &mut rng).unwrap())).collect();
    let jobs: Vec<Job<'_>> = inputs.iter().map(|[a, b]| Job { input: nand([a, b]), table: &Table::Sign }).collect();
    let mut first = None;
    for backend in Backend::available() {
        let evaluator = Evaluator::with_backend(&key, backend).unwrap();
        let outputs = evaluator.bootstrap(&jobs).unwrap();
        for (i, output) in outputs.iter().enumerate() {
            assert_eq!(client.decrypt(&output[0]).unwrap(), u32::from(i != 3), "{backend}");
        }
        assert_eq!(&outputs, first.get_or_insert_with(|| outputs.clone()), "{backend} differs");
    }
}

/// Measured standard deviation of phases around their messages.
fn deviation(client: &ClientKey, ciphertexts: &[LweCiphertext], messages: &[u32]) -> f64 {
    let sum: f64 = ciphertexts
        .iter()
        .zip(messages)
        .map(|(c, &m)| (f64::from(client.phase(c).unwrap().wrapping_sub(m) as i32) / 2f64.powi(32)).powi(2))
        .sum();
    (sum / ciphertexts.len() as f64).sqrt()
}

#[test]
fn gate_noise_matches_formula() {
    let client = client("gates-128");
    let evaluator = Evaluator::new(&client.server_key(&|_, _| ()).unwrap()).unwrap();
    let mut rng = client.encryption_rng(2).unwrap();
    let (mut outputs, mut messages) = (Vec::new(), Vec::new());
    let inputs: Vec<(bool, LweCiphertext)> = (0..400)
        .map(|_| {
            let bit = rng.next_u32() & 1 == 1;
            (bit, client.encrypt(bit.into(), &mut rng).unwrap())
        })
        .collect();
    let jobs: Vec<Job<'_>> =
        inputs.iter().map(|(_, input)| Job { input: input.clone(), table: &Table::Sign }).collect();
    for (output, (bit, _)) in evaluator.bootstrap(&jobs).unwrap().into_iter().zip(&inputs) {
        outputs.extend(output);
        messages.push(encode_bool(*bit));
    }
    let (got, want) = (deviation(&client, &outputs, &messages), noise::bootstrap(client.params()).sqrt());
    println!("gates-128: measured 2^{:.3}, formula 2^{:.3}, ratio {:.3}", got.log2(), want.log2(), got / want);
    assert!((got / want - 1.0).abs() < 0.12, "measured {got:e}, formula {want:e}");
}

#[test]
fn tables_of_every_value_share_a_rotation() {
    let client = client("integers-128");
    let evaluator = Evaluator::new(&client.server_key(&|_, _| ()).unwrap()).unwrap();
    let mut rng = client.encryption_rng(3).unwrap();
    let square: [u8; 16] = core::array::from_fn(|v| (v * v % 16) as u8);
    let low: [u8; 16] = core::array::from_fn(|v| (v % 4) as u8);
    let tables = [Table::Entries(vec![square]), Table::Entries(vec![low, square])];
    let inputs: Vec<LweCiphertext> = (0..16).map(|v| client.encrypt(v, &mut rng).unwrap()).collect();
    for table in &tables {
        let jobs: Vec<Job<'_>> = inputs.iter().map(|input| Job { input: input.clone(), table }).collect();
        for (value, outputs) in evaluator.bootstrap(&jobs).unwrap().iter().enumerate() {
            let Table::Entries(entries) = table else { unreachable!() };
            for (output, entries) in outputs.iter().zip(entries) {
                assert_eq!(client.decrypt(output).unwrap(), u32::from(entries[value]), "value {value}");
            }
        }
    }
}

#[test]
fn table_noise_matches_formula() {
    let client = client("integers-128");
    let evaluator = Evaluator::new(&client.server_key(&|_, _| ()).unwrap()).unwrap();
    let mut rng = client.encryption_rng(4).unwrap();
    let identity: [u8; 16] = core::array::from_fn(|v| v as u8);
    let low: [u8; 16] = core::array::from_fn(|v| (v % 4) as u8);
    let messages: Vec<u32> = (0..200).map(|i| i % 16).collect();
    let inputs: Vec<LweCiphertext> = messages.iter().map(|&m| client.encrypt(m, &mut rng).unwrap()).collect();
    for (table, which, weight) in [
        (Table::Entries(vec![identity]), 0, 1.0),
        (Table::Entries(vec![identity, low]), 0, f64::from(table_weight(&identity))),
        (Table::Entries(vec![identity, low]), 1, f64::from(table_weight(&low))),
    ] {
        let jobs: Vec<Job<'_>> = inputs.iter().map(|input| Job { input: input.clone(), table: &table }).collect();
        let outputs: Vec<LweCiphertext> =
            evaluator.bootstrap(&jobs).unwrap().into_iter().map(|mut o| o.swap_remove(which)).collect();
        let want_messages: Vec<u32> =
            messages.iter().map(|&m| encode_value(if which == 1 { m % 4 } else { m })).collect();
        let got = deviation(&client, &outputs, &want_messages);
        let want = (weight * noise::bootstrap(client.params())).sqrt();
        println!(
            "weight {weight}: measured 2^{:.3}, formula 2^{:.3}, ratio {:.3}",
            got.log2(),
            want.log2(),
            got / want
        );
        assert!((got / want - 1.0).abs() < 0.2, "weight {weight}: measured {got:e}, formula {want:e}");
    }
}
