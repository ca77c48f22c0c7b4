//! The matrix-vector product of leveled encryption, compared with NTL (tables 6.1 and 6.4), and its memory (table 6.5).

use super::TITLE;
use crate::ntl::Ntl;
use crate::report::six_figures;
use crate::timing::{self, Seconds, Timer, one_and, threads};
use crate::{Cell, Column, Control, Entry, Error, Options, Report, Row, Table, gpu, machine};
use solinas_bigint::Natural;
use solinas_schemes::lwe::{Access, Layout, Matrix, Modulus, Multiplier, SeededMatrix, Selection, Vector};

pub(crate) const PRODUCT: Entry = Entry {
    name: "wang2014-6.1",
    title: TITLE,
    summary: "leveled LWE: the matrix-vector product by the Chinese remainder theorem, its steps (table 6.1)",
};

pub(crate) const COMPARED: Entry = Entry {
    name: "wang2014-6.4",
    title: TITLE,
    summary: "leveled LWE: the matrix-vector product on CPU and GPU, general and binary vectors (table 6.4)",
};

pub(crate) const MEMORY: Entry = Entry {
    name: "wang2014-6.5",
    title: TITLE,
    summary: "leveled LWE: memory of a matrix that is stored, regenerated from its seed, or streamed (table 6.5)",
};

const MACHINE: &str = "Core i5-3570K 3.4 GHz, 32 GB; Tesla K20, 5 GB";
const DIMENSION: usize = 9326;
const QUICK: usize = 512;
const WORDS: usize = 32;
const WORD_BITS: u32 = 32;
/// Seconds: vector operations and reconstruction of the CRT method on a CPU, NTL's product, and the CRT method with a GPU.
const PAPER: (f64, f64, f64, f64) = (71.2, 0.343, 555.4, 2.03);
/// Dimension, and GB as printed.
const PAPER_MEMORY: [(usize, f64); 6] =
    [(9326, 10.4), (19434, 45.0), (29749, 105.5), (40199, 192.6), (50748, 307.0), (61376, 898.1)];

/// Dimensions at which NTL is measured. Its time grows with their square.
const NTL: [usize; 3] = [128, 256, 512];

/// Seconds of products, at the paper's dimension.
struct Times {
    /// General vector with the seed form, on one thread and on all threads.
    seed: Vec<Cell>,
    /// Matrix in memory, on all threads: general vector, binary vector with every row, binary vector with the selected rows. `None` if the matrix is too large.
    whole: Option<[Cell; 3]>,
    reconstruction: Cell,
    ntl: Option<Cell>,
    /// Details of NTL's measurement, or the reason for which it is missing.
    ntl_note: String,
}

fn pool(threads: usize) -> Result<rayon::ThreadPool, Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::Threads { threads, problem: error.to_string() })
}

/// Numbers below the modulus, which has one more bit.
fn numbers(len: usize, seed: u64) -> Vec<Natural> {
    (0..len as u64).map(|i| timing::number((WORDS * WORD_BITS as usize) - 1, seed << 32 | i)).collect()
}

/// Checks a product against plain arithmetic.
fn check(modulus: &Modulus) -> Result<(), Error> {
    let (n, m) = (20, modulus.value());
    let (entries, x) = (numbers(n * n, 1), numbers(n, 2));
    let matrix = Matrix::decompose(Layout::new(n, n, modulus)?, modulus, &entries, 1 << 30)?;
    let product = Multiplier::new()?.multiply(&matrix, &[modulus.decompose(&x)?])?;
    for (j, got) in modulus.reconstruct(&product[0])?.into_iter().enumerate() {
        let mut sum = Natural::default();
        x.iter().enumerate().for_each(|(i, x)| sum += &(&entries[i * n + j] * x));
        timing::right(|| "a matrix-vector product".into(), sum.rem(&m)? == got)?;
    }
    Ok(())
}

/// Seconds of NTL's product on one thread at the paper's dimension, and their source. NTL's product is compared with ours.
fn ntl(modulus: &Modulus, options: &Options) -> Result<(Option<Cell>, String), Error> {
    let run = || -> Result<_, String> {
        let (ntl, n) = (Ntl::find()?, NTL[0] / 8);
        let (entries, x) = (numbers(n * n, 4), numbers(n, 5));
        let product = ntl.product(&modulus.value(), &entries, &x)?;
        Ok((product, entries, x, ntl.time(&modulus.value(), if options.quick { &NTL[..2] } else { &NTL })?))
    };
    let (product, entries, x, times) = match run() {
        Ok(found) => found,
        Err(why) => return Ok((None, format!("NTL was not measured: {why}."))),
    };
    let matrix = Matrix::decompose(Layout::new(x.len(), x.len(), modulus)?, modulus, &entries, 1 << 30)?;
    let ours = Multiplier::new()?.multiply(&matrix, &[modulus.decompose(&x)?])?;
    timing::right(|| "a product beside NTL".into(), modulus.reconstruct(&ours[0])? == product)?;
    let sizes: Vec<_> = times.sizes.iter().map(|(n, seconds)| format!("{:.1} ms at {n}", seconds * 1e3)).collect();
    let note = format!(
        "NTL {}, ZZ_p, one thread: {}. The time grows with the power {:.2} of the dimension. It is scaled by the square of the dimension.",
        times.version,
        sizes.join(", "),
        times.exponent()
    );
    Ok((Some(Cell::predicted(times.scaled(DIMENSION))), note))
}

fn measure(options: &Options, control: &Control<'_>) -> Result<Times, Error> {
    let n = if options.quick { QUICK } else { DIMENSION };
    let scale = (DIMENSION as f64 / n as f64).powi(2);
    // Scales by the square of the dimension, or by the dimension.
    let cell = |seconds: Seconds, scale: f64| {
        if n == DIMENSION { Cell::timed(seconds, 1.0) } else { Cell::predicted(seconds.median * scale) }
    };
    let modulus = Modulus::of_primes(WORDS, WORD_BITS)?;
    check(&modulus)?;
    let all = one_and(threads(options));
    let mut timer = Timer::new(options, control, all.len() + 5);
    let (ntl, ntl_note) = timer.once(|| ntl(&modulus, options))??;
    let layout = Layout::new(n, n, &modulus)?;
    let seeded = SeededMatrix::new(layout, &modulus, &[1; 32])?;
    let vector = [modulus.decompose(&numbers(n, 3))?];
    let multiplier = Multiplier::new()?;
    let (mut seed, mut want) = (Vec::new(), None::<Vec<Vector>>);
    for &threads in &all {
        let pool = pool(threads)?;
        let (seconds, product) = timer.seconds(|| Ok(pool.install(|| multiplier.multiply(&seeded, &vector))?))?;
        let want = want.get_or_insert_with(|| product.clone());
        timing::right(|| format!("a product on {threads} threads"), *want == product)?;
        seed.push(cell(seconds, scale));
    }
    let want = want.unwrap_or_default();
    let pool = pool(threads(options))?;
    let memory = solinas_engine::memory_budget()?;
    let whole = if layout.bytes() > memory {
        None
    } else {
        let matrix = pool.install(|| Matrix::expand(&seeded, memory))?;
        let (general, product) = timer.seconds(|| Ok(pool.install(|| multiplier.multiply(&matrix, &vector))?))?;
        timing::right(|| "a product of the whole matrix".into(), product == want)?;
        let bits: Vec<bool> = (0..n).map(|i| timing::number(1 << 6, i as u64).bit(7)).collect();
        let selection = [Selection::from_bits(&bits)];
        let mut select =
            |access| timer.seconds(|| Ok(pool.install(|| multiplier.select(&matrix, &selection, access))?));
        let (masked, one) = select(Access::Masked)?;
        let (rows, other) = select(Access::VartimeRows)?;
        timing::right(|| "a selection of rows".into(), one == other)?;
        Some([cell(general, scale), cell(masked, scale), cell(rows, scale)])
    };
    let (reconstruction, _) = timer.seconds(|| {
        let numbers = |product| modulus.reconstruct(product);
        Ok(pool.install(|| want.iter().map(numbers).collect::<Result<Vec<_>, _>>())?)
    })?;
    Ok(Times { seed, whole, reconstruction: cell(reconstruction, DIMENSION as f64 / n as f64), ntl, ntl_note })
}

fn row(name: &str, cells: Vec<Option<Cell>>, paper: Option<f64>) -> Row {
    let ours = cells.iter().flatten().find(|cell| cell.basis != crate::Basis::Published);
    let ratio = ours.zip(paper).map(|(ours, paper)| six_figures(ours.ours / paper));
    Row { name: name.into(), bits: None, unit: None, cells, paper, ratio, note: None }
}

const FORM_NOTE: &str = "Seed form: every product regenerates the matrix from its seed, in megabytes of memory. Whole: the matrix is in memory, if SOLINAS_MEMORY_MIB or three quarters of the free memory can hold it. With --quick, a smaller matrix is measured, and its time is scaled by the size.";

/// Table 6.1.
pub(crate) fn product(options: &Options, control: &Control<'_>) -> Result<Report, Error> {
    let busy = machine::load();
    let times = measure(options, control)?;
    let mut report = Report::new(PRODUCT, MACHINE, options, threads(options));
    let (alone, together) = (times.seed[0], times.seed[times.seed.len() - 1]);
    let whole = times.whole.map(|whole| whole[0]);
    let sum = |cell: Cell| cell.combine(times.reconstruction, |product, more| product + more);
    let rows = vec![
        row(
            "vector operations",
            vec![Some(alone), Some(together), whole, times.ntl, Some(Cell::published(PAPER.2))],
            Some(PAPER.0),
        ),
        row(
            "reconstruction",
            vec![Some(times.reconstruction), Some(times.reconstruction), None, None, None],
            Some(PAPER.1),
        ),
        row(
            "total",
            vec![Some(sum(alone)), Some(sum(together)), whole.map(sum), times.ntl, Some(Cell::published(PAPER.2))],
            Some(PAPER.0 + PAPER.1),
        ),
    ];
    let names =
        ["seed form, 1 thread", "seed form, all threads", "whole, all threads", "NTL here, 1 thread", "paper's NTL"];
    let columns = names.map(|name| Column::new(name, Some("s"))).into();
    report.tables.push(Table { title: "A 9326 x 9326 matrix, 1024 bits in 32 words of 32 bits".into(), columns, rows });
    report.notes = vec![
        "Reconstruction runs on all threads. The decomposition is precomputed, as in the paper.".into(),
        FORM_NOTE.into(),
        times.ntl_note,
    ];
    report.notes.extend(machine::busy_note(busy));
    Ok(report)
}

/// Table 6.4.
pub(crate) fn compared(options: &Options, control: &Control<'_>) -> Result<Report, Error> {
    let busy = machine::load();
    let times = measure(options, control)?;
    let mut report = Report::new(COMPARED, MACHINE, options, threads(options));
    let cpu = PAPER.0 + PAPER.1;
    let of = |i: usize| times.whole.map(|whole| whole[i]);
    let sum = |cell: Option<Cell>| cell.map(|cell| cell.combine(times.reconstruction, |product, more| product + more));
    let published = |figure| Some(Cell::published(figure));
    let line = |name: &str, ours: Option<Cell>, gpu: Option<Cell>, paper: bool| {
        let figures = if paper { [times.ntl, published(PAPER.2), published(PAPER.3)] } else { [None; 3] };
        let mut line = row(name, [vec![sum(ours)], figures.to_vec()].concat(), paper.then_some(cpu));
        // The ratio is that of the processor.
        line.cells.insert(1, gpu);
        line
    };
    let rows = vec![
        line("general vector, whole matrix", of(0), gpu::lwe(false), true),
        line("general vector, seed form", times.seed.last().copied(), gpu::lwe(true), true),
        line("zeros and ones, every row (encryption)", of(1), None, false),
        line("zeros and ones, the selected rows only", of(2), None, false),
    ];
    let names = ["ours, all threads", "GPU", "NTL here, 1 thread", "paper's NTL", "paper's GPU"];
    let columns = names.map(|name| Column::new(name, Some("s"))).into();
    report.tables.push(Table { title: "Products and reconstruction, beside the paper's CPU".into(), columns, rows });
    report.notes = vec![
        FORM_NOTE.into(),
        gpu::NOTE.into(),
        "Column `GPU` has the product alone, without the reconstruction.".into(),
        times.ntl_note,
    ];
    report.notes.extend(machine::busy_note(busy));
    Ok(report)
}

/// Table 6.5.
pub(crate) fn memory(options: &Options, _: &Control<'_>) -> Result<Report, Error> {
    let mut report = Report::new(MEMORY, MACHINE, options, 1);
    let modulus = Modulus::of_primes(WORDS, WORD_BITS)?;
    let mut rows = Vec::new();
    for (n, paper) in PAPER_MEMORY {
        let gib = |bytes: u64| Some(Cell::measured(bytes as f64 / f64::from(1 << 30)));
        // The column b.
        let seed = (4 * WORDS * n) as u64;
        let mut row = row(&n.to_string(), vec![gib(Layout::new(n, n, &modulus)?.bytes()), gib(seed)], Some(paper));
        row.cells.iter_mut().flatten().for_each(|cell| cell.basis = crate::Basis::Counted);
        rows.push(row);
    }
    let columns = ["whole", "seed form"].map(|name| Column::new(name, Some("GiB"))).into();
    report.tables.push(Table { title: "Memory of a matrix".into(), columns, rows });
    report.notes = vec![
        "The paper's GB are 2^30 bytes. Its last row is too large by a factor of 2: 61376^2 * 128 bytes are 449 GiB.".into(),
        "The seed form stores one column and a seed, and a product needs additional megabytes. A matrix in a file is streamed through 24 MiB.".into(),
    ];
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_measured_and_memory_is_the_papers() {
        let options = Options { quick: true, threads: Some(2), ..Options::default() };
        let control = Control::default();
        let report = compared(&options, &control).unwrap();
        let rows = &report.tables[0].rows;
        assert!(rows.iter().all(|row| row.cells[0].is_some()));
        assert_eq!(rows.iter().map(|row| row.cells[1].is_some()).collect::<Vec<_>>(), [true, true, false, false]);
        // The ratio is that of the processor.
        assert!(rows.iter().filter_map(|row| row.ratio.zip(row.cells[0])).all(|(ratio, ours)| ratio < ours.ours));
        let report = product(&options, &control).unwrap();
        assert!(report.tables[0].rows.iter().all(|row| row.ratio.is_some_and(|ratio| ratio > 0.0)));
        let report = memory(&options, &control).unwrap();
        for row in &report.tables[0].rows[..5] {
            assert!((row.ratio.unwrap() - 1.0).abs() < 0.02, "{}: {:?}", row.name, row.ratio);
        }
    }
}
