//! The stages of a run, and their files.

use crate::benches::{self, Row};
use crate::checks::{self, Outcome};
use crate::micro::{self, Ceiling};
use crate::{Clock, Size, tools};
use serde::Serialize;
use solinas_gpu::{Device, Stream};
use std::path::Path;
use std::time::Instant;

/// A stage of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Stage {
    /// The device, its driver, and the first kernel.
    Machine,
    /// Ceilings.
    Micro,
    /// Engines against the CPU.
    Checks,
    /// Times of the engines.
    Benches,
    /// `compute-sanitizer`.
    Sanitizer,
    /// `ncu`.
    Profile,
}

impl Stage {
    /// All stages, in their order.
    pub const ALL: [Self; 6] =
        [Self::Machine, Self::Micro, Self::Checks, Self::Benches, Self::Sanitizer, Self::Profile];

    /// Seconds that the stage may take.
    fn seconds(self) -> u64 {
        match self {
            Self::Machine => 15,
            Self::Micro => 30,
            Self::Checks => 120,
            Self::Benches => 240,
            Self::Sanitizer => 70,
            Self::Profile => 50,
        }
    }
}

/// Options of a run.
#[derive(Debug)]
pub struct Options<'a> {
    /// The folder of the results, which exists.
    pub folder: &'a Path,
    /// The device's name for `--device`.
    pub name: &'a str,
    /// Shapes.
    pub size: Size,
    /// Seed of the inputs of checks.
    pub seed: u64,
    /// The time of the run.
    pub clock: Clock,
    /// A part of the names of the checks and benches that run; all run if it is empty.
    pub only: &'a str,
}

/// The results of the earlier stages.
#[derive(Debug, Default)]
pub struct Findings {
    ceilings: Vec<Ceiling>,
    outcomes: Vec<Outcome>,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Machine<'a> {
    device: &'a str,
    model: &'a str,
    memory_bytes: u64,
    multiprocessors: u32,
    driver: &'a str,
    version: &'static str,
    cores: usize,
    nvidia_smi: String,
    first_copy_seconds: f64,
}

#[derive(Serialize)]
struct Tests<'a> {
    device: &'a str,
    seed: u64,
    outcomes: &'a [Outcome],
}

#[derive(Serialize)]
struct Benches<'a> {
    device: &'a str,
    driver: &'a str,
    ceilings: &'a [Ceiling],
    benches: &'a [Row],
}

impl Findings {
    /// Runs a stage and writes its files.
    ///
    /// # Errors
    /// If the device fails in a measurement, or a file cannot be written.
    pub fn run(&mut self, stage: Stage, device: &Device, options: &Options<'_>) -> Result<(), String> {
        let Options { folder, name, size, seed, clock, only } = *options;
        let clock = clock.stage(stage.seconds());
        let model = device.info().name.as_str();
        match stage {
            Stage::Machine => json(folder, "machine.json", &machine(device, name, clock)?),
            Stage::Micro => {
                self.ceilings = micro::ceilings(device, size, clock).map_err(|error| error.to_string())?;
                json(folder, "micro.json", &self.ceilings)
            }
            Stage::Checks => {
                self.outcomes = checks::run(device, seed, size, only, clock);
                json(folder, "tests.json", &Tests { device: model, seed, outcomes: &self.outcomes })
            }
            Stage::Benches => {
                self.rows = benches::run(device, size, only, &self.ceilings, clock);
                let (driver, ceilings) = (device.info().driver.as_str(), &self.ceilings);
                json(folder, "bench.json", &Benches { device: model, driver, ceilings, benches: &self.rows })?;
                text(folder, "bench.md", &benches::markdown(model, size, &self.rows))
            }
            Stage::Sanitizer => text(folder, "sanitizer.txt", &tools::sanitizer(name, clock)),
            Stage::Profile => text(folder, "ncu.txt", &tools::profile(name, clock)),
        }
    }

    /// Whether no check failed.
    pub fn passed(&self) -> bool {
        self.outcomes.iter().all(|outcome| outcome.status != "failed")
    }

    /// The checks and benches as text.
    pub fn summary(&self, device: &Device, size: Size) -> String {
        let mut text = String::new();
        for Outcome { name, status, problem, seconds } in &self.outcomes {
            let problem = problem.as_ref().map(|problem| format!(": {problem}")).unwrap_or_default();
            text += &format!("{status:<8}{seconds:7.1} s  {name}{problem}\n");
        }
        for Ceiling { name, value, unit } in &self.ceilings {
            text += &format!("{value:12.3e} {unit:<13} {name}\n");
        }
        if self.rows.is_empty() {
            text
        } else {
            text + "\n" + &benches::markdown(&device.info().name, size, &self.rows)
        }
    }
}

/// Facts about the machine, and the time of a first copy.
fn machine<'a>(device: &'a Device, name: &'a str, clock: Clock) -> Result<Machine<'a>, String> {
    let start = Instant::now();
    let first = || {
        let stream = Stream::new(device)?;
        let buffer = stream.buffer_of(&[1u8; 256], "a first copy")?;
        stream.read(&buffer, 0, &mut [0; 256])
    };
    first().map_err(|error: solinas_gpu::Error| error.to_string())?;
    let info = device.info();
    Ok(Machine {
        device: name,
        model: &info.name,
        memory_bytes: info.memory,
        multiprocessors: info.multiprocessors,
        driver: &info.driver,
        version: env!("CARGO_PKG_VERSION"),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        nvidia_smi: if info.is_emulated { String::new() } else { tools::nvidia_smi(clock) },
        first_copy_seconds: start.elapsed().as_secs_f64(),
    })
}

fn json(folder: &Path, name: &str, data: &impl Serialize) -> Result<(), String> {
    let data = serde_json::to_string_pretty(data).map_err(|error| format!("{name}: {error}"))?;
    text(folder, name, &(data + "\n"))
}

fn text(folder: &Path, name: &str, text: &str) -> Result<(), String> {
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
