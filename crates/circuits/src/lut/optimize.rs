//! Optimization: equivalent graphs with fewer rotations.

use std::collections::HashSet;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::limits::{Limits, Stop};

use super::analysis::{Analysis, owner, read, weight};
use super::build::{Fills, affine};
use super::{Linear, Lut, LutGraph, Table, ValueRef};

/// Largest number of rebuilds of a graph in the search for merges that keep the budget.
const MAX_ATTEMPTS: usize = 16;

impl LutGraph {
    /// An equivalent graph with at most the same number of rotations, within the same budget.
    ///
    /// It removes dead tables and rotations, folds constant and identity tables, and merges rotations of the same argument. Folds and merges add noise. If that
    /// breaks the budget of a user, its operands stay unchanged.
    #[must_use]
    pub fn optimize(&self) -> Self {
        // Without limits, the optimization always ends normally.
        self.optimize_within(&Limits::default()).unwrap_or_else(|_| self.clone())
    }

    /// As [`Self::optimize`], within limits.
    ///
    /// # Errors
    /// [`Stop::Cancelled`], [`Stop::Time`].
    pub fn optimize_within(&self, limits: &Limits<'_>) -> Result<Self, Stop> {
        let tables = |g: &Self| g.luts.iter().map(|l| l.tables.len()).sum::<usize>();
        let size = |g: &Self| (g.luts.len(), tables(g));
        let mut best: Option<Self> = None;
        loop {
            let now = best.as_ref().unwrap_or(self);
            let Some(next) = now.rebuild(limits)?.filter(|next| size(next) <= size(now)) else { break };
            let smaller = next.luts.len() < now.luts.len();
            best = Some(next);
            if !smaller {
                break;
            }
        }
        // The ranges of a rebuilt graph are bounds. They may exceed the ranges that a graph allows.
        Ok(best.filter(|graph| graph.validate().is_ok()).unwrap_or_else(|| self.clone()))
    }

    fn rebuild(&self, limits: &Limits<'_>) -> Result<Option<Self>, Stop> {
        let live = self.live();
        let mut kept = HashSet::new();
        for _ in 0..MAX_ATTEMPTS {
            match Rebuild::run(self, &live, &kept, limits)? {
                Ok(graph) => return Ok(Some(graph)),
                Err(users) if users.iter().all(|n| kept.contains(n)) => return Ok(None),
                Err(users) => kept.extend(users),
            }
        }
        Ok(None)
    }

    /// For each rotation, the tables on which an output depends.
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
    fills: Fills,
    /// The new form of each table of the old rotations, indexed from the number of the rotation's first table.
    now: Vec<Now>,
    first: Vec<usize>,
    /// Whether each old rotation reads the same values as before. If so, the known reach of its argument still holds.
    same: Vec<bool>,
    /// For each new rotation, the old rotation that first needed it.
    origin: Vec<usize>,
}

impl<'a> Rebuild<'a> {
    /// Rebuilds the graph without merging or folding the rotations in `kept`. If that breaks an invariant, returns the operands of the broken value.
    fn run(
        old: &'a LutGraph,
        live: &[Vec<bool>],
        kept: &HashSet<usize>,
        limits: &Limits<'_>,
    ) -> Result<Result<LutGraph, Vec<usize>>, Stop> {
        let LutGraph { inputs, budget, .. } = old;
        let new =
            LutGraph { inputs: inputs.clone(), luts: vec![], outputs: vec![], budget: *budget, arguments: vec![] };
        let (analysis, fills, now, first, same, origin) = Default::default();
        let mut this = Self { old, new, analysis, fills, now, first, same, origin };
        // New rotations by their arguments.
        let mut known: HashTable<u32> = HashTable::new();
        let hash = |terms: &[(ValueRef, i32)], constant: i32| FxBuildHasher.hash_one((terms, constant));
        let hash_of = |lut: &Lut| hash(&lut.terms, lut.constant);
        for (i, lut) in old.luts.iter().enumerate() {
            limits.check_at(i)?;
            let same = this.reads_the_same(&lut.terms);
            let first = this.now.len();
            this.first.push(first);
            this.now.resize(first + lut.tables.len(), Now::default());
            this.same.push(same);
            if !live[i].contains(&true) {
                continue;
            }
            let argument = this.substitute(&lut.terms, lut.constant);
            let set = if same {
                old.arguments[i]
            } else {
                let reach = this.analysis.reach(&this.new.inputs, &this.new.luts, &argument.terms);
                let set = reach.map(|s| s.shift(argument.constant)).filter(|s| s.within(-16, 15));
                match set {
                    Some(set) => set,
                    None => return Ok(Err(operands(&lut.terms))),
                }
            };
            let argument_hash = hash(&argument.terms, argument.constant);
            let is_it = |luts: &[Lut], node: u32| {
                let lut = &luts[node as usize];
                lut.constant == argument.constant && lut.terms == argument.terms
            };
            let found = known.find(argument_hash, |&node| is_it(&this.new.luts, node)).copied();
            let mut node = found.filter(|_| !kept.contains(&i));
            for (t, table) in lut.tables.iter().enumerate().filter(|(t, _)| live[i][*t]) {
                let f = |v: i32| read(table, v);
                let folded = match set.map(f).and_then(super::Set::single) {
                    Some(c) => Some(Linear::constant(c)),
                    None if kept.contains(&i) => None,
                    None => affine(&argument, set, &f),
                };
                this.now[first + t] = match folded {
                    Some(linear) => Now::Sum(linear),
                    None => {
                        let table = this.fills.fill(set, &f).unwrap_or(*table);
                        let node = *node.get_or_insert_with(|| this.emit(i, &argument, set));
                        Now::Value(ValueRef::Lut { node, table: this.table(node, table) })
                    }
                };
            }
            if let Some(node) = node.filter(|_| found.is_none() && !kept.contains(&i)) {
                known.insert_unique(argument_hash, node, |&node| hash_of(&this.new.luts[node as usize]));
            }
        }
        this.new.outputs = old.outputs.iter().map(|out| this.substitute(&out.terms, out.constant)).collect();
        if let Err(users) = this.check() {
            return Ok(Err(users));
        }
        this.new.arguments = this.analysis.arguments;
        Ok(Ok(this.new))
    }

    /// Whether every term is still a separate value, so that a sum of them has the same reach.
    fn reads_the_same(&self, terms: &[(ValueRef, i32)]) -> bool {
        terms.iter().all(|&(value, _)| match value {
            ValueRef::Input(_) => true,
            ValueRef::Lut { node, table } => self.same[node as usize] && matches!(self.now(node, table), Now::Value(_)),
        })
    }

    fn now(&self, node: u32, table: u32) -> &Now {
        &self.now[self.first[node as usize] + table as usize]
    }

    fn substitute(&self, terms: &[(ValueRef, i32)], constant: i32) -> Linear {
        let (mut all, mut total) = (Vec::with_capacity(terms.len()), constant);
        for &(value, c) in terms {
            let now = match value {
                ValueRef::Input(_) => &Now::Value(value),
                ValueRef::Lut { node, table } => self.now(node, table),
            };
            match now {
                Now::Value(value) => all.push((*value, c)),
                Now::Sum(sum) => {
                    all.extend(sum.terms.iter().map(|&(value, d)| (value, c * d)));
                    total += c * sum.constant;
                }
            }
        }
        Linear::new(all, total)
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

    /// Checks the weights after all merges. For a user that breaks the budget, or an output that leaves its range, returns the operands.
    fn check(&mut self) -> Result<(), Vec<usize>> {
        let max = self.new.budget.max_weight;
        let mut broken = Vec::new();
        for (lut, &origin) in self.new.luts.iter().zip(&self.origin) {
            if weight(&self.new.luts, self.new.budget.input_weight, &lut.terms) > max {
                broken.extend(operands(&self.old.luts[origin].terms));
            }
        }
        for (new, old) in self.new.outputs.iter().zip(&self.old.outputs) {
            let inside = self.reads_the_same(&old.terms) || {
                let reach = self.analysis.reach(&self.new.inputs, &self.new.luts, &new.terms);
                reach.is_some_and(|s| s.shift(new.constant).within(0, 15))
            };
            if !inside || weight(&self.new.luts, self.new.budget.input_weight, &new.terms) > max {
                broken.extend(operands(&old.terms));
            }
        }
        if broken.is_empty() { Ok(()) } else { Err(broken) }
    }
}

/// The new form of a table.
#[derive(Debug, Clone)]
enum Now {
    Value(ValueRef),
    Sum(Linear),
}

impl Default for Now {
    fn default() -> Self {
        Self::Sum(Linear::default())
    }
}

fn operands(terms: &[(ValueRef, i32)]) -> Vec<usize> {
    terms.iter().filter_map(|t| owner(t.0)).collect()
}
