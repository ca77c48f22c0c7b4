//! What answers show of the jobs of other tenants: an order of magnitude of their work, and nothing that changes with each job.

use crate::harness::{Client, Harness, keys};
use serde_json::{Value, json};
use solinas_server::Scope;
use std::collections::BTreeSet;

/// The answers to all requests that read, and to those that carry a wait, without what differs by itself.
fn answers(client: &Client, estimate: &Value, job: &Value, id: &str, number: usize) -> Vec<(String, String)> {
    let document = client.get("/v1/openapi.json").ok();
    let mut all = Vec::new();
    let mut note = |name: String, answer: crate::harness::Answer| {
        let mut body: Value = serde_json::from_slice(&answer.bytes).unwrap_or_default();
        if let Some(body) = body.as_object_mut() {
            for changing in ["request_id", "now"] {
                body.remove(changing);
            }
        }
        let waits: Vec<_> =
            answer.headers.iter().filter(|(name, _)| name.contains("retry") || name.contains("wait")).collect();
        all.push((name, format!("{} {waits:?} {body}", answer.status)));
    };
    for (path, methods) in document["paths"].as_object().unwrap() {
        let reads = methods.get("get").is_some() && !path.contains("metrics") && !path.contains("events");
        if !reads || path.contains("{key}") || path.contains("{digest}") || path.contains("{upload}") {
            continue;
        }
        note(path.clone(), client.get(&path.replace("{job}", id).replace("{index}", "0")));
    }
    note("an estimate".into(), client.post("/v1/estimates", estimate));
    note("a job that is refused".into(), client.submit(&format!("refused {number}"), job));
    all
}

#[test]
fn answers_do_not_change_with_each_job_of_another_tenant() {
    // Nobody computes, so that jobs stay.
    let harness = Harness::with(|config| config.local_worker = false);
    let (own, other) = (&harness.client, harness.other("other", &[Scope::Jobs, Scope::Keys]));
    let job = own.job("add", 1, 2);
    let id = own.submit("own", &job).ok()["id"].as_str().unwrap().to_owned();
    let store = solinas_server::Store::open(harness.folder.path()).unwrap();
    // One more job is refused, with a wait.
    store.set_quota("local", None, None, Some(1)).unwrap();
    let estimate = json!({ "program": job["program"], "key": keys().2 });
    let theirs = other.job("mul", 5, 6);
    let mut seen: Vec<BTreeSet<String>> = Vec::new();
    for number in 0..6 {
        let answers = answers(own, &estimate, &job, &id, number);
        assert!(answers.len() >= 8, "{answers:?}");
        seen.resize(answers.len(), BTreeSet::new());
        for (at, (name, answer)) in answers.into_iter().enumerate() {
            seen[at].insert(format!("{name}: {answer}"));
        }
        other.submit(&format!("other {number}"), &theirs).ok();
    }
    for answers in seen {
        assert_eq!(answers.len(), 1, "{answers:#?}");
    }
}

#[test]
fn a_full_queue_shows_no_single_job() {
    let harness = Harness::with(|config| {
        config.local_worker = false;
        config.limits.queue_seconds = 0.0;
    });
    let (own, other) = (&harness.client, harness.other("other", &[Scope::Jobs, Scope::Keys]));
    let job = own.job("add", 1, 2);
    own.submit("first", &job).ok();
    let refused = |number: usize| {
        let mut problem = own.submit(&format!("refused {number}"), &job).refused(503, "busy");
        problem["request_id"] = Value::Null;
        problem
    };
    let before = refused(0);
    other.submit("first", &other.job("mul", 5, 6)).ok();
    assert_eq!(before, refused(1));
}
