//! Tests that bad input gives an error.

use super::super::*;
use super::{World, literal, rng};
use crate::level::tests::level;
use crate::security::Status;
use crate::{Control, Entropy, Evaluate, Level, Noise};

#[test]
fn rotation_keys_of_secure_sets_are_for_research() {
    let params = Params::try_from(ParamsLiteral { terms: 1, ..literal("secure-slots", 32768, 65537, 0) }).unwrap();
    let client = ClientKey::generate(&params, false, Entropy::Insecure(1), &Control::default()).unwrap();
    let make = |research| client.server_key_with(&[], research, &Control::default());
    let Err(Error::ResearchOnly { why, .. }) = make(false) else { panic!("made without the word") };
    assert!(why.contains("under themselves") && !why.contains("less than 128 bits"), "{why}");
    assert!(make(true).is_ok());
    // A ring beyond the table's has bits too.
    let large = Params::try_from(literal("large", 1 << 17, 2, 1)).unwrap();
    assert!(!rotate::why_research(&large, 300.0).contains("less than 128 bits"));
    let why = rotate::why_research(&large, 3000.0);
    assert!(why.contains("modulo 3000 bits, which have less than 128 bits"), "{why}");
}

#[test]
fn sets_are_those_of_the_paper_and_of_the_security_bounds() {
    let bits: Vec<u32> = (9..=14).map(|log| params::paper_bits(1 << log, 2)).collect();
    assert_eq!(bits, [44, 45, 47, 48, 50, 51]);
    for name in Params::names() {
        let params = Params::named(name).unwrap();
        assert_eq!(params.name(), name);
        let recommended = params.security().status == Status::Recommended;
        assert_eq!(recommended, name.starts_with("secure"), "{name}: {:?}", params.security());
    }
    let research = Params::named("paper-512-1").unwrap();
    assert!(matches!(
        ClientKey::generate(&research, false, Entropy::Insecure(1), &Control::default()),
        Err(Error::ResearchOnly { .. })
    ));
}

#[test]
fn what_cannot_work_is_refused_with_its_fix() {
    let refused = |literal: ParamsLiteral, words: &str| match Params::try_from(literal) {
        Err(error) => assert!(error.to_string().contains(words), "{error}"),
        Ok(params) => panic!("{} was taken", params.name()),
    };
    let good = || literal("x", 512, 2, 3);
    refused(ParamsLiteral { dimension: 500, ..good() }, "not a power of two");
    refused(ParamsLiteral { dimension: 8, ..good() }, "dimension 8 is not in 16..=");
    refused(ParamsLiteral { plaintext_modulus: 1, ..good() }, "plaintext modulus 1");
    refused(ParamsLiteral { bits: Some(16), ..good() }, "take primes of");
    refused(ParamsLiteral { depth: 0, first_bits: Some(14), ..good() }, "take a first prime of");
    refused(ParamsLiteral { dimension: 16384, plaintext_modulus: 65537, ..good() }, "2 primes per level");
    refused(ParamsLiteral { floor: Some(0.5), ..good() }, "root Hermite factor");
    // The fix suffices.
    let params = Params::try_from(ParamsLiteral { bits: Some(28), ..good() }).unwrap();
    assert_eq!(params.literal().bits, Some(28));
    for name in ["", "paper", "paper-512", "paper-512-3-4", "tight-512-x", "huge-1-2"] {
        assert!(matches!(Params::named(name), Err(Error::UnknownParams { .. })), "{name}");
    }
    let extremes = [0, 1, 8, 24, 1 << 18, 1 << 61, 1 << 62, 1 << 63, u64::MAX].map(|n| n.to_string());
    for n in extremes.iter().map(String::as_str).chain(["", "-1", "1e4", "18446744073709551616"]) {
        for name in ["paper-N-1", "tight-N-1", "slots-N-1", "boot-N", "boot-N-1", "nN-d1", "nN-d1-p3"] {
            assert!(Params::named(&name.replace('N', n)).is_err(), "{name} of {n}");
        }
        // The depth, of which there is 0 and 1.
        if n.parse::<u64>().is_ok_and(|depth| depth > 40) {
            for name in
                ["paper-512-D", "tight-512-D", "slots-128-D", "boot-512-D", "n512-dD", "n512-d1-kD", "n512-d1-pD"]
            {
                assert!(Params::named(&name.replace('D', n)).is_err(), "{name} of {n}");
            }
        }
    }
    assert!(Params::named("tight-512-9999").is_err());
}

#[test]
fn foreign_and_damaged_material_is_refused() {
    let mut world = World::named("tight-512-2");
    let (other, other_server) = super::keys(&world.params, 8);
    let (plain, x) = world.fresh();
    assert!(matches!(other.decrypt(&x), Err(Error::KeyMismatch { .. })));
    assert!(matches!(Evaluator::new(&other_server).add(&x, &x), Err(Error::KeyMismatch { .. })));
    assert!(matches!(world.server.public().encrypt(&plain[1..], &mut rng()), Err(Error::Plaintext { .. })));
    assert!(matches!(world.server.public().encrypt(&[2; 512], &mut rng()), Err(Error::Plaintext { .. })));

    let public = world.server.public();
    let words: Vec<Vec<u64>> = x.parts().iter().map(|part| part.words().to_vec()).collect();
    let again = |number, stage, degree, log2, words: &[Vec<u64>]| {
        Ciphertext::from_parts(public, level(number), stage, degree, Noise::from_log2(log2), words)
    };
    assert!(again(3, Stage::Ready, 1, x.noise().log2(), &words).unwrap() == x);
    for (number, stage, degree, log2) in [
        (4, Stage::Ready, 1, 1.0),
        (1, Stage::Switched, 1, 1.0),
        (3, Stage::Switched, 2, 1.0),
        (3, Stage::Wide, 1, 1.0),
        (3, Stage::Ready, 0, 1.0),
        (3, Stage::Ready, 1, f64::NAN),
        (3, Stage::Ready, 1, -1e300),
        (3, Stage::Ready, 9, 1.0),
        (3, Stage::Ready, u32::MAX, 1.0),
    ] {
        assert!(matches!(again(number, stage, degree, log2, &words), Err(Error::Material { .. })), "{number} {stage}");
    }
    let mut damaged = words.clone();
    damaged[0][700] = u64::MAX;
    assert!(matches!(again(3, Stage::Ready, 1, 1.0, &damaged), Err(Error::Ring(_))));
    assert!(matches!(again(2, Stage::Ready, 1, 1.0, &words), Err(Error::Ring(_))));

    let hints: Vec<Vec<u64>> = world.server.hints().map(|hint| hint.words().to_vec()).collect();
    assert!(ServerKey::from_parts(public.clone(), &hints, None, None).unwrap() == world.server);
    assert!(ServerKey::from_parts(public.clone(), &hints[1..], None, None).is_err());
    let stored = PublicKey::from_parts(&world.params, true, public.h().words()).unwrap();
    assert!(stored == *public && stored.id() == public.id());

    let keys_of = |public: &PublicKey, change: fn(&mut Vec<i64>)| {
        let of_level = |level| {
            let mut key = world.client.coefficients(level).unwrap().0.to_vec();
            change(&mut key);
            zeroize::Zeroizing::new(key)
        };
        ClientKey::from_parts(
            public.clone(),
            Level::LOWEST.up_to(level(3)).map(of_level).collect(),
            vec![None, None, None],
        )
    };
    let keys = |change| keys_of(public, change);
    assert_eq!(keys(|_| ()).unwrap().decrypt(&x).unwrap(), plain);
    let foreign = keys_of(other_server.public(), |_| ()).unwrap_err().to_string();
    assert!(foreign.contains("public key"), "{foreign}");
    assert!(matches!(keys(|key| key[3] = 1 << 40), Err(Error::Material { .. })));
    assert!(matches!(keys(|key| key[0] += 1), Err(Error::Material { .. })));
    assert!(matches!(keys(|key| key.truncate(511)), Err(Error::Material { .. })));
    assert!(!format!("{:?}", world.client).contains("keys"));
}

#[test]
fn too_much_noise_is_an_error_and_not_a_wrong_answer() {
    let mut world = World::named("tight-512-1");
    let server = world.server.clone();
    let evaluator = Evaluator::new(&server);
    let (plain, mut x) = world.fresh();
    let mut doublings = 0;
    let error = loop {
        match evaluator.add(&x, &x) {
            Ok(sum) => x = sum,
            Err(error) => break error,
        }
        doublings += 1;
        assert!(world.client.decrypt(&x).unwrap().iter().all(|&x| x == 0), "{doublings}");
    };
    assert!(matches!(error, Error::Noise { .. }) && doublings > 10, "{error}");
    assert!(plain.contains(&1));
    assert!(matches!(evaluator.multiply(&x, &x), Err(Error::Noise { .. })));
}
