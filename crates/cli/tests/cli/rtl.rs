//! The simulated hardware designs as a device. Left out without the tools.

use crate::common::Place;
use crate::rsa_rtl::tools;

#[test]
fn products_and_powers_equal_those_of_the_processor_and_state_cycles() {
    if !tools() {
        return;
    }
    let place = Place::new();
    place.write("a.txt", "9".repeat(3000));
    for command in [
        "bigint mul a.txt 123456789012345678901234567890",
        "bigint square a.txt",
        "bigint mul 0 a.txt",
        "bigint mul 30 40 --mod 97",
        "bigint square a.txt --mod 1000000007",
        "bigint powm 3 1000 1000000000000000000000007",
    ] {
        let output = place.command(&format!("{command} --device rtl")).assert().success();
        let (result, cycles) = (&output.get_output().stdout, String::from_utf8_lossy(&output.get_output().stderr));
        assert_eq!(String::from_utf8_lossy(result), place.run(command), "{command}");
        assert!(
            cycles.starts_with("rtl: ") && cycles.contains(" cycles, ") && cycles.contains("at 200 MHz"),
            "{cycles}"
        );
    }
    let report: serde_json::Value = serde_json::from_str(&place.run("bigint mul 6 7 --device rtl --json")).unwrap();
    assert!(
        report["cycles"].as_u64().is_some_and(|cycles| cycles > 100) && report.to_string().contains("42"),
        "{report}"
    );
    let quiet = place.command("bigint mul 6 7 --device rtl --quiet").assert().success();
    assert!(quiet.get_output().stderr.is_empty());
}

#[test]
fn gentry_halevi_keys_evaluate_on_the_simulated_accelerator_with_the_same_bytes() {
    if !tools() {
        return;
    }
    let place = Place::new();
    place.run("keygen --scheme gh --params ci-3 --research --insecure-seed 1 --out k");
    place.run("encrypt --key k/client.key --type bool 1 -o a.ct");
    place.run("encrypt --key k/client.key --type bool 1 -o b.ct");
    let eval = "eval --key k/server.key and a.ct b.ct -o";
    place.run(&format!("{eval} cpu.ct"));
    let report: serde_json::Value =
        serde_json::from_str(&place.run(&format!("{eval} rtl.ct --device rtl --json"))).unwrap();
    assert!(report["cycles"].as_u64().is_some_and(|cycles| cycles > 1000), "{report}");
    let read = |name: &str| std::fs::read(place.path(name)).unwrap();
    assert!(read("cpu.ct") == read("rtl.ct"));
    assert_eq!(place.run("decrypt --key k/client.key rtl.ct"), place.run("decrypt --key k/client.key cpu.ct"));
}

#[test]
fn what_does_not_run_on_the_simulated_designs_is_refused_with_the_fix() {
    let place = Place::new();
    for (command, fix) in [
        ("gcd 4 6", "leave out --device"),
        ("powm 3 5 7 --secret", "leave out --device"),
        ("mul 3 5 --engine solinas", "leave out --engine"),
    ] {
        let message = place.fail(&format!("bigint {command} --device rtl"), 2);
        assert!(message.contains(fix), "{command}: {message}");
    }
    for device in ["rtl:1", "RTL", "rtl,cpu"] {
        let message = place.fail(&format!("bigint mul 3 5 --device {device}"), 1);
        assert!(message.contains("rtl") && message.contains("device"), "{device}: {message}");
    }
    place.encrypt("bool", "1", "a.ct");
    let message = place.fail("eval --key SERVER not a.ct -o r.ct --device rtl", 1);
    assert!(message.contains("gh"), "{message}");
    assert_eq!(place.files(), ["a.ct"]);
}

#[test]
fn an_operand_that_is_too_long_is_refused_before_a_model_is_built() {
    let place = Place::new();
    place.write("long.txt", format!("0x1{}", "0".repeat(196_608)));
    let output = place
        .command("bigint mul 3 long.txt --device rtl")
        .timeout(std::time::Duration::from_secs(60))
        .assert()
        .code(1);
    let message = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert!(message.contains("the second operand has 786433 bits, but the design takes at most 786432"), "{message}");
    assert!(message.contains("on the device cpu"), "{message}");
    let message = place.fail("bigint powm long.txt 3 1000000007 --device rtl", 1);
    assert!(message.contains("the base has 786433 bits"), "{message}");
    let message = place.fail("bigint square long.txt --mod 1000000007 --device rtl", 1);
    assert!(message.contains("the first operand has 786433 bits"), "{message}");
}

#[test]
fn missing_tools_are_named_with_the_fix() {
    let place = Place::new();
    let run = |command: &str| {
        let mut command = place.command(command);
        command.env("PATH", place.path("none")).env("SOLINAS_RTL_CACHE", place.path("cache"));
        command.env_remove("VERILATOR_ROOT");
        command
    };
    let output = run("bigint mul 3 5 --device rtl").assert().code(1);
    let message = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert!(message.contains("g++, which was not found\n  help: install a C++ compiler"), "{message}");
    let output = run("params --devices").assert().success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    assert!(text.contains("The device rtl is not available") && text.contains("g++"), "{text}");
    assert!(place.files().is_empty());
}

#[test]
fn the_help_names_the_device_with_an_example() {
    let place = Place::new();
    for (command, example) in [("bigint --help", "--device rtl"), ("eval --help", "rtl for the simulated accelerator")]
    {
        // The help is wrapped at the width of a terminal.
        let help = place.run(command).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(example), "{command}: {help}");
    }
}

/// Ctrl-C ends the build of a model. The next build removes what it left, and no library is half-written.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_in_a_build_leaves_no_model() {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};
    if !tools() {
        return;
    }
    let place = Place::new();
    let cache = place.path("cache");
    std::fs::create_dir(&cache).unwrap();
    // The tools are in the user's cache.
    std::os::unix::fs::symlink(solinas_rtl::cache().unwrap().join("tools"), cache.join("tools")).unwrap();
    // A test run in the background may ignore the signal, and its children then do so too.
    let mut child = Command::new("env")
        .arg("--default-signal=INT")
        .arg(assert_cmd::cargo::cargo_bin("solinas"))
        .args(["bigint", "mul", "3", "5", "--device", "rtl"])
        .env("SOLINAS_RTL_CACHE", &cache)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let names = || {
        let entries = std::fs::read_dir(&cache).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    while !names().iter().any(|name| name.contains(".build-")) {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it began");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    // A terminal signals the command and its children.
    Command::new("kill").args(["-INT", "--", &format!("-{}", child.id())]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        (output.status.code(), message.as_str()),
        (Some(130), "error: interrupted\n  help: nothing was written\n")
    );
    assert!(names().iter().all(|name| !name.ends_with(".so")), "{:?}", names());
}
