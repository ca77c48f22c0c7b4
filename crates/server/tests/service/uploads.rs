//! Uploads, and what is refused.

use crate::harness::{Harness, U8, digest, keys};
use serde_json::json;
use solinas_engine::{KeygenOptions, Plain, keygen};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

/// Whether a file below a folder has these bytes somewhere.
pub(crate) fn is_stored(folder: &Path, bytes: &[u8]) -> bool {
    std::fs::read_dir(folder).unwrap().flatten().any(|entry| match entry.path() {
        path if path.is_dir() => is_stored(&path, bytes),
        path => std::fs::read(path).unwrap().windows(bytes.len()).any(|part| part == bytes),
    })
}

#[test]
fn secret_files_are_refused_and_leave_nothing() {
    let harness = Harness::new();
    let client = &harness.client;
    let secret = keys().0.to_bytes().unwrap();
    for path in [format!("/v1/blobs/{}", digest(&secret)), format!("/v1/blobs/{}", digest(b"another"))] {
        let problem = client.put(&path, &secret).refused(422, "secret_file");
        assert!(problem["fix"].as_str().unwrap().contains("server.key"), "{problem}");
    }
    let pem = b"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\n";
    client.put(&format!("/v1/blobs/{}", digest(pem)), pem).refused(422, "secret_file");
    client.send("POST", "/v1/programs", &[], &secret).refused(422, "bad_program");
    assert!(!is_stored(harness.folder.path(), &secret[64..128]) && !is_stored(harness.folder.path(), &pem[28..]));
}

#[test]
fn blobs_are_checked_and_sent_back() {
    let harness = Harness::new();
    let client = &harness.client;
    let bytes = keys().0.encrypt(&Plain::scalar(U8, 9).unwrap()).unwrap().to_bytes().unwrap();
    let path = format!("/v1/blobs/{}", digest(&bytes));
    client.get(&path).refused(404, "not_found");
    assert_eq!(client.send("HEAD", &path, &[], &[]).status, 404);
    client.put(&format!("/v1/blobs/{}", digest(b"x")), &bytes).refused(400, "digest_mismatch");
    assert_eq!(client.put(&path, &bytes).status, 201);
    assert_eq!(client.put(&path, &bytes).status, 204, "there already");
    let head = client.send("HEAD", &path, &[], &[]);
    assert_eq!((head.status, head.header("content-length")), (200, Some(&*bytes.len().to_string())));
    assert_eq!(client.get(&path).bytes, bytes);
    let beyond = format!("bytes={}-", bytes.len());
    client.send("GET", &path, &[("range", &beyond)], &[]).refused(416, "bad_range");
    client.delete(&path).ok();
    client.delete(&path).refused(404, "not_found");
    let program = client.program("add", &[U8, U8]);
    client.delete(&format!("/v1/blobs/{program}")).ok();
    client.get(&format!("/v1/programs/{program}")).refused(404, "not_found");
    client.get(&path).refused(404, "not_found");
    assert_eq!(client.put(&path, &bytes).status, 201);
    let mut damaged = bytes.clone();
    damaged[40] ^= 1;
    client.put(&format!("/v1/blobs/{}", digest(&damaged)), &damaged).refused(422, "bad_file");
    client.put(&format!("/v1/blobs/{}", digest(b"text")), b"text").refused(422, "bad_file");
    client.put(&format!("/v1/blobs/{}", digest(b"")), b"").refused(422, "bad_file");
    client.put("/v1/blobs/b3-short", &bytes).refused(404, "not_found");
}

#[test]
fn keys_are_bound_to_their_bytes() {
    let mut harness = Harness::new();
    let client = harness.client.clone();
    let (_, server, id) = keys();
    let (path, blob) = (format!("/v1/keys/{id}"), digest(server));
    let registration = json!({ "blob": blob, "name": "trial" }).to_string();
    client.put(&path, registration.as_bytes()).refused(424, "blob_missing");
    client.upload(server);
    assert_eq!(client.put(&path, registration.as_bytes()).status, 201);
    assert_eq!(client.put(&path, registration.as_bytes()).status, 200, "the same again");
    client.delete(&format!("/v1/blobs/{blob}")).refused(409, "in_use");
    let key = client.get(&path).ok();
    assert_eq!((&key["name"], &key["facts"]["params"]), (&json!("trial"), &json!("gates-toy")));
    assert_eq!(client.get("/v1/keys").ok()["keys"][0]["key_id"], *id);
    client.put(&format!("/v1/keys/{}", "0".repeat(64)), registration.as_bytes()).refused(422, "wrong_key");
    let ciphertext = client.input(U8, 1)["blob"].clone();
    let wrong = json!({ "blob": ciphertext }).to_string();
    client.put(&path, wrong.as_bytes()).refused(422, "wrong_type");

    // The same key under another name of the library has other bytes.
    let options = KeygenOptions {
        params: Some("gates-toy".into()),
        research: true,
        insecure_seed: Some(8),
        ..Default::default()
    };
    let (_, other) = keygen(&options, &solinas_engine::Control::default()).unwrap();
    let bytes = other.to_bytes().unwrap();
    let other_path = format!("/v1/keys/{}", other.key_id());
    let other_blob = client.upload(&bytes);
    client.put(&other_path, json!({ "blob": other_blob }).to_string().as_bytes()).ok();
    client.delete(&other_path).ok();
    client.get(&other_path).refused(404, "not_found");
    client.get(&format!("/v1/blobs/{other_blob}")).refused(404, "not_found");

    // Without the operator's word, keys that protect nothing are refused.
    client.delete(&path).ok();
    harness.restart(|config| config.research = false);
    let client = &harness.client;
    client.upload(server);
    let problem = client.put(&path, registration.as_bytes()).refused(422, "research_only");
    assert!(problem["fix"].as_str().unwrap().contains("--research"), "{problem}");
}

#[test]
fn limits_name_their_settings() {
    let harness = Harness::with(|config| {
        config.limits.blob_bytes = 5000;
        config.limits.json_bytes = 300;
        config.limits.program_bytes = 100;
        config.limits.live_jobs = 0;
    });
    let client = &harness.client;
    let too_large = |answer: crate::harness::Answer, setting: &str| {
        let problem = answer.refused(413, "too_large");
        assert!(problem["fix"].as_str().unwrap().contains(setting), "{problem}");
    };
    let server = &keys().1;
    too_large(client.put(&format!("/v1/blobs/{}", digest(server)), server), "blob_bytes");
    too_large(client.post("/v1/estimates", &json!({ "x": "y".repeat(300) })), "json_bytes");
    too_large(client.send("POST", "/v1/programs", &[], &[b' '; 101]), "program_bytes");
    let body = json!({ "key": "k", "program": digest(b""), "inputs": [] });
    let problem = client.submit("over", &body).refused(429, "over_quota");
    assert!(problem["retry_after"].as_u64() >= Some(1), "{problem}");
    // The scheme of a key is in its header.
    let harness = Harness::with(|config| config.limits.tfhe_key_bytes = 1000);
    let path = format!("/v1/blobs/{}", digest(server));
    too_large(harness.client.put(&path, server), "tfhe_key_bytes");
    harness.client.get(&path).refused(404, "not_found");
}

/// A client gets the answer to a request that is refused before its body has come.
#[test]
fn bodies_that_nobody_needs_are_read_to_their_end() {
    let harness = Harness::new();
    let ask = |header: &str, body: &[u8]| {
        let mut stream = TcpStream::connect(harness.client.url.strip_prefix("http://").unwrap()).unwrap();
        let length = 9 << 20;
        write!(stream, "PUT /v1/blobs/x HTTP/1.1\r\nHost: localhost\r\n{header}Content-Length: {length}\r\n\r\n")
            .unwrap();
        std::thread::sleep(Duration::from_millis(300));
        stream.write_all(body).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 401");
    };
    ask("", &vec![0; 9 << 20]);
    // This client sends its body only if the service wants it.
    ask("Expect: 100-continue\r\n", b"");
}

#[test]
fn connections_above_the_limit_get_an_answer() {
    let harness = Harness::with(|config| config.limits.connections = 1);
    // It has its place until its headers have taken too long.
    let mut first = TcpStream::connect(harness.client.url.strip_prefix("http://").unwrap()).unwrap();
    first.write_all(b"GET /healthz HTTP/1.1\r\n").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let problem = harness.client.get("/healthz").refused(503, "busy");
    assert!(problem["detail"].as_str().unwrap().contains("`connections`"), "{problem}");
    first.write_all(b"Host: localhost\r\n\r\n").unwrap();
    let mut answer = [0; 15];
    first.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
}

/// A body in chunks does not tell its length, and counts against the quota all the same.
#[test]
fn a_body_of_unknown_length_does_not_pass_the_quota() {
    let harness = Harness::with(|config| config.limits.stored_bytes = 5000);
    let server = &keys().1;
    let mut stream = TcpStream::connect(harness.client.url.strip_prefix("http://").unwrap()).unwrap();
    let path = format!("/v1/blobs/{}", digest(server));
    let token = &harness.client.token;
    write!(stream, "PUT {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n").unwrap();
    write!(stream, "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n{:x}\r\n", server.len()).unwrap();
    stream.write_all(server).unwrap();
    stream.write_all(b"\r\n0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 429") && answer.contains("over_quota"), "{answer}");
    harness.client.get(&path).refused(404, "not_found");
    assert!(!is_stored(harness.folder.path(), &server[1000..1064]));
}
