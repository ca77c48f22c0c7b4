//! Passphrases of private keys, and `solinas rsa passphrase`, which changes them.

use super::{keys::encode, private_key, read_key};
use crate::error::{Result, input, usage};
use crate::files::{Over, check_writable, read_bytes, same_file, write_secret};
use crate::output::Output;
use serde::Serialize;
use solinas_rsa::PrivateFormat;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

const EXAMPLES: &str = "\
Examples:
  solinas rsa passphrase key.pem
  solinas rsa passphrase key.pem --new-passphrase-file new.txt
  solinas rsa passphrase key.pem --passphrase-file old.txt --remove -o plain.pem

The command writes the key as PKCS#8. With a passphrase, the key is encrypted by scrypt and AES-256-CBC, which `openssl pkey` reads. Without -o, the new file \
replaces the old one in one step. The new passphrase comes from --new-passphrase-file, else from the variable SOLINAS_NEW_PASSPHRASE, else from the terminal.";

/// Largest size of a passphrase, bytes.
const MOST: u64 = 1 << 12;
/// Variable that holds the passphrase of a key that is read.
pub(super) const VARIABLE: &str = "SOLINAS_PASSPHRASE";
/// Variable that holds the passphrase of a key that `rsa passphrase` writes.
const NEW_VARIABLE: &str = "SOLINAS_NEW_PASSPHRASE";

/// Source of the passphrase of a private key.
#[derive(clap::Args)]
pub(super) struct PassphraseArgs {
    /// Read the key's passphrase from the first line of this file; defaults to the variable SOLINAS_PASSPHRASE, else the terminal
    #[arg(long, value_name = "FILE")]
    pub(super) passphrase_file: Option<PathBuf>,
}

impl PassphraseArgs {
    /// Reads the passphrase of an existing key.
    pub(super) fn read(&self, key: &Path) -> Result<Zeroizing<Vec<u8>>> {
        let option = "--passphrase-file";
        get(self.passphrase_file.as_deref(), VARIABLE, option, || ask("Passphrase", key, option, VARIABLE))
    }
}

/// Reads the passphrase for a new key file from a file, a variable or the terminal.
pub(super) fn new_passphrase(
    file: Option<&Path>,
    option: &str,
    variable: &str,
    key: &Path,
) -> Result<Zeroizing<Vec<u8>>> {
    let passphrase = get(file, variable, option, || {
        let first = ask("New passphrase", key, option, variable)?;
        let second = ask("Again the new passphrase", key, option, variable)?;
        if first != second {
            return Err(input("the passphrases differ", "type the same one twice"));
        }
        Ok(first)
    })?;
    if passphrase.is_empty() {
        return Err(input(
            "the new passphrase is empty",
            "give a passphrase; for a key without one, leave out the option or use --remove",
        ));
    }
    Ok(passphrase)
}

fn get(
    file: Option<&Path>,
    variable: &str,
    option: &str,
    ask: impl FnOnce() -> Result<Zeroizing<Vec<u8>>>,
) -> Result<Zeroizing<Vec<u8>>> {
    match (file, std::env::var_os(variable)) {
        (Some(file), _) if file == Path::new("-") => {
            Err(usage(format!("{option} does not read standard input"), format!("name a file, or set {variable}")))
        }
        (Some(file), _) => {
            let text = Zeroizing::new(read_bytes(file, MOST)?);
            let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
            Ok(Zeroizing::new(line.strip_suffix(b"\r").unwrap_or(line).to_vec()))
        }
        (None, Some(value)) => Ok(Zeroizing::new(value.into_encoded_bytes())),
        (None, None) => ask(),
    }
}

fn ask(what: &str, key: &Path, option: &str, variable: &str) -> Result<Zeroizing<Vec<u8>>> {
    let key = key.display();
    let typed =
        rpassword::prompt_password(crate::output::escape_control(&format!("{what} of {key}: "))).map_err(|error| {
            let help = format!("name a file that holds the passphrase with {option} FILE, or set {variable}");
            input(format!("{key} needs a passphrase, and there is no terminal to ask for it: {error}"), help)
        })?;
    Ok(Zeroizing::new(typed.into_bytes()))
}

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The private key
    file: PathBuf,
    #[command(flatten)]
    passphrase: PassphraseArgs,
    /// Read the new passphrase from the first line of this file
    #[arg(long, value_name = "FILE", conflicts_with = "remove")]
    new_passphrase_file: Option<PathBuf>,
    /// Write the key without a passphrase
    #[arg(long)]
    remove: bool,
    /// Output file for the key; defaults to the input file, which it replaces
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long, requires = "output")]
    force: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    private_key: &'a Path,
    passphrase: bool,
}

pub(super) fn run(args: Args, out: &Output) -> Result<()> {
    let Args { file, .. } = &args;
    let path = args.output.as_ref().unwrap_or(file);
    if path == Path::new("-") {
        return Err(usage(
            "a private key cannot be written to standard output",
            "name a file with -o; ./- is a file named -",
        ));
    }
    check_writable(path)?;
    let over = if args.force || same_file(path, file) { Over::PrivateKey } else { Over::Nothing };
    let bytes = read_key(file)?;
    // The key is only stored, so sizes that need --research are allowed.
    let key = private_key(file, &bytes, &args.passphrase, true)?;
    let new = args.new_passphrase_file.as_deref();
    let ask = || new_passphrase(new, "--new-passphrase-file", NEW_VARIABLE, path);
    let passphrase = (!args.remove).then(ask).transpose()?;
    // DER begins with the tag of a SEQUENCE. Text does not begin with that byte.
    let der = bytes.first() == Some(&0x30);
    write_secret(path, &encode(&key, PrivateFormat::Pkcs8, der, passphrase.as_deref())?, over)?;
    let report = Report { private_key: path, passphrase: passphrase.is_some() };
    let with = if report.passphrase { "with the new passphrase" } else { "without a passphrase" };
    out.report(&report, || format!("{}: secret, {with}\n", path.display()))
}
