//! `solinas decrypt`: decrypts ciphertext files to plain values.

use crate::error::{Error, Result, input};
use crate::files::write_private_text;
use crate::output::Output;
use serde::Serialize;
use solinas_circuits::bits;
use solinas_circuits::program::Type;
use solinas_engine::{Ciphertext, ClientKey, KeyId, Natural, Plain, Scheme};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  solinas decrypt --key keys/client.key c.ct
  solinas decrypt --key keys/client.key sum.ct product.ct --json
  solinas decrypt --key keys/client.key sums.ct products.ct --csv -o table.csv
  solinas decrypt --key keys/client.key digest.ct --hex

The command prints one value of an array on each line. With --hex or --bits, a row of bools is one value, and its first bool is the least significant bit. \
With --csv, each file becomes a column whose header is the file's name. With --json, values of types of more than 53 bits are texts, since many readers of JSON round larger numbers.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The client key
    #[arg(long, short, value_name = "FILE")]
    key: PathBuf,
    /// The ciphertexts
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Use a client key that other users of this machine can read
    #[arg(long)]
    allow_exposed_key: bool,
    /// Print 0x and all hexadecimal digits of the type
    #[arg(long, conflicts_with = "bits")]
    hex: bool,
    /// Print 0b and all bits of the type
    #[arg(long)]
    bits: bool,
    /// Print integers modulo P from -P/2 to P/2, so that -5 is -5 again
    #[arg(long, conflicts_with_all = ["hex", "bits"])]
    signed: bool,
    /// Print a CSV table
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Output file, which only you can read; defaults to standard output
    #[arg(long, short, conflicts_with = "json")]
    output: Option<PathBuf>,
}

/// A decrypted file.
#[derive(Serialize)]
struct Decrypted<'a> {
    file: &'a Path,
    #[serde(rename = "type")]
    ty: String,
    shape: Option<Vec<usize>>,
    values: Values,
}

/// A scalar is one value. An array is the list of its values, row by row.
#[derive(Serialize)]
#[serde(untagged)]
enum Values {
    Texts(Vec<String>),
    Bools(Vec<bool>),
    Signed(Vec<i64>),
    Unsigned(Vec<u64>),
}

/// Bits of the widest types whose values are numbers in JSON. Values of wider types are texts.
const EXACT: usize = 53;

impl Values {
    fn new(plain: &Plain, style: Option<Style>) -> Self {
        if let Some(style) = style {
            return Self::Texts(texts(plain, Some(style)));
        }
        let values = plain.values.iter();
        match plain.ty {
            Type::Bool => Self::Bools(values.map(|bits| *bits == 1).collect()),
            // JavaScript and many other readers of JSON round larger numbers.
            ty if ty.width() > EXACT => Self::Texts(plain.to_strings()),
            Type::Int(_) => Self::Signed(values.filter_map(|bits| plain.ty.to_integer(bits).try_into().ok()).collect()),
            Type::Uint(_) | Type::Mod(_) => {
                Self::Unsigned(values.filter_map(|bits| bits.to_u128()?.try_into().ok()).collect())
            }
        }
    }
}

/// How values are written.
#[derive(Clone, Copy)]
enum Style {
    /// The digits of all bits.
    Digits(fn(&[bool]) -> String),
    /// Integers modulo P from -P/2 to P/2, and all others as usual.
    Signed,
}

/// A residue as the integer of the least absolute value.
fn signed(plain: &Plain, modulus: u32, value: &Natural) -> String {
    match value.to_u128() {
        Some(residue) if residue > u128::from(modulus / 2) => format!("-{}", u128::from(modulus) - residue),
        _ => plain.ty.to_integer(value).to_string(),
    }
}

/// One text for each value, row by row. With digits, one text for each row of bools.
fn texts(plain: &Plain, style: Option<Style>) -> Vec<String> {
    let digits = match (style, plain.ty.modulus()) {
        (Some(Style::Digits(digits)), _) => digits,
        (Some(Style::Signed), Some(modulus)) => {
            return plain.values.iter().map(|value| signed(plain, modulus, value)).collect();
        }
        _ => return plain.to_strings(),
    };
    if let (Type::Bool, Some([.., length])) = (plain.ty, plain.shape.as_deref()) {
        let bools: Vec<bool> = plain.values.iter().map(|value| value.bit(0)).collect();
        return bools.chunks((*length).max(1)).map(digits).collect();
    }
    let bits = |value: &Natural| (0..plain.ty.width()).map(|i| value.bit(i)).collect::<Vec<_>>();
    plain.values.iter().map(|value| digits(&bits(value))).collect()
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    let style = match (args.hex, args.bits, args.signed) {
        (true, ..) => Some(Style::Digits(bits::to_hex)),
        (_, true, _) => Some(Style::Digits(bits::to_binary)),
        (.., true) => Some(Style::Signed),
        _ => None,
    };
    let load = if args.allow_exposed_key { ClientKey::load_exposed } else { ClientKey::load };
    let key = load(&args.key)?;
    let mut all = Vec::with_capacity(args.files.len());
    for file in &args.files {
        let ciphertext = Ciphertext::load(file)?;
        check_key(file, &ciphertext, &args.key, key.key_id(), key.params().scheme)?;
        all.push(key.decrypt(&ciphertext).map_err(|error| Error::from(error).with_place(&file.display().to_string()))?);
    }
    if out.json() {
        let all: Vec<_> = args.files.iter().zip(&all).map(|(file, plain)| decrypted(file, plain, style)).collect();
        return out.result(&all, String::new);
    }
    let text = match (&all[..], args.csv) {
        (_, true) => table(&args.files, &all, style)
            .map_err(|error| Error::io("write", Path::new("the CSV table"), error.into()))?,
        ([plain], false) => rows(plain, style).join("\n") + "\n",
        (all, false) => {
            let line =
                |(file, plain): (&PathBuf, &Plain)| format!("{}: {}\n", file.display(), texts(plain, style).join(" "));
            args.files.iter().zip(all).map(line).collect()
        }
    };
    write_private_text(args.output.as_deref(), &text, out)
}

/// Checks that a ciphertext belongs to a key.
///
/// # Errors
/// If it does not; the error names both files.
pub(crate) fn check_key(
    file: &Path,
    ciphertext: &Ciphertext,
    key_file: &Path,
    key: KeyId,
    scheme: Scheme,
) -> Result<()> {
    if ciphertext.scheme() != scheme {
        let what = format!(
            "{} is of scheme {}, {} of scheme {scheme}",
            file.display(),
            ciphertext.scheme(),
            key_file.display()
        );
        return Err(input(what, "use files of the same `keygen`"));
    }
    if ciphertext.key_id() == key {
        return Ok(());
    }
    let (path, other) = (file.to_path_buf(), key_file.display().to_string());
    Err(solinas_formats::Error::WrongKey { path, found: Some(ciphertext.key_id()), other, needed: key }.into())
}

fn decrypted<'a>(file: &'a Path, plain: &Plain, style: Option<Style>) -> Decrypted<'a> {
    Decrypted { file, ty: plain.ty.to_string(), shape: plain.shape.clone(), values: Values::new(plain, style) }
}

/// One line for each value, or for each row if the array has rows.
fn rows(plain: &Plain, style: Option<Style>) -> Vec<String> {
    let texts = texts(plain, style);
    let length = match plain.shape.as_deref() {
        Some(_) if matches!(style, Some(Style::Digits(_))) && plain.ty == Type::Bool => 1,
        Some([.., _, last]) => (*last).max(1),
        _ => 1,
    };
    texts.chunks(length).map(|row| row.join(" ")).collect()
}

/// A CSV table with a column for each file. Scalars and shorter arrays leave cells empty.
fn table(files: &[PathBuf], all: &[Plain], style: Option<Style>) -> csv::Result<String> {
    let columns: Vec<_> = all.iter().map(|plain| texts(plain, style)).collect();
    let longest = columns.iter().map(Vec::len).max().unwrap_or(0);
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(files.iter().map(|file| file.file_stem().unwrap_or(file.as_os_str()).as_encoded_bytes()))?;
    for row in 0..longest {
        writer.write_record(columns.iter().map(|column| column.get(row).map_or("", String::as_str)))?;
    }
    let bytes = writer.into_inner().map_err(csv::IntoInnerError::into_error)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
