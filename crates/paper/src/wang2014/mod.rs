//! Wang's dissertation: operation counts of modular multiplications (table 3.1), multiplication (table 4.1), leveled LWE (tables 6.1, 6.4, 6.5), RSA (table 7.3).

mod gh;
mod lwe;

pub(crate) use gh::{PRIMITIVES, WINDOWS, primitives, windows};
pub(crate) use lwe::{COMPARED, MEMORY, PRODUCT, compared, memory, product};

use crate::count::{Algorithm, Case, Counts};
use crate::timing::{self, Seconds, Timer, one_and};
use crate::wang2015::{self, Published};
use crate::{Cell, Column, Control, Entry, Error, Options, Report, Row, Table};
use crate::{machine, report::six_figures};
use solinas_bigint::{Method, Modulus, ModulusOptions, fft};

const TITLE: &str = "Accelerating Cryptosystems on Hardware Platforms";

pub(crate) const COUNTS: Entry = Entry {
    name: "wang2014-3.1",
    title: TITLE,
    summary: "word operations of a 768K-bit modular multiplication: interleaved Montgomery, Karatsuba, transforms (table 3.1)",
};

pub(crate) const MULTIPLICATION: Entry = Entry {
    name: "wang2014-4.1",
    title: TITLE,
    summary: "multiplication of integers of 1024 to 16384 Kbit (table 4.1)",
};

pub(crate) const RSA: Entry = Entry {
    name: "wang2014-7.3",
    title: TITLE,
    summary: "RSA of 8192 and 12288 bits: modular multiplication and exponentiation (table 7.3)",
};

/// 786,432 bits.
const COUNTED_WORDS: usize = 12_288;
/// Points of a transform: twice 32768 digits of 24 bits.
const COUNTED_POINTS: usize = 1 << 16;

/// Table 3.1, in the order of [`Counts::NAMES`].
const PAPER_COUNTS: [(&str, Algorithm, [u64; 8]); 3] = [
    (
        "Interleaved Montgomery",
        Algorithm::Interleaved,
        [302_002_176, 603_992_064, 1_207_898_112, 0, 0, 603_942_912, 0, 0],
    ),
    ("Karatsuba, three products", Algorithm::Karatsuba, [26_138_787, 52_277_574, 249_505_992, 0, 0, 155_445_660, 0, 0]),
    (
        "Transforms, three products",
        Algorithm::Transform { points: COUNTED_POINTS },
        [2_083_530, 4_167_060, 49_345_563, 14_112_477, 4_639_830, 25_947_906, 25_947_906, 1_886_934],
    ),
];

const PAPER_MULTIPLICATION: Published =
    [(1024, 8.1, 0.765), (2048, 18.8, 1.483), (4096, 42.0, 3.201), (8192, 97.0, 6.383), (16_384, 221.5, 12.718)];

/// Bits, microseconds of a modular multiplication, worst-case seconds of an exponentiation, Kbit/s.
const PAPER_RSA: [(usize, f64, f64, f64); 2] = [(8192, 6.34, 0.104, 78.8), (12_288, 6.34, 0.156, 78.8)];

/// Table 3.1.
pub(crate) fn counts(options: &Options, control: &Control<'_>) -> Result<Report, Error> {
    let mut timer = Timer::new(options, control, PAPER_COUNTS.len());
    let mut report = Report::new(COUNTS, "MIPS64 assembly, instructions counted", options, 1);
    let case = Case::new(COUNTED_WORDS);
    for (name, algorithm, paper) in PAPER_COUNTS {
        let (counts, is_right) = timer.once(|| case.count(algorithm))?;
        timing::right(|| name.to_owned(), is_right)?;
        report.tables.push(count_table(name, &counts, &paper));
    }
    report.notes = vec![
        "One modular multiplication of 786,432 bits in 64-bit word operations, counted as in the paper. Each algorithm ran in Montgomery's form on a machine that counts its operations, and its result is right. Loads, stores, addresses and branches do not count, and neither does precomputation from the modulus.".into(),
        "Interleaved, n words: 2 n^2 + n dmultu, which is exactly the paper's number. Additions and comparisons differ by a few n, in the highest words of each row. The paper's column sums to 2717.8 million, not 2718.0.".into(),
        "Karatsuba, down to three words, where sums of halves have one more word: T(n) = 2 T(n/2) + T(n/2 + 1) gives exactly the paper's dmultu. A sum of words needs three additions and two comparisons. The paper does not state how far carries run past the middle product. Our counts are a few percent higher.".into(),
        "Transforms: 24-bit digits, 65536 points, nine transforms by radix 16 with shifts. Each load immediate loads a twiddle factor. Our code skips factors that are 1, and removes the factor 65536 by shifts. The paper's root 0xE9653C8DEFA860A9 has the order 3 2^32. Our root has the order 65536, and its 4096th power is 2^12. A sum modulo p needs one comparison here, because it is computed through p - b.".into(),
    ];
    Ok(report)
}

fn count_table(name: &str, counts: &Counts, paper: &[u64; 8]) -> Table {
    let row = |name: &str, ours: u64, paper: u64| Row {
        name: name.into(),
        bits: None,
        unit: None,
        cells: vec![Some(Cell::counted(ours))],
        paper: Some(paper as f64),
        ratio: (paper > 0).then(|| six_figures(ours as f64 / paper as f64)),
        note: None,
    };
    let each = Counts::NAMES.iter().zip(counts.values()).zip(paper);
    let mut rows: Vec<_> = each.map(|((name, ours), &paper)| row(name, ours, paper)).collect();
    rows.push(row("total", counts.total(), paper.iter().sum()));
    Table { title: name.into(), columns: vec![Column::new("ours", None)], rows }
}

/// Table 4.1.
pub(crate) fn multiplication(options: &Options, control: &Control<'_>) -> Result<Report, Error> {
    let machine = "Xeon X5650 2.67 GHz (that of tables 4.3 and 5.3); Tesla C2050";
    wang2015::products(MULTIPLICATION, machine, &PAPER_MULTIPLICATION, options, control)
}

/// Table 7.3.
pub(crate) fn rsa(options: &Options, control: &Control<'_>) -> Result<Report, Error> {
    rsa_of(&PAPER_RSA, options, control)
}

fn rsa_of(paper: &[(usize, f64, f64, f64)], options: &Options, control: &Control<'_>) -> Result<Report, Error> {
    let busy = machine::load();
    let threads = timing::threads(options);
    let by_transforms = one_and(threads).into_iter().map(|threads| (Method::FftMontgomery, threads));
    let ways: Vec<_> = [(Method::Montgomery, 1)].into_iter().chain(by_transforms).collect();
    let mut timer = Timer::new(options, control, 2 * paper.len() * ways.len());
    let mut report = Report::new(RSA, "90 nm ASIC at 320 MHz, 5.3 million gates", options, threads);
    let (mut times, mut powers, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    for &(bits, time, power, rate) in paper {
        let mut m = timing::number(bits, 1);
        m.set_bit(0);
        let (a, b) = (timing::number(bits - 1, 2), timing::number(bits - 1, 3));
        let (mut products, mut seconds, mut firsts) = (Vec::new(), Vec::new(), None);
        for &(method, threads) in &ways {
            let fft = fft::Options { threads, ..fft::Options::default() };
            let modulus = Modulus::with_options(&m, &ModulusOptions { method: Some(method), fft })?;
            let (product_seconds, product) = timer.seconds(|| Ok(modulus.mul(&a, &b)?))?;
            let (power_seconds, result) = timer.seconds(|| Ok(modulus.pow(&a, &b)?))?;
            let results = (product, result);
            let want = firsts.get_or_insert_with(|| results.clone());
            timing::right(|| format!("{method:?}, {bits} bits"), *want == results)?;
            products.push(product_seconds);
            seconds.push(power_seconds);
        }
        let rate_of = |times: &Seconds| Cell::measured(bits as f64 / times.median / 1e3);
        let timed = |all: &[Seconds], units: f64| all.iter().map(|times| Cell::timed(*times, units)).collect();
        times.push(rsa_row(bits, "modular multiplication", "us", timed(&products, 1e6), time));
        powers.push(rsa_row(bits, "exponentiation", "s", timed(&seconds, 1.0), power));
        rates.push(rsa_row(bits, "throughput", "Kbit/s", seconds.iter().map(rate_of).collect(), rate));
    }
    let name = |(method, threads): &(Method, usize)| match (method, threads) {
        (Method::Montgomery, _) => "by words, 1 thread".to_owned(),
        (_, 1) => "by transforms, 1 thread".to_owned(),
        (_, threads) => format!("by transforms, {threads} threads"),
    };
    let columns = ways.iter().map(|way| Column::new(name(way), None)).collect();
    let rows = [times, powers, rates].concat();
    report.tables.push(Table { title: "RSA, beside the paper's circuit".into(), columns, rows });
    report.notes = vec![
        "Products modulo an odd number of the stated bits, and powers with exponents of the same length, without the CRT, as in the paper. The time of a power does not depend on the exponent. Our code runs on the machine named above, word by word and by transforms (algorithms 7.1 and 7.2). The paper's figures are worst-case figures of its circuit for one exponent.".into(),
        "Operands and results of a product are ordinary numbers. Word by word, a product is thus two Montgomery products; a power needs one for each step. The ratio is the first column over the paper's. All methods agree. Times are medians of repeated runs. `solinas rsa` uses the CRT, which takes about a quarter of the time.".into(),
    ];
    report.notes.extend(machine::busy_note(busy));
    Ok(report)
}

fn rsa_row(bits: usize, what: &str, unit: &str, ours: Vec<Cell>, paper: f64) -> Row {
    let ratio = ours.first().map(|first| six_figures(first.ours / paper));
    Row {
        name: format!("{what}, {bits} bits"),
        bits: None,
        unit: Some(unit.into()),
        cells: ours.into_iter().map(Some).collect(),
        paper: Some(paper),
        ratio,
        note: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_the_paper_are_near() {
        let report = counts(&Options::default(), &Control::default()).unwrap();
        let ratio = |table: usize, row: usize| report.tables[table].rows[row].ratio.unwrap();
        // The number of word products is exactly the paper's for the first two algorithms.
        assert_eq!((ratio(0, 0), ratio(1, 0)), (1.0, 1.0));
        assert_eq!(report.tables[0].rows[1].ratio, Some(1.0));
        for (table, near) in [(0, 0.001), (1, 0.15), (2, 0.15)] {
            assert!((ratio(table, 8) - 1.0).abs() < near, "{}: {}", report.tables[table].title, ratio(table, 8));
        }
    }

    #[test]
    fn rsa_is_measured_by_every_method() {
        let options = Options { quick: true, threads: Some(2), ..Options::default() };
        let report = rsa_of(&[(512, 1.0, 1.0, 1.0), (640, 1.0, 1.0, 1.0)], &options, &Control::default()).unwrap();
        assert_eq!(report.tables[0].rows.len(), 6);
        assert!(report.tables[0].rows.iter().all(|row| row.cells.len() == 3));
    }
}
