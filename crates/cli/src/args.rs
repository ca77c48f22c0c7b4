//! The command line.

use crate::error::Result;
use crate::output::{Globals, Output};
use clap::{CommandFactory, Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  solinas keygen --scheme tfhe --out keys
  solinas encrypt --key keys/client.key --type u32 1234 -o a.ct
  solinas encrypt --key keys/client.key --type u32 99 -o b.ct
  solinas eval --key keys/server.key mul a.ct b.ct -o c.ct
  solinas decrypt --key keys/client.key c.ct

Exit codes: 0 for success, 1 for a failure, 2 for wrong arguments, 130 for an interruption.";

/// Compute on encrypted integers: the client encrypts and decrypts, the server computes without any secret.
#[derive(Parser)]
#[command(name = "solinas", version, after_help = EXAMPLES, propagate_version = true, subcommand_required = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Generate the client's secret key, the server's key, and the public key of scheme tfhe
    Keygen(crate::keygen::Args),
    /// Encrypt values
    Encrypt(crate::encrypt::Args),
    /// Write the public matrix of an LWE key to a file, which `encrypt` can read
    Expand(crate::expand::Args),
    /// Compute on ciphertexts without a secret key
    Eval(Box<crate::eval::Args>),
    /// Make encrypted random values from a public seed
    Random(crate::random::Args),
    /// Decrypt ciphertexts
    Decrypt(crate::decrypt::Args),
    /// Keep names for the fingerprints of other people's keys, for `encrypt --for`
    Trust(crate::trust::Args),
    /// Describe and verify keys, ciphertexts, plans and paused runs
    Inspect(crate::inspect::Args),
    /// Build, count, draw, optimize, convert and run circuits; no key is needed
    Circuit(crate::circuit::Args),
    /// List the parameter sets
    Params(crate::params::Args),
    /// Measure the speed of gates and integer operations on this machine
    #[cfg(feature = "paper")]
    Bench(crate::bench::Args),
    /// Print published tables beside our figures, measured on this machine
    #[cfg(feature = "paper")]
    Paper(crate::paper::Args),
    /// Write pages with tables and charts from saved runs of `solinas paper`
    #[cfg(feature = "paper")]
    Report(crate::report::Args),
    /// Generate RSA keys, encrypt, decrypt, sign and verify
    #[cfg(feature = "rsa")]
    Rsa(crate::rsa::Args),
    /// Compute with integers of any size
    #[cfg(feature = "bigint")]
    Bigint(crate::bigint::Args),
    /// Run a service that keeps keys and ciphertexts and computes for clients
    #[cfg(feature = "service")]
    Serve(Box<crate::serve::Args>),
    /// Serve the page of a service from this program
    #[cfg(feature = "service")]
    Web(crate::web::Args),
    /// Compute jobs of a service on this machine
    #[cfg(feature = "service")]
    Work(Box<crate::work::Args>),
    /// Use a service: register keys, follow jobs, fetch results
    #[cfg(feature = "service")]
    Remote(crate::remote::Args),
    /// Make tokens, set quotas, and back up the store of a service
    #[cfg(feature = "service")]
    Admin(crate::admin::Args),
    /// Run a sealed-bid auction as a demonstration
    Demo(crate::demo::Args),
    /// Print the completion script of a shell
    Completions(crate::manual::CompletionsArgs),
    /// Write the manual pages
    Man(crate::manual::ManArgs),
}

/// Runs one verb.
pub(crate) fn run(command: Command, out: &Output) -> Result<()> {
    match command {
        Command::Keygen(args) => crate::keygen::run(args, out),
        Command::Encrypt(args) => crate::encrypt::run(args, out),
        Command::Expand(args) => crate::expand::run(args, out),
        Command::Eval(args) => crate::eval::run(*args, out),
        Command::Random(args) => crate::random::run(args, out),
        Command::Decrypt(args) => crate::decrypt::run(args, out),
        Command::Trust(args) => crate::trust::run(args, out),
        Command::Inspect(args) => crate::inspect::run(args, out),
        Command::Circuit(args) => crate::circuit::run(args, out),
        Command::Params(args) => crate::params::run(args, out),
        #[cfg(feature = "paper")]
        Command::Bench(args) => crate::bench::run(args, out),
        #[cfg(feature = "paper")]
        Command::Paper(args) => crate::paper::run(args, out),
        #[cfg(feature = "paper")]
        Command::Report(args) => crate::report::run(args, out),
        #[cfg(feature = "rsa")]
        Command::Rsa(args) => crate::rsa::run(args, out),
        #[cfg(feature = "bigint")]
        Command::Bigint(args) => crate::bigint::run(args, out),
        #[cfg(feature = "service")]
        Command::Serve(args) => crate::serve::run(*args, out),
        #[cfg(feature = "service")]
        Command::Web(args) => crate::web::run(&args, out),
        #[cfg(feature = "service")]
        Command::Work(args) => crate::work::run(*args, out),
        #[cfg(feature = "service")]
        Command::Remote(args) => crate::remote::run(args, out),
        #[cfg(feature = "service")]
        Command::Admin(args) => crate::admin::run(args, out),
        Command::Demo(args) => crate::demo::run(args, out),
        Command::Completions(args) => crate::manual::completions(args, Cli::command(), out),
        Command::Man(args) => crate::manual::man(args, Cli::command(), out),
    }
}
