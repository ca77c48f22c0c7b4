use serde::{Deserialize, Serialize};

use super::analysis::Analysis;
use super::{Error, Set};

/// Sixteen entries in `0..=15`, indexed by the argument.
pub type Table = [u8; 16];

/// A block that can be a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueRef {
    /// The input with this index.
    Input(u32),
    /// One output of a lookup table.
    Lut {
        /// Index in [`LutGraph::luts`].
        node: u32,
        /// Index in [`Lut::tables`].
        table: u32,
    },
}

/// The linear combination `constant + sum of c_i x_i`, which costs no rotation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Linear {
    /// Blocks and their coefficients; ascending, distinct, coefficients not 0.
    pub terms: Vec<(ValueRef, i32)>,
    /// Added to the sum.
    pub constant: i32,
}

impl Linear {
    /// A public constant.
    #[must_use]
    pub const fn constant(constant: i32) -> Self {
        Self { terms: Vec::new(), constant }
    }

    /// One block.
    #[must_use]
    pub fn value(value: ValueRef) -> Self {
        Self { terms: vec![(value, 1)], constant: 0 }
    }

    /// `constant + sum of factor * part`.
    pub fn sum<'a>(parts: impl IntoIterator<Item = (&'a Self, i32)>, constant: i32) -> Self {
        let mut terms = Vec::new();
        let mut total = constant;
        for (part, factor) in parts {
            total += factor * part.constant;
            terms.extend(part.terms.iter().map(|&(value, c)| (value, factor * c)));
        }
        Self::new(terms, total)
    }

    /// Builds a combination from terms in any order. Terms of the same value are added up.
    pub(super) fn new(mut terms: Vec<(ValueRef, i32)>, constant: i32) -> Self {
        terms.sort_unstable_by_key(|&(value, _)| value);
        terms.dedup_by(|next, sum| {
            let same = next.0 == sum.0;
            sum.1 += if same { next.1 } else { 0 };
            same
        });
        terms.retain(|&(_, c)| c != 0);
        Self { terms, constant }
    }

    /// `self + other`.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self::sum([(self, 1), (other, 1)], 0)
    }

    /// `self - other`.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        Self::sum([(self, 1), (other, -1)], 0)
    }

    /// `factor * self`.
    #[must_use]
    pub fn times(&self, factor: i32) -> Self {
        Self::sum([(self, factor)], 0)
    }

    /// `self + constant`.
    #[must_use]
    pub fn offset(&self, constant: i32) -> Self {
        Self { terms: self.terms.clone(), constant: self.constant + constant }
    }

    /// The value, if it is public.
    #[must_use]
    pub fn as_constant(&self) -> Option<i32> {
        self.terms.is_empty().then_some(self.constant)
    }
}

/// One blind rotation, which reads tables at one linear combination.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lut {
    /// Terms of the argument; ascending, distinct, coefficients not 0.
    pub terms: Vec<(ValueRef, i32)>,
    /// Added to the argument.
    pub constant: i32,
    /// The tables, at least one. At the argument `v`, a table `t` gives `t[v]` if `v >= 0`, and `-t[v + 16]` if `v < 0`.
    pub tables: Vec<Table>,
}

/// Largest noise of the argument of a rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Budget {
    /// Largest weight, in variances of a freshly bootstrapped block.
    pub max_weight: u64,
    /// Weight of the inputs: 1 for fresh inputs, more for outputs of another graph.
    pub input_weight: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { max_weight: 160, input_weight: 1 }
    }
}

/// Cost of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Number of blind rotations, which is the main cost.
    pub rotations: usize,
    /// Number of tables of all rotations.
    pub tables: usize,
    /// Number of rotations on the longest path.
    pub depth: usize,
    /// Number of rotations in each wavefront.
    pub rotations_per_level: Vec<usize>,
    /// Input blocks.
    pub inputs: usize,
    /// Output blocks.
    pub outputs: usize,
    /// Largest weight of an argument or output.
    pub max_weight: u64,
}

/// A checked, immutable graph of lookup tables.
///
/// Invariants: every term is an input or an earlier table. For all inputs, the argument of every lookup table stays in `-16..=15`, and every output in
/// `0..=15`. Every argument and output is within the noise budget. Deserialization checks the invariants.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Literal", into = "Literal")]
pub struct LutGraph {
    pub(super) inputs: Vec<u8>,
    pub(super) luts: Vec<Lut>,
    pub(super) outputs: Vec<Linear>,
    pub(super) budget: Budget,
    /// Reachable values of the argument of each rotation. They follow from the other fields.
    pub(super) arguments: Vec<Set>,
}

impl PartialEq for LutGraph {
    fn eq(&self, other: &Self) -> bool {
        (&self.inputs, &self.luts, &self.outputs, self.budget)
            == (&other.inputs, &other.luts, &other.outputs, other.budget)
    }
}

impl Eq for LutGraph {}

#[derive(Serialize, Deserialize)]
struct Literal {
    inputs: Vec<u8>,
    luts: Vec<Lut>,
    outputs: Vec<Linear>,
    budget: Budget,
}

impl TryFrom<Literal> for LutGraph {
    type Error = Error;

    fn try_from(g: Literal) -> Result<Self, Error> {
        Self::new(g.inputs, g.luts, g.outputs, g.budget)
    }
}

impl From<LutGraph> for Literal {
    fn from(g: LutGraph) -> Self {
        Self { inputs: g.inputs, luts: g.luts, outputs: g.outputs, budget: g.budget }
    }
}

impl LutGraph {
    /// Checks the parts and builds a graph. Input `i` has values in `0..=inputs[i]`.
    ///
    /// # Errors
    /// The invariant that does not hold, with its place.
    pub fn new(inputs: Vec<u8>, luts: Vec<Lut>, outputs: Vec<Linear>, budget: Budget) -> Result<Self, Error> {
        let mut graph = Self { inputs, luts, outputs, budget, arguments: Vec::new() };
        graph.arguments = Analysis::new(&graph)?.arguments;
        Ok(graph)
    }

    /// Checks the invariants again.
    ///
    /// # Errors
    /// As [`LutGraph::new`].
    pub fn validate(&self) -> Result<(), Error> {
        Analysis::new(self).map(drop)
    }

    /// Maximum of each input block.
    #[must_use]
    pub fn inputs(&self) -> &[u8] {
        &self.inputs
    }

    /// The rotations, in topological order.
    #[must_use]
    pub fn luts(&self) -> &[Lut] {
        &self.luts
    }

    /// The output blocks.
    #[must_use]
    pub fn outputs(&self) -> &[Linear] {
        &self.outputs
    }

    /// The noise budget.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Level of each rotation: 0 if it reads inputs only.
    fn levels(&self) -> Vec<usize> {
        let mut levels = vec![0; self.luts.len()];
        for (i, lut) in self.luts.iter().enumerate() {
            let above = lut.terms.iter().map(|&(v, _)| match v {
                ValueRef::Input(_) => 0,
                ValueRef::Lut { node, .. } => levels[node as usize] + 1,
            });
            levels[i] = above.max().unwrap_or(0);
        }
        levels
    }

    /// Indices of the rotations of each level. The rotations of a level depend on earlier levels only.
    #[must_use]
    pub fn wavefronts(&self) -> Vec<Vec<u32>> {
        let mut fronts: Vec<Vec<u32>> = Vec::new();
        for (i, level) in (0..).zip(self.levels()) {
            if fronts.len() <= level {
                fronts.resize(level + 1, Vec::new());
            }
            fronts[level].push(i);
        }
        fronts
    }

    /// Cost of the graph.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let rotations_per_level: Vec<_> = self.wavefronts().iter().map(Vec::len).collect();
        let arguments = self.luts.iter().map(|lut| &lut.terms).chain(self.outputs.iter().map(|o| &o.terms));
        Stats {
            rotations: self.luts.len(),
            tables: self.luts.iter().map(|lut| lut.tables.len()).sum(),
            depth: rotations_per_level.len(),
            rotations_per_level,
            inputs: self.inputs.len(),
            outputs: self.outputs.len(),
            max_weight: arguments
                .map(|terms| super::analysis::weight(&self.luts, self.budget.input_weight, terms))
                .max()
                .unwrap_or(0),
        }
    }
}
