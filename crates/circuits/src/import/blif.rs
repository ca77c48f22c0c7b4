//! Berkeley Logic Interchange Format: one combinational model of `.names` covers.

use super::MAX_PORT_BITS;
use super::assemble::{Cell, Circuit, WirePort};
use crate::build::reduce;
use crate::{BinaryOp, Builder, Error, Netlist, NodeId};
use std::collections::{BTreeMap, HashMap, HashSet};

const FORMAT: &str = "BLIF";

/// A sum of products. No cubes: constant 0.
#[derive(Default)]
struct Cover {
    /// Each cube has one of `0`, `1`, `-` for each input.
    cubes: Vec<Box<[u8]>>,
    /// Whether the cubes say where the output is 1, or where it is 0.
    off_set: bool,
}

fn error(line: usize, problem: impl Into<String>, fix: &'static str) -> Error {
    Error::Parse { format: FORMAT, line, problem: problem.into(), fix }
}

#[derive(Default)]
struct Reader<'a> {
    wires: HashMap<&'a str, u32>,
    names: Vec<&'a str>,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    cells: Vec<Cell<Cover>>,
    models: usize,
    ended: bool,
}

/// Reads a BLIF model. Names like `a[0]`, `a[1]`, ... become one port when the indices are complete.
///
/// # Errors
/// [`Error::Parse`] with the line, [`Error::Unsupported`] for latches, subcircuits, library gates and further models,
/// [`Error::Undriven`], [`Error::Cycle`].
pub fn read_blif(text: &str) -> Result<Netlist, Error> {
    let mut reader = Reader::default();
    let mut words: Vec<&str> = Vec::new();
    let mut start = 1;
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim_end();
        let (line, continued) = match line.strip_suffix('\\') {
            Some(line) => (line, true),
            None => (line, false),
        };
        if words.is_empty() {
            start = i + 1;
        }
        words.extend(line.split_whitespace());
        if !continued && !words.is_empty() {
            reader.statement(start, &words)?;
            words.clear();
        }
    }
    if !words.is_empty() {
        return Err(error(start, "the last line goes on, but the file ends", "the file may be cut off"));
    }
    if reader.models == 0 {
        return Err(error(0, "there is no .model", "begin the circuit with .model NAME"));
    }
    let names: Vec<String> = reader.names.iter().map(|name| (*name).to_owned()).collect();
    let inputs = group(&names, &reader.inputs);
    let outputs = group(&names, &reader.outputs);
    let circuit = Circuit { format: FORMAT, wire_names: names, inputs, outputs, cells: reader.cells };
    circuit.assemble(Builder::verbatim(), |b, cell, operands| Ok(vec![emit(b, &cell.kind, operands)]))
}

impl<'a> Reader<'a> {
    fn wire(&mut self, name: &'a str) -> u32 {
        *self.wires.entry(name).or_insert_with(|| {
            self.names.push(name);
            self.names.len() as u32 - 1
        })
    }

    fn statement(&mut self, line: usize, words: &[&'a str]) -> Result<(), Error> {
        let (keyword, args) = (words[0], &words[1..]);
        if self.ended && keyword != ".end" {
            return Err(unsupported(line, keyword, "only one model is read; flatten the design (Yosys: flatten)"));
        }
        if !keyword.starts_with('.') {
            return self.cube(line, words);
        }
        if self.models == 0 && keyword != ".model" {
            return Err(error(line, format!("{keyword} comes before .model"), "begin the circuit with .model NAME"));
        }
        match keyword {
            ".model" if self.models > 0 => {
                return Err(unsupported(line, ".model", "only one model is read; flatten the design (Yosys: flatten)"));
            }
            ".model" => self.models = 1,
            ".inputs" | ".input" => {
                let wires: Vec<_> = args.iter().map(|name| self.wire(name)).collect();
                self.inputs.extend(wires);
            }
            ".outputs" | ".output" => {
                let wires: Vec<_> = args.iter().map(|name| self.wire(name)).collect();
                self.outputs.extend(wires);
            }
            ".names" => {
                let wires: Vec<_> = args.iter().map(|name| self.wire(name)).collect();
                let Some((&output, inputs)) = wires.split_last() else {
                    return Err(error(line, ".names has no output", "name the inputs, then the output"));
                };
                let (kind, inputs) = (Cover::default(), inputs.to_vec());
                self.cells.push(Cell { kind, inputs, outputs: vec![output], line });
            }
            ".end" => self.ended = true,
            ".latch" | ".mlatch" => {
                return Err(unsupported(
                    line,
                    keyword,
                    "only combinational circuits can be evaluated; unroll the registers",
                ));
            }
            ".subckt" | ".gate" | ".search" | ".exdc" => {
                return Err(unsupported(
                    line,
                    keyword,
                    "flatten the design and map it to .names (Yosys: flatten; abc; write_blif)",
                ));
            }
            // Timing hints do not change the function.
            ".area"
            | ".delay"
            | ".wire_load_slope"
            | ".wire"
            | ".input_arrival"
            | ".output_required"
            | ".default_input_arrival"
            | ".default_output_required"
            | ".input_drive"
            | ".output_load"
            | ".default_input_drive"
            | ".default_output_load"
            | ".max_input_load"
            | ".default_max_input_load" => {}
            _ => return Err(unsupported(line, keyword, "use .model, .inputs, .outputs, .names and .end")),
        }
        if self.inputs.len().max(self.outputs.len()) > MAX_PORT_BITS {
            return Err(error(line, format!("more than {MAX_PORT_BITS} bits"), "split the circuit"));
        }
        Ok(())
    }

    fn cube(&mut self, line: usize, words: &[&str]) -> Result<(), Error> {
        const FIX: &str = "a line of a cover has one of 0, 1, - for each input, a space, and the output's value";
        let Some(cell) = self.cells.last_mut() else {
            return Err(error(line, format!("'{}' is outside a cover", words[0]), "begin a cover with .names"));
        };
        let (cube, value) = match *words {
            [value] if cell.inputs.is_empty() => ("", value),
            [cube, value] => (cube, value),
            _ => return Err(error(line, "this is no line of a cover", FIX)),
        };
        if cube.len() != cell.inputs.len() || !cube.bytes().all(|c| matches!(c, b'0' | b'1' | b'-')) {
            let problem = format!("the cube does not fit the {} inputs of the cover", cell.inputs.len());
            return Err(error(line, problem, FIX));
        }
        let off_set = match value {
            "1" => false,
            "0" => true,
            _ => return Err(error(line, "the output's value is neither 0 nor 1", FIX)),
        };
        if !cell.kind.cubes.is_empty() && cell.kind.off_set != off_set {
            return Err(error(
                line,
                "the cover mixes output values 0 and 1",
                "list the on-set or the off-set, not both",
            ));
        }
        cell.kind.off_set = off_set;
        cell.kind.cubes.push(cube.bytes().collect());
        Ok(())
    }
}

fn unsupported(line: usize, keyword: &str, fix: &'static str) -> Error {
    let what: String = keyword.chars().take(40).collect();
    Error::Unsupported { format: FORMAT, place: format!("line {line}"), what, fix }
}

/// One gate where the cover has at most two inputs, else products and their sum as trees.
fn emit(b: &mut Builder, cover: &Cover, inputs: &[NodeId]) -> NodeId {
    let holds =
        |cube: &[u8], i: usize| cube.iter().enumerate().all(|(k, c)| *c == b'-' || (c & 1 == 1) == (i >> k & 1 == 1));
    if inputs.len() <= 2 {
        let value = |i: usize| cover.cubes.iter().any(|cube| holds(cube, i)) != cover.off_set;
        let (x, y) = match *inputs {
            [x, y] => (x, y),
            [x] => (x, x),
            _ => return b.constant(value(0)),
        };
        let table = (0..4).map(|i| u8::from(value(i)) << i).sum();
        return b.function2(table, x, y);
    }
    let mut products = Vec::with_capacity(cover.cubes.len());
    for cube in &cover.cubes {
        let mut literals = Vec::with_capacity(cube.len());
        for (c, &input) in cube.iter().zip(inputs) {
            match c {
                b'1' => literals.push(input),
                b'0' => literals.push(b.not(input)),
                _ => {}
            }
        }
        products.push(reduce(b, BinaryOp::And, &literals, true));
    }
    let sum = reduce(b, BinaryOp::Or, &products, false);
    if cover.off_set { b.not(sum) } else { sum }
}

/// Ports of wires in order of appearance: `a[0] .. a[n-1]`, in any order, are the port `a`; anything else is a port of its own.
fn group(names: &[String], wires: &[u32]) -> Vec<WirePort> {
    let split = |wire: &u32| {
        let (base, index) = names[*wire as usize].strip_suffix(']')?.rsplit_once('[')?;
        let plain = index == "0" || !index.starts_with(['0', '+']);
        Some((base, index.parse::<usize>().ok().filter(|_| plain && !base.is_empty())?))
    };
    let mut buses: HashMap<&str, BTreeMap<usize, u32>> = HashMap::new();
    let mut broken: HashSet<&str> = HashSet::new();
    for wire in wires {
        match split(wire) {
            Some((base, index)) => {
                if buses.entry(base).or_default().insert(index, *wire).is_some() {
                    broken.insert(base);
                }
            }
            // A plain wire of the bus's name would be a second port of that name.
            None => {
                broken.insert(&names[*wire as usize]);
            }
        }
    }
    buses.retain(|base, bits| {
        let whole = bits.keys().next_back().is_some_and(|last| last + 1 == bits.len());
        whole && !broken.contains(base)
    });
    let mut ports = Vec::new();
    for wire in wires {
        match split(wire).and_then(|(base, _)| Some((base, buses.get_mut(base)?))) {
            // The first bit made the port.
            Some((_, bits)) if bits.is_empty() => {}
            Some((base, bits)) => {
                let wires = std::mem::take(bits).into_values().collect();
                ports.push(WirePort { name: base.to_owned(), wires, signed: false });
            }
            None => ports.push(WirePort { name: names[*wire as usize].clone(), wires: vec![*wire], signed: false }),
        }
    }
    ports
}
