//! Programs on arrays in jobs, with reductions, and the schedules of jobs.

use crate::harness::{Client, Harness, U8, keys, reduction};
use serde_json::{Value, json};
use solinas_circuits::build::Recipe;
use solinas_engine::program::{Axes, How, Op, Shape};
use solinas_engine::{
    Ciphertext, Control, Input, Plain, Program, ProgramBuilder, Server, ServerKey, ServerOptions, Type, Work,
};
use std::time::Duration;

/// An encrypted array of 8 bits.
fn array(values: &[u128]) -> Ciphertext {
    keys().0.encrypt(&Plain::new(U8, Some(vec![values.len()]), values.to_vec()).unwrap()).unwrap()
}

/// The sum of the products of two arrays.
fn dot() -> Program {
    let mut builder = ProgramBuilder::new();
    let [x, y] = ["x", "y"].map(|name| builder.input(name, U8).unwrap());
    let products = builder.op(Op::Mul, &[x, y]).unwrap();
    builder.output("products", products);
    let program = builder.finish().unwrap();
    reduction(&program, How::Sum)
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

/// What a program gives on this machine.
fn here(program: &Program, inputs: &[Input]) -> Vec<u8> {
    local().run(Work::program(program, inputs), &Control::default()).unwrap()[0].to_bytes().unwrap()
}

#[test]
fn programs_on_arrays_are_one_job_at_the_cost_that_was_told() {
    let harness = Harness::new();
    let client = &harness.client;
    let key = client.register();
    let [a, b] = [array(&[9, 200, 3, 77, 5]), array(&[1, 2, 3, 4, 5])];
    let [first, second] = [&a, &b].map(|array| json!({ "blob": client.upload(&array.to_bytes().unwrap()) }));
    let weights = Plain::new(U8, Some(vec![5]), vec![1u128, 2, 3, 4, 5]).unwrap();
    let constant = json!({ "constant": { "type": "u8", "values": weights.to_strings(), "shape": [5] } });
    let largest = reduction(&identity(), How::Max);
    let cases: [(&str, &Program, Value, Vec<Input>, &str); 4] = [
        ("largest", &largest, json!([first]), vec![a.clone().into()], "200"),
        ("dot", &dot(), json!([first, second]), vec![a.clone().into(), b.clone().into()], "239"),
        ("weighted", &dot(), json!([first, constant]), vec![a.clone().into(), weights.into()], "239"),
        ("one", &largest, json!([{ "blob": client.upload(&array(&[7]).to_bytes().unwrap()) }]), Vec::new(), "7"),
    ];
    for (name, program, inputs, given, wanted) in cases {
        let stored = client.stored(program);
        let id = submitted(client, name, &json!({ "key": key, "program": stored, "inputs": inputs }));
        let job = client.wait(&id);
        assert_eq!((&job["program"], &*client.result(&id)), (&json!(stored), wanted), "{job}");
        assert!(given.is_empty() || here(program, &given) == bytes(client, &id), "{name}: {job}");
        let bootstraps = &job["cost"]["bootstraps"];
        if bootstraps != &json!(0) {
            assert_eq!((bootstraps, bootstraps), (&job["progress"]["done"], &job["progress"]["total"]), "{job}");
        }
        // Public values cost less than encrypted ones, of which the estimate knows the shapes alone.
        if name == "dot" {
            let request = json!({ "program": stored, "key": key, "shapes": [[5], [5]] });
            assert_eq!(&client.post("/v1/estimates", &request).ok()["bootstraps"], bootstraps);
        }

        // The schedule has all bootstraps, and a picture.
        let schedule = client.get(&format!("/v1/jobs/{id}/schedule")).ok();
        let waves = schedule["waves"].as_array().unwrap();
        let sum = |field: &str| waves.iter().map(|wave| wave[field].as_u64().unwrap()).sum::<u64>();
        if name == "dot" {
            assert_eq!((json!(sum("bootstraps")), json!(sum("done"))), (bootstraps.clone(), bootstraps.clone()));
            assert_eq!((&waves[0]["step"], &waves.last().unwrap()["step"]), (&json!(0), &json!(1)));
            assert!(waves.iter().all(|wave| wave["measured_ms"].as_f64() > Some(0.0)), "{schedule}");
        }
        let picture = client.send("GET", &format!("/v1/jobs/{id}/schedule"), &[("accept", "image/svg+xml")], &[]);
        assert_eq!((picture.header("content-type"), picture.header("vary")), (Some("image/svg+xml"), Some("accept")));
        let svg = String::from_utf8(picture.bytes).unwrap();
        assert_eq!(svg.matches("<g>").count(), waves.len().min(200), "{svg}");
    }
}

/// The program that gives its input.
fn identity() -> Program {
    let mut builder = ProgramBuilder::new();
    let x = builder.input("x", U8).unwrap();
    builder.output("y", x);
    builder.finish().unwrap()
}

#[test]
fn reductions_continue_after_stops() {
    let mut harness = Harness::with(|config| config.checkpoint = Duration::ZERO);
    let client = harness.client.clone();
    // Two levels.
    let values: Vec<u128> = (0..300).map(|i| i * 7 % 256).collect();
    let array = array(&values);
    let blob = client.upload(&array.to_bytes().unwrap());
    let largest = reduction(&identity(), How::Max);
    let body = json!({ "key": client.register(), "program": client.stored(&largest), "inputs": [{ "blob": blob }] });
    let id = submitted(&client, "stops", &body);
    // Stops early and late.
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
    assert_eq!(here(&largest, &[array.into()]), bytes(&harness.client, &id), "{job}");
    assert_eq!(std::fs::read_dir(harness.folder.path().join("checkpoints")).unwrap().count(), 0);
    let schedule = harness.client.get(&format!("/v1/jobs/{id}/schedule")).ok();
    assert!(schedule["waves"].as_array().unwrap().iter().all(|wave| wave["done"] == wave["bootstraps"]), "{schedule}");
}

#[test]
fn lanes_with_equal_operands_and_steps_beside_each_other_run() {
    let harness = Harness::with(|config| config.checkpoint = Duration::ZERO);
    let client = &harness.client;
    let key = client.register();
    // Results of equal operands have equal noise, which the plan of the job did not know.
    let mut builder = ProgramBuilder::new();
    let [x, y] = ["x", "y"].map(|name| builder.array_input(name, U8, Shape::scalar()).unwrap());
    let line = Shape::new([70]).unwrap();
    let row = builder.stack(&vec![(x, Shape::scalar()); 70], &line).unwrap();
    let products = builder.op(Op::Mul, &[row, y]).unwrap();
    for how in [How::Sum, How::Max] {
        let value = builder.op(Op::Reduce { how, axes: Axes::All }, &[products]).unwrap();
        builder.output(format!("{how:?}"), value);
    }
    let program = client.stored(&builder.finish().unwrap());
    let inputs = [client.input(U8, 3), client.input(U8, 5)];
    let id = submitted(client, "equal", &json!({ "key": key, "program": program, "inputs": inputs }));
    let mut waves = 0;
    loop {
        let job = client.get(&format!("/v1/jobs/{id}")).ok();
        let now = job["progress"]["wave"].as_u64().unwrap();
        assert!(now >= waves || job["state"] == "succeeded", "{job}");
        waves = now;
        if job["state"] != "queued" && job["state"] != "running" {
            assert_eq!(job["state"], "succeeded", "{job}");
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    for (place, wanted) in [70u64 * 15 % 256, 15].into_iter().enumerate() {
        let result = client.get(&format!("/v1/jobs/{id}/results/{place}")).bytes;
        let result = keys().0.decrypt(&Ciphertext::from_bytes(&result).unwrap()).unwrap();
        assert_eq!(result.to_strings(), [wanted.to_string()]);
    }
    let schedule = client.get(&format!("/v1/jobs/{id}/schedule")).ok();
    let waves = schedule["waves"].as_array().unwrap();
    assert!(waves.iter().all(|wave| wave["measured_ms"].as_f64() > Some(0.0)), "{schedule}");
}

#[test]
fn estimates_of_circuits_count_all_elements() {
    let harness = Harness::new();
    let client = &harness.client;
    let add = Program::from_op("add", &[U8, U8]).unwrap().lower(Recipe::default()).unwrap();
    let text = solinas_circuits::export::write_bristol(&add).unwrap();
    let stored = client.send("POST", "/v1/programs", &[], text.as_bytes()).ok()["digest"].clone();
    let key = client.register();
    for under in [json!({ "key": key }), json!({ "params": "gates-toy" })] {
        let bootstraps = |shapes: Value| {
            let mut body = json!({ "program": stored, "shapes": shapes });
            body.as_object_mut().unwrap().extend(under.as_object().unwrap().clone());
            client.post("/v1/estimates", &body).ok()["bootstraps"].as_u64().unwrap()
        };
        assert_eq!(bootstraps(json!([[3], [3]])), 3 * bootstraps(json!([[], []])), "{under}");
    }
}

#[test]
fn mistakes_in_programs_on_arrays_are_refused_before_any_work() {
    let harness = Harness::new();
    let client = &harness.client;
    let key = client.register();
    let [two, three] =
        [&[1, 2][..], &[1, 2, 3]].map(|values| json!({ "blob": client.upload(&array(values).to_bytes().unwrap()) }));
    let (sum, dot) = (client.stored(&reduction(&identity(), How::Sum)), client.stored(&dot()));
    let with = |fields: Value| {
        let mut body = json!({ "key": key, "inputs": [two] });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        client.submit("mistake", &body)
    };
    with(json!({})).refused(400, "bad_request");
    with(json!({ "program": sum, "reduce": "sum" })).refused(400, "bad_request");
    with(json!({ "program": sum, "inputs": [{ "elements": "b3-0" }] })).refused(400, "bad_request");
    with(json!({ "program": sum, "inputs": [two, two] })).refused(422, "wrong_shape");
    with(json!({ "program": dot, "inputs": [two] })).refused(422, "wrong_shape");
    let problem = with(json!({ "program": dot, "inputs": [two, three] })).refused(422, "wrong_shape");
    assert!(problem["detail"].as_str().unwrap().contains("[2]"), "{problem}");
    let missing = format!("b3-{}", "0".repeat(64));
    with(json!({ "program": missing })).refused(424, "program_missing");
    with(json!({ "program": sum, "max_core_seconds": 1e-6 })).refused(422, "too_expensive");
    assert_eq!(client.get("/v1/jobs").ok()["jobs"], json!([]));
    client.get("/v1/jobs/01ARZ3NDEKTSV4RRFFQ69G5FAV/schedule").refused(404, "not_found");
    let estimate = |fields: Value| {
        let mut body = json!({ "key": key, "program": dot });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        client.post("/v1/estimates", &body)
    };
    estimate(json!({ "shapes": [[2]] })).refused(422, "wrong_shape");
    estimate(json!({ "shapes": [[2], [3]] })).refused(422, "wrong_shape");
    estimate(json!({ "elements": 4 })).refused(400, "bad_request");
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
