//! Small requests that ask for much memory. Each is refused with a fix or computed, and the service lives on.
//!
//! The requests run against a service in a process of its own with little address space. `SOLINAS_LIMITS=long` runs those at the limits of the defaults too,
//! and `SOLINAS_COMMAND` names a command `solinas` that serves.

#![cfg(target_os = "linux")]

use crate::harness::{Client, Harness, U8, keys, reduction};
use crate::kills;
use serde_json::{Value, json};
use solinas_engine::program::{Axes, Function, How, Op};
use solinas_engine::{ClientKey, Control, KeygenOptions, Plain, Program, ProgramBuilder, ServerKey, Type, keygen};
use std::path::Path;
use std::process::Command;

/// Address space of the service, in KiB: 4 GiB.
const SPACE: &str = "4194304";

/// A request that takes little. It is refused with one of these codes. Without codes, it is a job that runs in little memory.
struct Case {
    name: &'static str,
    body: Value,
    codes: &'static [&'static str],
}

/// The program that gives its inputs.
fn identity(inputs: usize, ty: Type) -> String {
    let mut builder = ProgramBuilder::new();
    for index in 0..inputs {
        let value = builder.input(format!("x{index}"), ty).unwrap();
        builder.output(format!("y{index}"), value);
    }
    builder.finish().unwrap().to_json("identity").unwrap()
}

fn stored(client: &Client, program: &str) -> String {
    client.send("POST", "/v1/programs", &[], program.as_bytes()).ok()["digest"].as_str().unwrap().to_owned()
}

/// An array of bools under the client key, whose masks come from a seed: 4 bytes each.
fn seeded(key: &ClientKey, count: usize) -> Vec<u8> {
    key.encrypt(&Plain::new(Type::Bool, Some(vec![count]), vec![1u128; count]).unwrap()).unwrap().to_bytes().unwrap()
}

/// An array of bools under the public key, whose masks are those of polynomials.
fn packed(key: &ClientKey, count: usize) -> Vec<u8> {
    let plain = Plain::new(Type::Bool, Some(vec![count]), vec![0u128; count]).unwrap();
    key.public_key().unwrap().encrypt(&plain).unwrap().to_bytes().unwrap()
}

/// The requests for jobs. `count` is the number of elements of the seeded array.
fn cases(client: &Client, key: &str, secret: &ClientKey, count: usize) -> Vec<Case> {
    let array = client.upload(&seeded(secret, count));
    let glwe = client.upload(&packed(secret, 2 * count));
    let blob = json!({ "blob": array });
    let [eight, many] = [8, 4096].map(|inputs| stored(client, &identity(inputs, Type::Bool)));
    let any = client.stored(&reduction(&Program::from_json(&identity(1, Type::Bool)).unwrap(), How::Or));
    let all_of_not = client.stored(&reduction(&Program::from_op("not", &[Type::Bool]).unwrap(), How::And));
    let not = client.program("not", &[Type::Bool]);
    let and = client.program("and", &[Type::Bool, Type::Bool]);
    let constants = json!({ "constant": { "type": "bool", "values": vec!["1"; count], "shape": [count] } });
    let large: &[&str] = &["too_large"];
    let job = |program: &str, inputs: Value| json!({ "key": key, "program": program, "inputs": inputs });
    vec![
        Case {
            name: "one array that is named eight times",
            body: job(&eight, json!(vec![&blob; 8])),
            codes: &["too_large", "bad_program"],
        },
        Case {
            name: "one array 4096 times",
            body: job(&many, json!(vec![&blob; 4096])),
            codes: &["too_large", "bad_program"],
        },
        Case { name: "an array that is expanded", body: job(&not, json!([blob])), codes: large },
        Case {
            name: "an array under the public key that is expanded",
            body: job(&not, json!([{ "blob": glwe }])),
            codes: large,
        },
        Case { name: "too few inputs", body: job(&many, json!([blob])), codes: &["wrong_shape"] },
        Case {
            name: "a public array as operations for each element",
            body: job(&and, json!([blob, constants])),
            codes: &["too_large", "bad_program"],
        },
        Case { name: "a reduction of the array", body: job(&any, json!([blob])), codes: &[] },
        Case { name: "a reduction after a program", body: job(&all_of_not, json!([blob])), codes: &[] },
    ]
}

/// Sends every request, and checks the answers.
fn refuses(client: &Client, cases: Vec<Case>) {
    for Case { name, body, codes } in cases {
        let answer = client.submit(&format!("{name}, {}", body["key"]), &body);
        let problem = answer.json();
        if codes.is_empty() {
            assert_eq!(answer.status, 202, "{name}: {problem}");
            runs(client, problem["id"].as_str().unwrap());
            continue;
        }
        let code = problem["code"].as_str().unwrap_or_default();
        assert!([413, 422, 400].contains(&answer.status) && codes.contains(&code), "{name}: {problem}");
        assert!(problem["fix"].as_str().is_some_and(|fix| !fix.is_empty()), "{name}: {problem}");
    }
}

/// Waits until a job computes, and cancels it.
fn runs(client: &Client, id: &str) {
    loop {
        let job = client.get(&format!("/v1/jobs/{id}")).ok();
        let done = job["progress"]["done"].as_u64().unwrap();
        if job["state"] == "succeeded" || done > 1000 {
            break;
        }
        assert!(["queued", "running"].contains(&job["state"].as_str().unwrap()), "{job}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    client.post(&format!("/v1/jobs/{id}/cancel"), &json!({})).ok();
}

/// Programs and estimates that take little and ask for much.
fn other_requests(client: &Client, key: &str) {
    // Objects of one field in a text that is no program.
    let objects = format!("{{\"modules\": 3, \"x\": [{}]}}", vec!["{\"\":0}"; 2_000_000].join(","));
    let answer = client.send("POST", "/v1/programs", &[], objects.as_bytes());
    assert_eq!((answer.status, answer.json()["code"].as_str()), (422, Some("bad_program")));
    let answer = client.send("POST", "/v1/programs", &[], identity(5000, Type::Bool).as_bytes());
    assert!(answer.status == 422 && answer.json()["fix"].as_str().unwrap().contains("`inputs`"), "{answer:?}");
    let deep = format!("{}1{}", "[".repeat(500_000), "]".repeat(500_000));
    client.send("POST", "/v1/programs", &[], deep.as_bytes()).refused(422, "bad_program");
    // A reduction of very many elements has many levels, and its program is large.
    let mut builder = ProgramBuilder::new();
    let [mut x, y] = ["x", "y"].map(|name| builder.input(name, Type::Bool).unwrap());
    for _ in 0..100_000 {
        x = builder.op(Op::Xor, &[x, y]).unwrap();
    }
    builder.output("z", x);
    let long = builder.finish().unwrap();
    let mut builder = ProgramBuilder::new();
    let values = builder.input("x", Type::Bool).unwrap();
    let function = builder.function(Function::Program(long));
    let how = How::Function(function);
    let value = builder.op(Op::Reduce { how, axes: Axes::All }, &[values]).unwrap();
    builder.output("z", value);
    let long = client.stored(&builder.finish().unwrap());
    let body = json!({ "program": long, "key": key, "shapes": [[1u64 << 35]] });
    let answer = client.post("/v1/estimates", &body);
    assert!(answer.status == 200 || (400..500).contains(&answer.status), "{answer:?}");
    let wide = Type::Uint(2048);
    let power = Program::from_op("mul", &[wide, wide]).unwrap().to_json("mul").unwrap();
    let body = json!({ "program": stored(client, &power), "key": key });
    let answer = client.post("/v1/estimates", &body);
    assert!(answer.status == 200 || (400..500).contains(&answer.status), "{answer:?}");
}

/// Checks that a service computes.
fn computes(client: &Client, key: &str, secret: &ClientKey, name: &str) {
    let value = |value: u64| {
        let encrypted = secret.encrypt(&Plain::scalar(U8, value).unwrap()).unwrap();
        json!({ "blob": client.upload(&encrypted.to_bytes().unwrap()) })
    };
    let body = json!({ "key": key, "program": client.program("add", &[U8, U8]), "inputs": [value(4), value(5)] });
    let id = client.submit(name, &body).ok()["id"].as_str().unwrap().to_owned();
    let job = client.wait(&id);
    assert_eq!(job["state"], "succeeded", "{job}");
    let result = client.get(&format!("/v1/jobs/{id}/results/0")).bytes;
    let result = secret.decrypt(&solinas_engine::Ciphertext::from_bytes(&result).unwrap()).unwrap();
    assert_eq!(result.to_strings(), ["9"]);
}

#[test]
fn small_requests_for_much_memory_end_no_process() {
    let store = tempfile::tempdir().unwrap();
    crate::cluster::prepare(store.path());
    let (mut process, url, token) = start(store.path());
    let client = Client::new(&url, &token);
    let key = client.register();
    refuses(&client, cases(&client, &key, &keys().0, 1 << 17));
    other_requests(&client, &key);
    computes(&client, &key, &keys().0, "after");
    if std::env::var("SOLINAS_LIMITS").is_ok_and(|long| long == "long") {
        let (secret, server) = default_keys();
        let blob = client.upload(&server.to_bytes().unwrap());
        let id = server.key_id().to_string();
        client.put(&format!("/v1/keys/{id}"), json!({ "blob": blob }).to_string().as_bytes()).ok();
        // 32 MB under the public key, and 16 MB under a seed.
        refuses(&client, cases(&client, &id, &secret, 1 << 20));
        computes(&client, &id, &secret, "after the long ones");
    }
    client.get("/readyz");
    assert!(process.lives(), "the service ended");
}

/// Starts a service with little address space: the smallest one, or the command in `SOLINAS_COMMAND`.
fn start(store: &Path) -> (kills::Process, String, String) {
    let mut shell = Command::new("sh");
    let limited = |rest: &str| format!("ulimit -v {SPACE} && exec \"$0\" {rest}");
    match std::env::var_os("SOLINAS_COMMAND") {
        None => {
            let child = kills::CHILD.join(" ");
            shell.args(["-c", &limited(&child)]).arg(std::env::current_exe().unwrap()).env(kills::STORE, store);
            kills::run(&mut shell)
        }
        Some(command) => {
            // The disk of the machine that tests may be nearly full.
            std::fs::write(store.join("limits.toml"), "disk_reserve_bytes = 0\n").unwrap();
            let options = "serve --json --research --addr 127.0.0.1:0 --store \"$1\" --config \"$1/limits.toml\"";
            shell.args(["-c", &limited(options)]).arg(command).arg(store);
            kills::run_command(&mut shell)
        }
    }
}

/// Keys of the default set.
fn default_keys() -> (ClientKey, ServerKey) {
    keygen(&KeygenOptions { insecure_seed: Some(3), ..Default::default() }, &Control::default()).unwrap()
}

/// A job of more elements than run side by side in its memory is computed.
#[test]
fn inputs_are_expanded_for_some_elements_at_a_time() {
    let harness = Harness::with(|config| config.limits.job_memory_bytes = Some(24 << 20));
    let client = &harness.client;
    let key = client.register();
    let blob = client.upload(&seeded(&keys().0, 700));
    let body = json!({ "key": key, "program": client.program("not", &[Type::Bool]), "inputs": [{ "blob": blob }] });
    let id = client.submit("not", &body).ok()["id"].as_str().unwrap().to_owned();
    assert_eq!(client.wait(&id)["state"], "succeeded");
    assert_eq!(client.result(&id), vec!["false"; 700].join(","));
}
