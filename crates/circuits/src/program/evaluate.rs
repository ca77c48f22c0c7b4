//! Reference semantics by plain arithmetic.

use super::{Input, Op, Program, Type, ValueId};
use crate::{Error, Natural};
use num_bigint::{BigInt, Sign};
use num_integer::Integer;

impl Program {
    /// Evaluates the program on public inputs, one value for each. Values are given by their bits, in two's complement if signed.
    ///
    /// # Errors
    /// [`Error::WrongCount`] or [`Error::ValueOutOfRange`] for unsuitable inputs; [`Error::NotScalar`] for a program of arrays, which
    /// [`Self::evaluate_arrays`] evaluates; an error of [`Program::validate`].
    pub fn evaluate<V: Clone + Into<Natural>>(&self, inputs: &[V]) -> Result<Vec<Natural>, Error> {
        let inputs: Vec<Natural> = inputs.iter().cloned().map(Into::into).collect();
        self.validate()?;
        if inputs.len() != self.inputs.len() {
            return Err(Error::WrongCount { what: "inputs", expected: self.inputs.len(), got: inputs.len() });
        }
        self.inputs.iter().zip(&inputs).try_for_each(|(input, value)| input.check(value))?;
        let is_of_values = |op: &Op| {
            op.is_elementwise() || matches!(op, Op::Input(_) | Op::Const(_) | Op::RotateElements(_) | Op::SumElements)
        };
        if let Some(node) = self.nodes.iter().position(|node| !is_of_values(&node.op)) {
            return Err(Error::NotScalar { op: self.nodes[node].op.name(), node });
        }
        Ok(self.run(&inputs))
    }

    /// The outputs of a valid program of single values on inputs of its types.
    pub(crate) fn run(&self, inputs: &[Natural]) -> Vec<Natural> {
        let mut values: Vec<Natural> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let arg = |arg: &ValueId| (&values[arg.0 as usize], self.nodes[arg.0 as usize].ty);
            let value = match &node.op {
                Op::Input(index) => inputs[*index as usize].clone(),
                op => op.apply(&node.args.iter().map(arg).collect::<Vec<_>>(), node.ty),
            };
            values.push(value);
        }
        self.outputs.iter().map(|output| values[output.value.0 as usize].clone()).collect()
    }
}

impl Input {
    /// Checks that the type of the input holds the value.
    pub(super) fn check(&self, value: &Natural) -> Result<(), Error> {
        if self.ty.holds(value) {
            return Ok(());
        }
        Err(Error::ValueOutOfRange { name: self.name.clone(), width: self.ty.width(), value: value.clone() })
    }
}

impl Op {
    /// The result, of type `to`, for operands of a checked program.
    pub(super) fn apply(&self, args: &[(&Natural, Type)], to: Type) -> Natural {
        let own = |value: &Natural| value.clone();
        let bits = |i: usize| args.get(i).map_or(&Natural::ZERO, |(bits, _)| *bits);
        match self {
            // The caller has the inputs. A scalar stays unchanged by operations across elements.
            Self::Input(_) | Self::RotateElements(_) | Self::SumElements => own(bits(0)),
            Self::Const(value) => value.low(to.width()),
            Self::Select => own(bits(if bits(0).bit(0) { 1 } else { 2 })),
            Self::Index => {
                let last = args.len().saturating_sub(1);
                own(bits(place(bits(0)).map_or(last, |index| index.saturating_add(1).min(last))))
            }
            Self::Lookup(table) => place(bits(0)).and_then(|index| table.get(index)).map_or(Natural::ZERO, own),
            _ => {
                let value = self.integer(args);
                match to {
                    Type::Mod(modulus) => Natural::wrap(&value.mod_floor(&modulus.into()), to.width()),
                    _ => Natural::wrap(&value, to.width()),
                }
            }
        }
    }

    /// The result before it is reduced to its type, for operations on numbers.
    fn integer(&self, args: &[(&Natural, Type)]) -> BigInt {
        let value = |i: usize| args.get(i).map_or(BigInt::ZERO, |(bits, ty)| ty.to_integer(bits));
        let (a, b) = (value(0), value(1));
        let (bits, ty) = args.first().map_or((&Natural::ZERO, Type::Bool), |arg| *arg);
        let width = ty.width();
        // A shift by the width or more is one by the width.
        let amount = || args.get(1).and_then(|(bits, _)| place(bits)).map_or(width, |amount| amount.min(width));
        let rotated = |left: bool| {
            let by = args.get(1).map_or(BigInt::ZERO, |(bits, _)| bits.to_integer() % width);
            let by = usize::try_from(by).unwrap_or(0);
            let by = if left { by } else { (width - by) % width };
            (bits.to_integer() << by) | (bits.to_integer() >> (width - by))
        };
        match self {
            Self::Neg => -a,
            Self::Not => -a - 1,
            Self::Abs => a.magnitude().clone().into(),
            Self::LeadingZeros => (width - bits.bit_length()).into(),
            Self::Add => a + b,
            Self::Sum => (0..args.len()).map(value).sum(),
            Self::Sub => a - b,
            Self::Mul => a * b,
            Self::Div if b.sign() == Sign::NoSign => (-1).into(),
            Self::Rem if b.sign() == Sign::NoSign => a,
            Self::Div => a / b,
            Self::Rem => a % b,
            Self::And => a & b,
            Self::Or => a | b,
            Self::Xor => a ^ b,
            Self::Min => a.min(b),
            Self::Max => a.max(b),
            Self::Eq => (a == b).into(),
            Self::Ne => (a != b).into(),
            Self::Lt => (a < b).into(),
            Self::Le => (a <= b).into(),
            Self::Gt => (a > b).into(),
            Self::Ge => (a >= b).into(),
            Self::Shl => a << amount(),
            Self::Shr => a >> amount(),
            Self::RotateLeft => rotated(true),
            Self::RotateRight => rotated(false),
            Self::Cast => a,
            Self::TrailingZeros | Self::CountOnes | Self::Ilog2 | Self::Sqrt => self.of_one(ty, bits),
            Self::DivFloor | Self::RemFloor | Self::DivEuclid | Self::RemEuclid => self.quotient(a, b),
            Self::AddOverflows => (!ty.spans(&(a + b))).into(),
            Self::SubOverflows => (!ty.spans(&(a - b))).into(),
            Self::MulOverflows => (!ty.spans(&(a * b))).into(),
            Self::SaturatingAdd => ty.nearest(a + b),
            Self::SaturatingSub => ty.nearest(a - b),
            Self::SaturatingMul => ty.nearest(a * b),
            // The others are no operations on numbers.
            _ => BigInt::ZERO,
        }
    }
}

/// A number as a place in memory, if it is one.
fn place(value: &Natural) -> Option<usize> {
    value.to_u128().and_then(|value| usize::try_from(value).ok())
}
