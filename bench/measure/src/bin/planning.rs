//! Times the planning of programs of 1, 5, 20 and 2000 divisions of 128 bits, or of other numbers: `cargo measure planning [COUNT ..]`.

use std::process::ExitCode;
use std::time::Instant;

use bench_common::command;
use clap::Parser;
use solinas_engine::program::Op;
use solinas_engine::{Error, Program, ProgramBuilder, Type, cost};

fn divisions(count: usize) -> Result<Program, Error> {
    let mut builder = ProgramBuilder::new();
    let values = (0..=count).map(|i| builder.input(format!("x{i}"), Type::Uint(128)));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    for (i, pair) in values.windows(2).enumerate() {
        let quotient = builder.op(Op::Div, pair)?;
        builder.output(format!("q{i}"), quotient);
    }
    Ok(builder.finish()?)
}

/// Times the planning of programs.
#[derive(Parser)]
struct Args {
    /// Numbers of divisions
    #[arg(default_values_t = [1, 5, 20, 2000])]
    counts: Vec<usize>,
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(Args { counts }: &Args) -> Result<(), Error> {
    for params in ["integers-128", "gates-128"] {
        for &count in counts {
            let program = divisions(count)?;
            let start = Instant::now();
            let outcome = match cost(&program, params) {
                Ok(estimate) => estimate.to_string(),
                Err(error) => error.to_string(),
            };
            println!("{params}, {count} divisions: {:.2} s, {outcome}", start.elapsed().as_secs_f64());
        }
    }
    Ok(())
}
