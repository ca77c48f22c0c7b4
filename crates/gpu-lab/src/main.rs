//! `gpu-lab FOLDER`: checks and measures the engines on a device, and writes the results into a folder.
#![forbid(unsafe_code)]

use clap::Parser;
use solinas_gpu::{Device, DeviceOptions};
use solinas_gpu_lab::stages::{Findings, Options, Stage};
use solinas_gpu_lab::{Clock, Size};
use solinas_schemes::DeviceName;
use std::path::PathBuf;
use std::process::ExitCode;

/// Checks and measures the GPU engines of Solinas
#[derive(Parser)]
struct Args {
    /// Folder of the results; made if it is missing
    folder: PathBuf,
    /// The device: cuda:N, or emulated
    #[arg(long, default_value = "cuda:0")]
    device: String,
    /// Small shapes and single samples
    #[arg(long)]
    quick: bool,
    /// Seed of the inputs of checks
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Seconds of the whole run. Steps that do not fit are skipped
    #[arg(long, default_value_t = 530)]
    seconds: u64,
    /// Run this step only; repeat the option for several
    #[arg(long)]
    step: Vec<Stage>,
    /// Only checks and benches whose name contains this
    #[arg(long, default_value = "")]
    only: String,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Returns whether every check passed.
fn run(args: &Args) -> Result<bool, String> {
    let clock = Clock::new(args.seconds);
    let name: DeviceName = args.device.parse().map_err(|error: solinas_schemes::UnknownDevice| error.to_string())?;
    let device = Device::open(name, DeviceOptions::default()).map_err(|error| error.to_string())?;
    let device = device.ok_or("gpu-lab measures a device; name cuda:0 or emulated")?;
    std::fs::create_dir_all(&args.folder)
        .map_err(|error| format!("cannot make the folder {}: {error}", args.folder.display()))?;
    let size = if args.quick { Size::Quick } else { Size::Full };
    let options = Options { folder: &args.folder, name: &args.device, size, seed: args.seed, clock, only: &args.only };
    println!("{}: seed {}, {} s", device.info().name, args.seed, args.seconds);
    let mut findings = Findings::default();
    for stage in Stage::ALL.into_iter().filter(|stage| args.step.is_empty() || args.step.contains(stage)) {
        if clock.is_over() {
            println!("{stage:?}: skipped, since the time was over");
            continue;
        }
        // A device that fails in one stage may still tell why in the next one.
        match findings.run(stage, &device, &options) {
            Ok(()) => println!("{stage:?}: done, {:.0} s left", clock.left().as_secs_f64()),
            Err(problem) => println!("{stage:?}: {problem}"),
        }
    }
    println!("\n{}", findings.summary(&device, size));
    Ok(findings.passed())
}
