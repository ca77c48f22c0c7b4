//! What a program calls: circuits, and functions that combine two elements of arrays.

use super::{How, Node, Op, Program, Type, ValueId};
use crate::{Error, Netlist, Port};
use serde::{Deserialize, Serialize};

/// A function of a program. Functions have no functions of their own, so they do not call themselves.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    /// A program of single values, which [`How::Function`] names. It has `m` inputs for the left element, then `m` for the right one, and `m` outputs.
    Program(Program),
    /// A circuit, which [`Op::Call`] names.
    Circuit {
        /// The circuit.
        netlist: Netlist,
        /// Whether an engine may simplify it.
        optimize: bool,
    },
}

impl Function {
    /// The types of its results, in order.
    #[must_use]
    pub fn result_types(&self) -> Vec<Type> {
        match self {
            Self::Program(program) => program.output_types(),
            Self::Circuit { netlist, .. } => netlist.outputs().iter().map(Port::element_type).collect(),
        }
    }

    /// Checks a function that is not used yet.
    fn validate(&self, index: usize) -> Result<(), Error> {
        let Self::Program(program) = self else { return Ok(()) };
        let bad = |problem: &str| Err(Error::BadFunction { function: index, problem: problem.to_owned() });
        // Nothing deeper is looked at, so a chain of functions of functions ends here.
        if !program.functions.is_empty() {
            return bad("has functions of its own; give them to the program itself");
        }
        program.validate()?;
        if !program.is_of_scalars() {
            return bad("works on arrays; a function takes single values");
        }
        let (inputs, outputs) = (program.input_types(), program.output_types());
        let (left, right) = inputs.split_at(inputs.len() / 2);
        if left != right || left != outputs {
            return bad("must take the values of two elements and give those of one, of the same types");
        }
        Ok(())
    }
}

impl Program {
    /// Whether the program computes on single values, element by element: it has no array of its own, and no operation that moves or combines elements.
    #[must_use]
    pub fn is_of_scalars(&self) -> bool {
        let is_any = |input: &super::Input| input.shape.as_ref().is_none_or(|shape| shape.is_empty());
        self.check_scalars().is_ok() && self.inputs.iter().all(is_any)
    }

    /// Checks that gates and tables can compute the program.
    pub(super) fn check_scalars(&self) -> Result<(), Error> {
        let is_scalar = |op: &Op| op.is_elementwise() || matches!(op, Op::Input(_) | Op::Const(_));
        match self.nodes.iter().position(|node| !is_scalar(&node.op)) {
            Some(node) => Err(Error::NotScalar { op: self.nodes[node].op.name(), node }),
            None => Ok(()),
        }
    }

    /// Checks the functions.
    pub(super) fn validate_functions(&self) -> Result<(), Error> {
        self.functions.iter().enumerate().try_for_each(|(index, function)| function.validate(index))
    }

    /// The type of the result of an operation that names a function or a result; `None` for other operations.
    pub(super) fn function_type(
        &self,
        op: &Op,
        args: &[ValueId],
        types: &[Type],
        at: &impl Fn() -> String,
    ) -> Option<Result<Type, Error>> {
        match op {
            Op::Call(function) => Some(self.call_type(*function, types)),
            Op::Reduce { how: How::Function(function), .. } => Some(self.reduction_type(*function, types)),
            Op::Result(index) => Some(match (args, types) {
                (&[arg], _) => self.result_type_of(arg, *index, at),
                _ => Err(Error::Arity { op: op.name(), at: at(), expected: 1, got: args.len() }),
            }),
            _ => None,
        }
    }

    fn function(&self, index: u32) -> Result<&Function, Error> {
        let limit = self.functions.len();
        self.functions.get(index as usize).ok_or_else(|| Error::BadFunction {
            function: index as usize,
            problem: format!("does not exist; the program has functions 0..{limit}"),
        })
    }

    fn call_type(&self, index: u32, types: &[Type]) -> Result<Type, Error> {
        let bad = |problem: String| Err(Error::BadFunction { function: index as usize, problem });
        let Function::Circuit { netlist, .. } = self.function(index)? else {
            return bad("is a program, but a call takes a circuit; reduce with it, or write its operations".into());
        };
        let ports = netlist.inputs();
        if ports.len() != types.len() {
            return bad(format!("is a circuit of {} inputs, but the call has {} operands", ports.len(), types.len()));
        }
        if let Some((port, ty)) = ports.iter().zip(types).find(|(port, ty)| !port.takes(**ty)) {
            let (name, width) = (&port.name, port.bits.len());
            return bad(format!(
                "has a port {name:?} of {width} bits, which does not take {ty}; give an integer of {width} bits, or an array of bools"
            ));
        }
        netlist.outputs().first().map_or(Err(Error::NoOutputs), |port| Ok(port.element_type()))
    }

    fn reduction_type(&self, index: u32, types: &[Type]) -> Result<Type, Error> {
        let bad = |problem: String| Err(Error::BadFunction { function: index as usize, problem });
        let Function::Program(program) = self.function(index)? else {
            return bad("is a circuit, but a reduction takes a program".into());
        };
        let wanted = program.output_types();
        if wanted != types {
            let list = |types: &[Type]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
            return bad(format!("combines elements of ({}), but the operands are ({})", list(&wanted), list(types)));
        }
        types.first().map_or_else(|| bad("has no values; give a function of one or more".into()), |&ty| Ok(ty))
    }

    /// The type of result `index` of the operation that computes a value.
    fn result_type_of(&self, value: ValueId, index: u32, at: &impl Fn() -> String) -> Result<Type, Error> {
        let node = self.nodes.get(value.0 as usize);
        let types = match node.map(|node| &node.op) {
            Some(Op::Call(function) | Op::Reduce { how: How::Function(function), .. }) => {
                self.function(*function)?.result_types()
            }
            _ => Vec::new(),
        };
        types.get(index as usize).copied().ok_or_else(|| Error::OperandTypes {
            op: "result",
            at: at(),
            args: format!("result {index} of {}", node.map_or("nothing", |node| node.op.name())),
            expected: "it takes a call of a circuit or a reduction with a function, and one of its results",
        })
    }

    /// For a call, whether the last dimension of its operand at `at` holds bits, and whether that of its first result does.
    pub(super) fn bit_dimensions(&self, call: &Node, at: usize) -> (bool, bool) {
        let Some(netlist) = self.called(call) else { return (false, false) };
        let ty = self.nodes[call.args[at].0 as usize].ty;
        let by_bits = netlist.inputs().get(at).is_some_and(|port| port.is_by_bits(ty));
        (by_bits, netlist.outputs().first().is_some_and(|port| port.ty().is_none()))
    }
}
