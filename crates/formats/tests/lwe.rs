//! Files of LWE keys, and of streamed matrices.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::LazyLock;

use solinas_formats::{Error, Expect, Header, KeyId, Kind, Reader, Result, SECRET_MAGIC, Writer, inspect, lwe};
use solinas_schemes::lwe::ParamsLiteral as FreshLiteral;
use solinas_schemes::lwe::leveled::{ClientKey, Params, ParamsLiteral, PublicKey, ServerKey, generate_insecure};

type Keys = (ClientKey, ServerKey);

fn keys(params: &Params) -> Keys {
    generate_insecure(params, true, 1).unwrap()
}

static KEYS: LazyLock<Keys> = LazyLock::new(|| keys(&Params::named("leveled-8-1").unwrap()));

/// Words of another width, more of them than levels.
fn custom() -> Params {
    let literal = Params::named("leveled-8-1").unwrap().literal().clone();
    let fresh = FreshLiteral { name: "mine".into(), words: 3, word_bits: 20, ..literal.fresh };
    Params::try_from(ParamsLiteral { fresh, ..literal }).unwrap()
}

fn client_file(key: &ClientKey) -> Vec<u8> {
    let mut writer = Writer::in_memory(lwe::client_header(key).unwrap());
    lwe::write_client(&mut writer, key).unwrap();
    writer.into_bytes().unwrap().to_vec()
}

fn server_file(key: &ServerKey) -> Vec<u8> {
    let mut writer = Writer::in_memory(lwe::server_header(key).unwrap());
    lwe::write_server(&mut writer, key).unwrap();
    writer.into_bytes().unwrap().to_vec()
}

fn public_file(key: &PublicKey) -> Vec<u8> {
    let mut writer = Writer::in_memory(lwe::public_header(key).unwrap());
    lwe::write_public(&mut writer, key).unwrap();
    writer.into_bytes().unwrap().to_vec()
}

fn open(bytes: &[u8]) -> Result<Reader> {
    Reader::from_bytes("x", bytes, Expect::any())
}

fn read_any(bytes: &[u8]) -> Result<()> {
    let reader = open(bytes)?;
    match reader.kind() {
        Kind::ClientKey => lwe::read_client(&reader).map(drop),
        Kind::ServerKey => lwe::read_server(&reader).map(drop),
        _ => lwe::read_public(&reader).map(drop),
    }
}

#[test]
fn keys_are_read_back_as_they_were_written() {
    let named = ["leveled-8-1", "leveled-16-2", "toy-64-2"].map(|name| Params::named(name).unwrap());
    for params in named.into_iter().chain([custom()]) {
        let (client, server) = keys(&params);
        let (client_bytes, server_bytes) = (client_file(&client), server_file(&server));
        assert_eq!(client_file(&lwe::read_client(&open(&client_bytes).unwrap()).unwrap()), client_bytes);
        let read = lwe::read_server(&open(&server_bytes).unwrap()).unwrap();
        assert_eq!(server_file(&read), server_bytes, "{}", params.name());
        assert!(read.public().is_insecure());
        for bytes in [&client_bytes, &server_bytes, &public_file(client.public())] {
            let reader = open(bytes).unwrap();
            assert!(lwe::read_public(&reader).unwrap() == *client.public());
            assert_eq!((reader.key_id().unwrap().0, lwe::params(&reader).unwrap()), (server.id().0, params.clone()));
        }
        let stored = lwe::stored_server_bytes(&params);
        assert!((stored..stored + stored / 50 + 4096).contains(&server_bytes.len()), "{}", params.name());
        assert!(client_bytes.starts_with(&SECRET_MAGIC) && !server_bytes.starts_with(&SECRET_MAGIC));
    }
}

#[test]
fn flipped_bits_and_cut_files_are_refused() {
    let (client, server) = &*KEYS;
    for bytes in [client_file(client), server_file(server), public_file(client.public())] {
        read_any(&bytes).unwrap();
        for at in (0..bytes.len()).step_by(3).chain([bytes.len() - 1]) {
            let mut altered = bytes.clone();
            altered[at] ^= 1 << (at % 8);
            assert!(read_any(&altered).is_err(), "byte {at}");
            assert!(read_any(&bytes[..at]).is_err(), "cut at {at}");
        }
    }
}

/// A file of which all checksums are right.
fn forged(kind: Kind, literal: &ParamsLiteral, scheme: &str, id: [u8; 32], sections: &[(String, Vec<u8>)]) -> Vec<u8> {
    let header = Header::new(kind).scheme(scheme).key_id(KeyId(id)).insecure_seed(true).params(literal).unwrap();
    let mut writer = Writer::in_memory(header);
    for (name, bytes) in sections {
        writer.section(name, bytes).unwrap();
    }
    writer.into_bytes().unwrap().to_vec()
}

#[test]
fn what_no_key_can_be_is_refused_by_name() {
    let (client, server) = &*KEYS;
    let (literal, id) = (server.params().literal().clone(), server.id().0);
    let of = |kind: Kind| -> Vec<(String, Vec<u8>)> {
        let bytes = if kind == Kind::ClientKey { client_file(client) } else { server_file(server) };
        let reader = open(&bytes).unwrap();
        reader.sections().map(|(name, _)| (name.to_owned(), reader.section(name).unwrap().to_vec())).collect()
    };
    let change = |kind: Kind, name: &str, alter: &dyn Fn(&mut Vec<u8>)| {
        let mut parts = of(kind);
        parts.iter_mut().filter(|part| part.0 == name).for_each(|part| alter(&mut part.1));
        forged(kind, &literal, lwe::SCHEME, id, &parts)
    };
    let refused = |file: Vec<u8>, word: &str| {
        let error = read_any(&file).unwrap_err();
        assert!(error.to_string().contains(word), "{word}: {error}");
    };
    for kind in [Kind::ClientKey, Kind::ServerKey] {
        read_any(&change(kind, "", &|_| ())).unwrap();
        refused(change(kind, "seed", &|seed| seed[0] ^= 1), "key_id");
        refused(change(kind, "seed", &|seed| seed.truncate(31)), "section seed");
        refused(change(kind, "b", &|b| b[0] ^= 1), "key_id");
        // Every word is below its modulus.
        for at in [0, 60, 124] {
            refused(change(kind, "b", &|b| b[at..at + 4].fill(0xff)), "section b");
        }
        refused(change(kind, "b", &|b| b.truncate(8)), "section b");
    }
    for at in [32, 800, 1800] {
        refused(change(Kind::ServerKey, "switch-1", &|key| key[at..at + 4].fill(0xff)), "section switch-1");
    }
    refused(change(Kind::ServerKey, "switch-1", &|key| key.extend([0; 4])), "section switch-1");
    refused(forged(Kind::ServerKey, &literal, lwe::SCHEME, id, &of(Kind::ServerKey)[..2]), "switch-1");
    for far in [i32::MIN, i32::MAX, 1 << 20, 100] {
        let alter = |secrets: &mut Vec<u8>| secrets[4..8].copy_from_slice(&far.to_le_bytes());
        refused(change(Kind::ClientKey, "secrets", &alter), "section secrets");
    }
    refused(change(Kind::ClientKey, "secrets", &|secrets| secrets.extend([0; 4])), "section secrets");
    let good =
        |literal: &ParamsLiteral, scheme: &str, id| forged(Kind::ServerKey, literal, scheme, id, &of(Kind::ServerKey));
    refused(good(&literal, lwe::SCHEME, [7; 32]), "key_id");
    refused(good(&literal, "tfhe", id), "scheme tfhe");
    let with = |alter: &dyn Fn(&mut ParamsLiteral)| {
        let mut other = literal.clone();
        alter(&mut other);
        good(&other, lwe::SCHEME, id)
    };
    refused(with(&|l| l.terms = 3), "params");
    let mine = |l: &mut ParamsLiteral| l.fresh.name = "mine".into();
    refused(
        with(&|l| {
            mine(l);
            l.fresh.dimension = usize::MAX;
        }),
        "dimension",
    );
    refused(
        with(&|l| {
            mine(l);
            l.fresh.samples = usize::MAX;
        }),
        "samples",
    );
    refused(
        with(&|l| {
            mine(l);
            l.depth = usize::MAX;
        }),
        "depth",
    );
    refused(
        with(&|l| {
            mine(l);
            l.fresh.words = 1;
        }),
        "words",
    );
    refused(
        with(&|l| {
            mine(l);
            l.fresh.sigma = f64::NAN;
        }),
        "standard deviation",
    );
    refused(
        with(&|l| {
            mine(l);
            l.terms = 2;
        }),
        "key_id",
    );
    let error = Reader::from_bytes("x", client_file(client), Expect::kind(Kind::ServerKey)).unwrap_err();
    assert!(matches!(error, Error::WrongKind { .. }), "{error}");
}

#[test]
fn streamed_matrices_are_inspected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("matrix");
    let public = KEYS.0.public().fresh();
    public.write(&path, |_, _| true).unwrap();
    let summary = inspect(&path).unwrap();
    assert!(summary.is_intact() && summary.kind == Kind::Cache && summary.key_id == Some(KeyId(public.id().0)));
    let text = summary.to_string();
    assert!(
        text.contains("scheme lwe") && text.contains("rows: 16") && text.contains("section matrix: 4096"),
        "{text}"
    );
    let bytes = std::fs::read(&path).unwrap();
    let mut altered = bytes.clone();
    altered[5000] ^= 1;
    std::fs::write(&path, &altered).unwrap();
    let summary = inspect(&path).unwrap();
    assert!(!summary.is_intact() && summary.to_string().contains("piece 0"), "{summary}");
    for (at, cut) in [(20, bytes.len()), (5, bytes.len()), (bytes.len() - 1, bytes.len()), (0, 4000)] {
        let mut altered = bytes[..cut].to_vec();
        if cut == bytes.len() {
            altered[at] ^= 1;
        }
        std::fs::write(&path, &altered).unwrap();
        let error = inspect(&path).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. } | Error::NotSolinas { .. }), "{error}");
    }
}
