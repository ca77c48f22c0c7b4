//! Graphs that compute the same with fewer rotations.

use std::collections::{HashMap, HashSet};

use super::analysis::{Analysis, owner, read, weight};
use super::build::{affine, fill};
use super::{Linear, Lut, LutGraph, Table, ValueRef};

/// Rebuilds of a graph in search of merges that keep the budget.
const MAX_ATTEMPTS: usize = 16;

impl LutGraph {
    /// An equivalent graph of at most as many rotations, within the same budget.
    ///
    /// Dead tables and rotations go, constant and identity tables fold, and rotations of the same argument become one with all their
    /// tables. Both of the latter make noise; where that breaks the budget of a user, its operands stay as they were.
    #[must_use]
    pub fn optimize(&self) -> Self {
        let mut best = self.clone();
        loop {
            let Some(next) = best.rebuild() else { return best };
            let smaller = next.luts.len() < best.luts.len();
            let tables = |g: &Self| g.luts.iter().map(|l| l.tables.len()).sum::<usize>();
            if smaller || next.luts.len() == best.luts.len() && tables(&next) <= tables(&best) {
                best = next;
            }
            if !smaller {
                return best;
            }
        }
    }

    fn rebuild(&self) -> Option<Self> {
        let live = self.live();
        let mut kept = HashSet::new();
        for _ in 0..MAX_ATTEMPTS {
            match Rebuild::run(self, &live, &kept) {
                Ok(graph) => return Self::new(graph.inputs, graph.luts, graph.outputs, graph.budget).ok(),
                Err(users) if users.iter().all(|n| kept.contains(n)) => return None,
                Err(users) => kept.extend(users),
            }
        }
        None
    }

    /// Which tables of each rotation an output depends on.
    fn live(&self) -> Vec<Vec<bool>> {
        let mut live: Vec<Vec<bool>> = self.luts.iter().map(|lut| vec![false; lut.tables.len()]).collect();
        let mark = |live: &mut Vec<Vec<bool>>, terms: &[(ValueRef, i32)]| {
            for &(value, _) in terms {
                if let ValueRef::Lut { node, table } = value {
                    live[node as usize][table as usize] = true;
                }
            }
        };
        self.outputs.iter().for_each(|out| mark(&mut live, &out.terms));
        for i in (0..self.luts.len()).rev() {
            if live[i].contains(&true) {
                mark(&mut live, &self.luts[i].terms);
            }
        }
        live
    }
}

struct Rebuild<'a> {
    old: &'a LutGraph,
    new: LutGraph,
    analysis: Analysis,
    /// What the tables of the old rotations are now.
    now: Vec<Vec<Linear>>,
    /// Old rotation that first asked for each new one.
    origin: Vec<usize>,
}

impl<'a> Rebuild<'a> {
    /// The graph rebuilt without merging or folding the rotations in `kept`; otherwise the operands of what broke.
    fn run(old: &'a LutGraph, live: &[Vec<bool>], kept: &HashSet<usize>) -> Result<LutGraph, Vec<usize>> {
        let new = LutGraph { inputs: old.inputs.clone(), luts: vec![], outputs: vec![], budget: old.budget };
        let mut this = Self { old, new, analysis: Analysis::default(), now: Vec::new(), origin: Vec::new() };
        let mut known: HashMap<(Vec<(ValueRef, i32)>, i32), u32> = HashMap::new();
        for (i, lut) in old.luts.iter().enumerate() {
            this.now.push(vec![Linear::default(); lut.tables.len()]);
            if !live[i].contains(&true) {
                continue;
            }
            let argument = this.substitute(&lut.terms, lut.constant);
            let reach = this.analysis.reach(&this.new.inputs, &this.new.luts, &argument.terms);
            let set = reach.map(|s| s.shift(argument.constant)).filter(|s| s.within(-16, 15));
            let set = set.ok_or_else(|| operands(&lut.terms))?;
            let mut node =
                if kept.contains(&i) { None } else { known.get(&(argument.terms.clone(), argument.constant)).copied() };
            for (t, table) in lut.tables.iter().enumerate().filter(|(t, _)| live[i][*t]) {
                let f = |v: i32| read(table, v);
                let folded = match set.map(f).and_then(super::Set::single) {
                    Some(c) => Some(Linear::constant(c)),
                    None if kept.contains(&i) => None,
                    None => affine(&argument, set, &f),
                };
                this.now[i][t] = match folded {
                    Some(linear) => linear,
                    None => {
                        let table = fill(set, &f).unwrap_or(*table);
                        let node = *node.get_or_insert_with(|| this.emit(i, &argument, set));
                        Linear::value(ValueRef::Lut { node, table: this.table(node, table) })
                    }
                };
            }
            if let Some(node) = node.filter(|_| !kept.contains(&i)) {
                known.insert((argument.terms, argument.constant), node);
            }
        }
        this.new.outputs = old.outputs.iter().map(|out| this.substitute(&out.terms, out.constant)).collect();
        this.check()?;
        Ok(this.new)
    }

    fn substitute(&self, terms: &[(ValueRef, i32)], constant: i32) -> Linear {
        let parts: Vec<(Linear, i32)> = terms
            .iter()
            .map(|&(value, c)| match value {
                ValueRef::Input(_) => (Linear::value(value), c),
                ValueRef::Lut { node, table } => (self.now[node as usize][table as usize].clone(), c),
            })
            .collect();
        Linear::sum(parts.iter().map(|(p, c)| (p, *c)), constant)
    }

    fn emit(&mut self, origin: usize, argument: &Linear, set: super::Set) -> u32 {
        self.new.luts.push(Lut { terms: argument.terms.clone(), constant: argument.constant, tables: vec![] });
        self.analysis.arguments.push(set);
        self.origin.push(origin);
        self.new.luts.len() as u32 - 1
    }

    fn table(&mut self, node: u32, table: Table) -> u32 {
        let tables = &mut self.new.luts[node as usize].tables;
        let at = tables.iter().position(|t| *t == table).unwrap_or_else(|| {
            tables.push(table);
            tables.len() - 1
        });
        at as u32
    }

    /// Weights are known once all merges are; a user that breaks the budget, or an output that leaves its range, names its operands.
    fn check(&mut self) -> Result<(), Vec<usize>> {
        let max = self.new.budget.max_weight;
        let mut broken = Vec::new();
        for (lut, &origin) in self.new.luts.iter().zip(&self.origin) {
            if weight(&self.new.luts, self.new.budget.input_weight, &lut.terms) > max {
                broken.extend(operands(&self.old.luts[origin].terms));
            }
        }
        for (new, old) in self.new.outputs.iter().zip(&self.old.outputs) {
            let reach = self.analysis.reach(&self.new.inputs, &self.new.luts, &new.terms);
            let inside = reach.is_some_and(|s| s.shift(new.constant).within(0, 15));
            if !inside || weight(&self.new.luts, self.new.budget.input_weight, &new.terms) > max {
                broken.extend(operands(&old.terms));
            }
        }
        if broken.is_empty() { Ok(()) } else { Err(broken) }
    }
}

fn operands(terms: &[(ValueRef, i32)]) -> Vec<usize> {
    terms.iter().filter_map(|t| owner(t.0)).collect()
}
