//! Jobs from submission to result.

use crate::harness::{Harness, U8, keys};
use serde_json::json;
use solinas_circuits::build::Recipe;
use solinas_circuits::program::Shape;
use solinas_engine::{Plain, Program, Type};
use std::io::BufRead;

#[test]
fn a_job_computes_what_was_asked() {
    let harness = Harness::new();
    let client = &harness.client;
    let answer = client.submit("one", &client.job("add", 200, 100));
    let job = answer.ok();
    assert_eq!(answer.status, 202);
    let id = job["id"].as_str().unwrap();
    assert_eq!(answer.header("location"), Some(&*format!("jobs/{id}")));
    let done = client.wait(id);
    assert_eq!(
        (done["state"].as_str(), done["results"][0]["type"].as_str()),
        (Some("succeeded"), Some("u8")),
        "{done}"
    );
    assert_eq!(done["progress"]["done"], done["progress"]["total"]);
    assert!(done["cost"]["bootstraps"].as_u64() > Some(10) && done["cost"]["plan"].is_string(), "{done}");
    assert_eq!(client.result(id), "44");
    let part = client.send("GET", &format!("/v1/jobs/{id}/results/0"), &[("range", "bytes=0-7")], &[]);
    assert_eq!((part.status, &*part.bytes), (206, &solinas_formats::PUBLIC_MAGIC[..]));

    // The same request again has the same job, and another body is refused.
    let body = client.job("add", 1, 2);
    let first = client.submit("two", &body).ok();
    let second = client.submit("two", &body);
    assert_eq!((second.status, &second.json()["id"]), (200, &first["id"]));
    client.submit("two", &client.job("add", 1, 2)).refused(422, "idempotency_mismatch");
    client.submit("", &body).refused(400, "idempotency_key_missing");
    client.wait(first["id"].as_str().unwrap());

    let listed = client.get("/v1/jobs?limit=1&state=succeeded").ok();
    assert_eq!(listed["jobs"][0]["id"], first["id"], "the newest first");
    let next = client.get(&format!("/v1/jobs?after={}", first["id"].as_str().unwrap())).ok();
    assert_eq!(next["jobs"][0]["id"], id);
    client.get("/v1/jobs?state=lost").refused(400, "bad_request");

    client.delete(&format!("/v1/jobs/{id}")).ok();
    client.get(&format!("/v1/jobs/{id}")).refused(404, "not_found");
    let usage = client.get("/v1/usage").ok();
    assert!(usage["today"]["core_seconds"].as_f64() > Some(0.0), "{usage}");
    let metrics = String::from_utf8(client.get("/metrics").bytes).unwrap();
    assert!(metrics.contains("solinas_jobs{state=\"succeeded\"} 1"), "{metrics}");
}

#[test]
fn constants_arrays_and_circuits_are_inputs() {
    let harness = Harness::new();
    let client = &harness.client;
    let key = client.register();
    let array = keys().0.encrypt(&Plain::parse(U8, &["1", "2", "3"], Some(vec![3])).unwrap()).unwrap();
    let array = client.upload(&array.to_bytes().unwrap());
    let constant = json!({ "constant": { "type": "u8", "values": ["10"] } });
    let program = client.program("add", &[U8, U8]);
    let body = json!({ "key": key, "program": program, "inputs": [{ "blob": array }, constant] });
    let id = client.submit("array", &body).ok()["id"].as_str().unwrap().to_owned();
    assert_eq!(client.wait(&id)["results"][0]["shape"], json!([3]));
    assert_eq!(client.result(&id), "11,12,13");

    let circuit = "2 4\n2 1 1\n1 1\n\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n";
    let program = client.send("POST", "/v1/programs", &[], circuit.as_bytes()).ok();
    assert_eq!(program["form"], "circuit");
    let bits = [client.input(Type::Bool, 1), client.input(Type::Bool, 1)];
    let body = json!({ "key": key, "program": program["digest"], "inputs": bits });
    let id = client.submit("circuit", &body).ok()["id"].as_str().unwrap().to_owned();
    assert_eq!(client.wait(&id)["state"], "succeeded");
    assert_eq!(client.result(&id), "true");
    let constant = json!({ "constant": { "type": "bool", "values": ["true"] } });
    let body = json!({ "key": key, "program": program["digest"], "inputs": [bits[0], constant] });
    let id = client.submit("constant", &body).ok()["id"].as_str().unwrap().to_owned();
    assert_eq!(client.wait(&id)["state"], "succeeded");
    assert_eq!(client.result(&id), "true");
}

#[test]
fn mistakes_are_refused_before_any_work() {
    let harness = Harness::new();
    let client = &harness.client;
    let body = client.job("add", 1, 2);
    let with = |field: &str, value: serde_json::Value| {
        let mut body = body.clone();
        body[field] = value;
        client.submit("mistake", &body)
    };
    let wide = client.input(Type::Uint(16), 5);
    with("inputs", json!([body["inputs"][0], wide])).refused(422, "wrong_type");
    with("inputs", json!([body["inputs"][0]])).refused(422, "wrong_shape");
    let pair = |values: &[&str]| {
        let array = Plain::parse(U8, values, Some(vec![values.len()])).unwrap();
        json!({ "blob": client.upload(&keys().0.encrypt(&array).unwrap().to_bytes().unwrap()) })
    };
    with("inputs", json!([pair(&["1", "2"]), pair(&["1", "2", "3"])])).refused(422, "wrong_shape");
    let large = json!({ "constant": { "type": "u8", "values": ["256"] } });
    with("inputs", json!([body["inputs"][0], large])).refused(422, "bad_value");
    let missing = format!("b3-{}", "0".repeat(64));
    let problem = with("inputs", json!([body["inputs"][0], { "blob": missing }])).refused(424, "blob_missing");
    assert_eq!(problem["links"]["upload"], format!("/v1/blobs/{missing}"));
    with("program", json!(missing)).refused(424, "program_missing");
    let problem = with("key", json!("0".repeat(64))).refused(424, "key_missing");
    assert_eq!(problem["links"]["upload"], format!("/v1/keys/{}", "0".repeat(64)));
    with("inputs", json!([{ "blob": blob_of_the_key(client) }, body["inputs"][1]])).refused(422, "wrong_type");
    with("priority", json!(10)).refused(400, "bad_request");
    with("max_core_seconds", json!(1e-6)).refused(422, "too_expensive");
    with("colour", json!("red")).refused(400, "bad_request");
    with("keep_for", json!(u32::MAX)).refused(400, "bad_request");
    with("inputs", json!(vec![body["inputs"][0].clone(); 5000])).refused(400, "bad_request");
    client.send("POST", "/v1/programs", &[], b"{\"nodes\": 3}").refused(422, "bad_program");
    client.send("POST", "/v1/programs", &[], b"\xff\xfe").refused(422, "bad_program");
    // Nothing of this became a job.
    assert_eq!(client.get("/v1/jobs").ok()["jobs"], json!([]));
}

fn blob_of_the_key(client: &crate::harness::Client) -> String {
    client.upload(&keys().1)
}

#[test]
fn events_show_the_states_until_the_end() {
    let harness = Harness::new();
    let client = &harness.client;
    let id = client.submit("events", &client.job("mul", 20, 12)).ok()["id"].as_str().unwrap().to_owned();
    let request = ureq::get(format!("{}/v1/jobs/{id}/events", client.url));
    let answer = request.header("authorization", format!("Bearer {}", client.token)).call().unwrap();
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let lines: Vec<_> = std::io::BufReader::new(answer.into_body().into_reader()).lines().map(Result::unwrap).collect();
    let data: Vec<serde_json::Value> =
        lines.iter().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect();
    assert_eq!(data.last().unwrap()["state"], "succeeded");
    assert!(
        lines.contains(&"event: done".to_owned()) && lines.iter().any(|line| line.starts_with("id: ")),
        "{lines:?}"
    );
    assert_eq!(client.result(&id), "240");
}

/// A call of a circuit in a file is that circuit, unless the file declares shapes.
#[test]
fn shapes_that_a_program_declares_of_a_call_are_told_and_hold() {
    let harness = Harness::new();
    let client = &harness.client;
    let key = client.register();
    let netlist = Program::from_op("add", &[U8, U8]).unwrap().lower(Recipe::default()).unwrap();
    let mut program = Program::of_circuit(netlist, true).unwrap();
    let any = client.stored(&program);
    program.inputs[0].shape = Some(Shape::new([3]).unwrap());
    let shaped = client.stored(&program);
    let described = |digest: &str| client.get(&format!("/v1/programs/{digest}")).ok();
    assert_eq!((&described(&any)["form"], &described(&any)["inputs"][0]["bits"]), (&json!("circuit"), &json!(8)));
    let facts = described(&shaped);
    assert_eq!((&facts["form"], &facts["inputs"][0]["shape"]), (&json!("program"), &json!([3])));
    let estimate = |program: &str, shapes: &serde_json::Value| {
        client.post("/v1/estimates", &json!({ "program": program, "key": key, "shapes": shapes }))
    };
    for shapes in [json!([[3], []]), json!([[3], [3]])] {
        assert_eq!(estimate(&any, &shapes).ok()["bootstraps"], estimate(&shaped, &shapes).ok()["bootstraps"]);
    }
    for (program, shapes) in [
        (&any, json!([[3]])),
        (&any, json!([[3], [2]])),
        (&any, json!([[3], [], []])),
        (&shaped, json!([[2], []])),
        (&shaped, json!([[], []])),
    ] {
        estimate(program, &shapes).refused(422, "wrong_shape");
    }
    for shapes in [json!([[1u64 << 20, 1u64 << 15], []]), json!([[1u64 << 40], []]), json!([[-1], []])] {
        let answer = estimate(&any, &shapes);
        assert!((400..500).contains(&answer.status), "{answer:?}");
    }
    let body = json!({ "key": key, "program": shaped, "inputs": [client.input(U8, 1), client.input(U8, 2)] });
    let id = client.submit("shaped", &body).json()["id"].as_str().map(str::to_owned);
    let answer = id.map_or_else(|| client.submit("shaped", &body).json(), |id| client.wait(&id));
    assert!(answer.to_string().contains("[3]"), "{answer}");
}

#[test]
fn estimates_have_counts_and_times() {
    let harness = Harness::new();
    let client = &harness.client;
    let (key, program) = (client.register(), client.program("mul", &[U8, U8]));
    let path = format!("/v1/programs/{program}?params=gates-128");
    let described = client.get(&path).ok();
    let counts = client.post("/v1/estimates", &json!({ "program": program, "params": "gates-128" })).ok();
    assert_eq!(described["cost"], counts);
    assert_eq!((&described["inputs"][0]["type"], &described["form"]), (&json!("u8"), &json!("program")));
    let estimate = client.post("/v1/estimates", &json!({ "program": program, "key": key })).ok();
    assert_eq!(estimate["bootstraps"], counts["bootstraps"]);
    assert!(estimate["core_seconds"].as_f64() > Some(0.0), "{estimate}");
    let both = json!({ "program": program, "key": key, "params": "gates-128" });
    client.post("/v1/estimates", &both).refused(400, "bad_request");
    client.post("/v1/estimates", &json!({ "program": program })).refused(400, "bad_request");
    client.get(&format!("/v1/programs/{program}?params=gates-1")).refused(422, "bad_params");
}

#[test]
fn cancelled_jobs_stop() {
    let harness = Harness::new();
    let client = &harness.client;
    let body = client.long_job();
    let ids: Vec<String> =
        (0..3).map(|n| client.submit(&format!("cancel {n}"), &body).ok()["id"].as_str().unwrap().to_owned()).collect();
    client.delete(&format!("/v1/jobs/{}", ids[2])).refused(409, "not_ended");
    client.get(&format!("/v1/jobs/{}/results/0", ids[2])).refused(409, "not_done");
    client.delete(&format!("/v1/keys/{}", client.register())).refused(409, "in_use");
    for id in &ids {
        client.post(&format!("/v1/jobs/{id}/cancel"), &json!({})).ok();
        assert_eq!(client.wait(id)["state"], "cancelled");
        // A second time changes nothing.
        client.post(&format!("/v1/jobs/{id}/cancel"), &json!({})).ok();
    }
    // The worker is free for the next job.
    let id = client.submit("after", &client.job("add", 1, 1)).ok()["id"].as_str().unwrap().to_owned();
    assert_eq!(client.wait(&id)["state"], "succeeded");
}
