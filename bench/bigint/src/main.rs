//! Times our big-integer arithmetic and its peers side by side, in one run.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that unwraps an error fails, as it should"))]

mod cases;
mod ours;
mod peers;
mod report;

use std::process::ExitCode;
use std::time::Duration;

use bench_common::command::{self, Output};
use bench_common::sample::Effort;
use clap::Parser;

use crate::cases::{Bench, modular, power, products};
use crate::peers::Peers;
use crate::report::{Row, Run, Section};

/// What can go wrong in a benchmark run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// While something was measured.
    #[error(transparent)]
    Measure(#[from] bench_common::Error),
}

/// Times our big-integer arithmetic beside GMP, FLINT, malachite and OpenSSL.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Example: SOLINAS_FLINT=target/flint/lib/libflint.so bench-bigint --filter bits=785006"
)]
struct Args {
    /// Only rows whose id contains this; may be given again for more
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    /// A first impression: few samples
    #[arg(long)]
    quick: bool,
    /// Samples per row and column at most
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Seconds per row after which no further round begins
    #[arg(long, value_name = "SECONDS", default_value_t = 4.0)]
    budget: f64,
    #[command(flatten)]
    output: Output,
    /// Print how far the primes of the RSA rows are from where their search begins, and stop
    #[arg(long, hide = true)]
    primes: bool,
}

impl Args {
    fn wants(&self, id: &str) -> bool {
        self.filter.is_empty() || self.filter.iter().any(|text| id.contains(text.as_str()))
    }

    fn effort(&self) -> Effort {
        let (samples, budget) = if self.quick { (5, 0.5) } else { (self.samples as usize, self.budget) };
        let budget = Duration::try_from_secs_f64(budget).unwrap_or(Duration::MAX);
        Effort { samples, budget, sample: Duration::from_millis(2) }
    }
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<(), Error> {
    let peers = Peers::find();
    if args.primes {
        if let Some(gmp) = peers.gmp {
            [2048, 4096, 8192, 12_288].iter().for_each(|&bits| println!("{bits} {:?}", power::offsets(gmp, bits)));
        }
        return Ok(());
    }
    let mut header = command::header("bench-bigint")?;
    header.extend([
        format!("against {}", peers.lines().join(", ")),
        "median (smallest) wall time of one operation in microseconds, one thread unless the name says more".into(),
    ]);
    let mut run = Run { header, sections: Vec::new(), verdicts: Vec::new() };
    run.header.iter().for_each(|line| println!("{line}"));
    let wanted = |id: &str| args.wants(id);
    let bench = Bench { peers: &peers, effort: args.effort(), wanted: &wanted };
    type Rows = fn(&Bench<'_>) -> Result<Vec<Row>, Error>;
    let sections: [(&str, Rows); 7] = [
        ("Products, one thread", |bench| products::large(bench, 1)),
        ("Products, two threads", |bench| products::large(bench, 2)),
        ("Small products", products::small),
        ("Products modulo a number, one thread", |bench| modular::multiplication(bench, 1)),
        ("Products modulo a number, two threads", |bench| modular::multiplication(bench, 2)),
        ("Sums modulo a number", modular::addition),
        ("Powers and RSA", power::rows),
    ];
    for (title, rows) in sections {
        let section = Section { title: title.into(), rows: rows(&bench)? };
        if !section.rows.is_empty() {
            print!("{}", section.to_text());
            run.verdicts.extend(section.rows.iter().flat_map(Row::verdicts));
            run.sections.push(section);
        }
    }
    if !run.verdicts.is_empty() {
        print!("{}", run.verdicts_to_text());
    }
    Ok(args.output.write(&run, || run.to_markdown())?)
}
