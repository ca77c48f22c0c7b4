//! Files of BGV keys.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::LazyLock;

use proptest::prelude::*;
use solinas_formats::{Error, Expect, Header, KeyId, Kind, Reader, Result, SECRET_MAGIC, Writer, bgv};
use solinas_schemes::bgv::{
    ClientKey, KeySwitching, Params, ParamsLiteral, PublicKey, Rotations, ServerKey, generate_insecure,
};

type Keys = (ClientKey, ServerKey);

fn keys(params: &Params) -> Keys {
    let rotations = Rotations::all(params).unwrap_or_else(|_| Rotations::none(params));
    generate_insecure(params, &rotations, true, 1).unwrap()
}

static KEYS: LazyLock<Keys> = LazyLock::new(|| keys(&Params::named("slots-16-2").unwrap()));

/// Keys are switched by digits of towers, without special primes.
fn digits() -> Params {
    let literal = Params::named("slots-64-2").unwrap().literal().clone();
    let open = ParamsLiteral { first_bits: None, bits: None, top_bits: None, ..literal };
    let switching = KeySwitching::Digits { bits: 7 };
    Params::try_from(ParamsLiteral { name: "mine".into(), switching, ..open }).unwrap()
}

fn client_file(key: &ClientKey) -> Vec<u8> {
    let mut writer = Writer::in_memory(bgv::client_header(key).unwrap());
    bgv::write_client(&mut writer, key).unwrap();
    writer.into_bytes().unwrap().to_vec()
}

fn server_file(key: &ServerKey) -> Vec<u8> {
    let mut writer = Writer::in_memory(bgv::server_header(key).unwrap());
    bgv::write_server(&mut writer, key).unwrap();
    writer.into_bytes().unwrap().to_vec()
}

fn public_file(key: &PublicKey) -> Vec<u8> {
    let mut writer = Writer::in_memory(bgv::public_header(key).unwrap());
    bgv::write_public(&mut writer, key).unwrap();
    writer.into_bytes().unwrap().to_vec()
}

fn open(bytes: &[u8]) -> Result<Reader> {
    Reader::from_bytes("x", bytes, Expect::any())
}

fn read_any(bytes: &[u8]) -> Result<()> {
    let reader = open(bytes)?;
    match reader.kind() {
        Kind::ClientKey => bgv::read_client(&reader).map(drop),
        Kind::ServerKey => bgv::read_server(&reader).map(drop),
        _ => bgv::read_public(&reader).map(drop),
    }
}

#[test]
fn keys_are_read_back_as_they_were_written() {
    let named = ["slots-16-2", "bits-64-3", "wide-128-1"].map(|name| Params::named(name).unwrap());
    for params in named.into_iter().chain([digits()]) {
        let (client, server) = keys(&params);
        let (client_bytes, server_bytes) = (client_file(&client), server_file(&server));
        let read = bgv::read_client(&open(&client_bytes).unwrap()).unwrap();
        assert_eq!(client_file(&read), client_bytes);
        let read = bgv::read_server(&open(&server_bytes).unwrap()).unwrap();
        assert!(read == server && read.public().is_insecure(), "{}", params.name());
        for bytes in [&client_bytes, &server_bytes, &public_file(client.public())] {
            let reader = open(bytes).unwrap();
            assert!(bgv::read_public(&reader).unwrap() == *client.public());
            assert_eq!((reader.key_id().unwrap().0, bgv::params(&reader).unwrap()), (server.id().0, params.clone()));
        }
        let stored = bgv::stored_server_bytes(&params, &server.rotations());
        assert!((stored..stored + stored / 50 + 4096).contains(&server_bytes.len()), "{}", params.name());
        assert!(client_bytes.starts_with(&SECRET_MAGIC) && !server_bytes.starts_with(&SECRET_MAGIC));
    }
}

#[test]
fn flipped_bits_and_cut_files_are_refused() {
    let (client, server) = &*KEYS;
    for bytes in [client_file(client), server_file(server), public_file(client.public())] {
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
    let (client, server) = &*KEYS;
    let (literal, id) = (server.params().literal().clone(), server.id().0);
    let sections = |bytes: &[u8]| -> Vec<(String, Vec<u8>)> {
        let reader = open(bytes).unwrap();
        reader.sections().map(|(name, _)| (name.to_owned(), reader.section(name).unwrap().to_vec())).collect()
    };
    let of = |kind: Kind| match kind {
        Kind::ClientKey => sections(&client_file(client)),
        _ => sections(&server_file(server)),
    };
    let change = |kind: Kind, name: &str, alter: &dyn Fn(&mut Vec<u8>)| {
        let mut parts = of(kind);
        parts.iter_mut().filter(|part| part.0 == name).for_each(|part| alter(&mut part.1));
        let parts: Vec<(&str, Vec<u8>)> = parts.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
        forged(kind, &literal, bgv::SCHEME, id, &parts)
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
        refused(change(kind, "b", &|b| b.fill(0xff)), "section b");
        refused(change(kind, "b", &|b| b.truncate(8)), "section b");
    }
    let server_key = |name: &str, alter: &dyn Fn(&mut Vec<u8>)| change(Kind::ServerKey, name, alter);
    refused(server_key("keys", &|keys| keys.fill(0xff)), "section keys");
    refused(server_key("keys", &|keys| keys.extend([0; 8])), "section keys");
    refused(server_key("seeds", &|seeds| seeds.truncate(32)), "section seeds");
    // Even, out of range, twice, one more than there are keys.
    for first in [0_u64, 1, 2, 32, u64::MAX] {
        refused(
            server_key("rotations", &|words| words[..8].copy_from_slice(&first.to_le_bytes())),
            "section rotations",
        );
    }
    refused(server_key("rotations", &|words| words.copy_within(8..16, 0)), "section rotations");
    refused(server_key("rotations", &|words| words.truncate(9)), "section rotations");
    refused(server_key("rotations", &|words| words.truncate(8)), "section seeds");
    for far in [2, 0x7f, 0x80] {
        refused(change(Kind::ClientKey, "secret", &|secret| secret[3] = far), "section secret");
    }
    // Ternary, and not that of the public key.
    refused(change(Kind::ClientKey, "secret", &|secret| secret.fill(1)), "section secret");
    let good = |literal: &ParamsLiteral, scheme: &str, id| {
        let parts = of(Kind::ServerKey);
        let parts: Vec<(&str, Vec<u8>)> = parts.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
        forged(Kind::ServerKey, literal, scheme, id, &parts)
    };
    refused(good(&literal, bgv::SCHEME, [7; 32]), "key_id");
    refused(good(&literal, "ntru", id), "scheme ntru");
    let with = |alter: &dyn Fn(&mut ParamsLiteral)| {
        let mut other = literal.clone();
        alter(&mut other);
        good(&other, bgv::SCHEME, id)
    };
    refused(with(&|l| l.terms = 3), "params");
    refused(with(&|l| l.bits = None), "open");
    refused(with(&|l| (l.name, l.dimension) = ("mine".into(), usize::MAX)), "dimension");
    refused(with(&|l| (l.name, l.depth) = ("mine".into(), usize::MAX)), "depth");
    refused(with(&|l| l.name = "mine".into()), "key_id");
    let error = Reader::from_bytes("x", client_file(client), Expect::kind(Kind::ServerKey)).unwrap_err();
    assert!(matches!(error, Error::WrongKind { .. }), "{error}");
}

proptest! {
    #[test]
    fn unpack_inverts_pack(bits in prop::collection::vec(1_u32..=64, 1..5), seed: u64) {
        let words: Vec<u64> = bits
            .iter()
            .flat_map(|&bits| (0..16).map(move |i| (seed ^ (i << 60)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)))
            .collect();
        let packed = bgv::pack_towers(&words, &bits).unwrap();
        prop_assert_eq!(packed.len(), bgv::packed_bytes(16, &bits));
        prop_assert_eq!(bgv::unpack_towers(&packed, 16, &bits).unwrap(), words);
        prop_assert!(bgv::unpack_towers(&packed[1..], 16, &bits).is_err());
    }
}

#[test]
fn towers_of_other_sizes_are_refused() {
    assert!(bgv::pack_towers(&[1, 2, 3], &[4, 4]).is_err() && bgv::pack_towers(&[], &[4]).is_err());
    assert!(bgv::pack_towers(&[1], &[]).is_err());
}
