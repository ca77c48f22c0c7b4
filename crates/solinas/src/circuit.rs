//! Circuits of gates, from files of other tools.

use crate::expression::Expression;
use crate::handle::described;
use crate::recorded::{Node, line, operation};
use crate::{Bits, Encrypted, EncryptedArray, Error, Natural, Result, Type, Value};
use solinas_circuits::expr::Callee;
use solinas_circuits::program::{Op, Shape, ValueType};
use solinas_circuits::{GateCosts, Netlist, Port, import};
use std::path::Path;
use std::sync::Arc;

/// A combinational circuit: Bristol Fashion, BLIF, or JSON as Yosys writes it.
///
/// ```
/// use solinas::Circuit;
///
/// let text = ".model half\n.inputs a b\n.outputs sum carry\n.names a b sum\n01 1\n10 1\n.names a b carry\n11 1\n.end";
/// let half_adder = Circuit::from_text(text)?;
/// assert_eq!(half_adder.evaluate(&[1, 1])?, [0, 1]);
/// # Ok::<(), solinas::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Circuit {
    netlist: Arc<Netlist>,
}

impl Circuit {
    /// Reads a circuit from a file. The contents tell the format.
    ///
    /// # Errors
    /// The file cannot be read, has another format, or holds a circuit with memory.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
        Self::from_text(&text).map_err(|error| error.in_file(path))
    }

    /// Reads a circuit from the text of a file.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn from_text(text: &str) -> Result<Self> {
        Ok(import::read(text)?.into())
    }

    /// An equivalent circuit with fewer bootstraps.
    #[must_use]
    pub fn optimize(&self) -> Self {
        self.netlist.optimize(&GateCosts::default()).into()
    }

    /// The gates.
    #[must_use]
    pub fn netlist(&self) -> &Netlist {
        &self.netlist
    }

    /// The input ports, in order.
    #[must_use]
    pub fn inputs(&self) -> &[Port] {
        self.netlist.inputs()
    }

    /// The output ports, in order.
    #[must_use]
    pub fn outputs(&self) -> &[Port] {
        self.netlist.outputs()
    }

    /// The outputs on plain values, one for each input port. A value is the bits of its port.
    ///
    /// # Errors
    /// A wrong number of values, a value that is too large for its port.
    pub fn evaluate<V: Clone + Into<Natural>>(&self, inputs: &[V]) -> Result<Vec<Natural>> {
        Ok(self.netlist.evaluate(inputs)?)
    }

    /// The outputs on encrypted values, as expressions that [`Server::run`](crate::Server::run) computes.
    ///
    /// The inputs, one for each port in order, are an [`Encrypted`] of the port's width or an
    /// [`EncryptedArray<bool>`](EncryptedArray) with one element for each bit of the port, the least significant first. The outputs are
    /// integers of their port's width; a port of more than 2048 bits gives an array of bools.
    ///
    /// # Errors
    /// Inputs or outputs in another number or of another width than the ports.
    pub fn call<R: Outputs>(&self, inputs: impl Expression) -> Result<R> {
        let mut nodes = Vec::new();
        inputs.roots(&mut nodes);
        let ports = self.inputs();
        if nodes.len() != ports.len() {
            return Err(Error::ports("inputs", nodes.len(), ports.len()));
        }
        for (node, port) in nodes.iter_mut().zip(ports) {
            check_width(node, port)?;
            if port.bits.len() == 1 && !node.shape().is_empty() {
                *node = node.elements(vec![0], Shape::scalar());
            }
        }
        let result = |port: &Port| match port.ty() {
            Some(ty) => ValueType { ty, shape: Shape::scalar() },
            None => ValueType { ty: Type::Bool, shape: line(port.bits.len()) },
        };
        let (got, want) = (R::COUNT, self.outputs().len());
        if got != want {
            return Err(Error::ports("outputs", got, want));
        }
        let results = self.outputs().iter().map(result).collect();
        R::from_nodes(&mut Node::call(Callee::Circuit(Arc::clone(&self.netlist)), nodes, results).into_iter())
    }
}

/// Checks that a node has the bits of a port.
fn check_width(node: &Node, port: &Port) -> Result<()> {
    let want = port.bits.len();
    let got = match node.shape()[..] {
        [] if node.ty().width() == want => return Ok(()),
        [len] if node.ty() == Type::Bool && len == want => return Ok(()),
        [] => format!("{} bits", node.ty().width()),
        _ => format!("an array of {} values of {}", node.shape().size(), node.ty()),
    };
    Err(Error::holds(format!("input {:?}", port.name), got, format!("{want} bits, or an array of {want} bools")))
}

impl From<Netlist> for Circuit {
    fn from(netlist: Netlist) -> Self {
        Self { netlist: Arc::new(netlist) }
    }
}

pub(crate) mod sealed {
    use super::{Arc, Node, Result};

    /// Handles that are made from nodes.
    pub trait FromNodes: Sized {
        /// The number of nodes.
        const COUNT: usize;

        /// Takes the next nodes. A scalar of the same width becomes one of the handle's type.
        fn from_nodes(nodes: &mut impl Iterator<Item = Arc<Node>>) -> Result<Self>;
    }
}

pub(crate) use sealed::FromNodes;

/// The outputs of a [`Circuit`]: an [`Encrypted`], an [`EncryptedArray<bool>`](EncryptedArray), or a tuple of up to six.
pub trait Outputs: FromNodes {}

fn next(nodes: &mut impl Iterator<Item = Arc<Node>>) -> Result<Arc<Node>> {
    nodes.next().ok_or_else(|| Error::internal("fewer values than were declared"))
}

impl<T: Value> FromNodes for Encrypted<T> {
    const COUNT: usize = 1;

    fn from_nodes(nodes: &mut impl Iterator<Item = Arc<Node>>) -> Result<Self> {
        let node = next(nodes)?;
        if node.ty() == T::ty() && node.shape().is_empty() {
            return Ok(Self::new(node));
        }
        let is_array = !node.shape().is_empty();
        if is_array || node.ty().width() != T::ty().width() {
            return Err(Error::holds("the output", described(node.ty(), is_array), described(T::ty(), false)));
        }
        Ok(Self::new(operation(Op::Cast, T::ty(), vec![node])))
    }
}

impl<T: Bits> Outputs for Encrypted<T> {}

impl FromNodes for EncryptedArray<bool> {
    const COUNT: usize = 1;

    fn from_nodes(nodes: &mut impl Iterator<Item = Arc<Node>>) -> Result<Self> {
        let node = next(nodes)?;
        if node.shape().is_empty() {
            return Err(Error::holds("the output", described(node.ty(), false), described(Type::Bool, true)));
        }
        Ok(Self::new(node))
    }
}

impl Outputs for EncryptedArray<bool> {}
