//! Runs a kernel of a PTX file on the emulated device, and prints its counters and the speed of the interpreter.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::time::Instant;

use solinas_ptx::{Call, Checks, Counters, Machine, Module, Options};

const USAGE: &str = "\
Usage: ptx-run FILE.ptx --list
       ptx-run FILE.ptx KERNEL [OPTION | ARGUMENT]...

Options:
  --seed=N             seed of the order of warps and blocks (0)
  --repeat=N           launches (1)
  --threads=N          threads of the host (those of the machine, at most 4)
  --no-checks          without checks
";

type Result<T> = std::result::Result<T, String>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("ptx-run: {error}");
            ExitCode::FAILURE
        }
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T> {
    text.parse().map_err(|_| format!("{text} is not a number that fits here"))
}

fn run(arguments: &[String]) -> Result<String> {
    let [path, kernel, rest @ ..] = arguments else {
        return Err(format!("{USAGE}{}", Call::USAGE));
    };
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let module = Module::parse(&text).map_err(|error| format!("{path}: {error}"))?;
    if kernel == "--list" {
        let lines = module.kernels().map(|kernel| {
            let sizes: Vec<String> = kernel.parameters().iter().map(|parameter| parameter.bytes.to_string()).collect();
            let threads = kernel.max_threads().map_or_else(|| "any".into(), |threads| threads.to_string());
            format!(
                "{}: threads {threads}, shared {} bytes, {} instructions, parameters of {} bytes",
                kernel.name(),
                kernel.shared_bytes(),
                kernel.instructions(),
                sizes.join(", ")
            )
        });
        return Ok(lines.collect::<Vec<_>>().join("\n"));
    }
    let name = kernel;
    let kernel = module.kernel(name).ok_or_else(|| format!("{path} has no kernel {name}; see --list"))?;
    let mut options = Options { memory: 8 << 30, ..Options::default() };
    let mut repeat = 1;
    let mut words = Vec::new();
    for argument in rest {
        match argument.split_once('=').unwrap_or((argument, "")) {
            ("--seed", value) => options.seed = number(value)?,
            ("--threads", value) => options.threads = number(value)?,
            ("--repeat", value) => repeat = number(value)?,
            ("--no-checks", "") => options.checks = Checks::NONE,
            _ => words.push(argument.as_str()),
        }
    }
    let mut machine = Machine::new(options);
    let call = Call::new(&mut machine, kernel, words)?;
    let start = Instant::now();
    let mut counters = Counters::default();
    for _ in 0..repeat {
        counters.add(&call.run(&mut machine, kernel).map_err(|fault| fault.to_string())?.counters);
    }
    let seconds = start.elapsed().as_secs_f64();
    call.save(&machine)?;
    let total = counters.total();
    let speed = total as f64 / seconds / 1e6;
    Ok(format!("{}\n{total} lane instructions in {seconds:.3} s: {speed:.0} M/s", counters.to_json()))
}
