//! DOT text for Graphviz.

use crate::{Gate, Netlist, NodeId};
use std::fmt::Write;

/// Escapes text for the quotes of a DOT label.
fn quoted(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .flat_map(|c| (matches!(c, '"' | '\\')).then_some('\\').into_iter().chain([c]))
        .collect()
}

/// Writes the netlist as a DOT graph from left to right. Inputs are ellipses, gates are boxes, and outputs are double circles.
#[must_use]
pub fn write_dot(netlist: &Netlist) -> String {
    let mut out = String::from("digraph circuit {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n");
    for port in netlist.inputs() {
        for (i, id) in port.bits.iter().enumerate() {
            let _ = writeln!(out, "  {id} [shape=ellipse, label=\"{}[{i}]\"];", quoted(&port.name));
        }
    }
    for (index, gate) in netlist.gates().iter().enumerate() {
        let id = NodeId(index as u32);
        let label = match gate {
            Gate::Input(_) => continue,
            Gate::Const(value) => u8::from(*value).to_string(),
            gate => gate.kind().to_uppercase(),
        };
        let _ = writeln!(out, "  {id} [label=\"{label}\"];");
        let roles: &[&str] = if matches!(gate, Gate::Mux { .. }) { &["sel", "1", "0"] } else { &["", "", ""] };
        for (operand, role) in gate.operands().zip(roles) {
            let role = if role.is_empty() { String::new() } else { format!(" [label=\"{role}\"]") };
            let _ = writeln!(out, "  {operand} -> {id}{role};");
        }
    }
    for (p, port) in netlist.outputs().iter().enumerate() {
        for (i, id) in port.bits.iter().enumerate() {
            let _ = writeln!(
                out,
                "  o{p}_{i} [shape=doublecircle, label=\"{}[{i}]\"];\n  {id} -> o{p}_{i};",
                quoted(&port.name)
            );
        }
    }
    out + "}\n"
}
