//! Rewriting by cuts. A cut is a set of up to three nodes that separates a node from the inputs; the node is a function of the cut.

use super::Goal;
use crate::function::{Shape, VARIABLE, depends_on, function};
use crate::{Builder, Error, Gate, GateCosts, Limits, Netlist, NodeId, Stop};

/// Number of cuts kept for a node, and number of cuts of each operand that a three-input gate combines.
const CUTS: usize = 12;
const CUTS_OF_THREE: usize = 5;
/// Largest number of gates visited to count the gates that a rewriting frees.
const CONE: usize = 64;

/// Up to three leaves in ascending order, and the node's truth table over them. The table depends on every leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cut {
    leaves: [NodeId; 3],
    len: usize,
    table: u8,
}

impl Cut {
    fn leaf(id: NodeId) -> Self {
        Self { leaves: [id; 3], len: 1, table: VARIABLE[0] }
    }

    fn leaves(&self) -> &[NodeId] {
        &self.leaves[..self.len]
    }

    /// The truth table over the leaves of a larger cut.
    fn table_over(&self, leaves: &[NodeId]) -> u8 {
        let place = |leaf: &NodeId| leaves.iter().position(|other| other == leaf).unwrap_or(0);
        let places: [usize; 3] = std::array::from_fn(|k| if k < self.len { place(&self.leaves[k]) } else { 0 });
        let value = |i: u8| {
            let index: u8 = (0..self.len).map(|k| (i >> places[k] & 1) << k).sum();
            self.table >> index & 1
        };
        (0..8).map(|i| value(i) << i).sum()
    }

    /// Combines cuts of the operands by a gate; `None` if there are more than three leaves.
    fn merge(gate: &Gate, operands: &[&Self]) -> Option<Self> {
        let mut all = [NodeId(0); 9];
        let mut len = 0;
        for leaf in operands.iter().flat_map(|cut| cut.leaves()) {
            if !all[..len].contains(leaf) {
                all[len] = *leaf;
                len += 1;
            }
        }
        if len > 3 {
            return None;
        }
        all[..len].sort_unstable();
        let t = |k: usize| u64::from(operands[k].table_over(&all[..len]));
        let table = match gate {
            Gate::Not(_) => !t(0),
            Gate::Binary(op, ..) => op.apply(t(0), t(1)),
            Gate::Mux { .. } => t(2) ^ (t(0) & (t(1) ^ t(2))),
            Gate::Xor3(_) => t(0) ^ t(1) ^ t(2),
            Gate::Maj(_) => (t(0) & t(1)) | (t(2) & (t(0) ^ t(1))),
            Gate::Input(_) | Gate::Const(_) => return None,
        };
        Some(Self { leaves: [all[0], all[1], all[2]], len, table: table as u8 }.shrink())
    }

    /// Drops leaves on which the table does not depend.
    fn shrink(self) -> Self {
        let mut small = Self { len: 0, ..self };
        for k in (0..self.len).filter(|&k| depends_on(self.table, k)) {
            small.leaves[small.len] = self.leaves[k];
            small.len += 1;
        }
        if small.len < self.len {
            // The remaining leaves are a subset of the old ones. The dropped leaves may have any value, for example 0.
            let kept = small.len;
            let place =
                |k: usize| self.leaves[..self.len].iter().position(|leaf| *leaf == small.leaves[k]).unwrap_or(0);
            let value = |i: u8| {
                let index: u8 = (0..kept).map(|k| (i >> k & 1) << place(k)).sum();
                self.table >> index & 1
            };
            small.table = (0..8).map(|i| value(i) << i).sum();
        }
        small
    }
}

/// The cuts of every node.
fn enumerate(netlist: &Netlist, limits: &Limits<'_>) -> Result<Vec<Vec<Cut>>, Stop> {
    let mut all: Vec<Vec<Cut>> = Vec::with_capacity(netlist.gates().len());
    for (index, gate) in netlist.gates().iter().enumerate() {
        limits.check_at(index)?;
        let mut cuts: Vec<Cut> = Vec::new();
        let mut add = |cut: Option<Cut>| {
            if let Some(cut) = cut.filter(|cut| !cuts.contains(cut)) {
                cuts.push(cut);
            }
        };
        let operands: Vec<&[Cut]> = gate.operands().map(|id| &all[id.index()][..]).collect();
        let few = |k: usize| operands[k].iter().take(CUTS_OF_THREE);
        match operands[..] {
            [a] => a.iter().for_each(|a| add(Cut::merge(gate, &[a]))),
            [a, b] => a.iter().for_each(|a| b.iter().for_each(|b| add(Cut::merge(gate, &[a, b])))),
            [_, _, _] => {
                few(0).for_each(|a| few(1).for_each(|b| few(2).for_each(|c| add(Cut::merge(gate, &[a, b, c])))));
            }
            _ => {}
        }
        match gate {
            Gate::Const(value) => {
                let table = if *value { 0xff } else { 0 };
                cuts.push(Cut { leaves: [NodeId(0); 3], len: 0, table });
            }
            _ => {
                cuts.sort_by_key(|cut| cut.len);
                cuts.truncate(CUTS - 1);
                cuts.insert(0, Cut::leaf(NodeId(index as u32)));
            }
        }
        all.push(cuts);
    }
    Ok(all)
}

/// Rebuilds the netlist, each node from the cut that saves most. One gate replaces each node that needs bootstraps. The gate costs no more than the nodes
/// that become free, counted node by node.
pub(super) fn rewrite(
    netlist: &Netlist,
    costs: &GateCosts,
    goal: Goal,
    limits: &Limits<'_>,
) -> Result<Result<Netlist, Error>, Stop> {
    let cuts = enumerate(netlist, limits)?;
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
    let mut stopped = Ok(());
    let rewritten = netlist.rebuild(Builder::new(), |b, index, map| {
        stopped = stopped.and_then(|()| limits.check_at(index));
        if stopped.is_err() {
            return NodeId(0);
        }
        let gate = netlist.gates()[index];
        let best = cuts[index].iter().skip(1).filter_map(|cut| {
            let cost = cost(cut)?;
            let level = cut.leaves().iter().map(|id| levels[id.index()]).max().unwrap_or(0) + u32::from(cost > 0);
            let gain = freed(netlist, costs, &fanout, index, cut) - i64::from(cost);
            let better = gain > 0 || goal == Goal::Depth && gain == 0 && level < levels[index];
            better.then_some(((gain, std::cmp::Reverse(level)), cut))
        });
        match best.max_by_key(|(key, _)| *key) {
            Some((_, cut)) if costs.bootstraps(&gate) > 0 => {
                let leaves = cut.leaves.map(|leaf| map[leaf.index()]);
                let built = function(b, cut.table, &leaves[..cut.len]);
                debug_assert!(built.is_some(), "only cuts with a cost are built");
                built.unwrap_or_else(|| b.gate(gate.map(|id| map[id.index()])))
            }
            _ => b.gate(gate.map(|id| map[id.index()])),
        }
    });
    stopped.map(|()| rewritten)
}

/// Bootstraps of the gates between a node (included) and the leaves of a cut, without gates that other nodes read.
fn freed(netlist: &Netlist, costs: &GateCosts, fanout: &[u32], root: usize, cut: &Cut) -> i64 {
    let mut total = 0;
    let mut removed: Vec<(NodeId, u32)> = Vec::new();
    let mut stack = vec![NodeId(root as u32)];
    while let Some(id) = stack.pop() {
        let gate = &netlist.gates()[id.index()];
        total += i64::from(costs.bootstraps(gate));
        for operand in gate.operands().filter(|id| !cut.leaves().contains(id)) {
            let at = removed.iter().position(|(id, _)| *id == operand).unwrap_or_else(|| {
                removed.push((operand, 0));
                removed.len() - 1
            });
            removed[at].1 += 1;
            if removed[at].1 == fanout[operand.index()] && removed.len() < CONE {
                stack.push(operand);
            }
        }
    }
    total
}
