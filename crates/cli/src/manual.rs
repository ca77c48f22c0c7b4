//! `solinas completions` and `solinas man`: completion scripts for shells and manual pages.

use crate::error::{Error, Result, usage};
use crate::files::write_bytes;
use crate::output::Output;
use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
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
pub(crate) fn completions(args: CompletionsArgs, mut command: Command, out: &Output) -> Result<()> {
    no_json(out, "leave out --json")?;
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "solinas", &mut script);
    out.text(&String::from_utf8_lossy(&script))
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
    use clap::CommandFactory;

    /// A command and all its subcommands.
    fn verbs(command: &Command) -> Vec<&Command> {
        std::iter::once(command).chain(command.get_subcommands().flat_map(verbs)).collect()
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
