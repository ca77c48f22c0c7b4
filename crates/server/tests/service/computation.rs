//! The cases that numpy wrote, as jobs.

use crate::cases::{Array, Case, cases};
use crate::harness::{Harness, keys_of};
use serde_json::json;
use solinas_engine::program::ProgramFile;
use solinas_engine::{Ciphertext, Plain};

#[test]
fn cases_give_what_numpy_gives_as_jobs() {
    let harness = Harness::new();
    let client = &harness.client;
    let (secret, key, id) = keys_of("integers-toy");
    let blob = client.upload(&key);
    client.put(&format!("/v1/keys/{id}"), json!({ "blob": blob }).to_string().as_bytes()).ok();
    let mut ran = 0;
    for (number, Case { name, program, inputs, outputs, error }) in cases().into_iter().enumerate() {
        let program = ProgramFile::read(&program.to_string()).unwrap().program;
        // Values that share ciphertexts belong to another scheme.
        if program.nodes.iter().any(|node| node.ty.modulus().is_some()) {
            continue;
        }
        // Every third input is a value that the service sees.
        let one = |(at, input): (usize, &Array)| {
            let plain = Plain::from(input.plain());
            if at % 3 == 1 || plain.values.is_empty() {
                let (ty, values) = (plain.ty.to_string(), plain.to_strings());
                return json!({ "constant": { "type": ty, "values": values, "shape": plain.shape } });
            }
            json!({ "blob": client.upload(&secret.encrypt(&plain).unwrap().to_bytes().unwrap()) })
        };
        let inputs: Vec<_> = inputs.iter().enumerate().map(one).collect();
        let text = program.to_json(&name).unwrap();
        let stored = client.send("POST", "/v1/programs", &[], text.as_bytes());
        // An array without elements has no file.
        let is_empty = outputs.iter().any(|output| output.plain().values.is_empty());
        let refused = |problem: &serde_json::Value| {
            if is_empty {
                assert!(problem["detail"].as_str().unwrap().contains("without elements"), "{name}: {problem}");
                return;
            }
            let told = format!("{}; {}", problem["detail"], problem["fix"]);
            assert!(error.as_ref().is_some_and(|part| told.contains(part)), "{name}: {problem}");
        };
        if stored.status >= 400 {
            refused(&stored.json());
            continue;
        }
        let body = json!({ "key": id, "program": stored.json()["digest"], "inputs": inputs });
        let submitted = client.submit(&number.to_string(), &body);
        if submitted.status >= 400 {
            refused(&submitted.json());
            continue;
        }
        assert!(error.is_none() && !is_empty, "{name} is accepted");
        let job = submitted.json()["id"].as_str().unwrap().to_owned();
        assert_eq!(client.wait(&job)["state"], "succeeded", "{name}: {}", client.wait(&job));
        for (place, output) in outputs.iter().enumerate() {
            let result = client.get(&format!("/v1/jobs/{job}/results/{place}")).bytes;
            let result = secret.decrypt(&Ciphertext::from_bytes(&result).unwrap()).unwrap();
            assert_eq!(result, output.plain().into(), "{name}");
        }
        ran += 1;
    }
    assert!(ran >= 100, "{ran} ran");
}
