//! Oh, Kim, Kim: addition and multiplication of encrypted integers with threads, figures 5 and 6 and the gate times of section 1.
//!
//! The paper gives reductions and speed-ups, and times of a gate and a MUX only. We run the circuits of its programs without threads (serial) and those of its
//! sections 3.1 and 3.2, on one thread and on all threads. We predict the times for four cores, as in the paper. Our circuits and the radix integers are shown
//! beside them.

mod measure;

use crate::{Basis, Cell, Column, Control, Entry, Error, Options, Report, Row, Table};
use crate::{machine, report::six_figures, thread_per_gate, wavefronts};
use measure::{Gates, Measured};
use solinas_circuits::build::{Adder, Multiplier, Prefix, Recipe};
use solinas_circuits::{GateCosts, Netlist, counted};
use solinas_engine::{Program, Type};
use std::time::Duration;

pub(crate) const ENTRY: Entry = Entry {
    name: "oh2018",
    title: "Efficient software implementation of homomorphic encryption for addition and multiplication operations",
    summary: "serial and threaded binary addition and multiplication over TFHE gates, 16 to 64 bits (figures 5 and 6), our circuits and radix integers",
};

/// Machine of section 4.
const PAPER_MACHINE: &str = "i5-7600K, 4 cores, TFHE library";
const PAPER_CORES: usize = 4;
/// Section 1: milliseconds of a gate and of a MUX.
const PAPER_GATE_MS: f64 = 13.0;
const PAPER_MUX_MS: f64 = 26.0;
/// Figure 5 and its text: threads save "about 11 to 12 percent" of the time, at every width.
const PAPER_ADDITION_SAVED: f64 = 11.5;
/// Figure 6 and its text: width, and speed-up over the run without threads.
const PAPER_MULTIPLICATION: [(u16, f64); 4] = [(16, 2.95), (32, 3.93), (48, 3.19), (64, 4.48)];

/// Configuration of the measurement.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    gates: &'static str,
    integers: &'static str,
    widths: Vec<u16>,
    /// Widths up to this one are measured. Larger widths are predicted.
    measured_to: u16,
    threads: usize,
    /// Time after which no repetition of a run starts.
    repeat: Duration,
    /// Whether to derive the keys from a fixed seed, for tests.
    insecure_seed: Option<u64>,
    options: Options,
}

impl Config {
    pub(crate) fn new(options: &Options) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            gates: "gates-128",
            integers: "integers-128",
            widths: PAPER_MULTIPLICATION.map(|(width, _)| width).into(),
            measured_to: if options.quick { 16 } else { 64 },
            threads: options.threads.unwrap_or(cores).max(1),
            repeat: Duration::from_secs_f64(if options.quick { 0.7 } else { 10.0 }),
            insecure_seed: None,
            options: options.clone(),
        }
    }

    /// The numbers of threads to measure.
    fn threads(&self) -> Vec<usize> {
        if self.threads == 1 { vec![1] } else { vec![1, self.threads] }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Add,
    Mul,
}

impl Op {
    fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Mul => "mul",
        }
    }

    fn apply(self, a: u128, b: u128) -> u128 {
        match self {
            Self::Add => a.wrapping_add(b),
            Self::Mul => a.wrapping_mul(b),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Circuit {
    Serial,
    Oh2018,
    Ripple,
    Sklansky,
    Radix,
}

impl Circuit {
    const ALL: [Self; 5] = [Self::Serial, Self::Oh2018, Self::Ripple, Self::Sklansky, Self::Radix];

    fn name(self, op: Op) -> &'static str {
        match (self, op) {
            (Self::Serial, Op::Add) => "serial: ripple carry, two-input gates",
            (Self::Serial, Op::Mul) => "serial: shift and add, two-input gates",
            (Self::Oh2018, Op::Add) => "oh2018, section 3.1",
            (Self::Oh2018, Op::Mul) => "oh2018, section 3.2",
            (Self::Ripple, Op::Add) => "ours: ripple carry, XOR3 and MAJ",
            (Self::Ripple, Op::Mul) => "ours: carry save, ripple",
            (Self::Sklansky, Op::Add) => "ours: prefix, Sklansky",
            (Self::Sklansky, Op::Mul) => "ours: carry save, Sklansky",
            (Self::Radix, _) => "ours: radix integers",
        }
    }

    /// `None` for radix integers, which do not use gates.
    fn recipe(self) -> Option<Recipe> {
        let ours = |adder| Recipe { adder, multiplier: Multiplier::CarrySave(adder), ..Recipe::default() };
        match self {
            Self::Serial => Some(Recipe::serial()),
            Self::Oh2018 => Some(Recipe::oh2018()),
            Self::Ripple => Some(ours(Adder::Ripple)),
            Self::Sklansky => Some(ours(Adder::Prefix(Prefix::Sklansky))),
            Self::Radix => None,
        }
    }
}

/// An operation on integers of a width, computed by a circuit.
#[derive(Debug, Clone)]
struct Case {
    op: Op,
    circuit: Circuit,
    width: u16,
    program: Program,
    netlist: Option<Netlist>,
    /// Number of bootstraps of each wavefront of the netlist.
    fronts: Vec<u64>,
}

impl Case {
    fn new(op: Op, circuit: Circuit, width: u16) -> Result<Self, Error> {
        let program = Program::from_op(op.name(), &[Type::Uint(width); 2])?;
        let netlist = circuit.recipe().map(|recipe| program.lower(recipe)).transpose()?;
        let fronts = netlist.as_ref().map(|netlist| netlist.stats(&GateCosts::default()).width).unwrap_or_default();
        Ok(Self { op, circuit, width, program, netlist, fronts })
    }

    fn all(widths: &[u16]) -> Result<Vec<Self>, Error> {
        let mut cases = Vec::new();
        for op in [Op::Add, Op::Mul] {
            for &width in widths {
                for circuit in Circuit::ALL {
                    cases.push(Self::new(op, circuit, width)?);
                }
            }
        }
        Ok(cases)
    }
}

/// Measures the table with new keys.
pub(crate) fn measure(options: &Options, control: &Control<'_>) -> Result<Report, Error> {
    run(&Config::new(options), control)
}

/// Measures the table.
pub(crate) fn run(config: &Config, control: &Control<'_>) -> Result<Report, Error> {
    let cases = Case::all(&config.widths)?;
    let busy = machine::load();
    let (gates, measured) = measure::all(config, &cases, control)?;
    let mut report = Report::new(ENTRY, PAPER_MACHINE, &config.options, config.threads);
    let results = Results { config, gates: &gates, cases: &cases, measured: &measured };
    report.tables.push(results.beside_the_paper());
    report.tables.push(results.circuits(Op::Add, "Addition, by circuit"));
    report.tables.push(results.circuits(Op::Mul, "Multiplication (low half), by circuit"));
    report.notes = results.notes();
    report.notes.extend(machine::busy_note(busy));
    Ok(report)
}

/// All measurements, from which the tables are made.
struct Results<'a> {
    config: &'a Config,
    gates: &'a Gates,
    cases: &'a [Case],
    measured: &'a [Measured],
}

fn threads_name(threads: usize) -> String {
    counted(threads, "thread")
}

impl Results<'_> {
    fn find(&self, op: Op, circuit: Circuit, width: u16) -> Option<(&Case, &Measured)> {
        let wanted = |case: &Case| (case.op, case.circuit, case.width) == (op, circuit, width);
        self.cases.iter().zip(self.measured).find(|(case, _)| wanted(case))
    }

    /// Seconds if each gate is a thread. On one core, the gates run one after the other.
    fn per_gate(&self, case: &Case, cores: usize) -> Option<Cell> {
        case.netlist.as_ref().map(|netlist| Cell::predicted(thread_per_gate(netlist, cores, &self.gates.times)))
    }

    /// The table of gate times and of figures 5 and 6.
    fn beside_the_paper(&self) -> Table {
        let ms = |name: &str, seconds: f64, paper: f64, note: String| Row {
            name: name.into(),
            bits: None,
            unit: Some("ms".into()),
            cells: vec![Some(Cell::measured(seconds * 1e3)), None, None],
            paper: Some(paper),
            ratio: Some(six_figures(seconds * 1e3 / paper)),
            note: Some(note),
        };
        let all = threads_name(self.config.threads);
        let mut rows = vec![
            ms("gate", self.gates.times.gate, PAPER_GATE_MS, "a single one, on one thread".into()),
            ms("MUX", self.gates.times.mux, PAPER_MUX_MS, "a single one, on one thread".into()),
            ms("gate of many", self.gates.batched, PAPER_GATE_MS, "in batches, on one thread".into()),
            ms("gate of many", self.gates.parallel, PAPER_GATE_MS, format!("in batches, on {all}")),
        ];
        let comparisons = [
            (Op::Add, Circuit::Oh2018, "addition, time saved", "against the same circuit without threads"),
            (Op::Add, Circuit::Serial, "addition, time saved", "against the serial circuit"),
            (Op::Mul, Circuit::Oh2018, "multiplication, speed-up", "over the same circuit without threads"),
            (Op::Mul, Circuit::Serial, "multiplication, speed-up", "over the serial circuit"),
        ];
        for (op, baseline, name, note) in comparisons {
            for &width in &self.config.widths {
                rows.extend(self.comparison(op, baseline, width, name, note));
            }
        }
        let columns = ["here", "4 cores", "4 cores, per gate"].map(|name| Column::new(name, None));
        Table { title: "Beside the published figures (1, 5 and 6)".into(), columns: columns.into(), rows }
    }

    /// Compares the paper's circuit with threads to a circuit without threads.
    fn comparison(&self, op: Op, baseline: Circuit, width: u16, name: &str, note: &str) -> Option<Row> {
        let (without, base) = self.find(op, baseline, width)?;
        let (with, threaded) = self.find(op, Circuit::Oh2018, width)?;
        let (unit, figure, paper): (_, fn(f64, f64) -> f64, _) = match op {
            Op::Add => ("%", |base, new| 100.0 * (1.0 - new / base), Some(PAPER_ADDITION_SAVED)),
            Op::Mul => {
                let paper = PAPER_MULTIPLICATION.iter().find(|(of, _)| *of == width);
                ("x", |base, new| base / new, paper.map(|(_, speedup)| *speedup))
            }
        };
        let alone = *base.seconds.first()?;
        let per_gate = self.per_gate(without, 1)?.combine(self.per_gate(with, PAPER_CORES)?, figure);
        let cells =
            [alone.combine(*threaded.seconds.last()?, figure), alone.combine(threaded.paper_cores, figure), per_gate]
                .map(Some);
        Some(Row {
            name: name.into(),
            bits: Some(width),
            unit: Some(unit.into()),
            cells: cells.into(),
            paper,
            ratio: paper.map(|paper| six_figures(per_gate.ours / paper)),
            note: Some(note.into()),
        })
    }

    /// The table of bootstraps, depth and seconds of every circuit.
    fn circuits(&self, op: Op, title: &str) -> Table {
        let mut columns = vec![Column::new("bootstraps", None), Column::new("depth", None)];
        columns.extend(self.config.threads().into_iter().map(|threads| Column::new(threads_name(threads), Some("s"))));
        columns.push(Column::new("4 cores", Some("s")));
        columns.push(Column::new("4 cores, per gate", Some("s")));
        columns.push(Column::new(format!("serial / this, {}", threads_name(self.config.threads)), None));
        let row = |(case, measured): (&Case, &Measured)| {
            let mut cells = vec![Some(Cell::counted(measured.bootstraps)), Some(Cell::counted(measured.depth))];
            cells.extend(measured.seconds.iter().copied().map(Some));
            cells.push(Some(measured.paper_cores));
            cells.push(self.per_gate(case, PAPER_CORES));
            let serial = self.find(op, Circuit::Serial, case.width).and_then(|(_, serial)| serial.seconds.first());
            let gain = serial.zip(measured.seconds.last()).map(|(serial, this)| serial.combine(*this, |s, t| s / t));
            cells.push(gain);
            Row {
                name: case.circuit.name(op).into(),
                bits: Some(case.width),
                unit: None,
                cells,
                paper: None,
                ratio: None,
                note: None,
            }
        };
        let rows = self.cases.iter().zip(self.measured).filter(|(case, _)| case.op == op).map(row).collect();
        Table { title: title.into(), columns, rows }
    }

    fn notes(&self) -> Vec<String> {
        let Config { gates, integers, threads, .. } = self.config;
        let all = threads_name(*threads);
        let mut notes = vec![
            format!("Parameter sets: {gates} (gates) and {integers} (radix integers). Every measured result was decrypted and is right. Times are medians of repeated runs."),
            format!("Column `here`: the circuit without threads runs on 1 thread, the circuit with threads on {all}. Even one thread runs independent gates in batches that share passes over the key."),
            "Column `4 cores`: wavefront by wavefront, with ceil(width / 4) gate times each. Column `4 cores, per gate`: each gate is a thread, as in the paper. It starts when its operands are ready and a core is free. A MUX is one thread of two bootstraps. Without threads, the gates run one after the other. The ratio is the figure of this column, if there is one, over the paper's.".into(),
            "Figure 5 states 11 to 12 percent. Bit by bit, as in figures 1 and 2, threads can save (n - 1) of 4 (n - 1) gate times: 25 percent. Starting the threads cost the rest.".into(),
            "4 cores cannot run the same gates more than 4 times faster, so 4.48 does not compare the same gates. Our serial multiplication of 64 bits has 1.19 times the bootstraps of section 3.2. If a MUX takes two gate times, this allows a speed-up of at most 4.76.".into(),
            "Column `serial / this`: the time of the serial circuit on 1 thread over that of this circuit on all threads. Radix integers use the fastest plan for the number of threads; the counts are those of the plan for all threads.".into(),
        ];
        notes.extend(self.law_against_measurement());
        notes
    }

    /// Deviation of the law of wavefronts from the measured times on all threads.
    fn law_against_measurement(&self) -> Option<String> {
        let off = |(case, measured): (&Case, &Measured)| {
            let cell = measured.seconds.last().filter(|cell| cell.basis == Basis::Measured)?;
            let law = wavefronts(&case.fronts, self.config.threads, &self.gates.times);
            case.netlist.as_ref().map(|_| 100.0 * (law / cell.ours - 1.0))
        };
        let mut off: Vec<f64> = self.cases.iter().zip(self.measured).filter_map(off).collect();
        off.sort_by(f64::total_cmp);
        let (low, high) = (*off.first()?, *off.last()?);
        let all = threads_name(self.config.threads);
        Some(format!(
            "The law of wavefronts on {all} deviates by {low:+.0} to {high:+.0} percent from the measured times of gate circuits."
        ))
    }
}

#[cfg(test)]
mod tests;
