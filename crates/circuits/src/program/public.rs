//! Programs with public inputs. A public scalar becomes a constant. A public array makes each element a separate operation.

use super::{Input, Node, Op, Output, Program, ValueId};
use crate::{Error, MAX_NODES, Natural};
use std::collections::HashMap;

/// Kind of an input of [`Program::unroll`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unrolled<'a> {
    /// One value that combines with every element.
    Scalar,
    /// A value for each element.
    Array,
    /// A public value for each element, as its bits.
    Public(&'a [Natural]),
}

impl Program {
    /// Replaces some inputs, given by index, by constants. The other inputs keep their order.
    ///
    /// # Errors
    /// An error of [`Program::validate`], such as a constant that its type does not hold.
    pub fn with_constants(&self, fixed: &HashMap<u32, Natural>) -> Result<Self, Error> {
        let mut program = self.clone();
        let mut places = Vec::with_capacity(self.inputs.len());
        program.inputs.clear();
        for (index, input) in (0u32..).zip(&self.inputs) {
            places.push(program.inputs.len() as u32);
            if !fixed.contains_key(&index) {
                program.inputs.push(input.clone());
            }
        }
        for node in &mut program.nodes {
            if let Op::Input(index) = node.op {
                node.op =
                    fixed.get(&index).map_or_else(|| Op::Input(places[index as usize]), |bits| Op::Const(bits.clone()));
            }
        }
        program.validate()?;
        Ok(program)
    }

    /// Unrolls the program on `count` elements to a program of single values. For each input in order, the new inputs are its single value, or its value for
    /// each element, or nothing if it is public. For each output in order, the new outputs are its value for each element.
    ///
    /// # Errors
    /// [`Error::WrongCount`] for a wrong number of inputs, or a public input of another length; [`Error::TooLarge`]; an error of [`Program::validate`].
    pub fn unroll(&self, count: usize, inputs: &[Unrolled<'_>]) -> Result<Self, Error> {
        self.validate()?;
        if inputs.len() != self.inputs.len() {
            return Err(Error::WrongCount { what: "inputs", expected: self.inputs.len(), got: inputs.len() });
        }
        let size = self.nodes.len().saturating_mul(count);
        if size > MAX_NODES {
            return Err(Error::TooLarge { what: "operations", got: size as u64, limit: MAX_NODES as u64 });
        }
        let mut program = Self::default();
        // The index of the first new input of each input.
        let mut first = Vec::with_capacity(inputs.len());
        for (input, form) in self.inputs.iter().zip(inputs) {
            first.push(program.inputs.len() as u32);
            let names = match form {
                Unrolled::Scalar => vec![input.name.clone()],
                Unrolled::Array => (0..count).map(|element| format!("{}@{element}", input.name)).collect(),
                Unrolled::Public(values) if values.len() == count => Vec::new(),
                Unrolled::Public(values) => {
                    return Err(Error::WrongCount { what: "elements of an array", expected: count, got: values.len() });
                }
            };
            program.inputs.extend(names.into_iter().map(|name| Input { name, ty: input.ty, shape: None }));
        }
        let nodes = self.nodes.len();
        for element in 0..count {
            for node in &self.nodes {
                let op = match node.op {
                    Op::Input(index) => match inputs[index as usize] {
                        Unrolled::Scalar => Op::Input(first[index as usize]),
                        Unrolled::Array => Op::Input(first[index as usize] + element as u32),
                        Unrolled::Public(values) => Op::Const(values[element].clone()),
                    },
                    ref op => op.clone(),
                };
                let args = node.args.iter().map(|arg| ValueId(arg.0 + (element * nodes) as u32)).collect();
                program.nodes.push(Node { op, args, ty: node.ty });
            }
        }
        for output in &self.outputs {
            program.outputs.extend((0..count).map(|element| Output {
                name: format!("{}@{element}", output.name),
                value: ValueId(output.value.0 + (element * nodes) as u32),
            }));
        }
        program.validate()?;
        Ok(program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Type;

    #[test]
    fn unrolled_programs_give_what_the_program_gives_of_each_element() {
        let u8 = Type::Uint(8);
        let program = Program::from_op("mul", &[u8, u8]).unwrap();
        let weights = [3, 0, 200].map(Natural::from);
        for (form, values) in [(Unrolled::Array, vec![5u128, 6, 7]), (Unrolled::Scalar, vec![9])] {
            let unrolled = program.unroll(3, &[form, Unrolled::Public(&weights)]).unwrap();
            assert_eq!(unrolled.inputs.len(), values.len());
            let want: Vec<u128> = (0..3).map(|i| values[i % values.len()] * [3, 0, 200][i] % 256).collect();
            assert_eq!(unrolled.evaluate(&values).unwrap(), want);
        }
        let short = program.unroll(2, &[Unrolled::Array, Unrolled::Public(&weights)]);
        assert!(matches!(short, Err(Error::WrongCount { expected: 2, got: 3, .. })));
        assert!(matches!(program.unroll(3, &[Unrolled::Array]), Err(Error::WrongCount { .. })));
        let large = program.unroll(usize::MAX, &[Unrolled::Array, Unrolled::Scalar]);
        assert!(matches!(large, Err(Error::TooLarge { .. })));
    }

    #[test]
    fn constants_take_the_place_of_inputs() {
        let u8 = Type::Uint(8);
        let program = Program::from_op("sub", &[u8, u8]).unwrap();
        let fixed = program.with_constants(&HashMap::from([(0, 5.into())])).unwrap();
        assert_eq!(fixed.evaluate(&[3]).unwrap(), [2]);
        assert!(program.with_constants(&HashMap::from([(1, 256.into())])).is_err());
    }
}
