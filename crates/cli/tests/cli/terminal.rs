//! Pipes that close, disks that fill, Ctrl-C.

use crate::common::Place;
use std::process::{Command, Stdio};

fn solinas() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin("solinas"))
}

#[test]
fn a_closed_pipe_ends_quietly() {
    for line in ["circuit build div --type u32", "params", "--help", "eval --list"] {
        let mut child = solinas().args(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{line}: {output:?}");
    }
}

#[test]
#[cfg(unix)]
fn a_closed_standard_output_is_an_error_and_the_null_device_is_none() {
    let command = assert_cmd::cargo::cargo_bin("solinas");
    let run =
        |end: &str| Command::new("sh").args(["-c", &format!("{} params {end}", command.display())]).output().unwrap();
    let output = run(">&-");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && message.contains("standard output is closed"), "{message}");
    for end in [">/dev/null", "1<>/dev/null"] {
        assert!(run(end).status.success(), "{end}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let place = Place::new();
    place.encrypt("u4", "1", "a.ct");
    let key = crate::common::key("k/client.key");
    let decrypt = format!("decrypt --key {key} {}", place.path("a.ct").display());
    let full = || Stdio::from(std::fs::File::create("/dev/full").unwrap());
    for line in ["params", "--help", "--version", "circuit build add --type u4", "params --json", &decrypt] {
        let output = solinas().args(line.split(' ')).stdout(full()).stderr(Stdio::piped()).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && message.contains("No space left"), "{line}: {message}");
    }
}

/// Whether a process handles SIGINT.
#[cfg(target_os = "linux")]
pub(crate) fn listens(id: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
    u64::from_str_radix(caught.trim(), 16).unwrap_or(0) & 0b10 != 0
}

/// Starts a command, sends it Ctrl-C as soon as it handles the signal, and returns its standard error. The command must end at once with exit code 130.
#[cfg(target_os = "linux")]
pub(crate) fn interrupted(place: &Place, line: &str) -> String {
    let mut child = solinas()
        .args(line.split(' '))
        .current_dir(place.path(""))
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let begin = std::time::Instant::now();
    while !listens(child.id()) {
        assert!(begin.elapsed().as_secs() < 60 && child.try_wait().unwrap().is_none(), "it never listened");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    // A command that did all of its work ends with 0.
    assert_eq!(output.status.code(), Some(130), "{message}");
    message
}

#[test]
#[cfg(target_os = "linux")]
fn ctrl_c_stops_with_130_and_leaves_no_output() {
    let place = Place::new();
    place.encrypt("u128", "3 5 7 9", "a.ct");
    let key = crate::common::key("k/server.key");
    let message = interrupted(&place, &format!("eval --key {key} div a.ct a.ct -o r.ct"));
    assert!(message.contains("interrupted"), "{message}");
    assert_eq!(place.files(), ["a.ct"]);
}

/// Quotients of neighbours, which take seconds to plan.
#[cfg(target_os = "linux")]
fn divisions() -> String {
    use solinas_circuits::program::{Op, ProgramBuilder, Type};
    let mut builder = ProgramBuilder::new();
    let values: Vec<_> = (0..=20).map(|i| builder.input(format!("x{i}"), Type::Uint(128)).unwrap()).collect();
    for (i, pair) in values.windows(2).enumerate() {
        let quotient = builder.op(Op::Div, pair).unwrap();
        builder.output(format!("q{i}"), quotient);
    }
    serde_json::to_string(&builder.finish().unwrap()).unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn ctrl_c_stops_the_planning_of_an_estimate() {
    let place = Place::new();
    place.write("f.json", divisions());
    for line in ["--params gates-128", "--params gates-128 --json"] {
        let message = interrupted(&place, &format!("eval --program f.json --estimate {line}"));
        assert!(message.contains("interrupted") && message.contains("nothing was written"), "{message}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn ctrl_c_stops_an_encryption() {
    let place = Place::new();
    let key = crate::common::key("k/client.key");
    for json in ["", " --json"] {
        let message = interrupted(&place, &format!("encrypt --key {key} --bits 1048576 0x1 -o a.ct --research{json}"));
        assert!(message.contains("interrupted") && message.contains("nothing was written"), "{message}");
        assert_eq!(message.starts_with('{'), !json.is_empty(), "{message}");
    }
    assert!(place.files().is_empty());
}

#[test]
#[cfg(target_os = "linux")]
fn ctrl_c_stops_a_pass_over_a_matrix_and_what_measures_one() {
    let place = Place::new();
    place.run("keygen --scheme lwe --params leveled-128-3 --research --out k");
    place.run("encrypt --key k/server.key --type u64 5 -o a.ct");
    for line in ["and a.ct a.ct -o c.ct", "and a.ct a.ct --estimate", "and a.ct a.ct --estimate --json"] {
        let message = interrupted(&place, &format!("eval --key k/server.key {line}"));
        assert!(message.contains("interrupted") && message.contains("nothing was written"), "{message}");
        assert_eq!(message.starts_with('{'), line.ends_with("--json"), "{message}");
    }
    assert_eq!(place.files(), ["a.ct", "k"]);
}
