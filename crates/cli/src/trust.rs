//! `solinas trust`: names for the fingerprints of other people's keys.

use crate::error::{Error, Result, input, usage};
use crate::files::{read_text, write_private_text};
use crate::output::Output;
use etcetera::BaseStrategy;
use serde::Serialize;
use solinas_engine::Fingerprint;
use std::collections::BTreeMap;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  solinas trust add auctioneer 7QK3-0VJH-2M5E-XW8R-N4TD-ZB16-P9YC-AG3F
  solinas encrypt --key public.key --for auctioneer --type u16 1375 -o bid.ct
  solinas trust list

Ask the owner of a key for its fingerprint on another way than the one on which the key came: on the phone, or on paper. The owner prints it with \
`solinas inspect --fingerprint public.key`. The names are stored in the file trusted-keys of your configuration folder, or where SOLINAS_TRUST says.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Store a fingerprint under a name
    Add {
        /// The name: letters, digits, and . _ @ -
        #[arg(value_parser = parse_name)]
        name: String,
        /// The fingerprint: 8 groups of 4 characters, or 64 hexadecimal digits
        fingerprint: Fingerprint,
        /// Replace another fingerprint of the name
        #[arg(long)]
        force: bool,
    },
    /// Print names and fingerprints
    List,
    /// Remove a name
    Remove {
        /// The name
        name: String,
    },
}

fn parse_name(name: &str) -> std::result::Result<String, String> {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '@' | '-');
    match !name.is_empty() && name.len() <= 100 && name.chars().all(allowed) {
        true => Ok(name.to_owned()),
        false => Err("a name has 1 to 100 letters, digits, dots, dashes, underscores or @".to_owned()),
    }
}

/// A name and its fingerprint.
#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    fingerprint: String,
}

/// The fingerprint of a name.
///
/// # Errors
/// The name is unknown, or the file of names cannot be read.
pub(crate) fn fingerprint(name: &str) -> Result<Fingerprint> {
    let known = read()?;
    known.get(name).copied().ok_or_else(|| {
        let names = known.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let names = if names.is_empty() { "none is stored".to_owned() } else { format!("the names are {names}") };
        let what = format!("there is no trusted key {name:?}: {names}");
        input(what, "store it with `solinas trust add NAME FINGERPRINT`")
    })
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    let mut known = read()?;
    match args.verb {
        Verb::List => {
            let entry = |(name, fingerprint): (&'_ String, &Fingerprint)| (name.clone(), fingerprint.to_string());
            let all: Vec<(String, String)> = known.iter().map(entry).collect();
            let entries = all.iter().map(|(name, fingerprint)| Entry { name, fingerprint: fingerprint.clone() });
            let entries: Vec<Entry<'_>> = entries.collect();
            out.result(&entries, || lines(&known))
        }
        Verb::Add { name, fingerprint, force } => {
            if let Some(old) = known.get(&name).filter(|old| **old != fingerprint && !force) {
                let what = format!("{name} has the fingerprint {old} already");
                return Err(usage(what, "ask the owner whether the key was replaced, then give --force"));
            }
            known.insert(name.clone(), fingerprint);
            write(&known, out)?;
            let entry = Entry { name: &name, fingerprint: fingerprint.to_string() };
            out.report(&entry, || format!("{name}: {fingerprint}\n"))
        }
        Verb::Remove { name } => {
            let Some(removed) = known.remove(&name) else {
                return Err(input(format!("there is no trusted key {name:?}"), "`solinas trust list` shows the names"));
            };
            write(&known, out)?;
            let entry = Entry { name: &name, fingerprint: removed.to_string() };
            out.report(&entry, || format!("removed {name}\n"))
        }
    }
}

fn lines(known: &BTreeMap<String, Fingerprint>) -> String {
    known.iter().map(|(name, fingerprint)| format!("{name} {fingerprint}\n")).collect()
}

/// The file of names.
fn file() -> Result<PathBuf> {
    let named = std::env::var_os("SOLINAS_TRUST").filter(|path| !path.is_empty()).map(PathBuf::from);
    let default = || {
        Some(etcetera::base_strategy::choose_native_strategy().ok()?.config_dir().join("solinas").join("trusted-keys"))
    };
    let none = || input("there is no configuration folder", "set SOLINAS_TRUST to the file of trusted names");
    named.or_else(default).ok_or_else(none)
}

fn read() -> Result<BTreeMap<String, Fingerprint>> {
    let path = file()?;
    if !path.try_exists().map_err(|e| Error::io("read", &path, e))? {
        return Ok(BTreeMap::new());
    }
    let mut known = BTreeMap::new();
    for (number, line) in read_text(&path)?.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let bad = || {
            let what = format!("line {} of {} is no name and fingerprint", number + 1, path.display());
            input(what, "correct it, or remove it")
        };
        let (name, fingerprint) = line.split_once(char::is_whitespace).ok_or_else(bad)?;
        known.insert(name.to_owned(), fingerprint.trim().parse().map_err(|_| bad())?);
    }
    Ok(known)
}

fn write(known: &BTreeMap<String, Fingerprint>, out: &Output) -> Result<()> {
    let path = file()?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|e| Error::io("make the folder", folder, e))?;
    }
    write_private_text(Some(&path), &lines(known), out)
}
