//! `solinas params find`: finds the smallest parameters for a task.

use crate::error::{Result, input, usage};
use crate::output::{Output, columns};
use crate::params::size;
use solinas_runtime::{ParamsInfo, find_bgv};
use solinas_schemes::ntru::KeyDistribution;
use solinas_schemes::ntru::find::{Found, Wanted, find};

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
    #[arg(long, value_enum)]
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
enum Scheme {
    Ntru,
    Bgv,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Keys {
    Gaussian,
    Ternary,
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    match args.scheme {
        Scheme::Ntru => ntru(&args, out),
        Scheme::Bgv => bgv(&args, out),
    }
}

fn bgv(args: &Args, out: &Output) -> Result<()> {
    for (given, option) in
        [(args.terms.is_some(), "--terms"), (args.keys.is_some(), "--keys"), (args.ring_reduction, "--ring-reduction")]
    {
        if given {
            return Err(usage(format!("{option} applies to scheme ntru only"), "leave it out"));
        }
    }
    if args.slots && args.modulus == 2 {
        return Err(usage("scheme bgv has no vectors modulo 2", "add --modulus 65537, or 1073479681"));
    }
    let found = find_bgv(args.depth, args.modulus, args.security)?;
    out.result(&found, || bgv_text(&found))
}

fn bgv_text(found: &ParamsInfo) -> String {
    let research =
        found.research_only.as_ref().map(|why| format!(": for research only ({why}), keygen needs --research"));
    let rows = [
        ["name".to_owned(), found.name.clone()],
        ["ring dimension N".into(), found.ring_dimension.to_string()],
        ["plaintext modulus".into(), found.plaintext_modulus.map_or_else(String::new, |p| p.to_string())],
        ["holds".into(), found.description.clone()],
        ["modulus".into(), format!("{:.1} bits", found.modulus_bits.unwrap_or_default())],
        [
            "security".into(),
            format!("{}/{} bits{}", found.classical_bits, found.quantum_bits, research.unwrap_or_default()),
        ],
        ["ciphertext".into(), size(found.ciphertext_bytes)],
        ["server key".into(), format!("{}, {} in memory", size(found.server_key_bytes), size(found.memory_bytes))],
    ];
    columns(&rows)
}

fn ntru(args: &Args, out: &Output) -> Result<()> {
    let wanted = Wanted {
        depth: args.depth,
        plaintext_modulus: args.modulus,
        security: args.security.into(),
        terms: args.terms.unwrap_or(1),
        keys: args.keys.map(|keys| match keys {
            Keys::Gaussian => KeyDistribution::Gaussian,
            Keys::Ternary => KeyDistribution::Ternary,
        }),
        ring_reduction: args.ring_reduction,
        slots: args.slots,
    };
    let found = find(&wanted).map_err(|error| input(error.to_string(), "solinas params find --help"))?;
    out.result(&found, || text(&found))
}

/// The plaintexts of a set.
fn plaintexts(found: &Found) -> String {
    match (found.slots, found.literal.plaintext_modulus) {
        (Some(slots), _) => format!("vectors of {slots} numbers"),
        (None, 2) => "bits".into(),
        (None, _) => "single numbers; for vectors add --slots, with a modulus that is 1 modulo twice the dimension, such as 65537".into(),
    }
}

fn text(found: &Found) -> String {
    let literal = &found.literal;
    let bits = |bits: Option<u32>| bits.unwrap_or_default();
    let dimensions = match (found.dimensions.first(), found.dimensions.last()) {
        (Some(last), Some(first)) if last < first => format!("{first}, {last} at the last level"),
        _ => literal.dimension.to_string(),
    };
    let mut primes = format!("{} bits for the last level", bits(literal.first_bits));
    if literal.depth > 1 {
        primes += &format!(", {} for those between", bits(literal.bits));
    }
    if literal.depth > 0 {
        primes += &format!(", {} for the first", bits(literal.top_bits));
    }
    let research = if found.classical_bits < 128.0 { "; for research only: keygen needs --research" } else { "" };
    let ms = |ms: f64| if ms < 10.0 { format!("{ms:.2} ms") } else { format!("{ms:.0} ms") };
    let expected = found.expected;
    let multiply = expected.multiply_ms.map_or_else(String::new, |time| format!(", multiply {}", ms(time)));
    let rows = [
        ["name".to_owned(), found.name.clone()],
        ["ring dimension n".into(), dimensions],
        ["plaintext modulus".into(), literal.plaintext_modulus.to_string()],
        ["plaintexts".into(), plaintexts(found)],
        ["depth".into(), format!("{}, of sums of {} ciphertexts", literal.depth, literal.terms)],
        ["keys".into(), format!("{:?}", literal.keys).to_lowercase()],
        ["primes".into(), format!("{}: {primes}", found.primes.len())],
        ["modulus".into(), format!("{:.1} bits", found.log2_modulus)],
        [
            "security".into(),
            format!(
                "{:.0}/{:.0} bits: an attack {} takes blocks of {}{research}",
                found.classical_bits.floor(),
                found.quantum_bits.floor(),
                found.estimate.attack.name(),
                found.estimate.block
            ),
        ],
        ["ciphertext".into(), size(found.ciphertext_bytes)],
        ["server key".into(), size(found.ciphertext_bytes + found.server_key_bytes)],
        [
            "expected".into(),
            format!(
                "encrypt {}, add {}{multiply}, decrypt {}; on one core with AVX-512, within a factor of two",
                ms(expected.encrypt_ms),
                ms(expected.add_ms),
                ms(expected.decrypt_ms)
            ),
        ],
    ];
    columns(&rows)
}
