//! Fuzz targets, written once and run two ways: by libFuzzer for hours (`fuzz_targets/`), and by [`smoke`] with a fixed seed for seconds.
#![deny(unsafe_code)]

mod mutate;
pub mod targets;

use std::time::{Duration, Instant};

use mutate::Mutator;

/// One target.
pub struct Target {
    /// Name, also of the libFuzzer binary.
    pub name: &'static str,
    /// Runs the code under test; panics if a law is broken.
    pub run: fn(&[u8]),
    /// Valid inputs to begin from.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target { name: "bgv_files", run: targets::bgv_files::run, seeds: targets::bgv_files::seeds },
    Target { name: "bigint", run: targets::bigint::run, seeds: targets::bigint::seeds },
    Target { name: "container", run: targets::container::run, seeds: targets::container::seeds },
    Target { name: "files", run: targets::files::run, seeds: targets::files::seeds },
    Target { name: "gh_files", run: targets::gh_files::run, seeds: targets::gh_files::seeds },
    Target { name: "lwe_files", run: targets::lwe_files::run, seeds: targets::lwe_files::seeds },
    Target { name: "lwe_streams", run: targets::lwe_streams::run, seeds: targets::lwe_streams::seeds },
    Target { name: "netlist", run: targets::netlist::run, seeds: targets::netlist::seeds },
    Target { name: "ntru_files", run: targets::ntru_files::run, seeds: targets::ntru_files::seeds },
    Target { name: "program", run: targets::program::run, seeds: targets::program::seeds },
    Target { name: "rsa", run: targets::rsa::run, seeds: targets::rsa::seeds },
];

/// Bytes of address space that a smoke run of one target gets: about twice what the largest needs.
pub const MEMORY: u64 = 4 << 30;

/// Bounds the memory of this process to [`MEMORY`], where the system can.
///
/// An allocation above it fails, which ends the process unless the code under test reports it as an error.
pub fn limit_memory() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::As).maximum;
        let current = Some(maximum.map_or(MEMORY, |maximum| maximum.min(MEMORY)));
        if let Err(error) = setrlimit(Resource::As, Rlimit { current, maximum }) {
            eprintln!("memory is not bounded: {error}");
        }
    }
}

/// Runs a target on its seeds and on mutations of them, the same ones for the same `seed`, for about `time`. Returns how many inputs it ran.
///
/// A panicking input is printed in hexadecimal before the panic goes on.
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
