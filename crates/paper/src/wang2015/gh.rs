//! The Gentry-Halevi scheme: partial against full transforms (table 5), memory (table 6), primitives (table 7), breakdown of Recrypt (6.2).

use super::TITLE;
use crate::gh::{Bench, Figure, SETTINGS, What, heading, over, rows, target};
use crate::report::six_figures;
use crate::timing::threads;
use crate::{Cell, Column, Control, Entry, Error, Options, Report, Row, Table, gpu, machine};
use solinas_schemes::gh::{EncryptMethod, RecryptMethod};

const GPU: &str = "Tesla C2050, 3 GB";
const MACHINES: &str = "i7-3770K 3.5 GHz, 8 GB; Tesla C2050, GTX 690";

pub(crate) const METHODS: Entry =
    Entry { name: "wang2015-5", title: TITLE, summary: "Gentry-Halevi: partial against full transforms (table 5)" };

pub(crate) const MEMORY: Entry = Entry {
    name: "wang2015-6",
    title: TITLE,
    summary: "Gentry-Halevi: memory of partial and full transforms (table 6)",
};

pub(crate) const PRIMITIVES: Entry = Entry {
    name: "wang2015-7",
    title: TITLE,
    summary: "Gentry-Halevi: Encrypt, Decrypt and Recrypt (table 7), and the steps of Recrypt (section 6.2)",
};

const ENCRYPT: [EncryptMethod; 3] = [EncryptMethod::PartialFft, EncryptMethod::FullFft, EncryptMethod::Table];
const RECRYPT: [RecryptMethod; 3] = [RecryptMethod::PartialFft, RecryptMethod::FullFft, RecryptMethod::PairTable];

/// Setting, operation, milliseconds by partial and by full transforms.
const PAPER_METHODS: [(&str, &str, f64, f64); 6] = [
    ("small", "Encrypt", 220.0, 4.9),
    ("small", "Decrypt", 2.5, 2.5),
    ("small", "Recrypt", 4200.0, 1830.0),
    ("medium", "Encrypt", 1030.0, 37.0),
    ("medium", "Decrypt", 12.9, 12.9),
    ("medium", "Recrypt", 21_300.0, 12_400.0),
];

/// Setting, operation, MB by partial and by full transforms.
const PAPER_MEMORY: [(&str, &str, f64, f64); 6] = [
    ("small", "Encrypt", 8.0, 192.0),
    ("small", "Recrypt", 86.0, 688.0),
    ("medium", "Encrypt", 32.0, 1536.0),
    ("medium", "Recrypt", 352.0, 2867.0),
    ("large", "Encrypt", 129.0, 18_432.0),
    ("large", "Recrypt", 2560.0, 20_480.0),
];

/// Setting, operation, milliseconds on the CPU, the C2050, the GTX 690.
const PAPER_PRIMITIVES: [(&str, &str, f64, Option<f64>, f64); 9] = [
    ("small", "Encrypt", 1080.0, Some(6.3), 6.2),
    ("small", "Decrypt", 14.0, Some(2.5), 1.84),
    ("small", "Recrypt", 17_800.0, Some(1800.0), 1320.0),
    ("medium", "Encrypt", 10_600.0, Some(37.0), 24.0),
    ("medium", "Decrypt", 70.0, Some(13.0), 7.2),
    ("medium", "Recrypt", 96_300.0, Some(12_400.0), 8400.0),
    ("large", "Encrypt", 82_000.0, Some(13_500.0), 4100.0),
    ("large", "Decrypt", 295.0, Some(90.0), 29.0),
    ("large", "Recrypt", 800_000.0, None, 235_000.0),
];

/// Section 6.2, small, GTX 690, full transforms: seconds.
const PAPER_STEPS: Steps = Steps { factors: 0.6, columns: 0.54, blocks: 0.87, sum: 0.46, total: 1.32 };

/// Seconds of Recrypt's steps in the papers.
pub(crate) struct Steps {
    /// Multiplications by R, and rounding.
    pub(crate) factors: f64,
    /// Multiplications and additions of indicators.
    pub(crate) columns: f64,
    /// Both, in parallel on CPU and GPU.
    pub(crate) blocks: f64,
    /// Addition of the blocks.
    pub(crate) sum: f64,
    /// Total.
    pub(crate) total: f64,
}

/// Figures of partial transforms, full transforms and tables. Decryption has one method for partial and full transforms.
fn figures(bench: &Bench, set: &str, operation: &str) -> [Figure; 3] {
    match operation {
        "Encrypt" => ENCRYPT.map(|method| bench.get(set, What::Encrypt(method))),
        "Recrypt" => RECRYPT.map(|method| bench.get(set, What::Recrypt(method))),
        _ => [What::DecryptExact, What::DecryptExact, What::Decrypt].map(|what| bench.get(set, what)),
    }
}

fn all_methods() -> Vec<What> {
    let encrypt = ENCRYPT.map(What::Encrypt).into_iter();
    encrypt.chain(RECRYPT.map(What::Recrypt)).chain([What::Decrypt, What::DecryptExact]).collect()
}

fn ratio(ours: Option<Cell>, paper: Option<f64>) -> Option<f64> {
    over(ours, paper).map(|ratio| six_figures(ratio.ours))
}

/// Table 5.
pub(crate) fn methods(options: &Options, control: &Control<'_>, bench: &mut Bench) -> Result<Report, Error> {
    let busy = machine::load();
    bench.measure(&all_methods(), options, control)?;
    let mut report = Report::new(METHODS, GPU, options, threads(options));
    let mut lines = Vec::new();
    for set in rows(options, &SETTINGS[..2])? {
        for operation in ["Encrypt", "Decrypt", "Recrypt"] {
            let paper = PAPER_METHODS.iter().find(|row| (row.0, row.1) == (&set, operation));
            let [partial, full, table] = figures(bench, &set, operation).map(|figure| figure.ms());
            let gain = partial.zip(full).map(|(partial, full)| partial.combine(full, |partial, full| partial / full));
            lines.push(Row {
                name: format!("{operation}, {}", heading(&set)),
                bits: None,
                unit: None,
                cells: vec![
                    partial,
                    full,
                    table,
                    gain,
                    gpu::gh(&set, operation),
                    paper.map(|row| Cell::published(row.2)),
                    paper.map(|row| Cell::published(six_figures(row.2 / row.3))),
                ],
                paper: paper.map(|row| row.3),
                ratio: ratio(full, paper.map(|row| row.3)),
                note: None,
            });
        }
    }
    let columns = vec![
        Column::new("partial-FFT", Some("ms")),
        Column::new("full-FFT", Some("ms")),
        Column::new("tables", Some("ms")),
        Column::new("partial / full", None),
        Column::new("GPU", Some("ms")),
        Column::new("paper's partial-FFT", Some("ms")),
        Column::new("paper's partial / full", None),
    ];
    report.tables.push(Table {
        title: "Partial against full transforms, beside the paper's full-FFT".into(),
        columns,
        rows: lines,
    });
    report.notes = vec![
        "Our figures are for all threads of the machine named above. Column `tables`: Encrypt stores every power of r, Recrypt stores the products of all pairs of indicators (our default), and decryption takes linear time. The other columns decrypt by a modular product, as the paper does. The ratio is our full-FFT over the paper's.".into(),
        "The paper prints 12.4 msec for Recrypt at medium. Its speed-up of 1.7 over 21.3 s gives 12.4 s.".into(),
        gpu::NOTE.into(),
    ];
    report.notes.extend(bench.notes().iter().cloned());
    report.notes.extend(machine::busy_note(busy));
    Ok(report)
}

/// Table 6.
pub(crate) fn memory(options: &Options, control: &Control<'_>, bench: &mut Bench) -> Result<Report, Error> {
    let what: Vec<_> = ENCRYPT.map(What::Encrypt).into_iter().chain(RECRYPT.map(What::Recrypt)).collect();
    bench.measure(&what, options, control)?;
    let mut report = Report::new(MEMORY, GPU, options, threads(options));
    let mut lines = Vec::new();
    for set in rows(options, &SETTINGS)? {
        for operation in ["Encrypt", "Recrypt"] {
            let paper = PAPER_MEMORY.iter().find(|row| (row.0, row.1) == (&set, operation));
            let [partial, full, table] = figures(bench, &set, operation).map(|figure| figure.mib());
            lines.push(Row {
                name: format!("{operation}, {}", heading(&set)),
                bits: None,
                unit: None,
                cells: vec![partial, full, table, paper.map(|row| Cell::published(row.2))],
                paper: paper.map(|row| row.3),
                ratio: ratio(full, paper.map(|row| row.3)),
                note: None,
            });
        }
    }
    let columns =
        ["partial-FFT", "full-FFT", "tables", "paper's partial-FFT"].map(|name| Column::new(name, Some("MiB")));
    report.tables.push(Table {
        title: "Memory, beside the paper's full-FFT".into(),
        columns: columns.into(),
        rows: lines,
    });
    report.notes = vec![
        "Our figures are measured: the growth of this process's resident memory when it builds the tables and, for Recrypt, the key. Small tables are built repeatedly, and kept, until they fill the memory that earlier work has freed. The ratio is our full-FFT over the paper's.".into(),
        "The paper stores an operand in 16-bit digits of 8 bytes each, and pads it to twice the length: 8 times its size. Its Recrypt stores all indicators. The inner sums need no transform, so our code stores transforms of the first indicator of a pair only.".into(),
    ];
    report.notes.extend(bench.notes().iter().cloned());
    Ok(report)
}

/// Table 7, and section 6.2.
pub(crate) fn primitives(options: &Options, control: &Control<'_>, bench: &mut Bench) -> Result<Report, Error> {
    let busy = machine::load();
    bench.measure(&all_methods(), options, control)?;
    let mut report = Report::new(PRIMITIVES, MACHINES, options, threads(options));
    let mut lines = Vec::new();
    for set in rows(options, &SETTINGS)? {
        for operation in ["Encrypt", "Decrypt", "Recrypt"] {
            let paper = PAPER_PRIMITIVES.iter().find(|row| (row.0, row.1) == (&set, operation));
            let [partial, full, table] = figures(bench, &set, operation);
            // The fastest method that fits the memory.
            let ours = [table, full, partial].into_iter().find(|figure| !figure.seconds.is_empty()).unwrap_or_default();
            let gtx = paper.map(|row| row.4);
            lines.push(Row {
                name: format!("{operation}, {}", heading(&set)),
                bits: None,
                unit: None,
                cells: vec![
                    ours.ms_alone(),
                    ours.ms().map(|cell| cell.with_target(target(&set, operation, threads(options)))),
                    gpu::gh(&set, operation),
                    paper.and_then(|row| row.3).map(Cell::published),
                    gtx.map(Cell::published),
                    over(ours.ms(), gtx),
                ],
                paper: paper.map(|row| row.2),
                ratio: ratio(ours.ms_alone(), paper.map(|row| row.2)),
                note: None,
            });
        }
    }
    let columns = vec![
        Column::new("1 thread", Some("ms")),
        Column::new("all threads", Some("ms")),
        Column::new("GPU", Some("ms")),
        Column::new("paper's C2050", Some("ms")),
        Column::new("paper's GTX 690", Some("ms")),
        Column::new("all threads / GTX 690", None),
    ];
    report.tables.push(Table { title: "Primitives, beside the paper's CPU".into(), columns, rows: lines });
    for set in rows(options, &SETTINGS[..1])? {
        let paper = (set == "small").then_some((&PAPER_STEPS, 1));
        report.tables.push(steps(bench, &set, paper));
    }
    report.notes = vec![
        "Targets are those of this project for two threads. Our figures use the fastest methods that fit the memory: tables, and decryption in linear time. The ratio is one thread over the paper's CPU (the code of Gentry and Halevi). The figures of C2050 and GTX 690 are the paper's. For Recrypt at medium on the C2050 it prints 12.4 msec, which must be 12.4 s.".into(),
        gpu::NOTE.into(),
        STEPS_NOTE.into(),
        "In section 6.2 the CPU computes the factors while the GPU multiplies. The blocks thus take less time than the sum of both.".into(),
    ];
    report.notes.extend(bench.notes().iter().cloned());
    report.notes.extend(machine::busy_note(busy));
    Ok(report)
}

pub(crate) const STEPS_NOTE: &str = "Steps of Recrypt: the factors of the candidates are one expansion of c x_k / d for each block. The columns are the encrypted bits that the indicators select. Elementary symmetric polynomials sum the blocks. The papers use grade-school addition, but a tree of full adders leaves too little margin (docs/derivations/gh-noise.md). The ratio is that of the paper's method.";

/// The times of Recrypt's steps on all threads, beside those of a paper. `method` is the index of the paper's method in [`RECRYPT`].
pub(crate) fn steps(bench: &Bench, set: &str, paper: Option<(&Steps, usize)>) -> Table {
    let figures = RECRYPT.map(|method| bench.get(set, What::Recrypt(method)));
    type Part = fn(&[f64; 3]) -> f64;
    type Published = fn(&Steps) -> f64;
    let lines: [(&str, Part, Published); 5] = [
        ("factors: expansions, candidates", |parts| parts[0], |steps| steps.factors),
        ("multiplications and additions: columns", |parts| parts[1], |steps| steps.columns),
        ("blocks: factors, multiplications and additions", |parts| parts[0] + parts[1], |steps| steps.blocks),
        ("addition of the blocks", |parts| parts[2], |steps| steps.sum),
        ("total", |parts| parts.iter().sum(), |steps| steps.total),
    ];
    let row = |(name, part, published): (&str, Part, Published)| {
        let cells = figures.each_ref().map(|figure| figure.parts.last().map(|parts| Cell::measured(part(parts) * 1e3)));
        let theirs = paper.map(|(steps, method)| (published(steps) * 1e3, method));
        Row {
            name: name.into(),
            bits: None,
            unit: None,
            ratio: theirs.and_then(|(theirs, method)| ratio(cells[method], Some(theirs))),
            cells: cells.into(),
            paper: theirs.map(|(theirs, _)| six_figures(theirs)),
            note: None,
        }
    };
    Table {
        title: format!("Steps of Recrypt, {}, all threads", heading(set)),
        columns: ["partial-FFT", "full-FFT", "pair table"].map(|name| Column::new(name, Some("ms"))).into(),
        rows: lines.map(row).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_methods_and_the_tables_are_measured_beside_the_paper() {
        let sets = vec!["ci-15".to_owned()];
        let options = Options { quick: true, threads: Some(2), sets, ..Options::default() };
        let (control, mut bench) = (Control::default(), Bench::default());
        let table5 = methods(&options, &control, &mut bench).unwrap();
        let table6 = memory(&options, &control, &mut bench).unwrap();
        let table7 = primitives(&options, &control, &mut bench).unwrap();
        // Three rows of ours, then rows of the papers' settings, which have no figures of ours.
        let [five, six, seven] = [&table5, &table6, &table7].map(|report| &report.tables[0].rows);
        assert_eq!([five.len(), six.len(), seven.len()], [3 + 6, 2 + 6, 3 + 9]);
        for (row, columns) in five[..3].iter().map(|row| (row, 4)).chain(seven[..3].iter().map(|row| (row, 2))) {
            assert!(row.name.ends_with("ci-15 (64)") && row.paper.is_none());
            assert!(row.cells[..columns].iter().all(|cell| cell.unwrap().ours > 0.0), "{}", row.name);
        }
        assert!(five[3..].iter().all(|row| row.paper.is_some() && row.cells[..3].iter().all(Option::is_none)));
        assert!(six[..2].iter().flat_map(|row| &row.cells).flatten().all(|cell| cell.ours > 0.0));
        // For every method, the steps sum to the total. The paper's figures are beside those of its setting.
        let [_, ours, small] = table7.tables.as_slice() else { panic!("{} tables", table7.tables.len()) };
        for column in 0..3 {
            let [factors, columns, blocks, sum, total] =
                [0, 1, 2, 3, 4].map(|row: usize| ours.rows[row].cells[column].unwrap().ours);
            assert!((factors + columns - blocks).abs() < 1e-3 * blocks && (blocks + sum - total).abs() < 1e-3 * total);
        }
        assert_eq!(
            small.rows.iter().map(|row| row.paper.unwrap()).collect::<Vec<_>>(),
            [600.0, 540.0, 870.0, 460.0, 1320.0]
        );
        assert!(table7.to_string().contains("paper's GTX 690"));
    }
}
