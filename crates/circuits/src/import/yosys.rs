//! JSON netlists of Yosys (`write_json`).

use super::MAX_PORT_BITS;
use super::assemble::{Cell, Circuit, WirePort};
use super::yosys_cells::{Kind, Parameters, emit};
use crate::{Builder, Error, Netlist};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use std::borrow::Cow;
use std::collections::HashMap;
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
    parameters: HashMap<String, Parameter>,
    connections: HashMap<String, Vec<Bit>>,
}

/// The number of a wire, or a constant `0`, `1`, `x`, `z`.
#[derive(Deserialize, Clone, PartialEq, Eq, Hash)]
#[serde(untagged)]
enum Bit {
    Wire(u64),
    Constant(String),
}

/// A number, or bits as text with the most significant bit first.
#[derive(Deserialize)]
#[serde(untagged)]
enum Parameter {
    Number(i64),
    Text(String),
    Other(serde::de::IgnoredAny),
}

impl Parameter {
    fn is_set(&self) -> bool {
        match self {
            Self::Number(number) => *number != 0,
            Self::Text(bits) => bits.bytes().any(|bit| bit == b'1'),
            Self::Other(_) => false,
        }
    }

    /// The bits, least significant first; `None` if one is not 0 or 1.
    fn bits(&self, count: usize) -> Option<Vec<bool>> {
        let bits: Option<Vec<bool>> = match self {
            Self::Number(number) => Some((0..64).map(|i| number >> i & 1 == 1).collect()),
            Self::Text(text) => text.bytes().rev().map(|c| matches!(c, b'0' | b'1').then_some(c == b'1')).collect(),
            Self::Other(_) => None,
        };
        let mut bits = bits?;
        bits.resize(count, false);
        Some(bits)
    }
}

fn error(problem: impl Into<String>, fix: &'static str) -> Error {
    Error::Parse { format: FORMAT, line: 0, problem: problem.into(), fix }
}

/// Reads the top module of a Yosys JSON netlist. It supports gate-level cells (`$_AND_`, ..), lookup tables (`$lut`) of up to 8 inputs, and the common
/// combinational word-level cells (`$add`, `$mux`, ..). Arithmetic cells have at most 128 bits.
///
/// # Errors
/// [`Error::Parse`] with the line for broken JSON, [`Error::Unsupported`] with the cell for an unsupported feature, [`Error::Undriven`], [`Error::Cycle`].
pub fn read_yosys_json(text: &str) -> Result<Netlist, Error> {
    let file: File = serde_json::from_str(text).map_err(|e| Error::Parse {
        format: FORMAT,
        line: e.line(),
        problem: e.to_string(),
        fix: "write the netlist with Yosys: write_json",
    })?;
    let module = top(file)?;
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
        let bits = wires.get_all(&format!("port '{name}'"), &port.bits)?;
        into.push(WirePort { name, wires: bits, signed: port.signed != 0 });
    }
    let mut cells = Vec::with_capacity(module.cells.0.len());
    for (name, cell) in module.cells.0 {
        cells.push(read_cell(&name, &cell, &mut wires)?);
    }
    cells.extend(wires.constants());
    let circuit = Circuit {
        format: FORMAT,
        wire_names: wires.names.into_iter().map(Cow::Owned).collect(),
        inputs,
        outputs,
        cells,
    };
    circuit.assemble(Builder::new(), |b, cell, operands| Ok(emit(b, &cell.kind, operands)))
}

/// The module marked as top, or the only one.
fn top(file: File) -> Result<Module, Error> {
    let mut modules = file.modules.0;
    let marked = modules.iter().position(|(_, module)| module.attributes.get("top").is_some_and(Parameter::is_set));
    match marked {
        Some(at) => Ok(modules.swap_remove(at).1),
        None if modules.len() == 1 => Ok(modules.swap_remove(0).1),
        None => {
            let problem = format!("the file has {} modules, but none is marked as top", modules.len());
            Err(error(problem, "flatten the design (Yosys: hierarchy -top NAME; flatten)"))
        }
    }
}

#[derive(Default)]
struct Wires {
    ids: HashMap<Bit, u32>,
    names: Vec<String>,
}

impl Wires {
    fn get_all(&mut self, place: &str, bits: &[Bit]) -> Result<Vec<u32>, Error> {
        bits.iter().map(|bit| self.get(place, bit)).collect()
    }

    fn get(&mut self, place: &str, bit: &Bit) -> Result<u32, Error> {
        if let Some(&id) = self.ids.get(bit) {
            return Ok(id);
        }
        let name = match bit {
            Bit::Wire(number) => number.to_string(),
            Bit::Constant(value) if value == "0" || value == "1" => format!("constant {value}"),
            Bit::Constant(value) => {
                return Err(Error::Unsupported {
                    format: FORMAT,
                    place: place.to_owned(),
                    what: format!("the constant '{}'", value.chars().take(10).collect::<String>()),
                    fix: "use the constants 0 and 1 (Yosys: setundef -zero)",
                });
            }
        };
        let id = self.names.len() as u32;
        self.names.push(name);
        self.ids.insert(bit.clone(), id);
        Ok(id)
    }

    /// Cells that drive the constants in use.
    fn constants(&self) -> impl Iterator<Item = Cell<Kind>> {
        [false, true].into_iter().filter_map(|value| {
            let bit = Bit::Constant(u8::from(value).to_string());
            let id = *self.ids.get(&bit)?;
            Some(Cell { kind: Kind::constant(value), inputs: Vec::new(), outputs: vec![id], line: 0 })
        })
    }
}

fn read_cell(name: &str, cell: &JsonCell, wires: &mut Wires) -> Result<Cell<Kind>, Error> {
    let place = format!("cell '{name}' ({})", cell.kind);
    let Some((input_pins, output_pins)) = Kind::pins(&cell.kind) else {
        return Err(Error::Unsupported {
            format: FORMAT,
            place,
            what: "the cell".to_owned(),
            fix: "map the design to gates first (Yosys: synth -flatten; abc -g gates; write_json)",
        });
    };
    let mut joined = |names: &[&str]| {
        let (mut all, mut widths) = (Vec::new(), Vec::new());
        for pin in names {
            let missing =
                || error(format!("{place} has no connection '{pin}'"), "write the netlist with Yosys: write_json");
            let bits = cell.connections.get(*pin).ok_or_else(missing)?;
            all.extend(wires.get_all(&place, bits)?);
            widths.push(bits.len());
        }
        Ok::<_, Error>((all, widths))
    };
    let (inputs, widths) = joined(input_pins)?;
    let (outputs, output_widths) = joined(output_pins)?;
    let parameter = |key: &str| cell.parameters.get(key);
    let number = |key: &str| {
        let bits = parameter(key).and_then(|bits| bits.bits(32)).unwrap_or_default();
        bits.into_iter().rev().fold(0, |number, bit| 2 * number + usize::from(bit))
    };
    let entries = 1usize.checked_shl(widths[0].min(8) as u32).unwrap_or(0);
    let parameters = Parameters {
        a_signed: parameter("A_SIGNED").is_some_and(Parameter::is_set),
        b_signed: parameter("B_SIGNED").is_some_and(Parameter::is_set),
        table: parameter("LUT").and_then(|table| table.bits(entries)).unwrap_or_default(),
        offset: number("OFFSET"),
    };
    let kind = Kind::new(&cell.kind, widths, output_widths, parameters, &place)?;
    Ok(Cell { kind, inputs, outputs, line: 0 })
}
