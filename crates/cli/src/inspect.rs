//! `solinas inspect`: describes a file and verifies it.

use crate::error::{Error, Result, input};
use crate::output::Output;
use serde::Serialize;
use solinas_formats::{Kind, Summary};
use solinas_runtime::{Ciphertext, Condition};
use std::fmt;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  solinas inspect c.ct
  solinas inspect keys/*.key --json

The command describes keys, ciphertexts, plans, paused runs and matrices of scheme lwe, and verifies every byte of them. \
For a key it says what the key can do, and which section it lacks if an earlier version wrote it. \
For a ciphertext of schemes gh, ntru, bgv and lwe it shows the remaining products and the noise margin. For a secret key it shows nothing secret.
The exit code is 1 if a file is damaged or cannot be read. The other files are described nevertheless.
For circuits (Bristol, BLIF, Yosys JSON), see `solinas circuit stats`.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The files
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// A file, and the remaining budget of a ciphertext.
#[derive(Serialize)]
struct Inspected {
    #[serde(flatten)]
    summary: Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<Condition>,
}

impl Inspected {
    fn new(summary: Summary) -> Self {
        let whole = summary.kind == Kind::Ciphertext && summary.is_intact();
        // If this version does not know the scheme, there is only the summary.
        let condition = whole.then(|| Ciphertext::load(&summary.path).ok()?.condition()).flatten();
        Self { summary, condition }
    }
}

impl fmt::Display for Inspected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.summary.fmt(f)?;
        let Some(Condition { margin, products, usable }) = self.condition else { return Ok(()) };
        let can = if usable { "can be computed on" } else { "can no longer be computed on" };
        let left = products.map_or_else(String::new, |products| format!("products in a row left: {products}, "));
        writeln!(f, "{left}noise: {margin:.2} bits of margin, {can}")
    }
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    let (mut all, mut failed) = (Vec::new(), Vec::<Error>::new());
    for file in &args.files {
        match solinas_formats::inspect(file) {
            Ok(summary) => {
                if !summary.is_intact() {
                    let what = format!("{} is damaged", file.display());
                    failed.push(input(what, "copy it again from its source, or generate it anew"));
                }
                all.push(Inspected::new(summary));
            }
            Err(error) => failed.push(error.into()),
        }
    }
    if !all.is_empty() {
        out.result(&all, || all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    }
    // Bad files are reported after the descriptions of the others. The last one ends the command.
    let Some(last) = failed.pop() else { return Ok(()) };
    for error in &failed {
        // The exit code is that of the last one.
        let _ = error.report(out.json());
    }
    Err(last)
}
