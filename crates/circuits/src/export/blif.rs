//! Berkeley Logic Interchange Format.

use super::plain_names;
use crate::import::indexed;
use crate::{Gate, Netlist, NodeId, Port};
use std::fmt::Write;

/// Writes a BLIF model, from which [`read_blif`](crate::import::read_blif) reads the same gates. Bit `i` of a port of several bits is `name[i]`. The format
/// does not keep the signs of ports. Names are reduced to letters, digits and `_`.
#[must_use]
pub fn write_blif(netlist: &Netlist) -> String {
    let ports: Vec<&Port> = netlist.inputs().iter().chain(netlist.outputs()).collect();
    let names = plain_names(&ports);
    let bit = |port: usize, i: usize| match ports[port].bits.len() {
        // For example, a reader would take `x_0` as bit 0 of `x`.
        1 if indexed(&names[port]).is_none() => names[port].clone(),
        _ => format!("{}[{i}]", names[port]),
    };
    let all = |range: std::ops::Range<usize>| -> String {
        range
            .flat_map(|p| (0..ports[p].bits.len()).map(move |i| (p, i)))
            .map(|(p, i)| format!(" {}", bit(p, i)))
            .collect()
    };
    let inputs = netlist.inputs().len();
    let mut out = format!(".model top\n.inputs{}\n.outputs{}\n", all(0..inputs), all(inputs..ports.len()));
    let mut wires: Vec<String> = (0..netlist.gates().len()).map(|index| format!("${index}")).collect();
    for (p, port) in ports[..inputs].iter().enumerate() {
        port.bits.iter().enumerate().for_each(|(i, id)| wires[id.index()] = bit(p, i));
    }
    for (index, gate) in netlist.gates().iter().enumerate() {
        if !matches!(gate, Gate::Input(_)) {
            let operands: String = gate.operands().map(|id| format!("{} ", wires[id.index()])).collect();
            let _ = writeln!(out, ".names {operands}{}\n{}", wires[index], cover(gate));
        }
    }
    for (p, port) in ports.iter().enumerate().skip(inputs) {
        let buffer = |(i, id): (usize, &NodeId)| format!(".names {} {}\n1 1\n", wires[id.index()], bit(p, i));
        out.extend(port.bits.iter().enumerate().map(buffer));
    }
    out + ".end\n"
}

fn cover(gate: &Gate) -> String {
    match gate {
        Gate::Const(true) => "1".to_owned(),
        Gate::Const(false) | Gate::Input(_) => String::new(),
        Gate::Not(_) => "0 1".to_owned(),
        Gate::Binary(op, ..) => {
            let on = (0..4).filter(|i| op.truth_table() >> i & 1 == 1);
            on.map(|i| format!("{}{} 1", i & 1, i >> 1)).collect::<Vec<_>>().join("\n")
        }
        Gate::Mux { .. } => "11- 1\n0-1 1".to_owned(),
        Gate::Xor3(_) => "100 1\n010 1\n001 1\n111 1".to_owned(),
        Gate::Maj(_) => "11- 1\n1-1 1\n-11 1".to_owned(),
    }
}
