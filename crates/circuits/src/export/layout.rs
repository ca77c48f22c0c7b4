//! Layout of gates in a picture: columns by level, rows by the barycentre heuristic, and bands of columns below each other.

use crate::{Gate, Netlist, NodeId};

/// A gate, an output, or the position at which a line crosses a column.
pub(super) struct Placed {
    /// Text in the box.
    pub(super) label: String,
    /// Name of its outgoing line.
    pub(super) name: String,
    /// [`Gate::kind`], `output` or `wire`.
    pub(super) kind: &'static str,
    pub(super) column: usize,
    /// Row within its band, from the top.
    pub(super) row: f64,
    /// Indices of the nodes that it reads.
    pub(super) operands: Vec<usize>,
    /// Whether a node of another band reads it.
    pub(super) leaves_band: bool,
}

/// Gates in columns and rows.
pub(super) struct Layout {
    pub(super) nodes: Vec<Placed>,
    pub(super) columns: usize,
    /// Number of rows of each band.
    pub(super) rows: Vec<usize>,
    per_band: usize,
}

impl Layout {
    /// Lays out a netlist in bands of `per_band` columns.
    pub(super) fn new(netlist: &Netlist, per_band: usize) -> Self {
        let nodes = nodes(netlist);
        let columns = nodes.iter().map(|node| node.column + 1).max().unwrap_or(1);
        let mut layout = Self { nodes, columns, rows: Vec::new(), per_band };
        if columns > per_band {
            layout.gather();
        }
        layout.route();
        layout.order();
        layout
    }

    pub(super) fn band(&self, node: &Placed) -> usize {
        node.column / self.per_band
    }

    /// Moves inputs and constants next to their first reader, and outputs next to their operand.
    fn gather(&mut self) {
        let mut first = vec![usize::MAX; self.nodes.len()];
        for node in 0..self.nodes.len() {
            for k in 0..self.nodes[node].operands.len() {
                let from = self.nodes[node].operands[k];
                if self.nodes[node].kind == "output" {
                    self.nodes[node].column = self.nodes[from].column + 1;
                }
                first[from] = first[from].min(self.nodes[node].column);
            }
        }
        for (node, first) in self.nodes.iter_mut().zip(first) {
            if node.operands.is_empty() && first != usize::MAX {
                node.column = first - 1;
            }
        }
        self.columns = self.nodes.iter().map(|node| node.column + 1).max().unwrap_or(1);
    }

    /// Splits lines that cross columns of a band. A line gets a position in each crossed column, which keeps gates off the line. All readers of a node share
    /// these positions.
    fn route(&mut self) {
        // places[i]: the positions that carry node i in the columns after its own.
        let mut places: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for reader in 0..self.nodes.len() {
            for k in 0..self.nodes[reader].operands.len() {
                let from = self.nodes[reader].operands[k];
                if self.band(&self.nodes[from]) != self.band(&self.nodes[reader]) {
                    self.nodes[from].leaves_band = true;
                    continue;
                }
                let passed = self.nodes[reader].column - self.nodes[from].column - 1;
                while places[from].len() < passed {
                    let before = places[from].last().copied().unwrap_or(from);
                    let column = self.nodes[before].column + 1;
                    places[from].push(self.nodes.len());
                    self.nodes.push(placed("wire", String::new(), String::new(), column, vec![before]));
                }
                if passed > 0 {
                    self.nodes[reader].operands[k] = places[from][passed - 1];
                }
            }
        }
    }

    /// Assigns rows from left to right. Within a column, nodes are ordered by the mean height of their operands in the same band.
    fn order(&mut self) {
        let mut members = vec![Vec::new(); self.columns];
        self.nodes.iter().enumerate().for_each(|(index, node)| members[node.column].push(index));
        // Until the rows are known, heights are between 0 and 1.
        let mut heights = vec![0.0f64; self.nodes.len()];
        for members in &mut members {
            let height = |index: usize| {
                let node = &self.nodes[index];
                let near = node.operands.iter().filter(|&&from| self.band(&self.nodes[from]) == self.band(node));
                let (sum, count) =
                    near.fold((0.0f64, 0.0f64), |(sum, count), &from| (sum + heights[from], count + 1.0));
                if count > 0.0 { sum / count } else { 1.0 }
            };
            members.sort_by(|&a, &b| height(a).total_cmp(&height(b)));
            let step = 1.0 / members.len() as f64;
            members.iter().enumerate().for_each(|(row, &index)| heights[index] = (row as f64 + 0.5) * step);
        }
        for band in members.chunks(self.per_band) {
            let rows = band.iter().map(Vec::len).max().unwrap_or(1);
            self.rows.push(rows);
            for members in band {
                let offset = (rows - members.len()) as f64 / 2.0;
                members.iter().enumerate().for_each(|(row, &index)| self.nodes[index].row = row as f64 + offset);
            }
        }
    }
}

fn placed(kind: &'static str, label: String, name: String, column: usize, operands: Vec<usize>) -> Placed {
    Placed { label, name, kind, column, row: 0.0, operands, leaves_band: false }
}

/// Gates and outputs with their columns. NOTs and constants also occupy a column, so lines only run to the right.
fn nodes(netlist: &Netlist) -> Vec<Placed> {
    let mut all: Vec<Placed> = Vec::new();
    for (index, gate) in netlist.gates().iter().enumerate() {
        let operands: Vec<_> = gate.operands().map(NodeId::index).collect();
        let column = operands.iter().map(|at| all[*at].column + 1).max().unwrap_or(0);
        let label = match gate {
            Gate::Const(value) => u8::from(*value).to_string(),
            gate => gate.kind().to_uppercase(),
        };
        let name = if matches!(gate, Gate::Const(_)) { label.clone() } else { NodeId(index as u32).to_string() };
        all.push(placed(gate.kind(), label, name, column, operands));
    }
    for port in netlist.inputs() {
        for (i, id) in port.bits.iter().enumerate() {
            let name = format!("{}[{i}]", port.name);
            (all[id.index()].label, all[id.index()].name) = (name.clone(), name);
        }
    }
    let last = all.iter().map(|node| node.column + 1).max().unwrap_or(0);
    for port in netlist.outputs() {
        for (i, id) in port.bits.iter().enumerate() {
            let name = format!("{}[{i}]", port.name);
            all.push(placed("output", name.clone(), name, last, vec![id.index()]));
        }
    }
    all
}
