//! `solinas rsa sign` and `solinas rsa verify`.

use super::{HashName, MOST_BLOCK, MOST_MESSAGE, PrivateKeyArgs, PublicKeyArgs, at};
use crate::error::{Result, usage};
use crate::files::{check_not_input, check_target, read_bytes, write_bytes};
use crate::output::Output;
use clap::ValueEnum;
use serde::Serialize;
use solinas_schemes::rsa::{Error, SignaturePadding};
use std::path::{Path, PathBuf};

const SIGN_EXAMPLES: &str = "\
Examples:
  solinas rsa sign --key key.pem document.pdf -o document.sig
  solinas rsa sign --key key.pem --padding pkcs1 --hash sha512 document.pdf -o document.sig

The file is hashed as it is, and the signature is bytes as other programs write them.";

const VERIFY_EXAMPLES: &str = "\
Examples:
  solinas rsa verify --key public.pem --signature document.sig document.pdf
  solinas rsa verify --key public.pem --padding pkcs1 --hash sha512 --signature document.sig document.pdf

The exit code is 0 if the signature is valid, and 1 if not; --json says so in `valid`, too.";

#[derive(clap::Args)]
struct PaddingArgs {
    /// The padding
    #[arg(long, value_name = "PADDING", default_value = "pss")]
    padding: PaddingName,
    /// The hash of the message, and of PSS
    #[arg(long, value_name = "HASH", default_value = "sha256")]
    hash: HashName,
    /// Bytes of PSS's salt; by default as many as the hash has to sign, and any number to verify
    #[arg(long, value_name = "BYTES")]
    salt_length: Option<usize>,
}

#[derive(Clone, Copy, ValueEnum)]
enum PaddingName {
    /// PSS: the one to take
    Pss,
    /// PKCS#1 v1.5: deterministic, widespread
    Pkcs1,
}

impl PaddingArgs {
    fn padding(&self) -> Result<SignaturePadding> {
        let hash = self.hash.into();
        match self.padding {
            PaddingName::Pss => Ok(SignaturePadding::Pss { hash, salt: self.salt_length }),
            PaddingName::Pkcs1 if self.salt_length.is_some() => {
                Err(usage("the padding pkcs1 has no salt", "leave out --salt-length"))
            }
            PaddingName::Pkcs1 => Ok(SignaturePadding::Pkcs1 { hash }),
        }
    }
}

#[derive(clap::Args)]
#[command(after_help = SIGN_EXAMPLES)]
pub(super) struct SignArgs {
    #[command(flatten)]
    key: PrivateKeyArgs,
    #[command(flatten)]
    padding: PaddingArgs,
    /// What to sign; - is standard input
    message: PathBuf,
    /// Where to write the signature; - is standard output
    #[arg(long, short)]
    output: PathBuf,
}

#[derive(clap::Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    key: PublicKeyArgs,
    #[command(flatten)]
    padding: PaddingArgs,
    /// The signature
    #[arg(long, short, value_name = "FILE")]
    signature: PathBuf,
    /// What was signed; - is standard input
    message: PathBuf,
}

#[derive(Serialize)]
struct Signed<'a> {
    signature: &'a Path,
    bytes: usize,
}

#[derive(Serialize)]
struct Verified {
    valid: bool,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

pub(super) fn sign(args: SignArgs, out: &Output) -> Result<()> {
    let padding = args.padding.padding()?;
    out.no_json_with_bytes(&args.output)?;
    check_target(&args.output)?;
    check_not_input(&args.output, &[&args.key.key, &args.message])?;
    let key = args.key.read(out)?;
    let signature = key.sign(padding, &read_bytes(&args.message, MOST_MESSAGE)?)?;
    write_bytes(Some(&args.output), &signature, out)?;
    if args.output == Path::new("-") {
        return Ok(());
    }
    let report = Signed { signature: &args.output, bytes: signature.len() };
    out.report(&report, || format!("{}: {} bytes\n", args.output.display(), signature.len()))
}

pub(super) fn verify(args: VerifyArgs, out: &Output) -> Result<()> {
    let (key, padding) = (args.key.read()?, args.padding.padding()?);
    if args.signature == Path::new("-") && args.message == Path::new("-") {
        return Err(usage("signature and message cannot both be standard input", "name a file for one"));
    }
    let signature = read_bytes(&args.signature, MOST_BLOCK)?;
    let message = read_bytes(&args.message, MOST_MESSAGE)?;
    match key.verify(padding, &message, &signature) {
        Ok(()) => out.report(&Verified { valid: true, why: None }, || "valid\n".to_owned()),
        Err(error) => {
            if out.json() && matches!(error, Error::Verification | Error::Length { .. } | Error::Range { .. }) {
                out.result(&Verified { valid: false, why: Some(error.to_string()) }, String::new)?;
            }
            Err(at(&args.signature)(error))
        }
    }
}
