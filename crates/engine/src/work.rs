//! The work of a server: what it computes, and on which inputs.

use crate::{Ciphertext, Form, Plain, Program};
use solinas_circuits::expr::Leaf;
use solinas_circuits::program::{Shape, ValueType};

/// Work for [`Server::prepare`](crate::Server::prepare).
#[derive(Debug, Clone)]
pub enum Work<'a> {
    /// A program of typed operations. Arrays run element by element, and scalars go with every element. For integers modulo a number, a value that
    /// arrays reach through sums alone is a scalar.
    ///
    /// An input of a circuit ([`Program::of_circuit`]) takes a value of the port's width, or an array of bools whose last axis holds the port's bits, the least
    /// significant first. Only the array can stand for a port of more than 2048 bits. An output port of more than 2048 bits becomes such an array.
    Program {
        /// The program.
        program: &'a Program,
        /// One value for each input of the program. A public value is a constant of the program.
        inputs: Inputs,
    },
    /// The same values in another ciphertext form.
    Convert {
        /// The ciphertext.
        ciphertext: &'a Ciphertext,
        /// The form of the result.
        form: Form,
    },
}

impl<'a> Work<'a> {
    /// A program on these inputs.
    pub fn program(program: &'a Program, inputs: impl Into<Inputs>) -> Self {
        Self::Program { program, inputs: inputs.into() }
    }
}

/// A program on one fresh element.
impl<'a> From<&'a Program> for Work<'a> {
    fn from(program: &'a Program) -> Self {
        Self::program(program, Inputs::Fresh { instances: 1 })
    }
}

/// The inputs of a program.
#[derive(Debug, Clone)]
pub enum Inputs {
    /// These values.
    Given(Vec<Input>),
    /// No values, for an estimate, which assumes fresh ciphertexts.
    Fresh {
        /// Number of elements of the arrays; 1 for scalars. If a program rotates or sums arrays and this is 1, the estimate assumes a full ciphertext.
        instances: usize,
    },
}

impl<V: Clone + Into<Input>> From<&[V]> for Inputs {
    fn from(values: &[V]) -> Self {
        Self::Given(values.iter().cloned().map(Into::into).collect())
    }
}

impl<V: Clone + Into<Input>> From<&Vec<V>> for Inputs {
    fn from(values: &Vec<V>) -> Self {
        values.as_slice().into()
    }
}

impl<V: Clone + Into<Input>, const N: usize> From<&[V; N]> for Inputs {
    fn from(values: &[V; N]) -> Self {
        values.as_slice().into()
    }
}

/// An input of a program.
#[derive(Debug, Clone)]
pub enum Input {
    /// The server does not see it.
    Encrypted(Ciphertext),
    /// The server sees it. If values lie in slots, a public array is a plaintext. Otherwise each of its elements is a constant of the operations on that
    /// element.
    Public(Plain),
}

impl From<Ciphertext> for Input {
    fn from(ciphertext: Ciphertext) -> Self {
        Self::Encrypted(ciphertext)
    }
}

impl Leaf for Input {
    fn value_type(&self) -> ValueType {
        let (ty, shape) = match self {
            Self::Encrypted(ciphertext) => (ciphertext.ty(), ciphertext.shape()),
            Self::Public(plain) => (plain.ty, plain.shape.as_deref()),
        };
        // A shape above the limits counts as that of a scalar, and is refused where the value is read.
        ValueType { ty, shape: Shape::new(shape.unwrap_or_default().iter().copied()).unwrap_or_default() }
    }
}

impl From<Plain> for Input {
    fn from(plain: Plain) -> Self {
        Self::Public(plain)
    }
}
