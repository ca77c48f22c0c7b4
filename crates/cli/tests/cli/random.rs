//! `solinas random`: values, files and refusals.

use crate::common::Place;

#[test]
fn random_values_decrypt_and_take_part_in_computations() {
    let place = Place::new();
    let line = place.run("random --key SERVER --type u4 -n 3 --seed draw -o r.ct");
    assert!(line.starts_with("r.ct: u4, 3 values, "), "{line}");
    place.run("random --key SERVER --type u4 -n 3 --seed draw --threads 1 -o again.ct");
    assert_eq!(std::fs::read(place.path("r.ct")).unwrap(), std::fs::read(place.path("again.ct")).unwrap());
    let numbers = |file: &str| -> Vec<u32> {
        place.run(&format!("decrypt --key CLIENT {file}")).split_whitespace().map(|n| n.parse().unwrap()).collect()
    };
    let values = numbers("r.ct");
    assert!(values.len() == 3 && values.iter().all(|&value| value < 16));
    place.run("eval --key SERVER add r.ct 3 -o sum.ct");
    assert_eq!(numbers("sum.ct"), values.iter().map(|value| (value + 3) % 16).collect::<Vec<_>>());
    // One value without -n is a scalar: the first of an array.
    place.run("random --key SERVER --type u4 --seed draw -o one.ct");
    assert_eq!(numbers("one.ct"), values[..1]);
    assert!(place.run("inspect one.ct").contains("u4"));
    place.run("random --key OTHER-SERVER --type u4 -n 3 --seed draw -o other.ct");
    assert_ne!(std::fs::read(place.path("r.ct")).unwrap(), std::fs::read(place.path("other.ct")).unwrap());
    let json = place.run("random --key SERVER --type bool -n 1 --seed -x -o flag.ct --json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(json["type"] == "bool" && json["shape"] == serde_json::json!([1]) && json["file"] == "flag.ct", "{json}");
}

#[test]
fn wrong_requests_are_refused_and_write_nothing() {
    let place = Place::new();
    place.run("keygen --scheme lwe --params toy-256-8 --research --insecure-seed 1 --out l");
    for (line, code, part) in [
        ("--key SERVER --type u4 -o r.ct", 2, "--seed"),
        ("--key SERVER --seed s -o r.ct", 2, "--type"),
        ("--key SERVER --type u4 --seed s", 2, "--output"),
        ("--key SERVER --type u4 --seed s -n 0 -o r.ct", 2, "0"),
        ("--key SERVER --type uint8 --seed s -o r.ct", 2, "did you mean u8?"),
        ("--key SERVER --type mod257 --seed s -o r.ct", 1, "holds bools and integers such as u8, not mod257"),
        ("--key SERVER --type u4 --seed= -o r.ct", 1, "the seed is empty"),
        ("--key SERVER --type u128 -n 4000000000 --seed s -o r.ct", 1, "take fewer values at a time"),
        ("--key CLIENT --type u4 --seed s -o r.ct", 1, "is a client key, a server key is needed"),
        ("--key l/server.key --type u4 --seed s -o r.ct", 1, "only those of scheme tfhe do"),
        ("--key SERVER --type u4 --seed s -o SERVER", 1, "server.key"),
        ("--key SERVER --type u4 --seed s -o nowhere/r.ct", 1, "nowhere"),
    ] {
        let message = place.fail(&format!("random {line}"), code);
        assert!(message.contains(part), "{line}: {message}");
    }
    assert!(place.files().iter().all(|name| !name.ends_with(".ct")), "{:?}", place.files());
}
