//! A whole run on the emulated device.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use assert_cmd::Command;
use serde_json::Value;

fn lab() -> Command {
    Command::cargo_bin("gpu-lab").unwrap()
}

#[test]
fn every_stage_writes_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results");
    let output = lab().arg(&results).args(["--device", "emulated", "--quick", "--seed", "7"]).assert().success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    println!("{text}");
    let json = |name: &str| -> Value { serde_json::from_slice(&std::fs::read(results.join(name)).unwrap()).unwrap() };
    assert_eq!(json("machine.json")["model"], "the emulated device");
    assert!(json("micro.json").as_array().unwrap().iter().all(|ceiling| ceiling["value"].as_f64().unwrap() > 0.0));
    let tests = json("tests.json");
    assert_eq!(tests["seed"], 7);
    let outcomes = tests["outcomes"].as_array().unwrap();
    assert_eq!(outcomes.len(), solinas_gpu_lab::checks::CHECKS.len());
    assert!(outcomes.iter().all(|outcome| outcome["status"] == "passed"), "{tests:#}");
    let rows = json("bench.json")["benches"].take();
    assert_eq!(rows.as_array().unwrap().len(), solinas_gpu_lab::benches::BENCHES.len());
    assert!(rows.as_array().unwrap().iter().all(|row| row["bound"].as_f64().unwrap() > 0.0), "{rows:#}");
    for name in ["bench.md", "sanitizer.txt", "ncu.txt"] {
        assert!(!std::fs::read_to_string(results.join(name)).unwrap().is_empty(), "{name}");
    }
    assert!(text.contains("| tfhe gates-128, many |"), "{text}");
}

#[test]
fn a_run_without_time_skips_everything() {
    let folder = tempfile::tempdir().unwrap();
    let output = lab().arg(folder.path()).args(["--device", "emulated", "--quick", "--seconds", "0"]).assert();
    let text = String::from_utf8_lossy(&output.success().get_output().stdout).into_owned();
    assert_eq!(text.matches("skipped").count(), 6, "{text}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn devices_that_do_not_exist_are_errors() {
    for (device, problem) in [("cpu", "name cuda:0"), ("gpu", "unknown device"), ("cuda:99", "no CUDA device")] {
        let output = lab().args(["folder", "--device", device]).assert().code(1);
        let message = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        assert!(message.contains(problem), "{message}");
    }
}
