//! The oldest compiler that `rust-version` of the workspace promises.

use crate::{Outcome, cargo};
use std::process::Command;

/// `rust-version` of the workspace, such as `1.95`.
const VERSION: &str = env!("CARGO_PKG_RUST_VERSION");

/// Checks the workspace with that compiler. If it is not there and cannot be installed, a line says so.
pub(crate) fn check() -> Outcome {
    let in_use = Command::new("rustc").arg("--version").output().map_err(|e| format!("cannot run rustc: {e}"))?;
    let in_use = String::from_utf8_lossy(&in_use.stdout).trim().to_owned();
    let mut check = if in_use.starts_with(&format!("rustc {VERSION}.")) {
        println!("cargo check --workspace --all-targets, with {in_use}");
        cargo(&[])
    } else {
        let installed = Command::new("rustup").args(["toolchain", "install", "--profile", "minimal", VERSION]).output();
        if !installed.is_ok_and(|installed| installed.status.success()) {
            println!(
                "Rust {VERSION}: not checked, since `rustup toolchain install {VERSION}` failed; {in_use} is in use"
            );
            return Ok(());
        }
        println!("cargo +{VERSION} check --workspace --all-targets");
        let mut rustup = Command::new("rustup");
        rustup.args(["run", VERSION, "cargo"]).current_dir(crate::root());
        rustup
    };
    let status = check.args(["check", "--quiet", "--workspace", "--all-targets"]).status();
    let status = status.map_err(|e| format!("cannot run cargo: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("the workspace does not compile with Rust {VERSION}")) }
}
