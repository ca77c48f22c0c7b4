//! Flattens the models of a BLIF file: the contents of a model replace its instances.

use super::assemble::{Cell, Circuit};
use super::blif::{Cover, FORMAT, error, short};
use super::ports::group;
use super::{UNROLL, is_register};
use crate::Error;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Largest nesting depth of models.
const MAX_DEPTH: usize = 64;
/// Largest number of cells, wires and literals of covers that instances may add to a design.
const MAX_PARTS: u64 = 1 << 22;

/// Wires of a model, by name and by number.
#[derive(Default)]
pub(super) struct Wires<'a> {
    numbers: HashMap<&'a str, u32>,
    names: Vec<&'a str>,
}

impl<'a> Wires<'a> {
    pub(super) fn get(&mut self, name: &'a str) -> u32 {
        *self.numbers.entry(name).or_insert_with(|| {
            self.names.push(name);
            self.names.len() as u32 - 1
        })
    }
}

/// The function of a cell, by its number in a list.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Cover(u32),
    /// The reason why the cell is refused if an output depends on it.
    Refused(u32),
}

/// A model of the file.
pub(super) struct Model<'a> {
    name: &'a str,
    line: usize,
    pub(super) wires: Wires<'a>,
    pub(super) inputs: Vec<u32>,
    pub(super) outputs: Vec<u32>,
    pub(super) cells: Vec<Cell<Kind>>,
    /// Cells whose inputs and outputs are not told apart. All their wires are listed as outputs.
    pub(super) undirected: Vec<Cell<Kind>>,
    pub(super) instances: Vec<Instance<'a>>,
}

/// An instance of a model within another model.
pub(super) struct Instance<'a> {
    pub(super) model: &'a str,
    /// Pins of the inner model, and wires of the outer model.
    pub(super) pins: Vec<(&'a str, u32)>,
    pub(super) line: usize,
}

impl<'a> Model<'a> {
    pub(super) fn new(name: &'a str, line: usize) -> Self {
        let (wires, inputs, outputs, cells, undirected, instances) = Default::default();
        Self { name, line, wires, inputs, outputs, cells, undirected, instances }
    }
}

/// The circuit of the first model.
///
/// # Errors
/// [`Error::Parse`] for two models of the same name, a model that contains itself, models that are nested too deeply, and pins that do not fit.
/// [`Error::TooLarge`]. An instance of a model that is not in the file becomes a cell that is refused.
pub(super) fn flatten<'a>(
    mut models: Vec<Model<'a>>,
    covers: &[Cover],
    refused: &mut Vec<Error>,
) -> Result<Circuit<'a, Kind>, Error> {
    refuse_missing(&mut models, refused);
    let models = &models[..];
    let Some(top) = models.first() else {
        return Err(error(0, "the file has no .model", "begin the circuit with .model NAME"));
    };
    let mut by_name = HashMap::new();
    for (index, model) in models.iter().enumerate() {
        if by_name.insert(model.name, index).is_some() {
            let problem = format!("model '{}' is defined twice", short(model.name));
            return Err(error(model.line, problem, "give each model a distinct name"));
        }
    }
    let mut design = Design { models, covers, by_name, sizes: vec![None; models.len()] };
    let parts = design.size(0, 0)?.saturating_sub(own_size(top, covers));
    if parts > MAX_PARTS {
        return Err(Error::TooLarge { what: "cells and wires of instances", got: parts, limit: MAX_PARTS });
    }
    let mut flat = Flat { names: Vec::new(), cells: Vec::new(), undirected: Vec::new() };
    let wires = design.expand(0, &[], &mut flat)?;
    let ports = |list: &[u32]| group(&flat.names, &list.iter().map(|&wire| wires[wire as usize]).collect::<Vec<_>>());
    let (inputs, outputs) = (ports(&top.inputs), ports(&top.outputs));
    let mut circuit = Circuit { format: FORMAT, wire_names: flat.names, inputs, outputs, cells: flat.cells };
    circuit.add_undirected(flat.undirected);
    Ok(circuit)
}

struct Design<'m, 'a> {
    models: &'m [Model<'a>],
    covers: &'m [Cover],
    by_name: HashMap<&'a str, usize>,
    /// Size of each model with its contents, once known; 0 while it is computed.
    sizes: Vec<Option<u64>>,
}

struct Flat<'a> {
    names: Vec<Cow<'a, str>>,
    cells: Vec<Cell<Kind>>,
    undirected: Vec<Cell<Kind>>,
}

/// Number of pins, wires, cells and literals of a model without its instances.
fn own_size(model: &Model<'_>, covers: &[Cover]) -> u64 {
    let cell = |cell: &Cell<Kind>| match cell.kind {
        Kind::Cover(cover) => ((1 + cell.inputs.len()) * (1 + covers[cover as usize].cubes.len())) as u64,
        Kind::Refused(_) => 1 + cell.outputs.len() as u64,
    };
    let wires = model.inputs.len() + model.outputs.len() + model.wires.names.len();
    wires as u64 + model.cells.iter().chain(&model.undirected).map(cell).sum::<u64>()
}

impl<'a> Design<'_, 'a> {
    /// Size of a model with its contents. Visits each model once.
    fn size(&mut self, index: usize, depth: usize) -> Result<u64, Error> {
        let model = &self.models[index];
        match self.sizes[index] {
            Some(0) => {
                let problem = format!("model '{}' contains itself", short(model.name));
                return Err(error(model.line, problem, "remove the recursion"));
            }
            Some(size) => return Ok(size),
            None if depth > MAX_DEPTH => {
                let problem = format!("models are nested more than {MAX_DEPTH} deep");
                return Err(error(model.line, problem, "flatten the design (Yosys: flatten; write_blif)"));
            }
            None => self.sizes[index] = Some(0),
        }
        let mut size = own_size(model, self.covers).max(1);
        for instance in &model.instances {
            let of_instance = self.size(self.by_name[instance.model], depth + 1)?;
            size = size.saturating_add(of_instance).saturating_add(instance.pins.len() as u64);
        }
        self.sizes[index] = Some(size);
        Ok(size)
    }

    /// Adds the cells of a model, and returns the flat wire of each of its wires. `given` holds the flat wires of its pins.
    fn expand(&self, index: usize, given: &[(u32, u32)], flat: &mut Flat<'a>) -> Result<Vec<u32>, Error> {
        let model = &self.models[index];
        let mut map = vec![u32::MAX; model.wires.names.len()];
        given.iter().for_each(|&(inner, outer)| map[inner as usize] = outer);
        for (wire, name) in map.iter_mut().zip(&model.wires.names).filter(|(wire, _)| **wire == u32::MAX) {
            *wire = flat.names.len() as u32;
            flat.names.push(Cow::Borrowed(*name));
        }
        let on = |wires: &[u32]| wires.iter().map(|&wire| map[wire as usize]).collect();
        let placed = |Cell { kind, inputs, outputs, line }: &Cell<Kind>| Cell {
            kind: *kind,
            inputs: on(inputs),
            outputs: on(outputs),
            line: *line,
        };
        flat.cells.extend(model.cells.iter().map(placed));
        flat.undirected.extend(model.undirected.iter().map(placed));
        for instance in &model.instances {
            let inner = self.by_name[instance.model];
            let mut pins = self.pins(&self.models[inner], instance)?;
            pins.iter_mut().for_each(|(_, wire)| *wire = map[*wire as usize]);
            self.expand(inner, &pins, flat)?;
        }
        Ok(map)
    }

    /// The pairs of wires of the inner and the outer model that an instance joins.
    fn pins(&self, inner: &Model<'a>, instance: &Instance<'a>) -> Result<Vec<(u32, u32)>, Error> {
        const FIX: &str = "connect each input once, and outputs as needed, as PIN=WIRE";
        let wrong = |problem: String| error(instance.line, problem, FIX);
        let name = short(inner.name);
        let of_model: HashSet<u32> = inner.inputs.iter().chain(&inner.outputs).copied().collect();
        let mut joined: HashMap<u32, u32> = HashMap::with_capacity(instance.pins.len());
        for &(pin, wire) in &instance.pins {
            let found = inner.wires.numbers.get(pin).filter(|wire| of_model.contains(wire));
            let &found = found.ok_or_else(|| wrong(format!("model '{name}' has no pin '{}'", short(pin))))?;
            if joined.insert(found, wire).is_some() {
                return Err(wrong(format!("pin '{}' of model '{name}' is connected twice", short(pin))));
            }
        }
        match inner.inputs.iter().find(|input| !joined.contains_key(input)) {
            Some(&input) => {
                let pin = short(inner.wires.names[input as usize]);
                Err(wrong(format!("input '{pin}' of model '{name}' is not connected")))
            }
            None => Ok(joined.into_iter().collect()),
        }
    }
}

/// Replaces each instance of a model that is not in the file by a cell that is refused if an output depends on it.
fn refuse_missing(models: &mut [Model<'_>], refused: &mut Vec<Error>) {
    let names: HashSet<&str> = models.iter().map(|model| model.name).collect();
    for model in models {
        for instance in model.instances.extract_if(.., |instance| !names.contains(instance.model)) {
            let fix = match is_register(instance.model) {
                true => UNROLL,
                false => "add the model, or map the design to .names (Yosys: flatten; abc; write_blif)",
            };
            let outputs = instance.pins.iter().map(|(_, wire)| *wire).collect();
            let kind = Kind::Refused(refused.len() as u32);
            model.undirected.push(Cell { kind, inputs: Vec::new(), outputs, line: instance.line });
            refused.push(Error::Unsupported {
                format: FORMAT,
                place: format!("line {}", instance.line),
                what: format!("the model '{}', which is not in the file,", short(instance.model)),
                fix,
            });
        }
    }
}
