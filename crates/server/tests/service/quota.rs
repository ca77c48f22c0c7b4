//! The quota of stored bytes: it holds for requests side by side, and counts everything that a tenant leaves.

use crate::harness::{Client, Harness, U8, digest, keys};
use crate::parts;
use serde_json::{Value, json};
use solinas_engine::Plain;
use solinas_server::Store;

/// A file of about this many bytes, which is not equal to that of another number.
fn file(number: u8, bytes: usize) -> Vec<u8> {
    let plain = Plain::new(U8, Some(vec![bytes / 32]), vec![u128::from(number); bytes / 32]).unwrap();
    keys().0.encrypt(&plain).unwrap().to_bytes().unwrap()
}

fn stored(client: &Client) -> u64 {
    client.get("/v1/usage").ok()["today"]["stored_bytes"].as_u64().unwrap()
}

#[test]
fn requests_side_by_side_do_not_pass_the_quota() {
    const QUOTA: u64 = 90_000;
    let harness = Harness::with(|config| config.limits.stored_bytes = QUOTA);
    let client = &harness.client;
    let files: Vec<_> = (0..8).map(|number| file(number, 20_000)).collect();
    for way in ["whole", "in parts"] {
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let send = |bytes: &Vec<u8>| match way {
                "whole" => client.put(&format!("/v1/blobs/{}", digest(bytes)), bytes),
                _ => parts::declare(client, &digest(bytes), bytes.len()),
            };
            let sends: Vec<_> = files.iter().map(|bytes| scope.spawn(move || send(bytes).status)).collect();
            sends.into_iter().map(|send| send.join().unwrap()).collect()
        });
        let accepted = statuses.iter().filter(|&&status| status == 201).count();
        assert!(
            (3..=4).contains(&accepted) && statuses.iter().all(|status| [201, 429].contains(status)),
            "{way}: {statuses:?}"
        );
        assert!(stored(client) <= QUOTA, "{way}: {}", stored(client));
        for bytes in &files {
            client.delete(&format!("/v1/blobs/{}", digest(bytes)));
        }
    }
}

/// What a tenant sends, whatever becomes of it, counts until it is removed.
#[test]
fn everything_that_a_tenant_leaves_counts() {
    let harness = Harness::with(|config| config.local_worker = false);
    let client = &harness.client;
    let mut body = client.job("add", 1, 2);
    // The values of a constant are in the record of the job.
    body["inputs"][1] = json!({ "constant": { "type": "u8", "values": ["7"] } });
    body["name"] = json!("n".repeat(150));
    let mut waiting = stored(client);
    let mut ids: Vec<Value> = Vec::new();
    let grows = |what: &str, before: u64, least: u64| {
        let now = stored(client);
        assert!(now >= before + least, "{what}: {before} and {now}");
        now
    };
    for number in 0..3 {
        ids.push(client.submit(&format!("job {number}"), &body).ok()["id"].clone());
        // The first job stores its plan too.
        waiting = grows("a job that waits", waiting, 1024);
    }
    for id in &ids {
        client.post(&format!("/v1/jobs/{}/cancel", id.as_str().unwrap()), &json!({})).ok();
    }
    let cancelled = grows("jobs that were cancelled", waiting, 0);
    // An upload that is cut counts as a whole, and an end of it gives its room back.
    let upload = parts::begin(client, &keys().1);
    grows("an upload that is not whole", cancelled, keys().1.len() as u64);
    client.delete(&format!("/v1/uploads/{upload}")).ok();
    assert_eq!(stored(client), cancelled);
    let store = Store::open(harness.folder.path()).unwrap();
    store.set_quota("local", None, Some(cancelled), None).unwrap();
    client.submit("one more", &body).refused(429, "over_quota");
    for id in &ids {
        client.delete(&format!("/v1/jobs/{}", id.as_str().unwrap())).ok();
    }
    assert!(stored(client) <= waiting - 3 * 1024, "{}", stored(client));
    client.submit("one more", &body).ok();
}
