//! Each planted fault is found by its own check, and by no other.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use solinas_ptx::{Checks, Fault, FaultKind, Launch, Machine, Module, Options};

const BLOCKS: u64 = 2;
const THREADS: u64 = 128;

fn text(name: &str) -> String {
    let path = format!("{}/tests/planted/{name}.ptx", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Operands whose products and sums carry.
fn operands() -> (Vec<u64>, Vec<u64>) {
    let word = |i: u64| u64::MAX - i.wrapping_mul(0x0123_4567_89AB_CDEF) % 1000;
    let count = BLOCKS * THREADS;
    ((0..count).map(word).collect(), (0..count).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1).collect())
}

fn run(name: &str, checks: Checks, seed: u64) -> Result<Vec<u64>, Fault> {
    let module = Module::parse(&text(name)).unwrap();
    let kernel = module.kernel("planted").unwrap();
    let (x, w) = operands();
    let mut machine = Machine::new(Options { checks, seed, ..Options::default() });
    let sum = machine.allocate(16 * BLOCKS * THREADS)?;
    let mut parameters = sum.to_le_bytes().to_vec();
    for values in [&x, &w] {
        let address = machine.allocate(8 * values.len() as u64)?;
        machine.write(address, &bytes(values))?;
        parameters.extend(address.to_le_bytes());
    }
    machine.launch(kernel, &Launch::line(BLOCKS as u32, THREADS as u32), &parameters)?;
    let mut out = vec![0; (16 * BLOCKS * THREADS) as usize];
    machine.read(sum, &mut out)?;
    Ok(out.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect())
}

fn expected() -> Vec<u64> {
    let (x, w) = operands();
    let sum = |i: usize| u128::from(x[i]) * u128::from(w[i]) + u128::from(x[i ^ 1]) + u128::from(x[i ^ 64]);
    (0..x.len()).flat_map(|i| [sum(i) as u64, (sum(i) >> 64) as u64]).collect()
}

/// All checks but the one that finds this kind of fault.
fn all_but(kind: FaultKind) -> Checks {
    let mut checks = Checks::ALL;
    match kind {
        FaultKind::Uninitialised => checks.uninitialised = false,
        FaultKind::OutOfBounds => checks.bounds = false,
        FaultKind::Misaligned => checks.alignment = false,
        FaultKind::Race => checks.races = false,
        FaultKind::Barrier => checks.barriers = false,
        _ => {}
    }
    checks
}

#[test]
fn the_clean_kernel_passes_and_is_right() {
    for seed in 0..20 {
        assert_eq!(run("clean", Checks::ALL, seed).unwrap(), expected());
    }
    assert_eq!(run("clean", Checks::NONE, 0).unwrap(), expected());
}

#[test]
fn a_fault_of_values_changes_the_result_and_nothing_else() {
    for name in ["wrong_twiddle", "dropped_carry"] {
        assert_ne!(run(name, Checks::ALL, 1).unwrap(), expected(), "{name}");
    }
}

#[test]
fn each_fault_is_found_by_its_own_check() {
    for (name, kind, instruction) in [
        ("missing_barrier", FaultKind::Race, "ld.shared"),
        ("lane_race", FaultKind::Race, "st.shared"),
        ("block_race", FaultKind::Race, "st.global"),
        ("off_by_one", FaultKind::OutOfBounds, "ld.global"),
        ("misaligned", FaultKind::Misaligned, "ld.global"),
        ("uninitialised_shared", FaultKind::Uninitialised, "ld.shared"),
        ("uninitialised_global", FaultKind::Uninitialised, "ld.global"),
        ("lost_carry", FaultKind::Uninitialised, "addc.u64"),
        ("divergent_barrier", FaultKind::Barrier, "bar.sync"),
        ("early_exit", FaultKind::Barrier, "bar.sync"),
    ] {
        for seed in 0..20 {
            let fault = run(name, Checks::ALL, seed).unwrap_err();
            assert_eq!(fault.kind, kind, "{name}: {fault}");
            let place = fault.place.as_ref().unwrap();
            assert!(place.instruction.starts_with(instruction), "{name}: {fault}");
            let line = text(name).lines().nth(place.line as usize - 1).unwrap().trim().to_owned();
            assert!(line.contains(&place.instruction), "{name}: line {} is {line}", place.line);
        }
        // Without its check, nothing is reported but what the read of the result finds.
        if let Err(fault) = run(name, all_but(kind), 3) {
            assert!(fault.place.is_none(), "{name} without its check: {fault}");
        }
    }
}

#[test]
fn a_fault_names_its_place() {
    let fault = run("misaligned", Checks::ALL, 0).unwrap_err();
    let place = fault.place.clone().unwrap();
    assert_eq!((place.kernel.as_str(), place.thread), ("planted", [77, 0, 0]));
    assert_eq!(fault.address.unwrap() % 8, 4);
    let message = fault.to_string();
    assert!(message.starts_with("misaligned: an access of 8 bytes is not aligned to them (address 0x"), "{message}");
}
