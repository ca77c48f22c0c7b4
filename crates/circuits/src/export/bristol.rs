//! Bristol Fashion circuits.

use crate::{BinaryOp, Error, Features, Gate, Netlist};
use std::fmt::Write;

/// Writes a Bristol Fashion circuit of AND, XOR, INV, EQ and EQW. The format does not keep the names and signs of ports.
///
/// # Errors
/// [`Error::TooLarge`] if the netlist has too many gates after it is lowered to AND, XOR and NOT.
pub fn write_bristol(netlist: &Netlist) -> Result<String, Error> {
    let netlist = netlist.lower(Features::AND_XOR)?;
    let (inputs, outputs) = (netlist.input_bits(), netlist.output_bits());
    let mut wires: Vec<usize> = Vec::with_capacity(netlist.gates().len());
    let mut next = inputs;
    let mut body = String::new();
    let mut count = 0;
    for gate in netlist.gates() {
        if let Gate::Input(k) = gate {
            wires.push(*k as usize);
            continue;
        }
        let wire = |id: crate::NodeId| wires[id.index()];
        // Writing to a string cannot fail.
        let _ = match *gate {
            Gate::Const(value) => writeln!(body, "1 1 {} {next} EQ", u8::from(value)),
            Gate::Not(a) => writeln!(body, "1 1 {} {next} INV", wire(a)),
            Gate::Binary(BinaryOp::And, a, b) => writeln!(body, "2 1 {} {} {next} AND", wire(a), wire(b)),
            Gate::Binary(_, a, b) => writeln!(body, "2 1 {} {} {next} XOR", wire(a), wire(b)),
            _ => Ok(()),
        };
        wires.push(next);
        next += 1;
        count += 1;
    }
    // The outputs are the last wires.
    for id in netlist.output_nodes() {
        let _ = writeln!(body, "1 1 {} {next} EQW", wires[id.index()]);
        next += 1;
    }
    let widths = |ports: &[crate::Port]| {
        let widths: Vec<_> = ports.iter().map(|port| port.bits.len().to_string()).collect();
        format!("{} {}", ports.len(), widths.join(" "))
    };
    let (ins, outs) = (widths(netlist.inputs()), widths(netlist.outputs()));
    Ok(format!("{} {next}\n{ins}\n{outs}\n\n{body}", count + outputs))
}
