//! Chores of the repository: `cargo xtask` lists them.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod book;
mod deps;
mod docs;
mod faces;
mod licences;
mod modules;
mod msrv;
mod ptx;
mod quickstart;
mod targets;
mod test_programs;
mod web;

use clap::{Parser, Subcommand};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
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
    /// Check the direction of dependencies between the crates, and between the modules of each crate; and that every file of tests is in a test program
    Deps {
        /// Count the crates that each face compiles, and compare with the table in xtask/src/faces.rs
        #[arg(long)]
        count: bool,
    },
    /// Check the licences of all packages in a build against deny.toml
    Licences,
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
    /// Check formatting, clippy, deps and their count, licences, docs, the links in docstrings, the compiled kernels, and targets
    CiLint,
    /// Check formatting and clippy of the benchmarks and the measurements in bench/ (builds the peers: several minutes)
    BenchLint,
    /// Run every fuzz target on reproducible inputs
    FuzzSmoke {
        /// Duration for each target, seconds
        #[arg(long, default_value_t = 5)]
        seconds: u32,
        /// Seed of the inputs
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Compile the client of the web page to WebAssembly, for the next build of the service (several minutes)
    Web {
        /// Compile it as the tests are compiled, in half of the time: browsers download more, and keys take longer
        #[arg(long)]
        quick: bool,
        /// Print a note instead of an error if the compiler's target cannot be installed
        #[arg(long)]
        if_possible: bool,
    },
    /// Build the Python package for the tests, in target/python
    PythonPackage,
    /// Run every kernel on a small stack, built without optimization
    Stack,
    /// Compile the CUDA kernels of cuda/ to the PTX of crates/gpu/ptx
    Ptx {
        /// Compare with the files that are there instead; without the compiler's wheel, skip with a note
        #[arg(long)]
        check: bool,
        /// NVIDIA's assembler, which counts registers and spills for crates/gpu/ptx/index.json
        #[arg(long)]
        ptxas: Option<PathBuf>,
    },
    /// Compare keys, ciphertexts and results of fixed seeds with stored hashes, on every back end
    Golden {
        /// Store the hashes of the present files instead
        #[arg(long)]
        save: bool,
        /// Build for this target, whose programs must run here. Its C code needs a compiler: without `musl-gcc`, set
        /// `CC_x86_64_unknown_linux_musl=gcc`
        #[arg(long, value_name = "TRIPLE", conflicts_with = "save")]
        target: Option<String>,
    },
    /// Write the test vectors for the benches of rtl/bench
    Vectors {
        /// Folder of the files
        #[arg(default_value = "target/vectors")]
        folder: PathBuf,
    },
    /// Run the Rust programs of the quickstart and of the crate's README outside the workspace (several minutes)
    Quickstart {
        /// Build of the crate; defaults to all three
        builds: Vec<quickstart::Build>,
    },
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().chore {
        Chore::Deps { count: false } => structure(),
        Chore::Deps { count: true } => faces::check(),
        Chore::Licences => licences::check(&root()),
        Chore::Docs => docs::check(&root()),
        Chore::Book => book::build(&root()),
        Chore::Targets => targets::check(),
        Chore::Msrv => msrv::check(),
        Chore::Package => package(),
        Chore::CiLint => ci_lint(),
        Chore::BenchLint => bench_lint(),
        Chore::FuzzSmoke { seconds, seed } => fuzz_smoke(seconds, seed),
        Chore::Web { quick, if_possible } => web::build(&root(), quick, if_possible),
        Chore::PythonPackage => python_package(&root()),
        Chore::Stack => stack(),
        Chore::Ptx { check, ptxas } => ptx::run(&root(), check, ptxas.as_deref()),
        Chore::Golden { save, target } => golden(save, target.as_deref()),
        Chore::Vectors { folder } => vectors(&folder),
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
    run_with(arguments, &[])
}

fn run_with(arguments: &[&str], environment: &[(&str, &str)]) -> Outcome {
    println!("cargo {}", arguments.join(" "));
    let mut command = cargo(arguments);
    let status = command.envs(environment.iter().copied()).status().map_err(|e| format!("cannot run cargo: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("cargo {} failed", arguments.join(" "))) }
}

/// Checks the order of crates and modules, and the test programs.
fn structure() -> Outcome {
    deps::check(&root())?;
    modules::check(&root())?;
    test_programs::check(&root())
}

fn ci_lint() -> Outcome {
    structure()?;
    faces::check()?;
    licences::check(&root())?;
    docs::check(&root())?;
    ptx::run(&root(), true, None)?;
    // Benchmarks are a workspace with a lock of its own, which a new dependency of a library changes.
    run(&["update", "--manifest-path", "bench/Cargo.toml", "--workspace", "--locked", "--quiet"])?;
    run(&["fmt", "--all", "--check"])?;
    run(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    docstring_links()?;
    targets::check()
}

/// Checks the links in docstrings, of private items too. The lint that fails is a lint of the workspace.
fn docstring_links() -> Outcome {
    run(&["doc", "--quiet", "--workspace", "--no-deps", "--document-private-items"])
}

fn bench_lint() -> Outcome {
    run(&["fmt", "--manifest-path", "bench/Cargo.toml", "--all", "--check"])?;
    // What the lints of the libraries checked is not checked again.
    let folder = ["--target-dir", "target"];
    let all = ["--manifest-path", "bench/Cargo.toml", "--locked", "--workspace", "--all-targets"];
    run(&[&["clippy"], &folder[..], &all[..], &["--", "-D", "warnings"]].concat())
}

fn package() -> Outcome {
    let chores = [
        "--exclude",
        "xtask",
        "--exclude",
        "solinas-python",
        "--exclude",
        "solinas-fuzz",
        "--exclude",
        "solinas-gpu-lab",
        "--exclude",
        "solinas-testing",
        "--exclude",
        "solinas-web",
    ];
    run(&[&["package", "--workspace", "--no-verify", "--allow-dirty"], &chores[..]].concat())
}

fn fuzz_smoke(seconds: u32, seed: u64) -> Outcome {
    let (seconds, seed) = (seconds.to_string(), seed.to_string());
    let options = [("SOLINAS_FUZZ_SECONDS", seconds.as_str()), ("SOLINAS_FUZZ_SEED", seed.as_str())];
    run_with(&["test", "--workspace", "--test", "smoke", "--", "--nocapture"], &options)
}

/// The chores use no library, so an example of the simulations writes the vectors. `cargo run` would give shared crates other
/// features than the tests have, and compile them again.
fn vectors(folder: &Path) -> Outcome {
    run(&["build", "--quiet", "--workspace", "--example", "bench_vectors"])?;
    let program = root().join("target/debug/examples/bench_vectors");
    let status = Command::new(&program).arg(folder).status();
    let status = status.map_err(|e| format!("cannot run {}: {e}", program.display()))?;
    if status.success() { Ok(()) } else { Err(format!("{}: {status}", program.display())) }
}

fn stack() -> Outcome {
    let unoptimized = ["--config", "profile.test.package.solinas-field.opt-level=0"];
    let workspace = ["--quiet", "--workspace", "--test", "stack"];
    run(&[&["test"], &unoptimized[..], &workspace[..]].concat())
}

/// Another target has another C library, and its mathematical functions may round otherwise: no byte may depend on them.
fn golden(save: bool, target: Option<&str>) -> Outcome {
    if let Some(target) = target {
        run(&["test", "--quiet", "-p", "solinas-field", "--lib", "--target", target])?;
        return run(&[
            "test",
            "--quiet",
            "-p",
            "solinas-cli",
            "--test",
            "cli",
            "--target",
            target,
            "golden::",
            "--",
            "--ignored",
        ]);
    }
    let environment: &[_] = if save { &[("SOLINAS_GOLDEN_SAVE", "1")] } else { &[] };
    run_with(&["test", "--quiet", "--workspace", "--test", "cli", "golden::", "--", "--ignored"], environment)
}

/// The extension comes from the same selection of packages and targets as the tests. Cargo then gives shared crates the same features and compiles them
/// once. `maturin develop` would compile all of them again.
fn python_package(root: &Path) -> Outcome {
    run(&["build", "--quiet", "--workspace", "--lib", "--bins", "--tests"])?;
    let package = root.join("target/python/solinas");
    copy_package(root, &package).map_err(|e| format!("cannot make {}: {e}", package.display()))
}

fn copy_package(root: &Path, package: &Path) -> std::io::Result<()> {
    if package.exists() {
        fs::remove_dir_all(package)?;
    }
    fs::create_dir_all(package)?;
    for entry in fs::read_dir(root.join("python/python/solinas"))? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), package.join(entry.file_name()))?;
        }
    }
    let extension = format!("{DLL_PREFIX}_core{DLL_SUFFIX}");
    fs::copy(root.join("target/debug").join(extension), package.join("_core.abi3.so")).map(drop)
}
