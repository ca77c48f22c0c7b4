//! Plain evaluation, with which results of encrypted programs are compared.

use solinas_engine::{Plain, Program};

/// What plain evaluation gives.
pub(crate) fn evaluated(program: &Program, inputs: &[Plain]) -> Vec<Plain> {
    let inputs: Vec<_> = inputs.iter().map(|input| input.clone().try_into().unwrap()).collect();
    let outputs = program.evaluate_arrays(&inputs).unwrap();
    outputs.into_iter().map(Plain::from).collect()
}
