//! Chores of the repository: `cargo xtask` lists them.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod book;
mod deps;
mod docs;
mod modules;
mod msrv;
mod quickstart;
mod targets;

use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Result of a chore. The error message names the fault and the fix.
type Outcome = Result<(), String>;

/// Chores of the repository.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Check the direction of dependencies between the crates, and between the modules of each crate
    Deps,
    /// Check that links in *.md resolve, and that docs/SUMMARY.md and links from docs/README.md lead to every page
    Docs,
    /// Build the documentation as a site in target/book with `mdbook`, and check its links
    Book,
    /// Check that the libraries compile for Arm and for browsers
    Targets,
    /// Check that the workspace compiles with the oldest compiler that it promises
    Msrv,
    /// Check that every crate that ships can be packaged
    Package,
    /// Check formatting, clippy, deps, docs and targets
    CiLint,
    /// Run every fuzz target on reproducible inputs
    FuzzSmoke {
        /// Duration for each target, seconds
        #[arg(long, default_value_t = 5)]
        seconds: u32,
        /// Seed of the inputs
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Run every kernel on a small stack, built without optimisation
    Stack,
    /// Compare keys, ciphertexts and results of fixed seeds with stored hashes, on every back end
    Golden {
        /// Store the hashes of what is made now instead
        #[arg(long)]
        save: bool,
    },
    /// Run the Rust programs of the quickstart and of the crate's README outside the workspace (several minutes)
    Quickstart {
        /// Build of the crate; defaults to all three
        builds: Vec<quickstart::Build>,
    },
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().chore {
        Chore::Deps => deps::check(&root()).and_then(|()| modules::check(&root())),
        Chore::Docs => docs::check(&root()),
        Chore::Book => book::build(&root()),
        Chore::Targets => targets::check(),
        Chore::Msrv => msrv::check(),
        Chore::Package => package(),
        Chore::CiLint => ci_lint(),
        Chore::FuzzSmoke { seconds, seed } => fuzz_smoke(seconds, seed),
        Chore::Stack => stack(),
        Chore::Golden { save } => golden(save),
        Chore::Quickstart { builds } => quickstart::check(&root(), &builds),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Root of the repository.
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
    modules::check(&root())?;
    docs::check(&root())?;
    run(&["fmt", "--all", "--check"])?;
    run(&["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"])?;
    run(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    targets::check()
}

fn package() -> Outcome {
    let chores = ["--exclude", "xtask", "--exclude", "solinas-python"];
    run(&[&["package", "--workspace", "--no-verify", "--allow-dirty"], &chores[..]].concat())
}

fn fuzz_smoke(seconds: u32, seed: u64) -> Outcome {
    // Uses the stable compiler and the workspace's build folder, without libFuzzer.
    let build =
        ["run", "--quiet", "--manifest-path", "fuzz/Cargo.toml", "--no-default-features", "--target-dir", "target"];
    run(&[&build[..], &["--bin", "smoke", "--", &seconds.to_string(), &seed.to_string()]].concat())
}

fn stack() -> Outcome {
    let unoptimised = ["--config", "profile.test.package.solinas-field.opt-level=0"];
    let workspace = ["--quiet", "--workspace", "--exclude", "solinas-python", "--test", "stack"];
    run(&[&["test"], &unoptimised[..], &workspace[..]].concat())
}

fn golden(save: bool) -> Outcome {
    let tests = ["test", "--quiet", "--workspace", "--exclude", "solinas-python", "--test", "golden"];
    let mut command = cargo(&tests);
    command.args(["--", "--ignored"]);
    if save {
        command.env("SOLINAS_GOLDEN_SAVE", "1");
    }
    let status = command.status().map_err(|e| format!("cannot run cargo: {e}"))?;
    if status.success() { Ok(()) } else { Err("cargo xtask golden failed".to_owned()) }
}
