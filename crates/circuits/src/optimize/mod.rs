//! Equivalent netlists of fewer gates.

mod cuts;

use crate::{Builder, Error, Gate, GateCosts, Limits, Netlist, NodeId, Stop};

/// Rounds of rewriting at most, for each goal and for all together; each keeps what it gains.
const ROUNDS: usize = 6;

/// What a round of rewriting looks for, besides what the goals before it look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Goal {
    /// Fewer bootstraps by any gate but XOR3.
    Majorities,
    /// Fewer bootstraps.
    Parities,
    /// As few bootstraps at lower depth.
    Depth,
}

impl Netlist {
    /// An equivalent netlist that takes no more bootstraps, and usually fewer.
    ///
    /// Folds constants, shares equal and complementary gates, drops what no output needs, absorbs NOTs, and replaces any cone of gates
    /// that is a function of at most three nodes by one gate where that saves bootstraps or depth: pairs of XORs become XOR3, the carry
    /// of a full adder, however written, becomes MAJ.
    #[must_use]
    pub fn optimize(&self, costs: &GateCosts) -> Self {
        // Without limits nothing stops it.
        self.optimize_within(costs, &Limits::default()).unwrap_or_else(|_| self.clone())
    }

    /// As [`Self::optimize`], within limits.
    ///
    /// # Errors
    /// [`Stop::Cancelled`], [`Stop::Time`].
    pub fn optimize_within(&self, costs: &GateCosts, limits: &Limits<'_>) -> Result<Self, Stop> {
        limits.check()?;
        let mut best = self.prune();
        let keep = |best: &mut Self, candidate: Result<Self, Error>| match candidate {
            Ok(candidate) if candidate.score(costs) < best.score(costs) => {
                *best = candidate;
                true
            }
            _ => false,
        };
        let folded = best.fold();
        keep(&mut best, folded);
        // Parities taken too early would cut majorities apart, and depth is not worth a pattern.
        for _ in 0..ROUNDS {
            let mut gained = false;
            for goal in [Goal::Majorities, Goal::Parities, Goal::Depth] {
                for _ in 0..ROUNDS {
                    let rewritten = cuts::rewrite(&best, costs, goal, limits)?;
                    if !keep(&mut best, rewritten) {
                        break;
                    }
                    gained = true;
                }
            }
            let absorbed = best.absorb_nots();
            if !(keep(&mut best, absorbed) || gained) {
                break;
            }
        }
        Ok(best)
    }

    /// What [`Netlist::optimize`] lowers, most important first.
    fn score(&self, costs: &GateCosts) -> (u64, u32, usize) {
        let depth = self.levels(costs).into_iter().max().unwrap_or(0);
        (self.bootstraps(costs), depth, self.gates().len())
    }

    /// Every gate through the simplifying builder.
    fn fold(&self) -> Result<Self, Error> {
        self.rebuild(Builder::new(), |b, index, map| b.gate(self.gates()[index].map(|id| map[id.index()])))
    }

    /// Complements the two-input gates that only NOTs read.
    fn absorb_nots(&self) -> Result<Self, Error> {
        let mut only_nots: Vec<bool> = self.fanout().into_iter().map(|count| count > 0).collect();
        self.output_nodes().for_each(|id| only_nots[id.index()] = false);
        for gate in self.gates().iter().filter(|gate| !matches!(gate, Gate::Not(_))) {
            gate.operands().for_each(|id| only_nots[id.index()] = false);
        }
        self.rebuild(Builder::new(), |b, index, map| match self.gates()[index].map(|id| map[id.index()]) {
            Gate::Binary(op, x, y) if only_nots[index] => {
                let flipped = b.binary(op.complement(), x, y);
                b.not(flipped)
            }
            gate => b.gate(gate),
        })
    }

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
