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

#[test]
fn other_schemes_run_on_the_processor_alone() {
    let place = Place::new();
    place.run("keygen --scheme ntru --params tight-512-20 --research --out n");
    place.run("encrypt --key n/client.key --type bool 1 -o a.ct");
    let message = place.fail("eval --key n/server.key not a.ct -o r.ct --device emulated", 1);
    assert!(message.contains("scheme ntru does not run on the device emulated"), "{message}");
    place.run("eval --key n/server.key not a.ct -o r.ct --device auto");
    assert_eq!(place.run("decrypt --key n/client.key r.ct"), "false\n");
}

#[test]
fn lwe_keys_evaluate_on_a_device_with_the_same_bytes() {
    let place = Place::new();
    place.run("keygen --scheme lwe --params leveled-16-2 --research --out l");
    place.run("encrypt --key l/client.key --type u2 3 -o a.ct");
    place.run("encrypt --key l/client.key --type u2 2 -o b.ct");
    for device in ["cpu", "emulated"] {
        place.run(&format!("eval --key l/server.key add a.ct b.ct -o {device}.ct --threads 2 --device {device}"));
    }
    let read = |name: &str| std::fs::read(place.path(name)).unwrap();
    assert_eq!(read("cpu.ct"), read("emulated.ct"));
    assert_eq!(place.run("decrypt --key l/client.key emulated.ct"), "1\n");
    let message = place.fail("eval --key l/server.key add a.ct b.ct -o r.ct --device emulated:2", 1);
    assert!(message.contains("scheme lwe runs on one device, but 2 were named"), "{message}");
}

#[test]
fn gentry_halevi_keys_evaluate_on_a_device_with_the_same_bytes() {
    let place = Place::new();
    place.run("keygen --scheme gh --params ci-15 --research --insecure-seed 1 --out g");
    place.run("encrypt --key g/client.key --type u2 3 -o a.ct");
    place.run("encrypt --key g/client.key --type u2 1 -o b.ct");
    for device in ["cpu", "emulated"] {
        place.run(&format!("eval --key g/server.key add a.ct b.ct -o {device}.ct --threads 2 --device {device}"));
    }
    let read = |name: &str| std::fs::read(place.path(name)).unwrap();
    assert_eq!(read("cpu.ct"), read("emulated.ct"));
    assert_eq!(place.run("decrypt --key g/client.key emulated.ct"), "0\n");
    let message = place.fail("eval --key g/server.key add a.ct b.ct -o r.ct --device emulated --memory 1", 1);
    assert!(message.contains("bytes on the emulated device"), "{message}");
    let message = place.fail("eval --key g/server.key add a.ct b.ct -o r.ct --device emulated:2", 1);
    assert!(message.contains("scheme gh runs on one device, but 2 were named"), "{message}");
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
#[cfg(unix)]
#[test]
fn ctrl_c_stops_a_run_on_a_device() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let place = Place::new();
    place.encrypt("u16", "40000", "a.ct");
    let key = crate::common::key("k/server.key");
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("solinas"))
        .current_dir(place.path("."))
        .args(["eval", "--key", &key, "mul", "a.ct", "a.ct", "-o", "r.ct", "--device", "emulated"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(child.try_wait().unwrap(), None, "the product ended before the signal");
    let start = Instant::now();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    println!("stopped after {:.1} s", start.elapsed().as_secs_f64());
    assert!(start.elapsed() < Duration::from_secs(30));
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
    place.fail("bigint mul 3 5 --device emulated --engine solinas", 2);
    let run = |command: &str| place.command(command).env("SOLINAS_DEVICE", "emulated").assert().success();
    assert_eq!(run("bigint gcd 4 6").get_output().stdout, b"2\n");
    assert_eq!(run("bigint mul 4 6").get_output().stdout, b"24\n");
}
