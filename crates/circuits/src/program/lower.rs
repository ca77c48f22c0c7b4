//! Lowers programs to gates.

use super::{Op, Program, Type};
use crate::build::{self, Recipe};
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
            // These operations take integers modulo a number, which have no gates.
            Self::Input(_) | Self::RotateElements(_) | Self::SumElements => Vec::new(),
            Self::Const(value) => b.constant_bits(value, to.width()),
            Self::Neg => build::neg(b, style, x),
            Self::Not => build::not(b, x),
            Self::Abs if signed => build::abs(b, style, x),
            Self::Abs => x.to_vec(),
            Self::LeadingZeros => build::leading_zeros(b, style, x),
            Self::Add => build::add(b, adder, x, y),
            Self::Sum => build::sum(b, multiplier, adder, args),
            Self::Index => build::index(b, x, args.get(1..).unwrap_or(&[])),
            Self::Sub => build::sub(b, adder, x, y),
            Self::Mul => build::mul(b, multiplier, x, y),
            Self::Div => build::div(b, style, signed, x, y),
            Self::Rem => build::rem(b, style, signed, x, y),
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
        }
    }
}
