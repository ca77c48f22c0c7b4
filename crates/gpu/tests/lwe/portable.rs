//! The carry chains of `lwe_multiply` in PTX, and their portable twin.

use solinas_ptx::{Launch, Machine, Module, Options};

const ROWS: usize = 512;

/// The sums of a product of `ROWS` rows of all-ones words with a vector of them, in two slices: 32-bit words, as bytes.
fn sums(text: &str, name: &str, columns: usize) -> Vec<u8> {
    let mut machine = Machine::new(Options::default());
    let mut parameters = Vec::new();
    let bytes = [2 * 3 * columns, ROWS * columns, ROWS].map(|words| 4 * words as u64);
    for (bytes, fill) in bytes.into_iter().zip([0, u8::MAX, u8::MAX]) {
        let address = machine.allocate(bytes).unwrap();
        machine.fill(address, fill, bytes).unwrap();
        parameters.extend(address.to_le_bytes());
    }
    let sums = u64::from_le_bytes(parameters[..8].try_into().unwrap());
    parameters.extend(0u64.to_le_bytes());
    let numbers = [0, 1, columns as u32, ROWS as u32, 0, ROWS as u32, ROWS as u32 / 2];
    parameters.extend(numbers.into_iter().flat_map(u32::to_le_bytes));
    let module = Module::parse(text).unwrap();
    let launch = Launch { grid: [1, 2, 1], ..Launch::line(1, 256) };
    machine.launch(module.kernel(name).unwrap(), &launch, &parameters).unwrap();
    let mut out = vec![0; bytes[0] as usize];
    machine.read(sums, &mut out).unwrap();
    out
}

#[test]
fn carries_in_ptx_are_those_of_the_portable_code() {
    for columns in [16, 1024] {
        let carries = sums(include_str!("../../ptx/lwe_multiply.ptx"), "lwe_multiply_1", columns);
        let portable = include_str!("../../ptx/lwe_multiply_portable.ptx");
        assert_eq!(carries, sums(portable, "lwe_multiply_portable", columns));
        // 256 times the square of the largest word, in each slice.
        let sum = 256 * u128::from(u32::MAX).pow(2);
        let part = |i: usize| u32::from_le_bytes(carries[4 * i * columns..][..4].try_into().unwrap());
        let got = (0..3).map(|i| u128::from(part(i)) << (32 * i)).sum::<u128>();
        assert_eq!(got, sum);
    }
}
