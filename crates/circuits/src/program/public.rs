//! Programs with public inputs.

use super::{Op, Plain, Program};
use crate::Error;
use std::collections::HashMap;

impl Program {
    /// Puts public values in place of some inputs, given by index: a scalar becomes a constant, and an array a public array. The other inputs keep their order.
    ///
    /// # Errors
    /// An error of [`Program::validate`], such as a constant that its type does not hold.
    pub fn with_public(&self, public: &HashMap<u32, Plain>) -> Result<Self, Error> {
        let mut program = self.clone();
        let mut places = Vec::with_capacity(self.inputs.len());
        program.inputs.clear();
        for (index, input) in (0u32..).zip(&self.inputs) {
            places.push(program.inputs.len() as u32);
            if !public.contains_key(&index) {
                program.inputs.push(input.clone());
            }
        }
        for node in &mut program.nodes {
            let Op::Input(index) = node.op else { continue };
            node.op = match public.get(&index) {
                None => Op::Input(places[index as usize]),
                Some(Plain { shape, values, .. }) => match &values[..] {
                    [value] if shape.is_empty() => Op::Const(value.clone()),
                    values => Op::Array { shape: shape.clone(), values: values.to_vec() },
                },
            };
        }
        program.validate()?;
        Ok(program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Shape, Type};

    #[test]
    fn public_values_take_the_place_of_inputs() {
        let u8 = Type::Uint(8);
        let program = Program::from_op("sub", &[u8, u8]).unwrap();
        let with = |index, plain| program.with_public(&HashMap::from([(index, plain)]));
        assert_eq!(with(0, Plain::scalar(u8, 5u128).unwrap()).unwrap().evaluate(&[3]).unwrap(), [2]);
        let array = Plain::new(u8, Shape::new([2]).unwrap(), [9u128, 5]).unwrap();
        let difference =
            with(1, array.clone()).unwrap().evaluate_arrays(&[Plain::scalar(u8, 10u128).unwrap()]).unwrap();
        assert_eq!(difference[0].values, [1u128, 5]);
        assert!(with(1, Plain { values: vec![256u128.into()], ..Plain::scalar(u8, 0u128).unwrap() }).is_err());
        assert!(with(1, Plain { values: vec![256u128.into(), 0u128.into()], ..array }).is_err());
    }
}
