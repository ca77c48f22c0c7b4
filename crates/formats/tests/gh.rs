//! Files of Gentry-Halevi keys.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use core::ops::ControlFlow;
use std::sync::LazyLock;

use solinas_formats::{Error, Expect, KeyId, Kind, Memory, Overwrite, Reader, Result, Writer, gh};
use solinas_schemes::gh::{ClientKey, Params, ParamsLiteral, PublicKey, ServerKey, Stage};

fn go(_: Stage, _: usize, _: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn keys(params: &Params, seed: u64) -> (ClientKey, ServerKey) {
    gh::keygen(params, true, Some(seed), None, &go).unwrap()
}

static KEYS: LazyLock<(ClientKey, ServerKey)> = LazyLock::new(|| keys(&Params::named("ci-3").unwrap(), 1));

fn client_file(key: &ClientKey) -> Vec<u8> {
    let mut writer = Writer::in_memory(gh::client_header(key).unwrap());
    gh::write_client(&mut writer, key).unwrap();
    writer.into_bytes().unwrap().to_vec()
}

fn server_file(key: &ServerKey) -> Vec<u8> {
    let mut writer = Writer::in_memory(gh::server_header(key).unwrap());
    gh::write_server(&mut writer, key).unwrap();
    writer.into_bytes().unwrap().to_vec()
}

fn public_file(key: &PublicKey) -> Vec<u8> {
    let mut writer = Writer::in_memory(gh::public_header(key).unwrap());
    gh::write_public(&mut writer, key).unwrap();
    writer.into_bytes().unwrap().to_vec()
}

fn open(bytes: &[u8]) -> Result<Reader> {
    Reader::from_bytes("x", bytes, Expect::any())
}

fn custom() -> Params {
    Params::try_from(ParamsLiteral { name: "mine".into(), ..Params::named("ci-7").unwrap().literal().clone() }).unwrap()
}

#[test]
fn keys_are_read_back_as_they_were_written() {
    for params in [Params::named("ci-3").unwrap(), Params::named("ci-15").unwrap(), custom()] {
        let (client, server) = keys(&params, 1);
        let (client_bytes, server_bytes) = (client_file(&client), server_file(&server));
        let read = gh::read_client(&open(&client_bytes).unwrap()).unwrap();
        assert_eq!((read.public(), read.w()), (client.public(), client.w()));
        assert_eq!(client_file(&read), client_bytes);
        let read = gh::read_server(&open(&server_bytes).unwrap()).unwrap();
        assert_eq!(read, server);
        assert!(read.public().is_insecure());
        assert_eq!(server_file(&read), server_bytes);
        for bytes in [&client_bytes, &server_bytes, &public_file(client.public())] {
            let reader = open(bytes).unwrap();
            assert_eq!(gh::read_public(&reader).unwrap(), *client.public());
            assert_eq!(reader.key_id().unwrap().0, server.id().0);
            assert_eq!(gh::params(&reader).unwrap(), params);
        }
        assert!(server_bytes.len() < gh::stored_server_bytes(&params) * 12 / 10 + 8192);
    }
}

#[test]
fn client_keys_are_secret_files_and_server_keys_are_not() {
    let (client, server) = &*KEYS;
    assert!(client_file(client).starts_with(&solinas_formats::SECRET_MAGIC));
    for bytes in [server_file(server), public_file(server.public())] {
        assert!(bytes.starts_with(&solinas_formats::PUBLIC_MAGIC));
        let w = client.w().to_le_bytes();
        assert!(!bytes.windows(32).any(|window| window == &w[..32]), "no trace of w");
    }
}

#[test]
fn a_mapped_server_key_is_used_where_it_lies_and_outlives_its_reader() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("server.key");
    let (client, server) = keys(&Params::named("toy").unwrap(), 2);
    let mut writer = Writer::create(&path, gh::server_header(&server).unwrap(), Overwrite::Never).unwrap();
    gh::write_server(&mut writer, &server).unwrap();
    writer.finish().unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() > 1 << 24);
    let read = {
        let reader = Reader::open(&path, Expect::kind(Kind::ServerKey)).unwrap();
        let (read, again) = (gh::read_server(&reader).unwrap(), gh::read_server(&reader).unwrap());
        // Both lie in the one map, at a multiple of 64 bytes.
        #[cfg(target_endian = "little")]
        {
            assert_eq!(read.indicators().as_ptr(), again.indicators().as_ptr());
            assert!(read.indicators().as_ptr().cast::<u8>().align_offset(64) == 0);
        }
        drop(again);
        read
    };
    assert_eq!(read, server);
    assert_eq!(*client.public(), *read.public());
    // Damage in the last chunk of the indicators is found, and named, before they are used; the public key is untouched by it.
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.len() - 10_000;
    bytes[at] ^= 4;
    let altered = dir.path().join("altered.key");
    std::fs::write(&altered, bytes).unwrap();
    let reader = Reader::open(&altered, Expect::kind(Kind::ServerKey)).unwrap();
    let error = gh::read_server(&reader).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }) && error.to_string().contains("indicators"), "{error}");
    assert_eq!(gh::read_public(&reader).unwrap(), *client.public());
}

fn read_any(bytes: &[u8]) -> Result<()> {
    let reader = open(bytes)?;
    match reader.kind() {
        Kind::ClientKey => gh::read_client(&reader).map(drop),
        Kind::ServerKey => gh::read_server(&reader).map(drop),
        _ => gh::read_public(&reader).map(drop),
    }
}

#[test]
fn flipped_bits_and_cut_files_are_refused() {
    let (client, server) = &*KEYS;
    for bytes in [client_file(client), server_file(server), public_file(client.public())] {
        read_any(&bytes).unwrap();
        for at in (0..bytes.len()).step_by(37).chain([bytes.len() - 1]) {
            let mut altered = bytes.clone();
            altered[at] ^= 1 << (at % 8);
            assert!(read_any(&altered).is_err(), "byte {at}");
            assert!(read_any(&bytes[..at]).is_err(), "cut at {at}");
        }
    }
}

/// A file with all checksums right, whose parts the caller alters first.
fn forged(
    kind: Kind,
    params: &impl serde::Serialize,
    scheme: &str,
    id: [u8; 32],
    sections: &[(&str, Vec<u64>)],
) -> Vec<u8> {
    let header = solinas_formats::Header::new(kind).scheme(scheme).key_id(KeyId(id)).insecure_seed(true);
    let mut writer: Writer<Memory> = Writer::in_memory(header.params(params).unwrap());
    for (name, words) in sections {
        writer.section_u64(name, words).unwrap();
    }
    writer.into_bytes().unwrap().to_vec()
}

#[test]
fn what_no_key_can_be_is_refused_by_name() {
    let (client, server) = &*KEYS;
    let params = Params::named("ci-3").unwrap();
    let (literal, id) = (params.literal().clone(), server.id().0);
    let d = server.public().d().words().to_vec();
    let r = server.public().r().words().to_vec();
    let good = || {
        vec![
            ("d", d.clone()),
            ("r", r.clone()),
            ("x", server.x().to_vec()),
            ("indicators", server.indicators().to_vec()),
        ]
    };
    let refused = |file: Vec<u8>, word: &str| {
        let error = read_any(&file).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    };
    let server_with = |sections: &[(&str, Vec<u64>)]| forged(Kind::ServerKey, &literal, gh::SCHEME, id, sections);
    read_any(&server_with(&good())).unwrap();

    let change = |i: usize, alter: &dyn Fn(&mut Vec<u64>)| {
        let mut sections = good();
        alter(&mut sections[i].1);
        server_with(&sections)
    };
    refused(change(0, &|d| d[0] ^= 1), "d is even");
    refused(change(0, &|d| d[0] ^= 2), "key_id");
    refused(change(0, &|d| d.push(0)), "section r");
    refused(change(0, &|d| d.resize(10_000, 1)), "parameters allow");
    refused(change(0, &|d| d.clear()), "section r");
    refused(change(1, &|r| r.fill(u64::MAX)), "r is not in 1..d");
    refused(change(1, &|r| r[0] ^= 2), "key_id");
    refused(change(2, &|x| x.truncate(5)), "section x");
    refused(change(2, &|x| x.fill(u64::MAX)), "not below d");
    refused(change(3, &|eta| eta.extend([0; 8])), "section indicators");
    refused(change(3, &|eta| eta.fill(u64::MAX)), "not below d");
    refused(server_with(&good()[..3]), "no section indicators");
    refused(forged(Kind::ServerKey, &literal, "tfhe", id, &good()), "scheme tfhe");
    refused(forged(Kind::ServerKey, &"ci-3", gh::SCHEME, id, &good()), "params");
    refused(forged(Kind::ServerKey, &literal, gh::SCHEME, [7; 32], &good()), "key_id");

    // Parameters: other than those of the name, or such as none may be.
    let with = |alter: &dyn Fn(&mut ParamsLiteral)| {
        let mut other = literal.clone();
        alter(&mut other);
        forged(Kind::ServerKey, &other, gh::SCHEME, id, &good())
    };
    refused(with(&|l| l.nonzeros = Some(3)), "differ from the parameter set");
    refused(with(&|l| (l.name, l.dimension) = ("mine".into(), usize::MAX)), "dimension");
    refused(with(&|l| (l.name, l.coefficient_bits) = ("mine".into(), 20)), "bits");
    refused(with(&|l| (l.name, l.dimension) = ("mine".into(), 128)), "bits, parameters");
    refused(with(&|l| l.name = "mine".into()), "key_id");

    // A w that is none.
    for w in [vec![0; d.len()], d.clone()] {
        refused(
            forged(Kind::ClientKey, &literal, gh::SCHEME, id, &[good()[0].clone(), good()[1].clone(), ("w", w)]),
            "w is",
        );
    }
    // Files of other kinds and schemes.
    let error = Reader::from_bytes("x", client_file(client), Expect::kind(Kind::ServerKey)).unwrap_err();
    assert!(matches!(error, Error::WrongKind { .. }), "{error}");
    assert!(matches!(
        solinas_formats::tfhe::params(&open(&server_file(server)).unwrap()),
        Err(Error::WrongScheme { .. })
    ));
}
