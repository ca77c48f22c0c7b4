//! Compiles the libraries for a target on which no test runs.

use crate::{Outcome, cargo};
use std::process::Command;

/// Arm servers and laptops. What browsers run is compiled by `cargo xtask web`.
const TARGET: &str = "aarch64-unknown-linux-gnu";

/// Checks `solinas` and the crates below it for Arm. If the standard library of the target cannot be installed, the check prints a line.
pub(crate) fn check() -> Outcome {
    if !add(TARGET) {
        println!("{TARGET}: not checked, since `rustup target add {TARGET}` failed");
        return Ok(());
    }
    let arguments = ["check", "--package", "solinas", "--target", TARGET];
    println!("cargo {}", arguments.join(" "));
    let mut check = cargo(&arguments);
    // BLAKE3's C kernels would need a C compiler for Arm.
    let status = check.arg("--quiet").env("CARGO_FEATURE_NO_NEON", "1").status();
    match status.map_err(|e| format!("cannot run cargo: {e}"))?.success() {
        true => Ok(()),
        false => Err(format!("solinas does not compile for {TARGET}")),
    }
}

/// Installs the standard library of a target. Returns whether it is there.
pub(crate) fn add(target: &str) -> bool {
    let added = Command::new("rustup").args(["--quiet", "target", "add", target]).output();
    added.is_ok_and(|added| added.status.success())
}
