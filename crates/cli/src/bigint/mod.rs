//! `solinas bigint`: computes with integers of any size.

mod args;
mod device;
mod number;
mod plan;
mod rtl;

use crate::error::{Result, input, usage};
use crate::files::{check_not_input, check_target, check_writable, write_bytes, write_text};
use crate::output::Output;
use crate::progress::{interruptible, wait};
pub(crate) use args::Args;
use args::{Common, EngineName};
use number::{Operand, OutFormat, read_operand};
use plan::Answer;
use serde::Serialize;
use solinas_bigint::fft::{Engine, Options, Plan, Spectrum};
use solinas_bigint::{Integer, Modulus, ModulusOptions, Natural};
use solinas_circuits::counted;
use std::path::Path;
use std::time::Instant;

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
    fn mul(&self, a: &Integer, b: &Integer) -> Result<Integer> {
        let product = self.product(a.magnitude(), b.magnitude())?;
        Ok(Integer::from_parts(a.is_negative() != b.is_negative(), product))
    }

    fn product(&self, a: &Natural, b: &Natural) -> Result<Natural> {
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
    /// Bits of the result's magnitude.
    bits: usize,
    /// Time of the computation in seconds, without reading, writing and conversion.
    seconds: f64,
    /// The result, if it is not written to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// The remainder of a division, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    remainder: Option<String>,
    /// The cofactors of a greatest common divisor, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    cofactors: Option<[String; 2]>,
    /// Cycles of the simulated circuit, on the device rtl.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles: Option<u64>,
}

/// The answer to a question about a number.
#[derive(Serialize)]
struct Verdict {
    prime: bool,
    seconds: f64,
}

/// Reads numbers in the order of the arguments, and standard input at most once.
struct Reader<'a> {
    common: &'a Common,
    /// Format of the first number.
    found: Option<OutFormat>,
    stdin: bool,
}

impl Reader<'_> {
    fn integer(&mut self, text: &str) -> Result<Integer> {
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

    /// A number at least 0.
    fn natural(&mut self, text: &str, what: &str) -> Result<Natural> {
        let value = self.integer(text)?;
        if value.is_negative() {
            return Err(input(format!("{what} is negative"), "give a number of at least 0"));
        }
        Ok(value.into_magnitude())
    }

    fn optional_modulus(&mut self, text: &Option<String>) -> Result<Option<Natural>> {
        text.as_ref().map(|text| self.modulus(text)).transpose()
    }

    fn modulus(&mut self, text: &str) -> Result<Natural> {
        let value = self.natural(text, "the modulus")?;
        if value.is_zero() || value.is_one() {
            return Err(input(format!("the modulus is {value}"), "give a modulus above 1"));
        }
        Ok(value)
    }
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    let common = args.verb.common();
    let path = common.output.as_deref().filter(|path| *path != Path::new("-"));
    if let Some(path) = path {
        check_target(path)?;
        check_writable(path)?;
    }
    let mut reader = Reader { common, found: None, stdin: false };
    let start;
    let (answer, cycles) = if rtl::is_asked(&args.verb, common.device.as_deref())? {
        start = Instant::now();
        let (value, cycles) = rtl::run(&args.verb, &mut reader, out)?;
        (Answer::Number(value.into()), Some(cycles))
    } else {
        let work = wait(out, "reading", || plan::plan(&args.verb, &mut reader))?;
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
    let (value, others) = match answer {
        Answer::Prime(prime) => {
            let text = format!("{prime}\n");
            return match path {
                Some(path) => write_text(Some(path), &text, out),
                None => out.result(&Verdict { prime, seconds }, || text),
            };
        }
        Answer::Number(value) => (value, Vec::new()),
        Answer::Division(quotient, remainder) => (quotient, vec![remainder]),
        Answer::Cofactors(gcd, x, y) => (gcd, vec![x, y]),
    };
    let bits = value.magnitude().bit_len();
    let text = |value: &Integer| wait(out, "converting", || format.text(value));
    if path.is_none() && (out.json() || !others.is_empty()) {
        // Several numbers have no format of bytes, and JSON has none either.
        let digits = |value: &Integer| match text(value)? {
            Some(digits) => Ok(digits),
            None => Ok(OutFormat::default().text(value)?.unwrap_or_default()),
        };
        let all = std::iter::once(&value).chain(&others).map(digits).collect::<Result<Vec<_>>>()?;
        let mut numbers = all.iter().cloned();
        let mut report =
            Report { output: None, bits, seconds, value: numbers.next(), remainder: None, cofactors: None, cycles };
        match (numbers.next(), numbers.next()) {
            (Some(x), Some(y)) => report.cofactors = Some([x, y]),
            (remainder, _) => report.remainder = remainder,
        }
        return out.result(&report, || all.join("\n") + "\n");
    }
    match path {
        Some(path) => {
            match text(&value)? {
                Some(text) => write_text(Some(path), &(text + "\n"), out)?,
                None => write_bytes(Some(path), &format.bytes(&value)?, out)?,
            }
            let report =
                Report { output: Some(path), bits, seconds, value: None, remainder: None, cofactors: None, cycles };
            out.report(&report, || {
                format!("{}: {}, computed in {seconds:.3} s\n", path.display(), counted(bits, "bit"))
            })
        }
        None => match text(&value)? {
            Some(text) => out.text(&(text + "\n")),
            None => out.bytes(&format.bytes(&value)?),
        },
    }
}
