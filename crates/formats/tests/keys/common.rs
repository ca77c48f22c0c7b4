//! Tests for the files of every scheme.

use core::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use solinas_formats::{
    Destination, Error, Expect, Header, KeyFiles, KeyId, Kind, PUBLIC_MAGIC, Reader, Result, SECRET_MAGIC, Writer,
};

pub(crate) fn file(header: Result<Header>, write: impl FnOnce(&mut Writer<dyn Destination>) -> Result<()>) -> Vec<u8> {
    let mut writer = Writer::in_memory(header.unwrap());
    write(&mut writer).unwrap();
    writer.into_bytes().unwrap().to_vec()
}

pub(crate) fn client_file<S: KeyFiles>(key: &S::ClientKey) -> Vec<u8> {
    file(S::client_header(key), |writer| S::write_client(writer, key))
}

pub(crate) fn server_file<S: KeyFiles>(key: &S::ServerKey) -> Vec<u8> {
    file(S::server_header(key), |writer| S::write_server(writer, key))
}

pub(crate) fn public_file<S: KeyFiles>(key: &S::PublicKey) -> Vec<u8> {
    file(S::public_header(key), |writer| S::write_public(writer, key))
}

pub(crate) fn open(bytes: &[u8]) -> Result<Reader> {
    Reader::from_bytes("x", bytes, Expect::any())
}

fn read_any<S: KeyFiles>(bytes: &[u8]) -> Result<()> {
    let reader = open(bytes)?;
    match reader.kind() {
        Kind::ClientKey => S::read_client(&reader).map(drop),
        Kind::ServerKey => S::read_server(&reader).map(drop),
        _ => S::read_public(&reader).map(drop),
    }
}

/// A key that is read back is written again the same, in about as many bytes as are told for a server key.
pub(crate) fn check_read_back<S>(client: &S::ClientKey, server: &S::ServerKey, stored: usize)
where
    S: KeyFiles<Params: PartialEq + Debug, PublicKey: PartialEq>,
{
    let (public, [client_bytes, server_bytes]) =
        (S::of_client(client), [client_file::<S>(client), server_file::<S>(server)]);
    assert_eq!(client_file::<S>(&S::read_client(&open(&client_bytes).unwrap()).unwrap()), client_bytes);
    let read = S::read_server(&open(&server_bytes).unwrap()).unwrap();
    assert_eq!(server_file::<S>(&read), server_bytes);
    assert!(S::is_insecure(S::of_server(&read)));
    for bytes in [&client_bytes, &server_bytes, &public_file::<S>(public)] {
        let reader = open(bytes).unwrap();
        assert!(S::read_public(&reader).unwrap() == *public);
        assert_eq!(
            (reader.key_id().unwrap(), &S::read_params(&reader).unwrap()),
            (S::identity(public).id(), S::params(public))
        );
    }
    assert!((stored..stored + stored / 50 + 8192).contains(&server_bytes.len()), "{stored} {}", server_bytes.len());
    assert!(client_bytes.starts_with(&SECRET_MAGIC) && server_bytes.starts_with(&PUBLIC_MAGIC));
}

/// Flipped bits of every `step`th byte are found, and cuts there.
pub(crate) fn check_damage<S: KeyFiles>(client: &S::ClientKey, server: &S::ServerKey, step: usize) {
    for bytes in [client_file::<S>(client), server_file::<S>(server), public_file::<S>(S::of_client(client))] {
        read_any::<S>(&bytes).unwrap();
        for at in (0..bytes.len()).step_by(step).chain([bytes.len() - 1]) {
            let mut altered = bytes.clone();
            altered[at] ^= 1 << (at % 8);
            assert!(read_any::<S>(&altered).is_err(), "byte {at}");
            assert!(read_any::<S>(&bytes[..at]).is_err(), "cut at {at}");
        }
    }
    let error = Reader::from_bytes("x", client_file::<S>(client), Expect::kind(Kind::ServerKey)).unwrap_err();
    assert!(matches!(error, Error::WrongKind { .. }), "{error}");
}

/// The file with another header and other sections, and all checksums right.
fn forged(
    file: &[u8],
    header: impl FnOnce(Header) -> Header,
    section: impl Fn(&str, Vec<u8>) -> Option<Vec<u8>>,
) -> Vec<u8> {
    let reader = open(file).unwrap();
    let mut writer = Writer::in_memory(header(reader.header().clone()));
    for (name, _) in reader.sections() {
        if let Some(bytes) = section(name, reader.section(name).unwrap().to_vec()) {
            writer.section(name, &bytes).unwrap();
        }
    }
    writer.into_bytes().unwrap().to_vec()
}

/// The file with another section of that name.
pub(crate) fn changed(file: &[u8], section: &str, alter: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    open(file).unwrap().section(section).unwrap();
    let change = |name: &str, mut bytes: Vec<u8>| {
        if name == section {
            alter(&mut bytes);
        }
        Some(bytes)
    };
    forged(file, |header| header, change)
}

/// The file without the section of that name.
pub(crate) fn without(file: &[u8], section: &str) -> Vec<u8> {
    forged(file, |header| header, |name, bytes| (name != section).then_some(bytes))
}

/// The file with another header.
pub(crate) fn headed(file: &[u8], header: impl FnOnce(Header) -> Header) -> Vec<u8> {
    forged(file, header, |_, bytes| Some(bytes))
}

/// The file with other parameters.
pub(crate) fn with_params<L: Serialize + DeserializeOwned>(file: &[u8], alter: impl FnOnce(&mut L)) -> Vec<u8> {
    let mut literal: L = open(file).unwrap().params().unwrap();
    alter(&mut literal);
    headed(file, |header| header.params(&literal).unwrap())
}

/// Checks that reading the file gives an error with this word.
pub(crate) fn check_refused<S: KeyFiles>(file: &[u8], word: &str) {
    let error = read_any::<S>(file).unwrap_err().to_string();
    assert!(error.contains(word), "{word}: {error}");
}

/// The file with a header of another scheme, of another key, or without parameters is refused.
pub(crate) fn check_headers<S: KeyFiles>(file: &[u8]) {
    check_refused::<S>(&headed(file, |header| header.scheme("rsa")), "scheme rsa");
    check_refused::<S>(&headed(file, |header| header.key_id(KeyId([7; 32]))), "key_id");
    check_refused::<S>(&headed(file, |header| header.params(&"none").unwrap()), "params");
}
