//! Stores of earlier versions, with jobs that had not ended.
//!
//! `stores/README.md` says what they have, and how to make the next one. The service of their version was killed in the middle of a job.

use crate::harness::{Harness, Keys, digest, keys_of};
use rusqlite::Connection;
use solinas_formats::{Expect, KeyId, Reader, Writer};
use solinas_runtime::{Ciphertext, ClientKey};
use solinas_server::{Config, Scope, Service, Store};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The keys of the stores.
fn keys() -> &'static Keys {
    static KEYS: OnceLock<Keys> = OnceLock::new();
    KEYS.get_or_init(|| keys_of("gates-40"))
}

fn stores() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/service/stores")
}

/// The place of a file in a store.
fn place(store: &Path, digest: &str) -> PathBuf {
    let (folder, name) = digest.strip_prefix("b3-").unwrap().split_at(2);
    store.join("blobs/local").join(folder).join(name)
}

/// The file of a key for trials as those versions wrote it, with an id of version 1.
fn former(file: &[u8]) -> (KeyId, Vec<u8>) {
    let reader = Reader::from_bytes("key", file, Expect::any()).unwrap();
    let mut header = reader.header().clone();
    for field in ["id_version", "public_digest"] {
        header.meta.remove(field).unwrap();
    }
    let mut hasher = blake3::Hasher::new_derive_key("solinas 2026 tfhe key id");
    hasher.update(b"gates-40").update(&reader.meta::<KeyId>("seed").unwrap().0);
    let id = KeyId(hasher.finalize().into());
    let mut writer = Writer::in_memory(header.key_id(id));
    for (name, _) in reader.sections() {
        writer.section(name, &reader.section(name).unwrap()).unwrap();
    }
    (id, writer.into_bytes().unwrap().to_vec())
}

/// Makes the store of a version.
fn build(version: &str) -> tempfile::TempDir {
    let (folder, from) = (tempfile::tempdir().unwrap(), stores().join(version));
    let store = |bytes: &[u8]| {
        let path = place(folder.path(), &digest(bytes));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    store(&former(&keys().1).1);
    for line in fs::read_to_string(from.join("files.txt")).unwrap().lines() {
        let bytes = (0..line.len()).step_by(2).map(|at| u8::from_str_radix(&line[at..at + 2], 16).unwrap());
        store(&bytes.collect::<Vec<_>>());
    }
    let db = Connection::open(folder.path().join("solinas.db")).unwrap();
    db.execute_batch(&fs::read_to_string(from.join("store.sql")).unwrap()).unwrap();
    // The store is as new as on the day it was made, so that nothing has expired.
    let year_2100 = 4_102_444_800_000i64;
    for sql in ["job SET expires = ?1 WHERE expires IS NOT NULL", "blob SET last_used = ?1", "key SET last_used = ?1"] {
        db.execute(&format!("UPDATE {sql}"), [year_2100]).unwrap();
    }
    folder
}

fn version(store: &Path) -> i64 {
    let db = Connection::open(store.join("solinas.db")).unwrap();
    db.query_row("SELECT MAX(version) FROM schema", [], |row| row.get(0)).unwrap()
}

#[test]
fn earlier_stores_are_taken_over_with_their_jobs() {
    let (key, file) = former(&keys().0.to_bytes().unwrap());
    let former_client = ClientKey::from_bytes(&file).unwrap();
    for entry in fs::read_dir(stores()).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_dir()) {
        let name = entry.file_name().into_string().unwrap();
        let folder = build(&name);
        assert_eq!(version(folder.path()).to_string(), name);
        let token = fs::read_to_string(entry.path().join("token.txt")).unwrap();
        let harness = Harness::on(folder, token.trim());
        let (client, folder) = (&harness.client, harness.folder.path());
        assert!(version(folder) >= name.parse().unwrap());
        let checked = Store::open(folder).unwrap().check().unwrap();
        assert!(checked.missing.is_empty() && checked.damaged.is_empty() && checked.contents.blobs > 4, "{checked:?}");
        assert_eq!(client.get("/v1/keys").ok()["keys"][0]["key_id"], key.to_string());
        assert_eq!(client.get("/v1/usage").ok()["quota"]["live_jobs"], 50);
        let jobs = client.get("/v1/jobs").ok()["jobs"].as_array().unwrap().clone();
        let id = |name: &str| {
            let job = jobs.iter().find(|job| job["name"] == name).unwrap_or_else(|| panic!("no job {name}: {jobs:?}"));
            job["id"].as_str().unwrap()
        };
        // One had ended, one was in the middle, one waited, and one was cancelled.
        for (name, value) in [("ended", "true"), ("running", "65402"), ("waiting", "3702")] {
            let job = client.wait(id(name));
            assert_eq!(
                (&job["state"], &job["error"]),
                (&"succeeded".into(), &serde_json::Value::Null),
                "{name}: {job}"
            );
            let result = client.get(&format!("/v1/jobs/{}/results/0", id(name)));
            let result = Ciphertext::from_bytes(&result.bytes).unwrap();
            assert_eq!(former_client.decrypt(&result).unwrap().to_strings().join(","), value, "{name}");
            client.get(&format!("/v1/jobs/{}/schedule", id(name))).ok();
        }
        assert_eq!(client.wait(id("cancelled"))["state"], "cancelled");
        assert!(
            client.get("/metrics").status == 200 && harness.other("lab", &[Scope::Read]).get("/v1/keys").status == 200
        );
        println!("a store of version {name} is taken over");
    }
}

#[test]
fn a_store_of_a_later_version_is_refused_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    Store::open_or_make(folder.path()).unwrap();
    let known = version(folder.path());
    let db = Connection::open(folder.path().join("solinas.db")).unwrap();
    db.execute("INSERT INTO schema (version) VALUES (?1)", [known + 1]).unwrap();
    drop(db);
    let mut config = Config::new(folder.path().to_path_buf());
    config.address.set_port(0);
    let error = Service::start(config).unwrap_err().to_string();
    assert!(error.contains("update solinas"), "{error}");
    assert_eq!(version(folder.path()), known + 1);
}
