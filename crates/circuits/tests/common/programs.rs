//! Random programs that type-check, on bits and on integers modulo a number, and inputs for them.
//!
//! The programs are hard to plan. One value is an operand many times, and casts and shifts make blocks that are copies of the sign. Most operands are recent
//! results, so noise and linear combinations accumulate.
#![allow(dead_code, reason = "each user takes a part")]

use num_bigint::BigInt;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_circuits::program::{Op, Program, ProgramBuilder, Shape, Type, ValueId};
use solinas_circuits::{Error, Natural, Plain};

/// A reproducible generator.
pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

fn below(rng: &mut ChaCha8Rng, limit: usize) -> usize {
    (rng.next_u64() % limit.max(1) as u64) as usize
}

/// Size limits of a program of bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Greatest width of an integer.
    pub(crate) widest: u16,
    /// Greatest number of operations besides inputs, constants and casts of operands.
    pub(crate) operations: usize,
    /// Approximate number of rotations of blocks.
    pub(crate) effort: usize,
}

/// A random number. Corner values and small numbers are more frequent.
pub(crate) fn number(rng: &mut ChaCha8Rng, ty: Type) -> Natural {
    let width = ty.width();
    let any = Natural::from_bits((0..width).map(|_| rng.next_u64() & 1 == 1));
    if let Some(modulus) = ty.modulus() {
        return u128::from([0, 1, modulus - 1, any.rem(modulus)][below(rng, 4)]).into();
    }
    let wrapped = |value: BigInt| Natural::wrap(&value, width);
    let top = BigInt::from(1) << (width - 1);
    let corners = [0, 1, 2, 3, 5, -1, -2].map(BigInt::from).into_iter().chain([-1, 0, 1].map(|by| &top + by));
    let corners: Vec<BigInt> = corners.collect();
    let short = any.to_integer() >> below(rng, width);
    match below(rng, 4) {
        0 => wrapped(corners[below(rng, corners.len())].clone()),
        1 => wrapped(short),
        2 => wrapped(-short),
        _ => any,
    }
}

/// A number for each input. Some of the numbers are equal.
pub(crate) fn inputs(rng: &mut ChaCha8Rng, program: &Program) -> Vec<Natural> {
    let mut all: Vec<Natural> = program.inputs.iter().map(|input| number(rng, input.ty)).collect();
    if below(rng, 4) == 0 {
        let first = all[0].clone();
        let equal = all.iter_mut().zip(&program.inputs).filter(|(_, input)| input.ty.holds(&first));
        equal.for_each(|(value, _)| value.clone_from(&first));
    }
    all
}

/// A program of bools and integers: every operation on them.
///
/// # Errors
/// If the builder rejects operations that type-check.
pub(crate) fn program(rng: &mut ChaCha8Rng, limits: Limits) -> Result<Program, Error> {
    const WIDTHS: [u16; 30] = [
        1, 2, 2, 3, 4, 4, 5, 6, 7, 8, 8, 8, 9, 12, 15, 16, 24, 31, 32, 33, 48, 64, 127, 128, 129, 255, 256, 521, 1024,
        2048,
    ];
    let count = WIDTHS.iter().filter(|&&width| width <= limits.widest).count();
    let mut types = vec![Type::Bool];
    // One or two bits, now and then: functions of a value are then often the value itself, or its complement.
    let tiny = below(rng, 4) == 0;
    for i in 0..=below(rng, 3) {
        let width = if tiny && i == 0 { 1 + below(rng, 2) as u16 } else { WIDTHS[below(rng, count)] };
        types.push(if below(rng, 2) == 0 { Type::Uint(width) } else { Type::Int(width) });
    }
    let mut this = Generator { rng, builder: ProgramBuilder::new(), values: Vec::new(), types, effort: limits.effort };
    for i in 0..=below(this.rng, 3) {
        let ty = this.types[if i == 0 { 1 } else { below(this.rng, this.types.len()) }];
        let input = this.builder.input(format!("x{i}"), ty)?;
        this.values.push((input, ty));
    }
    for _ in 0..=below(this.rng, limits.operations) {
        this.step()?;
    }
    // The latest values, or all values. The optimizer does not merge an output into its readers.
    let first = if below(this.rng, 3) == 0 { 0 } else { this.values.len().saturating_sub(1 + below(this.rng, 3)) };
    for (i, &(value, _)) in this.values.iter().enumerate().skip(first) {
        this.builder.output(format!("y{i}"), value);
    }
    this.builder.finish()
}

/// A program of additions, products and moves of elements modulo a number. `depth` limits the products in a row.
///
/// # Errors
/// If the builder rejects operations that type-check.
pub(crate) fn modular(rng: &mut ChaCha8Rng, modulus: u32, operations: usize, depth: usize) -> Result<Program, Error> {
    let ty = Type::Mod(modulus);
    let mut builder = ProgramBuilder::new();
    let mut values = Vec::new();
    for i in 0..=below(rng, 3) {
        values.push((builder.input(format!("x{i}"), ty)?, 0));
    }
    for _ in 0..2 {
        values.push((builder.constant(number(rng, ty), ty)?, 0));
    }
    let given = values.len();
    for _ in 0..=below(rng, operations) {
        let ((x, dx), (y, dy)) = (recent(rng, &values), recent(rng, &values));
        let deepest = dx.max(dy);
        let value = match below(rng, 12) {
            0..4 if deepest < depth => (builder.op(Op::Mul, &[x, y])?, deepest + 1),
            4 | 5 => (builder.op(Op::Sub, &[x, y])?, deepest),
            6 => (builder.op(Op::Neg, &[x])?, dx),
            7 => (builder.rotate_elements(x, below(rng, 400) as i64 - 200)?, dx),
            8 => (builder.sum_elements(x)?, dx),
            _ => (builder.op(Op::Add, &[x, y])?, deepest),
        };
        values.push(value);
    }
    for (i, &(value, _)) in values[given..].iter().rev().take(2).enumerate() {
        builder.output(format!("y{i}"), value);
    }
    builder.finish()
}

/// Arrays of `count` elements and scalars for the inputs of a program modulo a number. The first is an array.
pub(crate) fn elements(rng: &mut ChaCha8Rng, program: &Program, count: usize) -> Vec<Plain> {
    let of = |(i, input): (usize, &solinas_circuits::program::Input)| {
        let shape = if i > 0 && below(rng, 3) == 0 { Ok(Shape::scalar()) } else { Shape::new([count]) };
        shape.map(|shape| {
            let values = (0..shape.size()).map(|_| number(rng, input.ty)).collect();
            Plain { ty: input.ty, shape, values }
        })
    };
    program.inputs.iter().enumerate().map(of).collect::<Result<_, _>>().unwrap_or_default()
}

/// The part of a program that computes one value, as a program of that output.
pub(crate) fn slice(program: &Program, value: u32) -> Program {
    let mut needed = vec![false; program.nodes.len()];
    needed[value as usize] = true;
    for (i, node) in program.nodes.iter().enumerate().rev() {
        if needed[i] {
            node.args.iter().for_each(|arg| needed[arg.0 as usize] = true);
        }
        needed[i] |= matches!(node.op, Op::Input(_));
    }
    let mut at = vec![ValueId(0); needed.len()];
    let mut part = Program { inputs: program.inputs.clone(), ..Program::default() };
    for (i, node) in program.nodes.iter().enumerate().filter(|(i, _)| needed[*i]) {
        at[i] = ValueId(part.nodes.len() as u32);
        let mut node = node.clone();
        node.args.iter_mut().for_each(|arg| *arg = at[arg.0 as usize]);
        part.nodes.push(node);
    }
    part.outputs.push(solinas_circuits::program::Output { name: "y".into(), value: at[value as usize] });
    part
}

/// The smallest part of a failing program that also fails.
pub(crate) fn smallest(program: &Program, fails: impl Fn(&Program) -> bool) -> Program {
    let parts = (0..program.nodes.len() as u32).map(|value| slice(program, value));
    parts.filter(fails).min_by_key(|part| part.nodes.len()).unwrap_or_else(|| program.clone())
}

/// Formats a program, with a line for each value.
pub(crate) fn listing(program: &Program) -> String {
    let line = |(i, node): (usize, &solinas_circuits::program::Node)| {
        let args: Vec<String> = node.args.iter().map(|arg| format!("v{}", arg.0)).collect();
        format!("\n  v{i}: {} = {:?}({})", node.ty, node.op, args.join(", "))
    };
    let outputs: Vec<String> = program.outputs.iter().map(|output| format!("v{}", output.value.0)).collect();
    program.nodes.iter().enumerate().map(line).collect::<String>() + "\n  return " + &outputs.join(", ")
}

/// A random value. With probability 1/2, it is among the latest four.
fn recent<T: Copy>(rng: &mut ChaCha8Rng, values: &[T]) -> T {
    let reach = if below(rng, 2) == 0 { values.len() } else { values.len().min(4) };
    values[values.len() - 1 - below(rng, reach)]
}

struct Generator<'a> {
    rng: &'a mut ChaCha8Rng,
    builder: ProgramBuilder,
    values: Vec<(ValueId, Type)>,
    /// The types of the program. The first is bool.
    types: Vec<Type>,
    /// The remaining effort.
    effort: usize,
}

impl Generator<'_> {
    fn chance(&mut self, of: usize) -> bool {
        below(self.rng, of) == 0
    }

    /// A value of the type: an existing value, a cast of another value, or a constant.
    fn of_type(&mut self, ty: Type) -> Result<ValueId, Error> {
        let known: Vec<ValueId> = self.values.iter().filter(|value| value.1 == ty).map(|value| value.0).collect();
        if !known.is_empty() && !self.chance(6) {
            return Ok(recent(self.rng, &known));
        }
        if self.chance(3) {
            return self.builder.constant(number(self.rng, ty), ty);
        }
        let (value, _) = recent(self.rng, &self.values);
        self.builder.cast(value, ty)
    }

    /// An unsigned amount. It is encrypted, or public and often near the width.
    fn amount(&mut self, ty: Type) -> Result<ValueId, Error> {
        let width = ty.width();
        if self.chance(2) {
            let by = [below(self.rng, width + 3), width - 1, width - 2.min(width), width / 2][below(self.rng, 4)];
            let ty = Type::Uint(if width > 250 { 12 } else { 8 });
            return self.builder.constant(by as u128, ty);
        }
        let narrow = Type::Uint(1 + below(self.rng, 8) as u16);
        let ty = if self.chance(4) && !ty.signed() { ty } else { narrow };
        self.of_type(ty)
    }

    /// Whether the remaining effort allows an operation of that effort.
    fn pays(&mut self, effort: usize) -> bool {
        let pays = effort <= self.effort;
        self.effort -= if pays { effort } else { 0 };
        pays
    }

    fn step(&mut self) -> Result<(), Error> {
        const ARITHMETIC: [Op; 6] = [Op::Add, Op::Sub, Op::Min, Op::Max, Op::SaturatingAdd, Op::SaturatingSub];
        const PRODUCT: [Op; 3] = [Op::Mul, Op::Mul, Op::SaturatingMul];
        const OVERFLOW: [Op; 3] = [Op::AddOverflows, Op::SubOverflows, Op::MulOverflows];
        const DIVISION: [Op; 6] = [Op::Div, Op::Rem, Op::DivFloor, Op::RemFloor, Op::DivEuclid, Op::RemEuclid];
        const LOGIC: [Op; 3] = [Op::And, Op::Or, Op::Xor];
        const COMPARE: [Op; 6] = [Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge];
        const SHIFT: [Op; 4] = [Op::Shl, Op::Shr, Op::RotateLeft, Op::RotateRight];
        const UNARY: [Op; 7] =
            [Op::Neg, Op::Not, Op::Abs, Op::LeadingZeros, Op::TrailingZeros, Op::CountOnes, Op::Ilog2];
        let integers = self.types.len() - 1;
        let ty = self.types[1 + below(self.rng, integers)];
        let blocks = ty.width().div_ceil(2);
        let a = self.of_type(ty)?;
        // The same value twice, or the value and a function of it, now and then.
        let b = match below(self.rng, 8) {
            0 => a,
            1 if self.pays(blocks) => {
                self.builder.op([Op::Not, Op::LeadingZeros, Op::Neg][below(self.rng, 3)].clone(), &[a])?
            }
            _ => self.of_type(ty)?,
        };
        let pick = |rng: &mut ChaCha8Rng, ops: &[Op]| ops[below(rng, ops.len())].clone();
        let value = match below(self.rng, 24) {
            0..4 if self.pays(2 * blocks) => self.builder.op(pick(self.rng, &ARITHMETIC), &[a, b])?,
            4..6 if self.pays(blocks) => self.builder.op(pick(self.rng, &LOGIC), &[a, b])?,
            6..9 if self.pays(blocks) => self.builder.op(pick(self.rng, &COMPARE), &[a, b])?,
            9..12 if self.pays(5 * blocks) => {
                let by = self.amount(ty)?;
                self.builder.op(pick(self.rng, &SHIFT), &[a, by])?
            }
            12 | 13 if self.pays(2 * blocks) => self.builder.op(pick(self.rng, &UNARY), &[a])?,
            14 if self.pays(2 * blocks * blocks) => self.builder.op(pick(self.rng, &PRODUCT), &[a, b])?,
            15 if self.pays(5 * blocks * blocks) => self.builder.op(pick(self.rng, &DIVISION), &[a, b])?,
            23 if self.pays(2 * blocks * blocks) => {
                if self.chance(4) {
                    self.builder.op(Op::Sqrt, &[a])?
                } else {
                    self.builder.op(pick(self.rng, &OVERFLOW), &[a, b])?
                }
            }
            16..18 if self.pays(blocks) => {
                let c = self.of_type(Type::Bool)?;
                self.builder.op(Op::Select, &[c, a, b])?
            }
            18 if self.pays(6 * blocks) => self.lookup(ty)?,
            // Wider copies of a value, which are equal blocks, and a table of them.
            22 if self.pays(16 * blocks) => {
                let index = Type::Uint(5 + below(self.rng, 2) as u16);
                let wide = self.builder.cast(a, index)?;
                self.values.push((wide, index));
                let table: Vec<Natural> = (0..1 << index.width()).map(|_| number(self.rng, ty)).collect();
                self.builder.lookup(table, wide, ty)?
            }
            21 if self.pays(8 * blocks) => {
                let values = (0..=below(self.rng, 5)).map(|_| self.of_type(ty)).collect::<Result<Vec<_>, _>>()?;
                if self.chance(2) {
                    self.builder.sum(&values)?
                } else {
                    let index = Type::Uint(1 + below(self.rng, 5) as u16);
                    let index = self.of_type(index)?;
                    self.builder.index(index, &values)?
                }
            }
            19 => {
                let (x, y) = (self.of_type(Type::Bool)?, self.of_type(Type::Bool)?);
                self.builder.op(pick(self.rng, &[Op::And, Op::Or, Op::Xor, Op::Eq]), &[x, y])?
            }
            // Mostly copies of the sign.
            20 if self.pays(blocks) => {
                let by =
                    self.builder.constant(ty.width() as u128 - 1, Type::Uint(if ty.width() > 256 { 12 } else { 8 }))?;
                self.builder.op(Op::Shr, &[a, by])?
            }
            _ => {
                let to = self.types[below(self.rng, self.types.len())];
                self.builder.cast(a, to)?
            }
        };
        let ty = self.builder.ty(value)?;
        self.values.push((value, ty));
        Ok(())
    }

    fn lookup(&mut self, ty: Type) -> Result<ValueId, Error> {
        let index = Type::Uint(1 + below(self.rng, 6) as u16);
        let index = if self.chance(4) { Type::Bool } else { index };
        let few = self.chance(3);
        let entries = (0..1u128 << index.width())
            .map(|i| if few { Natural::from(i / 3).low(ty.width()) } else { number(self.rng, ty) });
        let table: Vec<Natural> = entries.collect();
        let index = self.of_type(index)?;
        self.builder.lookup(table, index, ty)
    }
}
