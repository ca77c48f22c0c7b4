//! `solinas params find`: finds the smallest parameters for a task.

use crate::error::{Error, Result, input, usage};
use crate::output::{Output, columns};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use solinas_engine::{KeyDistribution, ParamsRequest, Scheme};

const EXAMPLES: &str = "\
Examples:
  solinas params find --scheme ntru --depth 2
  solinas params find --scheme ntru --depth 3 --modulus 257 --terms 16 --json
  solinas params find --scheme ntru --depth 1 --modulus 65537 --slots
  solinas params find --scheme ntru --depth 13 --security 0
  solinas params find --scheme bgv --depth 5 --modulus 65537
  solinas params find --scheme bgv --depth 3 --security 192

Pass the name that is found to `solinas keygen --scheme SCHEME --params NAME`. A set of scheme bgv holds bits (--modulus 2), or vectors of integers modulo 65537 or 1073479681.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The encryption scheme
    #[arg(long, value_parser = schemes())]
    scheme: Scheme,
    /// Number of multiplications in sequence
    #[arg(long, value_name = "N")]
    depth: usize,
    /// Plaintext modulus
    #[arg(long, value_name = "P", default_value_t = 2)]
    modulus: u64,
    /// Minimum security in bits: against the cheapest known attack (scheme ntru), or the attacks of the lattice estimator (bgv)
    #[arg(long, value_name = "BITS", default_value_t = 128)]
    security: u16,
    /// Number of ciphertexts that may be summed before each multiplication (scheme ntru); defaults to 1
    #[arg(long, value_name = "N")]
    terms: Option<u32>,
    /// Distribution of the keys (scheme ntru); defaults to the first distribution that meets the request
    #[arg(long, value_enum)]
    keys: Option<Keys>,
    /// Halve the ring dimension at lower levels as far as security allows (scheme ntru)
    #[arg(long)]
    ring_reduction: bool,
    /// Require vectors as plaintexts: the modulus is 1 modulo twice the ring dimension
    #[arg(long)]
    slots: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Keys {
    Gaussian,
    Ternary,
}

/// Parses a scheme that has a search.
fn schemes() -> impl TypedValueParser<Value = Scheme> {
    PossibleValuesParser::new(
        solinas_engine::schemes().filter(|scheme| scheme.has_search()).map(|scheme| scheme.name()),
    )
    .try_map(|name| name.parse::<Scheme>())
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    let request = ParamsRequest {
        depth: args.depth,
        plaintext_modulus: args.modulus,
        security: args.security,
        terms: args.terms,
        keys: args.keys.map(|keys| match keys {
            Keys::Gaussian => KeyDistribution::Gaussian,
            Keys::Ternary => KeyDistribution::Ternary,
        }),
        ring_reduction: args.ring_reduction,
        slots: args.slots,
    };
    let found = args.scheme.find(&request).map_err(|error| match error {
        solinas_engine::Error::Request { what, help } => usage(what, help),
        error => {
            let (what, help) = Error::from(error).parts();
            input(what, help.unwrap_or_else(|| "solinas params find --help".to_owned()))
        }
    })?;
    out.result(&found, || columns(&found.rows))
}
