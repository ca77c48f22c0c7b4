//! Wang, Hu, Chen, Huang, Sunar: modular addition, modular subtraction and multiplication of large integers, tables 2 to 4.

mod gh;

pub(crate) use gh::{MEMORY, METHODS, PRIMITIVES, STEPS_NOTE, Steps, memory, methods, primitives, steps};

use crate::timing::{self, Seconds, Timer, one_and};
use crate::{Cell, Column, Control, Entry, Error, Options, Report, Row, Table};
use crate::{machine, report::six_figures};
use solinas_bigint::fft::{self, Engine, Plan};
use solinas_bigint::{Modulus, Natural};
use solinas_circuits::counted;
use solinas_field::limbs;

const TITLE: &str = "Exploring the Feasibility of Fully Homomorphic Encryption";
const PAPER_MACHINE: &str = "i7-3770K 3.5 GHz, 8 GB; GTX 690";

pub(crate) const ADDITION: Entry =
    Entry { name: "wang2015-2", title: TITLE, summary: "addition modulo a number of 1024 to 16384 Kbit (table 2)" };

pub(crate) const SUBTRACTION: Entry =
    Entry { name: "wang2015-3", title: TITLE, summary: "subtraction modulo a number of 1024 to 16384 Kbit (table 3)" };

pub(crate) const MULTIPLICATION: Entry =
    Entry { name: "wang2015-4", title: TITLE, summary: "multiplication of integers of 1024 to 16384 Kbit (table 4)" };

/// Kbit, milliseconds on the CPU, milliseconds on the GPU.
pub(crate) type Published = [(usize, f64, f64); 5];

const PAPER_ADDITION: Published =
    [(1024, 0.032, 0.016), (2048, 0.069, 0.022), (4096, 0.139, 0.031), (8192, 0.526, 0.048), (16_384, 1.240, 0.082)];
const PAPER_SUBTRACTION: Published =
    [(1024, 0.020, 0.0163), (2048, 0.042, 0.023), (4096, 0.111, 0.034), (8192, 0.281, 0.054), (16_384, 0.579, 0.094)];
const PAPER_MULTIPLICATION: Published =
    [(1024, 8.5, 0.583), (2048, 15.1, 1.085), (4096, 30.4, 2.351), (8192, 63.1, 4.850), (16_384, 137.3, 8.835)];

/// A function of two numbers modulo a third, which writes its result into the first words.
type OnWords = fn(&mut [u64], &[u64], &[u64], &[u64]);

/// A sum or a difference modulo a number, computed in two ways.
struct Operation {
    name: &'static str,
    /// Returns a new number.
    number: fn(&Modulus, &Natural, &Natural) -> Result<Natural, solinas_bigint::Error>,
    /// Writes the result into words of the caller, for public numbers.
    words: OnWords,
    /// The result before reduction modulo the modulus.
    plain: fn(&Natural, &Natural, &Natural) -> Natural,
}

const SUM: Operation =
    Operation { name: "Addition", number: Modulus::add, words: limbs::vartime_add_mod, plain: |a, b, _| a + b };

const DIFFERENCE: Operation = Operation {
    name: "Subtraction",
    number: Modulus::sub,
    words: limbs::vartime_sub_mod,
    plain: |a, b, m| a + &m.abs_diff(b),
};

/// Table 2.
pub(crate) fn addition(options: &Options, control: &Control<'_>) -> Result<Report, Error> {
    sums(ADDITION, &SUM, &PAPER_ADDITION, options, control)
}

/// Table 3.
pub(crate) fn subtraction(options: &Options, control: &Control<'_>) -> Result<Report, Error> {
    sums(SUBTRACTION, &DIFFERENCE, &PAPER_SUBTRACTION, options, control)
}

/// Table 4.
pub(crate) fn multiplication(options: &Options, control: &Control<'_>) -> Result<Report, Error> {
    products(MULTIPLICATION, PAPER_MACHINE, &PAPER_MULTIPLICATION, options, control)
}

fn sums(
    entry: Entry,
    operation: &Operation,
    paper: &Published,
    options: &Options,
    control: &Control<'_>,
) -> Result<Report, Error> {
    let busy = machine::load();
    let mut timer = Timer::new(options, control, 2 * paper.len());
    let mut report = Report::new(entry, PAPER_MACHINE, options, 1);
    let mut rows = Vec::new();
    for &(kbit, cpu, gpu) in paper {
        // a < b < m, with the length of the modulus. So a + b exceeds m, and a - b is negative.
        let bits = 1024 * kbit;
        let m = timing::number(bits, 1);
        let (a, b) = (m.abs_diff(&timing::number(bits - 3, 2)), m.abs_diff(&timing::number(bits - 4, 3)));
        let modulus = Modulus::new(&m)?;
        let mut out = vec![0; m.words().len()];
        let (fast, ()) = timer.seconds(|| {
            (operation.words)(&mut out, a.words(), b.words(), m.words());
            Ok(())
        })?;
        let (seconds, result) = timer.seconds(|| Ok((operation.number)(&modulus, &a, &b)?))?;
        let plain = (operation.plain)(&a, &b, &m);
        let want = plain.checked_sub(&m).unwrap_or(plain);
        let is_right = result == want && Natural::from_words(out) == want;
        timing::right(|| format!("{} modulo {kbit} Kbit", operation.name), is_right)?;
        rows.push(row(kbit, &[fast, seconds], cpu, gpu));
    }
    let columns = ["into words", "a new number", "paper's GPU"].map(|name| Column::new(name, Some("ms")));
    let title = format!("{} modulo a number, beside the paper's CPU", operation.name);
    report.tables.push(Table { title, columns: columns.into(), rows });
    report.notes = vec![
        "Both operands and the modulus have the stated bits. Every operation passes the modulus, which is the longer case. Our code runs on one thread of the machine named above. The paper's figures are those of its CPU (paper) and of its GPU.".into(),
        "Column `into words`: one pass into memory of the caller, for public numbers. Column `a new number`: `Modulus`, whose time does not depend on the values, including the allocation. The ratio is the first column over the paper's CPU. Every result was checked. Times are medians of repeated runs.".into(),
    ];
    report.notes.extend(machine::busy_note(busy));
    Ok(report)
}

/// Measures products of two integers of the sizes of a table, with each of our engines.
pub(crate) fn products(
    entry: Entry,
    paper_machine: &str,
    paper: &Published,
    options: &Options,
    control: &Control<'_>,
) -> Result<Report, Error> {
    let busy = machine::load();
    let threads = timing::threads(options);
    let engines = [(Engine::Complex, "complex"), (Engine::Solinas, "Solinas")];
    let ways: Vec<_> =
        engines.iter().flat_map(|engine| one_and(threads).into_iter().map(move |t| (engine, t))).collect();
    let mut timer = Timer::new(options, control, paper.len() * ways.len());
    let mut report = Report::new(entry, paper_machine, options, threads);
    let mut rows = Vec::new();
    for &(kbit, cpu, gpu) in paper {
        let (a, b) = (timing::number(1024 * kbit, 1), timing::number(1024 * kbit, 2));
        let (mut all, mut first) = (Vec::new(), None::<Vec<u64>>);
        for &((engine, name), threads) in &ways {
            let options = fft::Options { engine: Some(*engine), threads, ..fft::Options::default() };
            let (seconds, product) = product(&mut timer, a.words(), b.words(), &options)?;
            let want = first.get_or_insert_with(|| product.clone());
            timing::right(|| format!("{name}, {kbit} Kbit"), *want == product)?;
            all.push(seconds);
        }
        let mut row = row(kbit, &all, cpu, gpu);
        row.cells.insert(ways.len(), None);
        rows.push(row);
    }
    let name = |threads| counted(threads, "thread");
    let ours =
        ways.iter().map(|((_, engine), threads)| Column::new(format!("{engine}, {}", name(*threads)), Some("ms")));
    let columns = ours.chain(["GPU", "paper's GPU"].map(|name| Column::new(name, Some("ms")))).collect();
    report.tables.push(Table { title: "Multiplication, beside the paper's CPU".into(), columns, rows });
    report.notes = vec![
        "Full products of two integers of the stated bits. The times include both transforms and the inverse, but not the construction of plans. Our code runs on the machine named above, by complex doubles with a proven bound (the default) and over 2^64 - 2^32 + 1. The paper's figures are those of its CPU (paper) and of its GPU.".into(),
        "Column `GPU` is empty, because docs/measurements/gpu-2026-11.md has no figures of these lengths.".into(),
        "The ratio is the first column over the paper's CPU. The products of both engines agree. Times are medians of repeated runs.".into(),
    ];
    report.notes.extend(machine::busy_note(busy));
    Ok(report)
}

/// The times, and the product without leading zeros.
fn product(timer: &mut Timer<'_>, a: &[u64], b: &[u64], options: &fft::Options) -> Result<(Seconds, Vec<u64>), Error> {
    let plan = Plan::for_product(a.len(), b.len(), options)?;
    let mut out = vec![0; plan.out_words()];
    let (seconds, ()) = timer.seconds(|| Ok(plan.mul(&mut out, a, b)?))?;
    Ok((seconds, Natural::from_words(out).into_words()))
}

/// The figures of a row, in milliseconds.
fn row(kbit: usize, times: &[Seconds], cpu: f64, gpu: f64) -> Row {
    let ours = times.iter().map(|times| Cell::timed(*times, 1e3));
    let ratio = ours.clone().next().map(|first| six_figures(first.ours / cpu));
    let cells = ours.chain([Cell::published(gpu)]).map(Some).collect();
    Row { name: format!("{kbit} Kbit"), bits: None, unit: None, cells, paper: Some(cpu), ratio, note: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products_are_measured_beside_the_paper() {
        let options = Options { quick: true, threads: Some(2), ..Options::default() };
        let control = Control::default();
        let small = [(1, 8.5, 0.583), (2, 15.1, 1.085), (3, 30.4, 2.351), (5, 63.1, 4.85), (16, 137.3, 8.835)];
        let report = products(MULTIPLICATION, PAPER_MACHINE, &small, &options, &control).unwrap();
        let table = &report.tables[0];
        assert_eq!((table.rows.len(), table.columns.len()), (5, 6));
        assert_eq!((table.columns[4].name.as_str(), table.rows[0].cells.len()), ("GPU", 6));
        for row in &table.rows {
            let first = row.cells[0].unwrap().ours;
            assert!(first > 0.0 && row.cells[4].is_none() && row.cells[5].is_some());
            assert_eq!(row.ratio, Some(six_figures(first / row.paper.unwrap())));
        }
        for operation in [SUM, DIFFERENCE] {
            assert!(sums(ADDITION, &operation, &small, &options, &control).is_ok());
        }
        let wrong = Operation { number: Modulus::sub, ..SUM };
        assert!(matches!(sums(ADDITION, &wrong, &small, &options, &control), Err(Error::WrongResult { .. })));
    }
}
