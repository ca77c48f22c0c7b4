//! `solinas completions` and `solinas man`: completion scripts for shells and manual pages.

use crate::error::{Error, Result, usage};
use crate::files::write_bytes;
use crate::names::{STATES, TYPES};
use crate::output::Output;
use clap::builder::{PossibleValue, PossibleValuesParser, ValueHint};
use clap::{Arg, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
#[cfg(feature = "service")]
use solinas_server::Scope;
use std::path::{Path, PathBuf};

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  mkdir -p ~/.local/share/bash-completion/completions
  solinas completions bash > ~/.local/share/bash-completion/completions/solinas
  mkdir -p ~/.zfunc
  solinas completions zsh > ~/.zfunc/_solinas
  mkdir -p ~/.config/fish/completions
  solinas completions fish > ~/.config/fish/completions/solinas.fish
  mkdir -p ~/.config/elvish/lib
  solinas completions elvish > ~/.config/elvish/lib/solinas.elv
  solinas completions powershell >> $PROFILE

The script completes verbs, options and their values in new shells. For zsh, ~/.zfunc must be in fpath before compinit runs. For elvish, ~/.config/elvish/rc.elv must contain the line 'use solinas'. For PowerShell, run the last line within PowerShell. In bash, for this shell alone: source <(solinas completions bash).";

const MAN_EXAMPLES: &str = "\
Examples:
  solinas man --out ~/.local/share/man/man1
  man solinas-rsa-keygen
  solinas man | man -l -

With --out, the command writes one page for each verb, such as solinas-rsa-keygen.1. Without it, the command prints the page of `solinas` itself.";

#[derive(clap::Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

#[derive(clap::Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct ManArgs {
    /// Folder for the pages of all verbs; created if needed
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints the script of a shell for `command`.
pub(crate) fn completions(args: CompletionsArgs, command: Command, out: &Output) -> Result<()> {
    no_json(out, "leave out --json")?;
    let mut command = completed(command);
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "solinas", &mut script);
    out.text(&String::from_utf8_lossy(&script))
}

/// The command with what scripts offer for each value: names that are known, files where a value is a file, and nothing elsewhere. Other values are valid too,
/// such as a type of another width, so the parser does not know these names.
fn completed(command: Command) -> Command {
    let verb = command.get_name().to_owned();
    let command = command.mut_subcommands(completed);
    command.mut_args(|arg| {
        if !arg.get_action().takes_values() || !arg.get_possible_values().is_empty() {
            return arg;
        }
        match known(&verb, &arg) {
            // The parser keeps names for the life of the program.
            Some(names) => {
                let names = names.into_iter().map(|name| PossibleValue::new(&*name.leak()));
                arg.value_parser(PossibleValuesParser::new(names))
            }
            None if arg.get_value_hint() != ValueHint::Unknown => arg,
            None => {
                let hint = hint(&arg);
                arg.value_hint(hint)
            }
        }
    })
}

/// The names that a value has, or the most usual ones.
fn known(verb: &str, arg: &Arg) -> Option<Vec<String>> {
    let owned = |names: &[&str]| names.iter().copied().map(str::to_owned).collect::<Vec<_>>();
    let names = match (verb, arg.get_id().as_str()) {
        (_, "scheme") => solinas_engine::schemes().map(|scheme| scheme.name().to_owned()).collect(),
        (_, "params" | "gates" | "integers") => {
            let sets = solinas_engine::param_names().into_iter();
            let mut names: Vec<String> = sets.chain(owned(&["gates", "integers"])).collect();
            names.sort();
            names.dedup();
            names
        }
        (_, "ty") => owned(&TYPES),
        (_, "operation") => {
            let casts = TYPES.iter().map(|ty| format!("to_{ty}"));
            crate::eval::operations().map(str::to_owned).filter(|name| name != "to_TYPE").chain(casts).collect()
        }
        (_, "device") => owned(&["auto", "cpu", "cuda:0", "cuda:all", "emulated", "rtl"]),
        (_, "model") => owned(&["fewest", "shallow", "threads-4"]),
        (_, "log") => owned(&["off", "error", "warn", "info"]),
        (_, "state") => owned(&STATES),
        #[cfg(feature = "service")]
        (_, "scope") => Scope::ALL.iter().map(|scope| scope.name().to_owned()).collect(),
        #[cfg(feature = "paper")]
        ("paper", "tables") => solinas_paper::list().into_iter().map(|table| table.name.to_string()).collect(),
        _ => return None,
    };
    Some(names)
}

/// What the other values are. An operand is a file or a number, and the shell knows the files.
fn hint(arg: &Arg) -> ValueHint {
    match arg.get_id().as_str() {
        "operands" | "a" | "b" | "base" | "exponent" | "modulus" => ValueHint::FilePath,
        "host" => ValueHint::Hostname,
        "server" => ValueHint::Url,
        _ => ValueHint::Other,
    }
}

/// Prints or writes the pages of `command`.
pub(crate) fn man(args: ManArgs, command: Command, out: &Output) -> Result<()> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let Some(folder) = args.out else {
        no_json(out, "name a folder with --out")?;
        return out.text(&String::from_utf8_lossy(&page(&command)?));
    };
    std::fs::create_dir_all(&folder).map_err(|e| Error::io("make the folder", &folder, e))?;
    let mut files = Vec::new();
    write_pages(&command, &folder, out, &mut files)?;
    out.report(&serde_json::json!({ "files": files }), || format!("{}: {} pages\n", folder.display(), files.len()))
}

fn no_json(out: &Output, help: &str) -> Result<()> {
    if out.json() { Err(usage("this output has no JSON form", help)) } else { Ok(()) }
}

/// Writes the pages of a command and of all its subcommands.
fn write_pages(command: &Command, folder: &Path, out: &Output, files: &mut Vec<PathBuf>) -> Result<()> {
    let path = folder.join(Man::new(command.clone()).get_filename());
    write_bytes(Some(&path), &page(command)?, out)?;
    files.push(path);
    command.get_subcommands().try_for_each(|command| write_pages(command, folder, out, files))
}

/// A page as roff. Examples keep their lines, which [`Man::render`] would join to paragraphs.
fn page(command: &Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    let man = Man::new(command.clone());
    let rendered = (|| {
        man.render_title(&mut page)?;
        man.render_name_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
        if command.has_subcommands() {
            man.render_subcommands_section(&mut page)?;
        }
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let (examples, notes) = help.split_once("\n\n").unwrap_or((&help, ""));
        let mut roff = Roff::default();
        roff.control("SH", ["EXAMPLES"]).control("nf", []);
        roff.text([roman(examples.trim_start_matches("Examples:\n"))]).control("fi", []);
        if !notes.is_empty() {
            roff.control("SH", ["NOTES"]).text([roman(notes)]);
        }
        roff.to_writer(&mut page)
    })();
    rendered.map_err(|e| Error::io("write", Path::new("the page"), e))?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::{CommandFactory, Parser};

    /// A command and all its subcommands.
    fn verbs(command: &Command) -> Vec<&Command> {
        std::iter::once(command).chain(command.get_subcommands().flat_map(verbs)).collect()
    }

    /// The options and operands of all verbs, and what scripts offer for each: names, files or nothing.
    #[test]
    fn scripts_offer_names_where_they_are_known_and_files_where_a_value_is_one() {
        let mut command = completed(Cli::command());
        command.build();
        let mut offered = std::collections::BTreeMap::<String, std::collections::BTreeSet<&str>>::new();
        let mut first = std::collections::BTreeMap::new();
        for verb in verbs(&command) {
            for arg in verb.get_arguments().filter(|arg| arg.get_action().takes_values()) {
                let names = arg.get_possible_values();
                let what = match arg.get_value_hint() {
                    _ if !names.is_empty() => "names",
                    ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath => "files",
                    ValueHint::Unknown => "anything",
                    _ => "nothing",
                };
                offered.entry(arg.get_id().to_string()).or_default().insert(what);
                first
                    .entry(arg.get_id().to_string())
                    .or_insert_with(|| names.iter().map(|n| n.get_name().to_owned()).collect::<Vec<_>>());
            }
        }
        // A new option has a place in this table.
        let names = [
            "adder",
            "device",
            "format",
            "gates",
            "hash",
            "in_format",
            "integers",
            "keys",
            "log",
            "method",
            "mgf_hash",
            "model",
            "operation",
            "out_format",
            "padding",
            "params",
            "recipe",
            "scheme",
            "scope",
            "shell",
            "state",
            "tables",
            "ty",
            "engine",
        ];
        let numbers_or_words = [
            "addr",
            "bits",
            "by",
            "cache_size",
            "checkpoint_every",
            "column",
            "core_seconds_a_day",
            "count",
            "database",
            "deadline",
            "depth",
            "expires",
            "fingerprint",
            "host",
            "id",
            "insecure_seed",
            "key_memory",
            "label",
            "label_hex",
            "limit",
            "live_jobs",
            "max_core_seconds",
            "memory",
            "path_prefix",
            "recipient",
            "salt_length",
            "security",
            "seed",
            "stored_bytes",
            "table",
            "tenant",
            "terms",
            "threads",
            "values",
            "verify_fraction",
            "work_addr",
        ];
        for (id, what) in &offered {
            let wanted: &[&str] = match id.as_str() {
                id if names.contains(&id) => &["names"],
                id if numbers_or_words.contains(&id) => &["nothing"],
                // A number of `params find` and of `bigint`, the format of `circuit` and the address of `admin move`.
                "modulus" => &["files"],
                "to" => &["names", "nothing"],
                "name" | "server" => &["nothing"],
                _ => &["files"],
            };
            assert_eq!(what.iter().copied().collect::<Vec<_>>(), wanted, "{id}: {:?}", first[id]);
        }
        for (id, name) in [
            ("scheme", "tfhe"),
            ("params", "integers-128"),
            ("params", "gates"),
            ("ty", "u32"),
            ("operation", "add"),
            ("operation", "to_u16"),
            ("operation", "dot"),
            ("device", "cuda:0"),
            ("log", "warn"),
            ("state", "queued"),
            ("scope", "jobs"),
            ("tables", "oh2018"),
        ] {
            assert!(first[id].iter().any(|known| known == name), "{id}: {name}");
        }
        // The parser takes what the script does not offer.
        assert!(Cli::try_parse_from("solinas eval add a.ct b.ct --key k -o c.ct --device cuda:3".split(' ')).is_ok());
    }

    /// The width of the terminal breaks lines. If the text breaks them too, short lines appear in mid-sentence.
    #[test]
    fn help_breaks_no_line_in_mid_sentence() {
        let command = Cli::command();
        for verb in verbs(&command) {
            let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            let prose: Vec<&str> = help.lines().map(|line| if line.starts_with(' ') { "" } else { line }).collect();
            for pair in prose.windows(2).filter(|pair| !pair[0].is_empty() && !pair[1].is_empty()) {
                assert!(pair[0].ends_with(['.', ':']), "{}: {:?}", verb.get_name(), pair[0]);
            }
        }
    }
}
