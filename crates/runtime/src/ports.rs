//! Inputs and outputs of programs and circuits. Ciphertexts for the ports of a circuit: an integer of the port's width, or an array of bools whose last axis holds the bits.

use crate::engine::OutputSpec;
use crate::planning::Source;
use crate::{Ciphertext, Error, Program, Type, program};
use solinas_circuits::{Netlist, Port, counted};
use std::borrow::Cow;

/// Width of the widest port for which an integer can stand.
const MAX_WIDTH: usize = program::MAX_WIDTH as usize;

/// A circuit with one ciphertext for each of its input ports, as an engine runs it. Ports for which arrays of bools stand are split into ports of one
/// bit.
pub(crate) struct CircuitPorts<'a> {
    pub(crate) netlist: Cow<'a, Netlist>,
    pub(crate) inputs: Vec<Ciphertext>,
    /// For each output port of the circuit, the number of ports that it was split into.
    pub(crate) outputs: Vec<usize>,
}

impl<'a> CircuitPorts<'a> {
    /// The circuit without ciphertexts, for an estimate.
    pub(crate) fn fresh(netlist: &'a Netlist) -> Self {
        Self::split(netlist, |port| port.bits.len() > MAX_WIDTH, Vec::new())
    }

    /// The circuit with one ciphertext for each input port.
    ///
    /// # Errors
    /// [`Error::InputCount`]; [`Error::PortWidth`] for a wide port without an array of bools.
    pub(crate) fn new(netlist: &'a Netlist, inputs: Vec<Ciphertext>) -> Result<Self, Error> {
        let ports = netlist.inputs();
        if inputs.len() != ports.len() {
            return Err(input_count(inputs.len(), port_names(netlist)));
        }
        let mut by_bits = Vec::new();
        let mut all = Vec::with_capacity(inputs.len());
        for (port, input) in ports.iter().zip(inputs) {
            let width = port.bits.len();
            if width > 1 && input.ty() == Type::Bool && input.shape().and_then(<[usize]>::last) == Some(&width) {
                by_bits.push(port.name.as_str());
                all.extend(bits_of(&input, width)?);
            } else if width > MAX_WIDTH {
                return Err(Error::PortWidth { name: port.name.clone(), width, got: shape_of(&input) });
            } else {
                all.push(input);
            }
        }
        Ok(Self::split(netlist, |port| by_bits.contains(&port.name.as_str()), all))
    }

    fn split(netlist: &'a Netlist, input: impl Fn(&Port) -> bool, inputs: Vec<Ciphertext>) -> Self {
        let wide = |port: &Port| port.bits.len() > MAX_WIDTH;
        let outputs = netlist.outputs().iter().map(|port| if wide(port) { port.bits.len() } else { 1 }).collect();
        let whole = !netlist.inputs().iter().any(&input) && !netlist.outputs().iter().any(wide);
        let netlist = if whole { Cow::Borrowed(netlist) } else { Cow::Owned(netlist.split_ports(input, wide)) };
        Self { netlist, inputs, outputs }
    }

    /// Names and types of the input ports.
    pub(crate) fn types(&self) -> Vec<(String, Type)> {
        self.netlist.inputs().iter().map(|port| (port.name.clone(), port_type(port))).collect()
    }

    /// The outputs that a run computes.
    pub(crate) fn output_specs(&self) -> Vec<OutputSpec> {
        self.netlist.outputs().iter().map(|port| OutputSpec::array(port_type(port))).collect()
    }
}

/// The results of the output ports of a circuit, from those of the ports that they were split into: for each port as many as `counts` says.
fn joined_ports(counts: &[usize], results: Vec<Ciphertext>) -> Result<Vec<Ciphertext>, Error> {
    let mut results = results.into_iter();
    let mut all = Vec::with_capacity(counts.len());
    for &count in counts {
        match count {
            1 => all.extend(results.next()),
            _ => all.push(joined(&results.by_ref().take(count).collect::<Vec<_>>())?),
        }
    }
    Ok(all)
}

/// Names and widths of the input ports of a circuit.
fn port_names(netlist: &Netlist) -> Vec<String> {
    netlist.inputs().iter().map(|port| format!("{}: {}", port.name, counted(port.bits.len(), "bit"))).collect()
}

/// The type of a port that [`CircuitPorts::split`] made. It has at most [`MAX_WIDTH`] bits.
fn port_type(port: &Port) -> Type {
    port.ty().unwrap_or(Type::Bool)
}

fn shape_of(input: &Ciphertext) -> String {
    match input.shape() {
        None => format!("one {}", input.ty()),
        Some(shape) => format!("an array of {} of shape {shape:?}", input.ty()),
    }
}

/// The ciphertext of each bit of a port: a scalar, or an array over the other axes.
fn bits_of(array: &Ciphertext, width: usize) -> Result<Vec<Ciphertext>, Error> {
    let lead = array.shape().and_then(<[usize]>::split_last).map_or(&[][..], |(_, lead)| lead);
    let bit = |bit: usize| match lead {
        [] => array.get(bit),
        _ if array.is_empty() => array.reshape(Some(lead.to_vec())),
        _ => {
            let lanes = (bit..array.len()).step_by(width).map(|index| array.get(index));
            Ciphertext::stack(lanes.collect::<Result<_, _>>()?)?.reshape(Some(lead.to_vec()))
        }
    };
    (0..width).map(bit).collect()
}

/// The array whose last axis holds these bits.
fn joined(bits: &[Ciphertext]) -> Result<Ciphertext, Error> {
    let lead = bits.first().and_then(Ciphertext::shape);
    let shape = lead.unwrap_or(&[]).iter().copied().chain([bits.len()]).collect();
    let lanes = bits.first().map_or(0, Ciphertext::len);
    match bits {
        [first, ..] if lanes == 0 => first.reshape(Some(shape)),
        _ => {
            let all = (0..lanes).flat_map(|lane| bits.iter().map(move |bit| bit.get(lane)));
            Ciphertext::stack(all.collect::<Result<_, _>>()?)?.reshape(Some(shape))
        }
    }
}

/// The names of the inputs of what an engine plans, with their types or widths.
pub(crate) fn input_names(source: &Source) -> Vec<String> {
    match source {
        Source::Program(program) => program_ports(program).iter().map(described).collect(),
        Source::Circuit(netlist, _) => port_names(netlist),
        Source::Convert(_) => Vec::new(),
    }
}

/// The error for a wrong number of inputs.
pub(crate) fn input_count(got: usize, names: Vec<String>) -> Error {
    Error::InputCount { got, want: names.len(), names: names.join(", ") }
}

/// Name and type of an input.
pub(crate) fn described((name, ty): &(String, Type)) -> String {
    format!("{name}: {ty}")
}

/// Names and types of the inputs of a program.
pub(crate) fn program_ports(program: &Program) -> Vec<(String, Type)> {
    program.inputs.iter().map(|input| (input.name.clone(), input.ty)).collect()
}

/// Whether a type has the width of another. A circuit has bits without signs.
pub(crate) fn same_width(a: Type, b: Type) -> bool {
    a.width() == b.width()
}

/// Whether two types are equal. A bool and a one-bit unsigned integer are the same bit.
pub(crate) fn same_type(a: Type, b: Type) -> bool {
    let bit = |ty: Type| matches!(ty, Type::Bool | Type::Uint(1));
    a == b || (bit(a) && bit(b))
}

/// How the results follow from the outputs of a plan.
pub(crate) enum Results {
    /// Each output is a result.
    Whole,
    /// For each output port of a circuit, the number of outputs that hold its bits.
    Ports(Vec<usize>),
    /// Each result has an output for each of `count` elements, and this shape.
    Elements { count: usize, shape: Option<Vec<usize>> },
}

impl Results {
    /// The results that these outputs give.
    pub(crate) fn of(&self, outputs: Vec<Ciphertext>) -> Result<Vec<Ciphertext>, Error> {
        match self {
            Self::Whole => Ok(outputs),
            Self::Ports(counts) => joined_ports(counts, outputs),
            Self::Elements { count, shape } => {
                let stacked = outputs.chunks((*count).max(1));
                stacked.map(|elements| Ciphertext::stack(elements.to_vec())?.reshape(shape.clone())).collect()
            }
        }
    }
}
