//! Builds programs, and checks types at each step.

use super::{ACROSS, Function, Input, Node, OPERATIONS, Op, Output, Plain, Program, Shape, Type, ValueId};
use crate::{Error, MAX_NODES, Natural};
use std::collections::HashMap;
use std::hash::BuildHasher;

/// Builds a [`Program`] operation by operation.
#[derive(Debug, Clone, Default)]
pub struct ProgramBuilder {
    program: Program,
    /// The functions of the program by their hashes.
    functions: HashMap<u64, Vec<u32>>,
}

impl ProgramBuilder {
    /// An empty program.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an input of any shape.
    ///
    /// # Errors
    /// [`Error::BadType`] for a width outside 1..=2048.
    pub fn input(&mut self, name: impl Into<String>, ty: Type) -> Result<ValueId, Error> {
        self.add_input(name.into(), ty, None)
    }

    /// Adds an input of that shape.
    ///
    /// # Errors
    /// As [`Self::input`].
    pub fn array_input(&mut self, name: impl Into<String>, ty: Type, shape: Shape) -> Result<ValueId, Error> {
        self.add_input(name.into(), ty, Some(shape))
    }

    fn add_input(&mut self, name: String, ty: Type, shape: Option<Shape>) -> Result<ValueId, Error> {
        ty.validate()?;
        let index = self.program.inputs.len() as u32;
        self.program.inputs.push(Input { name, ty, shape });
        self.push(Op::Input(index), &[], ty)
    }

    /// Adds a public array.
    ///
    /// # Errors
    /// [`Error::ConstantOutOfRange`] or [`Error::ElementCount`].
    pub fn array(&mut self, array: Plain) -> Result<ValueId, Error> {
        self.typed(Op::Array { shape: array.shape, values: array.values }, &[], array.ty)
    }

    /// Adds a function, unless the program has an equal one. [`Op::Call`] and [`How::Function`](super::How::Function) name it by the index that is returned.
    pub fn function(&mut self, function: Function) -> u32 {
        let all = &mut self.program.functions;
        let hash = self.functions.hasher().hash_one(&function);
        let known = self.functions.entry(hash).or_default();
        if let Some(&index) = known.iter().find(|&&index| all[index as usize] == function) {
            return index;
        }
        let index = all.len() as u32;
        all.push(function);
        known.push(index);
        index
    }

    /// Adds a public constant, given as its bits in two's complement.
    ///
    /// # Errors
    /// [`Error::ConstantOutOfRange`] if it has bits outside the type.
    pub fn constant(&mut self, value: impl Into<Natural>, ty: Type) -> Result<ValueId, Error> {
        self.typed(Op::Const(value.into()), &[], ty)
    }

    /// Adds an operation whose operands decide its type. [`Op::Cast`], [`Op::Lookup`], [`Op::Const`] and [`Op::Input`] have separate methods.
    ///
    /// # Errors
    /// [`Error::Arity`], [`Error::OperandTypes`] or [`Error::ValueOutOfOrder`] for unsuitable operands.
    pub fn op(&mut self, op: Op, args: &[ValueId]) -> Result<ValueId, Error> {
        let declared = match args.first() {
            Some(&arg) => self.ty(arg)?,
            None => Type::Bool,
        };
        self.typed(op, args, declared)
    }

    /// Casts to another type: truncates, or extends by the sign of the operand's type.
    ///
    /// # Errors
    /// [`Error::BadType`] or [`Error::ValueOutOfOrder`].
    pub fn cast(&mut self, value: ValueId, ty: Type) -> Result<ValueId, Error> {
        self.typed(Op::Cast, &[value], ty)
    }

    /// `table[index]`, of type `ty`.
    ///
    /// # Errors
    /// [`Error::OperandTypes`] for an index that is signed or wider than 8 bits, or for a table of another size,
    /// [`Error::ConstantOutOfRange`] for an entry outside `ty`.
    pub fn lookup<V: Into<Natural>>(&mut self, table: Vec<V>, index: ValueId, ty: Type) -> Result<ValueId, Error> {
        self.typed(Op::Lookup(table.into_iter().map(Into::into).collect()), &[index], ty)
    }

    /// The sum of values of the same type, which may be integers modulo a number. Wraps.
    ///
    /// # Errors
    /// [`Error::OperandTypes`] if there is no value, or if the values are not integers of the same type; [`Error::ValueOutOfOrder`].
    pub fn sum(&mut self, values: &[ValueId]) -> Result<ValueId, Error> {
        self.op(Op::Sum, values)
    }

    /// `values[index]`. An index beyond the end gives the last value.
    ///
    /// # Errors
    /// [`Error::OperandTypes`] if the index is not unsigned, if there is no value, or if the values differ in type; [`Error::ValueOutOfOrder`].
    pub fn index(&mut self, index: ValueId, values: &[ValueId]) -> Result<ValueId, Error> {
        let mut args = Vec::with_capacity(values.len() + 1);
        args.push(index);
        args.extend_from_slice(values);
        self.op(Op::Index, &args)
    }

    /// Rotates the array on which the program runs: element `i` of the result is element `i + by` modulo the length.
    ///
    /// # Errors
    /// [`Error::OperandTypes`] unless the array holds integers modulo a number; [`Error::ValueOutOfOrder`].
    pub fn rotate_elements(&mut self, value: ValueId, by: i64) -> Result<ValueId, Error> {
        self.op(Op::RotateElements(by), &[value])
    }

    /// The sum of the elements of the array on which the program runs, a scalar.
    ///
    /// # Errors
    /// As [`Self::rotate_elements`].
    pub fn sum_elements(&mut self, value: ValueId) -> Result<ValueId, Error> {
        self.op(Op::SumElements, &[value])
    }

    /// The sum of the products of the elements of two arrays, a scalar.
    ///
    /// # Errors
    /// As [`Self::rotate_elements`].
    pub fn dot(&mut self, a: ValueId, b: ValueId) -> Result<ValueId, Error> {
        let products = self.op(Op::Mul, &[a, b])?;
        self.sum_elements(products)
    }

    /// Names an output.
    pub fn output(&mut self, name: impl Into<String>, value: ValueId) {
        self.program.outputs.push(Output { name: name.into(), value });
    }

    /// The type of a value.
    ///
    /// # Errors
    /// [`Error::ValueOutOfOrder`] for a value of another program.
    pub fn ty(&self, value: ValueId) -> Result<Type, Error> {
        let limit = self.program.nodes.len();
        match self.program.nodes.get(value.0 as usize) {
            Some(node) => Ok(node.ty),
            None => Err(Error::ValueOutOfOrder { what: "the new operation".to_owned(), value: value.0, limit }),
        }
    }

    /// The program so far. It has no output yet, so it is not valid.
    pub(crate) fn unchecked(self) -> Program {
        self.program
    }

    /// Checks and returns the program.
    ///
    /// # Errors
    /// An error of [`Program::validate`]: no output, or two ports of the same name.
    pub fn finish(self) -> Result<Program, Error> {
        self.program.validate()?;
        Ok(self.program)
    }

    /// Adds an operation. `declared` is the type of a result that the operands do not decide: of a constant, a cast or a table.
    ///
    /// # Errors
    /// [`Error::Arity`], [`Error::OperandTypes`] or [`Error::ValueOutOfOrder`] for unsuitable operands.
    pub fn typed(&mut self, op: Op, args: &[ValueId], declared: Type) -> Result<ValueId, Error> {
        let types = args.iter().map(|&arg| self.ty(arg)).collect::<Result<Vec<_>, _>>()?;
        let inputs: Vec<_> = match op {
            Op::Input(_) => self.program.inputs.iter().map(|input| input.ty).collect(),
            _ => Vec::new(),
        };
        let ty = match self.program.function_type(&op, args, &types, &String::new) {
            Some(ty) => ty?,
            None => op.result_type(&inputs, &types, declared, String::new)?,
        };
        self.push(op, args, ty)
    }

    fn push(&mut self, op: Op, args: &[ValueId], ty: Type) -> Result<ValueId, Error> {
        let index = self.program.nodes.len();
        if index >= MAX_NODES {
            return Err(Error::TooLarge { what: "operations", got: index as u64 + 1, limit: MAX_NODES as u64 });
        }
        self.program.nodes.push(Node { op, args: args.to_vec(), ty });
        Ok(ValueId(index as u32))
    }
}

impl Program {
    /// The program of one operation of [`OPERATIONS`] or [`ACROSS`], or of a cast named `to_TYPE`. Its inputs are `a`, `b`, ... of the given types (`c`, `a`, `b`
    /// for `select`), and its output is `result`.
    ///
    /// ```
    /// use solinas_circuits::program::{Program, Type};
    /// let add = Program::from_op("add", &[Type::Uint(8), Type::Uint(8)])?;
    /// assert_eq!(add.evaluate(&[250, 10])?, [4]);
    /// # Ok::<(), solinas_circuits::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::UnknownOperation`], or an error about unsuitable operand types.
    pub fn from_op(name: &str, types: &[Type]) -> Result<Self, Error> {
        let cast = name.strip_prefix("to_").map(str::parse::<Type>).transpose()?;
        let across = ACROSS.iter().find(|operation| operation.name == name);
        let op = match Op::from_name(name) {
            Some(op) => op,
            None if cast.is_some() => Op::Cast,
            // With two operands, the sum of their products.
            None if across.is_some_and(|operation| operation.arity == 2) => Op::Mul,
            None if across.is_some() => Op::SumElements,
            None => {
                let known: Vec<_> = OPERATIONS.iter().chain(ACROSS).map(|op| op.name).collect();
                let known = format!("{}, to_TYPE", known.join(", "));
                return Err(Error::UnknownOperation { name: name.to_owned(), known });
            }
        };
        if let Some(expected) = op.arity().filter(|&arity| arity != types.len()) {
            let got = types.len();
            return Err(Error::Arity { op: op.name(), at: String::new(), expected, got });
        }
        let names = if op == Op::Select { ["c", "a", "b"] } else { ["a", "b", "c"] };
        let mut builder = ProgramBuilder::new();
        let args =
            names.into_iter().zip(types).map(|(name, &ty)| builder.input(name, ty)).collect::<Result<Vec<_>, _>>()?;
        let result = match cast {
            Some(ty) => builder.cast(args[0], ty)?,
            None if op == Op::Mul && across.is_some() => builder.dot(args[0], args[1])?,
            None => builder.op(op, &args)?,
        };
        builder.output("result", result);
        builder.finish()
    }
    /// The program that rotates the elements of an array by `by` places to the left. Its input is `a`, and its output is `result`.
    ///
    /// # Errors
    /// [`Error::OperandTypes`] unless the elements are integers modulo a number.
    pub fn rotation(ty: Type, by: i64) -> Result<Self, Error> {
        let mut builder = ProgramBuilder::new();
        let a = builder.input("a", ty)?;
        let result = builder.rotate_elements(a, by)?;
        builder.output("result", result);
        builder.finish()
    }
}
