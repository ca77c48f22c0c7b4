//! `solinas rsa encrypt` and `solinas rsa decrypt`.

use super::rtl::{attach, operate};
use super::{MOST_BLOCK, PrivateKeyArgs, PublicKeyArgs, hash_parser, in_file};
use crate::error::{Result, usage};
use crate::files::{Over, check_not_input, check_target, read_bytes, write_bytes, write_secret};
use crate::output::Output;
use clap::ValueEnum;
use serde::Serialize;
use solinas_circuits::counted;
use solinas_rsa::{EncryptionPadding, Hash};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

const ENCRYPT_EXAMPLES: &str = "\
Examples:
  solinas rsa encrypt --key public.pem message.txt -o message.rsa
  printf secret | solinas rsa encrypt --key public.pem - -o message.rsa
  solinas rsa encrypt --key public.pem --hash sha512 --label invoice message.txt -o message.rsa
  solinas rsa encrypt --key public.pem --hash sha1 message.txt -o message.rsa

OAEP with sha1 is the default of `openssl pkeyutl`. No attack on it is known; use it only for programs that support no other hash. A 3072-bit key encrypts up to 318 bytes with OAEP and SHA-256. For more data, encrypt a random symmetric key, and encrypt the data with that key.";

const DECRYPT_EXAMPLES: &str = "\
Examples:
  solinas rsa decrypt --key key.pem message.rsa
  solinas rsa decrypt --key key.pem --padding pkcs1 message.rsa -o message.txt
  solinas rsa decrypt --key key.pem message.rsa --json
  solinas rsa decrypt --key locked.pem --passphrase-file passphrase.txt message.rsa
  solinas rsa decrypt --key key.pem message.rsa --device rtl

Padding, hashes and label must be those of the encryption. With oaep, every failure gives the same error. With pkcs1, a damaged or forged \
ciphertext gives no error: it decrypts to random-looking bytes of a random length, always the same bytes for the same key and ciphertext. \
The answer thus does not show whether the padding was right. An attacker could use that knowledge to decrypt messages.";

#[derive(clap::Args)]
struct PaddingArgs {
    /// The padding
    #[arg(long, value_name = "PADDING", default_value = "oaep")]
    padding: PaddingName,
    /// The hash of OAEP
    #[arg(long, value_name = "HASH", default_value = Hash::Sha256.name(), value_parser = hash_parser())]
    hash: Hash,
    /// The hash of OAEP's masks; defaults to --hash
    #[arg(long, value_name = "HASH", value_parser = hash_parser())]
    mgf_hash: Option<Hash>,
    /// OAEP's label
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// OAEP's label as hexadecimal bytes
    #[arg(long, value_name = "HEX", conflicts_with = "label", value_parser = parse_hex)]
    label_hex: Option<Bytes>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum PaddingName {
    /// OAEP, recommended
    Oaep,
    /// PKCS#1 v1.5, for programs that support no other padding
    Pkcs1,
}

/// Bytes that are given as hexadecimal digits.
#[derive(Clone)]
struct Bytes(Vec<u8>);

fn parse_hex(text: &str) -> std::result::Result<Bytes, String> {
    if let Some(wrong) = text.chars().position(|c| !c.is_ascii_hexdigit()) {
        return Err(format!("character {} is not a hexadecimal digit", wrong + 1));
    }
    if text.len() % 2 == 1 {
        return Err("the number of digits is odd, but a byte has two digits".to_owned());
    }
    let byte = |i| u8::from_str_radix(&text[i..i + 2], 16).map_err(|e| e.to_string());
    (0..text.len()).step_by(2).map(byte).collect::<std::result::Result<_, _>>().map(Bytes)
}

impl PaddingArgs {
    fn label(&self) -> Option<Vec<u8>> {
        let text = self.label.as_ref().map(|text| text.clone().into_bytes());
        text.or_else(|| self.label_hex.as_ref().map(|bytes| bytes.0.clone()))
    }

    fn padding(&self) -> Result<EncryptionPadding> {
        match self.padding {
            PaddingName::Oaep => Ok(EncryptionPadding::Oaep {
                hash: self.hash,
                mgf: self.mgf_hash,
                label: self.label().unwrap_or_default(),
            }),
            PaddingName::Pkcs1 if self.label().is_some() || self.mgf_hash.is_some() => {
                Err(usage("padding pkcs1 has neither a label nor masks", "leave out --label and --mgf-hash"))
            }
            PaddingName::Pkcs1 => Ok(EncryptionPadding::Pkcs1),
        }
    }
}

#[derive(clap::Args)]
#[command(after_help = ENCRYPT_EXAMPLES)]
pub(super) struct EncryptArgs {
    #[command(flatten)]
    key: PublicKeyArgs,
    #[command(flatten)]
    padding: PaddingArgs,
    /// The message; - is standard input
    message: PathBuf,
    /// Output file for the ciphertext; - is standard output
    #[arg(long, short)]
    output: PathBuf,
}

#[derive(clap::Args)]
#[command(after_help = DECRYPT_EXAMPLES)]
pub(super) struct DecryptArgs {
    #[command(flatten)]
    key: PrivateKeyArgs,
    #[command(flatten)]
    padding: PaddingArgs,
    /// The ciphertext; - is standard input
    ciphertext: PathBuf,
    /// Output file for the message, which only you can read; defaults to standard output
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long, requires = "output")]
    force: bool,
}

#[derive(Serialize)]
struct Encrypted<'a> {
    ciphertext: &'a Path,
    bytes: usize,
}

#[derive(Serialize)]
struct Decrypted<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a Path>,
    bytes: usize,
    /// The message, if it is not written to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
    /// Cycles of the simulated circuit, on the device rtl.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles: Option<u64>,
}

pub(super) fn encrypt(args: EncryptArgs, out: &Output) -> Result<()> {
    let padding = args.padding.padding()?;
    out.no_json_with_bytes(&args.output)?;
    if args.padding.padding == PaddingName::Oaep && args.padding.hash == Hash::Sha1 {
        out.warn("use OAEP with SHA-1 only for programs that support no other hash");
    }
    let key = args.key.read()?;
    check_target(&args.output)?;
    check_not_input(&args.output, &[&args.key.key, &args.message])?;
    let message = Zeroizing::new(read_bytes(&args.message, MOST_BLOCK)?);
    let ciphertext = key.encrypt(&padding, &message)?;
    write_bytes(Some(&args.output), &ciphertext, out)?;
    if args.output == Path::new("-") {
        return Ok(());
    }
    let report = Encrypted { ciphertext: &args.output, bytes: ciphertext.len() };
    out.report(&report, || format!("{}: {} bytes\n", args.output.display(), ciphertext.len()))
}

pub(super) fn decrypt(args: DecryptArgs, out: &Output) -> Result<()> {
    let padding = args.padding.padding()?;
    let path = args.output.as_deref().filter(|path| *path != Path::new("-"));
    if let Some(path) = path {
        check_target(path)?;
        check_not_input(path, &[&args.key.key, &args.ciphertext])?;
    }
    let mut key = args.key.read(out)?;
    let ciphertext = read_bytes(&args.ciphertext, MOST_BLOCK)?;
    let counter = attach(&args.key, &mut key, path, out)?;
    let (message, cycles) =
        operate(counter.as_ref(), out, || key.decrypt(&padding, &ciphertext).map_err(in_file(&args.ciphertext)))?;
    if let Some(path) = path {
        write_secret(path, &message, if args.force { Over::File } else { Over::Nothing })?;
    }
    let hex = || message.iter().map(|byte| format!("{byte:02x}")).collect();
    let report = Decrypted { message: path, bytes: message.len(), hex: path.is_none().then(hex), cycles };
    match path {
        Some(path) => out.report(&report, || format!("{}: {}\n", path.display(), counted(message.len(), "byte"))),
        None if out.json() => out.result(&report, String::new),
        // A terminal may show text, but not bytes.
        None => match std::str::from_utf8(&message) {
            Ok(text) => out.text(text),
            Err(_) => out.bytes(&message),
        },
    }
}
