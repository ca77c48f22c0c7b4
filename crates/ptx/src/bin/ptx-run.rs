//! Runs a kernel of a PTX file on the emulated device, and prints its counters and the speed of the interpreter.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::time::Instant;

use solinas_ptx::{Checks, Launch, Machine, Module, Options};

const USAGE: &str = "\
Usage: ptx-run FILE.ptx --list
       ptx-run FILE.ptx KERNEL [OPTION | ARGUMENT]...

Arguments of the kernel, in their order:
  u32=N  u64=N  f64=X  numbers
  zeros=BYTES          a buffer of zeros
  random=BYTES         a buffer of random bytes
  empty=BYTES          a buffer that is not initialised
  in=PATH              a buffer with the bytes of a file
  out=PATH             the same, and the file is written with the result
Options:
  --grid=X[,Y[,Z]]     blocks (1)
  --block=X[,Y[,Z]]    threads of a block (the kernel's limit)
  --shared=BYTES       dynamic shared memory (0)
  --seed=N             seed of the order of warps and blocks (0)
  --repeat=N           launches (1)
  --no-checks          without checks";

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

fn sizes(text: &str) -> Result<[u32; 3]> {
    let mut sizes = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err(format!("{text} has more than 3 sizes"));
    }
    for (size, part) in sizes.iter_mut().zip(parts) {
        *size = number(part)?;
    }
    Ok(sizes)
}

fn run(arguments: &[String]) -> Result<String> {
    let [path, kernel, rest @ ..] = arguments else { return Err(USAGE.into()) };
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
    let mut launch = Launch::line(1, kernel.max_threads().unwrap_or(32));
    let mut options = Options { memory: 8 << 30, ..Options::default() };
    let mut repeat = 1;
    let mut values = Vec::new();
    for argument in rest {
        let (key, value) = argument.split_once('=').unwrap_or((argument, ""));
        match key {
            "--grid" => launch.grid = sizes(value)?,
            "--block" => launch.block = sizes(value)?,
            "--shared" => launch.shared = number(value)?,
            "--seed" => options.seed = number(value)?,
            "--repeat" => repeat = number(value)?,
            "--no-checks" => options.checks = Checks::NONE,
            _ => values.push((key, value)),
        }
    }
    let mut machine = Machine::new(options);
    let mut parameters = Vec::new();
    let mut outputs = Vec::new();
    for ((key, value), parameter) in values.iter().zip(kernel.parameters()) {
        parameters.resize(parameter.offset as usize, 0);
        let bytes = match *key {
            "u32" => number::<u32>(value)?.to_le_bytes().to_vec(),
            "u64" => number::<u64>(value)?.to_le_bytes().to_vec(),
            "f64" => number::<f64>(value)?.to_le_bytes().to_vec(),
            _ => {
                let address = buffer(&mut machine, key, value)?;
                if *key == "out" {
                    outputs.push((value, address));
                }
                address.to_le_bytes().to_vec()
            }
        };
        parameters.extend(bytes);
    }
    if values.len() != kernel.parameters().len() {
        return Err(format!("{name} takes {} arguments, {} are given", kernel.parameters().len(), values.len()));
    }
    let start = Instant::now();
    let mut counters = solinas_ptx::Counters::default();
    for _ in 0..repeat {
        let report = machine.launch(kernel, &launch, &parameters).map_err(|fault| fault.to_string())?;
        counters.add(&report.counters);
    }
    let seconds = start.elapsed().as_secs_f64();
    for (path, address) in outputs {
        let length = std::fs::metadata(path).map_err(|error| format!("{path}: {error}"))?.len();
        let mut bytes = vec![0; length as usize];
        machine.read(address, &mut bytes).map_err(|fault| fault.to_string())?;
        std::fs::write(path, bytes).map_err(|error| format!("{path}: {error}"))?;
    }
    let total = counters.total();
    let speed = total as f64 / seconds / 1e6;
    Ok(format!("{}\n{total} lane instructions in {seconds:.3} s: {speed:.0} M/s", counters.to_json()))
}

fn buffer(machine: &mut Machine, key: &str, value: &str) -> Result<u64> {
    let bytes = match key {
        "zeros" => vec![0; number(value)?],
        "random" => {
            let mut state = 1u64;
            let next = |_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            };
            (0..number(value)?).map(next).collect()
        }
        "empty" => return machine.allocate(number(value)?).map_err(|fault| fault.to_string()),
        "in" | "out" => std::fs::read(value).map_err(|error| format!("{value}: {error}"))?,
        _ => return Err(format!("{key}={value} is not known\n{USAGE}")),
    };
    let address = machine.allocate(bytes.len() as u64).map_err(|fault| fault.to_string())?;
    machine.write(address, &bytes).map_err(|fault| fault.to_string())?;
    Ok(address)
}
