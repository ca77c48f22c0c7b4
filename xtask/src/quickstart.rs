//! Runs the Rust programs of the quickstart and of the crate's README, each in a crate outside the workspace, as a reader does.

use std::fs;
use std::path::Path;

use crate::{Outcome, cargo};

/// Pages with one Rust program and the profile of debug builds.
const PAGES: [&str; 2] = ["docs/book/quickstart.md", "crates/solinas/README.md"];

/// Build of the crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Build {
    /// `cargo run`
    Debug,
    /// `cargo run`, with the profile that the page recommends for it
    Profile,
    /// `cargo run --release`
    Release,
}

pub(crate) fn check(root: &Path, builds: &[Build]) -> Outcome {
    let all = [Build::Debug, Build::Profile, Build::Release];
    for page in PAGES {
        for &build in if builds.is_empty() { &all } else { builds } {
            run(root, page, build).map_err(|e| format!("the Rust program of {page} ({build:?}): {e}"))?;
        }
    }
    Ok(())
}

fn run(root: &Path, name: &str, build: Build) -> Outcome {
    let text = |e: std::io::Error| e.to_string();
    let page = fs::read_to_string(root.join(name)).map_err(text)?;
    let folder = tempfile::tempdir().map_err(text)?;
    let at = |name: &str| folder.path().join(name);
    let solinas = root.join("crates/solinas");
    let mut manifest = format!(
        "[package]\nname = \"quickstart\"\nedition = \"2024\"\n[dependencies]\nsolinas.path = {:?}\n",
        solinas.display().to_string()
    );
    if build == Build::Profile {
        manifest += block(&page, "toml")?;
    }
    fs::create_dir(at("src")).map_err(text)?;
    fs::write(at("Cargo.toml"), manifest).map_err(text)?;
    fs::write(at("src/main.rs"), block(&page, "rust")?).map_err(text)?;
    // Uses the tested versions and the build folder of the workspace.
    fs::copy(root.join("Cargo.lock"), at("Cargo.lock")).map_err(text)?;
    let mut command = cargo(&["run", "--quiet"]);
    command.args((build == Build::Release).then_some("--release"));
    println!("cargo run, of {name} ({build:?})");
    let begin = std::time::Instant::now();
    let command = command.current_dir(folder.path()).env("CARGO_TARGET_DIR", root.join("target"));
    let status = command.status().map_err(text)?;
    println!("  {:.0} s with the build", begin.elapsed().as_secs_f64());
    if status.success() { Ok(()) } else { Err(status.to_string()) }
}

/// The first block of code in `language`.
fn block<'a>(page: &'a str, language: &str) -> Result<&'a str, String> {
    let mut blocks = page.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    blocks.find(|(info, _)| *info == language).map(|(_, code)| code).ok_or(format!("there is no ```{language} block"))
}
