//! Programs: recorded once, called on any inputs, kept in files.

use crate::error::list;
use crate::node::{Node, Recorder};
use crate::{Encrypted, Error, Result, Value};
use serde::{Deserialize, Serialize};
use solinas_circuits::program::{Op, Program as Graph, Type};
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

/// A program with typed arguments `A` and results `R`: an [`Encrypted`], or a tuple of up to six.
///
/// ```
/// use solinas::{Encrypted, Program};
///
/// type Risk = Program<(Encrypted<u32>, Encrypted<u32>), Encrypted<u32>>;
/// let risk = Risk::record(|(age, dose)| age.gt(60).select(&age * &dose, &dose * 2))?;
/// assert_eq!(risk.evaluate((70, 3))?, 210);
/// # Ok::<(), solinas::Error>(())
/// ```
pub struct Program<A, R> {
    graph: Arc<Graph>,
    signature: PhantomData<fn(A) -> R>,
}

mod sealed {
    use super::{Arc, Node, Type};

    /// Encrypted values in a fixed number, each of a fixed type.
    pub trait Fixed: Sized {
        type Plain;

        fn types() -> Vec<Type>;

        /// From as many nodes as there are types.
        fn from_nodes(nodes: &mut impl Iterator<Item = Arc<Node>>) -> Option<Self>;

        fn nodes(&self, into: &mut Vec<Arc<Node>>);

        fn bits(plain: Self::Plain, into: &mut Vec<u128>);

        fn plain(bits: &mut impl Iterator<Item = u128>) -> Option<Self::Plain>;
    }
}

use sealed::Fixed;

/// Arguments or results of a [`Program`]: an [`Encrypted`], or a tuple of up to six of them.
pub trait Values: Fixed<Plain = Self::Values> {
    /// The same as plain values.
    type Values;
}

impl<T: Value> Fixed for Encrypted<T> {
    type Plain = T;

    fn types() -> Vec<Type> {
        vec![T::ty()]
    }

    fn from_nodes(nodes: &mut impl Iterator<Item = Arc<Node>>) -> Option<Self> {
        nodes.next().map(Self::new)
    }

    fn nodes(&self, into: &mut Vec<Arc<Node>>) {
        into.push(Arc::clone(&self.node));
    }

    fn bits(plain: T, into: &mut Vec<u128>) {
        into.push(plain.to_bits());
    }

    fn plain(bits: &mut impl Iterator<Item = u128>) -> Option<T> {
        bits.next().map(T::from_bits)
    }
}

impl<T: Value> Values for Encrypted<T> {
    type Values = T;
}

macro_rules! tuples {
    ($($($name:ident $at:tt),*;)*) => {$(
        impl<$($name: Values),*> Fixed for ($($name,)*) {
            type Plain = ($($name::Values,)*);

            fn types() -> Vec<Type> {
                [$($name::types()),*].concat()
            }

            fn from_nodes(nodes: &mut impl Iterator<Item = Arc<Node>>) -> Option<Self> {
                Some(($($name::from_nodes(nodes)?,)*))
            }

            fn nodes(&self, into: &mut Vec<Arc<Node>>) {
                $(self.$at.nodes(into);)*
            }

            fn bits(plain: Self::Plain, into: &mut Vec<u128>) {
                $($name::bits(plain.$at, into);)*
            }

            fn plain(bits: &mut impl Iterator<Item = u128>) -> Option<Self::Plain> {
                Some(($($name::plain(bits)?,)*))
            }
        }

        impl<$($name: Values),*> Values for ($($name,)*) {
            type Values = ($($name::Values,)*);
        }
    )*};
}

tuples! {
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
}

/// A program in a file, as the Python package writes and reads it.
#[derive(Serialize, Deserialize)]
struct Document {
    format: String,
    version: u64,
    name: String,
    parameters: Vec<Parameter>,
    result: serde_json::Value,
    program: Graph,
}

#[derive(Serialize, Deserialize)]
struct Parameter {
    name: String,
    r#type: serde_json::Value,
}

const FORMAT: &str = "solinas-program";
const VERSION: u64 = 1;

impl<A: Values, R: Values> Program<A, R> {
    /// Records what a function does with its arguments.
    ///
    /// # Errors
    /// A program of too many operations.
    pub fn record(function: impl FnOnce(A) -> R) -> Result<Self> {
        let parameters: Vec<_> = A::types().into_iter().enumerate().map(|(i, ty)| Node::parameter(i, ty)).collect();
        let mut recorder = Recorder::default();
        for (number, parameter) in parameters.iter().enumerate() {
            recorder.parameter(format!("x{}", number + 1), parameter)?;
        }
        let arguments = A::from_nodes(&mut parameters.into_iter());
        let result = function(arguments.ok_or_else(|| Error::internal("arguments that do not match their types"))?);
        let mut roots = Vec::new();
        result.nodes(&mut roots);
        for (number, value) in recorder.add(&roots)?.into_iter().enumerate() {
            recorder.builder.output(format!("y{}", number + 1), value);
        }
        if let Some(ciphertext) = recorder.inputs.first() {
            let what = format!("a ciphertext of {} from outside of the program", ciphertext.ty());
            return Err(Error::holds("the recorded function", what, "its arguments and constants only"));
        }
        Ok(Self { graph: Arc::new(recorder.builder.finish()?), signature: PhantomData })
    }

    /// The results for these arguments, as expressions that [`Server::run`](crate::Server::run) computes.
    #[must_use]
    pub fn call(&self, arguments: A) -> R {
        let mut inputs = Vec::new();
        arguments.nodes(&mut inputs);
        let mut nodes: Vec<Arc<Node>> = Vec::with_capacity(self.graph.nodes.len());
        for node in &self.graph.nodes {
            nodes.push(match &node.op {
                Op::Input(index) => Arc::clone(&inputs[*index as usize]),
                Op::Const(bits) => Node::constant(*bits, node.ty),
                op => {
                    let args = node.args.iter().map(|arg| Arc::clone(&nodes[arg.0 as usize])).collect();
                    Node::operation(op.clone(), node.ty, args)
                }
            });
        }
        let results = self.graph.outputs.iter().map(|output| Arc::clone(&nodes[output.value.0 as usize]));
        R::from_nodes(&mut results.into_iter()).unwrap_or_else(|| unreachable!("`checked` compared the types"))
    }

    /// The results on plain values, without encryption.
    ///
    /// # Errors
    /// None that a recorded or loaded program gives.
    pub fn evaluate(&self, arguments: A::Values) -> Result<R::Values> {
        let mut bits = Vec::new();
        A::bits(arguments, &mut bits);
        let results = self.graph.evaluate(&bits)?;
        R::plain(&mut results.into_iter()).ok_or_else(|| Error::internal("results that do not match their types"))
    }

    /// Writes the program to a file, which it replaces. The command line (`solinas eval --program`) and the Python package read it.
    ///
    /// # Errors
    /// From the file.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let name = |ty: &Type| serde_json::Value::from(ty.to_string());
        let inputs = self.graph.inputs.iter();
        let mut results: Vec<_> = R::types().iter().map(name).collect();
        let result = match results.len() {
            1 => results.remove(0),
            _ => serde_json::json!({ "tuple": results }),
        };
        let document = Document {
            format: FORMAT.into(),
            version: VERSION,
            name: path.file_stem().map_or_else(|| "program".into(), |stem| stem.to_string_lossy().into_owned()),
            parameters: inputs.map(|i| Parameter { name: i.name.clone(), r#type: name(&i.ty) }).collect(),
            result,
            program: (*self.graph).clone(),
        };
        let text = serde_json::to_string(&document).map_err(|error| Error::internal(error.to_string()))?;
        std::fs::write(path, text).map_err(|error| Error::io(path, error))
    }

    /// Reads a program from a file and checks that it takes `A` and returns `R`.
    ///
    /// # Errors
    /// A file that is missing, damaged, newer than this library, or holds a program of other types.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
        let document: Document = serde_json::from_str(&text).map_err(|error| Error::not_a_program(path, error))?;
        if document.format != FORMAT {
            return Err(Error::not_a_program(path, format!("its format is {:?}", document.format)));
        }
        if document.version > VERSION {
            let problem = format!("it has version {}, and this library reads up to {VERSION}", document.version);
            return Err(Error::not_a_program(path, problem));
        }
        Self::checked(document.program)
    }

    fn checked(graph: Graph) -> Result<Self> {
        graph.validate()?;
        let takes: Vec<_> = graph.inputs.iter().map(|input| input.ty).collect();
        let returns: Vec<_> = graph.outputs.iter().map(|output| graph.nodes[output.value.0 as usize].ty).collect();
        if takes != A::types() || returns != R::types() {
            return Err(Error::signature(&takes, &returns, format!("{} -> {}", list(&A::types()), list(&R::types()))));
        }
        Ok(Self { graph: Arc::new(graph), signature: PhantomData })
    }
}

impl<A, R> Clone for Program<A, R> {
    fn clone(&self) -> Self {
        Self { graph: Arc::clone(&self.graph), signature: PhantomData }
    }
}

impl<A, R> std::fmt::Debug for Program<A, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").field("operations", &self.graph.nodes.len()).finish_non_exhaustive()
    }
}
