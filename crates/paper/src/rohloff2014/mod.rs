//! Rohloff, Cousins: NTRU in double-CRT, tables 1 to 7.

mod measure;
mod published;

use crate::{Cell, Column, Control, Entry, Error, Options, Report, Row, Table};
use published::{BITS, DEPTHS, DIMENSIONS, Grid, HERMITE};
use solinas_circuits::counted;
use solinas_schemes::ntru::{KeyDistribution, Params, estimate, params};

pub(crate) use measure::{addition, bootstrapping, decryption, encryption, multiplication};

const TITLE: &str = "A Scalable Implementation of Fully Homomorphic Encryption Built on NTRU";
const PAPER_MACHINE: &str = "64 cores of 2.1 GHz Xeon processors, at most 20 used";

const fn entry(name: &'static str, summary: &'static str) -> Entry {
    Entry { name, title: TITLE, summary }
}

pub(crate) const PRIMES: Entry = entry("rohloff2014-1", "NTRU: bits of the primes (table 1)");
pub(crate) const HERMITE_FACTORS: Entry =
    entry("rohloff2014-2", "NTRU: root Hermite factors (table 2), and the cost of attacks");
pub(crate) const ENCRYPTION: Entry = entry("rohloff2014-3", "NTRU: Encrypt at 6 dimensions and 10 depths (table 3)");
pub(crate) const ADDITION: Entry = entry("rohloff2014-4", "NTRU: EvalAdd at 6 dimensions and 10 depths (table 4)");
pub(crate) const MULTIPLICATION: Entry =
    entry("rohloff2014-5", "NTRU: ComposedEvalMult at 6 dimensions and 10 depths (table 5)");
pub(crate) const DECRYPTION: Entry =
    entry("rohloff2014-6", "NTRU: Decrypt after all levels at 6 dimensions and 10 depths (table 6)");
pub(crate) const BOOTSTRAPPING: Entry = entry("rohloff2014-7", "NTRU: Bootstrapping at 6 dimensions (table 7)");

/// Note of every report about its sets.
const RESEARCH: &str = "The sets are for research only. Table rohloff2014-2 shows the cost of attacks on them.";

/// A row of our figures beside the paper's figure. The ratio is that of cell `closest`.
fn row(name: String, cells: Vec<Option<Cell>>, paper: f64, closest: usize) -> Row {
    let ratio = cells.get(closest).copied().flatten().map(|cell| crate::report::six_figures(cell.ours / paper));
    Row { name, bits: None, unit: None, cells, paper: Some(paper), ratio, note: None }
}

/// `1 thread`, `2 threads`.
fn threads_name(threads: usize) -> String {
    counted(threads, "thread")
}

/// A table for each dimension, with a row for each depth.
fn by_dimension<E>(
    columns: &[Column],
    paper: &Grid,
    closest: usize,
    mut cells: impl FnMut(usize, usize) -> Result<Vec<Option<Cell>>, E>,
) -> Result<Vec<Table>, E> {
    let table = |(dimension, figures): (usize, &[f64; 10])| {
        let row = |(depth, &figure): (usize, &f64)| {
            Ok(row(format!("depth {depth}"), cells(dimension, depth)?, figure, closest))
        };
        let rows = DEPTHS.into_iter().zip(figures).map(row).collect::<Result<_, E>>()?;
        Ok(Table { title: format!("Ring dimension {dimension}"), columns: columns.to_vec(), rows })
    };
    DIMENSIONS.into_iter().zip(paper).map(table).collect()
}

/// Table 1.
pub(crate) fn primes(options: &Options, _: &Control<'_>) -> Result<Report, Error> {
    let mut report = Report::new(PRIMES, PAPER_MACHINE, options, 1);
    let rows = DIMENSIONS.into_iter().zip(BITS).map(|(n, bits)| {
        let tight = Params::named(&format!("tight-{n}-13"))?;
        let bits_of = |bits: Option<u32>| bits.map(|bits| Cell::counted(bits.into()));
        let literal = tight.literal();
        let ours = Cell::counted(params::paper_bits(n, 2).into());
        let cells = vec![Some(ours), bits_of(literal.bits), bits_of(literal.top_bits), bits_of(literal.first_bits)];
        Ok(row(format!("n = {n}"), cells, bits.into(), 0))
    });
    let columns = ["equation 2", "tight", "first level", "last level"].map(|name| Column::new(name, Some("bits")));
    let rows = rows.collect::<Result<_, Error>>()?;
    report.tables.push(Table { title: "Bits of the primes, p = 2".into(), columns: columns.into(), rows });
    report.notes = vec![
        "Column `equation 2`: the bits of the smallest number above 4 p^2 r^5 n^1.5 w^5, with r = w = 6. The columns from `tight` on: the fewest bits by tested noise formulas, with products of sums of two, at depth 13 (`tight-N-13`). They hold for most levels, for fresh ciphertexts, and for the last level.".into(),
    ];
    Ok(report)
}

/// Table 2.
pub(crate) fn hermite_factors(options: &Options, _: &Control<'_>) -> Result<Report, Error> {
    let mut report = Report::new(HERMITE_FACTORS, PAPER_MACHINE, options, 1);
    let columns = [
        Column::new("t = depth", Some("thousandths above 1")),
        Column::new("t = depth + 1", Some("same")),
        Column::new("cheapest attack", Some("bits")),
    ];
    // Thousandths above 1. The paper prints one to three digits.
    let thousandths = |factor: f64| 1e3 * (factor - 1.0);
    let paper = HERMITE.map(|row| row.map(thousandths));
    report.tables = by_dimension(&columns, &paper, 0, |n, depth| {
        let bits = f64::from(params::paper_bits(n, 2));
        let factor =
            |towers: usize| Some(Cell::computed(thousandths(params::root_hermite_factor(n, bits * towers as f64))));
        let towers = depth + 1;
        let attack = estimate::estimate(n, bits * towers as f64, KeyDistribution::Gaussian.variances());
        Ok::<_, Error>(vec![factor(depth), factor(towers), Some(Cell::computed(attack.core_svp_bits()))])
    })?;
    report.notes = vec![
        "Equation 3: delta = 2^(lg Q / 4n), where Q is a product of t primes of Table 1. The paper states t = depth + 1, but every cell of its table is the value for t = depth.".into(),
        "Column `cheapest attack`: log2 of the operations that lattice reduction needs to find the key or its dense sublattice, 0.292 beta (Core-SVP). The smallest value of the model is 11.7. The root Hermite factor does not account for that sublattice.".into(),
    ];
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_1_and_2_are_the_papers() {
        let (options, control) = (Options::default(), Control::default());
        let primes = primes(&options, &control).unwrap();
        assert!(primes.tables[0].rows.iter().all(|row| row.ratio == Some(1.0)));
        let factors = hermite_factors(&options, &control).unwrap();
        assert_eq!(factors.tables.iter().map(|table| table.rows.len()).sum::<usize>(), 60);
        for row in factors.tables.iter().flat_map(|table| &table.rows) {
            // Equal in the printed digits.
            let (ours, paper) = (row.cells[0].unwrap().ours, row.paper.unwrap());
            assert!((ours - paper).abs() < 1.1, "{}: {ours}, {paper}", row.name);
        }
        // Above depth 1, every cell is below 50 bits.
        let bits = factors.tables.iter().flat_map(|table| &table.rows[1..]).map(|row| row.cells[2].unwrap().ours);
        assert!(bits.fold(0.0, f64::max) < 50.0);
    }
}
