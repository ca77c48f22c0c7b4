//! Random programs on arrays of small shapes, with inputs.

use crate::common::rng;
use rand_chacha::ChaCha8Rng;
use rand_core::RngCore;
use solinas_circuits::build::Recipe;
use solinas_circuits::program::{
    Axes, Function, How, Input, Node, Op, Output, Program, ProgramBuilder, Range, Shape, Shaped, Type, ValueId,
};
use solinas_circuits::{Natural, Netlist, Plain};
use std::sync::Arc;

const U8: Type = Type::Uint(8);
const U3: Type = Type::Uint(3);
const I5: Type = Type::Int(5);
const MODULAR: Type = Type::Mod(257);
/// Functions of every program.
const LARGER: u32 = 0;
const ADDER: u32 = 1;
const WIDE: u32 = 2;

pub(crate) fn below(rng: &mut ChaCha8Rng, limit: usize) -> usize {
    (rng.next_u64() % limit.max(1) as u64) as usize
}

pub(crate) fn pick<T: Clone>(rng: &mut ChaCha8Rng, of: &[T]) -> T {
    of[below(rng, of.len())].clone()
}

/// What programs hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    /// Arrays of some hundred elements.
    pub(crate) large: bool,
    /// Integers modulo a number.
    pub(crate) packed: bool,
}

/// A program and its inputs.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) shaped: Shaped,
    pub(crate) inputs: Vec<Plain>,
}

pub(crate) fn plain(rng: &mut ChaCha8Rng, ty: Type, shape: Shape) -> Plain {
    let values = (0..shape.size()).map(|_| match ty.modulus() {
        Some(modulus) => Natural::from(u128::from(rng.next_u64() % u64::from(modulus))),
        None => Natural::from(u128::from(rng.next_u64())).low(ty.width()),
    });
    Plain::new(ty, shape, values.collect::<Vec<_>>()).unwrap()
}

/// The larger one of two values and its index, of two pairs of a value and an index.
pub(crate) fn larger() -> Program {
    let mut builder = ProgramBuilder::new();
    let [a, i, b, j] = ["a", "i", "b", "j"].map(|name| builder.input(name, U8).unwrap());
    let later = builder.op(Op::Lt, &[a, b]).unwrap();
    let value = builder.op(Op::Select, &[later, b, a]).unwrap();
    let index = builder.op(Op::Select, &[later, j, i]).unwrap();
    builder.output("value", value);
    builder.output("index", index);
    builder.finish().unwrap()
}

/// A circuit of two ports of three bits and one of a bit, with the sum and whether it is odd.
fn adder() -> Netlist {
    let mut builder = ProgramBuilder::new();
    let [a, b] = ["a", "b"].map(|name| builder.input(name, U3).unwrap());
    let carry = builder.input("carry", Type::Bool).unwrap();
    let wide = builder.cast(carry, U3).unwrap();
    let sum = builder.sum(&[a, b, wide]).unwrap();
    let odd = builder.cast(sum, Type::Bool).unwrap();
    builder.output("sum", sum);
    builder.output("odd", odd);
    builder.finish().unwrap().lower(Recipe::default()).unwrap()
}

/// A circuit whose first port is too wide for an integer: copies of a bit.
fn wide() -> Netlist {
    let mut builder = solinas_circuits::Builder::new();
    let bit = builder.input("bit", 1, false)[0];
    let not = builder.not(bit);
    builder.output("copies", &[bit, not].repeat(1025), false);
    builder.output("not", &[not], false);
    builder.finish().unwrap()
}

struct Generator<'r> {
    rng: &'r mut ChaCha8Rng,
    program: Program,
    given: Vec<Shape>,
    shapes: Vec<Shape>,
}

/// A random program that is valid on its inputs.
pub(crate) fn case(seed: u64, kind: Kind) -> Case {
    let rng = &mut rng(seed);
    let circuit = |netlist| Function::Circuit { netlist, optimize: true };
    let functions = vec![Function::Program(larger()), circuit(adder()), circuit(wide())];
    let program = Program { functions, ..Program::default() };
    let mut this = Generator { rng, program, given: Vec::new(), shapes: Vec::new() };
    let mut inputs = Vec::new();
    for i in 0..1 + below(this.rng, 4) {
        let rank = below(this.rng, 4);
        let sizes: Vec<usize> = (0..rank).map(|_| this.dimension(kind.large)).collect();
        let shape = Shape::new(sizes).unwrap();
        let ty =
            if kind.packed && below(this.rng, 2) == 0 { MODULAR } else { pick(this.rng, &[U8, U3, I5, Type::Bool]) };
        let declared = (below(this.rng, 2) == 0).then(|| shape.clone());
        this.program.inputs.push(Input { name: format!("x{i}"), ty, shape: declared });
        this.given.push(shape.clone());
        inputs.push(plain(this.rng, ty, shape));
        assert!(this.push(Op::Input(i as u32), vec![], ty));
    }
    for _ in 0..1 + below(this.rng, 14) {
        this.operation();
    }
    let count = this.program.nodes.len();
    let output = |rng: &mut ChaCha8Rng, i| {
        let value = ValueId((count - 1 - below(rng, count.min(4))) as u32);
        Output { name: format!("y{i}"), value }
    };
    this.program.outputs = (0..1 + below(this.rng, 3)).map(|i| output(this.rng, i)).collect();
    let shaped = Arc::new(this.program).at(&this.given).unwrap();
    Case { shaped, inputs }
}

impl Generator<'_> {
    fn dimension(&mut self, large: bool) -> usize {
        if large { 1 + below(self.rng, 14) } else { below(self.rng, 5) }
    }

    /// Adds a node if the program is valid with it.
    fn push(&mut self, op: Op, args: Vec<ValueId>, ty: Type) -> bool {
        self.program.nodes.push(Node { op, args, ty });
        let value = ValueId(self.program.nodes.len() as u32 - 1);
        self.program.outputs = vec![Output { name: "y".into(), value }];
        let found = Arc::new(self.program.clone()).at(&self.given);
        match found.map(|shaped| shaped.shapes()[value.0 as usize].clone()) {
            Ok(shape) if shape.size() <= 3_000 => self.shapes.push(shape),
            _ => drop(self.program.nodes.pop()),
        }
        self.shapes.len() > value.0 as usize
    }

    fn any(&mut self) -> ValueId {
        let count = self.program.nodes.len();
        let reach = if below(self.rng, 2) == 0 { count } else { count.min(4) };
        ValueId((count - 1 - below(self.rng, reach)) as u32)
    }

    fn of_type(&mut self, ty: Type) -> Option<ValueId> {
        let all: Vec<ValueId> = (0..self.program.nodes.len() as u32).map(ValueId).collect();
        let all: Vec<ValueId> = all.into_iter().filter(|v| self.program.nodes[v.0 as usize].ty == ty).collect();
        (!all.is_empty()).then(|| pick(self.rng, &all))
    }

    fn axes(&mut self, rank: usize) -> Axes {
        if below(self.rng, 3) == 0 { Axes::All } else { Axes::Last(below(self.rng, rank + 1) as u32) }
    }

    fn operation(&mut self) {
        let x = self.any();
        let (ty, shape) = (self.program.nodes[x.0 as usize].ty, self.shapes[x.0 as usize].clone());
        let rank = shape.len();
        let y = self.of_type(ty).unwrap_or(x);
        let rng_pick = |this: &mut Self, ops: &[Op]| pick(this.rng, ops);
        match below(self.rng, 17) {
            0 => {
                let ty = if ty == MODULAR { MODULAR } else { pick(self.rng, &[U8, U3, I5, Type::Bool]) };
                let value = plain(self.rng, ty, Shape::scalar()).values.remove(0);
                self.push(Op::Const(value), vec![], ty);
            }
            1 => {
                let array = plain(self.rng, ty, shape);
                self.push(Op::Array { shape: array.shape, values: array.values }, vec![], ty);
            }
            2..=5 => {
                let ops: &[Op] = match ty {
                    Type::Mod(_) => &[Op::Add, Op::Sub, Op::Mul],
                    Type::Bool => &[Op::And, Op::Or, Op::Xor],
                    _ => &[Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max, Op::DivFloor],
                };
                let op = rng_pick(self, ops);
                let args = if below(self.rng, 2) == 0 { vec![x, y] } else { vec![y, x] };
                self.push(op, args, ty);
            }
            6 => {
                let op = pick(self.rng, &[Op::Lt, Op::Eq]);
                self.push(op, vec![x, y], Type::Bool);
            }
            7 => {
                let to = pick(self.rng, &[U8, U3, I5, Type::Bool]);
                self.push(Op::Cast, vec![x], to);
            }
            8 => {
                if let Some(condition) = self.of_type(Type::Bool)
                    && below(self.rng, 2) == 0
                {
                    self.push(Op::Select, vec![condition, x, y], ty);
                } else if let Some(index) = self.of_type(U3) {
                    self.push(Op::Index, vec![index, x, y, x], ty);
                }
            }
            9 => {
                let count = below(self.rng, rank + 1);
                let part = shape[rank - count..].to_vec();
                let to = match below(self.rng, 3) {
                    0 => vec![part.iter().product()],
                    1 => part.iter().rev().copied().collect(),
                    _ => part.iter().copied().chain([1]).collect(),
                };
                self.push(Op::Reshape { rank: count as u32, to: Shape::new(to).unwrap() }, vec![x], ty);
            }
            10 => {
                let mut axes: Vec<u32> = (0..below(self.rng, rank + 1) as u32).collect();
                for k in (1..axes.len()).rev() {
                    axes.swap(k, below(self.rng, k + 1));
                }
                self.push(Op::Permute(axes), vec![x], ty);
            }
            11 => {
                let count = below(self.rng, rank + 1);
                let ranges = shape[rank - count..].iter().map(|&size| self.range(size)).collect();
                self.push(Op::Slice(ranges), vec![x], ty);
            }
            12 => {
                let last = shape.last().copied().unwrap_or(0);
                let count = if last == 0 { 0 } else { below(self.rng, 7) };
                let indices = (0..count).map(|_| below(self.rng, last) as u64).collect();
                self.push(Op::Take(indices), vec![x], ty);
            }
            13 => {
                let axis = below(self.rng, rank.max(1)) as u32;
                let others: Vec<ValueId> = (0..below(self.rng, 3)).filter_map(|_| self.of_type(ty)).collect();
                let others = others.into_iter().filter(|v| self.shapes[v.0 as usize].len() == rank);
                let args: Vec<ValueId> = others.chain([x]).collect();
                if !self.push(Op::Join(axis), args, ty) {
                    self.push(Op::Join(axis), vec![x, x], ty);
                }
            }
            14 => {
                let lead = (0..below(self.rng, 2)).map(|_| 2);
                let to = lead.chain(shape.iter().map(|&size| if size == 1 { 3 } else { size })).collect::<Vec<_>>();
                self.push(Op::BroadcastTo(Shape::new(to).unwrap()), vec![x], ty);
            }
            15 => {
                let (by, axes) = (below(self.rng, 9) as i64 - 4, self.axes(rank));
                self.push(Op::Roll { by, axes }, vec![x], ty);
            }
            _ => self.reduction(x, ty, rank),
        }
    }

    fn range(&mut self, size: usize) -> Range {
        if size == 0 {
            return Range::all(0);
        }
        let start = below(self.rng, size);
        match below(self.rng, 4) {
            0 => Range::all(size),
            1 => Range { start, step: 1, len: below(self.rng, size - start + 1) },
            2 => Range { start, step: -1, len: below(self.rng, start + 2) },
            _ => Range { start, step: 2, len: below(self.rng, (size - start).div_ceil(2) + 1) },
        }
    }

    fn reduction(&mut self, x: ValueId, ty: Type, rank: usize) {
        let axes = if ty == MODULAR { Axes::All } else { self.axes(rank) };
        match below(self.rng, 5) {
            0 if ty == U8 => {
                if self.push(Op::Reduce { how: How::Function(LARGER), axes }, vec![x, x], ty) {
                    let value = ValueId(self.program.nodes.len() as u32 - 1);
                    self.push(Op::Result(1), vec![value], U8);
                }
            }
            1 if ty == Type::Bool => {
                if below(self.rng, 40) == 0 {
                    if self.push(Op::Call(WIDE), vec![x], Type::Bool) {
                        let value = ValueId(self.program.nodes.len() as u32 - 1);
                        self.push(Op::Result(1), vec![value], Type::Bool);
                        let part = Range { start: 5, step: 7, len: 3 };
                        self.push(Op::Slice(vec![part]), vec![value], Type::Bool);
                    }
                    return;
                }
                // An array of bools may hold the bits of a port.
                let bits = self.shapes[x.0 as usize].last() == Some(&3);
                let number = self.of_type(U3);
                if let Some(number) = number {
                    let left = if bits { x } else { number };
                    if self.push(Op::Call(ADDER), vec![left, number, x], U3) {
                        let value = ValueId(self.program.nodes.len() as u32 - 1);
                        self.push(Op::Result(1), vec![value], Type::Bool);
                    }
                }
            }
            _ => {
                let how = match ty {
                    Type::Mod(_) => How::Sum,
                    Type::Bool => pick(self.rng, &[How::And, How::Or, How::Xor]),
                    _ => pick(self.rng, &[How::Sum, How::Sum, How::Prod, How::Min, How::Max, How::Xor]),
                };
                self.push(Op::Reduce { how, axes }, vec![x], ty);
            }
        }
    }
}
