use super::*;
use solinas_bigint::Natural;
use solinas_schemes::{Cancelled, Control, Entropy, Progress};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

fn generate(bits: usize, seed: u64) -> PrivateKey {
    let options = KeygenOptions { bits, research: true, entropy: Entropy::Insecure(seed), parallel: true };
    PrivateKey::generate(&options, &Control::default()).unwrap()
}

/// Shared keys of 1024 and 2048 bits.
static SMALL: LazyLock<PrivateKey> = LazyLock::new(|| generate(1024, 1));
static KEY: LazyLock<PrivateKey> = LazyLock::new(|| generate(2048, 2));

fn paddings() -> Vec<EncryptionPadding> {
    let labelled = EncryptionPadding::Oaep { hash: Hash::Sha256, mgf: Some(Hash::Sha512), label: b"a label".to_vec() };
    let masks = EncryptionPadding::Oaep { hash: Hash::Sha1, mgf: Some(Hash::Sha256), label: Vec::new() };
    Hash::ALL.map(EncryptionPadding::oaep).into_iter().chain([labelled, masks, EncryptionPadding::Pkcs1]).collect()
}

fn signature_paddings() -> Vec<SignaturePadding> {
    let of = |hash| {
        let pss = |mgf, salt| SignaturePadding::Pss { hash, mgf, salt };
        [SignaturePadding::pss(hash), pss(None, Some(0)), pss(Some(Hash::Sha1), None), SignaturePadding::Pkcs1 { hash }]
    };
    Hash::ALL.into_iter().filter(|hash| hash.signs()).flat_map(of).collect()
}

#[test]
fn decryption_gives_the_message_back_up_to_the_capacity() {
    for key in [&*SMALL, &*KEY] {
        for padding in paddings() {
            let Some(capacity) = padding.capacity(key.public_key().size()) else { continue };
            for len in [0, 1, capacity] {
                let message: Vec<u8> = (0..len).map(|i| i as u8).collect();
                let ciphertext = key.public_key().encrypt(&padding, &message).unwrap();
                assert_eq!(ciphertext.len(), key.public_key().size());
                assert_eq!(*key.decrypt(&padding, &ciphertext).unwrap(), message, "{padding:?}");
            }
            let error = key.public_key().encrypt(&padding, &vec![0; capacity + 1]).unwrap_err();
            assert_eq!(error, Error::MessageTooLong { len: capacity + 1, most: capacity });
        }
    }
}

#[test]
fn encryption_is_randomized() {
    for padding in paddings() {
        let encrypt = || KEY.public_key().encrypt(&padding, b"m").unwrap();
        assert_ne!(encrypt(), encrypt());
    }
}

/// Ciphertexts that are malformed under a padding: of other paddings, damaged ones, and small numbers.
fn malformed(padding: &EncryptionPadding) -> Vec<Vec<u8>> {
    let encrypt = |padding: &EncryptionPadding| KEY.public_key().encrypt(padding, b"message").unwrap();
    let mut all: Vec<_> =
        paddings().into_iter().filter(|other| other != padding).map(|other| encrypt(&other)).collect();
    let mut damaged = encrypt(padding);
    damaged[100] ^= 1;
    all.push(damaged);
    all.extend([0u8, 1, 2].map(|number| [vec![0; 255], vec![number]].concat()));
    all
}

#[test]
fn malformed_messages_give_one_error() {
    let key = &*KEY;
    for padding in paddings() {
        for ciphertext in malformed(&padding).iter().filter(|_| padding != EncryptionPadding::Pkcs1) {
            assert_eq!(key.decrypt(&padding, ciphertext).unwrap_err(), Error::Decryption, "{padding:?}");
        }
        let ciphertext = key.public_key().encrypt(&padding, b"message").unwrap();
        let length = |got| Error::Length { what: "ciphertext", got, want: 256 };
        assert_eq!(key.decrypt(&padding, &ciphertext[1..]).unwrap_err(), length(255));
        assert_eq!(key.decrypt(&padding, &[]).unwrap_err(), length(0));
        let modulus = key.public_key().modulus().to_be_bytes();
        assert_eq!(key.decrypt(&padding, &modulus).unwrap_err(), Error::Range { what: "ciphertext" });
        assert_eq!(key.decrypt(&padding, &[0xff; 256]).unwrap_err(), Error::Range { what: "ciphertext" });
    }
}

#[test]
fn malformed_pkcs1_gives_the_same_random_message_each_time() {
    let padding = EncryptionPadding::Pkcs1;
    let mut seen = std::collections::HashSet::new();
    for ciphertext in malformed(&padding) {
        let message = KEY.decrypt(&padding, &ciphertext).unwrap();
        assert_eq!(KEY.decrypt(&padding, &ciphertext).unwrap(), message);
        assert!(message.len() < 246 && seen.insert(message.to_vec()) | message.is_empty());
    }
    let ciphertext = KEY.public_key().encrypt(&EncryptionPadding::default(), b"message").unwrap();
    let mut key = generate(2048, 2);
    for execution in [Execution { method: Some(Method::Fft), parallel: true }, Execution::default()] {
        key.set_execution(execution).unwrap();
        assert_eq!(key.decrypt(&padding, &ciphertext).unwrap(), KEY.decrypt(&padding, &ciphertext).unwrap());
    }
}

/// Length and first bytes of the messages to which OpenSSL 4.0 (in pyca/cryptography 50) decrypts the numbers 0, 1, ..
/// under the same key.
const OPENSSL: [(usize, [u8; 8]); 6] = [
    (158, [94, 255, 127, 152, 183, 37, 32, 103]),
    (59, [181, 175, 234, 252, 207, 164, 3, 15]),
    (42, [176, 215, 77, 226, 193, 212, 110, 183]),
    (49, [91, 32, 7, 2, 47, 148, 206, 141]),
    (243, [55, 34, 146, 25, 248, 187, 244, 8]),
    (151, [109, 254, 253, 112, 28, 79, 37, 197]),
];

#[test]
fn malformed_pkcs1_gives_the_messages_of_openssl() {
    for (number, expected) in (0..).zip(OPENSSL) {
        let ciphertext = [vec![0; 255], vec![number]].concat();
        let message = KEY.decrypt(&EncryptionPadding::Pkcs1, &ciphertext).unwrap();
        assert_eq!((message.len(), &message[..8]), (expected.0, &expected.1[..]), "{number}");
    }
}

#[test]
fn signatures_verify_for_their_message_key_and_padding_alone() {
    let key = &*KEY;
    for padding in signature_paddings() {
        let signature = key.sign(padding, b"message").unwrap();
        key.public_key().verify(padding, b"message", &signature).unwrap();
        assert_eq!(key.public_key().verify(padding, b"other", &signature), Err(Error::Verification));
        for other in signature_paddings() {
            let fits = other == padding
                || matches!((padding, other), (SignaturePadding::Pss { hash: a, mgf: x, .. }, SignaturePadding::Pss { hash: b, mgf: y, salt: None }) if (a, x) == (b, y));
            assert_eq!(key.public_key().verify(other, b"message", &signature).is_ok(), fits, "{padding:?} {other:?}");
        }
        let mut changed = signature.clone();
        changed[100] ^= 1;
        assert!(key.public_key().verify(padding, b"message", &changed).is_err());
        let other = generate(2048, 3);
        assert!(other.public_key().verify(padding, b"message", &signature).is_err());
        assert_eq!(
            key.public_key().verify(padding, b"message", &signature[..255]),
            Err(Error::Length { what: "signature", got: 255, want: 256 })
        );
        assert_eq!(key.public_key().verify(padding, b"message", &[0xff; 256]), Err(Error::Range { what: "signature" }));
    }
}

#[test]
fn a_signature_of_the_hash_value_is_one_of_the_message() {
    for padding in signature_paddings() {
        let value = padding.hash().digest(&[b"message"]);
        let signature = SMALL.sign_digest(padding, &value);
        match (padding.hash(), signature) {
            (_, Ok(signature)) => SMALL.public_key().verify(padding, b"message", &signature).unwrap(),
            // A key of 1024 bits is too short for a hash and a salt of 64 bytes each.
            (Hash::Sha512 | Hash::Sha3_512, Err(Error::NoRoom { bits: 1024, .. })) => {}
            (_, Err(error)) => panic!("{padding:?}: {error}"),
        }
        assert!(matches!(SMALL.sign_digest(padding, &value[1..]), Err(Error::Length { .. })));
    }
}

#[test]
fn a_hash_or_salt_without_room_is_refused() {
    let key = generate(512, 4);
    let pss = |salt| SignaturePadding::Pss { hash: Hash::Sha512, mgf: None, salt };
    let no_room = Error::NoRoom { bits: 512, hash: Hash::Sha512 };
    assert_eq!(key.sign(pss(None), b""), Err(no_room.clone()));
    assert_eq!(key.sign(pss(Some(usize::MAX)), b""), Err(no_room.clone()));
    assert_eq!(key.sign(SignaturePadding::Pkcs1 { hash: Hash::Sha512 }, b""), Err(no_room.clone()));
    assert_eq!(key.public_key().encrypt(&EncryptionPadding::oaep(Hash::Sha512), b""), Err(no_room));
    assert_eq!(key.public_key().verify(pss(None), b"", &[0; 64]), Err(Error::Verification));
    assert_eq!(key.public_key().verify(pss(Some(usize::MAX)), b"", &[0; 64]), Err(Error::Verification));
}

#[test]
fn both_methods_and_thread_counts_give_the_same() {
    let mut key = generate(1024, 1);
    let padding = SignaturePadding::Pkcs1 { hash: Hash::Sha256 };
    let expected = key.sign(padding, b"message").unwrap();
    for method in [None, Some(Method::Word), Some(Method::Fft)] {
        for parallel in [false, true] {
            key.set_execution(Execution { method, parallel }).unwrap();
            assert_eq!(key.method(), method.unwrap_or(Method::fastest(512)));
            assert_eq!(key.sign(padding, b"message").unwrap(), expected);
        }
    }
}

#[test]
fn generated_keys_have_their_size_and_repeat_with_the_seed() {
    for bits in [512, 576, 1024, 2048] {
        let options = KeygenOptions { bits, research: true, entropy: Entropy::Insecure(9), parallel: false };
        let (key, again) = (PrivateKey::generate(&options, &Control::default()).unwrap(), generate(bits, 9));
        assert_eq!((key.public_key().bits(), key.is_insecure()), (bits, true));
        assert_eq!(key.public_key(), again.public_key());
        assert_eq!(key.public_key().exponent(), &Natural::from(65537u64));
        key.check_primes().unwrap();
    }
    assert_ne!(generate(512, 9).public_key(), generate(512, 10).public_key());
    let secure =
        PrivateKey::generate(&KeygenOptions { bits: 2048, ..Default::default() }, &Control::default()).unwrap();
    assert!(!secure.is_insecure() && secure.public_key() != KEY.public_key());
}

#[test]
fn sizes_that_are_not_offered_are_refused() {
    for (bits, research) in
        [(1024, false), (2047, false), (2049, false), (16_448, true), (448, true), (0, true), (usize::MAX, true)]
    {
        let options = KeygenOptions { bits, research, ..Default::default() };
        let error = PrivateKey::generate(&options, &Control::default()).unwrap_err();
        let least = if research { RESEARCH_MIN_BITS } else { MIN_BITS };
        assert_eq!(error, Error::KeySize { bits, least, most: MAX_BITS });
    }
}

#[test]
fn generation_reports_progress_and_can_be_stopped() {
    let (last, cancel) = (AtomicU64::new(0), AtomicBool::new(false));
    let progress = |Progress { done, total, .. }: Progress| {
        assert!(done <= total);
        last.fetch_max(done, Ordering::Relaxed);
        cancel.store(done >= 3, Ordering::Relaxed);
    };
    let options = KeygenOptions { bits: 16_384, parallel: true, ..Default::default() };
    let control = Control { progress: Some(&progress), cancel: Some(&cancel) };
    assert_eq!(PrivateKey::generate(&options, &control).unwrap_err(), Error::Cancelled(Cancelled));
    assert!((3..=5).contains(&last.into_inner()));
}

#[test]
fn keys_are_checked_before_use() {
    let new = |n: Natural, e: u64, research| PublicKey::new(n, e.into(), research).map(drop);
    let n = || KEY.public_key().modulus().clone();
    let low = Natural::power_of_two(1023);
    assert_eq!(new(&low + &Natural::one(), 65537, false), Err(Error::KeyTooShort { bits: 1024, least: 2048 }));
    assert_eq!(new(&low + &Natural::one(), 65537, true), Ok(()));
    assert_eq!(new(low, 65537, true), Err(Error::EvenModulus));
    assert_eq!(new(Natural::ZERO, 65537, true), Err(Error::KeyTooShort { bits: 0, least: 512 }));
    let long = Natural::power_of_two(16_384);
    assert_eq!(new(long, 65537, true), Err(Error::KeyTooLong { bits: 16_385, most: 16_384 }));
    for e in [0, 1, 2, 65536] {
        assert!(matches!(new(n(), e, true), Err(Error::Exponent { .. })), "{e}");
    }
    assert!(matches!(new(n(), 3, false), Err(Error::Exponent { .. })));
    assert_eq!(new(n(), 3, true), Ok(()));
    let long = &Natural::power_of_two(256) + &Natural::one();
    assert!(matches!(PublicKey::new(n(), long, true), Err(Error::Exponent { .. })));
}

#[test]
fn parts_of_a_private_key_must_belong_together() {
    let parts = || {
        let parts = SMALL.parts();
        let copy = |part: &Natural| zeroize::Zeroizing::new(part.clone());
        let [d, p, q, dp, dq, qinv] =
            [&parts.d, &parts.p, &parts.q, &parts.dp, &parts.dq, &parts.qinv].map(|part| copy(part));
        private::Parts { d, p, q, dp, dq, qinv }
    };
    let public = SMALL.public_key();
    let from = |parts| PrivateKey::from_parts(public.modulus().clone(), public.exponent().clone(), parts, true);
    assert_eq!(from(parts()).unwrap().public_key(), public);
    let two = Natural::from(2u64);
    let fails = |change: &dyn Fn(&mut private::Parts)| {
        let mut parts = parts();
        change(&mut parts);
        match from(parts).unwrap_err() {
            Error::Inconsistent { part } => part,
            other => panic!("{other}"),
        }
    };
    assert_eq!(fails(&|parts| *parts.d += &two), "exponent d");
    assert_eq!(fails(&|parts| *parts.d = Natural::power_of_two(5000)), "length");
    assert_eq!(fails(&|parts| *parts.p += &two), "modulus");
    assert_eq!(fails(&|parts| *parts.q = Natural::ZERO), "modulus");
    assert_eq!(fails(&|parts| *parts.dp += &two), "exponent d mod (p - 1)");
    assert_eq!(fails(&|parts| *parts.dq = Natural::ZERO), "exponent d mod (q - 1)");
    assert_eq!(fails(&|parts| *parts.qinv += &two), "coefficient (inverse of q modulo p)");
    let swap = |parts: &mut private::Parts| std::mem::swap(&mut parts.p, &mut parts.q);
    assert!(fails(&swap).starts_with("exponent d mod"));
    let trivial = |parts: &mut private::Parts| {
        *parts.p = public.modulus().clone();
        *parts.q = Natural::one();
    };
    assert_eq!(fails(&trivial), "prime q");

    let (p, q) = (parts().p, parts().q);
    let primes = |p: &Natural, q: &Natural, e: u64| PrivateKey::from_primes(p.clone(), q.clone(), e.into(), true);
    assert_eq!(primes(&q, &p, 65537).unwrap().public_key(), public);
    assert!(matches!(primes(&p, &p, 65537), Err(Error::Inconsistent { .. } | Error::Arithmetic(_))));
    assert!(matches!(primes(&p, &Natural::one(), 65537), Err(Error::Inconsistent { .. })));
    let composite = &*p + &two;
    let key = primes(&composite, &q, 65537).unwrap();
    assert_eq!(key.check_primes(), Err(Error::NotPrime { part: "prime p" }));
}

#[test]
fn primes_that_are_close_or_of_different_lengths_are_told() {
    let power = |bits: &[usize], last: u64| {
        bits.iter().fold(Natural::from(last), |sum, &bit| &sum + &Natural::power_of_two(bit))
    };
    let weak = |p: &Natural, q: &Natural| {
        let key = PrivateKey::from_primes(p.clone(), q.clone(), 65537u64.into(), true).unwrap();
        key.check_primes().unwrap();
        key.weak_primes()
    };
    let (p, next) = (power(&[512, 511], 389), power(&[512, 511], 563));
    assert!(weak(&p, &next).unwrap().contains("close"));
    assert!(weak(&next, &power(&[500], 55)).unwrap().contains("length"));
    assert_eq!(weak(&p, &power(&[512, 420], 179)), None);
    assert_eq!(SMALL.weak_primes(), None);
}

#[test]
fn a_wrong_private_result_never_leaves() {
    // The numbers of a key with a composite q pass their checks; the result of a private operation does not.
    let p = SMALL.parts().p.clone();
    let q = (0u64..).find_map(|i| {
        let q = &Natural::power_of_two(511) + &Natural::from(2 * i + 1);
        let key = PrivateKey::from_primes((*p).clone(), q, 65537u64.into(), true).ok()?;
        (key.check_primes() == Err(Error::NotPrime { part: "prime q" })).then_some(key)
    });
    let key = q.unwrap();
    let padding = SignaturePadding::Pkcs1 { hash: Hash::Sha256 };
    assert_eq!(key.sign(padding, b"message"), Err(Error::Fault));
    let ciphertext = key.public_key().encrypt(&EncryptionPadding::Pkcs1, b"message").unwrap();
    assert_eq!(key.decrypt(&EncryptionPadding::Pkcs1, &ciphertext).unwrap_err(), Error::Fault);
}

#[test]
fn keys_survive_every_format() {
    let key = &*KEY;
    for format in [PrivateFormat::Pkcs8, PrivateFormat::Pkcs1] {
        let (pem, der) = (key.to_pem(format).unwrap(), key.to_der(format).unwrap());
        for bytes in [pem.as_bytes(), &der, format!("text before\n{}text after", *pem).as_bytes()] {
            let again = PrivateKey::read(bytes, false).unwrap();
            assert_eq!(again.public_key(), key.public_key());
            assert_eq!(*again.to_der(format).unwrap(), *der);
        }
        // DER cannot express the mark.
        assert!(PrivateKey::read(pem.as_bytes(), false).unwrap().is_insecure());
        assert!(!PrivateKey::read(&der, false).unwrap().is_insecure());
        assert_eq!(PublicKey::read(pem.as_bytes(), false), Err(Error::PrivateKeyGiven));
        assert_eq!(PublicKey::read(&der, false), Err(Error::PrivateKeyGiven));
        for end in 0..der.len() {
            assert!(PrivateKey::read(&der[..end], false).is_err());
        }
    }
    for format in [PublicFormat::Spki, PublicFormat::Pkcs1] {
        let (pem, der) = (key.public_key().to_pem(format).unwrap(), key.public_key().to_der(format).unwrap());
        for bytes in [pem.as_bytes(), &der] {
            assert_eq!(PublicKey::read(bytes, false).unwrap(), *key.public_key());
            assert!(PrivateKey::read(bytes, false).is_err());
        }
        for end in 0..der.len() {
            assert!(PublicKey::read(&der[..end], false).is_err());
        }
    }
}

#[test]
fn errors_of_malformed_keys_name_the_problem() {
    let message = |bytes: &[u8]| PrivateKey::read(bytes, false).unwrap_err().to_string();
    assert!(message(b"").contains("-----BEGIN"));
    assert!(message(b"\xff\xfe").contains("neither DER nor text"));
    assert!(message(b"-----BEGIN PRIVATE KEY-----\n").contains("-----END"));
    assert!(message(b"-----BEGIN PRIVATE KEY-----\n!!\n-----END PRIVATE KEY-----\n").contains("PEM does not parse"));
    assert!(message(b"-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n").contains("DER does not parse"));
    assert!(
        message(b"-----BEGIN EC PRIVATE KEY-----\nMAA=\n-----END EC PRIVATE KEY-----\n").contains("EC PRIVATE KEY")
    );
    let encrypted = b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n";
    assert!(message(encrypted).contains("give the passphrase"));
    assert!(PrivateKey::read_encrypted(encrypted, b"x", false).unwrap_err().to_string().contains("openssl pkey"));
    let pem = KEY.public_key().to_pem(PublicFormat::Spki).unwrap();
    assert!(message(pem.as_bytes()).contains("it is a public key"));
    let small = SMALL.to_pem(PrivateFormat::Pkcs8).unwrap();
    assert_eq!(PrivateKey::read(small.as_bytes(), false).unwrap_err(), Error::KeyTooShort { bits: 1024, least: 2048 });
    assert!(PrivateKey::read(small.as_bytes(), true).is_ok());
}

#[test]
fn a_passphrase_decrypts_the_key_that_it_encrypted() {
    let key = &*SMALL;
    let (pem, der) = (key.to_encrypted_pem(b"pass phrase").unwrap(), key.to_encrypted_der(b"pass phrase").unwrap());
    for bytes in [pem.as_bytes(), &der] {
        assert_eq!(PrivateKey::read(bytes, true).unwrap_err(), Error::Encrypted);
        assert_eq!(PublicKey::read(bytes, true).unwrap_err(), Error::PrivateKeyGiven);
        assert_eq!(PrivateKey::read_encrypted(bytes, b"pass phrase\n", true).unwrap_err(), Error::Passphrase);
        let again = PrivateKey::read_encrypted(bytes, b"pass phrase", true).unwrap();
        assert_eq!(*again.to_der(PrivateFormat::Pkcs1).unwrap(), *key.to_der(PrivateFormat::Pkcs1).unwrap());
    }
    assert!(PrivateKey::read_encrypted(pem.as_bytes(), b"pass phrase", true).unwrap().is_insecure());
    assert_ne!(key.to_encrypted_der(b"pass phrase").unwrap(), der);
    // A passphrase is given for a key that is not encrypted.
    assert!(PrivateKey::read_encrypted(&key.to_der(PrivateFormat::Pkcs8).unwrap(), b"x", true).is_ok());
    for end in 0..der.len() {
        assert!(PrivateKey::read_encrypted(&der[..end], b"pass phrase", true).is_err());
    }
}

fn restricted(parameters: Option<PssParameters>) -> PrivateKey {
    let mut key = generate(2048, 2);
    key.set_use(KeyUse::Pss(parameters));
    key
}

#[test]
fn errors_of_a_restricted_key_name_the_request_and_the_allowed_uses() {
    let key = restricted(Some(PssParameters { hash: Hash::Sha384, mgf: Hash::Sha256, salt: 40 }));
    let asked = |padding| key.sign(padding, b"message").unwrap_err().to_string();
    let pss = asked(SignaturePadding::Pss { hash: Hash::Sha512, mgf: None, salt: Some(7) });
    assert!(pss.contains("not for PSS signatures with SHA-512, masks by SHA-512 and 7 bytes of salt"), "{pss}");
    let pkcs1 = asked(SignaturePadding::Pkcs1 { hash: Hash::Sha256 });
    assert!(pkcs1.contains("not for PKCS#1 v1.5 signatures with SHA-256"), "{pkcs1}");
    for message in [pss, pkcs1] {
        assert!(
            message.contains("for PSS signatures with SHA-384, masks by SHA-256 and at least 40 bytes"),
            "{message}"
        );
    }
}

#[test]
fn keys_for_pss_alone_do_nothing_else() {
    let own = PssParameters { hash: Hash::Sha384, mgf: Hash::Sha256, salt: 40 };
    let pss = |hash, mgf, salt| SignaturePadding::Pss { hash, mgf: Some(mgf), salt };
    for key in [restricted(None), restricted(Some(own))] {
        let (padding, free) =
            (key.public_key().key_use().signature_padding(), key.public_key().key_use() == KeyUse::Pss(None));
        let signature = key.sign(padding, b"message").unwrap();
        key.public_key().verify(padding, b"message", &signature).unwrap();
        for (padding, allowed) in [
            (pss(Hash::Sha384, Hash::Sha256, Some(40)), true),
            (pss(Hash::Sha384, Hash::Sha256, Some(41)), true),
            (pss(Hash::Sha384, Hash::Sha256, Some(39)), free),
            (pss(Hash::Sha384, Hash::Sha384, None), free),
            (pss(Hash::Sha256, Hash::Sha256, None), free),
            (SignaturePadding::Pkcs1 { hash: Hash::Sha384 }, false),
        ] {
            let signature = KEY.sign(padding, b"message").unwrap();
            let signed = key.sign(padding, b"message").map(drop);
            let verified = key.public_key().verify(padding, b"message", &signature);
            assert_eq!((signed.is_ok(), verified.is_ok()), (allowed, allowed), "{padding:?}");
            assert!(allowed || matches!((signed, verified), (Err(Error::KeyUse { .. }), Err(Error::KeyUse { .. }))));
        }
        // Verification also finds a salt that is shorter than the key demands.
        let short = KEY.sign(pss(Hash::Sha384, Hash::Sha256, Some(39)), b"message").unwrap();
        assert_eq!(key.public_key().verify(pss(Hash::Sha384, Hash::Sha256, None), b"message", &short).is_ok(), free);
        let refused = |result: Result<Vec<u8>>| assert!(matches!(result, Err(Error::KeyUse { .. })));
        for padding in paddings() {
            refused(key.public_key().encrypt(&padding, b"message"));
            refused(key.decrypt(&padding, &[0; 256]).map(|message| message.to_vec()));
        }
        refused(key.to_der(PrivateFormat::Pkcs1).map(|der| der.to_vec()));
        refused(key.public_key().to_der(PublicFormat::Pkcs1));
        let der = key.to_der(PrivateFormat::Pkcs8).unwrap();
        assert_eq!(PrivateKey::read(&der, false).unwrap().public_key(), key.public_key());
        let der = key.public_key().to_der(PublicFormat::Spki).unwrap();
        assert_eq!(PublicKey::read(&der, false).unwrap(), *key.public_key());
    }
}

#[test]
fn sha1_signs_nothing() {
    let padding = SignaturePadding::Pkcs1 { hash: Hash::Sha1 };
    assert_eq!(KEY.sign(padding, b"message"), Err(Error::WeakHash { hash: Hash::Sha1 }));
    assert_eq!(KEY.public_key().verify(padding, b"", &[0; 256]), Err(Error::WeakHash { hash: Hash::Sha1 }));
}

#[test]
fn debug_output_shows_nothing_secret() {
    let text = format!("{:?}", *SMALL);
    let parts = SMALL.parts();
    for secret in [&parts.d, &parts.p, &parts.q, &parts.dp, &parts.dq, &parts.qinv] {
        assert!(!text.contains(&format!("{:x}", secret.words()[0])));
    }
    assert!(text.contains("modulus"));
}

#[test]
fn strength_follows_the_table_and_names_the_quantum_computer() {
    for (bits, classical) in
        [(512, 0.0), (1024, 80.0), (2048, 112.0), (3072, 128.0), (4096, 128.0), (8192, 192.0), (15_360, 256.0)]
    {
        let claim = security(bits);
        assert_eq!((claim.classical_bits, claim.quantum_bits), (classical, 0.0));
        match claim.status {
            Status::Compatibility { why } => assert!(bits >= 2048 && why.contains("quantum")),
            Status::ResearchOnly { why } => assert!(bits < 2048 && why.contains("factoring")),
            other => panic!("{bits}: {other:?}"),
        }
    }
}
