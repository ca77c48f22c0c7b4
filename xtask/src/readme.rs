//! The Rust programs of the READMEs, each in a crate outside of the workspace, as their readers have it.

use std::fs;
use std::path::Path;

use crate::{Outcome, cargo};

/// How the crate is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Build {
    /// `cargo run`
    Debug,
    /// `cargo run`, with the profile that the page gives for it
    Profile,
    /// `cargo run --release`
    Release,
}

/// The pages with a Rust program and the lines of `Cargo.toml` that optimise its dependencies, and the crate that it depends on.
const PAGES: [(&str, &str); 2] = [("README.md", "runtime"), ("crates/solinas/README.md", "solinas")];

pub(crate) fn check(root: &Path, builds: &[Build]) -> Outcome {
    let all = [Build::Debug, Build::Profile, Build::Release];
    for (page, depends_on) in PAGES {
        for &build in if builds.is_empty() { &all } else { builds } {
            run(root, page, depends_on, build).map_err(|e| format!("the Rust program of {page} ({build:?}): {e}"))?;
        }
    }
    Ok(())
}

fn run(root: &Path, page: &str, depends_on: &str, build: Build) -> Outcome {
    let text = |e: std::io::Error| e.to_string();
    let readme = fs::read_to_string(root.join(page)).map_err(text)?;
    let folder = tempfile::tempdir().map_err(text)?;
    let at = |name: &str| folder.path().join(name);
    let path = root.join("crates").join(depends_on);
    let name = if depends_on == "solinas" { "solinas".to_owned() } else { format!("solinas-{depends_on}") };
    let mut manifest = format!(
        "[package]\nname = \"readme\"\nedition = \"2024\"\n[dependencies]\n{name}.path = {:?}\n",
        path.display().to_string()
    );
    if build == Build::Profile {
        manifest += block(&readme, "toml")?;
    }
    fs::create_dir(at("src")).map_err(text)?;
    fs::write(at("Cargo.toml"), manifest).map_err(text)?;
    fs::write(at("src/main.rs"), block(&readme, "rust")?).map_err(text)?;
    // The versions that the workspace is tested with, in its build folder.
    fs::copy(root.join("Cargo.lock"), at("Cargo.lock")).map_err(text)?;
    let mut command = cargo(&["run", "--quiet"]);
    command.args((build == Build::Release).then_some("--release"));
    println!("cargo run, of {page} ({build:?})");
    let begin = std::time::Instant::now();
    let command = command.current_dir(folder.path()).env("CARGO_TARGET_DIR", root.join("target"));
    let status = command.status().map_err(text)?;
    println!("  {:.0} s with the build", begin.elapsed().as_secs_f64());
    if status.success() { Ok(()) } else { Err(status.to_string()) }
}

/// The only block of code in `language`.
fn block<'a>(page: &'a str, language: &str) -> Result<&'a str, String> {
    let mut blocks = page.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    blocks.find(|(info, _)| *info == language).map(|(_, code)| code).ok_or(format!("there is no ```{language} block"))
}
