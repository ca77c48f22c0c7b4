//! Jobs with private programs.

use crate::harness::{Harness, U8, keys, reduction};
use serde_json::{Value, json};
use solinas_engine::program::How;
use solinas_engine::{Ciphertext, Plain, Program};

fn array(values: &[u128]) -> Ciphertext {
    keys().0.encrypt(&Plain::new(U8, Some(vec![values.len()]), values.to_vec()).unwrap()).unwrap()
}

#[test]
fn what_hides_the_program_counts_in_estimates_in_admission_and_in_progress() {
    // Each wave gets a checkpoint, so that the last rounds pause too.
    let harness = Harness::with(|config| config.checkpoint = std::time::Duration::ZERO);
    let client = &harness.client;
    let key = client.register();
    let [many, one] = [&[9, 200, 3][..], &[7]].map(|values| client.upload(&array(values).to_bytes().unwrap()));
    let not = client.program("not", &[U8]);
    let sum_of_not = client.stored(&reduction(&Program::from_op("not", &[U8]).unwrap(), How::Sum));
    let jobs = [
        (json!({ "program": not }), &many, 3, "246,55,252"),
        (json!({ "program": sum_of_not }), &many, 3, "41"),
        (json!({ "program": sum_of_not }), &one, 1, "248"),
    ];
    for (number, (work, blob, elements, wanted)) in jobs.into_iter().enumerate() {
        let request = |is_private: bool, more: Value| {
            let mut request = work.clone();
            request["key"] = json!(key);
            request["private_program"] = json!(is_private);
            request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            request
        };
        let bootstraps = |is_private: bool| -> Value {
            let name = format!("{number} {is_private}");
            let inputs = json!({ "inputs": [{ "blob": blob }] });
            let id = client.submit(&name, &request(is_private, inputs)).ok()["id"].as_str().unwrap().to_owned();
            let job = client.wait(&id);
            assert_eq!((&job["state"], &*client.result(&id)), (&json!("succeeded"), wanted), "{job}");
            let bootstraps = &job["cost"]["bootstraps"];
            assert_eq!((bootstraps, bootstraps), (&job["progress"]["done"], &job["progress"]["total"]), "{job}");
            let schedule = client.get(&format!("/v1/jobs/{id}/schedule")).ok();
            let waves = schedule["waves"].as_array().unwrap();
            assert!(waves.iter().all(|wave| wave["done"] == wave["bootstraps"]), "{schedule}");
            bootstraps.clone()
        };
        let [plain, private] = [false, true].map(&bootstraps);
        assert!(private.as_u64() >= Some(plain.as_u64().unwrap() + 8), "{plain} {private}");
        // The service tells the same before.
        let request = request(true, json!({ "shapes": [[elements]] }));
        assert_eq!(client.post("/v1/estimates", &request).ok()["bootstraps"], private);
    }
    let without_key = json!({ "program": not, "params": "gates-toy", "private_program": true });
    let refused = client.post("/v1/estimates", &without_key);
    assert!(String::from_utf8_lossy(&refused.bytes).contains("names no key"));
}
