//! JSON netlists as Yosys reads them (`read_json`).

use crate::function::VARIABLE;
use crate::{BinaryOp, Gate, Netlist, NodeId, Port};
use std::fmt::Write;

/// Writes a Yosys JSON netlist of one module `top`, from which [`read_yosys_json`](crate::import::read_yosys_json) reads the same gates. Gates become cells
/// such as `$_AND_` and `$_MUX_`; XOR3 and MAJ become a `$lut` of three inputs.
#[must_use]
pub fn write_yosys_json(netlist: &Netlist) -> String {
    // Wire numbers start at 2, as in Yosys, which reserves 0 and 1 for constants.
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
        // Here an output may have the name of an input. Yosys does not allow it.
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
    out
}

fn cell(index: usize, gate: &Gate, bit: impl Fn(NodeId) -> String) -> Option<String> {
    let [x, y, z] = VARIABLE;
    let (kind, table, pins) = match *gate {
        Gate::Input(_) | Gate::Const(_) => return None,
        Gate::Not(a) => ("$_NOT_", None, vec![("A", vec![a])]),
        Gate::Mux { sel, if_true, if_false } => {
            ("$_MUX_", None, vec![("A", vec![if_false]), ("B", vec![if_true]), ("S", vec![sel])])
        }
        Gate::Xor3(bits) => ("$lut", Some(x ^ y ^ z), vec![("A", bits.to_vec())]),
        Gate::Maj(bits) => ("$lut", Some(x & y | z & (x ^ y)), vec![("A", bits.to_vec())]),
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
            (kind, None, vec![("A", vec![a]), ("B", vec![b])])
        }
    };
    let parameters =
        table.map_or_else(String::new, |table| format!("\"LUT\": \"{table:08b}\", \"WIDTH\": \"{:032b}\"", 3));
    let directions: String = pins.iter().map(|(pin, _)| format!("\"{pin}\": \"input\", ")).collect();
    let bits = |ids: &[NodeId]| ids.iter().map(|id| bit(*id)).collect::<Vec<_>>().join(", ");
    let connections: String = pins.iter().map(|(pin, ids)| format!("\"{pin}\": [ {} ], ", bits(ids))).collect();
    Some(format!(
        "        \"$g{index}\": {{ \"hide_name\": 1, \"type\": \"{kind}\", \"parameters\": {{ {parameters} }}, \"attributes\": {{}}, \
         \"port_directions\": {{ {directions}\"Y\": \"output\" }}, \"connections\": {{ {connections}\"Y\": [ {} ] }} }}",
        index + 2
    ))
}
