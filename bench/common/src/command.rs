//! Command lines: the entry point and the options that benchmarks share, and the first lines of their output.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use std::{fs, io};

use clap::{Args, Parser};
use serde::Serialize;

use crate::sample::Effort;
use crate::{Error, machine};

/// Parses the arguments and runs the benchmark. Prints the error if it fails.
pub fn main<A: Parser, E: Display>(run: impl FnOnce(&A) -> Result<(), E>) -> ExitCode {
    match run(&A::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Options for the length of the sampling. The parameters are the defaults of `--samples` and, in seconds, of `--budget`.
#[derive(Debug, Args)]
pub struct Sampling<const SAMPLES: u32, const BUDGET: u32> {
    /// A first impression: few samples
    #[arg(long)]
    quick: bool,
    /// Samples per row and column at most
    #[arg(long, value_name = "N", default_value_t = SAMPLES, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Seconds per row after which no further round begins
    #[arg(long, value_name = "SECONDS", default_value_t = BUDGET.into())]
    budget: f64,
}

impl<const SAMPLES: u32, const BUDGET: u32> Sampling<SAMPLES, BUDGET> {
    /// Whether the options ask for a first impression.
    pub fn is_quick(&self) -> bool {
        self.quick
    }

    /// The effort that the options ask for: with `--quick`, at most `samples` samples in `seconds` seconds.
    pub fn effort(&self, samples: usize, seconds: f64) -> Effort {
        let (mut effort_samples, mut budget) = (self.samples as usize, self.budget);
        if self.quick {
            (effort_samples, budget) = (effort_samples.min(samples), budget.min(seconds));
        }
        Effort { samples: effort_samples, budget: Duration::try_from_secs_f64(budget).unwrap_or(Duration::MAX) }
    }
}

/// Options for files that receive the results besides standard output.
#[derive(Debug, Args)]
pub struct Output {
    /// Also write the figures there, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also write the tables there, as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

impl Output {
    /// Writes the files that the options name.
    ///
    /// # Errors
    /// [`Error::Write`] if a file cannot be written.
    pub fn write(&self, run: &impl Serialize, markdown: impl FnOnce() -> String) -> Result<(), Error> {
        if let Some(path) = &self.json {
            let text = serde_json::to_string_pretty(run).map_err(io::Error::from);
            write(path, text.map(|text| text + "\n"))?;
        }
        self.markdown.as_deref().map_or(Ok(()), |path| write(path, Ok(markdown())))
    }
}

/// Writes a file.
///
/// # Errors
/// [`Error::Write`].
pub fn write(path: &Path, text: io::Result<String>) -> Result<(), Error> {
    text.and_then(|text| fs::write(path, text)).map_err(|source| Error::Write { path: path.into(), source })
}

/// The first lines of the output of a benchmark: its command and the machine.
///
/// # Errors
/// [`Error::System`] if the kernel does not describe the machine.
pub fn header(name: &str) -> Result<Vec<String>, Error> {
    let load = machine::load().map_or_else(String::new, |load| format!(", load {load:.1} before the run"));
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let (cpu, cores, simd) = (machine::cpu(), machine::cores()?.len(), machine::simd());
    Ok(vec![
        format!("{name} {}", arguments.join(" ")).trim_end().to_owned(),
        format!("{cpu}, {cores} cores{load}, built for {simd}"),
    ])
}
