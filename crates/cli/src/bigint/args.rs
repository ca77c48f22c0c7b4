//! The arguments of `solinas bigint`.

use super::number::{Format, OutFormat};
use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  solinas bigint mul 123456789012345678901234567890 0xffffffffffffffff
  solinas bigint square --in-format bytes a.bin --out-format bytes -o square.bin
  solinas bigint powm 3 exponent.txt modulus.txt --out-format hex
  solinas bigint mul a.txt b.txt --mod m.txt -o c.txt
  solinas bigint mul a.txt b.txt --engine solinas --threads 2 -o c.txt
  solinas bigint powm 3 exponent.txt modulus.txt --device cuda:0
  solinas bigint mul a.txt b.txt --device rtl -o c.txt
  solinas bigint convert --in-format hex digits.txt --out-format dec
  solinas bigint div -7 2 --remainder
  solinas bigint gcd 240 46 --cofactors

Give a number as decimal digits, as 0x, 0o or 0b and hexadecimal, octal or binary digits, as the name of a file that holds such digits or bytes, or as - for standard input. \
A negative number begins with -; put -- before the numbers if it has a prefix: -- -0xff. If the name of a file is itself a number, write ./NAME. The result has the format of the first number; --out-format chooses another.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES, subcommand_required = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(super) verb: Verb,
}

#[derive(Subcommand)]
pub(super) enum Verb {
    /// a * b
    #[command(after_help = "Example:\n  solinas bigint mul a.txt b.txt --mod 0xffffffff00000001 -o c.txt")]
    Mul(Two),
    /// a^2
    #[command(after_help = "Example:\n  solinas bigint square --in-format bytes a.bin --out-format dec")]
    Square(One),
    /// a / b, rounded down
    #[command(after_help = "Example:\n  solinas bigint div -7 2 --remainder    # -4 and 1")]
    Div(Divide),
    /// a modulo m, from 0 to m - 1
    #[command(after_help = "Example:\n  solinas bigint mod 0x123456789abcdef 1000003")]
    Mod(Reduce),
    /// The square root, rounded down
    #[command(after_help = "Example:\n  solinas bigint sqrt 1000000")]
    Sqrt(Single),
    /// base^exponent
    #[command(after_help = "Example:\n  solinas bigint pow 3 100000 -o power.txt")]
    Pow(Whole),
    /// base^exponent modulo m
    #[command(after_help = "Example:\n  solinas bigint powm 3 exponent.txt modulus.txt --secret --out-format hex")]
    Powm(Power),
    /// a + b
    #[command(after_help = "Example:\n  solinas bigint add a.txt 1 -o b.txt")]
    Add(Two),
    /// a - b
    #[command(after_help = "Example:\n  solinas bigint sub 5 7 --mod 11")]
    Sub(Two),
    /// The greatest common divisor
    #[command(after_help = "Example:\n  solinas bigint gcd 123456 0xff00")]
    Gcd(Gcd),
    /// Whether a number is prime: exact below 2^64, beyond it a test that no known composite number passes
    #[command(after_help = "Example:\n  solinas bigint prime 0x1ffffffffffffffffffffff")]
    Prime(Single),
    /// Convert a number to another format
    #[command(after_help = "Example:\n  solinas bigint convert --in-format hex digits.txt --out-format dec")]
    Convert(Single),
}

#[derive(clap::Args)]
pub(super) struct Two {
    /// The first number
    #[arg(value_name = "A", allow_negative_numbers = true)]
    pub(super) a: String,
    /// The second number
    #[arg(value_name = "B", allow_negative_numbers = true)]
    pub(super) b: String,
    /// Compute modulo this number
    #[arg(long = "mod", value_name = "M")]
    pub(super) modulus: Option<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(clap::Args)]
pub(super) struct One {
    /// The number
    #[arg(value_name = "A", allow_negative_numbers = true)]
    pub(super) a: String,
    /// Compute modulo this number
    #[arg(long = "mod", value_name = "M")]
    pub(super) modulus: Option<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(clap::Args)]
pub(super) struct Reduce {
    /// The number
    #[arg(value_name = "A", allow_negative_numbers = true)]
    pub(super) a: String,
    /// The modulus, above 1
    #[arg(value_name = "M", allow_negative_numbers = true)]
    pub(super) modulus: String,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(clap::Args)]
pub(super) struct Power {
    /// The base
    #[arg(value_name = "BASE", allow_negative_numbers = true)]
    pub(super) base: String,
    /// The exponent
    #[arg(value_name = "EXPONENT", allow_negative_numbers = true)]
    pub(super) exponent: String,
    /// The modulus, above 1
    #[arg(value_name = "M", allow_negative_numbers = true)]
    pub(super) modulus: String,
    /// Treat the exponent as secret: the running time depends only on the length of the modulus
    #[arg(long)]
    pub(super) secret: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(clap::Args)]
pub(super) struct Whole {
    /// The base
    #[arg(value_name = "BASE", allow_negative_numbers = true)]
    pub(super) base: String,
    /// The exponent, at least 0
    #[arg(value_name = "EXPONENT", allow_negative_numbers = true)]
    pub(super) exponent: String,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(clap::Args)]
pub(super) struct Divide {
    /// The dividend
    #[arg(value_name = "A", allow_negative_numbers = true)]
    pub(super) a: String,
    /// The divisor
    #[arg(value_name = "B", allow_negative_numbers = true)]
    pub(super) b: String,
    /// Print the remainder too, which is zero or has the sign of the divisor
    #[arg(long, conflicts_with = "output")]
    pub(super) remainder: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(clap::Args)]
pub(super) struct Gcd {
    /// The first number
    #[arg(value_name = "A", allow_negative_numbers = true)]
    pub(super) a: String,
    /// The second number
    #[arg(value_name = "B", allow_negative_numbers = true)]
    pub(super) b: String,
    /// Print x and y with x a + y b = gcd too
    #[arg(long, conflicts_with = "output")]
    pub(super) cofactors: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(clap::Args)]
pub(super) struct Single {
    /// The number
    #[arg(value_name = "A", allow_negative_numbers = true)]
    pub(super) a: String,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(clap::Args)]
pub(super) struct Common {
    /// Format of input files; base3 to base36 are digits of other bases
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = Format::parser())]
    pub(super) in_format: Format,
    /// Format of the result; base3 to base36 are digits of other bases
    #[arg(long, value_name = "FORMAT", value_parser = OutFormat::parser())]
    pub(super) out_format: Option<OutFormat>,
    /// Output file; defaults to standard output
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Multiply by FFT with this transform at every size; defaults to the fastest method for each size. The result is the same
    #[arg(long, value_name = "ENGINE")]
    pub(super) engine: Option<EngineName>,
    /// Number of threads within one product; defaults to 1
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(super) threads: Option<u16>,
    /// Device for mul, square and powm: cpu, cuda:N, auto, emulated for tests, or rtl for the simulated hardware; defaults to SOLINAS_DEVICE, else to cpu. The result is the same
    #[arg(long, value_name = "NAME", conflicts_with = "threads")]
    pub(super) device: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum EngineName {
    /// Complex numbers in double precision, exact by a proven bound
    Complex,
    /// Integers modulo 2^64 - 2^32 + 1
    Solinas,
}

impl Verb {
    /// The options that all verbs have.
    pub(super) fn common(&self) -> &Common {
        match self {
            Self::Mul(args) | Self::Add(args) | Self::Sub(args) => &args.common,
            Self::Square(args) => &args.common,
            Self::Div(args) => &args.common,
            Self::Mod(args) => &args.common,
            Self::Powm(args) => &args.common,
            Self::Pow(args) => &args.common,
            Self::Gcd(args) => &args.common,
            Self::Sqrt(args) | Self::Prime(args) | Self::Convert(args) => &args.common,
        }
    }
}
