//! `solinas inspect`: what a file is, and whether it is whole.

use crate::error::{Result, input};
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

Every byte is verified. Of a ciphertext that wears out (schemes gh, ntru, bgv and lwe), what is left is shown. Of a secret key nothing secret is shown. A matrix that scheme lwe streams is verified piece by piece. The exit code is 1 if a file is damaged.
For circuits (Bristol, BLIF, Yosys JSON), see `solinas circuit stats`.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The files
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// A file, and what is left of a ciphertext.
#[derive(Serialize)]
struct Inspected {
    #[serde(flatten)]
    summary: Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<Condition>,
}

impl Inspected {
    fn of(summary: Summary) -> Self {
        let whole = summary.kind == Kind::Ciphertext && summary.is_intact();
        // Of a scheme that this version does not know, the summary is all there is.
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
    let (mut all, mut failed) = (Vec::new(), None);
    for file in &args.files {
        match solinas_formats::inspect(file) {
            Ok(summary) => all.push(Inspected::of(summary)),
            // The first is told, after what is known of the other files.
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    if !all.is_empty() {
        out.result(&all, || all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    }
    if let Some(error) = failed {
        return Err(error.into());
    }
    match all.iter().map(|inspected| &inspected.summary).find(|summary| !summary.is_intact()) {
        None => Ok(()),
        Some(damaged) => {
            let what = format!("{} is damaged", damaged.path.display());
            Err(input(what, "copy it again from where it came from, or make it anew"))
        }
    }
}
