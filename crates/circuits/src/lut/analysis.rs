//! Reachable values of a graph, and their noise.
//!
//! A sum of sets bounds the values of a linear combination, with one set for each rotation that it reads. If two rotations depend on the same block, this
//! sum is too pessimistic. Examples are a difference that a table corrects, and a multiplexer whose branches share their selector. The analysis then fixes
//! the shared blocks, and takes the union over their values. It treats all other values as independent. This can only add values, so the result always
//! contains every reachable value.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::{Error, Linear, Lut, LutGraph, Set, Table, ValueRef};

type Terms = [(ValueRef, i32)];
/// Sums have few terms. Their analysis would otherwise spend its time in the allocator.
type Few<T> = SmallVec<[T; 8]>;

/// Largest number of assignments of shared blocks to try.
const MAX_CASES: usize = 4096;
/// Depth to which shared blocks are followed.
const MAX_DEPTH: usize = 48;
/// Largest accepted coefficient and constant.
const MAX_COEFFICIENT: i32 = 64;
const MAX_CONSTANT: i32 = 4096;

/// Eight times the weight of a table of a rotation that several tables share. This is four times the squared norm of the table's steps, plus the squared norm
/// of its entries. The steps include the negacyclic step from the last entry to the first.
///
/// The output sums coefficients of the rotation (eprint 2018/622, section 4). Their errors depend on each other, because they come through a binary key with a
/// mean other than 0. Half of the variance is that of independent errors, and half grows with the entries themselves.
pub(super) fn norm(table: impl Fn(usize) -> i64) -> u64 {
    let steps: i64 = (0..15).map(|j| (table(j + 1) - table(j)).pow(2)).sum();
    let entries: i64 = (0..16).map(|j| table(j).pow(2)).sum();
    (4 * (steps + (table(0) + table(15)).pow(2)) + entries) as u64
}

/// Noise weight of a sum, in variances of a freshly bootstrapped block. `input_weight` is the weight of an input. Terms of one rotation share its noise, and
/// add up as one table.
pub(super) fn weight(luts: &[Lut], input_weight: u64, terms: &Terms) -> u64 {
    let mut total = 0u64;
    for group in terms.chunk_by(|a, b| owner(a.0).is_some() && owner(a.0) == owner(b.0)) {
        let lut = owner(group[0].0).map(|node| &luts[node]);
        // Untrusted graphs have any weight.
        let weight = match lut {
            Some(lut) if lut.tables.len() > 1 => {
                norm(|j| group.iter().map(|&(v, c)| i64::from(c) * i64::from(table_of(lut, v)[j])).sum()).div_ceil(8)
            }
            Some(_) => group.iter().map(|&(_, c)| i64::from(c).pow(2) as u64).sum(),
            None => {
                let squares = group.iter().map(|&(_, c)| i64::from(c).pow(2) as u64);
                squares.fold(0, |sum: u64, square| sum.saturating_add(input_weight.saturating_mul(square)))
            }
        };
        total = total.saturating_add(weight);
    }
    total
}

/// The value that a rotation reads at `v` in `-16..=15`.
pub(super) fn read(table: &Table, v: i32) -> i32 {
    if v >= 0 { i32::from(table[v as usize & 15]) } else { -i32::from(table[(v + 16) as usize & 15]) }
}

/// The rotation of a table; `None` for an input.
pub(super) fn owner(value: ValueRef) -> Option<usize> {
    match value {
        ValueRef::Input(_) => None,
        ValueRef::Lut { node, .. } => Some(node as usize),
    }
}

fn table_of(lut: &Lut, value: ValueRef) -> &Table {
    match value {
        ValueRef::Lut { table, .. } => &lut.tables[table as usize],
        ValueRef::Input(_) => &lut.tables[0],
    }
}

/// Reachable arguments of a growing graph.
#[derive(Debug, Clone, Default)]
pub(super) struct Analysis {
    /// Reachable arguments of each lookup table.
    pub(super) arguments: Vec<Set>,
    memo: FxHashMap<Vec<(ValueRef, i32)>, Option<Set>>,
}

impl Analysis {
    /// Analyses and checks a graph.
    pub(super) fn new(graph: &LutGraph) -> Result<Self, Error> {
        for (input, &max) in graph.inputs.iter().enumerate() {
            if max > 15 {
                return Err(Error::InputMaximum { input, max });
            }
        }
        let mut analysis = Self::default();
        for (i, lut) in graph.luts.iter().enumerate() {
            let place = || format!("lookup table {i}");
            well_formed(graph, i, &lut.terms, lut.constant, place)?;
            if lut.tables.is_empty() {
                return Err(Error::NoTables { lut: i });
            }
            if let Some(table) = lut.tables.iter().position(|t| t.iter().any(|&e| e > 15)) {
                return Err(Error::TableEntry { lut: i, table });
            }
            let luts = &graph.luts[..i];
            check_weight(graph, &lut.terms, place)?;
            let set = analysis.reach(&graph.inputs, luts, &lut.terms).map(|s| s.shift(lut.constant));
            analysis.arguments.push(in_range(set, -16, 15, place, "-16..=15")?);
        }
        for (i, out) in graph.outputs.iter().enumerate() {
            let place = || format!("output {i}");
            well_formed(graph, graph.luts.len(), &out.terms, out.constant, place)?;
            check_weight(graph, &out.terms, place)?;
            let set = analysis.reach(&graph.inputs, &graph.luts, &out.terms).map(|s| s.shift(out.constant));
            in_range(set, 0, 15, place, "0..=15")?;
        }
        Ok(analysis)
    }

    /// Records the reach of a sum.
    pub(super) fn learn(&mut self, terms: &Terms, set: Option<Set>) {
        if terms.len() > 1 {
            self.memo.insert(terms.to_vec(), set);
        }
    }

    /// A set that contains all reachable values of the sum; `None` if it is too wide to be useful.
    pub(super) fn reach(&mut self, inputs: &[u8], luts: &[Lut], terms: &Terms) -> Option<Set> {
        self.reach_at(inputs, luts, terms, 0)
    }

    fn reach_at(&mut self, inputs: &[u8], luts: &[Lut], terms: &Terms, depth: usize) -> Option<Set> {
        match terms {
            [] => return Some(Set::one(0)),
            [(ValueRef::Input(i), c)] => return Set::up_to(inputs[*i as usize]).map(|v| c * v),
            _ => {}
        }
        if let Some(set) = self.memo.get(terms) {
            return *set;
        }
        let independent = self.independent(inputs, luts, terms);
        let conditional =
            if depth < MAX_DEPTH && terms.len() > 1 { self.conditional(inputs, luts, terms, depth) } else { None };
        // Both sets contain all reachable values.
        let set = match (conditional, independent) {
            (Some(a), Some(b)) => a.intersection(b).or(conditional),
            (a, b) => a.or(b),
        };
        if depth < MAX_DEPTH / 2 {
            self.memo.insert(terms.to_vec(), set);
        }
        set
    }

    /// Sum over the rotations, as if they were independent.
    fn independent(&self, inputs: &[u8], luts: &[Lut], terms: &Terms) -> Option<Set> {
        let mut total = Set::one(0);
        for group in terms.chunk_by(|a, b| owner(a.0).is_some() && owner(a.0) == owner(b.0)) {
            let set = match group[0] {
                (ValueRef::Input(i), c) => Set::up_to(inputs[i as usize]).map(|v| c * v)?,
                (ValueRef::Lut { node, .. }, _) => {
                    self.arguments[node as usize].map(|v| output(&luts[node as usize], group, v))?
                }
            };
            total = total.sum(set)?;
        }
        Some(total)
    }

    /// Union over the values of the blocks that several rotations share; `None` if there are no shared blocks, or too many cases.
    fn conditional(&mut self, inputs: &[u8], luts: &[Lut], terms: &Terms, depth: usize) -> Option<Set> {
        // Rotations that are not operands of another rotation of the sum.
        let operands = |node: usize| luts[node].terms.iter();
        let mut nodes: Few<usize> = terms.iter().filter_map(|t| owner(t.0)).collect();
        nodes.dedup();
        let below = |value: ValueRef| nodes.iter().any(|&n| operands(n).any(|t| t.0 == value));
        let (fixed, free): (Few<_>, Few<_>) = terms.iter().copied().partition(|t| below(t.0));
        let mut tops: Few<usize> = free.iter().filter_map(|t| owner(t.0)).collect();
        tops.dedup();
        // Coefficients of each block: in the sum itself (place 0), then in the argument of each rotation.
        let mut uses: SmallVec<[(ValueRef, usize, i32); 16]> = fixed.iter().map(|&(value, c)| (value, 0, c)).collect();
        for (k, &node) in tops.iter().enumerate() {
            uses.extend(operands(node).map(|&(value, c)| (value, k + 1, c)));
        }
        uses.sort_unstable_by_key(|&(value, place, _)| (value, place));
        // Blocks that always occur in the same proportion count as one block.
        let mut shared: SmallVec<[Cluster; 2]> = SmallVec::new();
        for uses in uses.chunk_by(|a, b| a.0 == b.0).filter(|uses| uses.len() > 1) {
            let factor = uses.iter().fold(0, |a, &(_, _, c)| gcd(a, c)) * uses[0].2.signum();
            let column = uses.iter().map(|&(_, place, c)| (place, c / factor));
            let part = (uses[0].0, factor);
            match shared.iter_mut().find(|cluster| cluster.column.iter().copied().eq(column.clone())) {
                Some(cluster) => cluster.parts.push(part),
                None => {
                    shared.push(Cluster { column: column.collect(), parts: smallvec![part], values: SmallVec::new() })
                }
            }
        }
        if shared.is_empty() {
            return None;
        }
        let mut cases = 1usize;
        for cluster in &mut shared {
            let set = self.reach_at(inputs, luts, &cluster.parts, depth + 1)?;
            cases = cases.saturating_mul(set.len());
            cluster.values = set.iter().collect();
        }
        if cases > MAX_CASES {
            return None;
        }
        let in_cluster =
            |value: &ValueRef| shared.iter().flat_map(|cluster| &cluster.parts).any(|part| part.0 == *value);
        let mut rests: SmallVec<[(Set, Image<'_>); 2]> = SmallVec::new();
        for &node in &tops {
            let rest: Few<_> = operands(node).copied().filter(|t| !in_cluster(&t.0)).collect();
            let rest = match operands(node).len() {
                // Only the reach of an opaque rotation is known.
                0 => self.arguments[node],
                _ => self.reach_at(inputs, luts, &rest, depth + 1)?.shift(luts[node].constant),
            };
            let group: Few<_> =
                terms.iter().copied().filter(|t| owner(t.0) == Some(node) && !in_cluster(&t.0)).collect();
            rests.push((rest, Image::new(&luts[node], group, self.arguments[node])));
        }
        let loose: Few<_> = terms
            .iter()
            .copied()
            .filter(|t| owner(t.0).is_none_or(|n| !tops.contains(&n)) && !in_cluster(&t.0))
            .collect();
        let loose = self.independent(inputs, luts, &loose)?;
        let mut result: Option<Set> = None;
        let mut offsets: Few<i32> = smallvec![0; tops.len() + 1];
        for case in 0..cases {
            offsets.fill(0);
            let mut index = case;
            for Cluster { column, values, .. } in &shared {
                let value = values[index % values.len()];
                index /= values.len();
                column.iter().for_each(|&(place, c)| offsets[place] += c * value);
            }
            let mut total = Some(loose.shift(offsets[0]));
            for (&offset, (rest, image)) in offsets[1..].iter().zip(&rests) {
                // Without possible arguments, this case cannot happen.
                let Some(arguments) = rest.shift(offset).intersection(image.arguments) else {
                    total = None;
                    break;
                };
                total = Some(total?.sum(image.of(arguments)?)?);
            }
            if let Some(set) = total {
                result = Some(match result {
                    Some(r) => r.union(set)?,
                    None => set,
                });
            }
        }
        result
    }
}

/// Blocks that several rotations share, always in the same proportion.
struct Cluster {
    /// Places of the sum of the parts, and its coefficients there.
    column: Few<(usize, i32)>,
    parts: Few<(ValueRef, i32)>,
    /// Reachable values of the sum of the parts.
    values: SmallVec<[i32; 16]>,
}

/// The values of terms of one rotation, for each argument.
struct Image<'a> {
    lut: &'a Lut,
    group: Few<(ValueRef, i32)>,
    arguments: Set,
    /// The values as bits above the smallest one, at index `v - arguments.min()`; `None` if they spread too wide.
    bits: Option<(i32, SmallVec<[u128; 16]>)>,
}

impl<'a> Image<'a> {
    fn new(lut: &'a Lut, group: Few<(ValueRef, i32)>, arguments: Set) -> Self {
        let values = (arguments.min()..=arguments.max()).map(|v| output(lut, &group, v));
        let values: SmallVec<[i32; 32]> = values.collect();
        let low = values.iter().copied().min().unwrap_or(0);
        let bits: Option<_> = values.iter().map(|v| 1u128.checked_shl((v - low) as u32)).collect();
        Self { lut, group, arguments, bits: bits.map(|bits| (low, bits)) }
    }

    /// The values at some of the arguments; `None` if they spread too wide.
    fn of(&self, some: Set) -> Option<Set> {
        let at = |v: i32| (v - self.arguments.min()) as usize;
        match &self.bits {
            Some((low, bits)) => Some(Set::from_bits(*low, some.iter().fold(0, |all, v| all | bits[at(v)]))),
            None => some.map(|v| output(self.lut, &self.group, v)),
        }
    }
}

fn output(lut: &Lut, group: &Terms, v: i32) -> i32 {
    group.iter().map(|&(value, c)| c * read(table_of(lut, value), v)).sum()
}

fn gcd(a: i32, b: i32) -> i32 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

pub(super) fn well_formed(
    graph: &LutGraph,
    before: usize,
    terms: &Terms,
    constant: i32,
    place: impl Fn() -> String,
) -> Result<(), Error> {
    let sorted = terms.windows(2).all(|w| w[0].0 < w[1].0);
    let bounded = terms.iter().all(|&(_, c)| c != 0 && (-MAX_COEFFICIENT..=MAX_COEFFICIENT).contains(&c));
    if !sorted || !bounded || !(-MAX_CONSTANT..=MAX_CONSTANT).contains(&constant) {
        return Err(Error::Terms { place: place() });
    }
    let known = |value: ValueRef| match value {
        ValueRef::Input(i) => (i as usize) < graph.inputs.len(),
        ValueRef::Lut { node, table } => {
            (node as usize) < before && (table as usize) < graph.luts[node as usize].tables.len()
        }
    };
    match terms.iter().find(|t| !known(t.0)) {
        Some(&(value, _)) => Err(Error::UnknownValue { place: place(), value }),
        None => Ok(()),
    }
}

fn check_weight(graph: &LutGraph, terms: &Terms, place: impl Fn() -> String) -> Result<(), Error> {
    let (weight, max) = (weight(&graph.luts, graph.budget.input_weight, terms), graph.budget.max_weight);
    if weight > max { Err(Error::Weight { place: place(), weight, max }) } else { Ok(()) }
}

pub(super) fn in_range(
    set: Option<Set>,
    low: i32,
    high: i32,
    place: impl Fn() -> String,
    allowed: &'static str,
) -> Result<Set, Error> {
    match set {
        Some(set) if set.within(low, high) => Ok(set),
        other => Err(Error::Range {
            place: place(),
            low: other.map_or(i64::MIN, |s| s.min().into()),
            high: other.map_or(i64::MAX, |s| s.max().into()),
            allowed,
        }),
    }
}

impl Linear {
    /// The lookup table with these terms and this constant as argument, and the given tables.
    pub(super) fn into_lut(self, tables: Vec<Table>) -> Lut {
        Lut { terms: self.terms, constant: self.constant, tables }
    }
}
