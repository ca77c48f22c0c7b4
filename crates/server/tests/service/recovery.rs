//! What a stop, a restart and an expiry leave.

use crate::harness::{Harness, LONG, keys};
use crate::work::periods;
use serde_json::{Value, json};
use solinas_server::Scope;
use std::time::Duration;

#[test]
fn jobs_continue_after_a_stop() {
    let mut harness = Harness::with(|config| config.checkpoint = Duration::ZERO);
    let client = harness.client.clone();
    let id = client.submit("stop", &client.long_job()).ok()["id"].as_str().unwrap().to_owned();
    while client.get(&format!("/v1/jobs/{id}")).ok()["progress"]["done"].as_u64() < Some(100) {
        std::thread::sleep(Duration::from_millis(10));
    }
    harness.restart(|_| {});
    let client = &harness.client;
    let job = client.get(&format!("/v1/jobs/{id}")).ok();
    assert_eq!(client.wait(&id)["state"], "succeeded", "{job}");
    assert_eq!(client.result(&id), LONG);
    // A stop is a pause.
    assert_eq!(client.periods(&id), periods(&[("service", 1, 1, "succeeded")]));
    // The second service did the rest alone.
    let metrics = String::from_utf8(client.get("/metrics").bytes).unwrap();
    let line = metrics.lines().find(|line| line.starts_with("solinas_bootstraps_total{")).unwrap();
    let again: u64 = line.rsplit_once(' ').unwrap().1.parse().unwrap();
    let total = client.get(&format!("/v1/jobs/{id}")).ok()["progress"]["total"].as_u64().unwrap();
    assert!(again + 100 <= total, "{again} of {total} bootstraps after the stop");
    // Its progress is not kept any more.
    assert_eq!(std::fs::read_dir(harness.folder.path().join("checkpoints")).unwrap().count(), 0);
}

#[test]
fn a_job_without_room_for_its_progress_goes_on() {
    let harness = Harness::with(|config| config.checkpoint = Duration::from_secs(3600));
    let client = &harness.client;
    let long = client.submit("long", &client.long_job()).ok()["id"].as_str().unwrap().to_owned();
    while client.get(&format!("/v1/jobs/{long}")).ok()["progress"]["done"].as_u64() < Some(1) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let other = harness.other("other", &[Scope::Jobs, Scope::Keys]);
    let checkpoints = harness.folder.path().join("checkpoints");
    std::fs::remove_dir_all(&checkpoints).unwrap();
    std::fs::write(&checkpoints, b"").unwrap();
    // Another tenant waits, so the job would pause.
    let short = other.submit("short", &other.job("add", 200, 100)).ok()["id"].as_str().unwrap().to_owned();
    let total = |job: &Value| job["progress"]["total"].as_u64().unwrap();
    let all = total(&other.wait(&short)) + total(&client.wait(&long));
    assert_eq!((other.result(&short), client.result(&long)), ("44".to_owned(), LONG.to_owned()));
    let metrics = String::from_utf8(client.get("/metrics").bytes).unwrap();
    let line = format!("solinas_bootstraps_total{{params=\"gates-toy\"}} {all}");
    assert!(metrics.lines().any(|found| found == line), "no bootstrap is done twice: {line}: {metrics}");
}

#[test]
fn results_expire_and_unused_blobs_go() {
    let mut harness = Harness::new();
    let client = harness.client.clone();
    let mut body = client.job("add", 3, 4);
    body["keep_for"] = json!(0);
    let id = client.submit("short", &body).ok()["id"].as_str().unwrap().to_owned();
    client.wait(&id);
    harness.restart(|config| config.limits.unused_blob_days = 0);
    let client = &harness.client;
    let path = format!("/v1/jobs/{id}");
    // The first removal is at the start.
    for _ in 0..100 {
        if client.get(&path).ok()["state"] == "expired" {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    client.get(&format!("{path}/results/0")).refused(410, "expired");
    let input = body["inputs"][0]["blob"].as_str().unwrap();
    for _ in 0..100 {
        if client.get(&format!("/v1/blobs/{input}")).status == 404 {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    client.get(&format!("/v1/blobs/{input}")).refused(404, "not_found");
    client.get(&format!("/v1/keys/{}", keys().2)).ok();
}

#[test]
fn one_process_serves_a_store() {
    let harness = Harness::new();
    let config = solinas_server::Config::new(harness.folder.path().to_path_buf());
    let error = solinas_server::Service::start(config).unwrap_err().to_string();
    assert!(error.contains("another process serves the store") && error.contains("--store"), "{error}");
}
