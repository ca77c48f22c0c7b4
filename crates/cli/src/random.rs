//! `solinas random`: makes encrypted random values from a public seed, as the server does.

use crate::encrypt::Report;
use crate::error::Result;
use crate::files::check_ciphertext_target;
use crate::names::parse_type;
use crate::output::Output;
use crate::progress::watch;
use solinas_engine::{Server, ServerKey, Type};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  solinas random --key keys/server.key --type u32 --seed 'draw of 2026-11-25' -o r.ct
  solinas random --key keys/server.key --type u8 -n 10 --seed 'draw of 2026-11-25' -o ten.ct
  solinas random --key keys/server.key --type bool -n 100 --seed \"$(date)\" -o coins.ct

All bits of each value are random, and nobody knows them without the client key (scheme tfhe). The seed is public. The same seed, type and key give the \
same values, so take each seed once. The client can compute the values of any seed: it must not choose the seed if the values are to surprise it. \
Ctrl-C stops the command with exit code 130, and no result is written.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The server key
    #[arg(long, short, value_name = "FILE")]
    key: PathBuf,
    /// Type of the values: bool, u1 to u2048, i1 to i2048
    #[arg(long = "type", short, value_parser = parse_type)]
    ty: Type,
    /// Make an array of N values; without it, one value that is no array
    #[arg(long = "count", short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,
    /// The public seed: a text that has not been used with this key
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    seed: String,
    /// Number of threads, 1 to 4096; defaults to the number of processors. The command starts at most four for each processor
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=4096))]
    threads: Option<u16>,
    /// Do not warn about a key for research only or a key from a chosen seed
    #[arg(long)]
    research: bool,
    /// The ciphertext file to write
    #[arg(long, short)]
    output: PathBuf,
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    check_ciphertext_target(&args.output)?;
    let key = ServerKey::load(&args.key)?;
    out.warn_of_weakness(&args.key, key.weakness(), args.research);
    let scheme = key.params().scheme;
    if !scheme.capabilities().random {
        return Err(solinas_engine::Error::NoRandom { scheme }.into());
    }
    let server = Server::with_options(&key, &crate::limits::server_options(args.threads, None, Some("cpu"))?)?;
    drop(key);
    let shape = args.count.map(|count| vec![count as usize]);
    let label = format!("making random values of type {}", args.ty);
    let ciphertext = watch(out, &label, |control| Ok(server.random(args.ty, shape, args.seed.as_bytes(), control)?))?;
    ciphertext.save(&args.output)?;
    let report = Report::new(&args.output, &ciphertext);
    out.report(&report, || report.line())
}
