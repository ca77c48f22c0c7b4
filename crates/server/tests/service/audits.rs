//! Jobs that run twice, so that their results are compared. A worker with broken memory is made of single requests, and sends other bytes.

use crate::harness::{Client, Harness, U8, digest, keys};
use crate::work::{ask_as, end, periods, service, submit};
use crate::workers::Running;
use serde_json::{Value, json};
use solinas_engine::{Plain, Type};
use std::sync::Mutex;
use std::time::Duration;

/// A worker that sends what it likes.
struct Fake {
    access: Client,
    number: String,
}

impl Fake {
    /// A worker that the service has heard.
    fn new(harness: &Harness) -> Self {
        let fake = Self { access: harness.worker(), number: number() };
        assert_eq!(fake.ask(0), None);
        fake
    }

    /// The path of the lease of a job, if there is one.
    fn ask(&self, wait: u64) -> Option<String> {
        let answer = ask_as(&self.access, &self.number, wait);
        let granted = (answer.status == 200).then(|| answer.json())?;
        Some(format!("/internal/leases/{}", granted["lease"].as_str().unwrap()))
    }

    /// Runs the only job, with this result.
    fn run(&self, result: &[u8]) {
        let lease = self.ask(20).expect("no job");
        self.access.put(&format!("{lease}/results/{}", digest(result)), result).ok();
        let row = json!({ "name": "out", "digest": digest(result), "type": "u8", "shape": null, "bytes": 1, "compact": false });
        self.access.post(&format!("{lease}/complete"), &end(json!({ "succeeded": [row] }))).ok();
    }
}

/// A number that a worker chooses.
fn number() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static LAST: AtomicU64 = AtomicU64::new(0);
    format!("{:026}", LAST.fetch_add(1, Ordering::Relaxed))
}

fn ciphertext(value: u64) -> Vec<u8> {
    keys().0.encrypt(&Plain::scalar(U8, value).unwrap()).unwrap().to_bytes().unwrap()
}

/// The value of a counter.
fn counter(client: &Client, name: &str) -> u64 {
    let metrics = String::from_utf8(client.get("/metrics").bytes).unwrap();
    let line =
        metrics.lines().find(|line| line.starts_with(&format!("{name} ")) || line.starts_with(&format!("{name}{{")));
    line.unwrap_or_else(|| panic!("no {name}: {metrics}")).rsplit_once(' ').unwrap().1.parse().unwrap()
}

/// The lines of the log of this process, which has several services, from now on.
fn log() -> &'static Mutex<Vec<u8>> {
    #[derive(Debug)]
    struct Lines;
    static LINES: Mutex<Vec<u8>> = Mutex::new(Vec::new());
    impl std::io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            LINES.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let level = tracing_subscriber::filter::LevelFilter::ERROR;
    // Another test may have begun it.
    let _ = tracing_subscriber::fmt().json().with_max_level(level).with_writer(|| Lines).try_init();
    &LINES
}

#[test]
fn a_drawn_job_runs_twice_from_its_beginning() {
    let harness = Harness::with(|config| {
        config.limits.verify_fraction = 1.0;
        config.checkpoint = Duration::ZERO;
    });
    let client = &harness.client;
    let wide = Type::Uint(16);
    let inputs = [client.input(wide, 300), client.input(wide, 7)];
    let mut body =
        json!({ "key": client.register(), "program": client.program("mul", &[wide, wide]), "inputs": inputs });
    let id = client.submit("twice", &body).ok()["id"].as_str().unwrap().to_owned();
    let job = client.wait(&id);
    assert_eq!(
        (&job["state"], &job["audit"]),
        (&json!("succeeded"), &json!({ "runs": 2, "divergent": false })),
        "{job}"
    );
    assert_eq!(client.result(&id), "2100");
    assert_eq!(client.periods(&id), periods(&[("service", 1, 0, "audited"), ("service", 2, 0, "succeeded")]));
    assert_eq!(counter(client, "solinas_bootstraps_total"), 2 * job["progress"]["total"].as_u64().unwrap());
    assert_eq!(counter(client, "solinas_attempts_total"), 2);
    assert_eq!(counter(client, "solinas_jobs_ended_total{end=\"succeeded\"}"), 1);
    assert_eq!(counter(client, "solinas_audited_runs_total"), 1);
    assert_eq!(counter(client, "solinas_divergent_results_total"), 0);
    assert_eq!(std::fs::read_dir(harness.folder.path().join("checkpoints")).unwrap().count(), 0);
    // A second run might miss the deadline.
    body["deadline"] = json!((jiff::Timestamp::now() + Duration::from_secs(600)).to_string());
    let job = client.wait(client.submit("late", &body).ok()["id"].as_str().unwrap());
    assert_eq!((&job["state"], &job["audit"]), (&json!("succeeded"), &Value::Null), "{job}");
}

#[test]
fn a_flipped_bit_is_reported_and_a_third_run_decides() {
    let log = log();
    let harness = service(|config| config.limits.verify_fraction = 1.0);
    let client = &harness.client;
    let [broken, second, third] = [(); 3].map(|()| Fake::new(&harness));
    let id = submit(client, "flipped");
    let path = format!("/v1/jobs/{id}");
    let (right, wrong) = (ciphertext(44), ciphertext(45));
    broken.run(&wrong);
    let job = client.get(&path).ok();
    assert_eq!((&job["state"], &job["results"]), (&json!("queued"), &Value::Null), "{job}");
    client.get(&format!("{path}/results/0")).refused(409, "not_done");
    // Another worker is there, so the same one does not check itself.
    assert_eq!(broken.ask(0), None);
    second.run(&right);
    let job = client.get(&path).ok();
    assert_eq!((&job["state"], &job["audit"]), (&json!("queued"), &json!({ "runs": 2, "divergent": true })), "{job}");
    assert_eq!(counter(client, "solinas_divergent_results_total"), 1);
    let log = String::from_utf8(log.lock().unwrap().clone()).unwrap();
    let line = log.lines().find(|line| line.contains(&id)).unwrap();
    for part in ["ERROR", "local", "broken", &broken.number, &second.number, &digest(&wrong), &digest(&right)] {
        assert!(line.contains(part), "no {part}: {line}");
    }
    assert_eq!((broken.ask(0), second.ask(0)), (None, None));
    third.run(&right);
    let job = client.wait(&id);
    assert_eq!(
        (&job["state"], &job["audit"]),
        (&json!("succeeded"), &json!({ "runs": 3, "divergent": true })),
        "{job}"
    );
    assert_eq!(client.result(&id), "44");
    let runs = [("worker 1", 1, 0, "audited"), ("worker 2", 2, 0, "audited"), ("worker 3", 3, 0, "succeeded")];
    assert_eq!(client.periods(&id), periods(&runs));
    // The tenant pays for one of three runs.
    assert_eq!(job["core_seconds"], 2.0);
    assert_eq!(client.get("/v1/usage").ok()["today"]["core_seconds"], 2.0);
    assert_eq!(counter(client, "solinas_audited_runs_total"), 2);
    assert_eq!(counter(client, "solinas_divergent_results_total"), 1);
    // The operator has the wrong result too, as long as the job is there.
    client.delete(&format!("/v1/blobs/{}", digest(&wrong))).refused(409, "in_use");
    assert_eq!(client.get(&format!("/v1/blobs/{}", digest(&wrong))).bytes, wrong);
}

#[test]
fn three_different_results_fail_the_job() {
    let harness = service(|config| config.limits.verify_fraction = 1.0);
    let client = &harness.client;
    let workers = [(); 3].map(|()| Fake::new(&harness));
    let id = submit(client, "broken");
    let results = [1, 2, 3].map(ciphertext);
    for (worker, result) in workers.iter().zip(&results) {
        worker.run(result);
    }
    let job = client.wait(&id);
    assert_eq!((&job["state"], &job["error"]["code"]), (&json!("failed"), &json!("divergent_results")), "{job}");
    assert!(job["error"]["detail"].as_str().unwrap().contains("hardware or memory"), "{job}");
    assert_eq!(counter(client, "solinas_divergent_results_total"), 2);
    for result in &results {
        client.delete(&format!("/v1/blobs/{}", digest(result))).refused(409, "in_use");
    }
}

#[test]
fn two_machines_check_each_other() {
    let harness = Harness::for_workers(|config| config.limits.verify_fraction = 1.0);
    let client = &harness.client;
    let running = Running::start(&harness.worker());
    running.joined(client);
    let id = submit(client, "both");
    let job = client.wait(&id);
    assert_eq!(
        (&job["state"], &job["audit"]),
        (&json!("succeeded"), &json!({ "runs": 2, "divergent": false })),
        "{job}"
    );
    assert_eq!(client.result(&id), "44");
    assert_eq!(running.stop().iter().filter(|news| matches!(news, solinas_server::WorkerNews::Begins(_))).count(), 1);
}
