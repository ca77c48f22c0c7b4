//! Lowers programs to gates.

use super::{Op, Program, Type};
use crate::build::{self, Recipe, Rounding};
use crate::limits::{Forecast, Limits};
use crate::{BinaryOp, Builder, Error, Netlist, NodeId};

impl Program {
    /// Lowers the program to gates, with one port for each input and output. The netlist contains no gates that no output needs.
    ///
    /// # Errors
    /// An error of [`Program::validate`], or [`Error::TooLarge`].
    pub fn lower(&self, recipe: Recipe) -> Result<Netlist, Error> {
        self.lower_within(recipe, &Limits::default())
    }

    /// As [`Self::lower`], within limits.
    ///
    /// # Errors
    /// As [`Self::lower`]; [`Error::Stopped`].
    pub fn lower_within(&self, recipe: Recipe, limits: &Limits<'_>) -> Result<Netlist, Error> {
        self.validate()?;
        if let Some(node) = self.nodes.iter().find(|node| node.ty.modulus().is_some()) {
            return Err(Error::Modular { ty: node.ty });
        }
        self.check_scalars()?;
        let mut b = Builder::new().within(*limits);
        let inputs: Vec<_> =
            self.inputs.iter().map(|input| b.input(&input.name, input.ty.width(), input.ty.signed())).collect();
        let mut values: Vec<Vec<NodeId>> = Vec::with_capacity(self.nodes.len());
        let mut forecast = Forecast::new(self, *limits);
        for (index, node) in self.nodes.iter().enumerate() {
            let before = b.len();
            let value = match &node.op {
                Op::Input(index) => inputs[*index as usize].clone(),
                op => {
                    let args: Vec<&[NodeId]> = node.args.iter().map(|arg| &values[arg.0 as usize][..]).collect();
                    let ty = node.args.first().map_or(node.ty, |arg| self.nodes[arg.0 as usize].ty);
                    op.gates(&mut b, recipe, ty, node.ty, &args)
                }
            };
            b.check()?;
            values.push(value);
            forecast.spent(index, b.len() - before, b.len())?;
        }
        for output in &self.outputs {
            let at = output.value.0 as usize;
            b.output(&output.name, &values[at], self.nodes[at].ty.signed());
        }
        Ok(b.finish()?.prune())
    }
}

impl Op {
    /// The gates of one operation. `ty` is the type of the first operand, and `to` is that of the result.
    fn gates(&self, b: &mut Builder, recipe: Recipe, ty: Type, to: Type, args: &[&[NodeId]]) -> Vec<NodeId> {
        let Recipe { adder, multiplier, style } = recipe;
        let signed = ty.signed();
        let [x, y, z] = [0, 1, 2].map(|i| args.get(i).copied().unwrap_or(&[]));
        match self {
            // The caller has the inputs and refuses arrays.
            op if !op.is_elementwise() && !matches!(op, Self::Const(_)) => Vec::new(),
            Self::Const(value) => b.constant_bits(value, to.width()),
            Self::Neg => build::neg(b, style, x),
            Self::Not => build::not(b, x),
            Self::Abs if signed => build::abs(b, style, x),
            Self::Abs => x.to_vec(),
            Self::LeadingZeros => build::leading_zeros(b, style, x),
            Self::TrailingZeros => build::trailing_zeros(b, style, x),
            Self::CountOnes => build::count_ones(b, multiplier, x),
            Self::Ilog2 => build::ilog2(b, style, signed, x),
            Self::Sqrt => build::sqrt(b, style, signed, x),
            Self::Add => build::add(b, adder, x, y),
            Self::Sum => build::sum(b, multiplier, adder, args),
            Self::Index => build::index(b, x, args.get(1..).unwrap_or(&[])),
            Self::Sub => build::sub(b, adder, x, y),
            Self::Mul => build::mul(b, multiplier, x, y),
            Self::Div => build::div(b, style, signed, x, y),
            Self::Rem => build::rem(b, style, signed, x, y),
            Self::DivFloor | Self::DivEuclid if !signed => build::div(b, style, signed, x, y),
            Self::RemFloor | Self::RemEuclid if !signed => build::rem(b, style, signed, x, y),
            Self::DivFloor => build::div_rem_rounded(b, style, Rounding::Floor, x, y).0,
            Self::RemFloor => build::div_rem_rounded(b, style, Rounding::Floor, x, y).1,
            Self::DivEuclid => build::div_rem_rounded(b, style, Rounding::Euclid, x, y).0,
            Self::RemEuclid => build::div_rem_rounded(b, style, Rounding::Euclid, x, y).1,
            Self::AddOverflows => vec![build::add_overflows(b, adder, signed, x, y).1],
            Self::SubOverflows => vec![build::sub_overflows(b, adder, signed, x, y).1],
            Self::MulOverflows => vec![build::mul_overflows(b, multiplier, style, signed, x, y)],
            Self::SaturatingAdd => {
                let (sum, overflows) = build::add_overflows(b, adder, signed, x, y);
                let low = if signed { x[x.len() - 1] } else { b.constant(false) };
                build::saturate(b, signed, &sum, overflows, low)
            }
            Self::SaturatingSub => {
                let (difference, overflows) = build::sub_overflows(b, adder, signed, x, y);
                let low = if signed { x[x.len() - 1] } else { b.constant(true) };
                build::saturate(b, signed, &difference, overflows, low)
            }
            Self::SaturatingMul => {
                let product = build::mul(b, multiplier, x, y);
                let overflows = build::mul_overflows(b, multiplier, style, signed, x, y);
                let low = if signed { b.xor(x[x.len() - 1], y[y.len() - 1]) } else { b.constant(false) };
                build::saturate(b, signed, &product, overflows, low)
            }
            Self::And => build::bitwise(b, BinaryOp::And, x, y),
            Self::Or => build::bitwise(b, BinaryOp::Or, x, y),
            Self::Xor => build::bitwise(b, BinaryOp::Xor, x, y),
            Self::Min => build::min(b, style, signed, x, y),
            Self::Max => build::max(b, style, signed, x, y),
            Self::Eq => vec![build::eq(b, x, y)],
            Self::Ne => vec![build::ne(b, x, y)],
            Self::Lt => vec![build::lt(b, style, signed, x, y)],
            Self::Gt => vec![build::lt(b, style, signed, y, x)],
            Self::Le => {
                let greater = build::lt(b, style, signed, y, x);
                vec![b.not(greater)]
            }
            Self::Ge => {
                let less = build::lt(b, style, signed, x, y);
                vec![b.not(less)]
            }
            Self::Shl => build::shl_by(b, style, x, y),
            Self::Shr => build::shr_by(b, style, x, signed, y),
            Self::RotateLeft => build::rotate_left(b, style, x, y),
            Self::RotateRight => build::rotate_right(b, style, x, y),
            Self::Select => build::select(b, x[0], y, z),
            Self::Cast => build::cast(b, x, signed, to.width()),
            Self::Lookup(table) => build::lookup(b, table, x, to.width()),
            _ => Vec::new(),
        }
    }
}
