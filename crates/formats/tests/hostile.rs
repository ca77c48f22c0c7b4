//! Files made to mislead: their hashes are right, what they claim is not.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common;

use solinas_formats::{Error, Expect, Kind, PUBLIC_MAGIC, Reader, SECRET_MAGIC, Value};

/// A file with that header and body, sealed as a writer would.
fn forge(magic: [u8; 8], cbor: &[u8], body: &[u8]) -> Vec<u8> {
    let start = (64 + cbor.len()).next_multiple_of(64);
    let mut file = magic.to_vec();
    file.extend([1, 0, 0, 0]);
    file.extend((cbor.len() as u32).to_le_bytes());
    file.extend((start as u32).to_le_bytes());
    file.extend([0; 4]);
    file.extend(((start + body.len()) as u64).to_le_bytes());
    let hash = blake3::Hasher::new().update(&file).update(cbor).finalize();
    file.extend(hash.as_bytes());
    file.extend(cbor);
    file.resize(start, 0);
    file.extend(body);
    file
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn map<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Map(fields.into_iter().map(|(name, value)| (text(name), value)).collect())
}

fn about(kind: &str, params: Value) -> Value {
    map([
        ("kind", text(kind)),
        ("scheme", Value::Null),
        ("params", params),
        ("key_id", Value::Null),
        ("library", text("forger")),
        ("insecure_seed", Value::Bool(false)),
        ("meta", map([])),
    ])
}

fn section(name: &str, offset: u64, length: u64, chunk: u64, hashes: u64) -> Value {
    map([
        ("name", text(name)),
        ("offset", offset.into()),
        ("length", length.into()),
        ("chunk", chunk.into()),
        ("hashes", hashes.into()),
        ("root", Value::Bytes(blake3::hash(&[]).as_bytes().to_vec())),
    ])
}

fn cbor(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    bytes
}

fn with_sections(sections: Vec<Value>) -> Vec<u8> {
    cbor(&map([("about", about("cache", Value::Null)), ("sections", Value::Array(sections))]))
}

fn open(file: Vec<u8>) -> Result<Reader, Error> {
    Reader::from_bytes("x", file, Expect::any())
}

#[track_caller]
fn assert_damaged(file: Vec<u8>, why: &str) {
    let message = open(file).unwrap_err().to_string();
    assert!(message.contains("damaged") && message.contains(why), "{message}");
}

#[test]
fn a_forged_file_opens_when_it_is_right() {
    open(forge(PUBLIC_MAGIC, &with_sections(vec![section("a", 0, 0, 4096, 0)]), &[])).unwrap();
}

#[test]
fn sections_must_lie_where_their_lengths_put_them() {
    let k = 4096;
    for (sections, why) in [
        (vec![section("a", 0, u64::MAX, k, 0)], "does not fit"),
        (vec![section("a", 0, u64::MAX - 63, k, 0)], "does not fit"),
        (vec![section("a", 0, 1 << 40, k, 1 << 40)], "does not fit"),
        (vec![section("a", 0, 129, k, 192)], "does not fit"),
        (vec![section("a", u64::MAX, 0, k, 0)], "not where it should be"),
        (vec![section("a", 0, 0, k, 64)], "not where it should be"),
        (vec![section("a", 64, 64, k, 128)], "not where it should be"),
        (vec![section("a", 0, 64, k, 64), section("b", 0, 0, k, 0)], "not where it should be"),
        (vec![section("a", 0, 64, k, 64)], "end at byte 96 of 128"),
        (vec![], "end at byte 0 of 128"),
        (vec![section("a", 0, 0, k, 0), section("a", 0, 0, k, 0)], "twice"),
        (vec![section("a", 0, 0, 0, 0)], "chunk size of 0"),
        (vec![section("a", 0, 0, 1, 0)], "chunk size of 1"),
        (vec![section("a", 0, 0, 5000, 0)], "chunk size of 5000"),
        (vec![section("a", 0, 0, 1 << 31, 0)], "chunk size"),
        (vec![section("../a", 0, 0, k, 0)], "section name"),
        (vec![section("", 0, 0, k, 0)], "section name"),
        ((0..65).map(|i| section(&format!("s{i}"), 0, 0, k, 0)).collect(), "65 sections"),
    ] {
        assert_damaged(forge(PUBLIC_MAGIC, &with_sections(sections), &[0; 128]), why);
    }
}

#[test]
fn headers_are_one_cbor_value_of_limited_size_and_depth() {
    let mut deep = Value::Null;
    for _ in 0..40 {
        deep = Value::Array(vec![deep]);
    }
    let nested = cbor(&map([("about", about("cache", deep)), ("sections", Value::Array(vec![]))]));
    assert_damaged(forge(PUBLIC_MAGIC, &nested, &[]), "nested too deeply");
    // 100,000 arrays of one element, and as many tags.
    assert_damaged(forge(PUBLIC_MAGIC, &[0x81; 100_000], &[]), "header");
    assert_damaged(forge(PUBLIC_MAGIC, &[0xc1; 100_000], &[]), "header");
    let mut params = cbor(&map([("params", Value::Null)]));
    params.pop();
    params.extend([0xc1; 100_000]);
    assert_damaged(forge(PUBLIC_MAGIC, &params, &[]), "header");
    // An array, a text, bytes and a map that claim 2^63 elements.
    for major in [0x9b, 0x7b, 0x5b, 0xbb] {
        let mut params = vec![0xa1, 0x65, b'a', b'b', b'o', b'u', b't', 0xa1, 0x66];
        params.extend(b"params");
        params.push(major);
        params.extend((1u64 << 63).to_be_bytes());
        assert_damaged(forge(PUBLIC_MAGIC, &params, &[]), "header");
    }
    let mut trailing = with_sections(vec![]);
    trailing.push(0xf6);
    assert_damaged(forge(PUBLIC_MAGIC, &trailing, &[]), "1 bytes too many");
    assert_damaged(forge(PUBLIC_MAGIC, &[], &[]), "header");
    assert_damaged(forge(PUBLIC_MAGIC, &vec![0xf6; (256 << 10) + 1], &[]), "first 64 bytes");
}

#[test]
fn kinds_and_magics_must_agree() {
    let client = cbor(&map([("about", about("client-key", Value::Null)), ("sections", Value::Array(vec![]))]));
    assert_damaged(forge(PUBLIC_MAGIC, &client, &[]), "disagree");
    assert_damaged(forge(SECRET_MAGIC, &with_sections(vec![]), &[]), "disagree");
    let unknown = cbor(&map([("about", about("spaceship", Value::Null)), ("sections", Value::Array(vec![]))]));
    assert_damaged(forge(PUBLIC_MAGIC, &unknown, &[]), "spaceship");
    let repeated = cbor(&map([
        ("about", about("cache", Value::Null)),
        ("about", about("cache", Value::Null)),
        ("sections", Value::Array(vec![])),
    ]));
    assert_damaged(forge(PUBLIC_MAGIC, &repeated, &[]), "duplicate");
}

#[test]
fn a_newer_minor_version_may_add_fields() {
    let mut fields = about("circuit", Value::Null);
    if let Value::Map(fields) = &mut fields {
        fields.push((text("mood"), text("sunny")));
    }
    let header = cbor(&map([("about", fields), ("sections", Value::Array(vec![]))]));
    assert_eq!(open(forge(PUBLIC_MAGIC, &header, &[])).unwrap().kind(), Kind::Circuit);
}

#[test]
fn a_newer_major_version_names_both_and_the_fix() {
    let mut file = common::small(Kind::Circuit).unwrap();
    file[8] = 2;
    file[10] = 3;
    let error = open(file).unwrap_err();
    assert_eq!(error.to_string(), "x has format version 2.3, and this program reads up to 1.0; update solinas");
}
