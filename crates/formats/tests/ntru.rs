//! Files of NTRU keys.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::LazyLock;

use solinas_formats::{Error, Expect, Header, KeyId, Kind, Reader, Result, SECRET_MAGIC, Writer, ntru};
use solinas_schemes::ntru::{
    BootstrapKey, ClientKey, Params, ParamsLiteral, PublicKey, Rotation, RotationKey, ServerKey, generate_insecure,
};

type Keys = (ClientKey, ServerKey, Option<BootstrapKey>);

fn keys(params: &Params) -> Keys {
    let (client, server) = generate_insecure(params, true, 1).unwrap();
    let progress = |_, _| core::ops::ControlFlow::Continue(());
    let bootstrap = params.bootstrapping().map(|_| client.bootstrap_key(&progress).unwrap());
    (client, server, bootstrap)
}

static KEYS: LazyLock<Keys> = LazyLock::new(|| keys(&Params::named("tight-16-2").unwrap()));

/// Rings are reduced on the way down.
fn reduced() -> Params {
    let literal = Params::named("tight-256-3").unwrap().literal().clone();
    let open = ParamsLiteral { first_bits: None, bits: None, top_bits: None, ..literal };
    Params::try_from(ParamsLiteral { name: "mine".into(), floor: Some(1.3), ..open }).unwrap()
}

fn client_file(key: &ClientKey) -> Vec<u8> {
    let mut writer = Writer::in_memory(ntru::client_header(key).unwrap());
    ntru::write_client(&mut writer, key).unwrap();
    writer.into_bytes().unwrap().to_vec()
}

fn server_file(key: &ServerKey, bootstrap: Option<&BootstrapKey>) -> Vec<u8> {
    let mut writer = Writer::in_memory(ntru::server_header(key).unwrap());
    ntru::write_server(&mut writer, key, bootstrap, None).unwrap();
    writer.into_bytes().unwrap().to_vec()
}

fn rotating_file(key: &ServerKey, rotations: &RotationKey) -> Vec<u8> {
    let mut writer = Writer::in_memory(ntru::server_header(key).unwrap());
    ntru::write_server(&mut writer, key, None, Some(rotations)).unwrap();
    writer.into_bytes().unwrap().to_vec()
}

fn public_file(key: &PublicKey) -> Vec<u8> {
    let mut writer = Writer::in_memory(ntru::public_header(key).unwrap());
    ntru::write_public(&mut writer, key).unwrap();
    writer.into_bytes().unwrap().to_vec()
}

fn open(bytes: &[u8]) -> Result<Reader> {
    Reader::from_bytes("x", bytes, Expect::any())
}

fn read_any(bytes: &[u8]) -> Result<()> {
    let reader = open(bytes)?;
    match reader.kind() {
        Kind::ClientKey => ntru::read_client(&reader).map(drop),
        Kind::ServerKey => ntru::read_server(&reader).map(drop),
        _ => ntru::read_public(&reader).map(drop),
    }
}

#[test]
fn keys_are_read_back_as_they_were_written() {
    let named = ["tight-16-2", "slots-128-2", "boot-64"].map(|name| Params::named(name).unwrap());
    assert!(reduced().dimension_at(1) < 256);
    for params in named.into_iter().chain([reduced()]) {
        let (client, server, bootstrap) = keys(&params);
        let (client_bytes, server_bytes) = (client_file(&client), server_file(&server, bootstrap.as_ref()));
        let read = ntru::read_client(&open(&client_bytes).unwrap()).unwrap();
        assert_eq!(client_file(&read), client_bytes);
        let (read, again, rotations) = ntru::read_server(&open(&server_bytes).unwrap()).unwrap();
        assert!(
            read == server && again == bootstrap && rotations.is_none() && read.public().is_insecure(),
            "{}",
            params.name()
        );
        for bytes in [&client_bytes, &server_bytes, &public_file(client.public())] {
            let reader = open(bytes).unwrap();
            assert!(ntru::read_public(&reader).unwrap() == *client.public());
            assert_eq!((reader.key_id().unwrap().0, ntru::params(&reader).unwrap()), (server.id().0, params.clone()));
        }
        let stored = ntru::stored_server_bytes(&params);
        assert!((stored..stored + stored / 50 + 4096).contains(&server_bytes.len()), "{}", params.name());
        assert!(client_bytes.starts_with(&SECRET_MAGIC) && !server_bytes.starts_with(&SECRET_MAGIC));
    }
}

#[test]
fn rotation_keys_are_read_back_and_every_word_is_checked() {
    let params = Params::named("slots-128-1").unwrap();
    let (client, server, _) = keys(&params);
    let all = Rotation::all(&params);
    assert_eq!(all.len(), 7);
    let key = client.rotation_key(&all, true, &|_, _| core::ops::ControlFlow::Continue(())).unwrap();
    let words: Vec<usize> = key.polynomials().map(|poly| poly.words().len()).collect();
    assert_eq!(words, RotationKey::sizes(&params).unwrap().repeat(all.len()));
    let bytes = rotating_file(&server, &key);
    let (read, _, rotations) = ntru::read_server(&open(&bytes).unwrap()).unwrap();
    let rotations = rotations.unwrap();
    assert!(read == server && rotations.rotations().eq(all) && rotations.polynomials().eq(key.polynomials()));
    let reader = open(&bytes).unwrap();
    let changed = |alter: &dyn Fn(&mut Vec<u8>)| {
        let mut parts: Vec<(&str, Vec<u8>)> =
            reader.sections().map(|(name, _)| (name, reader.section(name).unwrap().to_vec())).collect();
        parts.iter_mut().filter(|(name, _)| *name == "rotations").for_each(|(_, bytes)| alter(bytes));
        read_any(&forged(Kind::ServerKey, params.literal(), ntru::SCHEME, server.id().0, &parts))
    };
    changed(&|_| ()).unwrap();
    let size = 8 * words.iter().sum::<usize>();
    let refused = |alter: &dyn Fn(&mut Vec<u8>)| {
        let error = changed(alter).unwrap_err().to_string();
        assert!(error.contains("section rotations"), "{error}");
    };
    refused(&|bytes| bytes[..8].fill(0xff));
    refused(&|bytes| bytes[size - 8..].fill(0xff));
    refused(&|bytes| bytes.truncate(size - 8));
    refused(&Vec::clear);
    refused(&|bytes| bytes.extend([0; 8]));
    // Of bits there are none.
    let bits = &KEYS.1;
    let mut writer = Writer::in_memory(ntru::server_header(bits).unwrap());
    ntru::write_server(&mut writer, bits, None, Some(&key)).unwrap();
    let error = read_any(&writer.into_bytes().unwrap()).unwrap_err().to_string();
    assert!(error.contains("section rotations") && error.contains("no slots"), "{error}");
}

#[test]
fn flipped_bits_and_cut_files_are_refused() {
    let (client, server, _) = &*KEYS;
    for bytes in [client_file(client), server_file(server, None), public_file(client.public())] {
        read_any(&bytes).unwrap();
        for at in (0..bytes.len()).step_by(7).chain([bytes.len() - 1]) {
            let mut altered = bytes.clone();
            altered[at] ^= 1 << (at % 8);
            assert!(read_any(&altered).is_err(), "byte {at}");
            assert!(read_any(&bytes[..at]).is_err(), "cut at {at}");
        }
    }
}

/// A file of which all checksums are right.
fn forged(kind: Kind, literal: &ParamsLiteral, scheme: &str, id: [u8; 32], sections: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let header = Header::new(kind).scheme(scheme).key_id(KeyId(id)).insecure_seed(true).params(literal).unwrap();
    let mut writer = Writer::in_memory(header);
    for (name, bytes) in sections {
        writer.section(name, bytes).unwrap();
    }
    writer.into_bytes().unwrap().to_vec()
}

#[test]
fn what_no_key_can_be_is_refused_by_name() {
    let (client, server, _) = &*KEYS;
    let (literal, id) = (server.params().literal().clone(), server.id().0);
    let sections = |bytes: &[u8]| -> Vec<(String, Vec<u8>)> {
        let reader = open(bytes).unwrap();
        reader.sections().map(|(name, _)| (name.to_owned(), reader.section(name).unwrap().to_vec())).collect()
    };
    let of = |kind: Kind| match kind {
        Kind::ClientKey => sections(&client_file(client)),
        _ => sections(&server_file(server, None)),
    };
    let change = |kind: Kind, name: &str, alter: &dyn Fn(&mut Vec<u8>)| {
        let mut parts = of(kind);
        parts.iter_mut().filter(|part| part.0 == name).for_each(|part| alter(&mut part.1));
        let parts: Vec<(&str, Vec<u8>)> = parts.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
        forged(kind, &literal, ntru::SCHEME, id, &parts)
    };
    let refused = |file: Vec<u8>, word: &str| {
        let error = read_any(&file).unwrap_err();
        assert!(error.to_string().contains(word), "{word}: {error}");
    };
    for kind in [Kind::ClientKey, Kind::ServerKey] {
        read_any(&change(kind, "", &|_| ())).unwrap();
        refused(change(kind, "h", &|h| h[0] ^= 1), "key_id");
        refused(change(kind, "h", &|h| h.fill(0xff)), "section h");
        refused(change(kind, "h", &|h| h.truncate(8)), "section h");
    }
    refused(change(Kind::ServerKey, "hints", &|hints| hints.fill(0xff)), "section hints");
    refused(change(Kind::ServerKey, "hints", &|hints| hints.extend([0; 8])), "section hints");
    for far in [i32::MIN, i32::MAX, 1 << 20, 3] {
        let alter = |keys: &mut Vec<u8>| keys[4..8].copy_from_slice(&far.to_le_bytes());
        refused(change(Kind::ClientKey, "keys", &alter), "section keys");
    }
    refused(change(Kind::ClientKey, "wide", &|wide| wide.extend([0; 4])), "section wide");
    let good = |literal: &ParamsLiteral, scheme: &str, id| {
        let parts = of(Kind::ServerKey);
        let parts: Vec<(&str, Vec<u8>)> = parts.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
        forged(Kind::ServerKey, literal, scheme, id, &parts)
    };
    refused(good(&literal, ntru::SCHEME, [7; 32]), "key_id");
    refused(good(&literal, "tfhe", id), "scheme tfhe");
    let with = |alter: &dyn Fn(&mut ParamsLiteral)| {
        let mut other = literal.clone();
        alter(&mut other);
        good(&other, ntru::SCHEME, id)
    };
    refused(with(&|l| l.terms = 3), "params");
    refused(with(&|l| l.bits = None), "open");
    refused(with(&|l| (l.name, l.dimension) = ("mine".into(), usize::MAX)), "dimension");
    refused(with(&|l| (l.name, l.depth) = ("mine".into(), usize::MAX)), "depth");
    refused(with(&|l| l.name = "mine".into()), "key_id");
    // A bootstrapping key that is missing, or cut.
    let (_, server, bootstrap) = keys(&Params::named("boot-64").unwrap());
    let header = || ntru::server_header(&server).unwrap();
    let mut writer = Writer::in_memory(header());
    ntru::write_server(&mut writer, &server, None, None).unwrap();
    refused(writer.into_bytes().unwrap().to_vec(), "bootstrap");
    let parts = sections(&server_file(&server, bootstrap.as_ref()));
    let mut writer = Writer::in_memory(header());
    for (name, bytes) in &parts {
        let len = if name == "bootstrap" { bytes.len() - 512 } else { bytes.len() };
        writer.section(name, &bytes[..len]).unwrap();
    }
    refused(writer.into_bytes().unwrap().to_vec(), "section bootstrap");
    let error = Reader::from_bytes("x", client_file(client), Expect::kind(Kind::ServerKey)).unwrap_err();
    assert!(matches!(error, Error::WrongKind { .. }), "{error}");
}
