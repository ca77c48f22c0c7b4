//! Prints bootstraps and depth of every construction at the widths of `oh2018`: `cargo measure constructions`.

use std::process::ExitCode;

use bench_common::command;
use clap::Parser;
use solinas_circuits::build::{Adder, Multiplier, Prefix, Recipe, Style};
use solinas_circuits::program::{Program, Type};
use solinas_circuits::{Error, GateCosts};

fn row(op: &str, name: &str, recipe: Recipe) -> Result<(), Error> {
    print!("{op:<12} {name:<42}");
    for width in [16, 32, 48, 64] {
        let arity = if op == "leading_zeros" || op == "abs" { 1 } else { 2 };
        let ty = if op == "abs" { Type::Int(width) } else { Type::Uint(width) };
        let stats = Program::from_op(op, &vec![ty; arity])?.lower(recipe)?.stats(&GateCosts::default());
        print!("{:>8} / {:<5}", stats.bootstraps, stats.depth);
    }
    println!();
    Ok(())
}

/// Prints bootstraps and depth of every construction.
#[derive(Parser)]
struct Args {}

fn main() -> ExitCode {
    command::main(run)
}

fn run(_: &Args) -> Result<(), Error> {
    println!("{:<55}{:<16}{:<16}{:<16}{:<16}", "bootstraps / depth", "   16", "   32", "   48", "   64");
    let adders = [
        ("serial, two-input gates", Adder::Serial),
        ("oh2018, section 3.1", Adder::Oh2018),
        ("ripple, XOR3 and MAJ", Adder::Ripple),
        ("prefix, Sklansky", Adder::Prefix(Prefix::Sklansky)),
        ("prefix, Kogge-Stone", Adder::Prefix(Prefix::KoggeStone)),
        ("prefix, Brent-Kung", Adder::Prefix(Prefix::BrentKung)),
    ];
    let plain = Recipe::default();
    for (name, adder) in adders {
        row("add", name, Recipe { adder, ..plain })?;
    }
    let mut multipliers = vec![("oh2018, section 3.2".to_owned(), Multiplier::Oh2018)];
    for (name, adder) in [adders[0], adders[2]] {
        multipliers.push((format!("shift and add, {name}"), Multiplier::ShiftAndAdd(adder)));
    }
    for (name, adder) in &adders[2..] {
        multipliers.push((format!("carry save, {name}"), Multiplier::CarrySave(*adder)));
    }
    for (name, multiplier) in multipliers {
        row("mul", &name, Recipe { multiplier, ..plain })?;
    }
    for op in ["lt", "eq", "min", "div", "rem", "abs", "leading_zeros", "shl", "rotate_left"] {
        row(op, "fewest bootstraps", Style::FewestBootstraps.into())?;
        row(op, "lowest depth", Style::LowestDepth.into())?;
    }
    Ok(())
}
