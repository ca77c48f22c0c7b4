//! `solinas encrypt`: encrypts plain values to a ciphertext file.

use crate::error::{Error, Result, usage};
use crate::files::{check_ciphertext_target, check_not_input};
use crate::names::parse_type;
use crate::output::Output;
use crate::progress::{cancellable, wait, watch};
use crate::trust;
use crate::values::{csv_column, from_stdin};
use clap::builder::NonEmptyStringValueParser;
use serde::Serialize;
use solinas_circuits::bits;
use solinas_circuits::program::Type;
use solinas_engine::{Ciphertext, EncryptionKey, Fingerprint, Plain};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  solinas encrypt --key keys/client.key --type u32 1234 -o a.ct
  solinas encrypt --key keys/client.key --type i8 -5 17 0 -o array.ct
  solinas encrypt --key keys/public.key --type u16 1375 -o bid.ct
  solinas encrypt --key public.key --for auctioneer --type u16 1375 -o bid.ct
  solinas encrypt --key keys/client.key --type bool true -o flag.ct
  solinas encrypt --key keys/client.key --type u16 --csv bids.csv --column bid -o bids.ct
  solinas encrypt --key keys/client.key --type u16 1375 --name income -o income.ct
  solinas encrypt --key keys/client.key --type mod65537 1 2 65536 -o vector.ct
  solinas encrypt --key keys/client.key --bits 16 0xbeef -o block.ct
  seq 1 10 | solinas encrypt --key keys/client.key --type u8 - -o ten.ct

One value makes a scalar, and several values make an array. A CSV column always makes an array. Commas separate the fields of a CSV file.
Types are bool, u1 to u2048, i1 to i2048, and modP for integers modulo P. modP needs a key whose plaintexts are vectors of slots (schemes bgv and ntru).";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The client key, or a key that is public: public.key of scheme tfhe, server.key of the other schemes
    #[arg(long, short, value_name = "FILE")]
    key: PathBuf,
    /// Type of the values: bool, u1 to u2048, i1 to i2048, or modP for integers modulo P
    #[arg(long = "type", short, value_parser = parse_type, required_unless_present = "bits", conflicts_with = "bits")]
    ty: Option<Type>,
    /// Encrypt values of N bits as bools, for ports of circuits; a value is 0x and hexadecimal digits, 0b and bits, or a number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 20), conflicts_with = "csv")]
    bits: Option<u32>,
    /// The values; `-` reads them from standard input
    #[arg(allow_negative_numbers = true, required_unless_present = "csv", conflicts_with = "csv")]
    values: Vec<String>,
    /// Read a column of a CSV file
    #[arg(long, value_name = "FILE", requires = "column")]
    csv: Option<PathBuf>,
    /// The column: its name, or its number from 0
    #[arg(long, value_name = "NAME|INDEX", requires = "csv")]
    column: Option<String>,
    /// The first line of the CSV file is a row
    #[arg(long, requires = "csv")]
    no_header: bool,
    /// The input of a program that the values are for, which the file then states. Values of a CSV file have the name of their column
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    name: Option<String>,
    /// Check that the key has this fingerprint, which its owner told you
    #[arg(long, conflicts_with = "recipient")]
    fingerprint: Option<Fingerprint>,
    /// Check that the key has the fingerprint that `solinas trust add` stored under this name
    #[arg(long = "for", value_name = "NAME")]
    recipient: Option<String>,
    /// Allow a key of a parameter set for research only, and do not warn about a key from a chosen seed
    #[arg(long)]
    research: bool,
    /// Use a client key that other users of this machine can read
    #[arg(long, conflicts_with = "matrix")]
    allow_exposed_key: bool,
    /// Make an array even from a single value
    #[arg(long)]
    array: bool,
    /// Read the public matrix from this file, which `solinas expand` writes (scheme lwe)
    #[arg(long, value_name = "FILE")]
    matrix: Option<PathBuf>,
    /// The ciphertext file to write
    #[arg(long, short)]
    output: PathBuf,
}

/// Report of a ciphertext file that was written.
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
    pub(crate) fn new(file: &'a Path, ct: &solinas_engine::Ciphertext) -> Self {
        let bytes = std::fs::metadata(file).map_or(0, |found| found.len());
        let shape = ct.shape().map(<[usize]>::to_vec);
        Self { file, ty: ct.ty().to_string(), shape, key_id: ct.key_id().to_string(), bytes }
    }

    pub(crate) fn line(&self) -> String {
        let shape = match &self.shape {
            None => String::new(),
            Some(shape) if shape == &[1] => ", 1 value".to_owned(),
            Some(shape) => format!(", {} values", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ")),
        };
        format!("{}: {}{shape}, {} bytes\n", self.file.display(), self.ty, self.bytes)
    }
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    check_ciphertext_target(&args.output)?;
    let inputs: Vec<&Path> = args.matrix.iter().chain(&args.csv).map(PathBuf::as_path).collect();
    check_not_input(&args.output, &inputs)?;
    let ciphertext = cancellable(out, |_| encrypted(&args, out))?;
    ciphertext.save(&args.output)?;
    let report = Report::new(&args.output, &ciphertext);
    out.report(&report, || report.line())
}

/// The ciphertext of the values that the arguments name.
fn encrypted(args: &Args, out: &Output) -> Result<Ciphertext> {
    let ty = args.ty.unwrap_or(Type::Bool);
    let mut name = args.name.clone();
    let (texts, array) = match (&args.csv, &args.column) {
        (Some(path), Some(column)) => {
            let (header, texts) = csv_column(path, column, ty, args.no_header)?;
            name = name.or(header);
            (texts, true)
        }
        // The parser does not refuse it, because the values conflict with --csv.
        (None, Some(_)) => return Err(usage("--column names a column of a CSV file", "add --csv FILE")),
        (None, None) if args.no_header => {
            return Err(usage("--no-header is for a CSV file", "add --csv FILE and --column"));
        }
        _ if args.values == ["-"] => (from_stdin()?, args.array),
        _ if args.values.iter().any(|text| text == "-") => {
            return Err(usage(
                "'-' cannot be combined with other values",
                "give '-' alone to read all values from standard input",
            ));
        }
        _ => (args.values.clone(), args.array),
    };
    let shape = (array || texts.len() > 1).then(|| vec![texts.len()]);
    let plain = match args.bits {
        Some(width) => bools(&texts, width as usize, shape)?,
        None => Plain::parse(ty, &texts, shape)?,
    };
    let mut key = match args.matrix {
        Some(_) => EncryptionKey::load_with_matrix(&args.key)?,
        None if args.allow_exposed_key => EncryptionKey::load_exposed(&args.key)?,
        None => EncryptionKey::load(&args.key)?,
    };
    recognise(&key, args, out)?;
    out.warn_of_weakness(&args.key, key.weakness(), args.research);
    if args.research {
        key = key.allow_research();
    }
    let ciphertext = match &args.matrix {
        Some(matrix) => watch(out, "encrypting", |control| Ok(key.encrypt_streamed(&plain, matrix, control)?))?,
        None => wait(out, "encrypting", || key.encrypt(&plain))?,
    };
    Ok(match name {
        Some(name) => ciphertext.named(&name),
        None => ciphertext,
    })
}

/// Checks that the key is the one of the arguments. Without such arguments, warns about a key whose id does not bind it.
fn recognise(key: &EncryptionKey, args: &Args, out: &Output) -> Result<()> {
    let wanted = match &args.recipient {
        Some(name) => Some(trust::fingerprint(name)?),
        None => args.fingerprint,
    };
    if let Some(wanted) = wanted {
        return Ok(key.check_fingerprint(&wanted)?);
    }
    if !key.id_binds_key()? {
        let (file, fingerprint) = (args.key.display(), key.fingerprint()?);
        out.warn(&format!(
            "{file}: its id is of version 1 and does not bind the key; compare its fingerprint {fingerprint} with that of its owner, and confirm it with \
             --fingerprint"
        ));
    }
    Ok(())
}

/// Values of `width` bits as bools. The last axis holds the bits of one value, the least significant bit first.
fn bools(texts: &[String], width: usize, shape: Option<Vec<usize>>) -> Result<Plain> {
    let mut values = Vec::with_capacity(texts.len() * width);
    for text in texts {
        let bits = bits::parse(text, width, false).map_err(Error::circuit("--bits"))?;
        values.extend(bits.into_iter().map(u128::from));
    }
    let shape = shape.into_iter().flatten().chain([width]).collect();
    Ok(Plain::new(Type::Bool, Some(shape), values)?)
}
