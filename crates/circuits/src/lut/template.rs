//! Parts of a graph that are built once and repeated.
//!
//! A construction sees only what the builder knows about its operands: the values they share, the reach of these values, and their noise. An [`Outline`] holds
//! this knowledge. A construction on an outline can be copied to all operands of that outline. Its arguments reach no more values there, since the outline
//! treats its values as independent, and they have the same weight.

use super::build::Builder;
use super::{Budget, Linear, Lut, Set, Table, ValueRef};
use crate::limits::Limits;
use rustc_hash::FxHashMap;

/// Operands without the graph behind them. The values in their terms are numbered in order of first use.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Outline {
    /// Maxima of the inputs that the operands read.
    inputs: Vec<u8>,
    /// Reachable arguments and tables of the rotations that the operands read.
    rotations: Vec<(Set, Vec<Table>)>,
    /// The operands.
    pub operands: Vec<Linear>,
}

/// Inputs and rotations of a graph that replace those of an outline.
#[derive(Debug, Clone, Default)]
pub struct Places {
    inputs: Vec<u32>,
    rotations: Vec<u32>,
}

/// A construction on an outline.
#[derive(Debug, Clone)]
pub struct Template {
    /// The rotations of the construction and their reachable arguments, after those of the outline.
    rotations: Vec<(Lut, Set)>,
    /// The results, and their reach.
    results: Vec<(Linear, Option<Set>)>,
}

impl Template {
    /// Makes a template from results that were built with [`Builder::from_outline`].
    #[must_use]
    pub fn new(outline: &Outline, mut builder: Builder<'_>, results: Vec<Linear>) -> Self {
        let results =
            results.into_iter().map(|result| (builder.reach(&result), result)).map(|(set, result)| (result, set));
        let results = results.collect();
        Self { rotations: builder.rotations_from(outline.rotations.len()), results }
    }
}

impl<'a> Builder<'a> {
    /// The outline of operands, and the values of this graph that it stands for.
    #[must_use]
    pub fn outline(&self, operands: &[Linear]) -> (Outline, Places) {
        let (mut inputs, mut rotations) = (FxHashMap::default(), FxHashMap::default());
        let mut places = Places::default();
        let mut outline = Outline { inputs: Vec::new(), rotations: Vec::new(), operands: Vec::new() };
        for operand in operands {
            outline.operands.push(operand.renamed(|value| match value {
                ValueRef::Input(i) => ValueRef::Input(*inputs.entry(i).or_insert_with(|| {
                    outline.inputs.push(self.maximum(i));
                    places.inputs.push(i);
                    places.inputs.len() as u32 - 1
                })),
                ValueRef::Lut { node, table } => {
                    let node = *rotations.entry(node).or_insert_with(|| {
                        let (lut, set) = self.rotation(node);
                        outline.rotations.push((set, lut.tables.clone()));
                        places.rotations.push(node);
                        places.rotations.len() as u32 - 1
                    });
                    ValueRef::Lut { node, table }
                }
            }));
        }
        (outline, places)
    }

    /// A builder on the operands of an outline, within limits.
    #[must_use]
    pub fn from_outline(outline: &Outline, budget: Budget, limits: Limits<'a>) -> Self {
        let mut builder = Self::new(budget).within(limits);
        for &max in &outline.inputs {
            builder.input(max);
        }
        for (set, tables) in &outline.rotations {
            builder.opaque(tables.clone(), *set);
        }
        builder
    }

    /// Copies a template to the operands at the given places. `None` if a rotation of the template is also behind an operand. The two would become one rotation,
    /// and their noise could exceed the budget.
    pub fn copy(&mut self, template: &Template, places: &Places) -> Option<Vec<Linear>> {
        let mut nodes = places.rotations.clone();
        let here = |nodes: &[u32], value| match value {
            ValueRef::Input(i) => ValueRef::Input(places.inputs[i as usize]),
            ValueRef::Lut { node, table } => ValueRef::Lut { node: nodes[node as usize], table },
        };
        for (lut, set) in &template.rotations {
            let argument =
                Linear { terms: lut.terms.clone(), constant: lut.constant }.renamed(|value| here(&nodes, value));
            if self.weight(&argument) > self.budget().max_weight {
                return None;
            }
            let node = self.insert(argument.into_lut(lut.tables.clone()), *set);
            nodes.push(node);
        }
        let results = template.results.iter().map(|(result, set)| {
            let result = result.renamed(|value| here(&nodes, value));
            self.learn(&result, *set);
            (self.weight(&result) <= self.budget().max_weight).then_some(result)
        });
        results.collect()
    }
}

impl Linear {
    /// The same sum over other values.
    fn renamed(&self, mut name: impl FnMut(ValueRef) -> ValueRef) -> Self {
        Self::new(self.terms.iter().map(|&(value, c)| (name(value), c)).collect(), self.constant)
    }
}
