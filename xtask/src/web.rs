//! Compiles the client of the web page to WebAssembly.

use crate::{Outcome, cargo, targets};
use std::fs;
use std::path::Path;

const TARGET: &str = "wasm32-unknown-unknown";

/// The module takes its randomness from the page, by a function of its own interface. Every browser since 2023 has vectors
/// of 128 bits.
const FLAGS: &str = "--cfg getrandom_backend=\"custom\" -C target-feature=+simd128";

/// Writes `crates/server/web/solinas.wasm`, which goes into the next build of the service.
pub(crate) fn build(root: &Path, quick: bool, if_possible: bool) -> Outcome {
    if !targets::add(TARGET) {
        let problem = format!("`rustup target add {TARGET}` failed: the page needs it");
        if if_possible {
            println!("note: {problem}");
            return Ok(());
        }
        return Err(problem);
    }
    let profile = if quick { "web-quick" } else { "web" };
    println!("cargo build --profile {profile} --package solinas-web --target {TARGET}");
    let mut build = cargo(&["build", "--quiet", "--profile", profile, "--package", "solinas-web", "--target", TARGET]);
    let build = build.env("RUSTFLAGS", FLAGS).env("CARGO_TARGET_DIR", root.join("target"));
    if !build.status().map_err(|e| format!("cannot run cargo: {e}"))?.success() {
        return Err("solinas-web does not compile".into());
    }
    let made = root.join("target").join(TARGET).join(profile).join("solinas_web.wasm");
    let file = root.join("crates/server/web/solinas.wasm");
    let client = fs::read(&made).map_err(|e| format!("cannot read {}: {e}", made.display()))?;
    // The service is compiled again when the file changes.
    if !fs::read(&file).is_ok_and(|known| known == client) {
        fs::write(&file, &client).map_err(|e| format!("cannot write {}: {e}", file.display()))?;
    }
    println!("{}: {} bytes; build the command line again to put it in", file.display(), client.len());
    Ok(())
}
