//! Sanitization of TFHE ciphertexts: noise against the formulas, masks, and the distance that the rounds reach.

#![allow(clippy::unwrap_used, reason = "tests")]

use solinas_schemes::tfhe::{
    BootstrapTask, ClientKey, Evaluator, LookupTable, LweCiphertext, Params, Sanitizer, encode_bool, encode_value,
    noise,
};
use solinas_schemes::{Control, Entropy, Error};

fn client(name: &str) -> ClientKey {
    ClientKey::generate(&Params::named(name).unwrap(), false, Entropy::Insecure(29), &Control::default()).unwrap()
}

fn sanitizer(client: &ClientKey) -> Sanitizer {
    Sanitizer::new(&client.packing_key().unwrap()).unwrap()
}

fn message(params: &Params, value: u32) -> u32 {
    if params.message_modulus() == 2 { encode_bool(value == 1) } else { encode_value(value) }
}

/// Mean and mean square of the errors of encryptions of a message, in turns.
fn errors(client: &ClientKey, ciphertexts: &[LweCiphertext], message: u32) -> (f64, f64) {
    let error = |x| f64::from(client.phase(x).unwrap().wrapping_sub(message) as i32) / 2f64.powi(32);
    let errors: Vec<f64> = ciphertexts.iter().map(error).collect();
    let mean = |value: &dyn Fn(f64) -> f64| errors.iter().map(|&error| value(error)).sum::<f64>() / errors.len() as f64;
    (mean(&|error| error), mean(&|error| error * error))
}

#[track_caller]
fn assert_within(what: &str, got: f64, formula: f64, tolerance: f64) {
    println!("{what}: measured 2^{:.3}, formula 2^{:.3}, ratio {:.3}", got.log2(), formula.log2(), got / formula);
    assert!((got / formula - 1.0).abs() < tolerance, "{what}: variance {got:e}, formula {formula:e}");
}

#[test]
fn encryptions_of_zero_have_uniform_masks_of_their_own_and_the_noise_of_the_formula() {
    const SAMPLES: usize = 1000;
    for name in ["integers-128", "gates-128"] {
        let client = client(name);
        let params = client.params();
        let message = message(params, 1);
        let trivial = LweCiphertext::trivial(params.big_dimension(), message);
        let flooded = sanitizer(&client).flood(&vec![trivial; SAMPLES]).unwrap();
        let (mean, square) = errors(&client, &flooded, message);
        let formula = noise::zero_encryption(params) + noise::flooding(params);
        // The variance errs by 4.5 %, and four times that is allowed.
        assert_within(name, square, formula, 0.18);
        assert!(mean.abs() < 4.0 * (formula / SAMPLES as f64).sqrt(), "{name}: mean {mean:e}");
        for place in [0, 1, params.big_dimension() - 1] {
            let words: Vec<f64> = flooded.iter().map(|x| f64::from(x.words()[place] as i32) / 2f64.powi(32)).collect();
            let square = words.iter().map(|word| word * word).sum::<f64>() / SAMPLES as f64;
            assert!((square * 12.0 - 1.0).abs() < 0.15, "{name}: word {place} of the masks has variance {square}");
        }
        assert!((1..SAMPLES).all(|i| flooded[i].words()[..8] != flooded[i - 1].words()[..8]), "{name}: equal masks");
    }
}

#[test]
fn a_round_gives_the_noise_of_the_largest_weight_and_keeps_the_message() {
    const SAMPLES: usize = 240;
    let client = client("gates-40");
    let params = client.params();
    let evaluator = Evaluator::new(&client.server_key(&Control::default()).unwrap()).unwrap();
    let sanitizer = sanitizer(&client);
    let table = LookupTable::identity(params.family());
    let mut rng = client.encryption_rng(1).unwrap();
    for value in [0, 1] {
        let fresh = (0..SAMPLES / 2).map(|_| client.encrypt(value, &mut rng).unwrap());
        let tasks: Vec<_> = fresh.map(|input| BootstrapTask { input, table: &table }).collect();
        let refreshed: Vec<_> = evaluator.bootstrap(&tasks).unwrap().into_iter().flatten().collect();
        let flooded = sanitizer.flood(&refreshed).unwrap();
        let (_, square) = errors(&client, &flooded, message(params, value));
        // The variance errs by 13 %, and three times that is allowed.
        assert_within(&format!("value {value}"), square, params.max_weight() * noise::bootstrap(params), 0.4);
        assert!(flooded.iter().all(|x| client.decrypt(x).unwrap() == value));
    }
    assert!(matches!(sanitizer.flood(&[LweCiphertext::trivial(3, 0)]), Err(Error::CiphertextLength { .. })));
}

#[test]
fn rounds_reach_a_statistical_distance_of_two_to_the_minus_forty() {
    for name in Params::names() {
        let params = Params::named(&name).unwrap();
        let (factor, rounds) = (noise::log2_sanitizing_factor(&params), noise::sanitizing_rounds(&params));
        println!("{name}: 2^{factor:.2} a round, {rounds} rounds, 2^{:.1}", factor * f64::from(rounds));
        assert_eq!(rounds, if name.starts_with("integers") { 9 } else { 17 }, "{name}");
        assert!(factor * f64::from(rounds) <= -40.0 && factor * f64::from(rounds - 1) > -40.0, "{name}");
        // The mean of erf(|d| / (2 sqrt(2) s)) over normal d of variance 2, by the rule of Simpson.
        let s = (noise::flooding(&params) / noise::bootstrap(&params)).sqrt();
        let (steps, width) = (2000, 0.01);
        let density = |d: f64| (-d * d / 4.0).exp() / (4.0 * std::f64::consts::PI).sqrt();
        let distance = |d: f64| 1.0 - (noise::log2_two_tails((d / (2.0 * s)).max(1e-12))).exp2();
        let term = |i: i32| {
            let d = f64::from(i) * width;
            let weight = if i == 0 || i == steps { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
            weight * 2.0 * density(d) * distance(d)
        };
        let mean = (0..=steps).map(term).sum::<f64>() * width / 3.0;
        assert!((mean.log2() - factor).abs() < 0.001, "{name}: 2^{:.4}, not 2^{factor:.4}", mean.log2());
    }
}
