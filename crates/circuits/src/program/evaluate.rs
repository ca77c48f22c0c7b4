//! Reference semantics by plain arithmetic.

use super::{Input, Op, Program, Type};
use crate::Error;

impl Program {
    /// Evaluates the program on public inputs, one value for each. Values are the low bits of a `u128`, in two's complement if signed.
    ///
    /// # Errors
    /// [`Error::WrongCount`] or [`Error::ValueOutOfRange`] for unsuitable inputs, or an error of [`Program::validate`].
    pub fn evaluate(&self, inputs: &[u128]) -> Result<Vec<u128>, Error> {
        self.validate()?;
        if inputs.len() != self.inputs.len() {
            return Err(Error::WrongCount { what: "inputs", expected: self.inputs.len(), got: inputs.len() });
        }
        self.inputs.iter().zip(inputs).try_for_each(|(input, &value)| input.check(value))?;
        let mut values: Vec<u128> = Vec::with_capacity(self.nodes.len());
        let mut args = Vec::new();
        for node in &self.nodes {
            args.clear();
            args.extend(node.args.iter().map(|arg| (values[arg.0 as usize], self.nodes[arg.0 as usize].ty)));
            let value = match &node.op {
                Op::Input(index) => inputs[*index as usize],
                op => op.apply(&args),
            };
            values.push(value & node.ty.mask());
        }
        Ok(self.outputs.iter().map(|output| values[output.value.0 as usize]).collect())
    }
}

impl Input {
    /// Checks that the type of the input holds the value.
    pub(super) fn check(&self, value: u128) -> Result<(), Error> {
        if self.ty.holds(value) {
            return Ok(());
        }
        Err(Error::ValueOutOfRange { name: self.name.clone(), width: self.ty.width(), value })
    }
}

impl Op {
    /// The result for operands of a checked program. The caller clears the bits above the result's type.
    pub(super) fn apply(&self, args: &[(u128, Type)]) -> u128 {
        let arg = |i: usize| args.get(i).map_or((0, Type::Bool), |arg| *arg);
        let ((a, ty), (b, _)) = (arg(0), arg(1));
        let less = |a, b| if ty.signed() { ty.to_i128(a) < ty.to_i128(b) } else { a < b };
        let width = ty.width() as u128;
        if let Self::Index = self {
            let last = args.len().saturating_sub(1);
            return arg(usize::try_from(a).map_or(last, |index| index.saturating_add(1).min(last))).0;
        }
        if let (Type::Mod(modulus), Self::Neg | Self::Add | Self::Sub | Self::Mul | Self::Sum) = (ty, self) {
            let modulus = u128::from(modulus);
            return match self {
                Self::Neg => modulus - a,
                Self::Add => a + b,
                Self::Sub => a + modulus - b,
                Self::Sum => args.iter().map(|(value, _)| value).sum(),
                _ => a * b,
            } % modulus;
        }
        match self {
            // Handled above.
            Self::Input(_) | Self::Index => 0,
            Self::Const(value) => *value,
            // A scalar stays unchanged.
            Self::RotateElements(_) | Self::SumElements => a,
            Self::Neg => a.wrapping_neg(),
            Self::Not => !a,
            Self::Abs if ty.signed() => ty.to_i128(a).unsigned_abs(),
            Self::Abs => a,
            Self::LeadingZeros => u128::from(a.leading_zeros()) - (128 - width),
            Self::Add => a.wrapping_add(b),
            Self::Sum => args.iter().fold(0, |sum, (value, _)| sum.wrapping_add(*value)),
            Self::Sub => a.wrapping_sub(b),
            Self::Mul => a.wrapping_mul(b),
            Self::Div if b == 0 => u128::MAX,
            Self::Rem if b == 0 => a,
            Self::Div if ty.signed() => ty.to_i128(a).wrapping_div(ty.to_i128(b)) as u128,
            Self::Rem if ty.signed() => ty.to_i128(a).wrapping_rem(ty.to_i128(b)) as u128,
            Self::Div => a / b,
            Self::Rem => a % b,
            Self::And => a & b,
            Self::Or => a | b,
            Self::Xor => a ^ b,
            Self::Min => {
                if less(b, a) {
                    b
                } else {
                    a
                }
            }
            Self::Max => {
                if less(a, b) {
                    b
                } else {
                    a
                }
            }
            Self::Eq => (a == b).into(),
            Self::Ne => (a != b).into(),
            Self::Lt => less(a, b).into(),
            Self::Le => (!less(b, a)).into(),
            Self::Gt => less(b, a).into(),
            Self::Ge => (!less(a, b)).into(),
            Self::Shl => {
                if b < width {
                    a << b
                } else {
                    0
                }
            }
            Self::Shr if ty.signed() => (ty.to_i128(a) >> b.min(127)) as u128,
            Self::Shr => {
                if b < width {
                    a >> b
                } else {
                    0
                }
            }
            Self::RotateLeft => rotate_left(a, b % width, width),
            Self::RotateRight => rotate_left(a, (width - b % width) % width, width),
            Self::Select => {
                if a == 1 {
                    b
                } else {
                    arg(2).0
                }
            }
            Self::Cast => ty.to_i128(a) as u128,
            Self::Lookup(table) => table.get(a as usize).copied().unwrap_or(0),
        }
    }
}

/// `by < width`
fn rotate_left(a: u128, by: u128, width: u128) -> u128 {
    if by == 0 { a } else { a << by | a >> (width - by) }
}
