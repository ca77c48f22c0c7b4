//! `solinas paper`: prints published tables beside our figures.

use crate::error::{Error, Result, input, usage};
use crate::files::check_target;
use crate::output::{Output, terminal_width};
use crate::progress::watch;
use solinas_paper::{Options, Report};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  solinas paper --list
  solinas paper oh2018 --quick
  solinas paper oh2018 --threads 4 --save oh2018.json
  solinas paper wang2015-2 wang2015-3 wang2015-4
  solinas paper wang2015-5 wang2015-6 wang2015-7 --params toy --params small --params medium

The command generates keys as needed and checks every measured result. Times are medians. A mark shows each predicted figure. With --json, several tables form a list.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Names of the tables; --list prints them
    #[arg(value_name = "TABLE", required_unless_present = "list")]
    tables: Vec<String>,
    /// List the tables
    #[arg(long, conflicts_with_all = ["tables", "quick", "threads", "params", "save", "markdown"])]
    list: bool,
    /// Measure only rows that take less than a minute, and predict the rest
    #[arg(long)]
    quick: bool,
    /// Number of threads, 1 to 4096; defaults to the number of processors. The command starts at most four for each processor
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=4096))]
    threads: Option<u16>,
    /// Parameter set that the Gentry-Halevi tables measure: toy, small, medium or large. Repeat the option for several sets. Defaults to toy, and also small without --quick
    #[arg(long, value_name = "SET")]
    params: Vec<String>,
    /// Save the figures, machine, command and version in a JSON file
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    if args.list {
        let all = solinas_paper::list();
        let line = |entry: &solinas_paper::Entry| {
            format!("{:<12}  {}\n              {}\n", entry.name, entry.title, entry.summary)
        };
        return out.result(&all, || all.iter().map(line).collect());
    }
    if let Some(path) = &args.save {
        check_target(path)?;
    }
    let threads = args.threads.map(crate::limits::threads);
    let options = Options { quick: args.quick, threads, sets: args.params, save: args.save };
    let names: Vec<_> = args.tables.iter().map(String::as_str).collect();
    for line in solinas_paper::announce(&names, &options).map_err(error)? {
        if !args.markdown {
            out.note(&line)?;
        }
    }
    let text = |report: &Report| match terminal_width().map(usize::from) {
        _ if args.markdown => report.to_markdown(),
        Some(width) => format!("{report:width$}"),
        None => report.to_string(),
    };
    if let [name] = args.tables.as_slice() {
        let report = watch(out, name, |control| solinas_paper::run(name, &options, control).map_err(error))?;
        return out.result(&report, || text(&report));
    }
    let label = names.join(" ");
    let reports = watch(out, &label, |control| solinas_paper::run_all(&names, &options, control).map_err(error))?;
    out.result(&reports, || reports.iter().map(text).collect::<Vec<_>>().join("\n"))
}

/// Whether another parameter set may avoid the error.
fn depends_on_the_set(error: &solinas_schemes::Error) -> bool {
    use solinas_schemes::Error as E;
    matches!(error, E::UnknownParams { .. } | E::Params { .. } | E::ResearchScheme { .. } | E::Memory { .. })
}

fn error(error: solinas_paper::Error) -> Error {
    match error {
        solinas_paper::Error::Engine(error) => (*error).into(),
        solinas_paper::Error::WrongResult { .. } => Error::Wrong(error.to_string()),
        solinas_paper::Error::UnknownTable { name, known } => {
            usage(format!("there is no table {name:?}"), format!("choose one of {known}"))
        }
        solinas_paper::Error::Save { path, source } => Error::io("write", &path, source),
        solinas_paper::Error::Scheme(error) if depends_on_the_set(&error) => {
            input(error.to_string(), "`solinas paper --help` lists the sets")
        }
        other => input(other.to_string(), "report this as a bug"),
    }
}
