//! Tests that bad input gives an error that names the remedy.

use super::*;
use crate::level::tests::level;
use crate::slots::{self, rotation_exponent};
use crate::{Control, Entropy, Evaluate, Noise, Progress, RotateSlots};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[test]
fn operands_that_do_not_go_together_are_refused() {
    let (_, server) = keys("slots-64-2");
    let (_, other) = keys_with(server.params(), &Rotations::none(server.params()), 2);
    let x = random(65537, 64, 1);
    let (a, foreign) = (encrypt(&server, &x, 1), encrypt(&other, &x, 1));
    let evaluator = Evaluator::new(&server);
    assert!(matches!(evaluator.add(&a, &foreign), Err(Error::KeyMismatch { what: "the second operand", .. })));
    let low = evaluator.drop_level(&a).unwrap();
    assert!(
        matches!(evaluator.add(&a, &low), Err(Error::LevelMismatch { lhs, rhs, .. }) if [lhs, rhs] == [3, 2].map(level))
    );
    let product = evaluator.tensor(&a, &a).unwrap();
    assert!(matches!(evaluator.add(&a, &product), Err(Error::Stage { .. })));
    assert!(matches!(evaluator.tensor(&product, &product), Err(Error::Stage { .. })));
    assert!(matches!(evaluator.modulus_switch(&a), Err(Error::Stage { .. })));
    assert!(matches!(evaluator.drop_level(&product), Err(Error::Stage { .. })));
    assert!(matches!(evaluator.rotate(&product, 1), Err(Error::Parts { .. })));
    let three = evaluator.modulus_switch(&product).unwrap();
    assert!(matches!(evaluator.multiply(&three, &three), Err(Error::Parts { .. })));
    assert!(matches!(evaluator.dot(&[], &[]), Err(Error::Operands { .. })));
    assert!(matches!(evaluator.dot(&[&a], &[&a, &a]), Err(Error::Operands { .. })));
    let error = Evaluator::new(&other).rotate(&foreign, 1).unwrap_err();
    assert!(error.to_string().contains("this one has none"), "{error}");
    assert!(matches!(evaluator.add_plain(&a, &[0; 63]), Err(Error::Plaintext { .. })));
    assert!(matches!(evaluator.multiply_plain(&a, &[65537; 64]), Err(Error::Plaintext { .. })));
    // Doubling until there is no room.
    let mut sum = a.clone();
    let error = loop {
        match evaluator.add(&sum, &sum) {
            Ok(next) => sum = next,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Noise { .. }), "{error}");
}

#[test]
fn a_key_that_has_the_rotations_of_programs_and_more_rotates_slots() {
    let params = Params::named("slots-64-1").unwrap();
    let all = Rotations::all(&params).unwrap();
    let more = all.clone().with_automorphism(rotation_exponent(64, 3)).unwrap();
    let few = Rotations::of_steps(&params, &[1, 2, 4]).unwrap();
    for (rotations, rotates) in [(all, true), (more, true), (few, false), (Rotations::none(&params), false)] {
        let (_, server) = keys_with(&params, &rotations, 1);
        assert_eq!(Evaluator::new(&server).slot_rotations().is_some(), rotates, "{rotations}");
    }
}

#[test]
fn keys_and_ciphertexts_that_are_damaged_are_refused() {
    let (client, server) = keys("slots-64-1");
    let public = server.public();
    let a = encrypt(&server, &random(65537, 64, 1), 1);
    let mut words: Vec<Vec<u64>> = a.parts().iter().map(|part| part.words().to_vec()).collect();
    let made = |number, log2: f64, words: &[Vec<u64>]| {
        Ciphertext::from_parts(public, level(number), Stage::Ready, Noise::from_log2(log2), words)
    };
    assert!(matches!(made(3, 20.0, &words), Err(Error::Material { .. })));
    assert!(matches!(made(2, f64::NAN, &words), Err(Error::Material { .. })));
    assert!(matches!(made(2, 20.0, &words[..1]), Err(Error::Material { .. })));
    assert!(matches!(made(1, 20.0, &words), Err(Error::Ring(_))));
    words[0][5] = u64::MAX;
    assert!(matches!(made(2, 20.0, &words), Err(Error::Ring(_))));

    let secret = |change: &dyn Fn(&mut Vec<i64>)| {
        let mut secret = client.secret().to_vec();
        change(&mut secret);
        ClientKey::from_parts(public.clone(), zeroize::Zeroizing::new(secret))
    };
    assert!(secret(&|_| ()).is_ok());
    assert!(matches!(secret(&|s| s[3] = 2), Err(Error::Material { .. })));
    assert!(matches!(secret(&|s| s.truncate(63)), Err(Error::Material { .. })));
    assert!(matches!(secret(&|s| s[0] = (s[0] + 2) % 3 - 1), Err(Error::Material { .. })));

    let mut parts = server.relinearization().parts();
    let made = |parts: &SwitchKeyParts, rotations: &[(usize, SwitchKeyParts)]| {
        ServerKey::from_parts(public.clone(), parts, rotations, None)
    };
    assert!(matches!(made(&parts, &[(4, parts.clone())]), Err(Error::Material { .. })));
    parts.rows[0][0] = u64::MAX;
    assert!(matches!(made(&parts, &[]), Err(Error::Ring(_))));
    parts.rows.pop();
    assert!(matches!(made(&parts, &[]), Err(Error::Material { .. })));
    assert!(PublicKey::from_parts(server.params(), true, [0; 32], &[0; 7]).is_err());
}

#[test]
fn parameters_out_of_range_are_refused() {
    for name in ["slots-100", "slots-064-2", "slots-64-02"] {
        assert!(matches!(Params::named(name), Err(Error::UnknownParams { .. })), "{name}");
    }
    for name in ["slots-100-1", "slots-64-41", "slots-8-1", "slots-65536-3"] {
        assert!(matches!(Params::named(name), Err(Error::Params { .. })), "{name}");
    }
    let literal = Params::named("slots-64-2").unwrap().literal().clone();
    let with = |change: &dyn Fn(&mut ParamsLiteral)| {
        let mut literal = literal.clone();
        change(&mut literal);
        Params::try_from(literal)
    };
    assert!(with(&|_| ()).is_ok());
    let error = with(&|l| l.bits = Some(20)).unwrap_err();
    assert!(error.to_string().contains("take primes of"), "{error}");
    assert!(with(&|l| l.switching = KeySwitching::Hybrid { group: 0 }).is_err());
    assert!(with(&|l| l.plaintext_modulus = 1).is_err());
    let params = Params::named("slots-64-2").unwrap();
    assert!(matches!(
        ClientKey::generate(&params, false, Entropy::System, &Control::default()),
        Err(Error::ResearchOnly { .. })
    ));
    let bits = Params::named("bits-64-2").unwrap();
    assert!(matches!(bits.slots(), Err(Error::Slots { error: slots::Error::NoSlots { example: 257, .. }, .. })));
    assert!(matches!(Rotations::of_steps(&bits, &[1]), Err(Error::Slots { error: slots::Error::NoSlots { .. }, .. })));
}

#[test]
fn key_generation_reports_and_stops() {
    let params = Params::named("slots-64-2").unwrap();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(1), &Control::default()).unwrap();
    let rotations = Rotations::of_steps(&params, &[1, -1]).unwrap();
    let heard = AtomicU64::new(0);
    let cancel = AtomicBool::new(false);
    let listen = |Progress { done, total, .. }: Progress| {
        assert!(done <= total);
        heard.fetch_max(total, Ordering::Relaxed);
        cancel.store(done >= 2, Ordering::Relaxed);
    };
    let control = Control { progress: Some(&listen), cancel: Some(&cancel) };
    assert!(matches!(client.server_key_with(&rotations, &control), Err(Error::Cancelled(_))));
    assert_eq!(heard.into_inner() % 3, 0);
    assert_eq!(rotations.to_string(), "rotations by -1, 1");
}
