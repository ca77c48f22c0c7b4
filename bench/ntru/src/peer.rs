//! OpenFHE's BGV in a process of its own: the program that `openfhe.sh` makes.

use std::path::PathBuf;
use std::process::Command;

use bench_common::Error;
use bench_common::process::Peer;

/// The program that the environment names, or that `openfhe.sh` has made.
pub fn program() -> Option<PathBuf> {
    let here = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/openfhe-bgv"));
    std::env::var_os("SOLINAS_OPENFHE").map_or(Some(here), |path| Some(path.into())).filter(|path| path.is_file())
}

/// Starts OpenFHE in ring dimension `n` with `depth + 1` primes of `bits` bits. Returns `None` without a program.
///
/// # Errors
/// [`Error::Peer`] if it fails, [`Error::Decryption`] if its own results are wrong.
pub fn start(n: usize, depth: usize, bits: u32, threads: usize) -> Result<Option<Peer>, Error> {
    let Some(path) = program() else { return Ok(None) };
    let mut command = Command::new(path);
    command.args([n.to_string(), depth.to_string(), bits.to_string()]).env("OMP_NUM_THREADS", threads.to_string());
    // Threads without work sleep, and leave the cores to ours.
    let mut peer = Peer::start("OpenFHE", command.env("OMP_WAIT_POLICY", "passive"))?;
    peer.check()?;
    Ok(Some(peer))
}
