//! Programs: recorded once, called with any inputs, kept in files.

use crate::circuit::FromNodes;
use crate::expression::Expression;
use crate::recorded::Node;
use crate::{Encrypted, Error, Natural, Result, Type, Value, engine};
use solinas_circuits::expr::{Callee, Source, foreign, freeze};
use solinas_circuits::program::{Program as Graph, Shape, ValueType};
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

/// A program with arguments `A` and results `R`: an [`Encrypted`], or a tuple of up to six.
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

pub(crate) mod sealed {
    use super::{Natural, Type};

    /// Encrypted scalars in a fixed number, each of a fixed type.
    pub trait Fixed {
        type Decrypted;

        /// Adds the types, in order.
        fn types(into: &mut Vec<Type>);

        /// Adds the bits of plain values, in order.
        fn bits(plain: Self::Decrypted, into: &mut Vec<Natural>);

        fn plain(bits: &mut impl Iterator<Item = Natural>) -> Option<Self::Decrypted>;
    }
}

pub(crate) use sealed::Fixed;

/// Arguments or results of a [`Program`]: an [`Encrypted`], or a tuple of up to six of them.
pub trait Values: Expression + Fixed<Decrypted = <Self as Expression>::Plain> + FromNodes {}

impl<T: Value> Fixed for Encrypted<T> {
    type Decrypted = T;

    fn types(into: &mut Vec<Type>) {
        into.push(T::ty());
    }

    fn bits(plain: T, into: &mut Vec<Natural>) {
        into.push(plain.to_bits());
    }

    fn plain(bits: &mut impl Iterator<Item = Natural>) -> Option<T> {
        bits.next().map(T::from_bits)
    }
}

impl<T: Value> Values for Encrypted<T> {}

fn types<V: Values>() -> Vec<Type> {
    let mut types = Vec::new();
    V::types(&mut types);
    types
}

impl<A: Values, R: Values> Program<A, R> {
    /// Records what a function does with its arguments.
    ///
    /// # Errors
    /// The function uses ciphertexts, arrays or circuits, or has too many operations.
    pub fn record(function: impl FnOnce(A) -> R) -> Result<Self> {
        let parameter = |(number, ty)| Node::parameter(format!("x{number}"), ty);
        let parameters: Vec<_> = (1..).zip(types::<A>()).map(parameter).collect();
        let result = function(A::from_nodes(&mut parameters.iter().cloned())?);
        let mut roots = Vec::new();
        result.roots(&mut roots);
        if let Some((_, source)) = foreign(&parameters, &roots) {
            let other = match source.as_deref() {
                Some(Source::Parameter(_)) => "a parameter of another program",
                Some(Source::Call(..)) => "a circuit",
                Some(_) => "an array",
                None => "a ciphertext",
            };
            let want = "operations on its arguments and constants";
            return Err(Error::holds("the recorded function", other, want));
        }
        let (graph, _) = freeze(&parameters, &roots)?;
        Ok(Self { graph: Arc::new(graph), signature: PhantomData })
    }

    /// The results for these arguments, as expressions that [`Server::run`](crate::Server::run) computes.
    ///
    /// # Panics
    /// Never: the types were compared when the program was recorded or loaded.
    #[must_use]
    pub fn call(&self, arguments: A) -> R {
        let mut inputs = Vec::new();
        arguments.roots(&mut inputs);
        let results = types::<R>().into_iter().map(|ty| ValueType { ty, shape: Shape::scalar() }).collect();
        let mut results = Node::call(Callee::Program(Arc::clone(&self.graph)), inputs, results).into_iter();
        R::from_nodes(&mut results).unwrap_or_else(|error| unreachable!("the types were compared: {error}"))
    }

    /// The results on plain values, without encryption.
    ///
    /// # Errors
    /// None for a program that was recorded or loaded.
    pub fn evaluate(&self, arguments: A::Plain) -> Result<R::Plain> {
        let mut bits = Vec::new();
        A::bits(arguments, &mut bits);
        let results = self.graph.evaluate(&bits)?;
        R::plain(&mut results.into_iter()).ok_or_else(|| Error::internal("a program without that result"))
    }

    /// Writes the program to a file (JSON), which it replaces. The Python package and `solinas eval --program` read it too.
    ///
    /// # Errors
    /// The file cannot be written, or holds a key or a ciphertext.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let name = path.file_stem().map_or_else(|| "program".into(), |stem| stem.to_string_lossy());
        Ok(engine::write_text(path, &self.graph.to_json(&name)?).map_err(engine::Error::from)?)
    }

    /// Reads a program from a file and checks that it takes `A` and returns `R`.
    ///
    /// # Errors
    /// The file is missing, damaged, newer than this library, or holds a program of other types.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
        let graph = Graph::from_json(&text)
            .and_then(|graph| graph.scalars())
            .map_err(|error| Error::from(error).in_file(path))?;
        let (takes, returns) = (graph.input_types(), graph.output_types());
        if takes != types::<A>() || returns != types::<R>() {
            return Err(Error::signature((&takes, &returns), (&types::<A>(), &types::<R>())).in_file(path));
        }
        Ok(Self { graph: Arc::new(graph), signature: PhantomData })
    }
}

impl<A, R> Clone for Program<A, R> {
    fn clone(&self) -> Self {
        Self { graph: Arc::clone(&self.graph), signature: PhantomData }
    }
}

impl<A, R> fmt::Debug for Program<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("operations", &self.graph.nodes.len()).finish_non_exhaustive()
    }
}
