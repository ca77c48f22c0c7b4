//! Times our big-integer arithmetic and its peers side by side, in one run.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that unwraps an error fails, as it should"))]

mod cases;
mod ours;
mod peers;
mod picture;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use bench_common::Error;
use bench_common::command::{self, Output, Sampling};
use clap::Parser;

use crate::cases::{Bench, modular, power, products};
use crate::peers::Peers;
use crate::report::{Row, Run, Section};

/// Times our big-integer arithmetic beside GMP, FLINT, malachite and OpenSSL.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Example: SOLINAS_FLINT=../target/flint-3.7/lib/libflint.so bench-bigint --filter bits=785006"
)]
struct Args {
    /// Only rows whose id contains this; may be given again for more
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    #[command(flatten)]
    sampling: Sampling<25, 4>,
    #[command(flatten)]
    output: Output,
    /// Also draw the products of unequal lengths beside GMP there, as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print how far the primes of the RSA rows are from where their search begins, and stop
    #[arg(long, hide = true)]
    primes: bool,
}

impl Args {
    fn wants(&self, id: &str) -> bool {
        self.filter.is_empty() || self.filter.iter().any(|text| id.contains(text.as_str()))
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
    let bench = Bench { peers: &peers, effort: args.sampling.effort(5, 0.5), wanted: &wanted };
    type Rows = fn(&Bench<'_>) -> Result<Vec<Row>, Error>;
    let sections: [(&str, Rows); 8] = [
        ("Products, one thread", |bench| products::large(bench, 1)),
        ("Products, two threads", |bench| products::large(bench, 2)),
        ("Small products", products::small),
        ("Products of unequal lengths", products::unequal),
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
    if let Some(path) = &args.svg {
        command::write(path, Ok(picture::unequal(&run)))?;
    }
    args.output.write(&run, || run.to_markdown())
}
