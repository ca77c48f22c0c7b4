//! `solinas inspect`: what a file is, and whether it is whole.

use crate::error::{Result, input};
use crate::output::Output;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  solinas inspect c.ct
  solinas inspect keys/*.key --json

Every byte is verified. Of a secret key nothing secret is shown. The exit code is 1 if a file is damaged.
For circuits (Bristol, BLIF, Yosys JSON), see `solinas circuit stats`.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The files
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    let (mut all, mut failed) = (Vec::new(), None);
    for file in &args.files {
        match solinas_formats::inspect(file) {
            Ok(summary) => all.push(summary),
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
    match all.iter().find(|summary| !summary.is_intact()) {
        None => Ok(()),
        Some(damaged) => {
            let what = format!("{} is damaged", damaged.path.display());
            Err(input(what, "copy it again from where it came from, or make it anew"))
        }
    }
}
