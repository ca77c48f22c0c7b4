//! `solinas bigint`: computes with integers of any size.

mod device;
mod number;
mod rtl;

use crate::error::{Result, input, usage};
use crate::files::{check_not_input, check_target, check_writable, write_bytes, write_text};
use crate::output::Output;
use crate::progress::{interruptible, wait};
use clap::{Subcommand, ValueEnum};
use number::{Format, Operand, OutFormat, read_operand};
use serde::Serialize;
use solinas_bigint::fft::{Engine, Options, Plan, Spectrum};
use solinas_bigint::{Modulus, ModulusOptions, Natural};
use solinas_circuits::counted;
use std::path::{Path, PathBuf};
use std::time::Instant;

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

Give a number as decimal digits, as 0x and hexadecimal digits, as the name of a file that holds such digits or bytes, or as - for standard input. \
If the name of a file is itself a number, write ./NAME. The result has the format of the first number; --out-format chooses another.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES, subcommand_required = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// a * b
    #[command(after_help = "Example:\n  solinas bigint mul a.txt b.txt --mod 0xffffffff00000001 -o c.txt")]
    Mul(Two),
    /// a^2
    #[command(after_help = "Example:\n  solinas bigint square --in-format bytes a.bin --out-format dec")]
    Square(One),
    /// a modulo m
    #[command(after_help = "Example:\n  solinas bigint mod 0x123456789abcdef 1000003")]
    Mod(Reduce),
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
    Gcd(Pair),
    /// Convert a number to another format
    #[command(after_help = "Example:\n  solinas bigint convert --in-format hex digits.txt --out-format dec")]
    Convert(Single),
}

#[derive(clap::Args)]
struct Two {
    /// The first number
    #[arg(value_name = "A")]
    a: String,
    /// The second number
    #[arg(value_name = "B")]
    b: String,
    /// Compute modulo this number
    #[arg(long = "mod", value_name = "M")]
    modulus: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args)]
struct One {
    /// The number
    #[arg(value_name = "A")]
    a: String,
    /// Compute modulo this number
    #[arg(long = "mod", value_name = "M")]
    modulus: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args)]
struct Reduce {
    /// The number
    #[arg(value_name = "A")]
    a: String,
    /// The modulus, above 1
    #[arg(value_name = "M")]
    modulus: String,
    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args)]
struct Power {
    /// The base
    #[arg(value_name = "BASE")]
    base: String,
    /// The exponent
    #[arg(value_name = "EXPONENT")]
    exponent: String,
    /// The modulus, above 1
    #[arg(value_name = "M")]
    modulus: String,
    /// Treat the exponent as secret: the running time depends only on the length of the modulus
    #[arg(long)]
    secret: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args)]
struct Pair {
    /// The first number
    #[arg(value_name = "A")]
    a: String,
    /// The second number
    #[arg(value_name = "B")]
    b: String,
    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args)]
struct Single {
    /// The number
    #[arg(value_name = "A")]
    a: String,
    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args)]
struct Common {
    /// Format of input files
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    in_format: Format,
    /// Format of the result
    #[arg(long, value_name = "FORMAT")]
    out_format: Option<OutFormat>,
    /// Output file; defaults to standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Multiply by FFT with this transform at every size; defaults to the fastest method for each size. The result is the same
    #[arg(long, value_name = "ENGINE")]
    engine: Option<EngineName>,
    /// Number of threads within one product; defaults to 1
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=4096))]
    threads: Option<u16>,
    /// Device for mul, square and powm: cpu, cuda:N, auto, emulated for tests, or rtl for the simulated hardware; defaults to SOLINAS_DEVICE, else to cpu. The result is the same
    #[arg(long, value_name = "NAME", conflicts_with = "threads")]
    device: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum EngineName {
    /// Complex numbers in double precision, exact by a proven bound
    Complex,
    /// Integers modulo 2^64 - 2^32 + 1
    Solinas,
}

/// Methods of multiplication.
#[derive(Clone, Copy)]
struct Arithmetic {
    options: Options,
    /// Whether to choose the fastest method for each size.
    free: bool,
}

impl Common {
    fn arithmetic(&self) -> Arithmetic {
        let engine = self.engine.map(|engine| match engine {
            EngineName::Complex => Engine::Complex,
            EngineName::Solinas => Engine::Solinas,
        });
        let threads = self.threads.map_or(1, crate::limits::threads);
        Arithmetic {
            options: Options { engine, threads, ..Default::default() },
            free: engine.is_none() && threads == 1,
        }
    }
}

impl Arithmetic {
    fn mul(&self, a: &Natural, b: &Natural) -> Result<Natural> {
        if self.free || a.is_zero() || b.is_zero() {
            return Ok(a * b);
        }
        let plan = Plan::for_product(a.words().len(), b.words().len(), &self.options)?;
        let (mut x, mut y) = (plan.spectrum(), plan.spectrum());
        plan.forward(a.words(), &mut x)?;
        plan.forward(b.words(), &mut y)?;
        plan.multiply(&mut x, &y)?;
        self.finish(&plan, x)
    }

    fn square(&self, a: &Natural) -> Result<Natural> {
        if self.free || a.is_zero() {
            return Ok(a.square());
        }
        let plan = Plan::for_product(a.words().len(), a.words().len(), &self.options)?;
        let mut x = plan.spectrum();
        plan.forward(a.words(), &mut x)?;
        plan.square(&mut x)?;
        self.finish(&plan, x)
    }

    fn finish(&self, plan: &Plan, mut x: Spectrum) -> Result<Natural> {
        let mut words = vec![0; plan.words()];
        plan.inverse(&mut x, &mut words)?;
        Ok(Natural::from_words(words))
    }

    fn modulus(&self, value: &Natural) -> Result<Modulus> {
        Ok(Modulus::with_options(value, &ModulusOptions { method: None, fft: self.options })?)
    }
}

#[derive(Serialize)]
struct Report<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a Path>,
    bits: usize,
    /// Time of the computation in seconds, without reading, writing and conversion.
    seconds: f64,
    /// The result, if it is not written to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// Cycles of the simulated circuit, on the device rtl.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles: Option<u64>,
}

/// Reads numbers in the order of the arguments, and standard input at most once.
struct Reader<'a> {
    common: &'a Common,
    /// Format of the first number.
    found: Option<OutFormat>,
    stdin: bool,
}

impl Reader<'_> {
    fn number(&mut self, text: &str) -> Result<Natural> {
        if text == "-" && std::mem::replace(&mut self.stdin, true) {
            return Err(usage("standard input can be one number only", "name a file for the other"));
        }
        if let (Some(output), false) = (&self.common.output, number::is_number(text)) {
            check_not_input(output, &[Path::new(text)])?;
        }
        let Operand { value, format } = read_operand(text, self.common.in_format)?;
        self.found = self.found.or(Some(format));
        Ok(value)
    }

    fn modulus(&mut self, text: &str) -> Result<Natural> {
        let value = self.number(text)?;
        if value.is_zero() || value.is_one() {
            return Err(input(format!("the modulus is {value}"), "give a modulus above 1"));
        }
        Ok(value)
    }
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    let common = match &args.verb {
        Verb::Mul(args) | Verb::Add(args) | Verb::Sub(args) => &args.common,
        Verb::Square(args) => &args.common,
        Verb::Mod(args) => &args.common,
        Verb::Powm(args) => &args.common,
        Verb::Gcd(args) => &args.common,
        Verb::Convert(args) => &args.common,
    };
    let path = common.output.as_deref().filter(|path| *path != Path::new("-"));
    if let Some(path) = path {
        check_target(path)?;
        check_writable(path)?;
    }
    let mut reader = Reader { common, found: None, stdin: false };
    let start;
    let (value, cycles) = if rtl::is_asked(&args.verb, common.device.as_deref())? {
        start = Instant::now();
        let (value, cycles) = rtl::run(&args.verb, &mut reader, out)?;
        (value, Some(cycles))
    } else {
        let work = wait(out, "reading", || plan(&args.verb, &mut reader))?;
        start = Instant::now();
        (wait(out, "computing", work)?, None)
    };
    let seconds = start.elapsed().as_secs_f64();
    if let Some(cycles) = cycles {
        out.cycles(cycles);
    }
    let format = common.out_format.or(reader.found).unwrap_or_default();
    // From here on, an interruption waits until the file is complete.
    interruptible()?;
    let bits = value.bit_len();
    let text = |format: OutFormat| wait(out, "converting", || format.text(&value));
    match path {
        Some(path) => {
            match text(format) {
                Some(text) => write_text(Some(path), &(text + "\n"), out)?,
                None => write_bytes(Some(path), &format.bytes(&value), out)?,
            }
            let report = Report { output: Some(path), bits, seconds, value: None, cycles };
            out.report(&report, || {
                format!("{}: {}, computed in {seconds:.3} s\n", path.display(), counted(bits, "bit"))
            })
        }
        None if out.json() => {
            let value = text(format).unwrap_or_else(|| text(OutFormat::Hex).unwrap_or_default());
            out.result(&Report { output: None, bits, seconds, value: Some(value), cycles }, String::new)
        }
        None => match text(format) {
            Some(text) => out.text(&(text + "\n")),
            None => out.bytes(&format.bytes(&value)),
        },
    }
}

/// Reads the numbers, and returns the computation on them.
fn plan(verb: &Verb, reader: &mut Reader<'_>) -> Result<Box<dyn FnOnce() -> Result<Natural>>> {
    let with = reader.common.arithmetic();
    if let Some(gpu) = device::open(verb, reader.common)? {
        return gpu.plan(verb, reader);
    }
    Ok(match verb {
        Verb::Mul(Two { a, b, modulus, .. }) => {
            let (a, b) = (reader.number(a)?, reader.number(b)?);
            match modulus_of(modulus, reader)? {
                None => Box::new(move || with.mul(&a, &b)),
                Some(m) => Box::new(move || Ok(with.modulus(&m)?.mul(&a, &b)?)),
            }
        }
        Verb::Square(One { a, modulus, .. }) => {
            let a = reader.number(a)?;
            match modulus_of(modulus, reader)? {
                None => Box::new(move || with.square(&a)),
                Some(m) => Box::new(move || Ok(with.modulus(&m)?.square(&a)?)),
            }
        }
        Verb::Add(Two { a, b, modulus, .. }) => {
            let (a, b) = (reader.number(a)?, reader.number(b)?);
            match modulus_of(modulus, reader)? {
                None => Box::new(move || Ok(&a + &b)),
                Some(m) => Box::new(move || Ok(with.modulus(&m)?.add(&a, &b)?)),
            }
        }
        Verb::Sub(Two { a, b, modulus, .. }) => {
            let (a, b) = (reader.number(a)?, reader.number(b)?);
            match modulus_of(modulus, reader)? {
                None => Box::new(move || {
                    let negative = || input("the difference is negative", "swap the numbers, or add --mod M");
                    a.checked_sub(&b).ok_or_else(negative)
                }),
                Some(m) => Box::new(move || Ok(with.modulus(&m)?.sub(&a, &b)?)),
            }
        }
        Verb::Mod(Reduce { a, modulus, .. }) => {
            let (a, m) = (reader.number(a)?, reader.modulus(modulus)?);
            Box::new(move || Ok(a.rem(&m)?))
        }
        Verb::Powm(Power { base, exponent, modulus, secret, .. }) => {
            let (base, exponent) = (reader.number(base)?, reader.number(exponent)?);
            let (m, secret) = (reader.modulus(modulus)?, *secret);
            Box::new(move || {
                let m = with.modulus(&m)?;
                Ok(if secret { m.pow(&base, &exponent)? } else { m.vartime_pow(&base, &exponent)? })
            })
        }
        Verb::Gcd(Pair { a, b, .. }) => {
            let (a, b) = (reader.number(a)?, reader.number(b)?);
            Box::new(move || Ok(a.vartime_gcd(&b)))
        }
        Verb::Convert(Single { a, .. }) => {
            let a = reader.number(a)?;
            Box::new(move || Ok(a))
        }
    })
}

fn modulus_of(text: &Option<String>, reader: &mut Reader<'_>) -> Result<Option<Natural>> {
    text.as_ref().map(|text| reader.modulus(text)).transpose()
}
