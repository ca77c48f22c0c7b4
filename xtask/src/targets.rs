//! Compiles the libraries for targets that no test runs on.

use crate::{Outcome, cargo};
use std::process::Command;

/// Arm servers and laptops; browsers.
const TARGETS: [&str; 2] = ["aarch64-unknown-linux-gnu", "wasm32-unknown-unknown"];

/// Checks `solinas` and all below it for each target; a target whose standard library cannot be installed is left out, with a line.
pub(crate) fn check() -> Outcome {
    for target in TARGETS {
        let added = Command::new("rustup").args(["--quiet", "target", "add", target]).output();
        if !added.is_ok_and(|added| added.status.success()) {
            println!("{target}: not checked, since `rustup target add {target}` failed");
            continue;
        }
        println!("cargo check --package solinas --target {target}");
        let mut check = cargo(&["check", "--quiet", "--package", "solinas", "--target", target]);
        // BLAKE3's C kernels for Arm would need a C compiler for it.
        let status = check.env("CARGO_FEATURE_NO_NEON", "1").status().map_err(|e| format!("cannot run cargo: {e}"))?;
        if !status.success() {
            return Err(format!("solinas does not compile for {target}"));
        }
    }
    Ok(())
}
