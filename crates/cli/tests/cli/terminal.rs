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
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let place = Place::new();
    place.encrypt("u4", "1", "a.ct");
    let full = || Stdio::from(std::fs::File::create("/dev/full").unwrap());
    for line in ["params", "--help", "--version", "circuit build add --type u4", "params --json"] {
        let output = solinas().args(line.split(' ')).stdout(full()).stderr(Stdio::piped()).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && message.contains("No space left"), "{line}: {message}");
    }
    assert!(place.fail("decrypt --key CLIENT a.ct -o /dev/full", 1).contains("No space left"));
    place.fail("circuit build add --type u4 -o /dev/full", 1);
}

/// Whether a process handles SIGINT.
#[cfg(target_os = "linux")]
pub(crate) fn listens(id: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
    u64::from_str_radix(caught.trim(), 16).unwrap_or(0) & 0b10 != 0
}

#[test]
#[cfg(target_os = "linux")]
fn ctrl_c_stops_with_130_and_leaves_no_output() {
    let place = Place::new();
    place.encrypt("u128", "3 5 7 9", "a.ct");
    let mut child = solinas()
        .args(["eval", "--key", &crate::common::key("k/server.key"), "div", "a.ct", "a.ct", "-o", "r.ct"])
        .current_dir(place.path(""))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = std::time::Instant::now();
    while !listens(child.id()) {
        assert!(begin.elapsed().as_secs() < 60 && child.try_wait().unwrap().is_none(), "it never listened");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{message}");
    assert!(message.contains("interrupted"), "{message}");
    assert_eq!(place.files(), ["a.ct"]);
}
