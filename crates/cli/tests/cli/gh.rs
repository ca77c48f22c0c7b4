//! Encrypted computation under Gentry and Halevi's scheme.

use crate::common::Place;
use serde_json::Value;

const KEYGEN: &str = "keygen --scheme gh --params ci-15 --research --insecure-seed 1 --out k";

#[test]
fn an_8_bit_adder_runs_encrypted_at_toy() {
    let place = Place::new();
    let made = place.run("keygen --scheme gh --params toy --research --out keys");
    assert!(made.contains("parameters toy (no security: for research only"), "{made}");
    place.run("circuit build add --type u8 -o add8.txt");
    place.run("encrypt --research --key keys/client.key --type u8 200 -o a.ct");
    // The server key also encrypts.
    place.run("encrypt --research --key keys/server.key --type u8 99 -o b.ct");
    place.run("eval --key keys/server.key --circuit add8.txt --inputs a.ct b.ct -o sum.ct");
    assert_eq!(place.run("decrypt --key keys/client.key sum.ct"), "43\n");
    let text = place.run("inspect sum.ct keys/client.key keys/server.key");
    assert!(text.contains("sum.ct: ciphertext, scheme gh") && text.contains("section residues: 195"), "{text}");
    #[cfg(unix)]
    assert_eq!(crate::common::mode(place.path("keys/client.key")), 0o600);
}

#[test]
fn arrays_and_operations_run_and_estimates_show_recrypts() {
    let place = Place::new();
    assert!(place.run(KEYGEN).contains("of a size for tests"));
    place.run("encrypt --research --key k/client.key --type i8 -100 100 -7 -o a.ct");
    place.run("encrypt --research --key k/client.key --type i8 -3 -o b.ct");
    for (operation, values) in [("mul", "44\n-44\n21\n"), ("div", "33\n-33\n2\n"), ("max", "-3\n100\n-3\n")] {
        place.run(&format!("eval --key k/server.key {operation} a.ct b.ct -o c.ct --threads 2 --memory 64"));
        assert_eq!(place.run("decrypt --key k/client.key c.ct"), values, "{operation}");
    }
    let cost = place.run("eval --key k/server.key div a.ct b.ct --estimate");
    assert!(cost.contains(" recrypts, ") && cost.contains(" products, depth "), "{cost}");
    let json: Value =
        serde_json::from_str(&place.run("eval --key k/server.key div a.ct b.ct --estimate --json")).unwrap();
    assert!(json["recrypts"].as_u64().unwrap() > 0 && json["bootstraps"] == 0);
}

#[test]
fn the_auction_and_the_bench_run_at_a_test_size() {
    let place = Place::new();
    let text = place.run("demo --scheme gh --params ci-15 --research --quick");
    assert!(text.contains("result: Birch wins at 4800 (equal to the plain maximum"), "{text}");
    assert!(text.contains("none of these is a client key") && text.contains(" recrypts, "), "{text}");
    let text = place.run("bench --scheme gh --params ci-15 --quick");
    assert!(text.contains("recrypt") && text.contains("mul u8"), "{text}");
    let json: Value = serde_json::from_str(&place.run("params --json")).unwrap();
    let sets: Vec<_> = json.as_array().unwrap().iter().filter(|set| set["scheme"] == "gh").collect();
    assert_eq!(sets.len(), 7);
    assert!(sets.iter().all(|set| set["recommended"] == false && set["research_only"].is_string()));
    let text = place.run("params");
    assert!(text.contains("large") && text.contains("research only") && text.contains("for tests"), "{text}");
}

#[test]
fn mistakes_are_told_with_the_fix() {
    let place = Place::new();
    let message = place.fail("keygen --scheme gh --params toy --out k", 1);
    assert!(message.contains("research only") && message.contains("--research"), "{message}");
    let message = place.fail("keygen --scheme gh --research --out k", 1);
    assert!(message.contains("no recommended parameter set") && message.contains("toy, small"), "{message}");
    assert!(place.fail("keygen --scheme bfv --out k", 2).contains("tfhe, gh, ntru, bgv, lwe"));
    let large = "keygen --scheme gh --params large --research --out k";
    let output = place.command(large).env("SOLINAS_MEMORY_MIB", "100").assert();
    let message = String::from_utf8(output.code(1).get_output().stderr.clone()).unwrap();
    assert!(message.contains("key generation takes") && message.contains("choose parameters"), "{message}");
    assert!(place.files().is_empty());
    place.run(KEYGEN);
    place.run("encrypt --research --key k/server.key --type u4 5 -o a.ct");
    place.encrypt("u4", "5", "tfhe.ct");
    for line in ["eval --key k/server.key add a.ct tfhe.ct -o c.ct", "eval --key SERVER add a.ct tfhe.ct -o c.ct"] {
        assert!(place.fail(line, 1).contains(" is of scheme "), "{line}");
    }
    assert!(place.fail("decrypt --key CLIENT a.ct", 1).contains("a.ct is of scheme gh, "));
    assert!(place.fail("encrypt --key SERVER --type u4 5 -o c.ct", 1).contains("encrypt with the public key"));
    let message = place.fail("eval --key k/server.key neg a.ct -o c.ct --memory 0", 1);
    assert!(
        message.contains("0 MiB are allowed") && message.contains("by --memory or SOLINAS_MEMORY_MIB"),
        "{message}"
    );
    let output = place.command("eval --key k/server.key neg a.ct -o c.ct").env("SOLINAS_MEMORY_MIB", "much").assert();
    let message = String::from_utf8(output.code(1).get_output().stderr.clone()).unwrap();
    assert!(message.contains("give a number of MiB"), "{message}");
    assert!(place.fail("eval --key k/server.key to_radix a.ct -o c.ct", 1).contains("radix"));
    assert!(!place.path("c.ct").exists());
}

/// Names of the files in a folder.
#[cfg(unix)]
fn names(place: &Place, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(place.path(folder)).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Finishes the key generation of folder `keys`, and another from a copy of its checkpoint in folder `again`. Both must make the key of the checkpoint.
#[cfg(unix)]
fn finish_twice(place: &Place, line: &str) {
    std::fs::create_dir(place.path("again")).unwrap();
    std::fs::copy(place.path("keys/client.key.partial"), place.path("again/client.key.partial")).unwrap();
    let read = |path: &str| std::fs::read(place.path(path)).unwrap();
    for folder in ["keys", "again"] {
        let output = place.command(&format!("{line} {folder}")).assert().success();
        assert!(String::from_utf8_lossy(&output.get_output().stderr).contains("continuing the key generation of"));
        assert_eq!(names(place, folder), ["client.key", "server.key"]);
    }
    assert!(read("keys/server.key") == read("again/server.key"), "the key that it would have made");
}

#[test]
#[cfg(unix)]
fn keys_that_cannot_be_stored_are_kept_in_the_checkpoint() {
    let place = Place::new();
    let line = "keygen --scheme gh --params ci-15 --research --out";
    std::fs::create_dir(place.path("keys")).unwrap();
    // The error occurs when the keys are stored.
    std::os::unix::fs::symlink("nowhere", place.path("keys/server.key")).unwrap();
    assert!(place.fail(&format!("{line} keys"), 1).contains("symbolic link"));
    assert_eq!(names(&place, "keys"), ["client.key.partial", "server.key"]);
    assert!(place.run("inspect keys/client.key.partial").contains("section indicators"));
    std::fs::remove_file(place.path("keys/server.key")).unwrap();
    std::fs::copy(place.path("keys/client.key.partial"), place.path("left")).unwrap();
    finish_twice(&place, line);
    // The error about an unusable checkpoint names the fix.
    std::fs::create_dir(place.path("bad")).unwrap();
    place.write("bad/client.key.partial", &std::fs::read(place.path("left")).unwrap()[..1000]);
    let message = place.fail(&format!("{line} bad"), 1);
    assert!(message.contains("cut short") && message.contains("partial away to start again"), "{message}");
    // An old checkpoint must not make the replaced key again.
    let old = std::fs::read(place.path("keys/server.key")).unwrap();
    std::fs::copy(place.path("left"), place.path("keys/client.key.partial")).unwrap();
    place.run(&format!("{line} keys --force"));
    assert!(std::fs::read(place.path("keys/server.key")).unwrap() != old);
    assert_eq!(names(&place, "keys"), ["client.key", "server.key"]);
}

#[test]
#[cfg(target_os = "linux")]
fn key_generation_goes_on_after_ctrl_c() {
    use std::process::{Command, Stdio};
    let place = Place::new();
    let line = "keygen --scheme gh --params toy --research --out";
    let interrupt = || {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("solinas"))
            .args(line.split(' '))
            .arg("keys")
            .current_dir(place.path(""))
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while !place.path("keys/client.key.partial").exists() {
            assert!(child.try_wait().unwrap().is_none(), "it ended before it began");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{message}");
        assert!(message.contains("keys/client.key.partial: run the same command again to continue"), "{message}");
        assert_eq!(names(&place, "keys"), ["client.key.partial"]);
    };
    // Waits until the checkpoint holds more than the seed.
    interrupt();
    while place.run("inspect keys/client.key.partial").matches("section ").count() < 2 {
        interrupt();
    }
    assert_eq!(crate::common::mode(place.path("keys/client.key.partial")), 0o600);
    // A command with other options must not continue from it.
    let other = line.replace("toy", "ci-3");
    assert!(place.fail(&format!("{other} keys"), 1).contains("begun with, or move it away to begin again"));
    finish_twice(&place, line);
}
