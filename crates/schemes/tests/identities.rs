//! Every word of the data that a reader takes because they carry an identity, beside files of keys: an altered word is refused, changes the identity or the
//! fingerprint, or is left out with a reason. Hashes against damage are made anew after each change, as a forger would.
use std::path::PathBuf;

use solinas_rsa::{KeygenOptions, PrivateFormat, PrivateKey, PublicFormat, PublicKey};
use solinas_schemes::lwe::pir::{Answer, Builder, Client, Hint, Layout, Query};
use solinas_schemes::lwe::{self, KeyFile};
use solinas_schemes::{Control, Entropy};

type Read = Box<dyn Fn(&[u8]) -> Option<String>>;

/// Data with an identity.
struct Bound {
    name: &'static str,
    bytes: Vec<u8>,
    /// The identity, with the fingerprint if there is one. `None` for data that are refused.
    read: Read,
    /// Makes the hashes against damage anew.
    seal: fn(&mut [u8]),
    /// The first of the bytes that the identity does not bind, and why.
    free: Option<(usize, &'static str)>,
}

/// Makes the hash at the end of a hint, a query or an answer.
fn seal_message(bytes: &mut [u8]) {
    let end = bytes.len() - 32;
    let hash = blake3::hash(&bytes[..end]);
    bytes[end..].copy_from_slice(hash.as_bytes());
}

fn messages() -> [Bound; 3] {
    let mut builder = Builder::new(Layout::from_parts(10, 2, 2).unwrap()).unwrap();
    builder.push(&[7; 20]).unwrap();
    let database = builder.finish().unwrap();
    let hint = database.hint(&Control::default()).unwrap();
    let (query, _) = Client::new(hint.clone()).query(3).unwrap();
    let answer = database.answer(&query).unwrap();
    let of_hint = |bytes: &[u8]| {
        let hint = Hint::from_bytes(bytes).ok()?;
        Some(format!("{} {}", hint.id(), hint.fingerprint()))
    };
    let of_query = |bytes: &[u8]| {
        let query = Query::from_bytes(bytes).ok()?;
        Some(format!("{} {:?}", query.database(), query.number()))
    };
    let of_answer = |bytes: &[u8]| {
        let answer = Answer::from_bytes(bytes).ok()?;
        Some(format!("{} {:?}", answer.database(), answer.number()))
    };
    // Magic, identity and number come before the words.
    let words = 8 + 32 + 16;
    [
        Bound { name: "hint", bytes: hint.to_bytes(), read: Box::new(of_hint), seal: seal_message, free: None },
        Bound {
            name: "query",
            bytes: query.to_bytes(),
            read: Box::new(of_query),
            seal: seal_message,
            free: Some((words, "whoever asks may ask anything")),
        },
        Bound {
            name: "answer",
            bytes: answer.to_bytes(),
            read: Box::new(of_answer),
            seal: seal_message,
            free: Some((words, "a server may give wrong records, as the page on security says")),
        },
    ]
}

/// Makes the hash of the only piece of a matrix, and the seal.
fn seal_matrix(bytes: &mut [u8]) {
    let table = bytes.len() - 64;
    let piece = blake3::hash(&bytes[4096..table]);
    bytes[table..table + 32].copy_from_slice(piece.as_bytes());
    let mut seal = blake3::Hasher::new_derive_key("solinas 2026 lwe matrix file");
    seal.update(&bytes[..4096]).update(piece.as_bytes());
    bytes[table + 32..].copy_from_slice(seal.finalize().as_bytes());
}

fn matrix(path: PathBuf) -> Bound {
    let params = lwe::Params::named("toy-8-1").unwrap();
    let client = lwe::ClientKey::generate(&params, true, Entropy::Insecure(1), &Control::default()).unwrap();
    let mut bytes = Vec::new();
    let out = |part: &[u8]| {
        bytes.extend_from_slice(part);
        Ok::<_, solinas_schemes::Error>(())
    };
    client.public().write(out, &Control::default()).unwrap();
    let read = move |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let file = KeyFile::open(&path).ok()?;
        file.verify().ok()?;
        Some(format!("{:?} {}", file.id(), file.fingerprint()))
    };
    Bound { name: "streamed matrix", bytes, read: Box::new(read), seal: seal_matrix, free: None }
}

fn rsa() -> [Bound; 3] {
    let options = KeygenOptions { bits: 512, research: true, entropy: Entropy::Insecure(1), parallel: false };
    let key = PrivateKey::generate(&options, &Control::default()).unwrap();
    let hex = |key: &PublicKey| format!("{:?}", key.fingerprint().unwrap());
    let of_private = move |bytes: &[u8]| Some(hex(PrivateKey::read(bytes, true).ok()?.public_key()));
    let of_public = move |bytes: &[u8]| Some(hex(&PublicKey::read(bytes, true).ok()?));
    let [pkcs8, pkcs1] =
        [PrivateFormat::Pkcs8, PrivateFormat::Pkcs1].map(|format| key.to_der(format).unwrap().to_vec());
    let public = key.public_key().to_der(PublicFormat::Spki).unwrap();
    let seal = |_: &mut [u8]| ();
    [
        Bound { name: "RSA private key", bytes: pkcs8, read: Box::new(of_private), seal, free: None },
        Bound { name: "RSA private key of PKCS #1", bytes: pkcs1, read: Box::new(of_private), seal, free: None },
        Bound { name: "RSA public key", bytes: public, read: Box::new(of_public), seal, free: None },
    ]
}

#[test]
fn no_word_can_be_changed_under_an_identity() {
    let path = std::env::temp_dir().join(format!("solinas-identities-{}", std::process::id()));
    for Bound { name, bytes, read, seal, free } in messages().into_iter().chain([matrix(path.clone())]).chain(rsa()) {
        let mut sealed = bytes.clone();
        seal(&mut sealed);
        assert!(sealed == bytes, "{name}: the test makes other hashes than the library");
        let identity = read(&bytes).unwrap();
        let places = bytes.len().div_ceil(800);
        for at in (0..bytes.len()).step_by(places) {
            let mut forged = bytes.clone();
            forged[at] ^= 1 << (at % 8);
            seal(&mut forged);
            if forged == bytes {
                continue; // A byte of a hash.
            }
            let found = read(&forged);
            match free {
                Some((first, why)) if at >= first => assert_eq!(found, Some(identity.clone()), "{name}: {why}"),
                _ => assert!(found.as_ref() != Some(&identity), "{name}: byte {at} of {} is not bound", bytes.len()),
            }
        }
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_forged_hint_is_refused_with_the_fix() {
    let [hint, ..] = messages();
    let owner = Hint::from_bytes(&hint.bytes).unwrap().fingerprint();
    assert!(Hint::from_trusted_bytes(&hint.bytes, owner).is_ok());
    let mut forged = hint.bytes.clone();
    forged[100] ^= 1;
    seal_message(&mut forged);
    let error = Hint::from_trusted_bytes(&forged, owner).unwrap_err().to_string();
    assert!(error.contains(&owner.to_string()) && error.contains("ask the owner of the database"), "{error}");
}
