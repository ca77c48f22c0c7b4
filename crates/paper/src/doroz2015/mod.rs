//! Doröz, Öztürk, Sunar: the Gentry-Halevi scheme in hardware, tables 3 and 6.

use crate::gh::{Bench, Figure, What, heading, rows};
use crate::report::six_figures;
use crate::timing::threads;
use crate::wang2015::STEPS_NOTE;
use crate::{Cell, Column, Control, Entry, Error, Options, Report, Row, Table, machine};
use crate::{gpu, hardware};
use solinas_schemes::gh::{EncryptMethod, RecryptMethod};

pub(crate) const ENTRY: Entry = Entry {
    name: "doroz2015-6",
    title: "Accelerating Fully Homomorphic Encryption in Hardware",
    summary: "Gentry-Halevi: product, Decrypt, Encrypt, Recrypt in time and cycles (table 6), and their steps (table 3)",
};

const MACHINES: &str = "90 nm ASIC at 666 MHz, 30 million gates; Tesla C2050 and Xeon of others";

/// Operation, then milliseconds and million cycles of the ASIC, the GPU and the Xeon.
const PAPER: [(&str, [f64; 3], [f64; 3]); 4] = [
    ("multiplication", [7.75, 0.765, 6.667], [5.1, 0.8, 20.0]),
    ("Decrypt", [16.1, 2.5, 20.0], [10.7, 2.8, 60.0]),
    ("Encrypt", [18.1, 220.0, 1800.0], [12.0, 253.0, 5400.0]),
    ("Recrypt", [3100.0, 4200.0, 32_000.0], [2000.0, 4800.0, 96_000.0]),
];

/// Our figure for a row of the paper, by full transforms or tables.
fn what(operation: &str) -> [What; 2] {
    match operation {
        "multiplication" => [What::Product; 2],
        "Decrypt" => [What::DecryptExact, What::Decrypt],
        "Encrypt" => [EncryptMethod::FullFft, EncryptMethod::Table].map(What::Encrypt),
        _ => [RecryptMethod::FullFft, RecryptMethod::PairTable].map(What::Recrypt),
    }
}

/// Tables 6 and 3.
pub(crate) fn measure(options: &Options, control: &Control<'_>, bench: &mut Bench) -> Result<Report, Error> {
    let busy = machine::load();
    let wanted: Vec<_> = PAPER.iter().flat_map(|row| what(row.0)).skip(1).chain([What::Reduction]).collect();
    bench.measure(&wanted, options, control)?;
    let mut report = Report::new(ENTRY, MACHINES, options, threads(options));
    let (mut times, mut cycles) = (Vec::new(), Vec::new());
    let megahertz = machine::megahertz();
    for set in rows(options, &["small"])? {
        for (operation, ms, mega) in PAPER {
            let [full, fast] = what(operation).map(|what| bench.get(&set, what));
            let paper = |figure: f64| (set == "small").then_some(figure);
            let row = |cells: Vec<Option<Cell>>, paper: Option<f64>, ours: Option<Cell>| Row {
                name: format!("{operation}, {}", heading(&set)),
                bits: None,
                unit: None,
                cells,
                paper,
                ratio: ours.zip(paper).map(|(ours, paper)| six_figures(ours.ours / paper)),
                note: None,
            };
            let [c2050, xeon] = [ms[1], ms[2]].map(|figure| paper(figure).map(Cell::published));
            let cells = vec![full.ms_alone(), fast.ms_alone(), fast.ms(), gpu::gh(&set, operation), c2050, xeon];
            times.push(row(cells, paper(ms[0]), fast.ms()));
            let million = |figure: &Figure| figure.seconds.first().zip(megahertz).map(|(s, mhz)| Cell::timed(*s, mhz));
            let [gpu, xeon] = [mega[1], mega[2]].map(|figure| paper(figure).map(Cell::published));
            cycles.push(row(vec![million(&full), million(&fast), gpu, xeon], paper(mega[0]), million(&fast)));
        }
    }
    let names = ["full-FFT, 1 thread", "tables, 1 thread", "tables, all threads", "GPU", "C2050", "Xeon"];
    let columns = names.map(|name| Column::new(name, Some("ms"))).into();
    report.tables.push(Table { title: "Times, beside the paper's circuit".into(), columns, rows: times });
    let names = ["full-FFT, 1 thread", "tables, 1 thread", "C2050", "Xeon"];
    let columns = names.map(|name| Column::new(name, None)).into();
    report.tables.push(Table { title: "Million cycles, beside the paper's circuit".into(), columns, rows: cycles });
    for set in rows(options, &["small"])? {
        report.tables.push(steps(bench, &set));
    }
    report.tables.push(hardware::circuits()?);
    let clock = megahertz.map_or("a clock that the system does not report".into(), |mhz| format!("{mhz:.0} MHz"));
    report.notes = vec![
        "Multiplication is that of two integers as long as the modulus. Columns `tables` use our fastest methods, including decryption in linear time; columns `full-FFT` use the method of the paper. The ratio is `tables`, on all threads (times) or on one (cycles), over the paper's circuit. The paper quotes the figures of C2050 and Xeon from wang2014 and from Gentry and Halevi.".into(),
        format!("Our cycles are the time on one thread at {clock}, the clock that the system reports. The real clock may have been faster."),
        "Table 3: the paper prints 0.985 msec for \"INTT and Reduction\" of Recrypt, but its formula gives 0.985 s. It prints 0.488 s for \"Evaluation of z\", but its formula gives 0.218 s, or 0.489 s with the term that the formula drops. In our row, columns include the sums of public keys, and their inverse transforms and reductions.".into(),
        STEPS_NOTE.into(),
        gpu::NOTE.into(),
        "The last table is that of our circuit, simulated (table doroz2015-3).".into(),
    ];
    report.notes.extend(bench.notes().iter().cloned());
    report.notes.extend(machine::busy_note(busy));
    Ok(report)
}

/// Table 3.
fn steps(bench: &Bench, set: &str) -> Table {
    let get = |what| bench.get(set, what);
    let full = get(What::Recrypt(RecryptMethod::FullFft));
    let pairs = get(What::Recrypt(RecryptMethod::PairTable));
    let part =
        |figure: &Figure, of: fn(&[f64; 3]) -> f64| figure.parts.first().map(|parts| Cell::measured(of(parts) * 1e3));
    let encrypt = [EncryptMethod::FullFft, EncryptMethod::Table].map(|method| get(What::Encrypt(method)).ms_alone());
    let [expand, blocks, sum]: [fn(&[f64; 3]) -> f64; 3] = [|p| p[0], |p| p[1], |p| p[2]];
    let of = |of| [part(&full, of), part(&pairs, of)];
    let same = |what| [get(what).ms_alone(); 2];
    let lines = [
        ("large integer multiplication", same(What::Product), 7.75),
        ("Barrett reduction", same(What::Reduction), 10.7),
        ("decryption", [get(What::DecryptExact), get(What::Decrypt)].map(|figure| figure.ms_alone()), 16.16),
        ("encryption, sums of powers", [None; 2], 4.98),
        ("encryption, INTT and reduction", [None; 2], 13.12),
        ("encryption", encrypt, 18.1),
        ("recryption, evaluation of z", of(expand), 488.0),
        ("recryption, sum of PK", [None; 2], 612.0),
        ("recryption, INTT and reduction", [None; 2], 985.0),
        ("recryption, sum of PK, INTT and reduction: columns", of(blocks), 1597.0),
        ("recryption, grade school", of(sum), 1027.0),
        ("recryption", [&full, &pairs].map(Figure::ms_alone), 3112.0),
    ];
    let row = |(name, cells, paper): (&str, [Option<Cell>; 2], f64)| {
        let paper = (set == "small").then_some(paper);
        Row {
            name: name.into(),
            bits: None,
            unit: None,
            cells: cells.into(),
            paper,
            ratio: cells[0].zip(paper).map(|(ours, paper)| six_figures(ours.ours / paper)),
            note: None,
        }
    };
    Table {
        title: format!("Steps (table 3), {}, 1 thread; ratio: full-FFT over the paper's circuit", heading(set)),
        columns: ["full-FFT", "tables"].map(|name| Column::new(name, Some("ms"))).into(),
        rows: lines.map(row).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_cycles_and_steps_stand_beside_the_circuit() {
        let sets = vec!["ci-3".to_owned()];
        let options = Options { quick: true, threads: Some(2), sets, ..Options::default() };
        let report = measure(&options, &Control::default(), &mut Bench::default()).unwrap();
        let [times, cycles, ours, small, _] = report.tables.as_slice() else {
            panic!("{} tables", report.tables.len())
        };
        assert_eq!((times.rows.len(), cycles.rows.len()), (8, 8));
        assert!(times.rows[..4].iter().all(|row| row.cells[..3].iter().all(Option::is_some)));
        assert!(times.rows[4..].iter().all(|row| row.paper.is_some() && row.cells[..3].iter().all(Option::is_none)));
        assert_eq!((ours.rows.len(), small.rows.len()), (12, 12));
        let paper: Vec<_> = small.rows.iter().map(|row| row.paper.unwrap()).collect();
        assert!((paper[6] + paper[9] + paper[10] - paper[11]).abs() < 1.0, "the paper's steps make up the whole");
    }
}
