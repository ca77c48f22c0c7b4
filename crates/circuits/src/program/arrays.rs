//! Evaluation of programs on public arrays: the reference for everything that computes them. Each operation computes its whole array, one after the other.

use super::{Axes, Function, How, Node, Op, Plain, Program, Shape, Strides, Type, ValueType};
use crate::{Error, Natural};

impl Program {
    /// Whether any operation combines elements of an array.
    #[must_use]
    pub fn crosses(&self) -> bool {
        self.nodes.iter().any(|node| node.op.crosses())
    }

    /// Whether any operation combines elements of an array that share ciphertexts.
    #[must_use]
    pub fn crosses_slots(&self) -> bool {
        self.nodes.iter().any(|node| node.op.crosses() && node.ty.is_packed())
    }

    /// For each node, whether it is an array. `inputs` states this for the inputs; an input without an entry is an array. A value that depends only on
    /// constants, scalars and sums is a scalar. The program must be valid, and of operations on scalars or on all elements.
    #[must_use]
    pub fn arrays(&self, inputs: &[bool]) -> Vec<bool> {
        let mut arrays: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            arrays.push(match &node.op {
                Op::Input(index) => inputs.get(*index as usize).copied().unwrap_or(true),
                Op::SumElements => false,
                _ => node.args.iter().any(|arg| arrays[arg.0 as usize]),
            });
        }
        arrays
    }

    /// Evaluates the program on public values and arrays.
    ///
    /// # Errors
    /// [`Error::InputType`] or [`Error::WrongCount`] for other inputs than those of the program; the errors of [`Plain::new`]; [`Error::Shape`] or [`Error::Packed`] for shapes that do not
    /// fit; an error of [`Program::validate`].
    pub fn evaluate_arrays(&self, inputs: &[Plain]) -> Result<Vec<Plain>, Error> {
        self.validate()?;
        let given: Vec<Shape> = inputs.iter().map(|input| input.shape.clone()).collect();
        let shapes = self.shapes(&given)?;
        for (input, plain) in self.inputs.iter().zip(inputs) {
            if input.ty != plain.ty {
                let wanted = ValueType { ty: input.ty, shape: plain.shape.clone() };
                return Err(Error::InputType { name: input.name.clone(), wanted, got: plain.value_type() });
            }
            plain.values.iter().try_for_each(|value| input.check(value))?;
            plain.check()?;
        }
        // A value is dropped after its last use.
        let mut readers = vec![0usize; self.nodes.len()];
        let read = self.nodes.iter().flat_map(|node| &node.args).chain(self.outputs.iter().map(|output| &output.value));
        read.for_each(|value| readers[value.0 as usize] += 1);
        // The results of each node; only calls and reductions have several.
        let mut values: Vec<Vec<Vec<Natural>>> = Vec::with_capacity(self.nodes.len());
        for (index, node) in self.nodes.iter().enumerate() {
            let of = |k: usize| node.args[k].0 as usize;
            let arg = |k: usize| Array { ty: self.nodes[of(k)].ty, shape: &shapes[of(k)], values: &values[of(k)][0] };
            let args: Vec<Array<'_>> = (0..node.args.len()).map(arg).collect();
            let result = match &node.op {
                Op::Input(input) => vec![inputs[*input as usize].values.clone()],
                Op::Array { values, .. } => vec![values.clone()],
                Op::Result(result) => vec![values[of(0)][*result as usize].clone()],
                Op::Call(function) => self.call(*function, &args)?,
                Op::Reduce { how, axes } => self.reduce(*how, *axes, &args)?,
                Op::SumElements => self.reduce(How::Sum, Axes::All, &args)?,
                Op::Roll { by, axes } => vec![roll(*by, *axes, args[0])],
                Op::RotateElements(by) => vec![roll(*by, Axes::All, args[0])],
                op if op.is_move() => {
                    let args: Vec<_> = args.iter().map(|array| (array.shape, array.values)).collect();
                    vec![moved(op, &args, &shapes[index])]
                }
                _ => vec![elements(node, &args, &shapes[index])],
            };
            values.push(result);
            for arg in &node.args {
                let readers = &mut readers[arg.0 as usize];
                *readers -= 1;
                if *readers == 0 {
                    values[arg.0 as usize].clear();
                }
            }
        }
        let output =
            |at: usize| Plain { ty: self.nodes[at].ty, shape: shapes[at].clone(), values: values[at][0].clone() };
        Ok(self.outputs.iter().map(|out| output(out.value.0 as usize)).collect())
    }

    /// Combines from left to right.
    fn reduce(&self, how: How, axes: Axes, args: &[Array<'_>]) -> Result<Vec<Vec<Natural>>, Error> {
        let shape = args[0].shape;
        let (lead, inner) = shape.split(axes.count(shape.len())).unwrap_or((shape, &[]));
        let (rows, count): (usize, usize) = (lead.iter().product(), inner.iter().product());
        let mut results = vec![Vec::with_capacity(rows); args.len()];
        for row in 0..rows {
            let element = |at: usize| args.iter().map(move |array| array.values[row * count + at].clone());
            let mut all = (0..count).map(element);
            let mut combined: Vec<Natural> = match all.next() {
                Some(first) => first.collect(),
                None => vec![how.empty(args[0].ty)],
            };
            for right in all {
                combined = match how {
                    How::Function(function) => match &self.functions[function as usize] {
                        Function::Program(program) => {
                            program.evaluate(&combined.into_iter().chain(right).collect::<Vec<_>>())?
                        }
                        Function::Circuit { netlist, .. } => netlist.evaluate(&combined)?,
                    },
                    _ => {
                        let right: Vec<Natural> = right.collect();
                        vec![how.op().apply(&[(&combined[0], args[0].ty), (&right[0], args[0].ty)], args[0].ty)]
                    }
                };
            }
            results.iter_mut().zip(combined).for_each(|(all, value)| all.push(value));
        }
        Ok(results)
    }

    fn call(&self, function: u32, args: &[Array<'_>]) -> Result<Vec<Vec<Natural>>, Error> {
        let Function::Circuit { netlist, .. } = &self.functions[function as usize] else { return Ok(Vec::new()) };
        // The shape of the operands without the dimension of bits.
        let mut lanes = Shape::scalar();
        let mut operands = Vec::with_capacity(args.len());
        for (port, array) in netlist.inputs().iter().zip(args) {
            let width = if port.is_by_bits(array.ty) { port.bits.len() } else { 0 };
            let lead = &array.shape[..array.shape.len() - usize::from(width > 0)];
            let own = Shape::new(lead.iter().copied())?;
            lanes = lanes.broadcast(&own)?.unwrap_or_default();
            operands.push((width, own, array));
        }
        let mut results = vec![Vec::new(); netlist.outputs().len()];
        for lane in 0..lanes.size() {
            let value = |(width, own, array): &(usize, Shape, &Array<'_>)| {
                let at = own.index_in(&lanes, lane);
                match *width {
                    0 => array.values[at].clone(),
                    width => Natural::from_bits(array.values[at * width..][..width].iter().map(|bit| !bit.is_zero())),
                }
            };
            let found = netlist.evaluate(&operands.iter().map(value).collect::<Vec<_>>())?;
            for ((port, found), all) in netlist.outputs().iter().zip(found).zip(&mut results) {
                match port.ty() {
                    Some(_) => all.push(found),
                    None => all.extend((0..port.bits.len()).map(|bit| Natural::from(u128::from(found.bit(bit))))),
                }
            }
        }
        Ok(results)
    }
}

impl How {
    /// The operation on two neighbours; that of a sum for a function.
    pub(crate) const fn op(self) -> Op {
        match self {
            Self::Sum | Self::Function(_) => Op::Add,
            Self::Prod => Op::Mul,
            Self::Min => Op::Min,
            Self::Max => Op::Max,
            Self::And => Op::And,
            Self::Or => Op::Or,
            Self::Xor => Op::Xor,
        }
    }

    /// The result for no elements, for those that have one.
    pub(crate) fn empty(self, ty: Type) -> Natural {
        match self {
            Self::Prod => Natural::ONE,
            Self::And => ty.mask(),
            _ => Natural::ZERO,
        }
    }
}

/// A value of a node.
#[derive(Clone, Copy)]
struct Array<'a> {
    ty: Type,
    shape: &'a Shape,
    values: &'a [Natural],
}

/// An operation element by element.
fn elements<'a>(node: &Node, args: &[Array<'a>], shape: &Shape) -> Vec<Natural> {
    let of = |lane: usize| {
        let arg = |array: &Array<'a>| (&array.values[array.shape.index_in(shape, lane)], array.ty);
        let args: Vec<_> = args.iter().map(arg).collect();
        node.op.apply(&args, node.ty)
    };
    (0..shape.size()).map(of).collect()
}

/// The elements of each row, of the dimensions in `axes` as one, from `by` on.
fn roll(by: i64, axes: Axes, array: Array<'_>) -> Vec<Natural> {
    let mut values = array.values.to_vec();
    let rank = array.shape.len();
    let count: usize = array.shape[rank - axes.count(rank).min(rank)..].iter().product();
    for row in values.chunks_mut(count.max(1)) {
        row.rotate_left(places(by, row.len()));
    }
    values
}

/// The index, in each dimension, of an element.
fn position(shape: &[usize], mut element: usize) -> Strides {
    let mut at = Strides::from_elem(0, shape.len());
    for k in (0..shape.len()).rev() {
        at[k] = (element % shape[k]) as i64;
        element /= shape[k];
    }
    at
}

/// The element at an index of each dimension.
fn element(shape: &[usize], position: &[i64]) -> usize {
    shape.iter().zip(position).fold(0, |element, (&size, &at)| element * size + at as usize)
}

impl Shape {
    /// The element of an array of this shape that an element of its broadcast to `to` is.
    pub(super) fn index_in(&self, to: &Self, lane: usize) -> usize {
        if self == to {
            return lane;
        }
        let at = position(to, lane);
        let own = at[to.len() - self.len()..].iter().zip(self.iter());
        element(self, &own.map(|(&at, &size)| if size == 1 { 0 } else { at }).collect::<Strides>())
    }
}

/// The elements of the result, of shape `to`, of an operation that moves elements of arrays.
pub(super) fn moved<T: Clone>(op: &Op, args: &[(&Shape, &[T])], to: &Shape) -> Vec<T> {
    let (shape, values) = args[0];
    let lead = |inner: usize| shape.len() - inner;
    let from = |source: &dyn Fn(Strides) -> Strides| {
        (0..to.size()).map(|lane| values[element(shape, &source(position(to, lane)))].clone()).collect()
    };
    match op {
        Op::Permute(axes) => from(&|at| {
            let lead = lead(axes.len());
            let mut source = at.clone();
            axes.iter().enumerate().for_each(|(k, &axis)| source[lead + axis as usize] = at[lead + k]);
            source
        }),
        Op::Slice(ranges) => from(&|mut at| {
            let lead = lead(ranges.len());
            for (k, range) in ranges.iter().enumerate() {
                at[lead + k] = range.start as i64 + range.step * at[lead + k];
            }
            at
        }),
        Op::Take(indices) => from(&|mut at| {
            if let Some(last) = at.last_mut() {
                *last = indices[*last as usize] as i64;
            }
            at
        }),
        Op::BroadcastTo(_) => (0..to.size()).map(|lane| values[shape.index_in(to, lane)].clone()).collect(),
        Op::Join(axis) => {
            let along = to.len() - 1 - *axis as usize;
            let of = |lane: usize| {
                let mut at = position(to, lane);
                for (shape, values) in args {
                    let size = shape[along] as i64;
                    if at[along] < size {
                        return Some(values[element(shape, &at)].clone());
                    }
                    at[along] -= size;
                }
                None
            };
            (0..to.size()).filter_map(of).collect()
        }
        _ => values.to_vec(),
    }
}

/// The rotation by `by` as a number of places to the left below `count`; 0 if `count` is 0.
#[must_use]
pub fn places(by: i64, count: usize) -> usize {
    match i64::try_from(count) {
        Ok(0) => 0,
        Ok(count) => by.rem_euclid(count) as usize,
        // No array is this long.
        Err(_) => 0,
    }
}
