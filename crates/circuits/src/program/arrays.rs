//! Programs on arrays: the values that are arrays, and their evaluation in the clear.

use super::{Op, Program};
use crate::{Error, Natural};

/// Values of an input or output of a program that runs on arrays. Each value is given by its bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elements {
    /// A scalar, which combines with every element.
    Scalar(Natural),
    /// One value for each element.
    Array(Vec<Natural>),
}

impl Elements {
    /// All values.
    #[must_use]
    pub fn values(&self) -> &[Natural] {
        match self {
            Self::Scalar(value) => std::slice::from_ref(value),
            Self::Array(values) => values,
        }
    }

    /// The value of an existing element.
    fn element(&self, element: usize) -> &Natural {
        match self {
            Self::Scalar(value) => value,
            Self::Array(values) => &values[element],
        }
    }
}

impl Op {
    /// Whether the operation combines elements of an array.
    #[must_use]
    pub const fn crosses(&self) -> bool {
        matches!(self, Self::RotateElements(_) | Self::SumElements)
    }
}

impl Program {
    /// Whether any operation combines elements of an array.
    #[must_use]
    pub fn crosses(&self) -> bool {
        self.nodes.iter().any(|node| node.op.crosses())
    }

    /// For each node, whether it is an array. `inputs` states this for the inputs; an input without an entry is an array. A value that depends only on
    /// constants, scalars and sums is a scalar. The program must be valid.
    #[must_use]
    pub fn arrays(&self, inputs: &[bool]) -> Vec<bool> {
        let mut arrays: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            arrays.push(match &node.op {
                Op::Input(index) => inputs.get(*index as usize).copied().unwrap_or(true),
                Op::SumElements => false,
                _ => node.args.iter().any(|arg| arrays[arg.0 as usize]),
            });
        }
        arrays
    }

    /// Evaluates the program on public inputs: scalars, and arrays of the same length.
    ///
    /// # Errors
    /// As [`Program::evaluate`]; [`Error::WrongCount`] for arrays of different lengths.
    pub fn evaluate_arrays(&self, inputs: &[Elements]) -> Result<Vec<Elements>, Error> {
        self.validate()?;
        if inputs.len() != self.inputs.len() {
            return Err(Error::WrongCount { what: "inputs", expected: self.inputs.len(), got: inputs.len() });
        }
        for (input, elements) in self.inputs.iter().zip(inputs) {
            elements.values().iter().try_for_each(|value| input.check(value))?;
        }
        let arrays = self.arrays(&inputs.iter().map(|input| matches!(input, Elements::Array(_))).collect::<Vec<_>>());
        let mut lengths = inputs.iter().filter_map(|input| match input {
            Elements::Array(values) => Some(values.len()),
            Elements::Scalar(_) => None,
        });
        let count = lengths.next().unwrap_or(1);
        if let Some(got) = lengths.find(|&length| length != count) {
            return Err(Error::WrongCount { what: "elements of an array", expected: count, got });
        }
        // A value is dropped after its last use.
        let mut readers = vec![0usize; self.nodes.len()];
        let read = self.nodes.iter().flat_map(|node| &node.args).chain(self.outputs.iter().map(|output| &output.value));
        read.for_each(|value| readers[value.0 as usize] += 1);
        let mut values: Vec<Elements> = Vec::with_capacity(self.nodes.len());
        for (node, &array) in self.nodes.iter().zip(&arrays) {
            let args: Vec<_> =
                node.args.iter().map(|arg| (&values[arg.0 as usize], self.nodes[arg.0 as usize].ty)).collect();
            let of_element = |element: usize| {
                let args: Vec<_> = args.iter().map(|(values, ty)| (values.element(element), *ty)).collect();
                node.op.apply(&args, node.ty)
            };
            let value = match (&node.op, args.first().map(|(values, _)| *values)) {
                (Op::Input(index), _) => inputs[*index as usize].clone(),
                (Op::RotateElements(by), Some(Elements::Array(all))) => {
                    let mut all = all.clone();
                    all.rotate_left(places(*by, count));
                    Elements::Array(all)
                }
                (Op::SumElements, Some(Elements::Array(all))) => {
                    let elements: Vec<_> = all.iter().map(|value| (value, node.ty)).collect();
                    Elements::Scalar(Op::Sum.apply(&elements, node.ty))
                }
                _ if array => Elements::Array((0..count).map(of_element).collect()),
                _ => Elements::Scalar(of_element(0)),
            };
            values.push(value);
            for arg in &node.args {
                let readers = &mut readers[arg.0 as usize];
                *readers -= 1;
                if *readers == 0 {
                    values[arg.0 as usize] = Elements::Array(Vec::new());
                }
            }
        }
        Ok(self.outputs.iter().map(|output| values[output.value.0 as usize].clone()).collect())
    }
}

/// The rotation by `by` as a number of places to the left below `count`; 0 if `count` is 0.
#[must_use]
pub fn places(by: i64, count: usize) -> usize {
    match i64::try_from(count) {
        Ok(0) => 0,
        Ok(count) => by.rem_euclid(count) as usize,
        // No array is this long.
        Err(_) => 0,
    }
}
