//! Keys, encryption and decryption.

use rand_core::RngCore;

use crate::lwe::fresh::{Ciphertext, ClientKey, Params, ParamsLiteral, PublicKey, noise};
use crate::lwe::*;
use crate::random::SecretSeed;
use crate::security::Status;
use crate::{Control, Entropy};

fn bits(len: usize, seed: u64) -> Vec<bool> {
    let mut rng = SecretSeed::insecure(seed).stream(0);
    (0..len).map(|_| rng.next_u32() & 1 == 1).collect()
}

#[test]
fn bits_come_back_from_every_form_of_the_key() {
    for name in ["toy-64-2", "toy-256-8", "toy-1100-1"] {
        let client =
            ClientKey::generate(&Params::named(name).unwrap(), true, Entropy::Insecure(3), &Control::default())
                .unwrap();
        let public = client.public();
        let messages = bits(100, 4);
        let rng = || public.encryption_rng(5).unwrap();
        let seeded = public.encryptor().unwrap().encrypt(&messages, &mut rng()).unwrap();
        let mut resident = public.resident_encryptor(1 << 30).unwrap();
        assert_eq!(resident.encrypt(&messages, &mut rng()).unwrap(), seeded);
        resident.access = Access::VartimeTables;
        assert_eq!(resident.encrypt(&messages, &mut rng()).unwrap(), seeded);
        for (ciphertext, &message) in seeded.iter().zip(&messages) {
            assert_eq!(client.decrypt(ciphertext).unwrap(), message, "{name}");
        }
        let sum = seeded[0].add(&seeded[1], public.params()).unwrap();
        assert_eq!(client.decrypt(&sum).unwrap(), messages[0] ^ messages[1]);
        // As stored, and back.
        let params = public.params();
        let same = PublicKey::from_parts(params, true, *public.seed(), &public.b().residues()).unwrap();
        assert_eq!((&same, same.id()), (public, public.id()));
        let client = ClientKey::from_parts(same, client.secret().to_vec().into()).unwrap();
        let same = Ciphertext::from_parts(params, public.id(), &seeded[7].numbers().residues()).unwrap();
        assert_eq!(client.decrypt(&same).unwrap(), messages[7]);
    }
}

/// Noise of two encryptions each by many keys, so that the mean over keys shows.
fn measured(params: &Params, keys: u64) -> f64 {
    let mut squares = 0.0;
    for seed in 0..keys {
        let client = ClientKey::generate(params, true, Entropy::Insecure(seed), &Control::default()).unwrap();
        let public = client.public();
        let ciphertexts = public.encryptor().unwrap().encrypt(&[false; 4], &mut public.encryption_rng(0).unwrap());
        squares += ciphertexts.unwrap().iter().map(|c| (2.0 * client.noise(c).unwrap()).exp2()).sum::<f64>();
    }
    0.5 * (squares / (4 * keys) as f64).log2()
}

#[test]
fn noise_is_within_the_formula() {
    for (encryption_noise, samples) in [(true, 32), (false, 200)] {
        let literal = ParamsLiteral {
            name: "test".into(),
            dimension: 40,
            samples,
            words: 2,
            word_bits: 31,
            sigma: 3.2,
            encryption_noise,
        };
        let params = Params::try_from(literal).unwrap();
        let (got, want) = (measured(&params, 200), noise::fresh(&params));
        assert!((got - want).abs() < noise::TOLERANCE, "{got} {want}");
    }
}

#[test]
fn bits_are_wrong_as_often_as_the_formula_says() {
    for sigma in [16.0, 12.0, 9.0] {
        let literal = ParamsLiteral {
            name: "beyond".into(),
            dimension: 8,
            samples: 256,
            words: 1,
            word_bits: 10,
            sigma,
            encryption_noise: false,
        };
        assert!(matches!(Params::try_from(literal.clone()), Err(Error::Params { .. })));
        let params = Params::unchecked(literal).unwrap();
        let (mut wrong, mut total) = (0, 0);
        for seed in 0..8000 {
            let client = ClientKey::generate(&params, true, Entropy::Insecure(seed), &Control::default()).unwrap();
            let public = client.public();
            let messages = bits(2, seed);
            let ciphertexts = public.encryptor().unwrap().encrypt(&messages, &mut public.encryption_rng(0).unwrap());
            for (ciphertext, &message) in ciphertexts.unwrap().iter().zip(&messages) {
                wrong += u32::from(client.decrypt(ciphertext).unwrap() != message);
                total += 1;
            }
        }
        let (got, want) = (f64::from(wrong) / f64::from(total), params.log2_failure().exp2());
        assert!((got / want - 1.0).abs() < 0.25, "{sigma}: {got} {want}");
    }
}

#[test]
fn sets_say_what_they_are() {
    for name in Params::names() {
        let params = Params::named(name).unwrap();
        let security = params.security();
        assert!(params.log2_failure() < -64.0, "{name}");
        match security.status {
            Status::Recommended => assert!(name.starts_with("secure") && security.classical_bits >= 128.0, "{name}"),
            Status::ResearchOnly { why } => assert!(!name.starts_with("secure"), "{name}: {why}"),
            other => panic!("{other:?}"),
        }
    }
    let paper = Params::named("paper-9326").unwrap();
    assert_eq!((paper.modulus().bits(), paper.modulus().len()), (1024, 32));
    let Status::ResearchOnly { why } = paper.security().status else { panic!("recommended") };
    assert!(why.contains("linear algebra"), "{why}");
    assert!(matches!(
        ClientKey::generate(&paper, false, Entropy::System, &Control::default()),
        Err(Error::ResearchOnly { .. })
    ));
    assert!(matches!(Params::named("toy-0-1"), Err(Error::Params { .. })));
    for unknown in ["", "paper", "paper-9327", "toy-5", "toy-a-b", "secure-63"] {
        assert!(matches!(Params::named(unknown), Err(Error::UnknownParams { .. })), "{unknown}");
    }
}

#[test]
fn keys_and_ciphertexts_are_checked() {
    let params = Params::named("toy-64-2").unwrap();
    let [one, other] =
        [1, 2].map(|seed| ClientKey::generate(&params, true, Entropy::Insecure(seed), &Control::default()).unwrap());
    let public = one.public();
    let ciphertext = &public.encryptor().unwrap().encrypt(&[true], &mut public.encryption_rng(0).unwrap()).unwrap()[0];
    assert!(matches!(other.decrypt(ciphertext), Err(Error::KeyMismatch { .. })));
    assert!(matches!(PublicKey::from_parts(&params, true, [0; 32], &[0; 127]), Err(Error::Material { .. })));
    assert!(matches!(PublicKey::from_parts(&params, true, [0; 32], &[u32::MAX; 128]), Err(Error::Material { .. })));
    assert!(matches!(Ciphertext::from_parts(&params, public.id(), &[0; 3]), Err(Error::Material { .. })));
    for secret in [vec![0; 63], vec![1000; 64]] {
        assert!(matches!(ClientKey::from_parts(public.clone(), secret.into()), Err(Error::Material { .. })));
    }
    assert!(matches!(public.expand(100), Err(Error::Memory { .. })));
    assert_eq!(format!("{one:?}").matches("secret").count(), 0);
}
