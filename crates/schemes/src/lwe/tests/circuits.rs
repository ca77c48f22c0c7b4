//! Circuits against plain bits, and noise against the formulas.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rand_core::RngCore;

use crate::control::CANCELLED;
use crate::level::tests::level;
use crate::lwe::*;
use crate::random::SecretSeed;
use crate::security::Status;
use crate::{Evaluate, Level, Noise, Progress};

fn keys(name: &str, seed: u64) -> (ClientKey, ServerKey) {
    keys_of(&Params::named(name).unwrap(), seed)
}

fn keys_of(params: &Params, seed: u64) -> (ClientKey, ServerKey) {
    let client = ClientKey::generate(params, true, Entropy::Insecure(seed), &Control::default()).unwrap();
    let server = client.server_key(&Control::default()).unwrap();
    (client, server)
}

#[test]
fn steps_keep_the_bit() {
    let (client, server) = keys("leveled-16-2", 1);
    let evaluator = Evaluator::new(&server).unwrap();
    for bits in [[false, false], [false, true], [true, false], [true, true]] {
        let c = server.public().encrypt(&bits, &mut server.public().encryption_rng(3).unwrap()).unwrap();
        let tensor = evaluator.tensor(&c[0], &c[1]).unwrap();
        assert_eq!(client.decrypt_tensor(&tensor).unwrap(), bits[0] & bits[1]);
        let product = evaluator.scale(&evaluator.switch_key(&tensor).unwrap()).unwrap();
        assert_eq!((client.decrypt(&product).unwrap(), product.level()), (bits[0] & bits[1], level(2)));
        assert_eq!(evaluator.multiply(&c[0], &c[1]).unwrap(), product);
        let sum = evaluator.add(&c[0], &c[1]).unwrap();
        assert_eq!(client.decrypt(&sum).unwrap(), bits[0] ^ bits[1]);
        let bottom = evaluator.at_level(&evaluator.add_constant(&sum, 1).unwrap(), Level::LOWEST).unwrap();
        assert_eq!((client.decrypt(&bottom).unwrap(), bottom.level()), (!(bits[0] ^ bits[1]), Level::LOWEST));
    }
}

/// A random circuit: layers of sums of a few bits, and products of these.
#[test]
fn circuits_of_depth_3_agree_with_plain_bits() {
    for seed in 0..6 {
        let (client, server) = keys("leveled-16-3", seed);
        let evaluator = Evaluator::new(&server).unwrap();
        let mut rng = SecretSeed::insecure(seed).stream(1);
        let mut plain: Vec<bool> = (0..8).map(|_| rng.next_u32() & 1 == 1).collect();
        let mut cipher = server.public().encrypt(&plain, &mut server.public().encryption_rng(seed).unwrap()).unwrap();
        for _ in 0..3 {
            let mut next = (Vec::new(), Vec::new());
            for _ in 0..8 {
                let mut pick = || rng.next_u32() as usize % 8;
                let [a, b, c, d] = [pick(), pick(), pick(), pick()];
                next.0.push((plain[a] ^ plain[b]) & (plain[c] ^ plain[d]));
                let sums =
                    (evaluator.add(&cipher[a], &cipher[b]).unwrap(), evaluator.add(&cipher[c], &cipher[d]).unwrap());
                next.1.push(evaluator.multiply(&sums.0, &sums.1).unwrap());
            }
            (plain, cipher) = next;
            for (cipher, &plain) in cipher.iter().zip(&plain) {
                assert_eq!(client.decrypt(cipher).unwrap(), plain);
            }
        }
        let error = evaluator.multiply(&cipher[0], &cipher[1]).unwrap_err();
        assert!(matches!(error, Error::OutOfLevels { .. } | Error::Noise { .. }), "{error}");
    }
}

/// Root mean square of the noise of ciphertexts.
fn rms(noises: &[f64]) -> f64 {
    0.5 * (noises.iter().map(|noise| (2.0 * noise).exp2()).sum::<f64>() / noises.len() as f64).log2()
}

#[test]
fn noise_of_every_step_is_within_the_formulas() {
    for (name, digit_bits) in [("leveled-16-2", 8), ("leveled-24-2", 16), ("leveled-16-2", 1)] {
        let literal = ParamsLiteral { digit_bits, ..Params::named(name).unwrap().literal().clone() };
        let params = Params::try_from(literal).unwrap();
        let mut measured: Vec<[f64; 5]> = Vec::new();
        let mut formula = [0.0; 5];
        for seed in 0..24 {
            let (client, server) = keys_of(&params, seed);
            let evaluator = Evaluator::new(&server).unwrap();
            let c = server
                .public()
                .encrypt(&[true, false, true, true], &mut server.public().encryption_rng(0).unwrap())
                .unwrap();
            let sum = evaluator.add(&c[0], &c[1]).unwrap();
            let product = evaluator.multiply(&c[2], &c[3]).unwrap();
            let lowered = evaluator.drop_level(&sum).unwrap();
            let second = evaluator.multiply(&product, &lowered).unwrap();
            let all = [&c[0], &sum, &product, &lowered, &second];
            formula = all.map(|c| c.noise().log2());
            measured.push(all.map(|c| client.noise(c).unwrap().log2()));
        }
        for (i, &want) in formula.iter().enumerate() {
            let got = rms(&measured.iter().map(|noises| noises[i]).collect::<Vec<_>>());
            // 24 samples: a bit more either way.
            let spread = 0.4;
            let below = noise::tolerance_below(u32::from(i == 1)) + spread;
            assert!(
                got > want - below && got < want + noise::TOLERANCE_ABOVE + spread,
                "{name}, step {i}: {got} {want}"
            );
        }
    }
}

#[test]
fn what_cannot_be_done_is_told() {
    let (client, server) = keys("leveled-16-2", 1);
    let (other, _) = keys("leveled-16-2", 2);
    let evaluator = Evaluator::new(&server).unwrap();
    let c = server.public().encrypt(&[true, true], &mut server.public().encryption_rng(0).unwrap()).unwrap();
    let low = evaluator.drop_level(&c[0]).unwrap();
    assert!(
        matches!(evaluator.add(&c[0], &low), Err(Error::LevelMismatch { lhs, rhs, .. }) if [lhs, rhs] == [3, 2].map(level))
    );
    assert!(
        matches!(evaluator.at_level(&low, level(3)), Err(Error::BelowLevel { level: from, target }) if [from, target] == [2, 3].map(level))
    );
    assert!(matches!(other.decrypt(&c[0]), Err(Error::KeyMismatch { .. })));
    let foreign = other.public().encrypt(&[true], &mut other.public().encryption_rng(0).unwrap()).unwrap().remove(0);
    for refused in [
        evaluator.negate(&foreign),
        evaluator.multiply_constant(&foreign, 0),
        evaluator.multiply_plain(&foreign, &[1]),
        evaluator.add_constant(&foreign, 0),
    ] {
        assert!(matches!(refused, Err(Error::KeyMismatch { what: "the operand", .. })));
    }
    assert!(matches!(evaluator.bootstrap(&c[0]), Err(Error::NoBootstrapping { .. })));
    let bottom = evaluator.at_level(&c[0], Level::LOWEST).unwrap();
    assert!(matches!(evaluator.drop_level(&bottom), Err(Error::OutOfLevels { level: Level::LOWEST, depth: 2, .. })));
    assert!(client.decrypt(&bottom).unwrap());
    // Sums without end are refused before they are wrong.
    let mut sum = c[0].clone();
    let mut doubled = 0;
    while let Ok(more) = evaluator.add(&sum, &sum) {
        (sum, doubled) = (more, doubled + 1);
    }
    assert!(doubled > 70 && !client.decrypt(&sum).unwrap(), "{doubled}");
    for unknown in ["leveled-16", "leveled-a-1", "ring-16-2", "leveled-16-2-3"] {
        assert!(matches!(Params::named(unknown), Err(Error::UnknownParams { .. })), "{unknown}");
    }
    assert!(matches!(Params::named("leveled-129-2"), Err(Error::Params { .. })));
    let toy = server.params();
    assert!(matches!(
        ClientKey::generate(toy, false, Entropy::System, &Control::default()),
        Err(Error::ResearchOnly { .. })
    ));
    assert!(matches!(
        ClientKey::generate(toy, false, Entropy::Insecure(1), &Control::default()),
        Err(Error::ResearchOnly { .. })
    ));
    assert!(matches!(keys("leveled-16-2", 1).1.expand(1 << 10), Err(Error::Memory { .. })));
    // A batch may hold pairs of several levels.
    let mixed = evaluator.multiply_batch(&[(&c[0], &c[1]), (&low, &low), (&c[1], &c[1])], &Control::default()).unwrap();
    let single = [(&c[0], &c[1]), (&low, &low), (&c[1], &c[1])].map(|(x, y)| evaluator.multiply(x, y).unwrap());
    assert_eq!(mixed, single);
    let fresh = toy.literal().fresh.clone();
    let huge = fresh::ParamsLiteral { dimension: 5000, samples: 5000, ..fresh.clone() };
    let few = fresh::ParamsLiteral { words: 2, ..fresh };
    for fresh in [huge, few] {
        assert!(matches!(
            Params::try_from(ParamsLiteral { fresh, ..toy.literal().clone() }),
            Err(Error::Params { .. })
        ));
    }
    let wide = ParamsLiteral { digit_bits: 30, terms: 1 << 20, ..server.params().literal().clone() };
    assert!(matches!(Params::try_from(wide), Err(Error::Params { .. })));
}

#[test]
fn products_are_the_same_together_whole_and_as_stored() {
    let (client, server) = keys("leveled-24-2", 5);
    let params = server.params().clone();
    let c = server.public().encrypt(&[true, true, false], &mut server.public().encryption_rng(0).unwrap()).unwrap();
    let pairs = [(&c[0], &c[1]), (&c[1], &c[2]), (&c[1], &c[1])];
    let evaluator = Evaluator::new(&server).unwrap();
    let single: Vec<_> = pairs.iter().map(|(x, y)| evaluator.multiply(x, y).unwrap()).collect();
    assert_eq!(evaluator.multiply_batch(&pairs, &Control::default()).unwrap(), single);
    // The keys are made again from their parts, and the matrices are expanded.
    let public = server.public().fresh();
    let public = PublicKey::from_parts(&params, true, *public.seed(), &public.b().residues()).unwrap();
    assert!(public == *server.public());
    let switches = params.switch_levels().zip(server.switches());
    let switches =
        switches.map(|(level, key)| SwitchKey::from_parts(&params, level, *key.seed(), &key.b().residues()).unwrap());
    let again = ServerKey::from_parts(public.clone(), switches.collect()).unwrap();
    let again = again.expand(params.switch_bytes()).unwrap();
    let whole = Evaluator::new(&again).unwrap();
    assert_eq!(whole.multiply_batch(&pairs, &Control::default()).unwrap(), single);
    assert_eq!(whole.drop_level(&single[0]).unwrap(), evaluator.drop_level(&single[0]).unwrap());
    let client = ClientKey::from_parts(public, client.secrets().map(|s| s.to_vec().into()).collect()).unwrap();
    for (c, want) in single.iter().zip([true, false, true]) {
        let residues = c.numbers().residues();
        let same = Ciphertext::from_parts(&params, c.key(), c.level(), c.noise(), &residues).unwrap();
        assert_eq!((&same, client.decrypt(&same).unwrap()), (c, want));
        for (number, log2) in [(1, 1.0), (4, 1.0), (2, -1.0), (2, f64::NAN)] {
            let bad = Ciphertext::from_parts(&params, c.key(), level(number), Noise::from_log2(log2), &residues);
            assert!(matches!(bad, Err(Error::Material { .. })), "{number} {log2}");
        }
    }
    let trivial = evaluator.multiply(&Ciphertext::trivial(server.public(), true), &c[1]).unwrap();
    assert!(client.decrypt(&trivial).unwrap());
}

#[test]
fn long_work_is_watched_and_stopped() {
    let params = Params::named("leveled-64-2").unwrap();
    let heard = Mutex::new(Vec::new());
    let listen = |Progress { done, total, .. }: Progress| heard.lock().unwrap().push((done, total));
    let control = Control { progress: Some(&listen), cancel: None };
    let client = ClientKey::generate(&params, true, Entropy::Insecure(4), &control).unwrap();
    let of_client = std::mem::take(&mut *heard.lock().unwrap());
    let server = client.server_key(&control).unwrap();
    assert_eq!([of_client, heard.into_inner().unwrap()], [vec![(1, 1)], vec![(1, 2), (2, 2)]]);
    for last in 1..=2 {
        let cancel = AtomicBool::new(false);
        let stop = |progress: Progress| cancel.store(progress.done >= last, Ordering::Relaxed);
        let control = Control { progress: Some(&stop), cancel: Some(&cancel) };
        assert!(matches!(client.server_key(&control), Err(Error::Cancelled(_))), "{last}");
    }
    let c = server.public().encrypt(&[true, true], &mut server.public().encryption_rng(0).unwrap()).unwrap();
    let evaluator = Evaluator::new(&server).unwrap();
    let pairs = [(&c[0], &c[1]), (&c[1], &c[1])];
    let products = evaluator.multiply_batch(&pairs, &Control::default()).unwrap();
    assert!(client.decrypt(&products[1]).unwrap());
    assert!(matches!(evaluator.multiply_batch(&pairs, &CANCELLED), Err(Error::Cancelled(_))));
    // A part of the rows is that share of the work.
    let all = evaluator.multiply_part(&pairs, usize::MAX).unwrap();
    assert_eq!(all.to_bits(), 1f64.to_bits());
    let [one, four] = [1 << 10, 4 << 10].map(|rows| evaluator.multiply_part(&pairs, rows).unwrap());
    assert!(four < 1.0 && (four / one - 4.0).abs() < 1e-9, "{one} {four}");
}

#[test]
fn a_secret_of_another_key_is_refused() {
    for name in ["leveled-16-2", "toy-16-2"] {
        let ((client, _), (other, _)) = (keys(name, 1), keys(name, 2));
        let secrets = |key: &ClientKey| key.secrets().map(|s| s.to_vec().into()).collect::<Vec<_>>();
        assert!(ClientKey::from_parts(client.public().clone(), secrets(&client)).is_ok());
        let mut one = secrets(&client);
        let last = one.last_mut().unwrap();
        last[3] += if last[3] > 0 { -1 } else { 1 };
        for foreign in [secrets(&other), one] {
            let error = ClientKey::from_parts(client.public().clone(), foreign).unwrap_err().to_string();
            assert!(error.contains("does not belong to the public key"), "{error}");
        }
        let fresh = fresh::ClientKey::from_parts(client.public().fresh().clone(), secrets(&other).pop().unwrap());
        assert!(matches!(fresh, Err(Error::Material { .. })));
    }
}

/// The lowest level may have several words, and these any width.
#[test]
fn words_of_any_width_and_number_make_levels() {
    for (words, word_bits, digit_bits, depth) in [(4, 24, 9, 2), (3, 20, 10, 1), (2, 31, 16, 0)] {
        let fresh = fresh::ParamsLiteral {
            words,
            word_bits,
            name: "mine".into(),
            ..Params::named("leveled-16-2").unwrap().literal().fresh.clone()
        };
        let params = Params::try_from(ParamsLiteral { fresh, depth, digit_bits, terms: 2 }).unwrap();
        assert_eq!(params.modulus(Level::LOWEST).len(), words - depth);
        let (client, server) = keys_of(&params, 1);
        let evaluator = Evaluator::new(&server).unwrap();
        let c = server.public().encrypt(&[true, true], &mut server.public().encryption_rng(0).unwrap()).unwrap();
        let (mut x, mut y) = (c[0].clone(), c[1].clone());
        while x.level() > Level::LOWEST {
            (x, y) = (evaluator.multiply(&x, &y).unwrap(), evaluator.drop_level(&y).unwrap());
            assert!(client.decrypt(&x).unwrap() && client.decrypt(&y).unwrap(), "{words} {}", x.level());
        }
        assert!(!client.decrypt(&evaluator.add(&x, &y).unwrap()).unwrap());
    }
}

#[test]
fn secure_sets_have_128_bits_and_sets_without_products_their_own() {
    for name in ["leveled-secure-1", "leveled-secure-2"] {
        let params = Params::named(name).unwrap();
        let claim = params.security();
        assert!(claim.status == Status::Recommended && claim.classical_bits >= 128.0, "{name}: {claim:?}");
        assert!(params.switch_bytes() > 40_000_000_000);
    }
    let flat = Params::named("secure-62").unwrap();
    assert_eq!((flat.depth(), flat.security()), (0, fresh::Params::named("secure-62").unwrap().security()));
}
