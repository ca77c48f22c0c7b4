//! `solinas rsa keygen` and `solinas rsa public`.

use super::passphrase::{PassphraseArgs, VARIABLE, new_passphrase};
use super::{Key, claim, pair, parallel};
use crate::error::{Result, input, usage};
use crate::files::{
    Over, check_not_input, check_over, check_target, check_writable, same_file, write_bytes, write_secret, write_text,
};
use crate::output::Output;
use crate::progress::watch;
use clap::ValueEnum;
use serde::Serialize;
use solinas_rsa::{self as rsa, KeygenOptions, PrivateFormat, PrivateKey, PublicFormat, PublicKey};
use solinas_schemes::security::SecurityClaim;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

const KEYGEN_EXAMPLES: &str = "\
Examples:
  solinas rsa keygen -o key.pem --public public.pem
  solinas rsa keygen --bits 4096 --format pkcs1 -o key.pem
  solinas rsa keygen --bits 8192 --der -o key.der
  solinas rsa keygen --passphrase -o key.pem --public public.pem

Only you can read the file of the private key. The public exponent is 65537. The time grows with about the fourth power of the bits.";

const PUBLIC_EXAMPLES: &str = "\
Examples:
  solinas rsa public key.pem -o public.pem
  solinas rsa public key.pem
  solinas rsa public public.pem --format pkcs1 --der -o public.der";

#[derive(clap::Args)]
#[command(after_help = KEYGEN_EXAMPLES)]
pub(super) struct KeygenArgs {
    /// Bits of the modulus: a multiple of 64 from 2048 to 16384
    #[arg(long, default_value_t = 3072)]
    bits: usize,
    /// Output file for the private key
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Output file for the public key as SubjectPublicKeyInfo; not written by default
    #[arg(long, value_name = "FILE")]
    public: Option<PathBuf>,
    /// Format of the private key
    #[arg(long, value_name = "FORMAT", default_value = "pkcs8")]
    format: PrivateName,
    /// Write DER instead of PEM
    #[arg(long)]
    der: bool,
    /// Encrypt the private key with a passphrase from the variable SOLINAS_PASSPHRASE, or else from the terminal
    #[arg(long)]
    passphrase: bool,
    /// Encrypt the private key with the passphrase on the first line of this file
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// Allow keys below 2048 bits, down to 512
    #[arg(long)]
    research: bool,
    /// Derive the key from this number, for reproducible tests; such a key protects nothing
    #[arg(long, value_name = "N")]
    insecure_seed: Option<u64>,
    /// Number of threads, of which at most two are used; defaults to the number of processors. The key does not depend on it
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=4096))]
    threads: Option<u16>,
}

#[derive(clap::Args)]
#[command(after_help = PUBLIC_EXAMPLES)]
pub(super) struct PublicArgs {
    /// The private key, or a public key in another format
    file: PathBuf,
    /// Output file for the public key; defaults to standard output
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// Format of the public key
    #[arg(long, value_name = "FORMAT", default_value = "spki")]
    format: PublicName,
    /// Write DER instead of PEM
    #[arg(long)]
    der: bool,
    /// Accept keys below 2048 bits and public exponents below 65537
    #[arg(long)]
    research: bool,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum PrivateName {
    /// BEGIN PRIVATE KEY
    Pkcs8,
    /// BEGIN RSA PRIVATE KEY
    Pkcs1,
}

#[derive(Clone, Copy, ValueEnum)]
enum PublicName {
    /// BEGIN PUBLIC KEY
    Spki,
    /// BEGIN RSA PUBLIC KEY
    Pkcs1,
}

#[derive(Serialize)]
struct Report<'a> {
    private_key: &'a Path,
    public_key: Option<&'a Path>,
    bits: usize,
    passphrase: bool,
    insecure: bool,
    security: SecurityClaim,
}

pub(super) fn keygen(args: KeygenArgs, out: &Output) -> Result<()> {
    let path = &args.output;
    if path == Path::new("-") {
        return Err(usage("a private key cannot be written to standard output", "name a file; ./- is a file named -"));
    }
    let public_path = args.public.as_deref().filter(|public| *public != Path::new("-"));
    if args.public.is_some() && public_path.is_none() && out.json() {
        return Err(usage("--json cannot be combined with a key on standard output", "name a file for the public key"));
    }
    if public_path.is_some_and(|public| same_file(public, path)) {
        return Err(usage("the private and the public key cannot share a file", "name two files"));
    }
    let locked = args.passphrase || args.passphrase_file.is_some();
    if locked && args.format == PrivateName::Pkcs1 {
        return Err(usage(
            "the format PKCS#1 has no encryption with a passphrase",
            "leave out --format, or the passphrase",
        ));
    }
    if path.exists() && !args.force {
        let what = format!("{} already exists, and a replaced key cannot be recovered", path.display());
        return Err(input(what, "write to another file, or --force to replace it"));
    }
    if (512..rsa::MIN_BITS).contains(&args.bits) && !args.research {
        let what = format!("a modulus of {} bits can be factored", args.bits);
        let (least, most) = (rsa::MIN_BITS, rsa::MAX_BITS);
        return Err(input(
            what,
            format!("choose a multiple of 64 from {least} to {most}, or add --research to study it"),
        ));
    }
    let over = if args.force { Over::PrivateKey } else { Over::Nothing };
    check_over(path, over)?;
    check_writable(path)?;
    if let Some(public) = public_path {
        check_target(public)?;
        check_writable(public)?;
    }
    if args.insecure_seed.is_some() {
        out.warn("a key from a fixed seed protects nothing; use it for tests only");
    }
    let file = args.passphrase_file.as_deref();
    let passphrase = locked.then(|| new_passphrase(file, "--passphrase-file", VARIABLE, path)).transpose()?;
    let options = KeygenOptions {
        bits: args.bits,
        research: args.research,
        entropy: args.insecure_seed.into(),
        parallel: parallel(args.threads),
    };
    let key = watch(out, "looking for two primes", |control| Ok(PrivateKey::generate(&options, control)?))?;
    let format = match args.format {
        PrivateName::Pkcs8 => PrivateFormat::Pkcs8,
        PrivateName::Pkcs1 => PrivateFormat::Pkcs1,
    };
    let private = encode(&key, format, args.der, passphrase.as_deref())?;
    match public_path.filter(|public| public.is_file() || !public.exists()) {
        Some(public) => {
            let bytes = encode_public(key.public_key(), PublicFormat::Spki, args.der)?;
            pair::write((path, &private), (public, &bytes), args.force)?;
        }
        None => {
            write_secret(path, &private, over)?;
            if let Some(public) = &args.public {
                write_public(key.public_key(), PublicFormat::Spki, args.der, Some(public), out)?;
            }
        }
    }
    let security = claim(key.public_key(), key.is_insecure());
    let report = Report {
        private_key: path,
        public_key: args.public.as_deref(),
        bits: args.bits,
        passphrase: locked,
        insecure: key.is_insecure(),
        security,
    };
    out.report(&report, || {
        let public = args.public.as_ref().map(|public| format!("{}: public, publish it\n", public.display()));
        let security = match key.is_insecure() {
            true => "0 bits of security, because the key is made from a chosen seed".to_owned(),
            false => {
                let bits = report.security.classical_bits;
                format!("{bits} bits of security by NIST SP 800-57, none against a quantum computer")
            }
        };
        format!(
            "{}: secret, keep it\n{}RSA, {} bits: {security}\n",
            path.display(),
            public.unwrap_or_default(),
            args.bits
        )
    })
}

pub(super) fn public(args: PublicArgs, out: &Output) -> Result<()> {
    let key = Key::read(&args.file, &args.passphrase, args.research)?;
    let key = key.public();
    let format = match args.format {
        PublicName::Spki => PublicFormat::Spki,
        PublicName::Pkcs1 => PublicFormat::Pkcs1,
    };
    let Some(path) = args.output.as_deref().filter(|path| *path != Path::new("-")) else {
        return match (out.json(), args.der) {
            (true, true) => Err(usage("--json cannot be combined with DER on standard output", "name a file with -o")),
            (true, false) => out.result(&serde_json::json!({ "public_key": key.to_pem(format)? }), String::new),
            (false, _) => write_public(key, format, args.der, None, out),
        };
    };
    check_target(path)?;
    check_not_input(path, &[&args.file])?;
    write_public(key, format, args.der, Some(path), out)?;
    let report = serde_json::json!({ "output": path, "bits": key.bits() });
    out.report(&report, || format!("{}: public key, {} bits\n", path.display(), key.bits()))
}

/// The bytes of a private key's file. If a passphrase is given, the format is encrypted PKCS#8.
pub(super) fn encode(
    key: &PrivateKey,
    format: PrivateFormat,
    der: bool,
    passphrase: Option<&Vec<u8>>,
) -> Result<Zeroizing<Vec<u8>>> {
    let bytes = |mut text: Zeroizing<String>| Zeroizing::new(std::mem::take(&mut *text).into_bytes());
    Ok(match (passphrase, der) {
        (Some(passphrase), true) => Zeroizing::new(key.to_encrypted_der(passphrase)?),
        (Some(passphrase), false) => bytes(key.to_encrypted_pem(passphrase)?),
        (None, true) => key.to_der(format)?,
        (None, false) => bytes(key.to_pem(format)?),
    })
}

fn write_public(key: &PublicKey, format: PublicFormat, der: bool, path: Option<&Path>, out: &Output) -> Result<()> {
    let bytes = encode_public(key, format, der)?;
    match std::str::from_utf8(&bytes) {
        Ok(pem) if !der => write_text(path, pem, out),
        _ => write_bytes(path, &bytes, out),
    }
}

fn encode_public(key: &PublicKey, format: PublicFormat, der: bool) -> Result<Vec<u8>> {
    Ok(if der { key.to_der(format)? } else { key.to_pem(format)?.into_bytes() })
}
