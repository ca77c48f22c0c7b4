//! JSON netlists as Yosys reads them (`read_json`).

use crate::{BinaryOp, Error, Features, Gate, Netlist, NodeId, Port};
use std::fmt::Write;

/// Writes a Yosys JSON netlist of one module `top` with the cells `$_AND_`, `$_MUX_` and the like.
///
/// # Errors
/// [`Error::TooLarge`] when the netlist has too many gates once XOR3 and MAJ are rewritten.
pub fn write_yosys_json(netlist: &Netlist) -> Result<String, Error> {
    let netlist = netlist.lower(Features { mux: true, ..Features::TWO_INPUT })?;
    // Numbers 0 and 1 are best left out: Yosys writes its constants as text, and starts at 2.
    let bit = |id: NodeId| match netlist.gates()[id.index()] {
        Gate::Const(value) => format!("\"{}\"", u8::from(value)),
        _ => (id.0 + 2).to_string(),
    };
    let bits = |port: &Port| port.bits.iter().map(|id| bit(*id)).collect::<Vec<_>>().join(", ");
    let mut ports = Vec::new();
    let mut taken: Vec<&str> = netlist.inputs().iter().map(|port| port.name.as_str()).collect();
    taken.sort_unstable();
    for (direction, port) in
        netlist.inputs().iter().map(|p| ("input", p)).chain(netlist.outputs().iter().map(|p| ("output", p)))
    {
        // An output may have the name of an input here, not there.
        let clash = direction == "output" && taken.binary_search(&port.name.as_str()).is_ok();
        let name = if clash { format!("{}_out", port.name) } else { port.name.clone() };
        let signed = if port.signed { ", \"signed\": 1" } else { "" };
        let name = serde_json::Value::String(name);
        ports.push(format!(
            "        {name}: {{ \"direction\": \"{direction}\"{signed}, \"bits\": [ {} ] }}",
            bits(port)
        ));
    }
    let cells: Vec<_> = netlist.gates().iter().enumerate().filter_map(|(index, gate)| cell(index, gate, bit)).collect();
    let mut out = String::from("{\n  \"creator\": \"Solinas\",\n  \"modules\": {\n    \"top\": {\n");
    let _ = write!(
        out,
        "      \"attributes\": {{ \"top\": \"00000000000000000000000000000001\" }},\n      \"ports\": {{\n{}\n      }},\n      \"cells\": {{\n{}\n      }},\n      \"netnames\": {{}}\n    }}\n  }}\n}}\n",
        ports.join(",\n"),
        cells.join(",\n")
    );
    Ok(out)
}

fn cell(index: usize, gate: &Gate, bit: impl Fn(NodeId) -> String) -> Option<String> {
    let (kind, pins) = match *gate {
        Gate::Not(a) => ("$_NOT_", vec![("A", a)]),
        Gate::Mux { sel, if_true, if_false } => ("$_MUX_", vec![("A", if_false), ("B", if_true), ("S", sel)]),
        Gate::Binary(op, a, b) => {
            let (kind, a, b) = match op {
                BinaryOp::And => ("$_AND_", a, b),
                BinaryOp::Or => ("$_OR_", a, b),
                BinaryOp::Xor => ("$_XOR_", a, b),
                BinaryOp::Nand => ("$_NAND_", a, b),
                BinaryOp::Nor => ("$_NOR_", a, b),
                BinaryOp::Xnor => ("$_XNOR_", a, b),
                BinaryOp::AndYN => ("$_ANDNOT_", a, b),
                BinaryOp::AndNY => ("$_ANDNOT_", b, a),
                BinaryOp::OrYN => ("$_ORNOT_", a, b),
                BinaryOp::OrNY => ("$_ORNOT_", b, a),
            };
            (kind, vec![("A", a), ("B", b)])
        }
        Gate::Input(_) | Gate::Const(_) | Gate::Xor3(_) | Gate::Maj(_) => return None,
    };
    let directions: String = pins.iter().map(|(pin, _)| format!("\"{pin}\": \"input\", ")).collect();
    let connections: String = pins.iter().map(|(pin, id)| format!("\"{pin}\": [ {} ], ", bit(*id))).collect();
    Some(format!(
        "        \"$g{index}\": {{ \"hide_name\": 1, \"type\": \"{kind}\", \"parameters\": {{}}, \"attributes\": {{}}, \
         \"port_directions\": {{ {directions}\"Y\": \"output\" }}, \"connections\": {{ {connections}\"Y\": [ {} ] }} }}",
        index + 2
    ))
}
