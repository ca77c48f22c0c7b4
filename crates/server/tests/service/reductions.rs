//! Reductions in jobs, and the schedules of jobs.

use crate::harness::{Client, Harness, U8, keys};
use serde_json::{Value, json};
use solinas_runtime::{Ciphertext, Control, Plain, Program, Reduction, Server, ServerKey, ServerOptions, Type, Work};
use std::time::Duration;

/// An encrypted array of 8 bits.
fn array(values: &[u128]) -> Ciphertext {
    keys().0.encrypt(&Plain::new(U8, Some(vec![values.len()]), values.to_vec()).unwrap()).unwrap()
}

/// The server of this machine, with as many threads as the service.
fn local() -> Server {
    let key = ServerKey::from_bytes(&keys().1).unwrap();
    Server::with_options(&key, &ServerOptions { threads: Some(2), ..ServerOptions::default() }).unwrap()
}

fn submitted(client: &Client, name: &str, body: &Value) -> String {
    client.submit(name, body).ok()["id"].as_str().unwrap().to_owned()
}

fn bytes(client: &Client, id: &str) -> Vec<u8> {
    client.get(&format!("/v1/jobs/{id}/results/0")).bytes
}

#[test]
fn reductions_give_the_bytes_of_this_machine_at_the_cost_that_was_told() {
    let harness = Harness::new();
    let client = &harness.client;
    let (key, server, control) = (client.register(), local(), Control::default());
    let [a, b] = [array(&[9, 200, 3, 77, 5]), array(&[1, 2, 3, 4, 5])];
    let [first, second] = [&a, &b].map(|array| client.upload(&array.to_bytes().unwrap()));

    // Three levels of an own program: its results have more noise than fresh values.
    let larger = Program::from_op("max", &[U8, U8]).unwrap();
    let own = client.program("max", &[U8, U8]);
    let body = json!({ "key": key, "reduce": own, "inputs": [{ "blob": first }] });
    let id = submitted(client, "own", &body);
    let job = client.wait(&id);
    let here = server.reduce(Reduction::Program(&larger), &a, &control).unwrap();
    assert_eq!(here.to_bytes().unwrap(), bytes(client, &id), "{job}");
    assert_eq!(client.result(&id), "200");
    assert_eq!((&job["reduce"], &job["map"], &job["program"]), (&json!(own), &Value::Null, &Value::Null));

    // A program of each element, then a sum.
    let map = client.program("add", &[U8, U8]);
    let body = json!({ "key": key, "map": map, "reduce": "sum", "inputs": [{ "blob": first }, { "blob": second }] });
    let id = submitted(client, "map", &body);
    let job = client.wait(&id);
    let add = Program::from_op("add", &[U8, U8]).unwrap();
    let mapped = server.run(Work::program(&add, &[a.clone(), b]), &control).unwrap();
    let here = server.reduce(Reduction::Sum, &mapped[0], &control).unwrap();
    assert_eq!(here.to_bytes().unwrap(), bytes(client, &id), "{job}");
    assert_eq!(client.result(&id), "53", "modulo 256");
    let bootstraps = &job["cost"]["bootstraps"];
    assert_eq!((bootstraps, bootstraps), (&job["progress"]["done"], &job["progress"]["total"]), "{job}");
    let request = json!({ "map": map, "reduce": "sum", "key": key, "elements": 5 });
    assert_eq!(&client.post("/v1/estimates", &request).ok()["bootstraps"], bootstraps);

    // The schedule has all bootstraps, and a picture.
    let schedule = client.get(&format!("/v1/jobs/{id}/schedule")).ok();
    let waves = schedule["waves"].as_array().unwrap();
    let sum = |field: &str| waves.iter().map(|wave| wave[field].as_u64().unwrap()).sum::<u64>();
    assert_eq!((json!(sum("bootstraps")), json!(sum("done"))), (bootstraps.clone(), bootstraps.clone()));
    assert_eq!((&waves[0]["stage"], &waves.last().unwrap()["stage"]), (&json!(0), &json!(1)));
    assert!(waves.iter().all(|wave| wave["measured_ms"].as_f64() > Some(0.0)), "{schedule}");
    let picture = client.send("GET", &format!("/v1/jobs/{id}/schedule"), &[("accept", "image/svg+xml")], &[]);
    assert_eq!((picture.header("content-type"), picture.header("vary")), (Some("image/svg+xml"), Some("accept")));
    let svg = String::from_utf8(picture.bytes).unwrap();
    assert_eq!(svg.matches("<g>").count(), waves.len().min(200), "{svg}");

    // Arrays of one element have nothing to combine.
    let one = client.upload(&array(&[7]).to_bytes().unwrap());
    let id = submitted(client, "one", &json!({ "key": key, "reduce": "min", "inputs": [{ "blob": one }] }));
    assert_eq!(client.wait(&id)["state"], "succeeded");
    assert_eq!(client.result(&id), "7");

    // The elements of an array as inputs of a program.
    let elements = client.upload(&a.slice(0..2).unwrap().to_bytes().unwrap());
    let body = json!({ "key": key, "program": own, "inputs": [{ "elements": elements }] });
    let id = submitted(client, "elements", &body);
    client.wait(&id);
    assert_eq!(client.result(&id), "200");
}

#[test]
fn reductions_continue_after_stops() {
    let mut harness = Harness::with(|config| config.checkpoint = Duration::ZERO);
    let client = harness.client.clone();
    let values: Vec<u128> = (0..40).map(|i| i * 7 % 256).collect();
    let array = array(&values);
    let blob = client.upload(&array.to_bytes().unwrap());
    let body = json!({ "key": client.register(), "reduce": "max", "inputs": [{ "blob": blob }] });
    let id = submitted(&client, "stops", &body);
    // Stops in both levels.
    for part in [4, 20] {
        loop {
            let job = harness.client.get(&format!("/v1/jobs/{id}")).ok();
            let count = |field: &str| job["progress"][field].as_u64().unwrap();
            if job["state"] == "succeeded" || count("total") > 0 && count("done") * 24 > count("total") * part {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        harness.restart(|config| config.checkpoint = Duration::ZERO);
    }
    let job = harness.client.wait(&id);
    let here = local().reduce(Reduction::Max, &array, &Control::default()).unwrap();
    assert_eq!(here.to_bytes().unwrap(), bytes(&harness.client, &id), "{job}");
    assert_eq!(std::fs::read_dir(harness.folder.path().join("checkpoints")).unwrap().count(), 0);
    let schedule = harness.client.get(&format!("/v1/jobs/{id}/schedule")).ok();
    assert!(schedule["waves"].as_array().unwrap().iter().all(|wave| wave["done"] == wave["bootstraps"]), "{schedule}");
}

#[test]
fn mistakes_in_reductions_are_refused_before_any_work() {
    let harness = Harness::new();
    let client = &harness.client;
    let key = client.register();
    let blob = json!({ "blob": client.upload(&array(&[1, 2]).to_bytes().unwrap()) });
    let single = client.input(U8, 5);
    let (add, less) = (client.program("add", &[U8, U8]), client.program("lt", &[U8, U8]));
    let with = |fields: Value| {
        let mut body = json!({ "key": key, "inputs": [blob] });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        client.submit("mistake", &body)
    };
    with(json!({ "reduce": "product" })).refused(400, "bad_request");
    with(json!({})).refused(400, "bad_request");
    with(json!({ "map": add })).refused(400, "bad_request");
    with(json!({ "program": add, "reduce": "sum" })).refused(400, "bad_request");
    with(json!({ "reduce": "any" })).refused(422, "wrong_type");
    with(json!({ "reduce": less })).refused(422, "wrong_type");
    with(json!({ "reduce": "sum", "inputs": [single] })).refused(422, "wrong_shape");
    with(json!({ "reduce": "sum", "inputs": [blob, blob] })).refused(422, "wrong_type");
    with(json!({ "map": less, "reduce": "sum", "inputs": [blob, blob] })).refused(422, "wrong_type");
    with(json!({ "map": add, "reduce": "sum", "inputs": [single, single] })).refused(422, "wrong_shape");
    let missing = format!("b3-{}", "0".repeat(64));
    with(json!({ "reduce": missing })).refused(424, "program_missing");
    with(json!({ "reduce": "max", "max_core_seconds": 1e-6 })).refused(422, "too_expensive");
    assert_eq!(client.get("/v1/jobs").ok()["jobs"], json!([]));
    client.get("/v1/jobs/01ARZ3NDEKTSV4RRFFQ69G5FAV/schedule").refused(404, "not_found");
}

#[test]
fn jobs_end_at_their_deadlines() {
    let harness = Harness::with(|config| config.limits.queue_seconds = 1e9);
    let client = &harness.client;
    // These products take many times longer than the deadline.
    let wide = Type::Uint(64);
    let array = keys().0.encrypt(&Plain::new(wide, Some(vec![64]), vec![3; 64]).unwrap()).unwrap();
    let blob = json!({ "blob": client.upload(&array.to_bytes().unwrap()) });
    let inputs = [blob.clone(), blob];
    let program = client.program("mul", &[wide, wide]);
    let mut body = json!({ "key": client.register(), "program": program, "inputs": inputs });
    body["deadline"] = json!("yesterday");
    client.submit("text", &body).refused(400, "bad_request");
    body["deadline"] = json!("2020-01-01T00:00:00Z");
    client.submit("past", &body).refused(422, "deadline_passed");
    body["max_core_seconds"] = json!(-1);
    client.submit("negative", &body).refused(400, "bad_request");
    body["max_core_seconds"] = json!(1e6);
    body["deadline"] = json!((jiff::Timestamp::now() + Duration::from_secs(4)).to_string());
    // The first one runs, and the second one waits.
    let ids = ["runs", "waits"].map(|name| submitted(client, name, &body));
    for id in &ids {
        let job = client.wait(id);
        assert_eq!((&job["state"], &job["error"]["code"]), (&json!("failed"), &json!("deadline_passed")), "{job}");
        assert_eq!(job["max_core_seconds"], json!(1e6));
    }
    // The worker is free for the next job.
    let id = submitted(client, "after", &client.job("add", 1, 1));
    assert_eq!(client.wait(&id)["state"], "succeeded");
}

#[test]
fn answers_that_a_client_has_are_not_sent_again() {
    let harness = Harness::new();
    let client = &harness.client;
    let id = submitted(client, "tags", &client.job("add", 3, 4));
    client.wait(&id);
    let digest = client.get(&format!("/v1/jobs/{id}")).ok()["results"][0]["digest"].as_str().unwrap().to_owned();
    for path in [format!("/v1/jobs/{id}"), format!("/v1/jobs/{id}/results/0"), format!("/v1/blobs/{digest}")] {
        let first = client.get(&path);
        let tag = first.header("etag").unwrap().to_owned();
        assert_ne!(first.header("cache-control"), Some("no-store"));
        for known in [tag.clone(), format!("\"other\", W/{tag}"), "*".to_owned()] {
            let again = client.send("GET", &path, &[("if-none-match", &known)], &[]);
            assert_eq!((again.status, again.bytes.len(), again.header("etag")), (304, 0, Some(&*tag)), "{path}");
        }
        assert_eq!(client.send("GET", &path, &[("if-none-match", "\"other\"")], &[]).bytes, first.bytes);
    }
    let job = client.get(&format!("/v1/jobs/{id}")).ok();
    let result = client.get(&format!("/v1/jobs/{id}/results/0"));
    assert_eq!(result.header("etag"), Some(&*format!("\"{}\"", job["results"][0]["digest"].as_str().unwrap())));
    assert_eq!(result.header("cache-control"), Some("private, max-age=31536000, immutable"));
}
