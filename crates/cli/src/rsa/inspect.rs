//! `solinas rsa inspect`: describes keys and checks them.

use super::passphrase::PassphraseArgs;
use super::{Key, claim, in_file};
use crate::error::Result;
use crate::output::Output;
use serde::Serialize;
use solinas_schemes::security::{SecurityClaim, Status};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  solinas rsa inspect key.pem
  solinas rsa inspect public.pem key.pem --json

For a private key, the command checks that its numbers are consistent, and tests the primes by Miller and Rabin. It reports primes that are close to each other or \
differ in length. It shows nothing secret. It shows keys of any size, with a note on keys that are too short. \
The fingerprint is SHA-256 of the public key as SubjectPublicKeyInfo in DER.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct InspectArgs {
    /// The keys
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

#[derive(Serialize)]
struct Summary<'a> {
    file: &'a Path,
    kind: &'static str,
    bits: usize,
    exponent: String,
    modulus: String,
    fingerprint: String,
    /// Operations that the key allows.
    key_use: String,
    insecure: bool,
    /// Weakness of a private key's primes.
    #[serde(skip_serializing_if = "Option::is_none")]
    weak_primes: Option<&'static str>,
    security: SecurityClaim,
}

pub(super) fn run(args: InspectArgs, out: &Output) -> Result<()> {
    let all = args.files.iter().map(|file| summary(file, &args.passphrase)).collect::<Result<Vec<_>>>()?;
    out.result(&all, || all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

fn summary<'a>(file: &'a Path, passphrase: &PassphraseArgs) -> Result<Summary<'a>> {
    let found = Key::read(file, passphrase, true)?;
    let (kind, insecure, weak_primes) = match &found {
        Key::Public(_) => ("public", false, None),
        Key::Private(key) => {
            key.check_primes().map_err(in_file(file))?;
            ("private", key.is_insecure(), key.weak_primes())
        }
    };
    let key = found.public();
    Ok(Summary {
        file,
        kind,
        bits: key.bits(),
        exponent: key.exponent().to_string(),
        modulus: key.modulus().to_hex(),
        fingerprint: key.fingerprint()?.iter().map(|byte| format!("{byte:02x}")).collect(),
        key_use: key.key_use().to_string(),
        insecure,
        weak_primes,
        security: claim(key, insecure),
    })
}

impl std::fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file, kind, bits, exponent, modulus, fingerprint, key_use, insecure, weak_primes, security } = self;
        writeln!(f, "{}: RSA {kind} key, {bits} bits", file.display())?;
        writeln!(f, "  exponent     {exponent}")?;
        writeln!(f, "  modulus      {}..{}", &modulus[..16], &modulus[modulus.len() - 16..])?;
        writeln!(f, "  fingerprint  {fingerprint}")?;
        writeln!(f, "  use          {key_use}")?;
        writeln!(f, "  security     {} bits ({})", security.classical_bits, security.estimator)?;
        match &security.status {
            Status::Recommended => {}
            Status::Limited { why } | Status::Compatibility { why } => writeln!(f, "  note         {why}")?,
            Status::ResearchOnly { why } => writeln!(f, "  note         for research only: {why}")?,
        }
        if let Some(why) = weak_primes {
            writeln!(f, "  weak         {why}; generate another key")?;
        }
        if *kind == "private" {
            writeln!(f, "  checked      numbers are consistent, primes pass")?;
        }
        if *insecure {
            writeln!(f, "  insecure     made from a chosen seed, for tests only")?;
        }
        Ok(())
    }
}
