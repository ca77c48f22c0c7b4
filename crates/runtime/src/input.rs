//! Inputs of a run, some of which may be public.

use crate::server::{program_ports, same_type};
use crate::{Ciphertext, Control, Error, Plain, Program, Server};
use solinas_circuits::program::Unrolled;
use std::collections::HashMap;

/// An input of [`Server::run_inputs`].
#[derive(Debug, Clone)]
pub enum Input {
    /// The server does not see the value.
    Encrypted(Ciphertext),
    /// The server sees the value.
    Public(Plain),
}

impl Input {
    fn shape(&self) -> Option<&[usize]> {
        match self {
            Self::Encrypted(ciphertext) => ciphertext.shape(),
            Self::Public(plain) => plain.shape.as_deref(),
        }
    }
}

impl From<Ciphertext> for Input {
    fn from(ciphertext: Ciphertext) -> Self {
        Self::Encrypted(ciphertext)
    }
}

impl From<Plain> for Input {
    fn from(plain: Plain) -> Self {
        Self::Public(plain)
    }
}

impl Server {
    /// Runs a program as [`Self::run`] does, with some public inputs. A public scalar becomes a constant of the
    /// program. A public array becomes a plaintext if values are in slots. Otherwise each of its elements becomes a
    /// constant of the operations on that element.
    ///
    /// # Errors
    /// The errors of [`Self::run`].
    pub fn run_inputs(
        &self,
        program: &Program,
        inputs: &[Input],
        control: &Control<'_>,
    ) -> Result<Vec<Ciphertext>, Error> {
        let (program, inputs) = fixed(program, inputs)?;
        let mut ciphertexts = Vec::with_capacity(inputs.len());
        for input in &inputs {
            let ciphertext = match input {
                Input::Encrypted(ciphertext) => Some((*ciphertext).clone()),
                Input::Public(plain) => self.engine.public(plain)?,
            };
            match ciphertext {
                Some(ciphertext) => ciphertexts.push(ciphertext),
                None => return self.run_unrolled(&program, &inputs, control),
            }
        }
        self.run(&program, &ciphertexts, control)
    }

    /// Runs the program with separate operations for each element.
    fn run_unrolled(
        &self,
        program: &Program,
        inputs: &[&Input],
        control: &Control<'_>,
    ) -> Result<Vec<Ciphertext>, Error> {
        let mut shape: Option<&[usize]> = None;
        for of_input in inputs.iter().filter_map(|input| input.shape()) {
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
        let outputs = self.run(&program.unroll(count, &forms)?, &ciphertexts, control)?;
        let stacked = outputs.chunks(count.max(1)).map(|elements| {
            let array = Ciphertext::stack(elements.to_vec())?;
            array.reshape(shape.map(<[usize]>::to_vec))
        });
        stacked.collect()
    }
}

/// Returns the program with public scalars as constants, and the remaining inputs.
fn fixed<'i>(program: &Program, inputs: &'i [Input]) -> Result<(Program, Vec<&'i Input>), Error> {
    program.validate()?;
    let ports = program_ports(program);
    if inputs.len() != ports.len() {
        let names: Vec<String> = ports.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        return Err(Error::InputCount { got: inputs.len(), want: ports.len(), names: names.join(", ") });
    }
    let (mut constants, mut left) = (HashMap::new(), Vec::new());
    for ((index, input), (name, ty)) in (0u32..).zip(inputs).zip(ports) {
        match input {
            Input::Public(plain) if !same_type(ty, plain.ty) => {
                return Err(Error::InputType { name, want: ty, got: plain.ty });
            }
            Input::Public(Plain { shape: None, values, .. }) => constants.extend(values.first().map(|&v| (index, v))),
            input => left.push(input),
        }
    }
    Ok((program.with_constants(&constants)?, left))
}
