//! Equivalent netlists of fewer gates.

use crate::{Gate, Netlist, NodeId};

impl Netlist {
    /// Without the gates that no output needs; inputs stay. Order and numbering of the rest are kept otherwise.
    #[must_use]
    pub fn prune(&self) -> Self {
        let mut live = vec![false; self.gates().len()];
        self.output_nodes().for_each(|id| live[id.index()] = true);
        for (index, gate) in self.gates().iter().enumerate().rev() {
            live[index] |= matches!(gate, Gate::Input(_));
            if live[index] {
                gate.operands().for_each(|id| live[id.index()] = true);
            }
        }
        let mut map = vec![NodeId(0); self.gates().len()];
        let mut gates = Vec::new();
        for (index, gate) in self.gates().iter().enumerate().filter(|(index, _)| live[*index]) {
            map[index] = NodeId(gates.len() as u32);
            gates.push(gate.map(|id| map[id.index()]));
        }
        self.with_gates(gates, &map)
    }
}
