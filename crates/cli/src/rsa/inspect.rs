//! `solinas rsa inspect`: what keys are.

use super::at;
use crate::error::Result;
use crate::files::read_bytes;
use crate::output::Output;
use serde::Serialize;
use solinas_schemes::rsa::{self, PrivateKey, PublicKey};
use solinas_schemes::security::{SecurityClaim, Status};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

const EXAMPLES: &str = "\
Examples:
  solinas rsa inspect key.pem
  solinas rsa inspect public.pem key.pem --json

Of a private key, all numbers are checked against each other and the primes by Miller and Rabin; nothing secret is shown. Keys of any size
are shown, those that are too short with a word on it. The fingerprint is SHA-256 of the public key as SubjectPublicKeyInfo in DER.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct InspectArgs {
    /// The keys
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

#[derive(Serialize)]
struct Summary<'a> {
    file: &'a Path,
    kind: &'static str,
    bits: usize,
    exponent: String,
    modulus: String,
    fingerprint: String,
    insecure: bool,
    security: SecurityClaim,
}

pub(super) fn run(args: InspectArgs, out: &Output) -> Result<()> {
    let all = args.files.iter().map(|file| summary(file)).collect::<Result<Vec<_>>>()?;
    out.result(&all, || all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

fn summary(file: &Path) -> Result<Summary<'_>> {
    let bytes = Zeroizing::new(read_bytes(file, super::MOST_KEY)?);
    let (key, kind, insecure) = match PublicKey::read(&bytes, true) {
        Err(rsa::Error::PrivateKeyGiven) => {
            let key = PrivateKey::read(&bytes, true).map_err(at(file))?;
            key.check_primes().map_err(at(file))?;
            (key.public_key().clone(), "private", key.is_insecure())
        }
        key => (key.map_err(at(file))?, "public", false),
    };
    Ok(Summary {
        file,
        kind,
        bits: key.bits(),
        exponent: key.exponent().to_string(),
        modulus: key.modulus().to_hex(),
        fingerprint: key.fingerprint()?.iter().map(|byte| format!("{byte:02x}")).collect(),
        insecure,
        security: key.security(),
    })
}

impl std::fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file, kind, bits, exponent, modulus, fingerprint, insecure, security } = self;
        writeln!(f, "{}: RSA {kind} key, {bits} bits", file.display())?;
        writeln!(f, "  exponent     {exponent}")?;
        writeln!(f, "  modulus      {}..{}", &modulus[..16], &modulus[modulus.len() - 16..])?;
        writeln!(f, "  fingerprint  {fingerprint}")?;
        writeln!(f, "  security     {} bits ({})", security.classical_bits, security.estimator)?;
        match &security.status {
            Status::Recommended => {}
            Status::Compatibility { why } => writeln!(f, "  note         {why}")?,
            Status::ResearchOnly { why } => writeln!(f, "  note         for research only: {why}")?,
        }
        if *kind == "private" {
            writeln!(f, "  checked      numbers fit each other, primes pass")?;
        }
        if *insecure {
            writeln!(f, "  insecure     made from a chosen seed, for tests only")?;
        }
        Ok(())
    }
}
