//! Uploads in parts.

use crate::harness::{Answer, Client, Harness, digest, keys};
use crate::kills;
use crate::uploads::is_stored;
use solinas_formats::{Header, Kind, Writer};
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

const PART: (&str, &str) = ("content-type", "application/offset+octet-stream");

/// A generator of numbers, equal in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// A file of the library with so many bytes of contents.
fn file(bytes: usize) -> Vec<u8> {
    let mut contents = vec![0; bytes];
    blake3::Hasher::new().finalize_xof().fill(&mut contents);
    let mut writer = Writer::in_memory(Header::new(Kind::Ciphertext).scheme("tfhe"));
    writer.section("contents", &contents).unwrap();
    writer.into_bytes().unwrap().to_vec()
}

/// The text in base64.
fn base64(text: &str) -> String {
    base64::Engine::encode(&base64::engine::general_purpose::STANDARD, text)
}

/// Asks for an upload of so many bytes with this digest.
pub(crate) fn declare(client: &Client, digest: &str, length: usize) -> Answer {
    let metadata = format!("name {},digest {}", base64("a.ct"), base64(digest));
    let headers = [("upload-length", &*length.to_string()), ("upload-metadata", &metadata), ("tus-resumable", "1.0.0")];
    client.send("POST", "/v1/uploads", &headers, b"")
}

/// Begins an upload of bytes, and returns its identity.
pub(crate) fn begin(client: &Client, bytes: &[u8]) -> String {
    let answer = declare(client, &digest(bytes), bytes.len());
    assert_eq!(answer.status, 201, "{answer:?}");
    assert!(answer.header("upload-expires").unwrap().ends_with(" GMT"), "{answer:?}");
    answer.header("location").unwrap().strip_prefix("uploads/").unwrap().to_owned()
}

fn patch(client: &Client, id: &str, offset: usize, bytes: &[u8]) -> Answer {
    // A body that is refused is not sent.
    let headers = [PART, ("upload-offset", &*offset.to_string()), ("expect", "100-continue")];
    client.send("PATCH", &format!("/v1/uploads/{id}"), &headers, bytes)
}

/// The offset of an upload.
fn offset(client: &Client, id: &str) -> usize {
    let head = client.send("HEAD", &format!("/v1/uploads/{id}"), &[], &[]);
    assert_eq!((head.status, head.header("tus-resumable")), (200, Some("1.0.0")), "{head:?}");
    head.header("upload-offset").unwrap().parse().unwrap()
}

/// Begins a part on a connection of its own, and sends its first bytes.
fn cut_off(client: &Client, id: &str, offset: usize, bytes: &[u8], sent: usize) -> TcpStream {
    let mut stream = TcpStream::connect(client.url.strip_prefix("http://").unwrap()).unwrap();
    let head = format!(
        "PATCH /v1/uploads/{id} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: {}\r\n\
         upload-offset: {offset}\r\ncontent-length: {}\r\n\r\n",
        client.token,
        PART.1,
        bytes.len() - offset
    );
    stream.write_all(head.as_bytes()).unwrap();
    // The service may refuse it before all have come.
    let _ = stream.write_all(&bytes[offset..offset + sent]);
    stream
}

fn files(harness: &Harness) -> usize {
    std::fs::read_dir(harness.folder.path().join("uploads")).unwrap().count()
}

#[test]
fn an_upload_that_is_cut_twenty_times_goes_on_each_time() {
    let harness = Harness::new();
    let client = &harness.client;
    let bytes = file(64 << 20);
    let id = begin(client, &bytes);
    let mut silent = Vec::new();
    let (mut numbers, mut at, mut most) = (Numbers(1), 0, 0);
    for cut in 0..20 {
        let sent = numbers.below((bytes.len() - at) / 4);
        let stream = cut_off(client, &id, at, &bytes, sent);
        match cut % 2 {
            0 => drop(stream),
            // The service does not hear that this one has gone: the next request ends it.
            _ => silent.push(stream),
        }
        // This request may come before the part does, and the next part is refused then.
        let now = offset(client, &id);
        most = most.max(at + sent);
        assert!(now >= at && now <= most, "{at} + {sent} gave {now}");
        at = now;
    }
    assert!(at > 0, "{at}");
    let answer = loop {
        match patch(client, &id, at, &bytes[at..]) {
            // A part that was sent before this one may begin after it, and end it.
            late if matches!(late.status, 408 | 409) => at = offset(client, &id),
            answer => break answer,
        }
    };
    assert_eq!((answer.status, answer.header("upload-offset")), (204, Some(&*bytes.len().to_string())));
    assert_eq!(offset(client, &id), bytes.len());
    let stored = client.get(&format!("/v1/blobs/{}", digest(&bytes)));
    assert!(stored.status == 200 && stored.bytes == bytes);
    assert_eq!(files(&harness), 0);
    let today = client.get("/v1/usage").ok()["today"].clone();
    // The record of the upload stays for a time, and counts too.
    assert_eq!((&today["stored_bytes"], &today["bytes_in"]), (&(bytes.len() + 1024).into(), &bytes.len().into()));
}

#[test]
fn a_kill_loses_no_durable_byte() {
    let store = tempfile::tempdir().unwrap();
    let (process, url, token) = kills::start(store.path());
    let client = Client::new(&url, &token);
    let bytes = file(48 << 20);
    let id = begin(&client, &bytes);
    let stream = cut_off(&client, &id, 0, &bytes, bytes.len() - 1);
    let durable = loop {
        // GET does not interrupt the part.
        let now = client.get(&format!("/v1/uploads/{id}")).ok()["offset"].as_u64().unwrap() as usize;
        if now > 0 {
            break now;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    drop((process, stream));
    let (_process, url, _) = kills::start(store.path());
    let client = Client::new(&url, &token);
    let at = offset(&client, &id);
    assert!(at >= durable && at < bytes.len(), "{durable} {at}");
    assert_eq!(patch(&client, &id, at, &bytes[at..]).status, 204);
    assert!(client.get(&format!("/v1/blobs/{}", digest(&bytes))).bytes == bytes);
}

#[test]
fn parts_are_checked() {
    let harness = Harness::new();
    let client = &harness.client;
    let bytes = file(20_000);
    let id = begin(client, &bytes);
    let path = format!("/v1/uploads/{id}");
    let options = client.send("OPTIONS", "/v1/uploads", &[], &[]);
    assert_eq!((options.status, options.header("tus-version")), (204, Some("1.0.0")));
    assert_eq!(options.header("tus-checksum-algorithm"), Some("sha1,blake3"));
    client.send("PATCH", &path, &[PART], b"x").refused(400, "bad_request");
    client.send("PATCH", &path, &[("upload-offset", "0")], b"x").refused(415, "wrong_media_type");
    client.send("PATCH", &path, &[("tus-resumable", "0.2.2")], b"x").refused(412, "protocol_version");
    patch(client, &id, 1, &bytes[1..]).refused(409, "offset_mismatch");
    let small = patch(client, &id, 0, &bytes[..100]).refused(400, "bad_request");
    assert!(small["fix"].as_str().unwrap().contains("more bytes"), "{small}");
    assert_eq!(patch(client, &id, 0, &bytes[..9000]).header("upload-offset"), Some("9000"));
    patch(client, &id, 0, &bytes).refused(409, "offset_mismatch");
    patch(client, &id, 9000, &bytes).refused(413, "too_large");

    let sum = |hash: &str| {
        let headers = [PART, ("upload-offset", "9000"), ("upload-checksum", hash)];
        client.send("PATCH", &path, &headers, &bytes[9000..15_000])
    };
    sum("md5 AAAA").refused(400, "bad_request");
    sum("sha1 AAAAAAAAAAAAAAAAAAAAAAAAAAA=").refused(460, "checksum_mismatch");
    assert_eq!(offset(client, &id), 9000);
    let hash = blake3::hash(&bytes[9000..15_000]);
    let hash = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, hash.as_bytes());
    assert_eq!(sum(&format!("blake3 {hash}")).header("upload-offset"), Some("15000"));
    assert_eq!(patch(client, &id, 15_000, &bytes[15_000..]).status, 204);
    assert_eq!(patch(client, &id, bytes.len(), b"").status, 204, "whole already");
    assert_eq!(client.delete(&path).status, 204);
    client.delete(&path).refused(404, "not_found");
    assert_eq!(client.get(&format!("/v1/blobs/{}", digest(&bytes))).bytes, bytes);

    // Other bytes than were declared, and bytes of no file.
    for (declared, sent, status, code) in
        [(digest(b"x"), &bytes, 400, "digest_mismatch"), (digest(&[9; 5000]), &vec![9; 5000], 422, "bad_file")]
    {
        let answer = declare(client, &declared, sent.len()).ok();
        let id = answer["id"].as_str().unwrap();
        patch(client, id, 0, sent).refused(status, code);
        client.get(&format!("/v1/uploads/{id}")).refused(404, "not_found");
    }
    declare(client, "b3-short", 10).refused(400, "bad_request");
    declare(client, &digest(b""), 0).refused(400, "bad_request");
    declare(client, &digest(b"x"), 65 << 30).refused(413, "too_large");
    harness.other("local", &[solinas_server::Scope::Read]).delete(&path).refused(403, "forbidden");
    assert_eq!(files(&harness), 0);
}

#[test]
fn secret_files_are_refused_in_parts_too() {
    let harness = Harness::new();
    let client = &harness.client;
    let secret = keys().0.to_bytes().unwrap();
    // As the whole of a short file, and as the beginning of a long one.
    for length in [secret.len(), 1 << 20] {
        let id = declare(client, &digest(&secret), length).ok()["id"].as_str().unwrap().to_owned();
        let mut bytes = secret.clone();
        bytes.resize(length, 1);
        patch(client, &id, 0, &bytes).refused(422, "secret_file");
        client.get(&format!("/v1/uploads/{id}")).refused(404, "not_found");
    }
    assert!(!is_stored(harness.folder.path(), &secret[64..128]));
}

#[test]
fn uploads_expire_and_count_against_the_quota() {
    let mut harness = Harness::new();
    let bytes = file(10_000);
    let id = begin(&harness.client, &bytes);
    assert_eq!(patch(&harness.client, &id, 0, &bytes[..8000]).status, 204);
    assert_eq!(files(&harness), 1);
    let store = solinas_server::Store::open(harness.folder.path()).unwrap();
    store.set_quota("local", None, Some(15_000), None).unwrap();
    declare(&harness.client, &digest(b"x"), 5000).refused(429, "over_quota");
    harness.restart(|config| config.limits.upload_hours = 0);
    let client = &harness.client;
    assert_eq!(offset(client, &id), 8000, "its time was set when the part came");
    patch(client, &id, 8000, &bytes[8000..9000]).ok();
    patch(client, &id, 9000, &bytes[9000..]).refused(410, "expired");
    client.get(&format!("/v1/uploads/{id}")).refused(410, "expired");
    harness.restart(|_| {});
    let client = &harness.client;
    // The first removal is at the start. The file goes last.
    for _ in 0..100 {
        if files(&harness) == 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    client.get(&format!("/v1/uploads/{id}")).refused(404, "not_found");
    assert_eq!(files(&harness), 0);
}
