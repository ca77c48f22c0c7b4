//! Public inputs of programs.

use crate::ports::{Results, described, input_count, program_ports, same_type};
use crate::{Ciphertext, Control, Error, Form, Input, Plain, Program, Server, memory, planning};
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
    /// Inputs in a wrong number; public inputs of a wrong type; arrays of different shapes; [`Error::Memory`] and [`Error::Planning`] before anything large is
    /// made.
    pub(crate) fn new(
        server: &Server,
        program: &'a Program,
        inputs: Vec<Input>,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let (program, inputs) = with_constants(program, inputs)?;
        let (engine, params) = (&server.engine, server.params());
        if engine.form() == Form::Slots {
            let bytes = |input: &Input| match input {
                // A plaintext, and the polynomials that hold it.
                Input::Public(plain) => params.encrypted_bytes(plain.ty, Some(plain.values.len())).saturating_mul(2),
                Input::Encrypted(_) => 0,
            };
            let need = inputs.iter().map(bytes).fold(0, u64::saturating_add);
            memory::check_within(server.room()?, "the public inputs", &params, need, memory::FEWER)?;
        }
        let mut ciphertexts = Vec::with_capacity(inputs.len());
        for input in &inputs {
            let ciphertext = match input {
                Input::Encrypted(ciphertext) => Some(ciphertext.clone()),
                Input::Public(plain) => engine.public(plain)?,
            };
            match ciphertext {
                Some(ciphertext) => ciphertexts.push(ciphertext),
                None => return unrolled(server, &program, &inputs, control),
            }
        }
        Ok(Self { program, inputs: ciphertexts, results: Results::Whole })
    }
}

/// The program of operations for each element.
fn unrolled<'a>(
    server: &Server,
    program: &Program,
    inputs: &[Input],
    control: &Control<'_>,
) -> Result<Encrypted<'a>, Error> {
    let mut shape: Option<&[usize]> = None;
    for of_input in inputs.iter().filter_map(Input::shape) {
        let first = *shape.get_or_insert(of_input);
        if first != of_input {
            return Err(Error::Broadcast { lhs: first.iter().product(), rhs: of_input.iter().product() });
        }
    }
    let count: usize = shape.map_or(1, |shape| shape.iter().product());
    let nodes = (program.nodes.len() + program.inputs.len()).saturating_mul(count);
    planning::limits(control)?.check_size(nodes as u64)?;
    let bytes = |input: &Input| match input {
        Input::Encrypted(array) if array.shape().is_some() => array.element_bytes().saturating_mul(count as u64),
        _ => 0,
    };
    let need = inputs.iter().map(bytes).fold(0, u64::saturating_add);
    memory::check_within(server.room()?, "the elements of the inputs", &server.params(), need, memory::FEWER)?;
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
