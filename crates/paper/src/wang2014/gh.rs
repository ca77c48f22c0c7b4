//! The Gentry-Halevi scheme: window sizes of Encrypt (table 4.2), primitives and the breakdown of Recrypt (table 4.3, section 4.4).

use super::TITLE;
use crate::gh::{Bench, What, heading, rows};
use crate::report::six_figures;
use crate::timing::threads;
use crate::wang2015::{STEPS_NOTE, Steps, steps};
use crate::{Cell, Column, Control, Entry, Error, Options, Report, Row, Table, gpu, machine};
use solinas_schemes::gh::{EncryptMethod, RecryptMethod};

const MACHINES: &str = "Xeon X5650 2.67 GHz, 14 GB; Tesla C2050, 3 GB";

pub(crate) const WINDOWS: Entry = Entry {
    name: "wang2014-4.2",
    title: TITLE,
    summary: "Gentry-Halevi: windows of the partial-FFT Encrypt (table 4.2)",
};

pub(crate) const PRIMITIVES: Entry = Entry {
    name: "wang2014-4.3",
    title: TITLE,
    summary: "Gentry-Halevi: Encrypt, Decrypt and Recrypt by partial transforms, and the steps of Recrypt (table 4.3)",
};

/// Window, number of multiplications, MB.
const PAPER_WINDOWS: [(usize, f64, f64); 4] = [(16, 127.0, 2.0), (32, 63.0, 4.0), (64, 31.0, 8.0), (128, 15.0, 16.0)];

/// Operation, milliseconds on the CPU and on the GPU.
const PAPER_PRIMITIVES: [(&str, f64, f64); 3] =
    [("Encrypt", 1690.0, 220.0), ("Decrypt", 18.5, 2.5), ("Recrypt", 27_680.0, 4200.0)];

/// Section 4.4, seconds: multiplications 2.66, additions 0.24.
const PAPER_STEPS: Steps = Steps { factors: 0.9, columns: 2.9, blocks: 3.56, sum: 0.68, total: 4.2 };

/// Table 4.2.
pub(crate) fn windows(options: &Options, control: &Control<'_>, bench: &mut Bench) -> Result<Report, Error> {
    let busy = machine::load();
    bench.measure(&PAPER_WINDOWS.map(|row| What::Window(row.0)), options, control)?;
    let mut report =
        Report::new(WINDOWS, "estimated for n = 2048 and 128 KB for each number", options, threads(options));
    for set in rows(options, &["small"])? {
        let (mut products, mut memory) = (Vec::new(), Vec::new());
        for (window, paper_products, paper_mib) in PAPER_WINDOWS {
            let figure = bench.get(&set, What::Window(window));
            let paper = |figure: f64| (set == "small").then_some(figure);
            let row = |what: &str, unit: Option<&str>, cells: Vec<Option<Cell>>, paper: Option<f64>| Row {
                name: format!("{what}, window {window}"),
                bits: None,
                unit: unit.map(Into::into),
                ratio: cells[0].zip(paper).map(|(ours, paper)| six_figures(ours.ours / paper)),
                cells,
                paper,
                note: None,
            };
            let count = figure.products.map(Cell::counted);
            products.push(row("multiplications", None, vec![count, figure.ms_alone()], paper(paper_products)));
            memory.push(row("precomputed", Some("MiB"), vec![figure.mib(), None], paper(paper_mib)));
        }
        let columns = vec![Column::new("ours", None), Column::new("an encryption, 1 thread", Some("ms"))];
        let title = format!("Windows of Encrypt, {}", heading(&set));
        report.tables.push(Table { title, columns, rows: [products, memory].concat() });
    }
    report.notes = vec![
        "Our figures are those of an encryption by Horner's rule over windows. Multiplications are counted during the run. The memory is the growth of the process when it builds the powers and the transform of r^w. The result is decrypted. The paper computes its memory from 128 KB for each power. A power at set small takes 96 KB, plus the transform.".into(),
        "The library's partial-FFT Encrypt uses the window 64, as the paper does.".into(),
    ];
    report.notes.extend(machine::busy_note(busy));
    Ok(report)
}

/// Table 4.3, and section 4.4.
pub(crate) fn primitives(options: &Options, control: &Control<'_>, bench: &mut Bench) -> Result<Report, Error> {
    let busy = machine::load();
    let methods = [RecryptMethod::PartialFft, RecryptMethod::FullFft, RecryptMethod::PairTable].map(What::Recrypt);
    let partial = [What::Encrypt(EncryptMethod::PartialFft), What::DecryptExact, methods[0]];
    let default = [What::Encrypt(EncryptMethod::Table), What::Decrypt, methods[2]];
    bench.measure(&[&partial[..], &default[..2], &methods[1..]].concat(), options, control)?;
    let mut report = Report::new(PRIMITIVES, MACHINES, options, threads(options));
    let mut lines = Vec::new();
    for set in rows(options, &["small"])? {
        for ((partial, default), (operation, cpu, gpu)) in partial.into_iter().zip(default).zip(PAPER_PRIMITIVES) {
            let (partial, default) = (bench.get(&set, partial), bench.get(&set, default));
            let paper = |figure: f64| (set == "small").then_some(figure);
            let alone = partial.ms_alone();
            lines.push(Row {
                name: format!("{operation}, {}", heading(&set)),
                bits: None,
                unit: None,
                cells: vec![
                    alone,
                    partial.ms(),
                    default.ms_alone(),
                    default.ms(),
                    gpu::gh(&set, operation),
                    paper(gpu).map(Cell::published),
                ],
                paper: paper(cpu),
                ratio: alone.zip(paper(cpu)).map(|(ours, paper)| six_figures(ours.ours / paper)),
                note: None,
            });
        }
    }
    let names =
        ["partial-FFT, 1 thread", "all threads", "tables, 1 thread", "tables, all threads", "GPU", "paper's GPU"];
    let columns = names.map(|name| Column::new(name, Some("ms"))).into();
    report.tables.push(Table { title: "Primitives, beside the paper's CPU".into(), columns, rows: lines });
    for set in rows(options, &["small"])? {
        report.tables.push(steps(bench, &set, (set == "small").then_some((&PAPER_STEPS, 0))));
    }
    report.notes = vec![
        "The paper's GPU uses partial transforms, as our first two columns do. Columns `tables` use our fastest methods. The ratio is partial transforms on one thread over the paper's CPU (the code of Gentry and Halevi).".into(),
        gpu::NOTE.into(),
        STEPS_NOTE.into(),
        "The paper's steps are those of its GPU: multiplications 2.66 s and additions 0.24 s. Its CPU computes the factors at the same time.".into(),
    ];
    report.notes.extend(bench.notes().iter().cloned());
    report.notes.extend(machine::busy_note(busy));
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_take_a_product_for_each_but_the_highest() {
        let sets = vec!["toy".to_owned()];
        let options = Options { quick: true, threads: Some(1), sets, ..Options::default() };
        let report = windows(&options, &Control::default(), &mut Bench::default()).unwrap();
        let [toy, small] = report.tables.as_slice() else { panic!("{} tables", report.tables.len()) };
        let products: Vec<_> = toy.rows[..4].iter().map(|row| row.cells[0].unwrap().ours).collect();
        assert_eq!(products, [31.0, 15.0, 7.0, 3.0]);
        assert!(toy.rows.iter().all(|row| row.paper.is_none()) && small.rows.iter().all(|row| row.paper.is_some()));
    }

    #[test]
    fn primitives_are_measured_by_partial_transforms_and_by_tables() {
        let sets = vec!["ci-7".to_owned()];
        let options = Options { quick: true, threads: Some(2), sets, ..Options::default() };
        let report = primitives(&options, &Control::default(), &mut Bench::default()).unwrap();
        let rows = &report.tables[0].rows;
        assert_eq!(rows.len(), 6);
        assert!(rows[..3].iter().all(|row| row.cells[..4].iter().all(Option::is_some)));
        assert!(rows[3..].iter().all(|row| row.paper.is_some() && row.cells[5].is_some()));
        assert_eq!(report.tables.len(), 3);
    }
}
