//! `solinas expand`: writes the public matrix of an LWE key to a file.

use crate::error::{Result, usage};
use crate::files::{check_not_input, check_target, check_writable};
use crate::output::Output;
use crate::progress::watch;
use serde::Serialize;
use solinas_engine::{EncryptionKey, size};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  solinas keygen --scheme lwe --params paper-9326 --research --out keys
  solinas expand --key keys/server.key -o keys/public.matrix
  solinas encrypt --key keys/server.key --matrix keys/public.matrix --type u8 200 -o a.ct

A key of scheme lwe holds the seed of its public matrix. By default, encryption computes the matrix from the seed, piece by piece. With --matrix, it \
reads the expanded matrix from this file, which may be larger than memory: 11 GB for paper-9326. The ciphertexts are the same. The matrix is public, and \
you can expand it again at any time. Let nobody else write the file: an attacker who replaces the matrix can read what you encrypt. Ctrl-C leaves no file.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The client or server key, scheme lwe
    #[arg(long, short, value_name = "FILE")]
    key: PathBuf,
    /// The file to write
    #[arg(long, short)]
    output: PathBuf,
}

#[derive(Serialize)]
struct Report<'a> {
    file: &'a Path,
    key_id: String,
    bytes: u64,
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    let output = &args.output;
    if output == Path::new("-") {
        return Err(usage("a matrix cannot be written to standard output", "name a file; ./- is a file named -"));
    }
    check_not_input(output, &[&args.key])?;
    check_target(output)?;
    check_writable(output)?;
    let key = EncryptionKey::load_with_matrix(&args.key)?;
    let bytes = key.matrix_bytes()?;
    let label = format!("writing {} to {}", size(bytes as usize), output.display());
    watch(out, &label, |control| Ok(key.write_matrix(output, control)?))?;
    let report = Report { file: output, key_id: key.key_id().to_string(), bytes };
    out.report(&report, || {
        format!("{}: public matrix of key {}, {}\n", output.display(), key.key_id().short(), size(bytes as usize))
    })
}
