//! Limits of what the transforms execute: instructions, transactions of shared memory, sectors of global memory.

use solinas_ptx::{Counters, Launch, Machine, Module, Options};

/// The counters of a transform of `towers` towers of 2^log points. Addresses do not depend on the data, which are 0.
fn count(text: &str, name: &str, grid: u32, towers: u32, log: u32) -> Counters {
    let mut machine = Machine::new(Options::default());
    let points = u64::from(towers) << log;
    let mut block: Vec<u8> = Vec::new();
    for bytes in [8 * points, 16 * points, 32 * u64::from(towers)] {
        let address = machine.allocate(bytes).unwrap();
        machine.fill(address, 0, bytes).unwrap();
        block.extend(address.to_le_bytes());
    }
    let numbers = if name.contains("rows") { vec![0, towers, towers, log] } else { vec![0, towers, log] };
    block.extend(numbers.iter().flat_map(|number: &u32| number.to_le_bytes()));
    let module = Module::parse(text).unwrap();
    let launch = Launch { grid: [grid, 1, 1], ..Launch::line(1, 256) };
    machine.launch(module.kernel(name).unwrap(), &launch, &block).unwrap().counters
}

#[test]
fn transforms_stay_within_their_limits() {
    let (rows, columns) = (include_str!("../../ptx/prime_rows.ptx"), include_str!("../../ptx/prime_columns.ptx"));
    for (text, name, log, limit, most_sectors) in [
        (rows, "prime_forward_rows", 6, 90.0, 1.55),
        (rows, "prime_forward_rows", 12, 140.0, 1.5),
        (rows, "prime_inverse_rows", 12, 140.0, 1.5),
        (columns, "prime_forward_columns", 14, 30.0, 1.02),
        (columns, "prime_inverse_columns", 14, 30.0, 1.02),
    ] {
        let towers = if log == 6 { 64 } else { 1 };
        let points = towers << log;
        let counters = count(text, name, points / 4096, towers, log);
        let instructions = counters.total() as f64 / f64::from(points);
        let sectors = counters.sectors as f64 / counters.sectors_least as f64;
        println!("{name}, N = 2^{log}: {instructions:.1} instructions a point, {sectors:.2} times the least sectors");
        assert_eq!(counters.bank_transactions, counters.bank_least, "{name}: bank conflicts");
        assert!(instructions <= limit, "{name}: {instructions:.1} instructions a point");
        assert!(sectors <= most_sectors, "{name}: {sectors:.2} times the least sectors");
    }
}
