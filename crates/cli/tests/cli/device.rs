//! The device of a server.

use crate::common::Place;

#[test]
fn devices_that_do_not_exist_are_refused_with_the_fix() {
    let place = Place::new();
    place.encrypt("bool", "1", "a.ct");
    for device in ["gpu", "cuda", "cuda:x", ""] {
        let output = place.command("eval --key SERVER not a.ct -o r.ct --device").arg(device).assert().code(1);
        let message = String::from_utf8(output.get_output().stderr.clone()).unwrap();
        assert!(message.contains(&format!("unknown device {device:?}")) && message.contains("cuda:0"), "{message}");
    }
    let message = place.fail("eval --key SERVER not a.ct -o r.ct --device cuda:99", 1);
    assert!(message.contains("no CUDA device"), "{message}");
    let output = place.command("eval --key SERVER not a.ct -o r.ct").env("SOLINAS_DEVICE", "gpu").assert().code(1);
    assert!(String::from_utf8_lossy(&output.get_output().stderr).contains("unknown device \"gpu\""));
    let message = place.fail("demo --device gpu", 1);
    assert!(message.contains("unknown device \"gpu\""), "{message}");
    assert_eq!(place.files(), ["a.ct"]);
}

/// Evaluates on the processor and on the emulated device, and compares the files. Returns the decrypted result.
fn same_on_both_devices(place: &Place, folder: &str, operation: &str) -> String {
    let results = ["cpu", "emulated"].map(|device| {
        let line = format!("eval --key {folder}/server.key {operation} -o r.ct --threads 2 --device {device}");
        place.run(&line);
        std::fs::read(place.path("r.ct")).unwrap()
    });
    assert!(results[0] == results[1], "{folder}, {operation}");
    place.run(&format!("decrypt --key {folder}/client.key r.ct"))
}

/// Checks that a key runs on one device at a time, and that too little memory of the device gives an error with its
/// bytes.
fn one_device_with_enough_memory(place: &Place, scheme: &str, folder: &str, operation: &str) {
    let message = place.fail(&format!("eval --key {folder}/server.key {operation} -o s.ct --device emulated:2"), 1);
    assert!(message.contains(&format!("scheme {scheme} runs on one device, but 2 were named")), "{message}");
    let line = format!("eval --key {folder}/server.key {operation} -o s.ct --device emulated --memory 1");
    let message = place.fail(&line, 1);
    assert!(message.contains("bytes on the emulated device") && message.contains("take the device cpu"), "{message}");
}

#[test]
fn lwe_keys_evaluate_on_a_device_with_the_same_bytes() {
    let place = Place::new();
    place.run("keygen --scheme lwe --params leveled-16-2 --research --out l");
    place.run("encrypt --key l/client.key --type u2 3 -o a.ct");
    place.run("encrypt --key l/client.key --type u2 2 -o b.ct");
    assert_eq!(same_on_both_devices(&place, "l", "add a.ct b.ct"), "1\n");
    let message = place.fail("eval --key l/server.key add a.ct b.ct -o r.ct --device emulated:2", 1);
    assert!(message.contains("scheme lwe runs on one device, but 2 were named"), "{message}");
}

#[test]
fn keys_of_bits_over_rings_bootstrap_on_a_device_with_the_same_bytes() {
    for (scheme, params) in [("ntru", "boot-64"), ("bgv", "boot-64-2")] {
        let place = Place::new();
        place.run(&format!("keygen --scheme {scheme} --params {params} --research --insecure-seed 1 --out k"));
        place.run("encrypt --key k/client.key --type u3 7 -o a.ct");
        place.run("encrypt --key k/client.key --type u3 2 -o b.ct");
        let cost = place.run("eval --key k/server.key div a.ct b.ct --estimate");
        assert!(cost.contains("bootstrap"), "{cost}");
        assert_eq!(same_on_both_devices(&place, "k", "div a.ct b.ct"), "3\n", "{scheme}");
        assert_eq!(same_on_both_devices(&place, "k", "sub a.ct 1"), "6\n", "{scheme}");
    }
}

#[test]
fn vectors_over_rings_are_computed_on_a_device_with_the_same_bytes() {
    for (scheme, modulus, options) in [("ntru", 257, "--rotations"), ("bgv", 65537, "")] {
        let place = Place::new();
        let keygen = format!("keygen --scheme {scheme} --params slots-128-2 --research --insecure-seed 1 --out k");
        place.run(&format!("{keygen} {options}"));
        place.run(&format!("encrypt --key k/client.key --type mod{modulus} 1 2 256 -o a.ct"));
        place.run(&format!("encrypt --key k/client.key --type mod{modulus} 3 4 5 -o b.ct"));
        for (operation, values) in [
            ("mul a.ct b.ct", [3, 8, 1280]),
            ("mul a.ct 3", [3, 6, 768]),
            ("sub a.ct 1", [0, 1, 255]),
            ("neg a.ct", [modulus - 1, modulus - 2, modulus - 256]),
            ("rotate a.ct --by 1", [2, 256, 1]),
        ] {
            let text = values.map(|value| format!("{}\n", value % modulus)).concat();
            assert_eq!(same_on_both_devices(&place, "k", operation), text, "{scheme}, {operation}");
        }
        let dot = format!("{}\n", 1291 % modulus);
        assert_eq!(same_on_both_devices(&place, "k", "dot a.ct b.ct"), dot, "{scheme}");
    }
}

#[test]
fn keys_over_rings_need_one_device_with_enough_memory() {
    for (scheme, params) in [("ntru", "tight-1024-9"), ("bgv", "bits-1024-9")] {
        let place = Place::new();
        place.run(&format!("keygen --scheme {scheme} --params {params} --research --insecure-seed 1 --out k"));
        place.run("encrypt --key k/client.key --type bool 1 -o a.ct");
        one_device_with_enough_memory(&place, scheme, "k", "and a.ct a.ct");
    }
}

#[test]
fn gentry_halevi_keys_evaluate_on_a_device_with_the_same_bytes() {
    let place = Place::new();
    place.run("keygen --scheme gh --params ci-15 --research --insecure-seed 1 --out g");
    place.run("encrypt --key g/client.key --type u2 3 -o a.ct");
    place.run("encrypt --key g/client.key --type u2 1 -o b.ct");
    assert_eq!(same_on_both_devices(&place, "g", "add a.ct b.ct"), "0\n");
    one_device_with_enough_memory(&place, "gh", "g", "add a.ct b.ct");
}

#[test]
fn a_device_changes_no_byte_of_a_result() {
    let place = Place::new();
    place.encrypt("u2", "3", "a.ct");
    place.encrypt("u2", "2", "b.ct");
    let read = |name: &str| std::fs::read(place.path(name)).unwrap();
    for device in ["cpu", "auto", "emulated", "emulated:2"] {
        place.run(&format!("eval --key SERVER add a.ct b.ct -o {device}.ct --threads 2 --device {device}"));
        assert!(read("cpu.ct") == read(&format!("{device}.ct")), "{device}");
    }
    assert_eq!(place.run("decrypt --key CLIENT emulated.ct"), "1\n");
}

#[test]
fn the_memory_of_a_device_is_limited() {
    let place = Place::new();
    place.encrypt("bool", "1", "a.ct");
    place.run("eval --key SERVER not a.ct -o r.ct --device emulated --memory 1024");
    let message = place.fail("eval --key SERVER not a.ct -o s.ct --device emulated --memory 1", 1);
    assert!(message.contains("bytes on the emulated device") && message.contains("take another device"), "{message}");
    let message = place.fail("eval --key SERVER not a.ct -o s.ct --memory 1024", 2);
    assert!(message.contains("--device"), "{message}");
}

#[test]
fn params_lists_the_gpus_or_says_why_there_are_none() {
    let place = Place::new();
    let text = place.run("params --devices");
    assert!(text.contains("has the devices cpu and emulated"), "{text}");
    let list: serde_json::Value = serde_json::from_str(&place.run("params --devices --json")).unwrap();
    match list["gpus"].as_array().unwrap().as_slice() {
        [] => {
            let problem = list["problem"].as_str().unwrap();
            assert!(text.contains(problem) && problem.contains("take the device cpu"), "{problem}");
        }
        [first, ..] => assert!(first["name"] == "cuda:0" && text.contains(first["model"].as_str().unwrap())),
    }
    place.fail("params --devices find", 2);
}

/// Ctrl-C stops a run on a device between two graphs, and leaves no file.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_stops_a_run_on_a_device() {
    let place = Place::new();
    place.encrypt("u8", "200", "a.ct");
    let key = crate::common::key("k/server.key");
    crate::terminal::interrupted(&place, &format!("eval --key {key} mul a.ct a.ct -o r.ct --device emulated"));
    assert_eq!(place.files(), ["a.ct"]);
}

#[test]
fn integers_are_computed_on_a_device() {
    let place = Place::new();
    let product = place.run("bigint mul 123456789012345678901234567890 0xffffffffffffffff --device emulated");
    assert_eq!(product, place.run("bigint mul 123456789012345678901234567890 0xffffffffffffffff"));
    assert_eq!(place.run("bigint mul 30 40 --mod 97 --device emulated"), "36\n");
    assert_eq!(place.run("bigint square 30 --device emulated"), "900\n");
    assert_eq!(place.run("bigint square 30 --mod 97 --device auto"), "27\n");
    assert_eq!(place.run("bigint powm 3 100 101 --device emulated"), "1\n");
    for command in ["gcd 4 6", "add 1 2", "mod 7 5", "powm 3 5 7 --secret"] {
        let message = place.fail(&format!("bigint {command} --device emulated"), 2);
        assert!(message.contains("leave out --device"), "{message}");
    }
    let message = place.fail("bigint mul 3 5 --device cuda:99", 1);
    assert!(message.contains("no CUDA device"), "{message}");
    let message = place.fail("bigint mul 3 5 --device emulated:2", 1);
    assert!(message.contains("emulated:2"), "{message}");
    assert_eq!(place.run("bigint mul 30 40 --device emulated --engine solinas"), "1200\n");
    assert_eq!(place.run("bigint square 30 --device emulated --engine solinas"), "900\n");
    let message = place.fail("bigint mul 3 5 --mod 7 --device emulated --engine solinas", 2);
    assert!(message.contains("leave out --engine"), "{message}");
    place.fail("bigint mul 3 5 --device emulated --threads 2", 2);
    let run = |command: &str| place.command(command).env("SOLINAS_DEVICE", "emulated").assert().success();
    assert_eq!(run("bigint gcd 4 6").get_output().stdout, b"2\n");
    assert_eq!(run("bigint mul 4 6").get_output().stdout, b"24\n");
}
