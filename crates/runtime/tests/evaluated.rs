//! Plain evaluation, with which results of encrypted programs are compared.

use solinas_runtime::program::Shape;
use solinas_runtime::{Plain, Program};

/// What plain evaluation gives.
pub(crate) fn evaluated(program: &Program, inputs: &[Plain]) -> Vec<Plain> {
    let of = |plain: &Plain| solinas_circuits::Plain {
        ty: plain.ty,
        shape: Shape::new(plain.shape.iter().flatten().copied()).unwrap(),
        values: plain.values.clone(),
    };
    let outputs = program.evaluate_arrays(&inputs.iter().map(of).collect::<Vec<_>>()).unwrap();
    outputs.into_iter().map(Plain::from).collect()
}
