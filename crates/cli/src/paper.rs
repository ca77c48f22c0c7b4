//! `solinas paper`: published tables beside ours.

use crate::error::{Error, Result, input, usage};
use crate::files::check_text_target;
use crate::output::Output;
use crate::progress::watch;
use solinas_paper::Options;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  solinas paper --list
  solinas paper oh2018 --quick
  solinas paper oh2018 --threads 4 --save oh2018.json

Keys are made on the fly, every measured result is decrypted and checked, and times are medians. What is predicted is marked.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Name of the table; --list shows them
    #[arg(value_name = "TABLE", required_unless_present = "list")]
    table: Option<String>,
    /// List the tables
    #[arg(long, conflicts_with_all = ["table", "quick", "threads", "save", "markdown"])]
    list: bool,
    /// Keep to what runs within a minute, and predict the rest
    #[arg(long)]
    quick: bool,
    /// Threads; by default as many as there are processors, and at most four for each
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=4096))]
    threads: Option<u16>,
    /// Keep the figures, machine, command and version in a JSON file
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    let Some(name) = args.table else {
        let all = solinas_paper::list();
        let line = |entry: &solinas_paper::Entry| {
            format!("{:<10}  {}\n            {}\n", entry.name, entry.title, entry.summary)
        };
        return out.result(&all, || all.iter().map(line).collect());
    };
    if let Some(path) = &args.save {
        check_text_target(path)?;
    }
    let options = Options { quick: args.quick, threads: args.threads.map(crate::args::threads), save: args.save };
    let report = watch(out, &name, |control| solinas_paper::run(&name, &options, control).map_err(error))?;
    out.result(&report, || if args.markdown { report.to_markdown() } else { report.to_string() })
}

fn error(error: solinas_paper::Error) -> Error {
    match error {
        solinas_paper::Error::Runtime(error) => (*error).into(),
        solinas_paper::Error::WrongResult { .. } => Error::Wrong(error.to_string()),
        solinas_paper::Error::UnknownTable { name, known } => {
            usage(format!("there is no table {name:?}"), format!("choose one of {known}"))
        }
        solinas_paper::Error::Save { path, source } => Error::io("write", &path, source),
        other => input(other.to_string(), "please report it"),
    }
}
