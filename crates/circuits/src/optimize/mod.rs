//! Optimization: equivalent netlists of fewer gates.

mod cuts;

use cuts::Cuts;

use crate::{Builder, Error, Gate, GateCosts, Limits, Netlist, NodeId, Stop};

/// Largest number of rewriting rounds, for each goal and for all goals together. Each round keeps its gain.
const ROUNDS: usize = 6;

/// The goal of a round of rewriting, in addition to the goals before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Goal {
    /// Fewer bootstraps, with any gate except XOR3.
    Majorities,
    /// Fewer bootstraps.
    Parities,
    /// Lower depth with the same number of bootstraps.
    Depth,
}

impl Netlist {
    /// An equivalent netlist that needs no more bootstraps, and usually fewer.
    ///
    /// It folds constants, shares equal and complementary gates, drops gates that no output needs, and absorbs NOTs. If a cone of gates is a function of at
    /// most three nodes, one gate replaces it where that saves bootstraps or depth. For example, pairs of XORs become XOR3, and the carry of a full adder
    /// becomes MAJ.
    #[must_use]
    pub fn optimize(&self, costs: &GateCosts) -> Self {
        // Without limits, the optimization always ends normally.
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
        // Early parities would split majorities, and a lower depth does not justify losing a pattern.
        let goals = [Goal::Majorities, Goal::Parities, Goal::Depth];
        // The cuts of the best netlist, and the goals that have no gain on it.
        let (mut cuts, mut done) = (None, [false; 3]);
        for _ in 0..ROUNDS {
            let mut gained = false;
            for (at, &goal) in goals.iter().enumerate() {
                for _ in 0..ROUNDS {
                    if done[at] {
                        break;
                    }
                    let known = match cuts.take() {
                        Some(known) => known,
                        None => Cuts::new(&best, limits)?,
                    };
                    let rewritten = cuts::rewrite(&best, &known, costs, goal, limits)?;
                    if keep(&mut best, rewritten) {
                        (done, gained) = ([false; 3], true);
                    } else {
                        (done[at], cuts) = (true, Some(known));
                    }
                }
            }
            let absorbed = best.absorb_nots();
            let absorbed = keep(&mut best, absorbed);
            if absorbed {
                (cuts, done) = (None, [false; 3]);
            }
            if !(absorbed || gained) {
                break;
            }
        }
        Ok(best)
    }

    /// The quantities that [`Netlist::optimize`] lowers, the most important first.
    fn score(&self, costs: &GateCosts) -> (u64, u32, usize) {
        let depth = self.levels(costs).into_iter().max().unwrap_or(0);
        (self.bootstraps(costs), depth, self.gates().len())
    }

    /// Passes every gate through the simplifying builder.
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

    /// Removes the gates that no output needs. Inputs stay, and the remaining gates keep their order.
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
