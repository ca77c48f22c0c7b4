//! Limits of what the kernels execute, and their portable twin.

use solinas_ptx::{Counters, Launch, Machine, Module, Options};

macro_rules! ptx {
    ($file:literal) => {
        include_str!(concat!("../../ptx/", $file, ".ptx"))
    };
}

/// A machine and the parameters of a launch.
struct Run {
    machine: Machine,
    parameters: Vec<u8>,
    /// The first buffer.
    result: Option<(u64, usize)>,
}

impl Run {
    fn new() -> Self {
        Self { machine: Machine::new(Options::default()), parameters: Vec::new(), result: None }
    }

    fn buffer(mut self, words: &[u32]) -> Self {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let at = self.machine.allocate(bytes.len() as u64).unwrap();
        self.machine.write(at, &bytes).unwrap();
        self.result.get_or_insert((at, bytes.len()));
        self.long(at)
    }

    fn long(mut self, value: u64) -> Self {
        self.parameters.resize(self.parameters.len().next_multiple_of(8), 0);
        self.parameters.extend(value.to_le_bytes());
        self
    }

    fn numbers(mut self, values: &[u32]) -> Self {
        values.iter().for_each(|value| self.parameters.extend(value.to_le_bytes()));
        self
    }

    /// Runs a kernel. Returns its counters and the bytes of the first buffer.
    fn launch(mut self, text: &str, name: &str, grid: [u32; 3], block: u32) -> (Counters, Vec<u8>) {
        let module = Module::parse(text).unwrap();
        let launch = Launch { grid, ..Launch::line(1, block) };
        let report = self.machine.launch(module.kernel(name).unwrap(), &launch, &self.parameters).unwrap();
        let (at, len) = self.result.unwrap();
        let mut bytes = vec![0; len];
        self.machine.read(at, &mut bytes).unwrap();
        (report.counters, bytes)
    }
}

const ROWS: usize = 512;
const MODULUS: u32 = 0x7FFF_FFFF;
/// A key of the generator.
const KEY: [u32; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

/// A product of `ROWS` rows of all-ones words with `lanes` vectors of them, in two slices.
fn multiply(text: &str, name: &str, columns: usize, lanes: usize) -> (Counters, Vec<u8>) {
    let sums = vec![0; 2 * lanes * 3 * columns];
    let run = Run::new().buffer(&sums).buffer(&vec![u32::MAX; ROWS * columns]).buffer(&vec![u32::MAX; ROWS * lanes]);
    let numbers = [0, 1, columns as u32, ROWS as u32, 0, ROWS as u32, ROWS as u32 / 2];
    run.long(0).numbers(&numbers).launch(text, name, [1, 2, 1], 256)
}

/// A product of `ROWS` rows from a seed with a vector, in two slices.
fn seeded(name: &str, columns: usize, parts: usize) -> Counters {
    let (sums, factors) = (vec![0; 2 * parts * 3 * columns], vec![MODULUS - 1; ROWS]);
    let run = Run::new().buffer(&sums).buffer(&factors).long(0).buffer(&[MODULUS]);
    let numbers = [0, 1, columns as u32, 0, ROWS as u32, ROWS as u32, ROWS as u32 / 2];
    run.numbers(&numbers).numbers(&KEY).launch(ptx!("lwe_seeded"), name, [1, 2, parts as u32], 256).0
}

fn expand(columns: usize) -> Counters {
    let groups = (ROWS * columns / 256) as u32;
    let run = Run::new().buffer(&vec![0; ROWS * columns]).long(0).buffer(&[MODULUS]).long(0);
    let numbers = [0, 1, columns as u32, 0, ROWS as u32, ROWS as u32];
    run.numbers(&numbers).numbers(&KEY).launch(ptx!("lwe_expand"), "lwe_expand", [groups.div_ceil(16), 1, 1], 256).0
}

#[test]
fn kernels_stay_within_their_limits() {
    let multiply = |name, columns, lanes| multiply(ptx!("lwe_multiply"), name, columns, lanes).0;
    // Instructions of the PTX a word of the matrix, sectors and transactions of shared memory over the least number.
    for (what, counters, columns, instructions, sectors, banks) in [
        ("multiply_1", multiply("lwe_multiply_1", 1024, 1), 1024, 4.8, 1.0, 1.0),
        ("multiply_1", multiply("lwe_multiply_1", 304, 1), 304, 5.3, 1.01, 1.0),
        ("multiply_8", multiply("lwe_multiply_8", 1024, 8), 1024, 29.0, 1.0, 1.0),
        // Shared memory is in use at the end of a block alone.
        ("seeded_whole", seeded("lwe_seeded_whole", 1024, 1), 1024, 32.5, 1.0, 1.9),
        ("seeded", seeded("lwe_seeded", 304, 2), 304, 48.0, 1.1, 1.2),
        ("expand", expand(1024), 1024, 33.0, 1.0, 0.0),
    ] {
        let instructions_of_word = counters.total() as f64 / (ROWS * columns) as f64;
        let ratio = counters.sectors as f64 / counters.sectors_least as f64;
        let bank_ratio = counters.bank_transactions as f64 / counters.bank_least.max(1) as f64;
        println!(
            "{what}, {columns} columns: {instructions_of_word:.1} instructions a word, {ratio:.2} times the least \
             sectors, {bank_ratio:.2} times the least bank transactions"
        );
        assert!(instructions_of_word <= instructions, "{what}: {instructions_of_word:.2} instructions a word");
        assert!(ratio <= sectors, "{what}: {ratio:.3} times the least sectors");
        assert!(bank_ratio <= banks, "{what}: {bank_ratio:.3} times the least bank transactions");
    }
}

#[test]
fn carries_in_ptx_are_those_of_the_portable_code() {
    for columns in [16, 1024] {
        let (_, carries) = multiply(ptx!("lwe_multiply"), "lwe_multiply_1", columns, 1);
        let (_, portable) = multiply(ptx!("lwe_multiply_portable"), "lwe_multiply_portable", columns, 1);
        assert_eq!(carries, portable);
        // 256 times the square of the largest word, in each slice.
        let sum = 256 * u128::from(u32::MAX).pow(2);
        let part = |i: usize| u32::from_le_bytes(carries[4 * i * columns..][..4].try_into().unwrap());
        let got = (0..3).map(|i| u128::from(part(i)) << (32 * i)).sum::<u128>();
        assert_eq!(got, sum);
    }
}
