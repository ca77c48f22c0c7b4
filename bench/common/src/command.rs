//! What the command lines of the benchmarks share.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use clap::{Args, Parser};
use serde::Serialize;

use crate::{Error, machine};

/// Runs a benchmark by its arguments, and tells of its error.
pub fn main<A: Parser, E: Display>(run: impl FnOnce(&A) -> Result<(), E>) -> ExitCode {
    match run(&A::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Where the results go besides standard output.
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
    /// Writes what was asked for.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&self, run: &impl Serialize, markdown: impl FnOnce() -> String) -> Result<(), Error> {
        if let Some(path) = &self.json {
            let text = serde_json::to_string_pretty(run).map_err(io::Error::from);
            write(path, text.map(|text| text + "\n"))?;
        }
        self.markdown.as_deref().map_or(Ok(()), |path| write(path, Ok(markdown())))
    }
}

fn write(path: &Path, text: io::Result<String>) -> Result<(), Error> {
    text.and_then(|text| fs::write(path, text)).map_err(|source| Error::Write { path: path.into(), source })
}

/// The first lines of what a benchmark prints: its command, and the machine.
///
/// # Errors
/// [`Error::System`] if the kernel does not tell of the machine.
pub fn header(name: &str) -> Result<Vec<String>, Error> {
    let load = machine::load().map_or_else(String::new, |load| format!(", load {load:.1} before the run"));
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let (cpu, cores, simd) = (machine::cpu(), machine::cores()?.len(), machine::simd());
    Ok(vec![
        format!("{name} {}", arguments.join(" ")).trim_end().to_owned(),
        format!("{cpu}, {cores} cores{load}, built for {simd}"),
    ])
}
