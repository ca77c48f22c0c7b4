//! `solinas rsa sign` and `solinas rsa verify`.

use super::rtl::{attach, operate};
use super::{MOST_BLOCK, MOST_MESSAGE, PrivateKeyArgs, PublicKeyArgs, hash_parser, in_file, signature_hash_parser};
use crate::error::{Result, usage};
use crate::files::{check_not_input, check_target, read_bytes, write_bytes};
use crate::output::Output;
use clap::ValueEnum;
use serde::Serialize;
use solinas_rsa::{Error, Hash, KeyUse, SignaturePadding};
use std::path::{Path, PathBuf};

const SIGN_EXAMPLES: &str = "\
Examples:
  solinas rsa sign --key key.pem document.pdf -o document.sig
  solinas rsa sign --key key.pem --padding pkcs1 --hash sha512 document.pdf -o document.sig
  solinas rsa sign --key key.pem --hash sha3-256 document.pdf -o document.sig
  solinas rsa sign --key key.pem document.pdf -o document.sig --device rtl

The command hashes the file unchanged. The signature is raw bytes, which other programs can verify.";

const VERIFY_EXAMPLES: &str = "\
Examples:
  solinas rsa verify --key public.pem --signature document.sig document.pdf
  solinas rsa verify --key public.pem --padding pkcs1 --hash sha512 --signature d.sig d.pdf

The exit code is 0 if the signature is valid, and 1 if not. With --json, the field `valid` states the same.";

#[derive(clap::Args)]
struct PaddingArgs {
    /// The padding
    #[arg(long, value_name = "PADDING", default_value = "pss")]
    padding: PaddingName,
    /// The hash of the message and of PSS; defaults to the hash to which the key is restricted, else sha256
    #[arg(long, value_name = "HASH", value_parser = signature_hash_parser())]
    hash: Option<Hash>,
    /// The hash of PSS's masks; defaults to --hash
    #[arg(long, value_name = "HASH", value_parser = hash_parser())]
    mgf_hash: Option<Hash>,
    /// Length of PSS's salt in bytes; defaults to the length that the key demands, else to that of the hash (sign) or to any length (verify)
    #[arg(long, value_name = "BYTES")]
    salt_length: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum PaddingName {
    /// PSS, recommended
    Pss,
    /// PKCS#1 v1.5, deterministic and widespread
    Pkcs1,
}

impl PaddingArgs {
    fn check(&self) -> Result<()> {
        if self.padding == PaddingName::Pkcs1 && (self.salt_length.is_some() || self.mgf_hash.is_some()) {
            return Err(usage("padding pkcs1 has no salt and no masks", "leave out --salt-length and --mgf-hash"));
        }
        Ok(())
    }

    /// The padding for a key of that use. The key decides options that are not given.
    fn padding(&self, key_use: KeyUse) -> SignaturePadding {
        let own = key_use.signature_padding();
        let (hash, salt) = (self.hash.unwrap_or(own.hash()), self.salt_length);
        match (self.padding, own) {
            (PaddingName::Pkcs1, _) => SignaturePadding::Pkcs1 { hash },
            (PaddingName::Pss, SignaturePadding::Pss { mgf, .. }) if self.hash.is_none() => {
                SignaturePadding::Pss { hash, mgf: self.mgf_hash.or(mgf), salt }
            }
            (PaddingName::Pss, _) => SignaturePadding::Pss { hash, mgf: self.mgf_hash, salt },
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
    /// The file to sign; - is standard input
    message: PathBuf,
    /// Output file for the signature; - is standard output
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
    /// The signed file; - is standard input
    message: PathBuf,
}

#[derive(Serialize)]
struct Signed<'a> {
    signature: &'a Path,
    bytes: usize,
    /// Cycles of the simulated circuit, on the device rtl.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles: Option<u64>,
}

#[derive(Serialize)]
struct Verified {
    valid: bool,
    /// The reason, if it is not valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

pub(super) fn sign(args: SignArgs, out: &Output) -> Result<()> {
    args.padding.check()?;
    out.no_json_with_bytes(&args.output)?;
    check_target(&args.output)?;
    check_not_input(&args.output, &[&args.key.key, &args.message])?;
    let mut key = args.key.read(out)?;
    let message = read_bytes(&args.message, MOST_MESSAGE)?;
    let target = Some(&*args.output).filter(|path| *path != Path::new("-"));
    let counter = attach(&args.key, &mut key, target, out)?;
    let padding = args.padding.padding(key.public_key().key_use());
    let (signature, cycles) = operate(counter.as_ref(), out, || Ok(key.sign(padding, &message)?))?;
    write_bytes(Some(&args.output), &signature, out)?;
    if args.output == Path::new("-") {
        return Ok(());
    }
    let report = Signed { signature: &args.output, bytes: signature.len(), cycles };
    out.report(&report, || format!("{}: {} bytes\n", args.output.display(), signature.len()))
}

pub(super) fn verify(args: VerifyArgs, out: &Output) -> Result<()> {
    args.padding.check()?;
    // The exit code 1 says that the signature is wrong, and nothing else does.
    let key = args.key.read().map_err(|error| error.as_usage())?;
    let padding = args.padding.padding(key.key_use());
    if args.signature == Path::new("-") && args.message == Path::new("-") {
        return Err(usage(
            "the signature and the message cannot both be standard input",
            "name a file for one of them",
        ));
    }
    let signature = read_bytes(&args.signature, MOST_BLOCK).map_err(|error| error.as_usage())?;
    let message = read_bytes(&args.message, MOST_MESSAGE).map_err(|error| error.as_usage())?;
    match key.verify(padding, &message, &signature) {
        Ok(()) => out.report(&Verified { valid: true, why: None }, || "valid\n".to_owned()),
        Err(error @ (Error::Verification | Error::Length { .. } | Error::Range { .. })) => {
            if out.json() {
                out.result(&Verified { valid: false, why: Some(error.to_string()) }, String::new)?;
            }
            Err(in_file(&args.signature)(error))
        }
        Err(error) => Err(in_file(&args.signature)(error).as_usage()),
    }
}
