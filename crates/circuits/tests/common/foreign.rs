//! Random circuits in the style of other programs, and an interpreter of their cells, which shares no code with the readers.
#![allow(dead_code, reason = "each user takes a part")]

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use std::fmt::Write;

/// The file formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Blif,
    Yosys,
    Bristol,
}

#[derive(Debug, Clone, Copy)]
enum Bit {
    Const(bool),
    /// Input bits first, then the cells.
    Wire(usize),
}

/// A gate: its name in Yosys and in Bristol files, its pins, and its function.
type Kind = (&'static str, &'static str, &'static [&'static str], fn(&[bool]) -> bool);

const KINDS: [Kind; 12] = [
    ("$_AND_", "AND", &["A", "B"], |x| x[0] & x[1]),
    ("$_XOR_", "XOR", &["A", "B"], |x| x[0] ^ x[1]),
    ("$_NOT_", "INV", &["A"], |x| !x[0]),
    ("$_BUF_", "EQW", &["A"], |x| x[0]),
    ("$_NAND_", "", &["A", "B"], |x| !(x[0] & x[1])),
    ("$_NOR_", "", &["A", "B"], |x| !(x[0] | x[1])),
    ("$_OR_", "", &["A", "B"], |x| x[0] | x[1]),
    ("$_ANDNOT_", "", &["A", "B"], |x| x[0] & !x[1]),
    ("$_ORNOT_", "", &["A", "B"], |x| x[0] | !x[1]),
    ("$_MUX_", "", &["A", "B", "S"], |x| if x[2] { x[1] } else { x[0] }),
    ("$_AOI3_", "", &["A", "B", "C"], |x| !(x[0] & x[1] | x[2])),
    ("$_OAI4_", "", &["A", "B", "C", "D"], |x| !((x[0] | x[1]) & (x[2] | x[3]))),
];
/// The number of gates that Bristol files support too.
const BRISTOL: usize = 4;

/// A cell: a gate, or a lookup table whose first input is the lowest bit of the index.
#[derive(Debug)]
struct Cell {
    kind: Option<&'static Kind>,
    table: Vec<bool>,
    inputs: Vec<Bit>,
}

/// A circuit of several ports. Some inputs have no reader, and some outputs are constants or inputs.
#[derive(Debug)]
pub(crate) struct Foreign {
    pub(crate) inputs: Vec<(String, usize)>,
    pub(crate) outputs: Vec<(String, usize)>,
    cells: Vec<Cell>,
    results: Vec<Bit>,
}

pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

fn below(rng: &mut ChaCha8Rng, limit: usize) -> usize {
    (rng.next_u64() % limit as u64) as usize
}

fn shuffled<T>(mut all: Vec<T>, rng: &mut ChaCha8Rng) -> Vec<T> {
    for i in (1..all.len()).rev() {
        all.swap(i, below(rng, i + 1));
    }
    all
}

fn index(bits: impl Iterator<Item = bool>) -> usize {
    bits.enumerate().map(|(i, bit)| usize::from(bit) << i).sum()
}

impl Foreign {
    /// A circuit that the format can express, of up to a given number of cells.
    pub(crate) fn new(rng: &mut ChaCha8Rng, format: Format, cells: usize) -> Self {
        let ports = |rng: &mut ChaCha8Rng, prefix: &str| -> Vec<(String, usize)> {
            (0..=below(rng, 3)).map(|i| (format!("{prefix}{i}"), 1 + below(rng, 5))).collect()
        };
        let [i, o] = if format == Format::Bristol { ["in", "out"] } else { ["a", "y"] };
        let (inputs, outputs) = (ports(rng, i), ports(rng, o));
        let bits = |ports: &[(String, usize)]| ports.iter().map(|port| port.1).sum::<usize>();
        // The last port sometimes has no reader.
        let unused = if inputs.len() > 1 && below(rng, 3) == 0 { inputs.last().map_or(0, |port| port.1) } else { 0 };
        let mut wires: Vec<Bit> = (0..bits(&inputs) - unused).map(Bit::Wire).collect();
        if format != Format::Bristol {
            wires.extend([false, true].map(Bit::Const));
        }
        let mut this = Self { outputs, cells: Vec::new(), results: Vec::new(), inputs };
        for i in 0..=below(rng, cells) {
            let cell = match below(rng, 4) {
                0 if format == Format::Bristol => {
                    Cell { kind: None, table: vec![below(rng, 2) == 1], inputs: Vec::new() }
                }
                0 | 1 if format != Format::Bristol => {
                    let count = 1 + below(rng, 5);
                    // A table often ignores an input.
                    let keep = if below(rng, 2) == 0 { usize::MAX } else { !(1 << below(rng, count)) };
                    let entries = rng.next_u64() >> below(rng, 64);
                    let table = (0..1 << count).map(|at: usize| entries >> ((at & keep) % 64) & 1 == 1).collect();
                    Cell { kind: None, table, inputs: vec![Bit::Const(false); count] }
                }
                _ => {
                    let count = if format == Format::Bristol { BRISTOL } else { KINDS.len() };
                    let kind = &KINDS[below(rng, count)];
                    let pins = kind.2.len();
                    let entry = |at: usize| kind.3(&(0..pins).map(|pin| at >> pin & 1 == 1).collect::<Vec<_>>());
                    let table = (0..1 << pins).map(entry).collect();
                    Cell { kind: Some(kind), table, inputs: vec![Bit::Const(false); pins] }
                }
            };
            let inputs = cell.inputs.iter().map(|_| wires[below(rng, wires.len())]).collect();
            this.cells.push(Cell { inputs, ..cell });
            wires.push(Bit::Wire(bits(&this.inputs) + i));
        }
        let results = (0..bits(&this.outputs)).map(|_| {
            let recent = wires.len().saturating_sub(8 * below(rng, 2) + below(rng, wires.len()));
            wires[recent.min(wires.len() - 1)]
        });
        this.results = results.collect();
        this
    }

    fn input_bits(&self) -> usize {
        self.inputs.iter().map(|port| port.1).sum()
    }

    /// The output bits, from those of the inputs.
    pub(crate) fn evaluate(&self, inputs: &[bool]) -> Vec<bool> {
        let mut wires = inputs.to_vec();
        let value = |wires: &[bool], bit: &Bit| match *bit {
            Bit::Const(value) => value,
            Bit::Wire(wire) => wires[wire],
        };
        for cell in &self.cells {
            let at = index(cell.inputs.iter().map(|bit| value(&wires, bit)));
            wires.push(cell.table[at]);
        }
        self.results.iter().map(|bit| value(&wires, bit)).collect()
    }

    /// The text of a file.
    pub(crate) fn text(&self, rng: &mut ChaCha8Rng, format: Format) -> String {
        match format {
            Format::Blif => self.blif(rng),
            Format::Yosys => self.yosys(rng),
            Format::Bristol => self.bristol(),
        }
    }

    fn blif(&self, rng: &mut ChaCha8Rng) -> String {
        let styles = [("[", "]"), ("<", ">"), ("_", "")];
        let named = |rng: &mut ChaCha8Rng, ports: &[(String, usize)]| -> Vec<Vec<String>> {
            let bits = |(name, width): &(String, usize)| match width {
                1 => vec![name.clone()],
                width => {
                    let (open, close) = styles[below(rng, 3)];
                    (0..*width).map(|i| format!("{name}{open}{i}{close}")).collect()
                }
            };
            ports.iter().map(bits).collect()
        };
        let (inputs, outputs) = (named(rng, &self.inputs), named(rng, &self.outputs));
        let mut names: Vec<String> = inputs.concat();
        names.extend((0..self.cells.len()).map(|i| format!("w{i}")));
        let name = |bit: &Bit| match *bit {
            Bit::Const(value) => ["zero", "one"][usize::from(value)].to_owned(),
            Bit::Wire(wire) => names[wire].clone(),
        };
        // Ports keep their order. The bits of a port come in any order.
        let mut listed = |ports: &[Vec<String>]| {
            ports.iter().map(|bits| shuffled(bits.clone(), rng).join(" ")).collect::<Vec<_>>().join(" \\\n  ")
        };
        let (ins, outs) = (listed(&inputs), listed(&outputs));
        let mut statements = vec![".names zero\n".to_owned(), ".names one\n1\n".to_owned()];
        let mut models = String::new();
        for (i, cell) in self.cells.iter().enumerate() {
            let operands: Vec<String> = cell.inputs.iter().map(name).collect();
            let inside: Vec<String> = (0..operands.len()).map(|pin| format!("p{pin}")).collect();
            let pins = |outer: &[String], output: &str| -> String {
                let pins = inside.iter().zip(outer).map(|(pin, wire)| format!("{pin}={wire}"));
                shuffled(pins.chain([format!("q={output}")]).collect(), &mut self::rng(i as u64)).join(" ")
            };
            let header = |model: &str| format!(".model {model}\n.inputs {}\n.outputs q\n", inside.join(" "));
            let cover = |rng: &mut ChaCha8Rng, wires: &[String], output: &str| {
                format!(".names {} {output}\n{}", wires.join(" "), cubes(rng, &cell.table, wires.len()))
            };
            statements.push(match below(rng, 4) {
                // An instance of a model. Every second model contains an instance of another.
                depth @ 0..2 => {
                    let own = cover(rng, &inside, "q");
                    let leaf = format!("leaf{i}");
                    let _ = writeln!(models, "{}{own}.end", header(&leaf));
                    if depth == 1 {
                        let (model, pins) = (header(&format!("m{i}")), pins(&inside, "q"));
                        let _ = writeln!(models, "{model}.subckt {leaf} {pins}\n.end");
                    }
                    let model = if depth == 1 { format!("m{i}") } else { leaf };
                    format!(".subckt {model} {}\n", pins(&operands, &format!("w{i}")))
                }
                _ => cover(rng, &operands, &format!("w{i}")),
            });
        }
        let copies = outputs.concat().into_iter().zip(&self.results);
        statements.extend(copies.map(|(output, bit)| format!(".names {} {output}\n1 1\n", name(bit))));
        let body = shuffled(statements, rng).concat();
        format!("# a comment\n.model top\n.inputs {ins}\n.outputs {outs}\n{body}.end\n{models}")
    }

    fn yosys(&self, rng: &mut ChaCha8Rng) -> String {
        // Yosys numbers wires from 2.
        let bit = |bit: &Bit| match *bit {
            Bit::Const(value) => format!("\"{}\"", u8::from(value)),
            Bit::Wire(wire) => (wire + 2).to_string(),
        };
        let mut ports = Vec::new();
        let mut first = 0;
        for (name, width) in &self.inputs {
            let bits: Vec<String> = (first..first + width).map(|wire| bit(&Bit::Wire(wire))).collect();
            ports.push(format!("\"{name}\": {{\"direction\": \"input\", \"bits\": [{}]}}", bits.join(", ")));
            first += width;
        }
        let mut results = self.results.iter();
        for (name, width) in &self.outputs {
            let bits: Vec<String> = results.by_ref().take(*width).map(bit).collect();
            ports.push(format!("\"{name}\": {{\"direction\": \"output\", \"bits\": [{}]}}", bits.join(", ")));
        }
        let cell = |(i, cell): (usize, &Cell)| {
            let own = bit(&Bit::Wire(self.input_bits() + i));
            let (kind, parameters, pins) = match cell.kind {
                Some(kind) if below(rng, 4) > 0 => {
                    let pin = |(pin, wire): (&&str, &Bit)| format!("\"{pin}\": [{}]", bit(wire));
                    (kind.0, String::new(), kind.2.iter().zip(&cell.inputs).map(pin).collect::<Vec<_>>().join(", "))
                }
                _ => {
                    let table: String = cell.table.iter().rev().map(|&bit| if bit { '1' } else { '0' }).collect();
                    let wires: Vec<String> = cell.inputs.iter().map(bit).collect();
                    let parameters = format!("\"LUT\": \"{table}\", \"WIDTH\": {}", wires.len());
                    ("$lut", parameters, format!("\"A\": [{}]", wires.join(", ")))
                }
            };
            format!(
                "\"c{i}\": {{\"type\": \"{kind}\", \"parameters\": {{{parameters}}}, \"connections\": {{{pins}, \"Y\": [{own}]}}}}"
            )
        };
        let cells: Vec<String> = self.cells.iter().enumerate().map(cell).collect();
        let cells = shuffled(cells, rng).join(",\n");
        format!("{{\"modules\": {{\"top\": {{\"ports\": {{{}}},\n\"cells\": {{{cells}}}}}}}}}", ports.join(",\n"))
    }

    fn bristol(&self) -> String {
        let wire = |bit: &Bit| match *bit {
            Bit::Wire(wire) => wire,
            Bit::Const(_) => unreachable!("operands of Bristol gates are wires"),
        };
        let (mut gates, mut next) = (String::new(), self.input_bits());
        for cell in &self.cells {
            let inputs: Vec<String> = cell.inputs.iter().map(|bit| wire(bit).to_string()).collect();
            let _ = match cell.kind {
                Some(kind) => writeln!(gates, "{} 1 {} {next} {}", inputs.len(), inputs.join(" "), kind.1),
                None => writeln!(gates, "1 1 {} {next} EQ", u8::from(cell.table[0])),
            };
            next += 1;
        }
        // The last wires are the outputs.
        for bit in &self.results {
            let _ = writeln!(gates, "1 1 {} {next} EQW", wire(bit));
            next += 1;
        }
        let widths = |ports: &[(String, usize)]| {
            let widths: Vec<String> = ports.iter().map(|port| port.1.to_string()).collect();
            format!("{} {}", ports.len(), widths.join(" "))
        };
        let count = self.cells.len() + self.results.len();
        format!("{count} {next}\n{}\n{}\n\n{gates}", widths(&self.inputs), widths(&self.outputs))
    }
}

/// The cubes of a cover, for output 1 or for output 0. Inputs on which a cube does not depend are `-`.
fn cubes(rng: &mut ChaCha8Rng, table: &[bool], inputs: usize) -> String {
    // A cover without cubes is 0.
    let value = if table.iter().all(|&entry| entry) { true } else { below(rng, 2) == 1 };
    let value = value || table.iter().all(|&entry| !entry);
    let ignored = |pin: usize| (0..table.len()).all(|at| table[at] == table[at ^ 1 << pin]);
    let digit = |at: usize, pin: usize| match ignored(pin) {
        true => '-',
        false => {
            if at >> pin & 1 == 1 {
                '1'
            } else {
                '0'
            }
        }
    };
    let rows = (0..table.len()).filter(|&at| table[at] == value);
    let mut cubes: Vec<String> = rows.map(|at| (0..inputs).map(|pin| digit(at, pin)).collect()).collect();
    cubes.sort();
    cubes.dedup();
    let output = u8::from(value);
    cubes.iter().map(|cube| format!("{cube} {output}\n")).collect()
}
