//! Circuits: the tables of wang2014 chapters 5 and 7 and of doroz2015 beside our designs.
//!
//! Our figures are those of `docs/measurements`, which `make rtl` (cycles) and `make rtl-area` (areas) write. A figure that the
//! files lack is shown as "not measured".

use crate::report::six_figures;
use crate::{Cell, Column, Control, Entry, Error, Options, Report, Row, Table};
use serde_json::Value;

const CYCLES: &str = include_str!("../measurements/rtl-cycles.json");
const AREAS: &str = include_str!("../measurements/rtl-area.json");

const WANG: &str = "Accelerating Cryptosystems on Hardware Platforms";
const DOROZ: &str = "Accelerating Fully Homomorphic Encryption in Hardware";
const WANG_CIRCUIT: &str = "90 nm ASIC at 200 MHz, 20.6 million gates";
const RSA_CIRCUIT: &str = "Stratix V at 209 MHz, and 90 nm ASIC at 320 MHz, 5.3 million gates";
const DOROZ_CIRCUIT: &str = "90 nm ASIC at 666 MHz, 30 million gates";

pub(crate) const MULTIPLIER_AREA: Entry = Entry {
    name: "wang2014-5.1",
    title: WANG,
    summary: "the multiplier of 786,432 bits as a circuit: area, memory bits and depth (tables 5.1 and 5.2)",
};
pub(crate) const MULTIPLIER_TIME: Entry = Entry {
    name: "wang2014-5.3",
    title: WANG,
    summary: "the multiplier of 786,432 bits as a circuit: cycles and time (table 5.3)",
};
pub(crate) const RSA_CYCLES: Entry = Entry {
    name: "wang2014-7.1",
    title: WANG,
    summary: "RSA of 8192 and 12288 bits as a circuit: cycles and memory bits (tables 7.1 and 7.3)",
};
pub(crate) const RSA_AREA: Entry =
    Entry { name: "wang2014-7.2", title: WANG, summary: "RSA of 8192 and 12288 bits as a circuit: area (table 7.2)" };
pub(crate) const GH_CYCLES: Entry =
    Entry { name: "doroz2015-3", title: DOROZ, summary: "Gentry-Halevi as a circuit: cycles and traffic (table 3)" };
pub(crate) const GH_AREA: Entry =
    Entry { name: "doroz2015-4", title: DOROZ, summary: "Gentry-Halevi as a circuit: area (table 4)" };
pub(crate) const TRADE_OFF: Entry =
    Entry { name: "doroz2015-5", title: DOROZ, summary: "multipliers as circuits: time times area (table 5)" };

/// Clock for which our times are stated.
const CLOCK_HZ: f64 = 200e6;
/// NAND2 equivalents of a bit of memory (wang2014 5.4).
const SRAM_BIT: f64 = 1.86;
const ROM_BIT: f64 = 0.27;
/// Points of the transform of doroz2015, in which it states cycles.
const N: f64 = 98_304.0;

/// The measured figures.
struct Figures {
    cycles: Value,
    areas: Value,
}

impl Figures {
    fn new() -> Result<Self, Error> {
        let read = |text| serde_json::from_str(text).map_err(|source| Error::Figures { source });
        Ok(Self { cycles: read(CYCLES)?, areas: read(AREAS)? })
    }

    fn cycles(&self, path: &str) -> Option<f64> {
        self.cycles.pointer(path)?.as_f64()
    }

    /// NAND2 equivalents of a block.
    fn area(&self, block: &str) -> Option<f64> {
        self.areas.pointer(&format!("/{block}/total"))?.as_f64()
    }

    /// The parts of a block with their NAND2 equivalents.
    fn parts(&self, block: &str) -> Vec<(&str, f64)> {
        let rows = self.areas.pointer(&format!("/{block}/rows")).and_then(Value::as_object);
        rows.into_iter().flatten().filter_map(|(name, area)| Some((name.as_str(), area.as_f64()?))).collect()
    }

    /// Memory bits of a block. The names of its parts say whether a part is a memory.
    fn bits(&self, block: &str, kind: &str) -> Option<f64> {
        self.area(block)?;
        let bit = if kind == "ROM" { ROM_BIT } else { SRAM_BIT };
        let parts = self.parts(block);
        Some(parts.iter().filter(|(name, _)| name.starts_with(kind)).map(|(_, area)| (area / bit).round()).sum())
    }
}

/// A row with one figure of ours. Figures that are not whole are rounded to six digits.
fn row(name: impl Into<String>, unit: &str, ours: Option<f64>, paper: Option<f64>) -> Row {
    let cell = ours.map(|ours| if ours.fract() == 0.0 { Cell::counted(ours as u64) } else { Cell::measured(ours) });
    Row {
        name: name.into(),
        bits: None,
        unit: Some(unit.into()),
        cells: vec![cell],
        paper,
        ratio: ours.zip(paper).map(|(ours, paper)| six_figures(ours / paper)),
        note: cell.is_none().then(|| "not measured".into()),
    }
}

fn table(title: impl Into<String>, rows: Vec<Row>) -> Table {
    Table { title: title.into(), columns: vec![Column::new("ours", None)], rows }
}

fn mega(figure: Option<f64>) -> Option<f64> {
    figure.map(|figure| figure / 1e6)
}

fn milliseconds(cycles: Option<f64>) -> Option<f64> {
    cycles.map(|cycles| cycles / CLOCK_HZ * 1e3)
}

/// The parts of a block, as a table.
fn parts(figures: &Figures, title: &str, block: &str) -> Option<Table> {
    let rows: Vec<_> =
        figures.parts(block).into_iter().map(|(name, area)| row(name, "K gates", Some(area / 1e3), None)).collect();
    (!rows.is_empty()).then(|| table(title, rows))
}

const SOURCE: &str = "Our cycles are those of the simulated designs (`make rtl`), and our gates those of their synthesis with the OSU018 cells (`make rtl-area`). Both commands write the files in docs/measurements that this table reads, so the figures do not depend on this machine. A gate is a NAND gate with two inputs.";
const MEMORIES: &str =
    "Memories cost what wang2014 states: 1.86 gates for a bit of SRAM with two ports, 0.27 for a bit of ROM.";
const TIMES: &str = "Our times are for a clock of 200 MHz, which is an assumption: no chip was made.";

fn report(entry: Entry, circuit: &str, options: &Options, tables: Vec<Table>, notes: &[&str]) -> Report {
    let mut report = Report::new(entry, circuit, options, 1);
    report.tables = tables;
    report.notes = [SOURCE].iter().chain(notes).map(|note| (*note).to_owned()).collect();
    report
}

/// Tables 5.1 and 5.2 of wang2014.
pub(crate) fn multiplier_area(options: &Options, _: &Control<'_>) -> Result<Report, Error> {
    let figures = Figures::new()?;
    let rows = vec![
        row("two fresh operands", "M gates", mega(figures.area("multiplier")), Some(20.6)),
        row("one operand transformed already", "M gates", mega(figures.area("stored")), None),
        row("the same with two kernels", "M gates", mega(figures.area("stored_two_kernels")), None),
        row("SRAM", "bits", figures.bits("multiplier", "SRAM"), Some(8_388_608.0)),
        row("ROM", "bits", figures.bits("multiplier", "ROM"), Some(7_864_320.0)),
    ];
    let mut tables = vec![table("The multiplier, beside the paper's circuit", rows)];
    tables.extend(parts(&figures, "Parts of the multiplier of two fresh operands", "multiplier"));
    tables.extend(parts(&figures, "Parts of the multiplier of one operand transformed already", "stored"));
    tables.extend(parts(&figures, "Parts of the same multiplier with two kernels", "stored_two_kernels"));
    tables.extend(Some(modules(&figures)).filter(|table| !table.rows.is_empty()));
    let notes = [
        MEMORIES,
        "The paper's SRAM is 32 banks of 4096 words of 64 bits, and its ROM is 30 of them. Table 5.2 states a placement on an FPGA, which our designs do not have; its 8,912,896 memory bits stand beside our SRAM.",
        "Levels are the two-input gates on the longest path between registers.",
    ];
    Ok(report(MULTIPLIER_AREA, WANG_CIRCUIT, options, tables, &notes))
}

/// Area and depth of the modules that are synthesized alone.
fn modules(figures: &Figures) -> Table {
    let areas = figures.areas.pointer("/area").and_then(Value::as_object);
    let one = |(name, area): (&String, &Value)| Row {
        name: name.clone(),
        bits: None,
        unit: None,
        cells: vec![
            area.as_f64().map(|area| Cell::measured(area.round())),
            figures.areas.pointer(&format!("/depth/{name}")).and_then(Value::as_u64).map(Cell::counted),
        ],
        paper: None,
        ratio: None,
        note: None,
    };
    Table {
        title: "Modules".into(),
        columns: vec![Column::new("area", Some("gates")), Column::new("depth", Some("levels"))],
        rows: areas.into_iter().flatten().map(one).collect(),
    }
}

/// Table 5.3 of wang2014.
pub(crate) fn multiplier_time(options: &Options, _: &Control<'_>) -> Result<Report, Error> {
    let figures = Figures::new()?;
    let product = figures.cycles("/multiplier/product");
    let rows = vec![
        row("product, load and unload included", "cycles", product, Some(41_146.0)),
        row("product, load and unload included", "ms", milliseconds(product), Some(0.206)),
        row("products that follow each other, one every", "cycles", figures.cycles("/multiplier/streamed"), None),
        row("one operand transformed already: product in memory", "cycles", figures.cycles("/stored/resident"), None),
        row("one operand transformed already: product unloaded", "cycles", figures.cycles("/stored/unloaded"), None),
        row(
            "the same with two kernels: product unloaded",
            "cycles",
            figures.cycles("/stored_two_kernels/unloaded"),
            None,
        ),
    ];
    let title = "Products of 786,432 bits, beside the paper's circuit";
    let notes = [
        TIMES,
        "The paper's cycles are 4096 to load, eight stages of 4119, and 4098 to unload. It also states 6 ms on a Xeon X5650 and 0.42 ms on a Tesla C2050.",
    ];
    Ok(report(MULTIPLIER_TIME, WANG_CIRCUIT, options, vec![table(title, rows)], &notes))
}

/// Tables 7.1 and 7.3 of wang2014.
pub(crate) fn rsa_cycles(options: &Options, _: &Control<'_>) -> Result<Report, Error> {
    let figures = Figures::new()?;
    let product = figures.cycles("/rsa/product_8192");
    let [private, crt, long] =
        ["private_8192", "crt_8192", "private_12288"].map(|name| figures.cycles(&format!("/rsa/{name}")));
    let rows = vec![
        row("modular product, two fresh operands", "cycles", product, Some(2330.0)),
        row("modular product, one operand transformed already", "cycles", product, Some(2030.0)),
        row("private operation, 8192 bits", "M cycles", mega(private), Some(0.104 * 320.0)),
        row("private operation, 8192 bits", "ms", milliseconds(private), Some(104.0)),
        row("private operation, 8192 bits, by CRT", "M cycles", mega(crt), None),
        row("private operation, 8192 bits, by CRT", "ms", milliseconds(crt), None),
        row("private operation, 12288 bits", "M cycles", mega(long), Some(0.156 * 320.0)),
        row("private operation, 12288 bits", "ms", milliseconds(long), Some(156.0)),
        row("SRAM", "bits", figures.bits("rsa_8192", "SRAM"), Some(483_328.0)),
    ];
    let notes = [
        TIMES,
        "The paper's private operations take 0.104 s and 0.156 s at 320 MHz, in the worst case and without CRT. Its cycles are these times multiplied by that clock. The cycles of our private operation do not depend on the exponent.",
        "Our products take the same cycles whether an operand is fresh or not.",
    ];
    Ok(report(RSA_CYCLES, RSA_CIRCUIT, options, vec![table("RSA, beside the paper's circuit", rows)], &notes))
}

/// Table 7.2 of wang2014.
pub(crate) fn rsa_area(options: &Options, _: &Control<'_>) -> Result<Report, Error> {
    let figures = Figures::new()?;
    let rows = [8192, 12_288]
        .map(|bits| row(format!("{bits} bits"), "M gates", mega(figures.area(&format!("rsa_{bits}"))), Some(5.3)));
    let mut tables = vec![table("The RSA exponentiator, beside the paper's circuit", rows.into())];
    tables.extend(parts(&figures, "Parts at 8192 bits", "rsa_8192"));
    tables.extend(parts(&figures, "Parts at 12288 bits", "rsa_12288"));
    Ok(report(RSA_AREA, RSA_CIRCUIT, options, tables, &[MEMORIES]))
}

/// Operation, key of our figure, cycles of the paper in units of N, and its milliseconds.
const PRIMITIVES: [(&str, &str, f64, f64); 4] = [
    ("product modulo d", "product", 52.5 + 73.0, 18.5),
    ("Decrypt", "decrypt", 109.5, 16.16),
    ("Encrypt", "encrypt", 32.5 * 1.039 + 89.0, 18.1),
    ("Recrypt", "recrypt", 3112.0 * 666e3 / N, 3112.0),
];

const GH_NOTE: &str = "The parameters are those of the set small. The cycles hold for a memory that delivers a beat of 384 bits a cycle on each of three ports and takes one on a fourth; the paper's memory moves two words of 64 bits a cycle.";

/// Table 3 of doroz2015.
pub(crate) fn gh_cycles(options: &Options, _: &Control<'_>) -> Result<Report, Error> {
    let figures = Figures::new()?;
    let get = |key: &str, name: &str| figures.cycles(&format!("/gh/{key}/{name}"));
    let mut cycles =
        vec![row("product", "M cycles", mega(figures.cycles("/multiplier/product")), Some(52.5 * N / 1e6))];
    let mut traffic = Vec::new();
    for (name, key, paper, _) in PRIMITIVES {
        cycles.push(row(name, "M cycles", mega(get(key, "cycles")), Some(six_figures(paper * N / 1e6))));
        traffic.push(row(format!("{name}, read"), "MB", mega(get(key, "read_bytes")), None));
        traffic.push(row(format!("{name}, written"), "MB", mega(get(key, "written_bytes")), None));
    }
    let tables = vec![
        circuits()?,
        table("Cycles, beside the paper's circuit", cycles),
        table("Traffic between the circuit and its memory", traffic),
    ];
    let notes = [
        TIMES,
        GH_NOTE,
        "The paper's product takes operands of 1,179,648 bits, ours those of 786,432 bits, which is enough for this set. A product modulo d is a product and Barrett's reduction, 52.5 N + 73 N cycles in the paper with N = 98,304. The steps of Encrypt and Recrypt overlap in our circuit, so only their totals are stated.",
    ];
    Ok(report(GH_CYCLES, DOROZ_CIRCUIT, options, tables, &notes))
}

/// Times of our circuit at its clock beside those of the paper's circuit at its clock (tables 3 and 6 of doroz2015).
pub(crate) fn circuits() -> Result<Table, Error> {
    let figures = Figures::new()?;
    let one = |(name, key, _, paper): (&str, &str, f64, f64)| {
        row(name, "ms", milliseconds(figures.cycles(&format!("/gh/{key}/cycles"))), Some(paper))
    };
    Ok(table("Times of our circuit at 200 MHz, beside those of the paper's at 666 MHz", PRIMITIVES.map(one).into()))
}

/// Table 4 of doroz2015.
pub(crate) fn gh_area(options: &Options, _: &Control<'_>) -> Result<Report, Error> {
    let figures = Figures::new()?;
    let rows = figures.parts("gh");
    let of = |names: &[&str]| {
        let found: Vec<f64> = rows
            .iter()
            .filter(|(row, _)| names.iter().any(|name| row.starts_with(name)))
            .map(|(_, area)| *area)
            .collect();
        (!found.is_empty()).then(|| found.iter().sum::<f64>() / 1e6)
    };
    let lines = vec![
        row("multiplier", "M gates", of(&["multiplier"]), Some(26.7)),
        row("Barrett reduction: the sink of products", "M gates", of(&["sol_gh_sink"]), Some(0.0647)),
        row(
            "Encrypt and Recrypt: sums, candidates, comparison",
            "M gates",
            of(&["sol_gh_sum", "sol_gh_candidates", "sol_gh_compare"]),
            Some(0.206 + 1.177),
        ),
        row(
            "master control: registers, sequencer and their memories",
            "M gates",
            of(&["sol_gh_registers", "sol_gh_sequencer", "SRAM"]),
            None,
        ),
        row(
            "whole, the paper's without master control",
            "M gates",
            mega(figures.area("gh")),
            Some(six_figures(26.7 + 0.0647 + 0.0002 + 0.206 + 1.177)),
        ),
    ];
    let mut tables = vec![table("The accelerator, beside the paper's circuit", lines)];
    tables.extend(parts(&figures, "Parts of the accelerator", "gh"));
    let notes = [
        MEMORIES,
        "The paper's figures are those of caches of 256 digits. Its master control has no figure. Its Decrypt unit has 200 gates; our Decrypt is a program and has no unit.",
    ];
    Ok(report(GH_AREA, DOROZ_CIRCUIT, options, tables, &notes))
}

/// Multipliers of a stage, time in N and millions of gates.
const TRADE_OFFS: [(u32, f64, f64); 6] =
    [(4, 52.5, 26.7), (8, 32.7, 26.9), (16, 22.8, 27.3), (32, 17.9, 28.1), (64, 15.4, 29.7), (128, 14.2, 32.9)];

/// Table 5 of doroz2015.
pub(crate) fn trade_off(options: &Options, _: &Control<'_>) -> Result<Report, Error> {
    let figures = Figures::new()?;
    let line = |name: String, cells: [Option<Cell>; 3]| Row {
        name,
        bits: None,
        unit: None,
        note: cells[2].is_none().then(|| "not measured".into()),
        cells: cells.into(),
        paper: None,
        ratio: None,
    };
    let published = |(m, time, area): (u32, f64, f64)| {
        let cells = [time, area, time * area].map(|figure| Some(Cell::published(six_figures(figure))));
        line(format!("the paper's, m = {m}"), cells)
    };
    let mut rows: Vec<_> = TRADE_OFFS.map(published).into();
    for (name, cycles, block) in [
        ("ours, two fresh operands", "/multiplier/product", "multiplier"),
        ("ours, two fresh operands, streamed", "/multiplier/streamed", "multiplier"),
        ("ours, one operand transformed already", "/stored/unloaded", "stored"),
        ("ours, one operand transformed already, two kernels", "/stored_two_kernels/unloaded", "stored_two_kernels"),
    ] {
        let time = figures.cycles(cycles).map(|cycles| cycles / N);
        let area = mega(figures.area(block));
        let product = time.zip(area).map(|(time, area)| time * area);
        rows.push(line(name.into(), [time, area, product].map(|figure| figure.map(Cell::measured))));
    }
    let columns = vec![
        Column::new("time", Some("N cycles")),
        Column::new("area", Some("M gates")),
        Column::new("time x area", None),
    ];
    let tables = vec![Table { title: "Multipliers".into(), columns, rows }];
    let notes = [
        MEMORIES,
        "N is 98,304. The paper's operands have 1,179,648 bits, ours 786,432. The paper prints 1817 for m = 128, but its figures give 467.",
    ];
    Ok(report(TRADE_OFF, DOROZ_CIRCUIT, options, tables, &notes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_rows_and_says_which_figures_are_missing() {
        for measure in [multiplier_area, multiplier_time, rsa_cycles, rsa_area, gh_cycles, gh_area, trade_off] {
            let report = measure(&Options::default(), &Control::default()).unwrap();
            assert!(report.tables.iter().all(|table| !table.rows.is_empty()), "{}", report.name);
            for row in report.tables.iter().flat_map(|table| &table.rows) {
                let missing = row.cells.iter().any(Option::is_none);
                assert!(!missing || row.note.as_deref() == Some("not measured"), "{}: {}", report.name, row.name);
            }
        }
    }

    #[test]
    fn cycles_in_units_of_n_agree_with_the_milliseconds_of_the_paper() {
        for (name, _, cycles, ms) in PRIMITIVES {
            assert!((cycles * N / 666e3 / ms - 1.0).abs() < 0.005, "{name}");
        }
    }

    #[test]
    fn memory_bits_follow_from_the_areas_of_parts() {
        let areas = serde_json::json!({"multiplier": {"total": 20.0, "rows": {"SRAM: a": 18.6, "ROM: b": 1.35}}});
        let figures = Figures { cycles: Value::Null, areas };
        let bits = |kind| figures.bits("multiplier", kind).unwrap();
        assert_eq!((bits("SRAM"), bits("ROM")), (10.0, 5.0));
        assert_eq!((figures.bits("rsa_8192", "SRAM"), figures.cycles("/rsa/product_8192")), (None, None));
    }
}
