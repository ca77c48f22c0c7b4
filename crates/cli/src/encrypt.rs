//! `solinas encrypt`: plain values to a ciphertext file.

use crate::error::{Result, usage};
use crate::files::check_ciphertext_target;
use crate::names::parse_type;
use crate::output::Output;
use crate::values::{csv_column, from_stdin};
use serde::Serialize;
use solinas_circuits::program::Type;
use solinas_runtime::{ClientKey, Plain};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  solinas encrypt --key keys/client.key --type u32 1234 -o a.ct
  solinas encrypt --key keys/client.key --type i8 -5 17 0 -o array.ct
  solinas encrypt --key keys/client.key --type bool true -o flag.ct
  solinas encrypt --key keys/client.key --type u16 --csv bids.csv --column bid -o bids.ct
  seq 1 10 | solinas encrypt --key keys/client.key --type u8 - -o ten.ct

One value makes a scalar, several make an array; a CSV column always makes an array.
Types are bool, u1 to u128 and i1 to i128.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The client key
    #[arg(long, short, value_name = "FILE")]
    key: PathBuf,
    /// Type of the values
    #[arg(long = "type", short, value_parser = parse_type)]
    ty: Type,
    /// The values; `-` reads them from standard input
    #[arg(allow_negative_numbers = true, required_unless_present = "csv", conflicts_with = "csv")]
    values: Vec<String>,
    /// Read a column of a CSV file
    #[arg(long, value_name = "FILE", requires = "column")]
    csv: Option<PathBuf>,
    /// The column: its name, or its number from 0
    #[arg(long, value_name = "NAME|INDEX", requires = "csv")]
    column: Option<String>,
    /// Make an array even of one value
    #[arg(long)]
    array: bool,
    /// The ciphertext file to write
    #[arg(long, short)]
    output: PathBuf,
}

/// What was written.
#[derive(Serialize)]
pub(crate) struct Report<'a> {
    pub(crate) file: &'a Path,
    #[serde(rename = "type")]
    pub(crate) ty: String,
    pub(crate) shape: Option<Vec<usize>>,
    pub(crate) key_id: String,
    pub(crate) bytes: u64,
}

impl<'a> Report<'a> {
    pub(crate) fn of(file: &'a Path, ct: &solinas_runtime::Ciphertext) -> Self {
        let bytes = std::fs::metadata(file).map_or(0, |found| found.len());
        let shape = ct.shape().map(<[usize]>::to_vec);
        Self { file, ty: ct.ty().to_string(), shape, key_id: ct.key_id().to_string(), bytes }
    }

    pub(crate) fn line(&self) -> String {
        let shape = match &self.shape {
            None => String::new(),
            Some(shape) => format!(", {} values", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ")),
        };
        format!("{}: {}{shape}, {} bytes\n", self.file.display(), self.ty, self.bytes)
    }
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    check_ciphertext_target(&args.output)?;
    let (texts, array) = match (&args.csv, &args.column) {
        (Some(path), Some(column)) => (csv_column(path, column, args.ty)?, true),
        _ if args.values == ["-"] => (from_stdin()?, args.array),
        _ if args.values.iter().any(|text| text == "-") => {
            return Err(usage("'-' stands among other values", "give it alone to read all values from standard input"));
        }
        _ => (args.values, args.array),
    };
    let shape = (array || texts.len() > 1).then(|| vec![texts.len()]);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let plain = Plain::parse(args.ty, &texts, shape)?;
    let ciphertext = ClientKey::load(&args.key)?.encrypt(&plain)?;
    // From here on, an interruption leaves no part of a file: it waits for the whole.
    crate::progress::interruptible()?;
    ciphertext.save(&args.output)?;
    let report = Report::of(&args.output, &ciphertext);
    out.report(&report, || report.line())
}
