//! `solinas eval`: computes on ciphertexts, as the server does.

mod operation;
mod outputs;
#[cfg(feature = "service")]
mod remote;
mod work;

#[cfg(feature = "service")]
use crate::connection::ServiceArgs;
use crate::decrypt::check_key;
use crate::encrypt::Report;
use crate::error::{Error, Result, keep_progress_in, usage};
use crate::files::check_writable;
use crate::names::listed;
use crate::output::Output;
use crate::progress::{cancellable, shows_progress, watch};
use serde::Serialize;
use solinas_circuits::program::{OPERATIONS, Type};
use solinas_engine::{CostModel, Estimate, Plan, PrepareOptions, Scheme, Server, ServerKey, ServerOptions, schemes};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use operation::Details;

pub(crate) use outputs::targets;
#[cfg(feature = "service")]
pub(crate) use remote::write;

const EXAMPLES: &str = "\
Examples:
  solinas eval --list
  solinas eval --key keys/server.key add a.ct b.ct -o sum.ct
  solinas eval --key keys/server.key mul a.ct 3 -o triple.ct
  solinas eval --key keys/server.key select flag.ct a.ct b.ct -o chosen.ct
  solinas eval --key keys/server.key to_u16 a.ct -o wide.ct
  solinas eval --key keys/server.key max array.ct -o largest.ct
  solinas eval --key keys/server.key dot x.ct y.ct -o product.ct
  solinas eval --key keys/server.key dot x.ct 3,2,40 -o weighted.ct
  solinas eval --key keys/server.key rotate x.ct --by 3 -o rotated.ct
  solinas eval --key keys/server.key mul a.ct b.ct --estimate
  solinas circuit build add --type u32 -o add32.txt
  solinas eval --key keys/server.key --circuit add32.txt --inputs a.ct b.ct -o sum.ct
  solinas eval --circuit add32.txt --estimate --params gates-128
  solinas eval --key keys/server.key lookup x.ct --table 0,1,4,9,16,25,36,49 --type u8 -o square.ct
  solinas eval --key keys/server.key --program f.json --inputs a.ct b.ct -o results/
  solinas eval --key keys/server.key mul a.ct b.ct -o product.ct --model threads-16 --save-plan mul.plan
  solinas eval --key keys/server.key mul a.ct b.ct -o product.ct --plan mul.plan
  solinas eval --key keys/server.key mul a.ct b.ct -o product.ct --checkpoint mul.state
  solinas eval --server mul a.ct b.ct -o product.ct

An operand is a ciphertext file or a public constant: 5, -3, true, or with its type, such as 5u8. A list such as 3,2,40 is a public array. '#5' is always a constant, and ./5 is always a file.
Operations on arrays work element by element, and a scalar combines with every element. sum, max, min, argmax and argmin of one array reduce it to one value.
For arrays of integers modulo a number, sum, dot and rotate work across the slots of the vector. They need a key of scheme bgv, or a key of scheme ntru from `keygen --rotations`.
For several results, name a folder with -o, or repeat -o for each result.
A plan (scheme tfhe) lists every bootstrap of the work. One plan gives the same bytes on every machine, device and number of threads. \
Without --model or --plan, it is the plan of the model threads-N for the N threads of the command.
Ctrl-C stops the command with exit code 130, and no result is written. With --checkpoint, the command first writes its progress, and the same command goes on where it stopped.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The server key
    #[arg(long, short, value_name = "FILE", required_unless_present_any = ["list", "params", "estimate", "server"])]
    key: Option<PathBuf>,
    /// The operation
    #[arg(value_name = "OP", required_unless_present_any = ["list", "circuit", "program"], conflicts_with_all = ["circuit", "program"])]
    operation: Option<String>,
    /// Operands of the operation: ciphertext files and constants
    #[arg(value_name = "OPERAND", allow_negative_numbers = true)]
    operands: Vec<String>,
    /// Number of places by which `rotate` moves the elements of an array to the left; negative for the right
    #[arg(long, value_name = "N", allow_negative_numbers = true, requires = "operation")]
    by: Option<i64>,
    /// Results of `lookup` for 0, 1, 2, .., up to the largest value of the operand's type
    #[arg(long, value_name = "V0,V1,..", value_delimiter = ',', allow_hyphen_values = true, requires = "operation")]
    table: Vec<String>,
    /// Type of the values of --table, or of a sum, in which it is computed; defaults to the operand's type
    #[arg(long = "type", value_parser = crate::names::parse_type, requires = "operation")]
    ty: Option<Type>,
    /// Evaluate a circuit (Bristol, BLIF, Yosys JSON)
    #[arg(long, value_name = "FILE", conflicts_with = "program")]
    circuit: Option<PathBuf>,
    /// Evaluate a program of typed operations (JSON)
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// One ciphertext for each input of the circuit or program, in their order or as NAME=FILE. A file that was made for another input is refused, unless NAME=FILE says so. For a port of any width, `encrypt --bits` makes it. A circuit also takes public values such as 5, or #5 if a file has the name 5. --estimate needs no inputs
    #[arg(long, num_args = 1.., value_name = "FILE", allow_negative_numbers = true, conflicts_with = "operation")]
    inputs: Vec<PathBuf>,
    /// The ciphertext file to write, or a folder; repeat the option for several results
    #[arg(long, short, value_name = "PATH", required_unless_present_any = ["list", "estimate"])]
    output: Vec<PathBuf>,
    /// Number of threads, 1 to 4096; defaults to the number of processors. The command starts at most four for each processor
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=4096))]
    threads: Option<u16>,
    /// Memory in MiB: for tables (scheme gh), by default SOLINAS_MEMORY_MIB, else three quarters of the free memory; with --device, on each device, by default all that is free there
    #[arg(long, value_name = "MIB")]
    memory: Option<u64>,
    /// Device that computes: cpu, cuda:N, several as cuda:0,cuda:1 or cuda:all, auto, emulated for tests, or rtl for the simulated accelerator (scheme gh); defaults to SOLINAS_DEVICE, else to cpu. `solinas params --devices` lists the GPUs
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// The rule that chooses the plan (scheme tfhe): fewest bootstraps, shallow, or threads-N for the plan that ends first on N threads; defaults to threads-N for the N threads of this command
    #[arg(long, value_name = "NAME", conflicts_with = "plan")]
    model: Option<CostModel>,
    /// Compute by this plan, from --save-plan
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Write the plan to a file, also with --estimate
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    save_plan: Option<PathBuf>,
    /// Keep the progress in this file (scheme tfhe), and go on from it if it is there. It is removed when the results are written
    #[arg(long, value_name = "FILE", conflicts_with_all = ["estimate", "list"])]
    checkpoint: Option<PathBuf>,
    /// Seconds between two writes of --checkpoint, 0 to 86400
    #[arg(long, value_name = "SECONDS", default_value_t = 30, requires = "checkpoint", value_parser = clap::value_parser!(u32).range(..=86400))]
    checkpoint_every: u32,
    /// Do not warn about a key for research only or a key from a chosen seed
    #[arg(long)]
    research: bool,
    /// Write the results in the compact form (scheme tfhe): 4 kB instead of 132 kB for a u32. It can be decrypted, but not computed on
    #[arg(long, conflicts_with_all = ["estimate", "list"])]
    compact: bool,
    /// Hide the program and its constants from the holder of the client key (scheme tfhe). Each 2-bit block of a result takes 9 more bootstraps, and each bit under gates-128 takes 17. --estimate counts them
    #[arg(long, conflicts_with_all = ["params", "list"])]
    private_program: bool,
    /// Let the results name the plan that made them (scheme tfhe). Whoever holds a result can then try programs and constants until one has that plan
    #[arg(long, conflicts_with_all = ["estimate", "list", "private_program"])]
    auditable: bool,
    /// Print the estimated cost, and compute nothing
    #[arg(long)]
    estimate: bool,
    /// Compute on the service that SOLINAS_SERVER names, with the token in SOLINAS_TOKEN. The key must be registered there, or be named by --key
    #[arg(long, conflicts_with_all = ["list", "params", "threads", "memory", "device", "model", "plan", "save_plan", "checkpoint"])]
    server: bool,
    /// With --server: the time after which the job fails unless it has ended, such as 2030-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", requires = "server")]
    deadline: Option<String>,
    /// With --server: the most processor seconds of the job. A job that is expected to take more is refused, and one that takes more fails
    #[arg(long, value_name = "SECONDS", requires = "server")]
    max_core_seconds: Option<f64>,
    #[cfg(feature = "service")]
    #[command(flatten)]
    service: ServiceArgs,
    /// Estimate the operation counts of a circuit or program under a parameter set, without a key
    #[arg(long, value_name = "NAME", requires = "estimate", conflicts_with_all = ["key", "operation", "inputs", "model", "plan", "save_plan"])]
    params: Option<String>,
    /// The scheme of --params; defaults to the scheme for which `solinas params` lists the set
    #[arg(long, requires = "params")]
    scheme: Option<Scheme>,
    /// Print the operations
    #[arg(long, conflicts_with_all = ["key", "operation", "circuit", "program", "inputs", "output", "threads", "memory", "device", "estimate", "model", "plan"])]
    list: bool,
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    if args.list {
        return list(out);
    }
    if let Some(params) = &args.params {
        let work = work::of_file(args.circuit.as_deref(), args.program.as_deref())?;
        let estimate = cancellable(out, |control| work.cost(args.scheme, params, control))?;
        return out.result(&estimate, || format!("{}: {estimate}, with {params}\n", work.label()));
    }
    if args.server {
        return on_service(&args, out);
    }
    let key_file = args.key.as_deref().ok_or_else(|| {
        let help = match args.operation.is_none() && args.inputs.is_empty() {
            true => "add --key server.key, or --params NAME for an estimate without a key",
            false => "add --key server.key",
        };
        usage("the server key is missing", help)
    })?;
    let fresh = args.estimate && args.inputs.is_empty() && args.operation.is_none();
    let (work, files) = loaded(&args, fresh)?;
    let targets = if args.estimate { Vec::new() } else { outputs::targets(&args.output, &work.output_names())? };
    let kept: Vec<&Path> = args.save_plan.iter().chain(&args.checkpoint).map(PathBuf::as_path).collect();
    let operands: Vec<&Path> = files.iter().map(|(file, _)| file.as_path()).collect();
    let others = [Some(key_file), args.plan.as_deref(), args.circuit.as_deref(), args.program.as_deref()];
    outputs::check_separate(&targets, &kept, &operands, &others.into_iter().flatten().collect::<Vec<_>>())?;
    let key = ServerKey::load(key_file)?;
    if !args.estimate {
        out.warn_of_weakness(key_file, key.weakness(), args.research);
    }
    let scheme = key.params().scheme;
    for (file, ciphertext) in &files {
        check_key(file, ciphertext, key_file, key.key_id(), scheme)?;
        if ciphertext.is_compact() {
            return Err(solinas_engine::Error::Compact { what: file.display().to_string() }.into());
        }
    }
    let capabilities = scheme.capabilities();
    if args.memory.is_some() && args.device.is_none() && !capabilities.table_memory {
        let schemes = listed(schemes().filter(|scheme| scheme.capabilities().table_memory));
        return Err(usage(
            format!("--memory applies to keys of {schemes} only, and {} is of scheme {scheme}", key_file.display()),
            "leave it out, or name a device by --device",
        ));
    }
    if args.compact && !capabilities.compact {
        return Err(solinas_engine::Error::NoCompact { scheme }.into());
    }
    if args.private_program && !capabilities.private_program {
        return Err(solinas_engine::Error::NoPrivateProgram { scheme }.into());
    }
    work.check_types(&files)?;
    if !capabilities.plans
        && (args.model.is_some()
            || args.plan.is_some()
            || args.save_plan.is_some()
            || args.checkpoint.is_some()
            || args.auditable)
    {
        return Err(solinas_engine::Error::NoPlan { scheme }.into());
    }
    kept.iter().try_for_each(|target| check_writable(target))?;
    args.checkpoint.iter().for_each(|file| keep_progress_in(file));
    let plan = args.plan.as_deref().map(Plan::load).transpose()?;
    let every = Duration::from_secs(args.checkpoint_every.into());
    let limits = crate::limits::server_options(args.threads, args.memory, args.device.as_deref())?;
    let server = Server::with_options(&key, &ServerOptions { model: args.model, ..limits })?;
    drop(key);
    let prepare = |files| {
        cancellable(out, |control| {
            let options = PrepareOptions { plan: plan.as_ref(), private_program: args.private_program };
            let prepared = work.prepare(&server, files, options, control)?.auditable(args.auditable);
            if let Some(file) = &args.save_plan {
                prepared.plan()?.save(file)?;
            }
            Ok(prepared)
        })
    };
    if args.estimate {
        let files = (!fresh).then_some(&*files);
        let prepared = prepare(files)?;
        let estimate = cancellable(out, |control| Ok(prepared.estimate(control)?))?;
        return out.result(&estimate, || format!("{}: {}\n", work.label(), cost(&server, &estimate)));
    }
    let prepared = prepare(Some(&files))?;
    let label = match shows_progress(out) {
        true if capabilities.slow_estimate => work.label(),
        true => match cancellable(out, |control| Ok(prepared.estimate(control)?)) {
            Ok(estimate) => format!("{}: {}", work.label(), cost(&server, &estimate)),
            Err(error @ (Error::Interrupted | Error::Paused(_))) => return Err(error),
            Err(_) => work.label(),
        },
        false => String::new(),
    };
    let start = Instant::now();
    // A simulation takes long between two of its looks at Ctrl-C, and it writes nothing.
    let results = match server.simulated_cycles() {
        Some(_) => cancellable(out, |_| watch(out, &simulated(&label), |control| Ok(prepared.run(control)?))),
        None => watch(out, &label, |control| match &args.checkpoint {
            Some(file) => prepared.run_with_checkpoint(file, every, control).map_err(|e| with_checkpoint(file, e)),
            None => Ok(prepared.run(control)?),
        }),
    }?;
    let results = match args.compact {
        true => cancellable(out, |_| results.iter().map(|result| Ok(server.compact(result)?)).collect())?,
        false => results,
    };
    let seconds = start.elapsed().as_secs_f64();
    crate::limits::warn_of_device(&server);
    let cycles = server.simulated_cycles();
    #[cfg(feature = "rtl")]
    if let Some(cycles) = cycles {
        out.cycles(cycles);
    }
    outputs::save(&targets, &results)?;
    if let Some(file) = args.checkpoint.filter(|file| file.exists()) {
        std::fs::remove_file(&file).map_err(|error| Error::io("remove", &file, error))?;
    }
    let results: Vec<_> = targets.iter().zip(&results).map(|(file, result)| Report::new(file, result)).collect();
    let Estimate { bootstraps, recrypts, products, rotations, .. } = prepared.count()?;
    let done = Done { results, bootstraps, recrypts, products, rotations, seconds, cycles };
    out.report(&done, || done.results.iter().map(Report::line).collect())
}

/// The work and its ciphertexts. With `fresh`, the files of the inputs are not read.
fn loaded(args: &Args, fresh: bool) -> Result<(work::Work, Vec<work::Loaded>)> {
    match &args.operation {
        Some(name) => operation::parse(name, &args.operands, &Details { by: args.by, table: &args.table, ty: args.ty }),
        None => {
            let work = work::of_file(args.circuit.as_deref(), args.program.as_deref())?;
            if fresh { Ok((work, Vec::new())) } else { work.load(&args.inputs) }
        }
    }
}

/// Computes on a service.
#[cfg(not(feature = "service"))]
fn on_service(_: &Args, _: &Output) -> Result<()> {
    Err(usage(
        "this build of the command has no services",
        "build it with the feature `service`, or leave out --server",
    ))
}

/// Computes on a service.
#[cfg(feature = "service")]
fn on_service(args: &Args, out: &Output) -> Result<()> {
    let (work, files) = loaded(args, false)?;
    let targets = if args.estimate { Vec::new() } else { outputs::targets(&args.output, &work.output_names())? };
    let operands: Vec<&Path> = files.iter().map(|(file, _)| file.as_path()).collect();
    let others = [args.key.as_deref(), args.circuit.as_deref(), args.program.as_deref()];
    outputs::check_separate(&targets, &[], &operands, &others.into_iter().flatten().collect::<Vec<_>>())?;
    let options = remote::Options {
        key: args.key.as_deref(),
        estimate: args.estimate,
        compact: args.compact,
        private_program: args.private_program,
        auditable: args.auditable,
        deadline: args.deadline.as_deref(),
        max_core_seconds: args.max_core_seconds,
        service: &args.service,
        targets: &targets,
    };
    remote::run(&options, &work, &files, out)
}

/// The error of a run that keeps its progress in this file.
fn with_checkpoint(file: &Path, error: solinas_engine::Error) -> Error {
    match error {
        other_run @ solinas_engine::Error::OtherRun { .. } => {
            Error::from(other_run).with_place(&file.display().to_string())
        }
        error => error.into(),
    }
}

/// Report of the written files and the cost.
#[derive(Serialize)]
struct Done<'a> {
    results: Vec<Report<'a>>,
    bootstraps: u64,
    recrypts: u64,
    products: u64,
    rotations: u64,
    seconds: f64,
    /// Cycles of the simulated circuit, on the device rtl.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles: Option<u64>,
}

/// The label of work on the simulated accelerator.
fn simulated(label: &str) -> String {
    match label {
        "" => String::new(),
        label => {
            format!("{label}, simulated (the first use builds the model of the circuit, which takes a minute or two)")
        }
    }
}

fn cost(server: &Server, estimate: &Estimate) -> String {
    let (seconds, workers) = (estimate.seconds, crate::limits::workers(server, estimate));
    let time = match seconds {
        seconds if seconds < 0.1 => format!("{:.1} ms", seconds * 1e3),
        seconds => format!("{seconds:.1} s"),
    };
    format!("{estimate}, about {time} on {workers}")
}

/// An operation that `--list` shows.
#[derive(Serialize)]
struct Listed {
    name: &'static str,
    arity: usize,
    summary: &'static str,
}

/// The names of all operations.
pub(crate) fn operations() -> impl Iterator<Item = &'static str> {
    all().into_iter().map(|operation| operation.name)
}

fn all() -> Vec<Listed> {
    let others = [
        ("to_TYPE", "a truncated or extended to a type, such as to_u8; to_bool keeps the least significant bit"),
        ("lookup", "the entry of a public table (--table) at an encrypted index of at most 8 bits"),
        ("to_bits", "the ciphertext form of gates"),
        ("to_radix", "the ciphertext form of lookup tables"),
    ];
    let built_in = OPERATIONS.iter().map(|op| Listed { name: op.name, arity: op.arity, summary: op.summary });
    let others = others.map(|(name, summary)| Listed { name, arity: 1, summary });
    let reductions = operation::REDUCTIONS.map(|(name, summary)| Listed { name, arity: 1, summary });
    let (name, summary) = operation::ABS_DIFF;
    let composed = [Listed { name, arity: 2, summary }];
    let across = operation::SLOT_OPERATIONS.map(|(name, arity, summary)| Listed { name, arity, summary });
    built_in.chain(others).chain(reductions).chain(across).chain(composed).collect()
}

fn list(out: &Output) -> Result<()> {
    let all = all();
    out.result(&all, || {
        all.iter().map(|Listed { name, arity, summary }| format!("{name:<14}{arity}  {summary}\n")).collect()
    })
}
