//! Flattens the models of a BLIF file: the contents of a model replace its instances.

use super::assemble::{Cell, Circuit};
use super::blif::{Cover, FORMAT, error, short};
use super::ports::group;
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

/// A model of the file.
pub(super) struct Model<'a> {
    name: &'a str,
    line: usize,
    pub(super) wires: Wires<'a>,
    pub(super) inputs: Vec<u32>,
    pub(super) outputs: Vec<u32>,
    /// The cells. The kind of a cell is the number of its cover.
    pub(super) cells: Vec<Cell<u32>>,
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
        let (wires, inputs, outputs, cells, instances) = Default::default();
        Self { name, line, wires, inputs, outputs, cells, instances }
    }
}

/// The circuit of the first model.
///
/// # Errors
/// [`Error::Parse`] for two models of the same name, a model that contains itself, models that are nested too deeply, and pins that do not fit.
/// [`Error::Unsupported`] for a model that is not in the file. [`Error::TooLarge`].
pub(super) fn flatten<'a>(models: &[Model<'a>], covers: &[Cover]) -> Result<Circuit<'a, u32>, Error> {
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
    let mut flat = Flat { names: Vec::new(), cells: Vec::new() };
    let wires = design.expand(0, &[], &mut flat)?;
    let ports = |list: &[u32]| group(&flat.names, &list.iter().map(|&wire| wires[wire as usize]).collect::<Vec<_>>());
    let (inputs, outputs) = (ports(&top.inputs), ports(&top.outputs));
    Ok(Circuit { format: FORMAT, wire_names: flat.names, inputs, outputs, cells: flat.cells })
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
    cells: Vec<Cell<u32>>,
}

/// Number of pins, wires, cells and literals of a model without its instances.
fn own_size(model: &Model<'_>, covers: &[Cover]) -> u64 {
    let cell = |cell: &Cell<u32>| ((1 + cell.inputs.len()) * (1 + covers[cell.kind as usize].cubes.len())) as u64;
    let wires = model.inputs.len() + model.outputs.len() + model.wires.names.len();
    wires as u64 + model.cells.iter().map(cell).sum::<u64>()
}

impl<'a> Design<'_, 'a> {
    fn find(&self, instance: &Instance<'a>) -> Result<usize, Error> {
        self.by_name.get(instance.model).copied().ok_or_else(|| Error::Unsupported {
            format: FORMAT,
            place: format!("line {}", instance.line),
            what: format!("the model '{}', which is not in the file,", short(instance.model)),
            fix: "add the model, or map the design to .names (Yosys: flatten; abc; write_blif)",
        })
    }

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
            let of_instance = self.size(self.find(instance)?, depth + 1)?;
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
        for Cell { kind, inputs, outputs, line } in &model.cells {
            flat.cells.push(Cell { kind: *kind, inputs: on(inputs), outputs: on(outputs), line: *line });
        }
        for instance in &model.instances {
            let inner = self.find(instance)?;
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
