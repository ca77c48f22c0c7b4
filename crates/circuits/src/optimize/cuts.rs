//! Rewriting by cuts. A cut is a set of up to three nodes that separates a node from the inputs; the node is a function of the cut.

use super::Goal;
use crate::function::{Shape, VARIABLE, depends_on, function};
use crate::{Builder, Error, Gate, GateCosts, Limits, Netlist, NodeId, Stop};

/// Number of cuts kept for a node, and number of cuts of each operand that a three-input gate combines.
const CUTS: usize = 12;
const CUTS_OF_THREE: usize = 5;
/// Largest number of gates visited to count the gates that a rewriting frees.
const CONE: usize = 64;

/// Up to three leaves in ascending order, and the node's truth table over them. The table depends on every leaf, and on no other variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cut {
    leaves: [NodeId; 3],
    len: usize,
    table: u8,
    /// Bit `id % 64` for each leaf. Unions of more than three bits have more than three leaves.
    signature: u64,
}

impl Cut {
    fn new(leaves: [NodeId; 3], len: usize, table: u8) -> Self {
        let signature = leaves[..len].iter().fold(0, |bits, leaf| bits | 1 << (leaf.index() % 64));
        Self { leaves, len, table, signature }
    }

    fn leaf(id: NodeId) -> Self {
        Self::new([id; 3], 1, VARIABLE[0])
    }

    fn leaves(&self) -> &[NodeId] {
        &self.leaves[..self.len]
    }

    /// The truth table over the leaves of a larger cut.
    fn table_over(&self, leaves: &[NodeId]) -> u8 {
        let mut table = self.table;
        for (k, leaf) in self.leaves().iter().enumerate().rev() {
            let place = leaves.iter().position(|other| other == leaf).unwrap_or(k);
            table = (k..place).fold(table, exchange);
        }
        table
    }

    /// Combines cuts of the operands by a gate; `None` if there are more than three leaves.
    fn merge<const N: usize>(gate: &Gate, operands: [&Self; N]) -> Option<Self> {
        if operands.iter().fold(0, |bits, cut| bits | cut.signature).count_ones() > 3 {
            return None;
        }
        let mut all = [NodeId(0); 3];
        let mut len = 0;
        for &leaf in operands.iter().flat_map(|cut| cut.leaves()) {
            let place = all[..len].iter().position(|&other| other >= leaf).unwrap_or(len);
            if place == len || all[place] != leaf {
                if len == 3 {
                    return None;
                }
                all.copy_within(place..len, place + 1);
                all[place] = leaf;
                len += 1;
            }
        }
        let t = |k: usize| u64::from(operands[k].table_over(&all[..len]));
        let table = match gate {
            Gate::Not(_) => !t(0),
            Gate::Binary(op, ..) => op.apply(t(0), t(1)),
            Gate::Mux { .. } => t(2) ^ (t(0) & (t(1) ^ t(2))),
            Gate::Xor3(_) => t(0) ^ t(1) ^ t(2),
            Gate::Maj(_) => (t(0) & t(1)) | (t(2) & (t(0) ^ t(1))),
            Gate::Input(_) | Gate::Const(_) => return None,
        };
        Some(Self::shrunk(all, len, table as u8))
    }

    /// The cut without the leaves on which the table does not depend.
    fn shrunk(all: [NodeId; 3], len: usize, mut table: u8) -> Self {
        let mut leaves = [NodeId(0); 3];
        let mut kept = 0;
        // The variables of a table come first, so the ones after a dropped variable move down.
        for (k, &leaf) in all[..len].iter().enumerate() {
            if depends_on(table, k) {
                table = (kept..k).rev().fold(table, exchange);
                leaves[kept] = leaf;
                kept += 1;
            }
        }
        Self::new(leaves, kept, table)
    }
}

/// The truth table after an exchange of variables `k` and `k + 1`. Range: `k` is 0 or 1.
fn exchange(table: u8, k: usize) -> u8 {
    match k {
        0 => table & 0x99 | (table & 0x22) << 1 | (table & 0x44) >> 1,
        _ => table & 0xc3 | (table & 0x0c) << 2 | (table & 0x30) >> 2,
    }
}

/// The cuts of all nodes of a netlist.
pub(super) struct Cuts {
    all: Vec<Cut>,
    /// For each node, the end of its cuts in `all`.
    ends: Vec<usize>,
}

impl Cuts {
    /// # Errors
    /// [`Stop::Cancelled`], [`Stop::Time`].
    pub(super) fn new(netlist: &Netlist, limits: &Limits<'_>) -> Result<Self, Stop> {
        let gates = netlist.gates();
        let mut this = Self { all: Vec::new(), ends: Vec::with_capacity(gates.len()) };
        let mut found: Vec<Cut> = Vec::new();
        for (index, gate) in gates.iter().enumerate() {
            limits.check_at(index)?;
            found.clear();
            this.find(gate, &mut found);
            match gate {
                Gate::Const(value) => {
                    let table = if *value { 0xff } else { 0 };
                    this.all.push(Cut::new([NodeId(0); 3], 0, table));
                }
                _ => {
                    found.sort_by_key(|cut| cut.len);
                    this.all.push(Cut::leaf(NodeId(index as u32)));
                    this.all.extend(found.iter().take(CUTS - 1));
                }
            }
            this.ends.push(this.all.len());
        }
        Ok(this)
    }

    /// The cuts of a gate other than the gate itself.
    fn find(&self, gate: &Gate, found: &mut Vec<Cut>) {
        let mut add = |cut: Option<Cut>| {
            if let Some(cut) = cut.filter(|cut| !found.contains(cut)) {
                found.push(cut);
            }
        };
        let few = |id: NodeId| self.of(id.index()).iter().take(CUTS_OF_THREE);
        match *gate {
            Gate::Input(_) | Gate::Const(_) => {}
            Gate::Not(a) => self.of(a.index()).iter().for_each(|a| add(Cut::merge(gate, [a]))),
            Gate::Binary(_, a, b) => {
                for a in self.of(a.index()) {
                    self.of(b.index()).iter().for_each(|b| add(Cut::merge(gate, [a, b])));
                }
            }
            Gate::Mux { sel: a, if_true: b, if_false: c } | Gate::Xor3([a, b, c]) | Gate::Maj([a, b, c]) => {
                for a in few(a) {
                    few(b).for_each(|b| few(c).for_each(|c| add(Cut::merge(gate, [a, b, c]))));
                }
            }
        }
    }

    fn of(&self, node: usize) -> &[Cut] {
        let start = if node == 0 { 0 } else { self.ends[node - 1] };
        &self.all[start..self.ends[node]]
    }
}

/// Rebuilds the netlist, each node from the cut that saves most. One gate replaces each node that needs bootstraps. The gate costs no more than the nodes
/// that become free, counted node by node.
pub(super) fn rewrite(
    netlist: &Netlist,
    cuts: &Cuts,
    costs: &GateCosts,
    goal: Goal,
    limits: &Limits<'_>,
) -> Result<Result<Netlist, Error>, Stop> {
    let (fanout, levels) = (netlist.fanout(), netlist.levels(costs));
    let cost = |cut: &Cut| match cut.len {
        0 | 1 => Some(0),
        2 => Some(costs.binary),
        _ => Shape::from_truth_table(cut.table).and_then(|shape| match shape {
            Shape::Parity { .. } => (goal >= Goal::Parities).then_some(costs.xor3),
            Shape::Majority { .. } => Some(costs.maj),
            Shape::Mux { .. } => Some(costs.mux),
        }),
    };
    let mut cone = Cone::default();
    let mut stopped = Ok(());
    let rewritten = netlist.rebuild(Builder::new(), |b, index, map| {
        stopped = stopped.and_then(|()| limits.check_at(index));
        if stopped.is_err() {
            return NodeId(0);
        }
        let gate = netlist.gates()[index];
        if costs.bootstraps(&gate) == 0 {
            return b.gate(gate.map(|id| map[id.index()]));
        }
        let best = cuts.of(index).iter().skip(1).filter_map(|cut| {
            let cost = cost(cut)?;
            let level = cut.leaves().iter().map(|id| levels[id.index()]).max().unwrap_or(0) + u32::from(cost > 0);
            let gain = cone.freed(netlist, costs, &fanout, index, cut) - i64::from(cost);
            let better = gain > 0 || goal == Goal::Depth && gain == 0 && level < levels[index];
            better.then_some(((gain, std::cmp::Reverse(level)), cut))
        });
        match best.max_by_key(|(key, _)| *key) {
            Some((_, cut)) => {
                let leaves = cut.leaves.map(|leaf| map[leaf.index()]);
                let built = function(b, cut.table, &leaves[..cut.len]);
                debug_assert!(built.is_some(), "only cuts with a cost are built");
                built.unwrap_or_else(|| b.gate(gate.map(|id| map[id.index()])))
            }
            None => b.gate(gate.map(|id| map[id.index()])),
        }
    });
    stopped.map(|()| rewritten)
}

/// The gates between a node and the leaves of a cut. It is kept for its memory.
#[derive(Default)]
struct Cone {
    /// Operands of the gates, and the number of their readers in the cone.
    readers: Vec<(NodeId, u32)>,
    stack: Vec<NodeId>,
}

impl Cone {
    /// Bootstraps of the gates between a node (included) and the leaves of a cut, without gates that other nodes read.
    fn freed(&mut self, netlist: &Netlist, costs: &GateCosts, fanout: &[u32], root: usize, cut: &Cut) -> i64 {
        let mut total = 0;
        self.readers.clear();
        self.stack.clear();
        self.stack.push(NodeId(root as u32));
        while let Some(id) = self.stack.pop() {
            let gate = &netlist.gates()[id.index()];
            total += i64::from(costs.bootstraps(gate));
            for operand in gate.operands().filter(|id| !cut.leaves().contains(id)) {
                let at = self.readers.iter().position(|(id, _)| *id == operand).unwrap_or_else(|| {
                    self.readers.push((operand, 0));
                    self.readers.len() - 1
                });
                self.readers[at].1 += 1;
                if self.readers[at].1 == fanout[operand.index()] && self.readers.len() < CONE {
                    self.stack.push(operand);
                }
            }
        }
        total
    }
}
