//! The inputs of a run. Short ciphertexts are expanded when a group of instances needs them.

use crate::engine::Batch;
use crate::plans::Inputs;
use crate::{Ciphertext, Error};
use solinas_schemes::tfhe::{LweCiphertext, Params};
use solinas_values::tfhe::{Blocks, Elements};
use std::borrow::Cow;

/// The blocks of the inputs of a batch.
pub(super) struct BatchInputs<'a> {
    inputs: Vec<Input<'a>>,
    instances: usize,
}

struct Input<'a> {
    blocks: &'a Blocks,
    /// The number of its first block among those of an instance.
    first: usize,
    /// Whether it has an element for each instance. A scalar combines with every instance.
    is_array: bool,
}

impl<'a> BatchInputs<'a> {
    /// # Errors
    /// Inputs of another scheme or set; [`Error::Compact`].
    pub(super) fn new(batch: &Batch<'a>, params: &Params) -> Result<Self, Error> {
        let mut first = 0;
        let input = |input: &'a Ciphertext| {
            let elements = Elements::of(input)?;
            elements.check_params("an input", params)?;
            if elements.blocks.is_compact() {
                return Err(Error::Compact { what: "an input".into() });
            }
            let begin = first;
            first += input.form().blocks(input.ty());
            Ok(Input { blocks: &elements.blocks, first: begin, is_array: input.shape().is_some() })
        };
        let inputs = batch.inputs.iter().map(input).collect::<Result<_, Error>>()?;
        Ok(Self { inputs, instances: batch.instances })
    }
}

impl Inputs for BatchInputs<'_> {
    fn instances(&self) -> usize {
        self.instances
    }

    fn value(&self, instance: usize, value: usize) -> Result<Cow<'_, LweCiphertext>, Error> {
        // The plan has as many inputs as the blocks are.
        let input = self.inputs.partition_point(|input| input.first <= value).checked_sub(1);
        let input = input.and_then(|input| self.inputs.get(input));
        let Input { blocks, first, is_array } = input.ok_or_else(|| Error::Internal("a run has no inputs".into()))?;
        blocks.block(if *is_array { instance } else { 0 }, value - first)
    }
}
