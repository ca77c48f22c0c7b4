//! Backups of a store while its service works.

use crate::harness::{Harness, keys};
use serde_json::json;
use solinas_engine::Type;
use solinas_server::Store;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn a_backup_under_load_gives_the_same_results() {
    let harness = Harness::new();
    let client = &harness.client;
    let ty = Type::Uint(8);
    let inputs = [client.input(ty, 19), client.input(ty, 13)];
    let body = json!({ "key": client.register(), "program": client.program("mul", &[ty, ty]), "inputs": inputs });
    let ids: Vec<_> =
        (0..4).map(|n| client.submit(&format!("backup {n}"), &body).ok()["id"].as_str().unwrap().to_owned()).collect();
    client.wait(&ids[0]);
    let store = Store::open(harness.folder.path()).unwrap();
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("backup.tar");
    let contents = store.backup(&file).unwrap();
    assert!(store.backup(&file).is_err(), "it exists");
    let running = ids.iter().filter(|id| client.get(&format!("/v1/jobs/{id}")).ok()["state"] != "succeeded").count();
    println!("{running} of {} jobs had not ended at the end of the backup", ids.len());

    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Store::restore(&file, folder.path()).unwrap(), contents);
    let error = Store::restore(&file, folder.path()).unwrap_err().to_string();
    assert!(error.contains("is not empty"), "{error}");
    let checked = Store::open(folder.path()).unwrap().check().unwrap();
    assert!(checked.contents == contents && checked.missing.is_empty() && checked.damaged.is_empty(), "{checked:?}");
    let restored = Harness::on(folder, &client.token);
    for id in &ids {
        let digests = [client, &restored.client].map(|client| client.wait(id)["results"][0]["digest"].clone());
        assert!(digests[0].is_string() && digests[0] == digests[1], "{digests:?}");
    }
    assert_eq!(restored.client.result(&ids[0]), (19 * 13).to_string());
    assert_eq!(restored.client.submit("backup 0", &body).ok()["id"], ids[0], "the same request is the same job");
}

/// Ends a loop, also when the test fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn blobs_that_go_meanwhile_do_no_harm_and_faults_are_found() {
    let harness = Harness::new();
    let client = &harness.client;
    client.input(Type::Uint(8), 1);
    let (place, ends) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
    let store = Store::open(harness.folder.path()).unwrap();
    std::thread::scope(|scope| {
        let end = End(&ends);
        scope.spawn(|| {
            while !ends.load(Ordering::Relaxed) {
                client.register();
                client.delete(&format!("/v1/keys/{}", keys().2)).ok();
            }
        });
        for round in 0..10 {
            let [file, folder] = ["tar", "store"].map(|name| place.path().join(format!("{round}.{name}")));
            let contents = store.backup(&file).unwrap();
            assert_eq!(Store::restore(&file, &folder).unwrap(), contents);
            let checked = Store::open(&folder).unwrap().check().unwrap();
            assert!(checked.contents == contents && checked.missing.is_empty() && checked.damaged.is_empty());
        }
        drop(end);
    });

    let input = client.input(Type::Uint(8), 2)["blob"].as_str().unwrap().to_owned();
    let path = harness.folder.path().join("blobs/local").join(&input[3..5]).join(&input[5..]);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let checked = store.check().unwrap();
    assert_eq!((checked.damaged, checked.missing.len()), (vec![format!("local {input}")], 0));
    let file = place.path().join("damaged.tar");
    store.backup(&file).unwrap();
    let folder = place.path().join("damaged.store");
    let refused = |file: &std::path::Path| {
        let error = Store::restore(file, &folder).unwrap_err().to_string();
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        error
    };
    assert!(refused(&file).contains("is damaged"));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(store.check().unwrap().missing, [format!("local {input}")]);
    let error = store.backup(&place.path().join("missing.tar")).unwrap_err().to_string();
    assert!(error.contains(&input) && error.contains("admin check"), "{error}");
    let whole = std::fs::read(place.path().join("0.tar")).unwrap();
    std::fs::write(&file, &whole[..2000]).unwrap();
    refused(&file);
    std::fs::write(&file, "no archive").unwrap();
    refused(&file);
}
