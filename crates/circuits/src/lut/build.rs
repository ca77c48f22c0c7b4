use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::limits::{Limits, Meter};

use super::analysis::{Analysis, in_range, norm, read, weight, well_formed};
use super::{Budget, Error, Linear, Lut, LutGraph, Set, Table, ValueRef};

/// Builds a graph. The builder always knows the reachable values and the noise of its values.
///
/// A table that is constant, or equal to the argument, costs nothing. Equal rotations are shared.
#[derive(Debug, Clone, Default)]
pub struct Builder<'a> {
    graph: Parts,
    analysis: Analysis,
    /// Rotations by their contents.
    known: HashTable<u32>,
    fills: Fills,
    meter: Meter<'a>,
}

#[derive(Debug, Clone, Default)]
struct Parts {
    inputs: Vec<u8>,
    luts: Vec<Lut>,
    budget: Budget,
}

impl<'a> Builder<'a> {
    /// An empty graph.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self { graph: Parts { budget, ..Parts::default() }, ..Self::default() }
    }

    /// The same builder within limits, which [`Builder::argument`] and [`Builder::lut`] check from time to time.
    #[must_use]
    pub fn within(mut self, limits: Limits<'a>) -> Self {
        self.meter = Meter::new(limits);
        self
    }

    /// The limits.
    pub(crate) const fn limits(&self) -> Limits<'a> {
        self.meter.limits
    }

    /// Adds an input block with values in `0..=max`. Range: `max` is at most 15.
    pub fn input(&mut self, max: u8) -> Linear {
        self.graph.inputs.push(max.min(15));
        Linear::value(ValueRef::Input(self.graph.inputs.len() as u32 - 1))
    }

    /// Number of rotations so far.
    #[must_use]
    pub fn rotations(&self) -> usize {
        self.graph.luts.len()
    }

    /// The noise budget.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.graph.budget
    }

    /// Noise weight of a combination.
    #[must_use]
    pub fn weight(&self, of: &Linear) -> u64 {
        weight(&self.graph.luts, self.graph.budget.input_weight, &of.terms)
    }

    /// Reachable values of the combination; `None` if they spread too wide to be useful.
    pub fn reach(&mut self, of: &Linear) -> Option<Set> {
        self.analysis.reach(&self.graph.inputs, &self.graph.luts, &of.terms).map(|s| s.shift(of.constant))
    }

    /// Largest reachable value of the combination; 127 if it is unknown.
    pub fn max(&mut self, of: &Linear) -> i32 {
        self.reach(of).map_or(127, Set::max)
    }

    /// Whether the combination can be the argument of a rotation.
    pub fn is_argument(&mut self, of: &Linear) -> bool {
        self.weight(of) <= self.graph.budget.max_weight && self.reach(of).is_some_and(|s| s.within(-16, 15))
    }

    /// Whether the sum of the parts can be an argument, and each part keeps its own range in the sum.
    ///
    /// The analysis of a sum of many terms may lose its knowledge of a part. A refresh makes the part one term, which helps.
    pub fn is_sum(&mut self, parts: &[(&Linear, i32)], constant: i32) -> bool {
        let sum = Linear::sum(parts.iter().copied(), constant);
        if !self.is_argument(&sum) {
            return false;
        }
        let apart =
            parts.iter().try_fold(Set::one(constant), |total, &(part, c)| total.sum(self.reach(part)?.map(|v| c * v)?));
        match (self.reach(&sum), apart) {
            (Some(sum), Some(apart)) => sum.within(apart.min(), apart.max()),
            (sum, _) => sum.is_some(),
        }
    }

    /// The same value with the noise of a fresh block. This costs one rotation, and more only if the value is too noisy to be an argument.
    ///
    /// # Errors
    /// [`Error::Range`] if the value cannot be an argument; [`Error::Stopped`].
    pub fn refresh(&mut self, of: &Linear) -> Result<Linear, Error> {
        self.meter.step(self.graph.luts.len())?;
        if self.weight(of) <= 1 && of.terms.len() <= 1 {
            return Ok(of.clone());
        }
        let quiet = self.quiet(of)?;
        self.fresh_copy(&quiet)
    }

    /// The same value from an identity table, with independent noise.
    fn fresh_copy(&mut self, of: &Linear) -> Result<Linear, Error> {
        let set = in_range(self.reach(of), -15, 15, || "refreshed block".into(), "-15..=15")?;
        // The rotation would negate a negative value, so the value is shifted up.
        let low = set.min().min(0);
        let table = self.fills.fill(set.shift(-low), &|v| v)?;
        let out = self.emit(&of.offset(-low), set.shift(-low), &[table])?;
        Ok(out[0].offset(low))
    }

    /// The same sum within the budget.
    ///
    /// Equal parts of a sum form one term, whose coefficient `c` has weight `c^2`. A copy of the block has independent noise. With half of the coefficient on
    /// each, the block and its copy have half the weight. If a block itself is noisy, its copy replaces it.
    ///
    /// This ends within any budget of 31 or more, if no single block exceeds the budget. At the latest, every coefficient is 1 or -1 and every block is fresh.
    /// The weight is then at most the sum of the magnitudes of the parts' coefficients. The ranges of the parts add up to the 32 values of an argument, and
    /// each block has at least two values. This sum is therefore at most 31.
    fn quiet(&mut self, of: &Linear) -> Result<Linear, Error> {
        let mut sum = of.clone();
        let max = self.graph.budget.max_weight;
        while self.weight(&sum) > max {
            let term = |&(value, c): &(ValueRef, i32)| Linear { terms: vec![(value, c)], constant: 0 };
            let loudest = sum.terms.iter().max_by_key(|t| self.weight(&term(t))).copied();
            let Some((value, c)) = loudest else { break };
            let block = Linear::value(value);
            let share = if self.weight(&block) > 1 { c } else { c / 2 };
            if share == 0 {
                return Err(Error::Weight { place: "argument".into(), weight: self.weight(&sum), max });
            }
            let mut copy = self.fresh_copy(&block)?;
            while copy.terms.iter().any(|t| sum.terms.iter().any(|other| other.0 == t.0)) {
                copy = self.fresh_copy(&copy)?;
            }
            sum = Linear::sum([(&sum, 1), (&copy, share), (&block, -share)], 0);
        }
        Ok(sum)
    }

    /// `constant + sum of factor * part` as an argument. Parts are refreshed, the noisiest first, until the sum is within the budget. If fresh parts exceed the
    /// budget because some are equal, these are copied.
    ///
    /// # Errors
    /// [`Error::Range`] if the sum leaves `-16..=15`; [`Error::Stopped`].
    pub fn argument(&mut self, parts: &[(&Linear, i32)], constant: i32) -> Result<Linear, Error> {
        self.meter.step(self.graph.luts.len())?;
        let mut parts: Vec<(Linear, i32)> = parts.iter().map(|&(p, c)| (p.clone(), c)).collect();
        let mut fresh = vec![false; parts.len()];
        loop {
            let refs: Vec<(&Linear, i32)> = parts.iter().map(|(p, c)| (p, *c)).collect();
            let sum = Linear::sum(refs.iter().copied(), constant);
            if self.is_sum(&refs, constant) {
                return Ok(sum);
            }
            let noise = |i: usize| self.weight(&parts[i].0) * i64::from(parts[i].1).pow(2) as u64;
            let loud = self.weight(&sum) > self.graph.budget.max_weight;
            // If the noise is within the budget, the number of terms is the problem.
            let noisiest = (0..parts.len())
                .filter(|&i| !fresh[i] && parts[i].0.as_constant().is_none())
                .filter(|&i| loud || parts[i].0.terms.len() > 1)
                .max_by_key(|&i| if loud { noise(i) } else { parts[i].0.terms.len() as u64 });
            let Some(i) = noisiest else {
                if self.is_argument(&sum) {
                    return Ok(sum);
                }
                let sum = self.quiet(&sum)?;
                in_range(self.reach(&sum), -16, 15, || "argument".into(), "-16..=15")?;
                return Ok(sum);
            };
            parts[i].0 = self.refresh(&parts[i].0)?;
            fresh[i] = true;
        }
    }

    /// Evaluates functions of one argument by one rotation. Each function maps arguments of 0 and above to `0..=15`, and negative arguments to `-15..=0`.
    ///
    /// # Errors
    /// [`Error::Range`] for the argument; [`Error::Function`] for a function that no table can represent; [`Error::Stopped`].
    pub fn lut(&mut self, argument: &Linear, functions: &[&dyn Fn(i32) -> i32]) -> Result<Vec<Linear>, Error> {
        self.meter.step(self.graph.luts.len())?;
        let argument = &self.quiet(argument)?;
        let set = in_range(self.reach(argument), -16, 15, || "argument".into(), "-16..=15")?;
        let mut outputs = vec![Linear::default(); functions.len()];
        let mut tables: Vec<Table> = Vec::new();
        let mut wanted = Vec::new();
        for (i, f) in functions.iter().enumerate() {
            if let Some(c) = set.map(f).and_then(Set::single) {
                outputs[i] = Linear::constant(c);
            } else if let Some(linear) = affine(argument, set, f) {
                outputs[i] = linear;
            } else {
                let table = self.fills.fill(set, f)?;
                let at = tables.iter().position(|t| *t == table).unwrap_or_else(|| {
                    tables.push(table);
                    tables.len() - 1
                });
                wanted.push((i, at));
            }
        }
        if !tables.is_empty() {
            let emitted = self.emit(argument, set, &tables)?;
            for (i, at) in wanted {
                outputs[i] = emitted[at].clone();
            }
        }
        Ok(outputs)
    }

    /// Evaluates one function of one argument. The result has the noise of a fresh block, unless it costs no rotation.
    ///
    /// # Errors
    /// As [`Builder::lut`].
    pub fn lut1(&mut self, argument: &Linear, f: impl Fn(i32) -> i32) -> Result<Linear, Error> {
        Ok(self.lut(argument, &[&f])?.swap_remove(0))
    }

    /// Evaluates any boolean function of up to 4 bits by one rotation. The result is bit `b0 + 2 b1 + 4 b2 + 8 b3` of the truth table.
    ///
    /// # Errors
    /// [`Error::Range`] if there are more than 4 operands, or if an operand is not a bit.
    pub fn boolean(&mut self, bits: &[&Linear], truth: u16) -> Result<Linear, Error> {
        let parts: Vec<_> = bits.iter().enumerate().map(|(i, &b)| (b, 1 << i.min(16))).collect();
        let argument = self.argument(&parts, 0)?;
        in_range(self.reach(&argument), 0, 15, || "boolean argument".into(), "0..=15")?;
        self.lut1(&argument, |v| i32::from(truth >> v & 1))
    }

    fn emit(&mut self, argument: &Linear, set: Set, tables: &[Table]) -> Result<Vec<Linear>, Error> {
        let (weight, max) = (self.weight(argument), self.graph.budget.max_weight);
        if weight > max {
            return Err(Error::Weight { place: "argument".into(), weight, max });
        }
        let node = self.insert(argument.clone().into_lut(tables.to_vec()), set);
        Ok((0..tables.len() as u32).map(|table| Linear::value(ValueRef::Lut { node, table })).collect())
    }

    /// Inserts the rotation, or returns an equal one that exists.
    pub(super) fn insert(&mut self, lut: Lut, set: Set) -> u32 {
        let hash = |lut: &Lut| FxBuildHasher.hash_one(lut);
        let luts = &self.graph.luts;
        match self.known.find(hash(&lut), |&node| luts[node as usize] == lut) {
            Some(&node) => node,
            None => {
                self.known.insert_unique(hash(&lut), luts.len() as u32, |&node| hash(&luts[node as usize]));
                self.push(lut, set)
            }
        }
    }

    fn push(&mut self, lut: Lut, set: Set) -> u32 {
        self.graph.luts.push(lut);
        self.analysis.arguments.push(set);
        self.graph.luts.len() as u32 - 1
    }

    /// Inserts a rotation of an argument of which only the reach is known.
    pub(super) fn opaque(&mut self, tables: Vec<Table>, set: Set) -> u32 {
        self.push(Linear::default().into_lut(tables), set)
    }

    /// Records the reach of a combination.
    pub(super) fn learn(&mut self, of: &Linear, set: Option<Set>) {
        self.analysis.learn(&of.terms, set.map(|s| s.shift(-of.constant)));
    }

    /// A rotation, and the reach of its argument.
    pub(super) fn rotation(&self, node: u32) -> (&Lut, Set) {
        (&self.graph.luts[node as usize], self.analysis.arguments[node as usize])
    }

    /// All rotations from index `first` on, and the reach of their arguments.
    pub(super) fn rotations_from(self, first: usize) -> Vec<(Lut, Set)> {
        self.graph.luts.into_iter().zip(self.analysis.arguments).skip(first).collect()
    }

    /// Largest value of an input.
    pub(super) fn maximum(&self, input: u32) -> u8 {
        self.graph.inputs[input as usize]
    }

    /// Returns the graph with these outputs. Outputs that are too noisy or too wide are refreshed.
    ///
    /// # Errors
    /// [`Error::Range`] for an output outside `0..=15`.
    pub fn finish(mut self, outputs: &[Linear]) -> Result<LutGraph, Error> {
        let outputs = outputs.iter().map(|o| self.argument(&[(o, 1)], 0)).collect::<Result<Vec<_>, _>>()?;
        let place = |i: usize| move || format!("output {i}");
        for (i, output) in outputs.iter().enumerate() {
            in_range(self.reach(output), 0, 15, place(i), "0..=15")?;
        }
        let Parts { inputs, luts, budget } = self.graph;
        // The builder has kept every other invariant.
        let graph = LutGraph { inputs, luts, outputs, budget, arguments: self.analysis.arguments };
        for (i, output) in graph.outputs.iter().enumerate() {
            well_formed(&graph, graph.luts.len(), &output.terms, output.constant, place(i))?;
        }
        Ok(graph)
    }
}

/// The function as `argument + c` or `c - argument`; `None` if it is neither on the whole set.
pub(super) fn affine(argument: &Linear, set: Set, f: &dyn Fn(i32) -> i32) -> Option<Linear> {
    let (low, high) = (set.min(), set.max());
    [1, -1].into_iter().find_map(|sign| {
        let c = f(low) - sign * low;
        (f(high) == sign * high + c && set.iter().all(|v| f(v) == sign * v + c)).then(|| argument.times(sign).offset(c))
    })
}

/// Cache of completed tables, by their given entries: a byte for each, which is 0 for a free entry and otherwise the entry plus 1.
#[derive(Debug, Clone, Default)]
pub(super) struct Fills(FxHashMap<u128, Table>);

impl Fills {
    /// The table of the function on the set. The other entries minimize its noise.
    pub(super) fn fill(&mut self, set: Set, f: &dyn Fn(i32) -> i32) -> Result<Table, Error> {
        let mut given = [0u8; 16];
        for v in set.iter() {
            let value = f(v);
            let (at, entry) = if v >= 0 { (v, value) } else { (v + 16, -value) };
            let known = &mut given[at as usize & 15];
            match u8::try_from(entry) {
                Ok(entry) if entry < 16 && (*known == 0 || *known == entry + 1) => *known = entry + 1,
                _ => return Err(Error::Function { argument: v, value }),
            }
        }
        let complete = || quietest(given.map(|entry| entry.checked_sub(1)));
        let table = *self.0.entry(u128::from_le_bytes(given)).or_insert_with(complete);
        debug_assert!(set.iter().all(|v| read(&table, v) == f(v)));
        Ok(table)
    }
}

/// Completes a table with minimum weight: a shortest path over the entries, closed by the negacyclic wrap.
pub(super) fn quietest(entries: [Option<u8>; 16]) -> Table {
    let mut best: Option<(u64, Table)> = None;
    for start in 0..16u8 {
        if entries[0].is_some_and(|e| e != start) {
            continue;
        }
        let mut cost = [u64::MAX; 16];
        cost[start as usize] = u64::from(start).pow(2);
        let mut from = [[0u8; 16]; 16];
        for j in 1..16 {
            let mut next = [u64::MAX; 16];
            for to in 0..16u8 {
                if entries[j].is_some_and(|e| e != to) {
                    continue;
                }
                for (e, &c) in (0..16u8).zip(&cost).filter(|(_, c)| **c != u64::MAX) {
                    let total = c + 4 * u64::from(e.abs_diff(to)).pow(2) + u64::from(to).pow(2);
                    if total < next[to as usize] {
                        next[to as usize] = total;
                        from[j][to as usize] = e;
                    }
                }
            }
            cost = next;
        }
        let ends = (0..16u8).zip(&cost).filter(|(_, c)| **c != u64::MAX);
        if let Some((total, end)) = ends.map(|(e, &c)| (c + 4 * u64::from(e + start).pow(2), e)).min()
            && best.is_none_or(|(b, _)| total < b)
        {
            let mut table = [start; 16];
            table[15] = end;
            for j in (1..15).rev() {
                table[j] = from[j + 1][table[j + 1] as usize];
            }
            debug_assert_eq!(norm(|j| table[j].into()), total);
            best = Some((total, table));
        }
    }
    best.map_or([0; 16], |(_, table)| table)
}
