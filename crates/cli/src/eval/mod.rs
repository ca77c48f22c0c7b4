//! `solinas eval`: the server's part.

mod operation;
mod outputs;
mod work;

use crate::decrypt::check_key;
use crate::encrypt::Report;
use crate::error::{Error, Result, usage};
use crate::output::Output;
use crate::progress::{abandonable, cancellable, interruptible, visible, watch};
use serde::Serialize;
use solinas_circuits::counted;
use solinas_circuits::program::{OPERATIONS, Type};
use solinas_runtime::{Estimate, Scheme, Server, ServerKey};
use std::path::PathBuf;
use std::time::Instant;

use operation::Details;

pub(crate) use operation::champion;

const EXAMPLES: &str = "\
Examples:
  solinas eval --list
  solinas eval --key keys/server.key add a.ct b.ct -o sum.ct
  solinas eval --key keys/server.key mul a.ct 3 -o triple.ct
  solinas eval --key keys/server.key select flag.ct a.ct b.ct -o chosen.ct
  solinas eval --key keys/server.key to_u16 a.ct -o wide.ct
  solinas eval --key keys/server.key max array.ct -o largest.ct
  solinas eval --key keys/server.key dot x.ct y.ct -o product.ct
  solinas eval --key keys/server.key rotate x.ct --by 3 -o rotated.ct
  solinas eval --key keys/server.key mul a.ct b.ct --estimate
  solinas circuit build add --type u32 -o add32.txt
  solinas eval --key keys/server.key --circuit add32.txt --inputs a.ct b.ct -o sum.ct
  solinas eval --circuit add32.txt --estimate --params gates-128
  solinas eval --key keys/server.key lookup x.ct --table 0,1,4,9,16,25,36,49 --type u8 -o square.ct
  solinas eval --key keys/server.key --program f.json --inputs a.ct b.ct -o results/

An operand is a ciphertext file or a public constant: 5, -3, true, or with its type 5u8. '#5' is always a constant, \
./5 always a file. Operations on arrays work element by element; scalars go with every element. sum, max, min, argmax \
and argmin of one array reduce it. Of integers modulo a number, sum, dot and rotate go across arrays in slots, with a key of scheme bgv, or of scheme ntru and `keygen --rotations`. Several results go to a folder, or to as many -o.
Ctrl-C stops with exit code 130 and writes nothing.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The server key
    #[arg(long, short, value_name = "FILE", required_unless_present_any = ["list", "params"])]
    key: Option<PathBuf>,
    /// The operation
    #[arg(value_name = "OP", required_unless_present_any = ["list", "circuit", "program"], conflicts_with_all = ["circuit", "program"])]
    operation: Option<String>,
    /// Its operands: ciphertext files and constants
    #[arg(value_name = "OPERAND", allow_negative_numbers = true)]
    operands: Vec<String>,
    /// Places to the left by which `rotate` moves the elements of an array; negative to the right
    #[arg(long, value_name = "N", allow_negative_numbers = true, requires = "operation")]
    by: Option<i64>,
    /// What `lookup` gives for 0, 1, 2, .., up to the largest value of the operand's type
    #[arg(long, value_name = "V0,V1,..", value_delimiter = ',', allow_hyphen_values = true, requires = "operation")]
    table: Vec<String>,
    /// Type of the values of --table; by default the operand's
    #[arg(long = "type", value_parser = crate::names::parse_type, requires = "table")]
    ty: Option<Type>,
    /// Evaluate a circuit (Bristol, BLIF, Yosys JSON)
    #[arg(long, value_name = "FILE", conflicts_with = "program")]
    circuit: Option<PathBuf>,
    /// Evaluate a program of typed operations, as JSON
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// One ciphertext for each input of the circuit or program; of a port of any width also as `encrypt --bits` makes it. --estimate needs none
    #[arg(long, num_args = 1.., value_name = "FILE", conflicts_with = "operation")]
    inputs: Vec<PathBuf>,
    /// The ciphertext file to write, or a folder; repeat it for several results
    #[arg(long, short, value_name = "PATH", required_unless_present_any = ["list", "estimate"])]
    output: Vec<PathBuf>,
    /// Threads; defaults to one for each processor, and is at most four times their number
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=4096))]
    threads: Option<u16>,
    /// MiB of memory for tables, scheme gh; by default SOLINAS_MEMORY_MIB, or three quarters of what is free
    #[arg(long, value_name = "MIB")]
    memory: Option<u64>,
    /// Do not warn of a key that is for research only or made from a chosen seed
    #[arg(long)]
    research: bool,
    /// Print what it would cost, and do nothing
    #[arg(long)]
    estimate: bool,
    /// Estimate the counts of a circuit or program under a parameter set, without a key
    #[arg(long, value_name = "NAME", requires = "estimate", conflicts_with_all = ["key", "operation", "inputs"])]
    params: Option<String>,
    /// Print the operations
    #[arg(long, conflicts_with_all = ["key", "operation", "circuit", "program", "inputs", "output", "threads", "memory", "estimate"])]
    list: bool,
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    if args.list {
        return list(out);
    }
    if let Some(params) = &args.params {
        let work = work::of_file(args.circuit.as_deref(), args.program.as_deref())?;
        let estimate = abandonable(out, |control| work.cost(params, control))?;
        return out.result(&estimate, || format!("{}: {estimate}, with {params}\n", work.label()));
    }
    let key_file = args.key.as_deref().ok_or_else(|| usage("no server key is given", "add --key server.key"))?;
    let fresh = args.estimate && args.inputs.is_empty() && args.operation.is_none();
    let (work, files) = match &args.operation {
        Some(name) => {
            operation::parse(name, &args.operands, &Details { by: args.by, table: &args.table, ty: args.ty })?
        }
        None => {
            let work = work::of_file(args.circuit.as_deref(), args.program.as_deref())?;
            let files = if fresh { Vec::new() } else { work.load(&args.inputs)? };
            (work, files)
        }
    };
    let targets = if args.estimate { Vec::new() } else { outputs::targets(&args.output, &work.output_names())? };
    let key = ServerKey::load(key_file)?;
    if !args.estimate {
        out.warn_of_weakness(key_file, key.weakness(), args.research);
    }
    let scheme = key.params().scheme;
    for (file, ciphertext) in &files {
        check_key(file, ciphertext, key_file, key.key_id(), scheme)?;
    }
    if args.memory.is_some() && scheme != Scheme::Gh {
        return Err(usage(
            format!("--memory is for keys of scheme gh, and {} is of scheme {scheme}", key_file.display()),
            "leave it out",
        ));
    }
    work.check_types(&files)?;
    let server = Server::with_options(&key, &crate::args::server_options(args.threads, args.memory))?;
    drop(key);
    if args.estimate {
        let estimate = abandonable(out, |control| match fresh {
            true => work.estimate_fresh(&server, control),
            false => work.estimate(&server, &files, control),
        })?;
        return out.result(&estimate, || format!("{}: {}\n", work.label(), cost(&estimate)));
    }
    interruptible()?;
    let label = match visible(out) {
        // To measure recryptions takes long, and so do products that read a matrix of gigabytes.
        true if matches!(scheme, Scheme::Gh | Scheme::Lwe) => work.label(),
        true => match abandonable(out, |control| work.estimate(&server, &files, control)) {
            Ok(estimate) => format!("{}: {}", work.label(), cost(&estimate)),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(_) => work.label(),
        },
        false => String::new(),
    };
    let start = Instant::now();
    let results = watch(out, &label, |control| work.run(&server, &files, control))?;
    let seconds = start.elapsed().as_secs_f64();
    outputs::save(&targets, &results)?;
    let results: Vec<_> = targets.iter().zip(&results).map(|(file, result)| Report::of(file, result)).collect();
    // The plan is the one that ran.
    let count = if out.json() { work.count(&server, &files, &cancellable()?)? } else { Estimate::default() };
    let Estimate { bootstraps, recrypts, products, rotations, .. } = count;
    let done = Done { results, bootstraps, recrypts, products, rotations, seconds };
    out.report(&done, || done.results.iter().map(Report::line).collect())
}

/// What was written, and what it took.
#[derive(Serialize)]
struct Done<'a> {
    results: Vec<Report<'a>>,
    bootstraps: u64,
    recrypts: u64,
    products: u64,
    rotations: u64,
    seconds: f64,
}

fn cost(estimate: &Estimate) -> String {
    let (seconds, threads) = (estimate.seconds, counted(estimate.threads, "thread"));
    let time = match seconds {
        seconds if seconds < 0.1 => format!("{:.1} ms", seconds * 1e3),
        seconds => format!("{seconds:.1} s"),
    };
    format!("{estimate}, about {time} on {threads}")
}

/// An operation that `--list` shows.
#[derive(Serialize)]
struct Listed {
    name: &'static str,
    arity: usize,
    summary: &'static str,
}

fn list(out: &Output) -> Result<()> {
    let others = [
        ("to_TYPE", "a truncated or extended to a type, such as to_u8; to_bool keeps the lowest bit"),
        ("lookup", "the entry of a public table (--table) at an encrypted index of at most 8 bits"),
        ("to_bits", "the ciphertext form of gates"),
        ("to_radix", "the ciphertext form of lookup tables"),
    ];
    let built_in = OPERATIONS.iter().map(|op| Listed { name: op.name, arity: op.arity, summary: op.summary });
    let others = others.map(|(name, summary)| Listed { name, arity: 1, summary });
    let reductions = operation::REDUCTIONS.map(|(name, summary)| Listed { name, arity: 1, summary });
    let across = operation::ACROSS.map(|(name, arity, summary)| Listed { name, arity, summary });
    let all: Vec<_> = built_in.chain(others).chain(reductions).chain(across).collect();
    out.result(&all, || {
        all.iter().map(|Listed { name, arity, summary }| format!("{name:<14}{arity}  {summary}\n")).collect()
    })
}
