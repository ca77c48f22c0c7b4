//! Builds programs from parts: other programs, circuits, and elements of arrays.

use super::view::View;
use super::{Axes, Function, How, Op, Plain, Program, ProgramBuilder, Shape, Type, ValueId};
use crate::{Error, Netlist};

impl ProgramBuilder {
    /// Adds the operations of a program whose inputs are these values, and returns its outputs. On arrays, the program runs for each element.
    ///
    /// # Errors
    /// [`Error::WrongCount`] for another number of values; those of [`Self::op`] for values of other types.
    pub fn inline(&mut self, program: &Program, args: &[ValueId]) -> Result<Vec<ValueId>, Error> {
        let (expected, got) = (program.inputs.len(), args.len());
        if expected != got {
            return Err(Error::WrongCount { what: "inputs", expected, got });
        }
        let functions: Vec<u32> = program.functions.iter().map(|function| self.function(function.clone())).collect();
        let number = |function: u32| functions.get(function as usize).copied().unwrap_or(u32::MAX);
        let mut values: Vec<ValueId> = Vec::with_capacity(program.nodes.len());
        for node in &program.nodes {
            let operands: Vec<_> = node.args.iter().map(|arg| values[arg.0 as usize]).collect();
            let op = match &node.op {
                Op::Input(index) => {
                    values.push(args[*index as usize]);
                    continue;
                }
                Op::Call(function) => Op::Call(number(*function)),
                Op::Reduce { how: How::Function(function), axes } => {
                    Op::Reduce { how: How::Function(number(*function)), axes: *axes }
                }
                op => op.clone(),
            };
            values.push(self.typed(op, &operands, node.ty)?);
        }
        Ok(program.outputs.iter().map(|output| values[output.value.0 as usize]).collect())
    }

    /// Calls a circuit on values, and returns its outputs. `optimize` tells whether an engine may simplify it.
    ///
    /// # Errors
    /// [`Error::BadFunction`] for values that do not fit the ports of the circuit.
    pub fn call(&mut self, netlist: Netlist, optimize: bool, args: &[ValueId]) -> Result<Vec<ValueId>, Error> {
        let count = netlist.outputs().len() as u32;
        let function = self.function(Function::Circuit { netlist, optimize });
        let first = self.op(Op::Call(function), args)?;
        let rest = (1..count).map(|index| self.op(Op::Result(index), &[first]));
        std::iter::once(Ok(first)).chain(rest).collect()
    }

    /// The elements with these flat indices of an array of shape `from`, as an array of shape `to`, or as a scalar. Regular indices become slices, permutations
    /// and broadcasts, which take no list.
    ///
    /// # Errors
    /// As [`Self::op`]. Indices and shapes are checked when the shapes of the program are.
    pub fn elements(&mut self, array: ValueId, from: &Shape, indices: Vec<u64>, to: &Shape) -> Result<ValueId, Error> {
        let is_all = indices.len() == from.size() && (0..).zip(&indices).all(|(place, &index)| place == index);
        if is_all && to.size() == from.size() {
            return self.reshape(array, from, to);
        }
        if let Some(view) = View::of(from, &indices, to) {
            return view.add(self, array, from, to);
        }
        let row = self.reshape(array, from, &Shape::line(from))?;
        let taken = Shape::new([indices.len()])?;
        let row = self.op(Op::Take(indices), &[row])?;
        self.reshape(row, &taken, to)
    }

    /// Scalars and the elements of arrays, each given with its shape, one after the other, as an array of shape `to`.
    ///
    /// # Errors
    /// As [`Self::op`].
    pub fn stack(&mut self, parts: &[(ValueId, Shape)], to: &Shape) -> Result<ValueId, Error> {
        let rows = parts.iter().map(|(value, shape)| self.reshape(*value, shape, &Shape::line(shape)));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let row = if let [only] = rows[..] { only } else { self.op(Op::Join(0), &rows)? };
        let count = parts.iter().fold(0usize, |sum, (_, shape)| sum.saturating_add(shape.size()));
        self.reshape(row, &Shape::new([count])?, to)
    }

    /// The largest or smallest element of an array of that shape, and its index in the order of the elements. Of equal elements, the first one counts.
    ///
    /// # Errors
    /// As [`Self::op`]. An array without elements is refused when the shapes of the program are checked.
    pub fn arg_reduce(&mut self, values: ValueId, shape: &Shape, largest: bool) -> Result<(ValueId, ValueId), Error> {
        let last = shape.size().saturating_sub(1);
        let (ty, index) = (self.ty(values)?, Type::Uint((usize::BITS - last.leading_zeros()).max(1) as u16));
        let indices = self.array(Plain::new(index, shape.clone(), 0..shape.size() as u128)?)?;
        let mut function = Self::new();
        let (a, i) = (function.input("a", ty)?, function.input("i", index)?);
        let (b, j) = (function.input("b", ty)?, function.input("j", index)?);
        let stays = function.op(if largest { Op::Ge } else { Op::Le }, &[a, b])?;
        for (name, pair) in [("value", [a, b]), ("index", [i, j])] {
            let chosen = function.op(Op::Select, &[stays, pair[0], pair[1]])?;
            function.output(name, chosen);
        }
        let how = How::Function(self.function(Function::Program(function.finish()?)));
        let best = self.op(Op::Reduce { how, axes: Axes::All }, &[values, indices])?;
        Ok((best, self.op(Op::Result(1), &[best])?))
    }

    pub(super) fn reshape(&mut self, value: ValueId, from: &Shape, to: &Shape) -> Result<ValueId, Error> {
        if from == to {
            return Ok(value);
        }
        self.op(Op::Reshape { rank: from.len() as u32, to: to.clone() }, &[value])
    }
}

impl Program {
    /// A sealed-bid auction: the largest of `count` bids (output `price`), and the number of its bidder from 0 on (output `winner`). Of equal bids, the first
    /// one wins.
    ///
    /// ```
    /// use solinas_circuits::program::{Program, Type};
    /// use solinas_circuits::Plain;
    /// let bids = [300, 900, 900].map(|bid: u128| Plain::scalar(Type::Uint(16), bid).unwrap());
    /// let results = Program::auction(3, Type::Uint(16))?.evaluate_arrays(&bids)?;
    /// assert_eq!(results, [Plain::scalar(Type::Uint(16), 900u128)?, Plain::scalar(Type::Uint(2), 1u128)?]);
    /// # Ok::<(), solinas_circuits::Error>(())
    /// ```
    ///
    /// # Errors
    /// For no bids, and for a type without an order.
    pub fn auction(count: usize, ty: Type) -> Result<Self, Error> {
        if count == 0 {
            return Err(Error::WrongCount { what: "bids", expected: 1, got: 0 });
        }
        let mut builder = ProgramBuilder::new();
        let scalar = Shape::scalar();
        let bids =
            (0..count).map(|bid| Ok((builder.array_input(format!("bid{bid}"), ty, scalar.clone())?, scalar.clone())));
        let bids = bids.collect::<Result<Vec<_>, Error>>()?;
        let all = Shape::new([count])?;
        let row = builder.stack(&bids, &all)?;
        let (price, winner) = builder.arg_reduce(row, &all, true)?;
        builder.output("price", price);
        builder.output("winner", winner);
        builder.finish()
    }
}
