//! JSON netlists of Yosys (`write_json`).

use super::MAX_PORT_BITS;
use super::assemble::{Cell, Circuit, WirePort};
use super::yosys_cells::{Kind, Pins, emit};
use super::yosys_parameters::{Parameter, Parameters};
use super::{UNROLL, is_register, without_mark};
use crate::{Builder, Error, Netlist};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::marker::PhantomData;

pub(super) const FORMAT: &str = "Yosys JSON";

/// An object in the order of the file, which is the order of the ports.
struct Ordered<T>(Vec<(String, T)>);

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Ordered<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    all.push(entry);
                }
                Ok(Ordered(all))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

#[derive(Deserialize)]
struct File {
    modules: Ordered<Module>,
}

#[derive(Deserialize)]
struct Module {
    #[serde(default)]
    attributes: HashMap<String, Parameter>,
    #[serde(default)]
    ports: Ordered<JsonPort>,
    #[serde(default)]
    cells: Ordered<JsonCell>,
}

#[derive(Deserialize)]
struct JsonPort {
    direction: String,
    bits: Vec<Bit>,
    #[serde(default)]
    signed: u8,
}

#[derive(Deserialize)]
struct JsonCell {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    parameters: BTreeMap<String, Parameter>,
    #[serde(default)]
    port_directions: BTreeMap<String, Direction>,
    #[serde(default)]
    connections: BTreeMap<String, Vec<Bit>>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Direction {
    Input,
    Output,
    #[serde(other)]
    Other,
}

/// The number of a wire, or a constant `0`, `1`, `x`, `z`.
#[derive(Deserialize, Clone, PartialEq, Eq, Hash)]
#[serde(untagged)]
enum Bit {
    Wire(u64),
    Constant(String),
}

/// A cell that is not supported or not consistent is an error only if an output depends on it.
type AnyKind = Result<Kind, Box<Error>>;

fn error(problem: impl Into<String>, fix: &'static str) -> Error {
    Error::Parse { format: FORMAT, line: 0, problem: problem.into(), fix }
}

/// Reads the top module of a Yosys JSON netlist. It supports gate-level cells (`$_AND_`, ..), lookup tables (`$lut`) of up to 8 inputs, and the combinational
/// word-level cells (`$add`, `$mux`, ..) except `$pow`. Arithmetic cells have at most 128 bits. Only the cells on which the outputs depend are read.
///
/// # Errors
/// [`Error::Parse`] with the line for broken JSON, [`Error::Unsupported`] with the cell for an unsupported feature, [`Error::Undriven`], [`Error::Cycle`].
pub fn read_yosys_json(text: &str) -> Result<Netlist, Error> {
    let file: File = serde_json::from_str(without_mark(text)).map_err(|e| Error::Parse {
        format: FORMAT,
        line: e.line(),
        problem: e.to_string(),
        fix: "write the netlist with Yosys: write_json",
    })?;
    let (module, others) = top(file)?;
    let mut wires = Wires::default();
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for (name, port) in module.ports.0 {
        let into = match port.direction.as_str() {
            "input" => &mut inputs,
            "output" => &mut outputs,
            other => {
                return Err(Error::Unsupported {
                    format: FORMAT,
                    place: format!("port '{name}'"),
                    what: format!("direction '{other}'"),
                    fix: "use the directions input and output",
                });
            }
        };
        if port.bits.len() > MAX_PORT_BITS {
            return Err(error(format!("port '{name}' has more than {MAX_PORT_BITS} bits"), "split the circuit"));
        }
        let bits = wires.get_all(&format!("port '{name}'"), &port.bits);
        into.push(WirePort { name, wires: bits, signed: port.signed != 0 });
    }
    let (mut cells, mut undirected) = (Vec::with_capacity(module.cells.0.len()), Vec::new());
    for (name, cell) in module.cells.0 {
        match Pins::of(&cell.kind) {
            Some(pins) => cells.push(read_cell(&name, &cell, &pins, &mut wires)),
            None => {
                let (refused, loose) = refused_cell(&name, &cell, &others, &mut wires);
                cells.push(refused);
                undirected.extend(loose);
            }
        }
    }
    cells.append(&mut wires.cells);
    let mut circuit = Circuit {
        format: FORMAT,
        wire_names: wires.names.into_iter().map(Cow::Owned).collect(),
        inputs,
        outputs,
        cells,
    };
    circuit.add_undirected(undirected);
    circuit.assemble(Builder::new(), |b, cell, operands| match &cell.kind {
        Ok(kind) => Ok(emit(b, kind, operands)),
        Err(refused) => Err((**refused).clone()),
    })
}

/// The module marked as top, or the only one, and the names of the others.
fn top(file: File) -> Result<(Module, HashSet<String>), Error> {
    let mut modules = file.modules.0;
    let marked = modules.iter().position(|(_, module)| module.attributes.get("top").is_some_and(Parameter::is_set));
    let top = match marked {
        Some(at) => modules.swap_remove(at).1,
        None if modules.len() == 1 => modules.swap_remove(0).1,
        None => {
            let problem = format!("the file has {} modules, but none is marked as top", modules.len());
            return Err(error(problem, "flatten the design (Yosys: hierarchy -top NAME; flatten)"));
        }
    };
    Ok((top, modules.into_iter().map(|(name, _)| name).collect()))
}

#[derive(Default)]
struct Wires {
    ids: HashMap<Bit, u32>,
    names: Vec<String>,
    /// The cells that drive constants.
    cells: Vec<Cell<AnyKind>>,
}

impl Wires {
    fn get_all(&mut self, place: &str, bits: &[Bit]) -> Vec<u32> {
        // One wire stands for all undefined bits of a pin or port.
        let mut undefined = None;
        bits.iter()
            .map(|bit| match bit {
                Bit::Constant(value) if value != "0" && value != "1" => {
                    *undefined.get_or_insert_with(|| self.undefined(place, value))
                }
                bit => self.get(bit),
            })
            .collect()
    }

    fn get(&mut self, bit: &Bit) -> u32 {
        if let Some(&id) = self.ids.get(bit) {
            return id;
        }
        let id = match bit {
            Bit::Wire(number) => self.add(number.to_string()),
            Bit::Constant(value) => {
                let id = self.add(format!("constant {value}"));
                self.drive(id, Ok(Kind::constant(value == "1")));
                id
            }
        };
        self.ids.insert(bit.clone(), id);
        id
    }

    fn add(&mut self, name: String) -> u32 {
        self.names.push(name);
        self.names.len() as u32 - 1
    }

    fn drive(&mut self, wire: u32, kind: AnyKind) {
        self.cells.push(Cell { kind, inputs: Vec::new(), outputs: vec![wire], line: 0 });
    }

    /// A wire whose value nobody may read.
    fn undefined(&mut self, place: &str, value: &str) -> u32 {
        let value: String = value.chars().take(10).collect();
        let id = self.add(format!("constant {value}"));
        let refused = Error::Unsupported {
            format: FORMAT,
            place: place.to_owned(),
            what: format!("the constant '{value}'"),
            fix: "use the constants 0 and 1 (Yosys: setundef -zero)",
        };
        self.drive(id, Err(Box::new(refused)));
        id
    }
}

fn read_cell(name: &str, cell: &JsonCell, pins: &Pins, wires: &mut Wires) -> Cell<AnyKind> {
    let place = format!("cell '{name}' ({})", cell.kind);
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    let mut joined = |names: &[&str], all: &mut Vec<u32>| -> Vec<Option<usize>> {
        let pin = |pin: &&str| {
            let bits = cell.connections.get(*pin)?;
            all.extend(wires.get_all(&place, bits));
            Some(bits.len())
        };
        names.iter().map(pin).collect()
    };
    let (widths, output_widths) = (joined(pins.inputs, &mut inputs), joined(pins.outputs, &mut outputs));
    let kind = kind(cell, pins, &widths, &output_widths, &place).map_err(Box::new);
    // The inputs of a cell that is refused do not matter.
    if kind.is_err() {
        inputs.clear();
    }
    Cell { kind, inputs, outputs, line: 0 }
}

fn kind(
    cell: &JsonCell,
    pins: &Pins,
    widths: &[Option<usize>],
    outputs: &[Option<usize>],
    place: &str,
) -> Result<Kind, Error> {
    const FIX: &str = "write the netlist with Yosys: write_json";
    let all = |names: &[&str], widths: &[Option<usize>]| -> Result<Vec<usize>, Error> {
        let width = |(pin, width): (&&str, &Option<usize>)| {
            width.ok_or_else(|| error(format!("{place} has no connection '{pin}'"), FIX))
        };
        names.iter().zip(widths).map(width).collect()
    };
    let (widths, outputs) = (all(pins.inputs, widths)?, all(pins.outputs, outputs)?);
    let known = |pin: &&String| pins.inputs.contains(&pin.as_str()) || pins.outputs.contains(&pin.as_str());
    if let Some(pin) = cell.connections.keys().find(|pin| !known(pin)) {
        let pin: String = pin.chars().take(40).collect();
        return Err(error(format!("{place} has a connection '{pin}', which this kind of cell does not have"), FIX));
    }
    Kind::new(&cell.kind, pins, widths, outputs, &Parameters { all: &cell.parameters, place })
}

/// A cell whose function is not known: one cell that drives its outputs, and one that may drive the pins without a direction.
fn refused_cell(
    name: &str,
    cell: &JsonCell,
    modules: &HashSet<String>,
    wires: &mut Wires,
) -> (Cell<AnyKind>, Option<Cell<AnyKind>>) {
    let (what, fix) = if is_register(&cell.kind) {
        ("a register", UNROLL)
    } else if cell.kind.starts_with("$mem") {
        ("a memory", "map memories to gates (Yosys: synth -flatten; abc -g gates; write_json)")
    } else if modules.contains(&cell.kind) {
        ("an instance of a module", "flatten the design (Yosys: flatten; write_json)")
    } else {
        ("the cell", "map the design to gates first (Yosys: synth -flatten; abc -g gates; write_json)")
    };
    let place = format!("cell '{name}' ({})", cell.kind);
    let refused = Error::Unsupported { format: FORMAT, place: place.clone(), what: what.to_owned(), fix };
    let mut driving = |wanted: Option<Direction>| {
        let is_wanted = |pin: &String| cell.port_directions.get(pin).copied() == wanted;
        let pins = cell.connections.iter().filter(|(pin, _)| is_wanted(pin));
        let outputs = pins.flat_map(|(_, bits)| wires.get_all(&place, bits)).collect();
        Cell { kind: Err(Box::new(refused.clone())), inputs: Vec::new(), outputs, line: 0 }
    };
    let loose = [driving(None), driving(Some(Direction::Other))];
    let loose = loose.into_iter().reduce(|mut all, more| {
        all.outputs.extend(more.outputs);
        all
    });
    (driving(Some(Direction::Output)), loose.filter(|cell| !cell.outputs.is_empty()))
}
