//! The listener for workers on other machines, as a worker made of single requests sees it.

use crate::harness::{Answer, Client, Harness, U8, for_workers, keys};
use serde_json::{Value, json};
use solinas_engine::{Plain, Type};
use solinas_server::Scope;
use std::time::Instant;

/// The identity of a worker.
const WORKER: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// Asks for a job.
pub(crate) fn ask(worker: &Client, wait: u64) -> Answer {
    ask_as(worker, WORKER, wait)
}

/// Asks for a job as the worker with a number.
pub(crate) fn ask_as(worker: &Client, number: &str, wait: u64) -> Answer {
    let version = env!("CARGO_PKG_VERSION");
    worker.post("/internal/leases", &json!({ "version": version, "worker": number, "threads": 2, "wait": wait }))
}

/// Asks for a job, which must be there. Returns the path of its lease, and what the service says.
pub(crate) fn granted(worker: &Client) -> (String, Value) {
    let granted = ask(worker, 20).ok();
    (format!("/internal/leases/{}", granted["lease"].as_str().unwrap()), granted)
}

/// News of a job that has run for some time.
fn news(ran: u64, done: u64, renewal: Value) -> Value {
    let progress = json!({ "done": done, "total": 1000, "wave": 1, "waves": 9 });
    json!({ "worker": WORKER, "threads": 2, "ran": ran, "progress": progress, "renewal": renewal })
}

/// The end of a run.
pub(crate) fn end(end: Value) -> Value {
    json!({ "end": end, "seconds": 1.0, "core_ms": 2000, "bootstraps": 0,
            "progress": { "done": 0, "total": 0, "wave": 0, "waves": 0 } })
}

/// A service that computes nothing itself.
pub(crate) fn service(change: impl FnOnce(&mut solinas_server::Config)) -> Harness {
    Harness::for_workers(|config| {
        config.local_worker = false;
        change(config);
    })
}

/// Periods of a job, as [`Client::periods`] gives them.
pub(crate) fn periods(all: &[(&str, u64, u64, &str)]) -> Vec<(String, u64, u64, String)> {
    all.iter().map(|&(worker, run, pauses, state)| (worker.to_owned(), run, pauses, state.to_owned())).collect()
}

pub(crate) fn submit(client: &Client, name: &str) -> String {
    client.submit(name, &client.job("add", 200, 100)).ok()["id"].as_str().unwrap().to_owned()
}

#[test]
fn tokens_open_one_listener_alone() {
    let harness = Harness::for_workers(|_| {});
    let worker = harness.worker();
    assert!(worker.token.starts_with("slw_"));
    assert_eq!(ask(&worker, 0).status, 204);
    let lease = "/internal/leases/local.01ARZ3NDEKTSV4RRFFQ69G5FAV.1";
    let digest = crate::harness::digest(b"");
    let routes = [
        ("POST", "/internal/leases".to_owned()),
        ("POST", format!("{lease}/renew")),
        ("POST", format!("{lease}/complete")),
        ("GET", format!("{lease}/blobs/{digest}")),
        ("PUT", format!("{lease}/results/{digest}")),
        ("GET", format!("{lease}/state")),
    ];
    let all = harness.other("local", &[Scope::Read, Scope::Jobs, Scope::Keys, Scope::Admin]);
    for token in [&all.token, "slw_wrong", ""] {
        let other = Client::new(&worker.url, token);
        for (method, path) in &routes {
            other.send(method, path, &[], b"{}").refused(401, "unauthorized");
        }
    }
    // No lease has this name, so none holds.
    for (method, path) in &routes[1..] {
        worker.send(method, path, &[], b"{}").refused(409, "lease_lost");
        let bad = path.replace("local.", "../local.");
        assert_eq!(worker.send(method, &bad, &[], b"{}").status, 404, "{bad}");
    }
    for path in ["/v1/version", "/healthz", "/metrics", "/", "/internal"] {
        worker.get(path).refused(404, "not_found");
    }
    let outside = Client::new(&harness.client.url, &worker.token);
    for path in ["/v1/keys", "/v1/jobs", "/v1/usage", "/metrics"] {
        outside.get(path).refused(401, "unauthorized");
    }
    outside.post("/internal/leases", &json!({})).refused(404, "not_found");
    let store = solinas_server::Store::open(harness.folder.path()).unwrap();
    for scopes in [&[Scope::Work][..], &[Scope::Work, Scope::Read]] {
        let error = store.create_token("local", scopes, None).unwrap_err().to_string();
        assert!(error.contains("belongs to no tenant"), "{error}");
    }
    let token = store.tokens().unwrap().into_iter().find(|token| token.scopes == "work").unwrap();
    store.revoke(&token.id).unwrap();
    ask(&worker, 0).refused(401, "unauthorized");
}

#[test]
fn a_worker_of_another_version_is_told_both() {
    let harness = Harness::for_workers(|_| {});
    let body = json!({ "version": "0.0.7", "worker": WORKER, "threads": 2, "wait": 0 });
    let problem = harness.worker().post("/internal/leases", &body).refused(409, "other_version");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("0.0.7") && detail.contains(env!("CARGO_PKG_VERSION")), "{detail}");
    harness.worker().post("/internal/leases", &json!({ "version": 3 })).refused(400, "bad_request");
}

#[test]
fn a_lease_opens_the_files_of_its_job_alone() {
    let harness = service(|_| {});
    let client = &harness.client;
    let worker = harness.worker();
    let foreign = client.upload(&keys().0.encrypt(&Plain::scalar(U8, 9).unwrap()).unwrap().to_bytes().unwrap());
    let job = client.job("add", 200, 100);
    client.submit("files", &job).ok();
    let (lease, granted) = granted(&worker);
    assert_eq!(granted["tenant"], "local");
    let plan = granted["spec"]["plan"].as_str().unwrap();
    let program = job["program"].as_str().unwrap();
    let key = granted["key"].as_str().unwrap();
    let inputs = [0, 1].map(|number| job["inputs"][number]["blob"].as_str().unwrap());
    for digest in [plan, program, key, inputs[0], inputs[1]] {
        let file = worker.get(&format!("{lease}/blobs/{digest}"));
        assert_eq!((file.status, crate::harness::digest(&file.bytes)), (200, digest.to_owned()));
    }
    worker.get(&format!("{lease}/blobs/{foreign}")).refused(404, "not_found");
    worker.get(&format!("{lease}/blobs/..%2f..%2fsolinas.db")).refused(404, "not_found");
    worker.get(&format!("{lease}/state")).refused(404, "not_found");
    worker.get(&format!("{lease}/lock")).refused(404, "not_found");
    // The token of another worker does not open it.
    harness.worker().get(&format!("{lease}/blobs/{program}")).refused(409, "lease_lost");
    // The tenant is not charged for the work of the service.
    assert_eq!(client.get("/v1/usage").ok()["today"]["bytes_out"], 0);
}

#[test]
fn what_a_worker_sends_is_checked() {
    let harness = service(|_| {});
    let client = &harness.client;
    let worker = harness.worker();
    let id = submit(client, "checked");
    let (lease, _) = granted(&worker);
    let put = |path: &str, bytes: &[u8]| worker.put(&format!("{lease}/{path}"), bytes);
    let secret = keys().0.to_bytes().unwrap();
    let result = |bytes: &[u8]| put(&format!("results/{}", crate::harness::digest(bytes)), bytes);
    result(&secret).refused(422, "secret_file");
    put("state", &secret).refused(422, "secret_file");
    put("state", b"something else").refused(422, "bad_file");
    put("other", &keys().1).refused(404, "not_found");
    let ciphertext = keys().0.encrypt(&Plain::scalar(U8, 44).unwrap()).unwrap().to_bytes().unwrap();
    put(&format!("results/{}", crate::harness::digest(b"")), &ciphertext).refused(400, "digest_mismatch");
    let (other, _): (solinas_engine::ClientKey, solinas_engine::ServerKey) = {
        let options = solinas_engine::KeygenOptions {
            params: Some("gates-toy".into()),
            research: true,
            insecure_seed: Some(99),
            ..Default::default()
        };
        solinas_engine::keygen(&options, &solinas_engine::Control::default()).unwrap()
    };
    let foreign = other.encrypt(&Plain::scalar(U8, 1).unwrap()).unwrap().to_bytes().unwrap();
    result(&foreign).refused(422, "wrong_key");
    assert!(!harness.place("local", &crate::harness::digest(&foreign)).exists(), "what is refused does not stay");
    let row = |digest: &str, ty: &str| {
        let row = json!({ "name": "out", "digest": digest, "type": ty, "shape": null, "bytes": 7, "compact": false });
        end(json!({ "succeeded": [row] }))
    };
    let complete = |body: &Value| worker.post(&format!("{lease}/complete"), body);
    let digest = crate::harness::digest(&ciphertext);
    // The key is stored, and is no result.
    complete(&row(&crate::harness::digest(&keys().1), "u8")).refused(422, "wrong_type");
    complete(&row(&digest, "u8")).refused(424, "blob_missing");
    assert_eq!(result(&ciphertext).status, 201);
    assert_eq!(result(&ciphertext).status, 204);
    complete(&row(&digest, "colour")).refused(422, "bad_program");
    complete(&json!({ "end": "paused" })).refused(400, "bad_request");
    complete(&end(json!({ "failed": { "code": "no_such", "detail": "a", "fix": "b" } }))).refused(400, "bad_request");
    let long = vec![b' '; (16 << 20) + 1];
    worker.send("POST", &format!("{lease}/complete"), &[], &long).refused(413, "too_large");
    assert_eq!(client.get(&format!("/v1/jobs/{id}")).ok()["state"], "running");
    complete(&row(&digest, "u8")).ok();
    let job = client.get(&format!("/v1/jobs/{id}")).ok();
    // The service knows the number of bytes itself.
    assert_eq!((&job["state"], &job["results"][0]["bytes"]), (&json!("succeeded"), &json!(ciphertext.len())));
    assert_eq!(client.result(&id), "44");
    // The answer may have been lost, so the worker may send the same again. It counts once.
    assert_eq!(complete(&row(&digest, "u8")).status, 204);
    complete(&row(&crate::harness::digest(b""), "u8")).refused(409, "lease_lost");
    complete(&end(json!("paused"))).refused(409, "lease_lost");
    put("state", &ciphertext).refused(409, "lease_lost");
    result(&ciphertext).refused(409, "lease_lost");
    assert_eq!(client.get("/v1/usage").ok()["today"]["core_seconds"], 2.0);
    let metrics = String::from_utf8(client.get("/metrics").bytes).unwrap();
    assert!(metrics.contains("\nsolinas_jobs_ended_total{end=\"succeeded\"} 1\n"), "{metrics}");
}

#[test]
fn a_worker_cannot_claim_more_time_than_has_passed() {
    let harness = service(|_| {});
    let client = &harness.client;
    let worker = harness.worker();
    let begin = Instant::now();
    let used = || client.get("/v1/usage").ok()["today"]["core_seconds"].as_f64().unwrap();
    for (name, core_ms) in [("less", i64::MIN), ("more", i64::MAX)] {
        submit(client, name);
        let (lease, _) = granted(&worker);
        let mut outcome = end(json!({ "failed": { "code": "internal", "detail": "a", "fix": "b" } }));
        outcome["core_ms"] = json!(core_ms);
        outcome["seconds"] = json!(1e300);
        worker.post(&format!("{lease}/complete"), &outcome).ok();
        // A second for clocks that are set meanwhile. The largest machine has 4096 threads.
        let most = if core_ms < 0 { 0.0 } else { 4096.0 * (begin.elapsed().as_secs_f64() + 1.0) };
        assert!((0.0..=most).contains(&used()), "{name}: {} of {most}", used());
    }
}

#[test]
fn an_older_lease_is_refused_everywhere() {
    let harness = service(|config| config.limits.lease_seconds = 1);
    let client = &harness.client;
    let worker = harness.worker();
    let id = submit(client, "older");
    let (old, _) = granted(&worker);
    // Its worker says nothing, so another one gets the job.
    let (new, granted) = granted(&worker);
    assert_eq!((granted["id"].as_str(), granted["attempts"].as_u64()), (Some(&*id), Some(2)));
    assert_ne!(old, new);
    let state = keys().0.encrypt(&Plain::scalar(U8, 1).unwrap()).unwrap().to_bytes().unwrap();
    let digest = crate::harness::digest(&state);
    let failed = end(json!({ "failed": { "code": "internal", "detail": "a", "fix": "b" } }));
    for answer in [
        worker.post(&format!("{old}/renew"), &news(10, 5, json!([]))),
        worker.post(&format!("{old}/complete"), &failed),
        worker.post(&format!("{old}/complete"), &end(json!("paused"))),
        worker.put(&format!("{old}/state"), &state),
        worker.get(&format!("{old}/state")),
        worker.put(&format!("{old}/results/{digest}"), &state),
        worker.get(&format!("{old}/blobs/{}", granted["key"].as_str().unwrap())),
    ] {
        answer.refused(409, "lease_lost");
    }
    let metrics = String::from_utf8(client.get("/metrics").bytes).unwrap();
    assert!(metrics.contains("\nsolinas_lease_lost_total 2\n"), "{metrics}");
    assert_eq!(client.get(&format!("/v1/jobs/{id}")).ok()["state"], "running");
    assert_eq!(client.periods(&id), periods(&[("worker 1", 1, 0, "lost"), ("worker 1", 1, 0, "running")]));
    worker.post(&format!("{new}/complete"), &failed).ok();
    let job = client.get(&format!("/v1/jobs/{id}")).ok();
    assert_eq!((&job["state"], &job["error"]["code"]), (&json!("failed"), &json!("internal")));
    assert_eq!(client.periods(&id), periods(&[("worker 1", 1, 0, "lost"), ("worker 1", 1, 0, "failed")]));
}

#[test]
fn progress_and_cancellation_pass_between_client_and_worker() {
    let harness = service(|_| {});
    let client = &harness.client;
    let worker = harness.worker();
    let id = submit(client, "progress");
    let (lease, _) = granted(&worker);
    let wave = json!([[{ "ms": 2.5, "lanes": 1 }]]);
    assert_eq!(worker.post(&format!("{lease}/renew"), &news(10, 7, wave)).ok()["yields"], false);
    let job = client.get(&format!("/v1/jobs/{id}")).ok();
    assert_eq!((&job["progress"]["done"], &job["progress"]["waves"]), (&json!(7), &json!(9)), "{job}");
    assert_eq!((&job["state"], &job["attempts"]), (&json!("running"), &json!(1)));
    let schedule = client.get(&format!("/v1/jobs/{id}/schedule")).ok();
    assert_eq!(schedule["waves"][0]["measured_ms"], 2.5, "{schedule}");
    let metrics = String::from_utf8(client.get("/metrics").bytes).unwrap();
    assert!(metrics.contains("\nsolinas_workers 1\n"), "{metrics}");
    client.post(&format!("/v1/jobs/{id}/cancel"), &json!({})).ok();
    worker.post(&format!("{lease}/renew"), &news(20, 8, json!(null))).refused(409, "lease_lost");
    worker.post(&format!("{lease}/complete"), &end(json!("paused"))).refused(409, "lease_lost");
    assert_eq!(client.get(&format!("/v1/jobs/{id}")).ok()["state"], "cancelled");
    assert_eq!(client.periods(&id), periods(&[("worker 1", 1, 0, "cancelled")]));
}

#[test]
fn a_job_makes_room_for_another_tenant() {
    let harness = service(|_| {});
    let worker = harness.worker();
    let first = submit(&harness.client, "first");
    let (lease, granted_first) = granted(&worker);
    assert_eq!(granted_first["id"], *first);
    let look = |ran| worker.post(&format!("{lease}/renew"), &news(ran, 1, json!(null))).ok()["yields"].clone();
    assert_eq!(look(60_000), false);
    let other = harness.other("other", &[Scope::Jobs, Scope::Keys]);
    let second = submit(&other, "second");
    assert_eq!((look(10), look(60_000)), (json!(false), json!(true)));
    let paused = json!({ "end": "paused", "seconds": 60.0, "core_ms": 120_000, "bootstraps": 1,
                         "progress": { "done": 1, "total": 1000, "wave": 1, "waves": 9 } });
    worker.post(&format!("{lease}/complete"), &paused).ok();
    assert_eq!(harness.client.periods(&first), periods(&[("worker 1", 1, 0, "paused")]));
    assert_eq!(granted(&worker).1["id"], *second);
    let (lease, again) = granted(&worker);
    // A pause is no attempt.
    assert_eq!((&again["id"], &again["attempts"]), (&json!(first), &json!(1)));
    assert_eq!(harness.client.periods(&first), periods(&[("worker 1", 1, 1, "running")]));
    // Another worker goes on after the next pause.
    worker.post(&format!("{lease}/complete"), &paused).ok();
    ask_as(&worker, "01ARZ3NDEKTSV4RRFFQ69G5FAW", 20).ok();
    assert_eq!(harness.client.periods(&first), periods(&[("worker 1", 1, 1, "paused"), ("worker 2", 1, 0, "running")]));
    let schedule = harness.client.get(&format!("/v1/jobs/{first}/schedule"));
    let text = String::from_utf8(schedule.bytes).unwrap();
    let tokens = solinas_server::Store::open(harness.folder.path()).unwrap().tokens().unwrap();
    assert!(tokens.iter().all(|token| !text.contains(&token.id)) && !text.contains(WORKER), "{text}");
}

#[test]
fn a_restart_of_the_service_leaves_leases_to_their_workers() {
    let mut harness = service(|_| {});
    let id = submit(&harness.client, "restart");
    let worker = harness.worker();
    let (lease, granted) = granted(&worker);
    harness.restart(|config| {
        for_workers(config);
        // This one computes itself, and must not take the job.
        config.local_worker = true;
    });
    let later = submit(&harness.client, "later");
    assert_eq!(harness.client.wait(&later)["state"], "succeeded");
    let worker = Client::new(&harness.worker().url, &worker.token);
    worker.post(&format!("{lease}/renew"), &news(10, 3, json!([]))).ok();
    let job = harness.client.get(&format!("/v1/jobs/{id}")).ok();
    assert_eq!((&job["state"], &job["attempts"]), (&json!("running"), &granted["attempts"]));
    // A worker that gives the job back leaves it to the service.
    worker.post(&format!("{lease}/complete"), &end(json!("paused"))).ok();
    assert_eq!(harness.client.wait(&id)["state"], "succeeded");
    assert_eq!(harness.client.result(&id), "44");
}

#[test]
fn a_start_prolongs_leases_that_ran_out_meanwhile() {
    let mut harness = service(|_| {});
    submit(&harness.client, "prolonged");
    let worker = harness.worker();
    let (lease, _) = granted(&worker);
    let db = rusqlite::Connection::open(harness.folder.path().join("solinas.db")).unwrap();
    assert_eq!(db.execute("UPDATE job SET lease_until = 1", []).unwrap(), 1);
    harness.restart(|config| {
        for_workers(config);
        config.local_worker = false;
    });
    let worker = Client::new(&harness.worker().url, &worker.token);
    assert_eq!(ask(&worker, 0).status, 204, "the job has a worker");
    worker.post(&format!("{lease}/renew"), &news(10, 3, json!([]))).ok();
}

#[test]
fn a_failure_that_may_pass_is_tried_again() {
    let harness = service(|config| config.limits.attempts = 1);
    let client = &harness.client;
    let worker = harness.worker();
    let id = submit(client, "later");
    let (lease, _) = granted(&worker);
    let disk = json!({ "later": { "code": "disk_full", "detail": "a", "fix": "b" } });
    worker.post(&format!("{lease}/complete"), &end(disk)).ok();
    let job = client.get(&format!("/v1/jobs/{id}")).ok();
    assert_eq!((&job["state"], &job["attempts"]), (&json!("queued"), &json!(0)), "a full disk is no attempt");
    assert_eq!(client.periods(&id), periods(&[("worker 1", 1, 0, "retried")]));
    let wide = Type::Uint(16);
    let body = json!({ "key": client.register(), "program": client.program("add", &[wide, wide]),
                       "inputs": [client.input(wide, 1), client.input(wide, 2)] });
    let id = client.submit("twice", &body).ok()["id"].as_str().unwrap().to_owned();
    let (lease, _) = granted(&worker);
    let memory = json!({ "later": { "code": "internal", "detail": "no memory", "fix": "b" } });
    worker.post(&format!("{lease}/complete"), &end(memory)).ok();
    assert_eq!(client.get(&format!("/v1/jobs/{id}")).ok()["error"]["detail"], "no memory");
}
