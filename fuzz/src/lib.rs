//! Fuzz targets. Each is written once and runs in two ways: by libFuzzer for hours (`fuzz_targets/`), and by [`smoke`] with a fixed seed for seconds.
#![deny(unsafe_code)]

mod mutate;
pub mod targets;

use std::time::{Duration, Instant};

use mutate::Mutator;

/// A fuzz target.
pub struct Target {
    /// Name of the target and of its libFuzzer binary.
    pub name: &'static str,
    /// Runs the code under test, and panics if a law is broken.
    pub run: fn(&[u8]),
    /// Valid initial inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "bgv_files", run: targets::bgv_files::run, seeds: targets::bgv_files::seeds },
    Target { name: "bigint", run: targets::bigint::run, seeds: targets::bigint::seeds },
    Target { name: "container", run: targets::container::run, seeds: targets::container::seeds },
    Target { name: "files", run: targets::files::run, seeds: targets::files::seeds },
    Target { name: "gh_files", run: targets::gh_files::run, seeds: targets::gh_files::seeds },
    Target { name: "lease_messages", run: targets::lease_messages::run, seeds: targets::lease_messages::seeds },
    Target { name: "lwe_files", run: targets::lwe_files::run, seeds: targets::lwe_files::seeds },
    Target { name: "lwe_streams", run: targets::lwe_streams::run, seeds: targets::lwe_streams::seeds },
    Target { name: "netlist", run: targets::netlist::run, seeds: targets::netlist::seeds },
    Target { name: "ntru_files", run: targets::ntru_files::run, seeds: targets::ntru_files::seeds },
    Target { name: "program", run: targets::program::run, seeds: targets::program::seeds },
    Target { name: "ptx", run: targets::ptx::run, seeds: targets::ptx::seeds },
    Target { name: "rsa", run: targets::rsa::run, seeds: targets::rsa::seeds },
];

/// Address space of a smoke run of one target, bytes. The largest target takes 0.9 GB on four cores.
pub const MEMORY: u64 = 4 << 30;

/// Limits the memory of this process to [`MEMORY`], if the system supports it.
///
/// An allocation above the limit fails. This ends the process, unless the code under test reports it as an error.
pub fn limit_memory() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::As).maximum;
        let current = Some(maximum.map_or(MEMORY, |maximum| maximum.min(MEMORY)));
        if let Err(error) = setrlimit(Resource::As, Rlimit { current, maximum }) {
            eprintln!("cannot limit the memory: {error}");
        }
    }
}

/// Runs a target on its seeds and on mutations of them, for about `time`. The same `seed` gives the same inputs. Returns the number of inputs.
///
/// If an input causes a panic, it is printed in hexadecimal before the panic continues.
pub fn smoke(target: &Target, seed: u64, time: Duration) -> u64 {
    let seeds = (target.seeds)();
    let mut mutator = Mutator::new(seed);
    let end = Instant::now() + time;
    let mut count = 0;
    for input in &seeds {
        run_reported(target, input);
        count += 1;
    }
    while Instant::now() < end {
        let input = mutator.mutate(&seeds);
        run_reported(target, &input);
        count += 1;
    }
    count
}

fn run_reported(target: &Target, input: &[u8]) {
    if let Err(panic) = std::panic::catch_unwind(|| (target.run)(input)) {
        let hex: String = input.iter().map(|byte| format!("{byte:02x}")).collect();
        eprintln!("{} fails on these {} bytes:\n{hex}", target.name, input.len());
        std::panic::resume_unwind(panic);
    }
}
