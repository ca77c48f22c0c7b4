//! Runs every verb with decreasing memory (`ulimit -v`). It succeeds, or ends with exit code 1 and a message. No signal ends it.

use super::solinas;
use solinas_testing::is_long;
use std::path::Path;
use std::process::Command;

/// Commands that make the inputs of later commands.
const START: [&str; 11] = [
    "keygen --params gates-toy --research --insecure-seed 1 --out k",
    "keygen --scheme lwe --params toy-256-8 --research --insecure-seed 1 --out l",
    "keygen --scheme gh --params ci-15 --research --insecure-seed 1 --out g",
    "keygen --scheme ntru --params tight-512-12 --research --insecure-seed 1 --out n",
    "keygen --scheme bgv --params bits-512-20 --research --insecure-seed 1 --out b",
    "encrypt --research --key k/client.key --type u4 3 -o k.ct",
    "encrypt --research --key l/client.key --type u4 3 -o l.ct",
    "encrypt --research --key n/client.key --type u4 3 -o n.ct",
    "encrypt --research --key b/client.key --type u4 3 -o b.ct",
    "rsa keygen --bits 2048 --insecure-seed 3 --public key.pub -o key.pem",
    "circuit build mul --type u8 -o c.txt",
];

/// Every verb. `OUT` stands for a new file or folder in each run.
const LINES: [&str; 36] = [
    "keygen --params gates-toy --research --insecure-seed 1 --out OUT",
    "keygen --out OUT",
    "keygen --scheme bgv --out OUT",
    "keygen --scheme bgv --params boot128-16384-8 --out OUT",
    "keygen --scheme ntru --params secure-16384-2 --out OUT",
    "keygen --scheme lwe --out OUT",
    "keygen --scheme gh --params toy --research --out OUT",
    "keygen --scheme gh --params ci-15 --research --insecure-seed 1 --out OUT",
    "encrypt --research --key k/client.key --type u8 3 -o OUT",
    "encrypt --research --key l/client.key --type u8 3 -o OUT",
    "encrypt --research --key n/client.key --type u8 3 -o OUT",
    "encrypt --research --key b/client.key --type u8 3 -o OUT",
    "encrypt --research --key g/server.key --type bool true -o OUT",
    "encrypt --research --key k/client.key --type u4 --csv rows.csv --column v -o OUT",
    "eval --key k/server.key --program numbers.json --inputs k.ct -o OUT",
    "circuit stats numbers.json",
    "eval --key k/server.key add k.ct k.ct -o OUT",
    "eval --key l/server.key not l.ct -o OUT",
    "eval --key n/server.key add n.ct n.ct -o OUT",
    "eval --key b/server.key add b.ct b.ct -o OUT",
    "decrypt --key k/client.key k.ct",
    "decrypt --key l/client.key l.ct -o OUT",
    "expand --key l/server.key -o OUT",
    "inspect k/client.key k/server.key l.ct",
    "circuit build mul --type u32 -o OUT",
    "circuit stats c.txt",
    "params",
    "params find --scheme bgv --security 128 --depth 3",
    "bigint powm 3 0xffffffffffffffffffffffffffffffff 0xfffffffffffffffffffffffffffffffffffffff1",
    "bigint pow 3 4000000 -o OUT",
    "rsa keygen --bits 2048 --insecure-seed 3 -o OUT",
    "rsa sign --key key.pem c.txt -o OUT",
    "rsa inspect key.pem",
    "paper --list",
    "bench --help",
    "demo --params gates-40 --quick",
];

/// The last output of a command that ends because an allocation fails.
const NOT_ENOUGH: &str = "error: not enough memory\n  \
    help: free some memory, allow more (ulimit -v), set SOLINAS_MEMORY_MIB, or take smaller parameters\n";

/// The command with a limited address space, MiB.
fn limited(command: &Command, limit: u64) -> Command {
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -c 0; ulimit -v $0; exec \"$@\"", &(limit << 10).to_string()]);
    limited.arg(command.get_program()).args(command.get_args());
    limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(place) = command.get_current_dir() {
        limited.current_dir(place);
    }
    limited
}

/// The least limit, in MiB, under which the program itself runs. Below it, the system cannot map the program or its libraries
/// and ends it by a signal or with exit code 127.
fn least() -> u64 {
    let runs = |limit: &u64| {
        let output = limited(&solinas(Path::new("."), "--version"), *limit).output().unwrap();
        matches!(output.status.code(), Some(0 | 1))
    };
    (16..200).step_by(2).find(runs).unwrap()
}

/// Limits in MiB, from the size of the program itself to a size that suffices for every verb.
fn limits() -> Vec<u64> {
    let least = least();
    if is_long() {
        let steps = (0..20).map(|i| f64::from(i) / 19.0);
        steps.map(|part| (least as f64 * f64::powf(2000.0 / least as f64, part)) as u64).collect()
    } else {
        vec![least + 4, 200]
    }
}

#[test]
fn a_verb_without_memory_says_so() {
    let place = tempfile::tempdir().unwrap();
    for line in START {
        let output = solinas(place.path(), line).output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
    }
    // Two bytes become a text, a value and two blocks each, or a number of JSON.
    std::fs::write(place.path().join("rows.csv"), format!("v\n{}", "1\n".repeat(100_000))).unwrap();
    let numbers = format!("{{\"modules\": {{\"x\": [{}]}}}}", vec!["1"; 1_000_000].join(","));
    std::fs::write(place.path().join("numbers.json"), numbers).unwrap();
    let (mut done, mut refused, mut ended) = (0, 0, 0);
    for (i, limit) in limits().into_iter().enumerate() {
        for (j, line) in LINES.into_iter().enumerate() {
            let line = line.replace("OUT", &format!("out-{i}-{j}"));
            let output = limited(&solinas(place.path(), &line), limit).output().unwrap();
            let message = String::from_utf8_lossy(&output.stderr);
            match output.status.code() {
                Some(0) => done += 1,
                Some(1) if message.ends_with(NOT_ENOUGH) => ended += 1,
                Some(1) if message.contains("error: ") => refused += 1,
                code => panic!("{line} in {limit} MiB: {code:?} {message}"),
            }
        }
    }
    println!("{done} did their work, {refused} were refused, {ended} ended when an allocation failed");
}

/// An allocation may fail anywhere. The message is therefore always the same, and needs no allocation.
#[test]
fn a_failed_allocation_ends_the_command_with_an_error() {
    let place = tempfile::tempdir().unwrap();
    let line = "circuit build mul --type u32 -o c.txt";
    let failures = |line: &str, is_expected: &dyn Fn(&str) -> bool| {
        let outputs = (least()..200).step_by(8).map(|limit| {
            let mut command = limited(&solinas(place.path(), line), limit);
            command.env("RUST_BACKTRACE", "1").output().unwrap()
        });
        let failed = outputs.filter(|output| !output.status.success());
        failed.filter(|output| is_expected(&String::from_utf8_lossy(&output.stderr))).count()
    };
    assert!(failures(line, &|message| message == NOT_ENOUGH) > 0);
    assert!(failures(line, &|message| message.starts_with("error: cannot start a thread for each core: ")) > 0);
    let is_json = |message: &str| {
        let error: serde_json::Value = serde_json::from_str(message).unwrap_or_default();
        error["error"] == "not enough memory" && error["code"] == 1 && error["help"].is_string()
    };
    assert!(failures(&format!("{line} --json"), &is_json) > 0);
}

/// An allocation whose size comes from a file is fallible, so that the error names the file.
#[test]
fn a_file_larger_than_memory_is_named() {
    let place = tempfile::tempdir().unwrap();
    let keygen = "keygen --scheme lwe --params toy-256-8 --research --insecure-seed 1 --out l";
    assert!(solinas(place.path(), keygen).output().unwrap().status.success());
    let key = std::fs::OpenOptions::new().write(true).open(place.path().join("l/client.key")).unwrap();
    key.set_len(1 << 40).unwrap();
    let output = limited(&solinas(place.path(), "inspect l/client.key"), 400).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("cannot read l/client.key: out of memory\n  help: free some memory"), "{message}");
}
