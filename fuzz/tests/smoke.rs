//! Every target runs for some seconds in a process of its own.
//!
//! `cargo xtask fuzz-smoke` sets the duration and the seed.
#![forbid(unsafe_code)]

use solinas_fuzz::{MEMORY, TARGETS};
use solinas_testing::rounds;
use std::process::Command;

/// Values of `SOLINAS_FUZZ_SECONDS` and `SOLINAS_FUZZ_SEED`, or the defaults of the tests and of the binary.
fn options() -> Vec<String> {
    let seconds = std::env::var("SOLINAS_FUZZ_SECONDS").unwrap_or_else(|_| rounds(1, 30).to_string());
    let seed = std::env::var("SOLINAS_FUZZ_SEED").ok().map(|seed| format!("--seed={seed}"));
    [format!("--seconds={seconds}")].into_iter().chain(seed).collect()
}

fn passes(target: &str) {
    let mut smoke = Command::new(env!("CARGO_BIN_EXE_smoke"));
    let status = smoke.arg(target).args(options()).status().unwrap_or_else(|error| panic!("{target}: {error}"));
    let mib = MEMORY >> 20;
    assert!(
        status.success(),
        "{target}: {status}; a failed allocation means that an input asks for more than {mib} MiB"
    );
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            passes(stringify!($name));
        })*

        #[test]
        fn every_target_has_a_test() {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

targets! { bgv_files bigint container files gh_files lease_messages lwe_files lwe_streams netlist ntru_files program ptx rsa }
