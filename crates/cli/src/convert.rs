//! `solinas convert`: rewrites keys and ciphertexts of earlier versions in the present form.

use crate::error::{Result, usage};
use crate::files::{check_ciphertext_target, check_not_input, check_writable};
use crate::output::Output;
use crate::progress::watch;
use serde::Serialize;
use solinas_runtime::{ClientKey, Conversion, convert};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  solinas convert keys/server.key a.ct
  solinas convert --key keys/client.key keys/server.key
  solinas convert old.ct -o new.ct

The command replaces each file when its new form is complete, or verifies it and leaves it as it is if it has the present form. The values and the key pair stay the same.
Server keys of scheme tfhe from before the section `packing` compute as before, but cannot pack compact results. With the client key, the command adds the section.
`solinas inspect` says what a key can do.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The keys and ciphertexts
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The client key of the files, which adds missing sections to a server key
    #[arg(long, short, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Use a client key that other users of this machine can read
    #[arg(long, requires = "key")]
    allow_exposed_key: bool,
    /// Write here instead of replacing the only file
    #[arg(long, short)]
    output: Option<PathBuf>,
}

/// A file, and what happened to it.
#[derive(Serialize)]
struct Report<'a> {
    file: &'a Path,
    kind: String,
    written_by: String,
    /// Whether the form of the file changed. If not, an output is a copy.
    converted: bool,
    #[serde(skip)]
    copied: bool,
    added: Option<&'static str>,
    lacks: Option<&'static str>,
}

impl<'a> Report<'a> {
    fn new(file: &'a Path, done: Conversion) -> Self {
        let Conversion { kind, writer, added, lacks, present, written, .. } = done;
        Self {
            file,
            kind: kind.to_string(),
            written_by: writer,
            converted: !present,
            copied: present && written,
            added,
            lacks,
        }
    }

    fn line(&self) -> String {
        let state = match (self.converted, self.added) {
            (true, Some(section)) => format!("now in the present form, section {section} added"),
            (true, None) => format!("now in the present form, written by {} before", self.written_by),
            (false, _) if self.copied => "a copy of a file that was in the present form already".to_owned(),
            (false, _) => "was in the present form already".to_owned(),
        };
        let lacks = self.lacks.map_or_else(String::new, |section| {
            format!("; it has no section {section}, which `--key client.key` adds")
        });
        format!("{}: {}, {state}{lacks}\n", self.file.display(), self.kind)
    }
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    if let Some(output) = &args.output {
        if args.files.len() > 1 {
            return Err(usage(
                "-o takes one file, not several",
                "leave -o out to replace the files, or convert one by one",
            ));
        }
        let inputs: Vec<&Path> = args.files.iter().chain(&args.key).map(PathBuf::as_path).collect();
        check_not_input(output, &inputs)?;
        check_ciphertext_target(output)?;
    }
    // A file that cannot be read is reported when it is read.
    let replaced = args.files.iter().filter(|file| args.output.is_none() && file.is_file());
    replaced.into_iter().try_for_each(|file| check_writable(file))?;
    let load = if args.allow_exposed_key { ClientKey::load_exposed } else { ClientKey::load };
    let client = args.key.as_deref().map(load).transpose()?;
    let mut reports = Vec::new();
    for file in &args.files {
        let label = format!("converting {}", file.display());
        let done = watch(out, &label, |_| Ok(convert(file, client.as_ref(), args.output.as_deref())?))?;
        reports.push(Report::new(args.output.as_deref().unwrap_or(file), done));
    }
    out.report(&reports, || reports.iter().map(Report::line).collect())
}
