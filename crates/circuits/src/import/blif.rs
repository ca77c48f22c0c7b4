//! Berkeley Logic Interchange Format: combinational models of `.names` covers, and instances of other models.

use super::assemble::Cell;
use super::blif_models::{Instance, Kind, Model, flatten};
use super::{MAX_PORT_BITS, UNROLL, is_register, without_mark};
use crate::build::reduce;
use crate::function::function;
use crate::{BinaryOp, Builder, Error, Netlist, NodeId};

pub(super) const FORMAT: &str = "BLIF";

/// A sum of products. Without cubes it is the constant 0.
#[derive(Default)]
pub(super) struct Cover {
    /// Each cube has one of `0`, `1`, `-` for each input.
    pub(super) cubes: Vec<Box<[u8]>>,
    /// Whether the cubes list the inputs for output 1 or those for output 0.
    pub(super) off_set: bool,
}

pub(super) fn error(line: usize, problem: impl Into<String>, fix: &'static str) -> Error {
    Error::Parse { format: FORMAT, line, problem: problem.into(), fix }
}

/// The models of a file, in order, and the covers of all models.
#[derive(Default)]
struct Reader<'a> {
    models: Vec<Model<'a>>,
    covers: Vec<Cover>,
    /// The reasons why cells are refused.
    refused: Vec<Error>,
    /// Whether statements belong to the last model.
    open: bool,
    /// Whether cubes belong to the last cover.
    in_cover: bool,
    /// The statement that ends a part without logic; statements before it are not read.
    until: Option<&'static str>,
}

/// Reads the first model of a BLIF file. Instances (`.subckt`) of the other models are replaced by the contents of the models.
///
/// If the indices are complete, bits `x[0]`, `x<0>` or `x_0` up to the last become one port. A cover of up to three inputs becomes one gate if one gate
/// computes it. Don't-care conditions (`.exdc`) are ignored: the circuit computes the same function under them.
///
/// # Errors
/// [`Error::Parse`] with the line, [`Error::Unsupported`] for latches and library gates on which an output depends, [`Error::TooLarge`] for a design that is too large after its
/// hierarchy is flattened, [`Error::Undriven`], [`Error::Cycle`].
pub fn read_blif(text: &str) -> Result<Netlist, Error> {
    let mut reader = Reader::default();
    let mut words: Vec<&str> = Vec::new();
    let mut start = 1;
    for (i, line) in without_mark(text).lines().enumerate() {
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
        return Err(error(start, "the file ends within a continued line", "get the complete file"));
    }
    let Reader { models, covers, mut refused, .. } = reader;
    let circuit = flatten(models, &covers, &mut refused)?;
    circuit.assemble(Builder::verbatim(), |b, cell, operands| match cell.kind {
        Kind::Cover(cover) => Ok(vec![covers[cover as usize].emit(b, operands)]),
        Kind::Refused(error) => Err(refused[error as usize].clone()),
    })
}

impl<'a> Reader<'a> {
    fn statement(&mut self, line: usize, words: &[&'a str]) -> Result<(), Error> {
        let (keyword, args) = (words[0], &words[1..]);
        match self.until {
            Some(end) if keyword == end || keyword == ".model" => self.until = None,
            Some(_) => return Ok(()),
            None => {}
        }
        if !keyword.starts_with('.') {
            return self.cube(line, words);
        }
        self.in_cover = false;
        if keyword == ".model" {
            let name = args.first().copied().unwrap_or_default();
            self.models.push(Model::new(name, line));
            self.open = true;
            return Ok(());
        }
        // The conditions under which nobody reads the outputs, as a network of the same outputs.
        if keyword == ".exdc" {
            self.until = Some(".end");
            return Ok(());
        }
        let Some(model) = self.models.last_mut().filter(|_| self.open) else {
            let problem = format!("{} is outside a model", short(keyword));
            return Err(error(line, problem, "begin each circuit with .model NAME, and end it with .end"));
        };
        match keyword {
            ".inputs" | ".input" => model.inputs.extend(args.iter().map(|name| model.wires.get(name))),
            ".outputs" | ".output" => model.outputs.extend(args.iter().map(|name| model.wires.get(name))),
            ".names" => {
                let Some((output, inputs)) = args.split_last() else {
                    return Err(error(line, ".names has no output", "name the inputs, then the output"));
                };
                let inputs = inputs.iter().map(|name| model.wires.get(name)).collect();
                let outputs = vec![model.wires.get(output)];
                model.cells.push(Cell { kind: Kind::Cover(self.covers.len() as u32), inputs, outputs, line });
                self.covers.push(Cover::default());
                self.in_cover = true;
            }
            // A connection of Yosys (`write_blif -conn`), and a barrier of ABC.
            ".conn" | ".barbuf" => {
                let &[input, output] = args else {
                    return Err(error(
                        line,
                        format!("{keyword} does not join two wires"),
                        "name the input, then the output",
                    ));
                };
                let (inputs, outputs) = (vec![model.wires.get(input)], vec![model.wires.get(output)]);
                model.cells.push(Cell { kind: Kind::Cover(self.covers.len() as u32), inputs, outputs, line });
                self.covers.push(Cover { cubes: vec![Box::new(*b"1")], off_set: false });
            }
            ".subckt" => {
                const FIX: &str = "write .subckt MODEL PIN=WIRE PIN=WIRE ..";
                let Some((name, pins)) = args.split_first() else {
                    return Err(error(line, ".subckt names no model", FIX));
                };
                let pin = |text: &&'a str| {
                    let problem = || format!("'{}' connects no pin", short(text));
                    let (pin, wire) = text.split_once('=').ok_or_else(|| error(line, problem(), FIX))?;
                    Ok((pin, model.wires.get(wire)))
                };
                let pins = pins.iter().map(pin).collect::<Result<_, Error>>()?;
                model.instances.push(Instance { model: name, pins, line });
            }
            ".end" => self.open = false,
            ".latch" => {
                let &[_, output, ..] = args else {
                    return Err(error(line, ".latch has no output", "name the input, then the output"));
                };
                let outputs = vec![model.wires.get(output)];
                model.cells.push(Cell {
                    kind: refuse(&mut self.refused, line, keyword),
                    inputs: Vec::new(),
                    outputs,
                    line,
                });
            }
            // A cell of a library. The file does not tell its inputs from its outputs.
            ".gate" | ".mlatch" => {
                let pins = args.iter().filter_map(|text| text.split_once('='));
                let outputs = pins.map(|(_, wire)| model.wires.get(wire)).collect();
                let is_register = keyword == ".mlatch" || args.first().is_some_and(|name| is_register(name));
                let kind = refuse(&mut self.refused, line, if is_register { ".mlatch" } else { keyword });
                model.undirected.push(Cell { kind, inputs: Vec::new(), outputs, line });
            }
            // The outputs of the model come from elsewhere.
            ".blackbox" | ".start_kiss" => {
                let kind = refuse(&mut self.refused, line, keyword);
                model.undirected.push(Cell { kind, inputs: Vec::new(), outputs: model.outputs.clone(), line });
                self.until = (keyword == ".start_kiss").then_some(".end_kiss");
            }
            ".end_kiss" => {}
            // Attributes and timing hints do not change the function.
            ".attr"
            | ".param"
            | ".cname"
            | ".area"
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
            | ".default_max_input_load"
            | ".clock"
            | ".clock_event"
            | ".latch_order"
            | ".code"
            | ".search" => {}
            _ => return Err(unsupported(line, keyword, "use .model, .inputs, .outputs, .names, .subckt and .end")),
        }
        if model.inputs.len().max(model.outputs.len()) > MAX_PORT_BITS {
            return Err(error(line, format!("more than {MAX_PORT_BITS} bits"), "split the circuit"));
        }
        Ok(())
    }

    fn cube(&mut self, line: usize, words: &[&str]) -> Result<(), Error> {
        const FIX: &str = "a line of a cover has one of 0, 1, - for each input, a space, and the output's value";
        let cell = self.models.last().and_then(|model| model.cells.last()).filter(|_| self.in_cover);
        let (Some(cell), Some(cover)) = (cell, self.covers.last_mut()) else {
            return Err(error(line, format!("'{}' is outside a cover", short(words[0])), "begin a cover with .names"));
        };
        let (cube, value) = match *words {
            [value] if cell.inputs.is_empty() => ("", value),
            [cube, value] => (cube, value),
            _ => return Err(error(line, "this is not a line of a cover", FIX)),
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
        if !cover.cubes.is_empty() && cover.off_set != off_set {
            return Err(error(
                line,
                "the cover mixes output values 0 and 1",
                "list the on-set or the off-set, not both",
            ));
        }
        cover.off_set = off_set;
        cover.cubes.push(cube.bytes().collect());
        Ok(())
    }
}

pub(super) fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Keeps the reason why a cell is refused if an output depends on it.
fn refuse(refused: &mut Vec<Error>, line: usize, keyword: &str) -> Kind {
    let fix = match keyword {
        ".latch" | ".mlatch" | ".start_kiss" => UNROLL,
        _ => "map the design to .names (Yosys: abc; write_blif)",
    };
    refused.push(unsupported(line, keyword, fix));
    Kind::Refused(refused.len() as u32 - 1)
}

fn unsupported(line: usize, keyword: &str, fix: &'static str) -> Error {
    Error::Unsupported { format: FORMAT, place: format!("line {line}"), what: short(keyword), fix }
}

impl Cover {
    /// The truth table of at most three inputs.
    fn table(&self) -> u8 {
        let holds =
            |cube: &[u8], i: usize| cube.iter().zip(0..).all(|(c, k)| *c == b'-' || (c & 1 == 1) == (i >> k & 1 == 1));
        let value = |i: usize| self.cubes.iter().any(|cube| holds(cube, i)) != self.off_set;
        (0..8).map(|i| u8::from(value(i)) << i).sum()
    }

    /// One gate if one gate computes the cover, otherwise trees of the products and their sum.
    pub(super) fn emit(&self, b: &mut Builder, inputs: &[NodeId]) -> NodeId {
        if inputs.len() <= 3
            && let Some(gate) = function(b, self.table(), inputs)
        {
            return gate;
        }
        let mut products = Vec::with_capacity(self.cubes.len());
        for cube in &self.cubes {
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
        if self.off_set { b.not(sum) } else { sum }
    }
}
