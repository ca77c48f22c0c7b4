//! Short and compact forms of TFHE ciphertexts, and the public key: values, noise against the formulas, and bounds.

#![allow(clippy::unwrap_used, reason = "tests")]

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_schemes::tfhe::{
    ClientKey, CompactCiphertext, Evaluator, LweCiphertext, Masks, Params, PublicKey, ShortCiphertexts, encode_bool,
    encode_value, noise,
};
use solinas_schemes::{Control, Entropy, Error};
use solinas_testing::{is_long, rounds};

fn client(name: &str) -> ClientKey {
    ClientKey::generate(&Params::named(name).unwrap(), false, Entropy::Insecure(17), &Control::default()).unwrap()
}

fn values(params: &Params, count: usize) -> Vec<u32> {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    (0..count).map(|_| rng.next_u32() % params.message_modulus()).collect()
}

fn message(params: &Params, value: u32) -> u32 {
    if params.message_modulus() == 2 { encode_bool(value == 1) } else { encode_value(value) }
}

fn expanded(short: &ShortCiphertexts) -> Vec<LweCiphertext> {
    (0..short.len()).map(|index| short.expand(index)).collect()
}

/// Mean square of errors of phases, in squared turns.
fn variance(errors: impl Iterator<Item = u32>) -> f64 {
    let (count, sum) = errors
        .fold((0.0, 0.0), |(count, sum), error| (count + 1.0, sum + (f64::from(error as i32) / 2f64.powi(32)).powi(2)));
    sum / count
}

#[track_caller]
fn assert_within(what: &str, got: f64, formula: f64, tolerance: f64) {
    println!("{what}: measured 2^{:.3}, formula 2^{:.3}, ratio {:.3}", got.log2(), formula.log2(), got / formula);
    assert!((got / formula - 1.0).abs() < tolerance, "{what}: variance {got:e}, formula {formula:e}");
}

/// Samples of a noise test: the variance errs by 1.6%, and three times that is allowed.
const SAMPLES: usize = 8000;

#[test]
fn short_and_public_ciphertexts_have_the_noise_of_the_formulas() {
    for name in ["integers-128", "gates-128"] {
        let client = client(name);
        let params = client.params().clone();
        let public = client.public_key().unwrap();
        let values = values(&params, SAMPLES);
        let mut rng = client.encryption_rng(1).unwrap();
        let error = |ciphertext: &LweCiphertext, value: u32| {
            client.phase(ciphertext).unwrap().wrapping_sub(message(&params, value))
        };
        let short = expanded(&client.encrypt_short(&values, &mut rng).unwrap());
        let errors = short.iter().zip(&values).map(|(ciphertext, &value)| error(ciphertext, value));
        assert_within(&format!("{name}, client key"), variance(errors), noise::fresh(&params), 0.05);
        // The errors of one GLWE ciphertext are correlated, so each sample is from another one.
        let place = |i: usize| i * 37 % params.literal().ring_dimension;
        let errors = values.iter().enumerate().map(|(i, &value)| {
            let short = public.encrypt(&vec![value; place(i) + 1], &mut rng).unwrap();
            error(&short.expand(place(i)), value)
        });
        let ones = client.glwe_bits().iter().map(|&bit| f64::from(bit)).sum();
        let formula = noise::public_encryption_of_key(&params, ones);
        assert_within(&format!("{name}, public key"), variance(errors), formula, 0.05);
        // An engine counts a fresh ciphertext as one bootstrap. That holds even for a sum of many blocks with equal errors.
        for formula in [noise::fresh(&params), noise::public_encryption(&params)] {
            assert!(formula * 4096.0 < noise::bootstrap(&params), "{name}");
        }
    }
}

#[test]
fn short_and_public_ciphertexts_decrypt() {
    for name in Params::names() {
        let client = client(&name);
        let values = values(client.params(), 3000);
        let mut rng = client.encryption_rng(1).unwrap();
        for short in [
            client.encrypt_short(&values, &mut rng).unwrap(),
            client.public_key().unwrap().encrypt(&values, &mut rng).unwrap(),
        ] {
            let decrypted: Vec<u32> = expanded(&short).iter().map(|full| client.decrypt(full).unwrap()).collect();
            assert!(decrypted == values, "{name}");
        }
    }
}

#[test]
fn a_slice_of_a_short_form_has_the_same_ciphertexts() {
    for name in ["integers-40", "gates-40"] {
        let client = client(name);
        let n = client.params().literal().ring_dimension;
        let values = values(client.params(), 2 * n + 5);
        let mut rng = client.encryption_rng(1).unwrap();
        let shorts = [
            client.encrypt_short(&values, &mut rng).unwrap(),
            client.public_key().unwrap().encrypt(&values, &mut rng).unwrap(),
        ];
        for short in shorts {
            let all = expanded(&short);
            for (start, len) in [(0, 3), (n - 1, 2), (n, n), (2 * n + 4, 1), (7, 2 * n - 2), (5, 0)] {
                let slice = short.slice(start, len);
                assert_eq!(expanded(&slice), all[start..start + len]);
                // A slice of a slice, and a slice that was stored.
                let stored = ShortCiphertexts::from_parts(
                    client.params(),
                    slice.masks().clone(),
                    slice.first(),
                    slice.bodies().to_vec(),
                );
                assert_eq!(stored.unwrap(), slice);
                if len > 1 {
                    assert_eq!(slice.slice(1, len - 1), short.slice(start + 1, len - 1));
                }
                if let Masks::Glwe(words) = slice.masks() {
                    assert!(words.len() <= (len + n - 1).div_ceil(n) * client.params().big_dimension());
                }
            }
        }
    }
}

#[test]
fn short_forms_of_one_seed_join_in_any_order() {
    let client = client("gates-40");
    let mut rng = client.encryption_rng(1).unwrap();
    let short = client.encrypt_short(&values(client.params(), 9), &mut rng).unwrap();
    let all = expanded(&short);
    for order in [&[8, 7, 6, 0][..], &[0, 1, 2, 3], &[4, 5, 4, 5], &[3, 1, 2]] {
        let mut parts = order.iter().map(|&i| short.slice(i, 1));
        let mut joined = parts.next().unwrap();
        assert!(parts.all(|part| joined.join(&part)));
        let want: Vec<_> = order.iter().map(|&i| all[i].clone()).collect();
        assert_eq!(expanded(&joined), want);
        for (start, len) in [(0, 2), (1, 3.min(order.len() - 1)), (2, 0)] {
            assert_eq!(expanded(&joined.slice(start, len)), want[start..start + len]);
        }
        if let (Masks::Seed(seed), Some(numbers)) = (joined.masks(), joined.numbers()) {
            let bodies = joined.bodies().to_vec();
            let stored = ShortCiphertexts::scattered(client.params(), *seed, numbers.to_vec(), bodies.clone());
            assert_eq!(stored.unwrap(), joined);
            assert!(ShortCiphertexts::scattered(client.params(), *seed, numbers[1..].to_vec(), bodies).is_err());
        } else {
            assert_eq!(joined, short.slice(0, 4), "consecutive ciphertexts need no numbers");
        }
    }
    // Numbers from a file may be the largest ones.
    let last = vec![u64::MAX - 1, 5, u64::MAX];
    let far = ShortCiphertexts::scattered(client.params(), [0; 32], last, vec![1, 2, 3]).unwrap();
    assert_eq!(expanded(&far.slice(1, 2)), expanded(&far)[1..]);
    let other = client.encrypt_short(&[1], &mut rng).unwrap();
    assert!(!short.clone().join(&other), "another seed");
    let public = client.public_key().unwrap().encrypt(&[1, 0], &mut rng).unwrap();
    assert!(!public.slice(0, 1).join(&public.slice(1, 1)), "GLWE masks");
}

/// The definition: coefficient c of `b - sum_j a_j S_j` modulo `X^N + 1`.
#[test]
fn glwe_masks_extract_as_the_product_of_polynomials_says() {
    let client = client("gates-40");
    let p = client.params().literal();
    let n = p.ring_dimension;
    let values = values(client.params(), n);
    let short = client.public_key().unwrap().encrypt(&values, &mut client.encryption_rng(3).unwrap()).unwrap();
    let Masks::Glwe(masks) = short.masks() else { panic!("a public key gives GLWE masks") };
    for c in [0, 1, n / 2, n - 1] {
        let mut phase = short.bodies()[c];
        for (a, s) in masks.chunks_exact(n).zip(client.glwe_bits().chunks_exact(n)) {
            for (i, _) in s.iter().enumerate().filter(|(_, s)| **s == 1) {
                phase = if i <= c { phase.wrapping_sub(a[c - i]) } else { phase.wrapping_add(a[n + c - i]) };
            }
        }
        assert_eq!(client.phase(&short.expand(c)).unwrap(), phase);
    }
}

#[test]
fn every_encryption_differs_and_bad_values_are_refused() {
    let client = client("integers-40");
    let public = client.public_key().unwrap();
    assert!(public == client.public_key().unwrap(), "a client key has one public key");
    let mut rng = client.encryption_rng(1).unwrap();
    let zeros = [0; 20];
    let [a, b] = [(); 2].map(|()| client.encrypt_short(&zeros, &mut rng).unwrap());
    let [c, d] = [(); 2].map(|()| public.encrypt(&zeros, &mut rng).unwrap());
    assert!(a != b && c != d && a.bodies() != b.bodies() && c.bodies() != d.bodies());
    assert!(matches!(client.encrypt_short(&[3, 16], &mut rng), Err(Error::Message { value: 16, modulus: 16 })));
    assert!(matches!(public.encrypt(&[3, 16], &mut rng), Err(Error::Message { value: 16, modulus: 16 })));
    assert!(public.encrypt(&[], &mut rng).unwrap().is_empty());
    let key = PublicKey::from_parts(client.params().clone(), [0; 32], false, vec![0; 5]);
    assert!(matches!(key, Err(Error::KeyLength { got: 5, want: 2048, .. })));
    let wrong = ShortCiphertexts::from_parts(client.params(), Masks::Glwe(vec![0; 2048]), 2047, vec![0; 2]);
    assert!(matches!(wrong, Err(Error::CiphertextLength { got: 2048, want: 4096 })));
    let wrong = ShortCiphertexts::from_parts(client.params(), Masks::Seed([0; 32]), u64::MAX, vec![0; 2]);
    assert!(wrong.is_err());
    assert!(CompactCiphertext::from_words(client.params(), vec![0; 3]).is_err());
}

#[test]
fn compact_results_have_the_noise_of_a_decision() {
    for name in ["integers-128", "gates-128"] {
        let client = client(name);
        let params = client.params().clone();
        let evaluator = Evaluator::new(&client.server_key(&Control::default()).unwrap()).unwrap();
        let values = values(&params, 4000);
        let short = client.encrypt_short(&values, &mut client.encryption_rng(1).unwrap()).unwrap();
        let full = expanded(&short);
        let compact = evaluator.compact(&full).unwrap();
        let errors = compact.iter().zip(&full).zip(&values).map(|((compact, full), &value)| {
            assert_eq!(client.decrypt_compact(compact), value);
            client.compact_phase(compact).wrapping_sub(client.phase(full).unwrap())
        });
        let formula = noise::keyswitch(&params) + noise::modulus_switch(&params);
        // 4000 samples: the variance errs by 2.2%.
        assert_within(name, variance(errors), formula, 0.08);
        // The bits of a word are those of the message and of the decision, and no more.
        let bits = params.compact_bits();
        assert!(compact.iter().flat_map(CompactCiphertext::words).all(|&word| u32::from(word) < 1 << bits));
        assert_eq!(bits, if name == "integers-128" { 12 } else { 10 });
    }
}

/// Results of the largest noise that a set allows: a hundred thousand in a long run.
#[test]
fn compact_results_of_the_largest_noise_are_right() {
    let rounds = rounds(4, 100) as u64;
    let client = client("integers-128");
    let params = client.params().clone();
    let evaluator = Evaluator::new(&client.server_key(&Control::default()).unwrap()).unwrap();
    let (mut rng, mut sum) = (ChaCha8Rng::seed_from_u64(6), 0.0);
    let log2_std = (noise::bootstrap(&params) * params.max_weight()).log2() / 2.0;
    for round in 0..rounds {
        let values = values(&params, 1000);
        let short = client.encrypt_short(&values, &mut client.encryption_rng(round).unwrap()).unwrap();
        let dimension = params.big_dimension();
        let noisy: Vec<_> = expanded(&short)
            .iter()
            .map(|ciphertext| {
                // Normal noise as the sum of twelve uniform numbers.
                let normal: f64 = (0..12).map(|_| f64::from(rng.next_u32()) / 2f64.powi(32)).sum::<f64>() - 6.0;
                let noise = (normal * (log2_std + 32.0).exp2()) as i64 as u32;
                LweCiphertext::linear(dimension, &[(1, ciphertext)], noise).unwrap()
            })
            .collect();
        let compact = evaluator.compact(&noisy).unwrap();
        for (compact, &value) in compact.iter().zip(&values) {
            assert_eq!(client.decrypt_compact(compact), value);
            let error = client.compact_phase(compact).wrapping_sub(message(&params, value));
            sum += (f64::from(error as i32) / 2f64.powi(32)).powi(2);
        }
    }
    // The variance of 4000 errors errs by 2.2%, and that of a hundred thousand by 0.4%.
    let tolerance = if is_long() { 0.05 } else { 0.1 };
    let formula = noise::decision(&params, params.max_weight());
    assert_within("the largest noise", sum / (1000 * rounds) as f64, formula, tolerance);
}
