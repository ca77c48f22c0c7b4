//! Berkeley Logic Interchange Format: combinational models of `.names` covers, and instances of other models.

use super::MAX_PORT_BITS;
use super::assemble::Cell;
use super::blif_models::{Instance, Model, flatten};
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
    off_set: bool,
}

pub(super) fn error(line: usize, problem: impl Into<String>, fix: &'static str) -> Error {
    Error::Parse { format: FORMAT, line, problem: problem.into(), fix }
}

/// The models of a file, in order, and the covers of all models.
#[derive(Default)]
struct Reader<'a> {
    models: Vec<Model<'a>>,
    covers: Vec<Cover>,
    /// Whether statements belong to the last model.
    open: bool,
    /// Whether cubes belong to the last cover.
    in_cover: bool,
}

/// Reads the first model of a BLIF file. Instances (`.subckt`) of the other models are replaced by the contents of the models.
///
/// If the indices are complete, bits `x[0]`, `x<0>` or `x_0` up to the last become one port. A cover of up to three inputs becomes one gate if one gate
/// computes it.
///
/// # Errors
/// [`Error::Parse`] with the line, [`Error::Unsupported`] for latches and library gates, [`Error::TooLarge`] for a design that is too large after its
/// hierarchy is flattened, [`Error::Undriven`], [`Error::Cycle`].
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
        return Err(error(start, "the file ends within a continued line", "get the complete file"));
    }
    let Reader { models, covers, .. } = reader;
    let circuit = flatten(&models, &covers)?;
    circuit.assemble(Builder::verbatim(), |b, cell, operands| Ok(vec![emit(b, &covers[cell.kind as usize], operands)]))
}

impl<'a> Reader<'a> {
    fn statement(&mut self, line: usize, words: &[&'a str]) -> Result<(), Error> {
        let (keyword, args) = (words[0], &words[1..]);
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
                model.cells.push(Cell { kind: self.covers.len() as u32, inputs, outputs, line });
                self.covers.push(Cover::default());
                self.in_cover = true;
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
            ".latch" | ".mlatch" => {
                return Err(unsupported(
                    line,
                    keyword,
                    "unroll the registers, since only combinational circuits can be evaluated",
                ));
            }
            ".gate" | ".search" | ".exdc" | ".blackbox" => {
                return Err(unsupported(line, keyword, "map the design to .names (Yosys: abc; write_blif)"));
            }
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
            | ".default_max_input_load" => {}
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
}

/// One gate if one gate computes the cover, otherwise trees of the products and their sum.
fn emit(b: &mut Builder, cover: &Cover, inputs: &[NodeId]) -> NodeId {
    if inputs.len() <= 3
        && let Some(gate) = function(b, cover.table(), inputs)
    {
        return gate;
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
