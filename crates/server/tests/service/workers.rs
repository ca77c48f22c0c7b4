//! Whole workers, as `solinas work` runs them, beside the worker of the service.

use crate::harness::{Client, Harness, LONG, U8, for_workers, keys, reduction};
use serde_json::{Value, json};
use solinas_engine::program::How;
use solinas_engine::{Ciphertext, Plain, Program, Type};
use solinas_server::{Error, Worker, WorkerConfig, WorkerNews};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A worker in a thread of this process.
pub(crate) struct Running {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), Error>>,
    news: Arc<Mutex<Vec<WorkerNews>>>,
    _cache: TempDir,
}

impl Running {
    pub(crate) fn start(access: &Client) -> Self {
        Self::on(access, "cpu")
    }

    /// A worker on a device.
    pub(crate) fn on(access: &Client, device: &str) -> Self {
        let cache = tempfile::tempdir().unwrap();
        let config = WorkerConfig {
            service: access.url.clone(),
            token: access.token.clone(),
            trust: solinas_client::Trust::default(),
            cache: cache.path().to_path_buf(),
            cache_bytes: 1 << 30,
            key_memory_bytes: None,
            threads: Some(1),
            device: Some(device.parse().unwrap()),
        };
        let (stop, news) = (Arc::new(AtomicBool::new(false)), Arc::<Mutex<Vec<WorkerNews>>>::default());
        let heard = Arc::clone(&news);
        let worker = Worker::new(config, move |news| heard.lock().unwrap().push(news)).unwrap();
        let ends = Arc::clone(&stop);
        let thread = std::thread::spawn(move || worker.run(&ends));
        Self { stop, thread, news, _cache: cache }
    }

    /// Waits until the service has heard the worker.
    pub(crate) fn joined(&self, client: &Client) {
        until(|| {
            String::from_utf8(client.get("/metrics").bytes).unwrap().contains("\nsolinas_workers 1\n").then_some(())
        });
    }

    /// Stops the worker, and returns its news.
    pub(crate) fn stop(self) -> Vec<WorkerNews> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap().unwrap();
        self.news.lock().unwrap().clone()
    }
}

/// Waits for something, for two minutes at most.
fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "it does not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn submit(client: &Client, name: &str, body: &Value) -> String {
    client.submit(name, body).ok()["id"].as_str().unwrap().to_owned()
}

fn digest(job: &Value) -> &str {
    assert_eq!(job["state"], "succeeded", "{job}");
    job["results"][0]["digest"].as_str().unwrap()
}

#[test]
fn a_worker_elsewhere_gives_the_bytes_of_the_service() {
    let mut harness = Harness::for_workers(|config| config.local_worker = false);
    let client = harness.client.clone();
    let running = Running::start(&harness.worker());
    let mut bodies = vec![client.job("add", 200, 100), client.job("mul", 20, 12)];
    // A job with a compact result, and a reduction.
    bodies.push(bodies[0].clone());
    bodies[2]["compact"] = json!(true);
    let values: Vec<String> = (1..=9).map(|value| value.to_string()).collect();
    let array = Plain::parse(U8, &values, Some(vec![9])).unwrap();
    let array = client.upload(&keys().0.encrypt(&array).unwrap().to_bytes().unwrap());
    let sum = client.stored(&reduction(&Program::from_op("not", &[U8]).unwrap(), How::Sum));
    bodies.push(json!({ "key": client.register(), "program": sum, "inputs": [{ "blob": array }] }));
    let compute = |client: &Client, place: &str| -> Vec<Value> {
        let ids: Vec<_> =
            bodies.iter().enumerate().map(|(n, body)| submit(client, &format!("{place} {n}"), body)).collect();
        ids.iter().map(|id| client.wait(id)).collect()
    };
    let elsewhere = compute(&client, "elsewhere");
    assert_eq!(client.result(elsewhere[3]["id"].as_str().unwrap()), "202");
    let compact = client.get(&format!("/v1/jobs/{}/results/0", elsewhere[2]["id"].as_str().unwrap()));
    assert!(Ciphertext::from_bytes(&compact.bytes).unwrap().is_compact());
    for job in &elsewhere {
        assert_eq!(job["progress"]["done"], job["progress"]["total"], "{job}");
        assert!(job["core_seconds"].as_f64() > Some(0.0) && job["attempts"] == 1, "{job}");
        let schedule = client.get(&format!("/v1/jobs/{}/schedule", job["id"].as_str().unwrap())).ok();
        assert!(schedule["waves"][0]["measured_ms"].as_f64().is_some(), "{schedule}");
    }
    let metrics = String::from_utf8(client.get("/metrics").bytes).unwrap();
    for line in
        ["solinas_jobs_ended_total{end=\"succeeded\"} 4", "solinas_attempts_total 4", "solinas_lease_lost_total 0"]
    {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    assert!(metrics.contains("solinas_bootstraps_total{params=\"gates-toy\"}"), "{metrics}");
    let news = running.stop();
    assert_eq!(news[0], WorkerNews::Joined);
    assert_eq!(news.iter().filter(|news| matches!(news, WorkerNews::Begins(_))).count(), 4, "{news:?}");
    harness.restart(|_| {});
    let here = compute(&harness.client, "here");
    assert_eq!(
        elsewhere.iter().map(digest).collect::<Vec<_>>(),
        here.iter().map(digest).collect::<Vec<_>>(),
        "the place of the computation does not change a byte"
    );
}

#[test]
fn a_stopped_worker_leaves_its_progress_to_another() {
    let harness = Harness::for_workers(|config| {
        config.local_worker = false;
        config.checkpoint = Duration::from_secs(3600);
    });
    let client = &harness.client;
    let first = Running::start(&harness.worker());
    let id = submit(client, "stop", &client.long_job());
    let path = format!("/v1/jobs/{id}");
    until(|| (client.get(&path).ok()["progress"]["done"].as_u64() >= Some(100)).then_some(()));
    first.stop();
    let job = client.get(&path).ok();
    assert_eq!((&job["state"], &job["attempts"]), (&json!("queued"), &json!(0)), "{job}");
    let done = job["progress"]["done"].as_u64().unwrap();
    assert!(done >= 100, "{job}");
    let bootstraps = || -> u64 {
        let metrics = String::from_utf8(client.get("/metrics").bytes).unwrap();
        let line = metrics.lines().find(|line| line.starts_with("solinas_bootstraps_total{")).unwrap();
        line.rsplit_once(' ').unwrap().1.parse().unwrap()
    };
    let before = bootstraps();
    let second = Running::start(&harness.worker());
    assert_eq!(client.wait(&id)["state"], "succeeded");
    assert_eq!(client.result(&id), LONG);
    let total = client.get(&path).ok()["progress"]["total"].as_u64().unwrap();
    let again = bootstraps() - before;
    assert!(again + 100 <= total, "{again} of {total} bootstraps after the stop");
    second.stop();
    assert_eq!(std::fs::read_dir(harness.folder.path().join("checkpoints")).unwrap().count(), 0);
}

#[test]
fn a_cancelled_job_frees_its_worker() {
    let harness = Harness::for_workers(|config| config.local_worker = false);
    let client = &harness.client;
    let running = Running::start(&harness.worker());
    let id = submit(client, "cancel", &client.long_job());
    until(|| (client.get(&format!("/v1/jobs/{id}")).ok()["progress"]["done"].as_u64() >= Some(1)).then_some(()));
    client.post(&format!("/v1/jobs/{id}/cancel"), &json!({})).ok();
    let next = submit(client, "next", &client.job("add", 1, 1));
    assert_eq!(client.wait(&next)["state"], "succeeded");
    assert_eq!(client.get(&format!("/v1/jobs/{id}")).ok()["state"], "cancelled");
    assert!(running.stop().contains(&WorkerNews::Lost(id)));
}

#[test]
fn a_result_may_be_larger_than_an_upload() {
    let mut harness = Harness::for_workers(|config| config.local_worker = false);
    let body = harness.client.job("add", 200, 100);
    harness.restart(|config| {
        for_workers(config);
        config.local_worker = false;
        config.limits.blob_bytes = 100;
    });
    let client = &harness.client;
    let running = Running::start(&harness.worker());
    let id = submit(client, "large", &body);
    let job = client.wait(&id);
    assert!(job["state"] == "succeeded" && job["results"][0]["bytes"].as_u64() > Some(100), "{job}");
    assert_eq!(client.result(&id), "44");
    running.stop();
}

#[test]
fn a_worker_that_fails_takes_no_job_for_a_time() {
    let harness = Harness::for_workers(|config| {
        config.local_worker = false;
        config.limits.attempts = 1;
    });
    let client = &harness.client;
    let body = client.job("add", 200, 100);
    let ids: Vec<_> = (0..4).map(|number| submit(client, &format!("fails {number}"), &body)).collect();
    // The worker finds other bytes than those of the key.
    let place = harness.place("local", &crate::harness::digest(&keys().1));
    let mut bytes = std::fs::read(&place).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&place, bytes).unwrap();
    let begin = Instant::now();
    let running = Running::start(&harness.worker());
    for id in &ids {
        let job = client.wait(id);
        assert_eq!((&job["state"], &job["error"]["code"]), (&json!("failed"), &json!("internal")), "{job}");
    }
    // Half a second, one and two between the four of them.
    assert!(begin.elapsed() >= Duration::from_millis(3500), "{:?}", begin.elapsed());
    running.stop();
}

#[test]
fn deadlines_hold_on_other_machines() {
    let harness = Harness::for_workers(|config| {
        config.local_worker = false;
        config.limits.queue_seconds = 1e9;
    });
    let client = &harness.client;
    let running = Running::start(&harness.worker());
    // These products take many times longer than the deadline.
    let wide = Type::Uint(64);
    let array = Plain::new(wide, Some(vec![64]), vec![3; 64]).unwrap();
    let blob = json!({ "blob": client.upload(&keys().0.encrypt(&array).unwrap().to_bytes().unwrap()) });
    let mut body = json!({ "key": client.register(), "program": client.program("mul", &[wide, wide]),
                           "inputs": [blob.clone(), blob] });
    body["deadline"] = json!((jiff::Timestamp::now() + Duration::from_secs(4)).to_string());
    let job = client.wait(&submit(client, "late", &body));
    assert_eq!((&job["state"], &job["error"]["code"]), (&json!("failed"), &json!("deadline_passed")), "{job}");
    running.stop();
}

#[test]
fn a_worker_waits_for_a_service_that_is_away_and_ends_when_it_is_refused() {
    let harness = Harness::for_workers(|config| config.local_worker = false);
    let client = harness.client.clone();
    let access = harness.worker();
    let running = Running::start(&access);
    let id = submit(&client, "before", &client.job("add", 1, 2));
    client.wait(&id);
    let store = solinas_server::Store::open(harness.folder.path()).unwrap();
    let token = store.tokens().unwrap().into_iter().find(|token| token.scopes == "work").unwrap();
    store.revoke(&token.id).unwrap();
    // Its present request for a job ends, or a job comes.
    submit(&client, "after", &client.job("add", 1, 3));
    until(|| running.thread.is_finished().then_some(()));
    let error = running.thread.join().unwrap().unwrap_err().to_string();
    assert!(error.contains("--scope work"), "{error}");
    drop(harness);
    let away = Running::start(&access);
    until(|| away.news.lock().unwrap().iter().any(|news| matches!(news, WorkerNews::Away(_))).then_some(()));
    std::thread::sleep(Duration::from_millis(1500));
    // Several tries have failed since, and it was told once.
    assert_eq!(away.stop().len(), 1);
}
