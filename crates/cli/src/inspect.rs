//! `solinas inspect`: describes a file and verifies it.

use crate::error::{Error, Result, input};
use crate::output::Output;
use serde::Serialize;
use solinas_engine::{Ciphertext, Condition};
use solinas_formats::{KeyId, Kind, Summary, digest_of_sections};
use std::fmt;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  solinas inspect c.ct
  solinas inspect keys/*.key --json
  solinas inspect --fingerprint keys/public.key

The command describes keys, ciphertexts, plans, paused runs and matrices of scheme lwe, and verifies every byte of them. \
For a key it says what the key can do. \
The security of the parameters is what this version of the command knows, not what the file says.
The fingerprint of a key recognises it: compare it with the one that its owner tells you.
For a ciphertext of schemes gh, ntru, bgv and lwe it shows the remaining products and the noise margin. For a secret key it shows nothing secret.
The exit code is 1 if a file is damaged or cannot be read. The other files are described nevertheless.
For circuits (Bristol, BLIF, Yosys JSON), see `solinas circuit stats`.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The files
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Print the fingerprints of keys alone
    #[arg(long)]
    fingerprint: bool,
    /// Print the digest of all sections, which tells two server keys of one key pair apart
    #[arg(long, conflicts_with = "fingerprint")]
    deep: bool,
}

/// A file, and the remaining budget of a ciphertext.
#[derive(Serialize)]
struct Inspected {
    #[serde(flatten)]
    summary: Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<Condition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<KeyId>,
}

impl Inspected {
    fn new(summary: Summary, deep: bool) -> Result<Self> {
        let whole = summary.kind == Kind::Ciphertext && summary.is_intact();
        // If this version does not know the scheme, there is only the summary.
        let condition = whole.then(|| Ciphertext::load(&summary.path).ok()?.condition()).flatten();
        let deep = deep && !summary.kind.is_secret() && summary.is_intact();
        let digest = deep.then(|| digest_of_sections(&summary.path)).transpose()?;
        Ok(Self { summary, condition, digest })
    }
}

impl fmt::Display for Inspected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.summary.fmt(f)?;
        if let Some(digest) = self.digest {
            writeln!(f, "digest of all sections: {digest}")?;
        }
        let Some(Condition { margin, products, usable }) = self.condition else { return Ok(()) };
        let can = if usable { "can be computed on" } else { "can no longer be computed on" };
        let left = products.map_or_else(String::new, |products| format!("products in a row left: {products}, "));
        writeln!(f, "{left}noise: {margin:.2} bits of margin, {can}")
    }
}

/// The fingerprint of a key.
#[derive(Serialize)]
struct Recognised {
    file: PathBuf,
    fingerprint: String,
    /// The whole hash, of which the fingerprint is the beginning.
    id: KeyId,
}

impl Recognised {
    fn new(summary: Summary) -> Result<Self> {
        let file = summary.path;
        let Some(identity) = summary.identity else {
            let what = format!("{} is a {} and has no fingerprint", file.display(), summary.kind);
            return Err(input(what, "name the file of a key"));
        };
        match (identity.fingerprint, identity.id_version_2) {
            (Some(fingerprint), Some(id)) => Ok(Self { file, fingerprint, id }),
            _ => {
                let what = format!("{} is of an early development version and has no fingerprint", file.display());
                Err(input(what, "name public.key or client.key of the same key pair"))
            }
        }
    }
}

fn fingerprints(files: &[PathBuf], out: &Output) -> Result<()> {
    let mut all = Vec::new();
    for file in files {
        let summary = solinas_formats::inspect(file)?;
        check(&summary)?;
        all.push(Recognised::new(summary)?);
    }
    out.result(&all, || match &all[..] {
        [one] => format!("{}\n", one.fingerprint),
        _ => all.iter().map(|one| format!("{}: {}\n", one.file.display(), one.fingerprint)).collect(),
    })
}

/// # Errors
/// The file is damaged, or not the key that it names.
fn check(summary: &Summary) -> Result<()> {
    let file = summary.path.display();
    if let Some(reason) = summary.forged() {
        let what = format!("{file} is not the key that it names: {reason}");
        return Err(input(what, "ask its owner for the key again, and compare the fingerprints"));
    }
    match summary.is_intact() {
        true => Ok(()),
        false => Err(input(format!("{file} is damaged"), "copy it again from its source, or generate it anew")),
    }
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    if args.fingerprint {
        return fingerprints(&args.files, out);
    }
    let (mut all, mut failed) = (Vec::new(), Vec::<Error>::new());
    for file in &args.files {
        match solinas_formats::inspect(file) {
            Ok(summary) => {
                failed.extend(check(&summary).err());
                all.push(Inspected::new(summary, args.deep)?);
            }
            Err(error) => failed.push(error.into()),
        }
    }
    if !all.is_empty() {
        out.result(&all, || all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    }
    // Bad files are reported after the descriptions of the others. The last one ends the command.
    let Some(last) = failed.pop() else { return Ok(()) };
    for error in &failed {
        // The exit code is that of the last one.
        let _ = error.report(out.json());
    }
    Err(last)
}
