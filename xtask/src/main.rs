//! Chores of the repository: `cargo xtask` lists them.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod deps;
mod docs;
mod targets;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What a chore ends with; the message says what to mend.
type Outcome = Result<(), String>;

const USAGE: &str = "usage: cargo xtask CHORE
  deps                               check the direction of dependencies between the crates
  docs                               check that links in *.md resolve and that every page of docs/ can be reached
  targets                            check that the libraries compile for Arm and for browsers
  ci-lint                            formatting, clippy, deps, docs and targets
  fuzz-smoke [--seconds N] [--seed S]  run every fuzz target for N seconds (default 5), the same inputs for the same S (default 1)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["deps"] => deps::check(&root()),
        ["docs"] => docs::check(&root()),
        ["targets"] => targets::check(),
        ["ci-lint"] => ci_lint(),
        ["fuzz-smoke", options @ ..] => fuzz_smoke(options),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The repository.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// `cargo` with these arguments, in the repository.
fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

fn run(arguments: &[&str]) -> Outcome {
    println!("cargo {}", arguments.join(" "));
    let status = cargo(arguments).status().map_err(|e| format!("cannot run cargo: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("cargo {} failed", arguments.join(" "))) }
}

fn ci_lint() -> Outcome {
    deps::check(&root())?;
    docs::check(&root())?;
    run(&["fmt", "--all", "--check"])?;
    run(&["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"])?;
    run(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    targets::check()
}

fn fuzz_smoke(options: &[&str]) -> Outcome {
    let (mut seconds, mut seed) = ("5", "1");
    for pair in options.chunks(2) {
        match pair {
            ["--seconds", value] => seconds = value,
            ["--seed", value] => seed = value,
            _ => return Err(USAGE.to_owned()),
        }
    }
    // The stable compiler and the workspace's build folder; libFuzzer stays out.
    let build =
        ["run", "--quiet", "--manifest-path", "fuzz/Cargo.toml", "--no-default-features", "--target-dir", "target"];
    run(&[&build[..], &["--bin", "smoke", "--", seconds, seed]].concat())
}
