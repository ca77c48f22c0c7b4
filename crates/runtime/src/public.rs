//! Public inputs of programs.

use crate::engine::Engine;
use crate::ports::{Results, described, input_count, program_ports, same_type};
use crate::{Ciphertext, Error, Input, Plain, Program};
use solinas_circuits::program::Unrolled;
use std::borrow::Cow;
use std::collections::HashMap;

/// A program whose inputs are all ciphertexts.
pub(crate) struct Encrypted<'a> {
    pub(crate) program: Cow<'a, Program>,
    pub(crate) inputs: Vec<Ciphertext>,
    pub(crate) results: Results,
}

impl<'a> Encrypted<'a> {
    /// Puts the public inputs of a valid program into it: a value as a constant, and an array as a plaintext, where the engine takes one, or as constants of
    /// operations for each element.
    ///
    /// # Errors
    /// Inputs in a wrong number; public inputs of a wrong type; arrays of different shapes.
    pub(crate) fn new(engine: &dyn Engine, program: &'a Program, inputs: Vec<Input>) -> Result<Self, Error> {
        let (program, inputs) = with_constants(program, inputs)?;
        let mut ciphertexts = Vec::with_capacity(inputs.len());
        for input in &inputs {
            let ciphertext = match input {
                Input::Encrypted(ciphertext) => Some(ciphertext.clone()),
                Input::Public(plain) => engine.public(plain)?,
            };
            match ciphertext {
                Some(ciphertext) => ciphertexts.push(ciphertext),
                None => return unrolled(&program, &inputs),
            }
        }
        Ok(Self { program, inputs: ciphertexts, results: Results::Whole })
    }
}

/// The program of operations for each element.
fn unrolled<'a>(program: &Program, inputs: &[Input]) -> Result<Encrypted<'a>, Error> {
    let mut shape: Option<&[usize]> = None;
    for of_input in inputs.iter().filter_map(Input::shape) {
        let first = *shape.get_or_insert(of_input);
        if first != of_input {
            return Err(Error::Broadcast { lhs: first.iter().product(), rhs: of_input.iter().product() });
        }
    }
    let count: usize = shape.map_or(1, |shape| shape.iter().product());
    let (mut forms, mut ciphertexts) = (Vec::with_capacity(inputs.len()), Vec::new());
    for input in inputs {
        forms.push(match input {
            Input::Public(plain) => Unrolled::Public(&plain.values),
            Input::Encrypted(array) if array.shape().is_some() => {
                let elements = (0..count).map(|element| array.get(element));
                ciphertexts.extend(elements.collect::<Result<Vec<_>, _>>()?);
                Unrolled::Array
            }
            Input::Encrypted(scalar) => {
                ciphertexts.push(scalar.clone());
                Unrolled::Scalar
            }
        });
    }
    let program = Cow::Owned(program.unroll(count, &forms)?);
    let results = Results::Elements { count, shape: shape.map(<[usize]>::to_vec) };
    Ok(Encrypted { program, inputs: ciphertexts, results })
}

/// The program with public values as constants, and the inputs that are left.
fn with_constants(program: &Program, inputs: Vec<Input>) -> Result<(Cow<'_, Program>, Vec<Input>), Error> {
    let ports = program_ports(program);
    if inputs.len() != ports.len() {
        return Err(input_count(inputs.len(), ports.iter().map(described).collect()));
    }
    let (mut constants, mut left) = (HashMap::new(), Vec::new());
    for ((index, input), (name, ty)) in (0u32..).zip(inputs).zip(ports) {
        match input {
            Input::Public(plain) if !same_type(ty, plain.ty) => {
                return Err(Error::InputType { name, want: ty, got: plain.ty });
            }
            Input::Public(Plain { shape: None, values, .. }) => {
                constants.extend(values.first().map(|value| (index, value.clone())))
            }
            input => left.push(input),
        }
    }
    match constants.is_empty() {
        true => Ok((Cow::Borrowed(program), left)),
        false => Ok((Cow::Owned(program.with_constants(&constants)?), left)),
    }
}
