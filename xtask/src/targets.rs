//! Compiles the libraries for targets on which no test runs.

use crate::{Outcome, cargo};
use std::process::Command;

/// Targets: Arm servers and laptops, and browsers.
const TARGETS: [&str; 2] = ["aarch64-unknown-linux-gnu", "wasm32-unknown-unknown"];

/// Checks `solinas` and the crates below it for each target. If the standard library of a target cannot be installed, the check skips the target and
/// prints a line.
pub(crate) fn check() -> Outcome {
    let (there, missing): (Vec<_>, Vec<_>) = TARGETS.into_iter().partition(|target| add(target));
    for target in missing {
        println!("{target}: not checked, since `rustup target add {target}` failed");
    }
    if there.is_empty() {
        return Ok(());
    }
    let targets: Vec<_> = there.iter().flat_map(|target| ["--target", target]).collect();
    println!("cargo check --package solinas {}", targets.join(" "));
    let mut check = cargo(&["check", "--quiet", "--package", "solinas"]);
    // BLAKE3's C kernels would need a C compiler for Arm.
    check.args(&targets).env("CARGO_FEATURE_NO_NEON", "1");
    let status = check.status().map_err(|e| format!("cannot run cargo: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("solinas does not compile for {}", there.join(" and "))) }
}

/// Installs the standard library of a target. Returns whether it is there.
pub(crate) fn add(target: &str) -> bool {
    let added = Command::new("rustup").args(["--quiet", "target", "add", target]).output();
    added.is_ok_and(|added| added.status.success())
}
