//! Limits of what the heaviest kernels execute: instructions, transactions of shared memory, sectors of global memory.

use solinas_ptx::{Counters, Launch, Machine, Module, Options};

/// A parameter.
#[derive(Clone, Copy)]
enum Parameter {
    /// A buffer of zeros, bytes.
    Zeros(u64),
    /// A null pointer.
    Null,
    Number(u32),
    Long(u64),
}
use Parameter::{Long, Null, Number, Zeros};

/// The counters of one launch. Addresses do not depend on the data, which are zeros.
fn count(text: &str, name: &str, launch: &Launch, parameters: &[Parameter]) -> Counters {
    let mut machine = Machine::new(Options::default());
    let mut block: Vec<u8> = Vec::new();
    for &parameter in parameters {
        let long = match parameter {
            Zeros(bytes) => {
                let address = machine.allocate(bytes).unwrap();
                machine.fill(address, 0, bytes).unwrap();
                address
            }
            Null => 0,
            Long(value) => value,
            Number(value) => {
                block.extend(value.to_le_bytes());
                continue;
            }
        };
        block.resize(block.len().next_multiple_of(8), 0);
        block.extend(long.to_le_bytes());
    }
    let module = Module::parse(text).unwrap();
    machine.launch(module.kernel(name).unwrap(), launch, &block).unwrap().counters
}

macro_rules! ptx {
    ($file:literal) => {
        include_str!(concat!("../../ptx/", $file, ".ptx"))
    };
}

/// Points of the transform.
const POINTS: u32 = 1 << 16;
/// Bytes of its points, and of a table of factors for each of them.
const WORDS: Parameter = Zeros(8 * POINTS as u64);
const FACTORS: Parameter = Zeros(16 * POINTS as u64);
/// The factors of 256 points.
const INNER: Parameter = Zeros(16 * 256);

/// A kernel of the transform of 2^16 points or of a product by it, with its limits.
struct Row {
    file: &'static str,
    name: &'static str,
    grid: [u32; 2],
    block: u32,
    parameters: Vec<Parameter>,
    /// Instructions of the PTX a point.
    instructions: f64,
    /// Sectors of global memory over the least number.
    sectors: f64,
}

fn rows() -> Vec<Row> {
    let row = |file, name, grid, block, parameters, instructions, sectors| Row {
        file,
        name,
        grid,
        block,
        parameters,
        instructions,
        sectors,
    };
    let n = Number(POINTS);
    let (columns, rows) = (ptx!("solinas_columns"), ptx!("solinas_rows"));
    vec![
        row(columns, "solinas_forward_columns_8", [16, 1], 256, vec![WORDS, INNER, Null, n, Number(8)], 102.0, 1.0),
        row(
            columns,
            "solinas_inverse_columns_8",
            [16, 1],
            256,
            vec![WORDS, INNER, FACTORS, n, Number(8), Number(1)],
            129.0,
            1.0,
        ),
        row(
            rows,
            "solinas_forward_rows_8",
            [16, 1],
            256,
            vec![WORDS, INNER, FACTORS, n, Number(POINTS - 1)],
            134.0,
            1.0,
        ),
        row(rows, "solinas_inverse_rows_8", [16, 1], 256, vec![WORDS, INNER, Long(0), n, Number(0)], 105.0, 1.0),
        row(
            ptx!("solinas_digits"),
            "solinas_digit_columns_8",
            [16, 2],
            256,
            vec![
                WORDS,
                WORDS,
                Zeros(98_128),
                Zeros(98_128),
                INNER,
                Number(1),
                n,
                Number(8),
                Number(24_532),
                Number(24_532),
                Number(24),
            ],
            207.0,
            1.15,
        ),
        row(
            ptx!("solinas_product"),
            "solinas_product_rows",
            [32, 1],
            128,
            vec![WORDS, WORDS, WORDS, INNER, INNER, FACTORS, n, Number(POINTS - 1)],
            343.0,
            1.0,
        ),
    ]
}

#[test]
fn kernels_of_a_product_stay_within_their_limits() {
    for row in rows() {
        let [x, y] = row.grid;
        let launch = Launch { grid: [x, y, 1], ..Launch::line(1, row.block) };
        let counters = count(row.file, row.name, &launch, &row.parameters);
        let instructions = counters.total() as f64 / f64::from(POINTS);
        let sectors = counters.sectors as f64 / counters.sectors_least as f64;
        println!("{}: {instructions:.1} instructions a point, {sectors:.2} times the least sectors", row.name);
        assert_eq!(counters.bank_transactions, counters.bank_least, "{}: bank conflicts", row.name);
        assert!(instructions <= row.instructions, "{}: {instructions:.1} instructions a point", row.name);
        assert!(sectors <= row.sectors, "{}: {sectors:.2} times the least sectors", row.name);
    }
}
