//! The command line.

use crate::error::Result;
use crate::output::Output;
use clap::{Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  solinas keygen --scheme tfhe --out keys
  solinas encrypt --key keys/client.key --type u32 1234 -o a.ct
  solinas encrypt --key keys/client.key --type u32 99 -o b.ct
  solinas eval --key keys/server.key mul a.ct b.ct -o c.ct
  solinas decrypt --key keys/client.key c.ct

Exit codes: 0 done, 1 failed, 2 wrong arguments, 130 interrupted.";

/// Compute on encrypted integers: the client encrypts and decrypts, the server computes without any secret.
#[derive(Parser)]
#[command(name = "solinas", version, after_help = EXAMPLES, propagate_version = true, subcommand_required = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(clap::Args)]
pub(crate) struct Globals {
    /// Print results, and errors, as JSON
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) json: bool,
    /// Print nothing but what was asked for: no progress, no notes
    #[arg(long, short, global = true, help_heading = "Global options")]
    pub(crate) quiet: bool,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Make the client's secret key and the server's key
    Keygen(crate::keygen::Args),
    /// Encrypt values
    Encrypt(crate::encrypt::Args),
    /// Store the public matrix of an LWE key whole, for encryption to read
    Expand(crate::expand::Args),
    /// Compute on ciphertexts, without any secret
    Eval(crate::eval::Args),
    /// Decrypt ciphertexts
    Decrypt(crate::decrypt::Args),
    /// Show what files are, and verify them
    Inspect(crate::inspect::Args),
    /// Statistics, pictures, optimization and conversion of circuits; needs no key
    Circuit(crate::circuit::Args),
    /// List the parameter sets
    Params(crate::params::Args),
    /// Measure gates and integer operations on this machine
    Bench(crate::bench::Args),
    /// Print published tables beside ours, measured on this machine
    Paper(crate::paper::Args),
    /// RSA: make keys, encrypt, decrypt, sign and verify
    Rsa(crate::rsa::Args),
    /// Compute with integers of any size
    Bigint(crate::bigint::Args),
    /// Hold a sealed-bid auction
    Demo(crate::demo::Args),
    /// Print the completions of a shell
    Completions(crate::manual::CompletionsArgs),
    /// Write the manual pages
    Man(crate::manual::ManArgs),
}

/// As many threads as asked for, but at most four for each processor: more only get in each other's way.
pub(crate) fn threads(asked: u16) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    usize::from(asked).min(4 * processors)
}

/// What a server may use: as many threads as [`threads`] has it, and MiB of memory for tables.
pub(crate) fn server_options(asked: Option<u16>, mib: Option<u64>) -> solinas_runtime::ServerOptions {
    solinas_runtime::ServerOptions { threads: asked.map(threads), memory: mib.map(|mib| mib.saturating_mul(1 << 20)) }
}

/// Runs one verb.
pub(crate) fn run(command: Command, out: &Output) -> Result<()> {
    match command {
        Command::Keygen(args) => crate::keygen::run(args, out),
        Command::Encrypt(args) => crate::encrypt::run(args, out),
        Command::Expand(args) => crate::expand::run(args, out),
        Command::Eval(args) => crate::eval::run(args, out),
        Command::Decrypt(args) => crate::decrypt::run(args, out),
        Command::Inspect(args) => crate::inspect::run(args, out),
        Command::Circuit(args) => crate::circuit::run(args, out),
        Command::Params(args) => crate::params::run(args, out),
        Command::Bench(args) => crate::bench::run(args, out),
        Command::Paper(args) => crate::paper::run(args, out),
        Command::Rsa(args) => crate::rsa::run(args, out),
        Command::Bigint(args) => crate::bigint::run(args, out),
        Command::Demo(args) => crate::demo::run(args, out),
        Command::Completions(args) => crate::manual::completions(args, out),
        Command::Man(args) => crate::manual::man(args, out),
    }
}
