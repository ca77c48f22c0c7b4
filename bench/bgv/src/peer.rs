//! The peers, started where the system has them: OpenFHE by an interpreter with its package, SEAL by a program that is compiled for the run.

use std::fs;
use std::process::{Command, Stdio};

use bench_common::process::Peer;

use crate::Args;

/// OpenFHE with the parameters of the run, or the reason why it is left out.
pub fn openfhe(args: &Args, plaintext_modulus: u64) -> Result<Peer, String> {
    let install = "install it (pip install openfhe) and name the interpreter (--python)";
    let found = Command::new(&args.python).args(["-c", "import openfhe"]).stderr(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        return Err(format!("{} has no package openfhe; {install}", args.python.display()));
    }
    let mut command = Command::new(&args.python);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/src/peer_openfhe.py"));
    command.env("OMP_NUM_THREADS", args.threads.to_string());
    start("OpenFHE", command, args, plaintext_modulus)
}

/// SEAL with the parameters of the run on one thread, or the reason why it is left out.
pub fn seal(args: &Args, plaintext_modulus: u64) -> Result<Peer, String> {
    let text = |error: std::io::Error| error.to_string();
    let missing = "pkg-config finds no library seal; install it and name its folder by PKG_CONFIG_PATH";
    let flags = Command::new("pkg-config").args(["--cflags", "--libs", "seal"]).output();
    let flags = flags.ok().filter(|output| output.status.success()).ok_or(missing)?;
    let flags = String::from_utf8_lossy(&flags.stdout).into_owned();
    let folder = tempfile::tempdir().map_err(text)?;
    let (source, program) = (folder.path().join("seal.cpp"), folder.path().join("seal"));
    fs::write(&source, include_str!("peer_seal.cpp")).map_err(text)?;
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    let mut command = Command::new(&compiler);
    command.args(["-O3", "-std=c++17", "-o"]).arg(&program).arg(&source).args(flags.split_whitespace());
    let built = command.output().map_err(|error| format!("{compiler}: {error}"))?;
    if !built.status.success() {
        return Err(format!("{compiler} cannot build it: {}", String::from_utf8_lossy(&built.stderr).trim()));
    }
    // The program is in memory once it is ready, so that its folder may go.
    start("SEAL", Command::new(program), args, plaintext_modulus)
}

fn start(name: &'static str, mut command: Command, args: &Args, plaintext_modulus: u64) -> Result<Peer, String> {
    let numbers = [args.dimension as u64, u64::from(args.towers) - 1, args.bits.into(), plaintext_modulus];
    Peer::start(name, command.args(numbers.map(|number| number.to_string()))).map_err(|error| error.to_string())
}
