//! Operations of programs on integers. A large operation is lowered once and its template is repeated.

use std::collections::HashMap;

use super::{Int, Radix, Result, Rounding, Sum, mask};
use crate::lut::{Builder, Linear, Outline, Template};
use crate::program::Op;

/// Whether the rotations of an operation exceed the blocks of its operands by a factor that grows with the width.
pub(super) const fn is_large(op: &Op) -> bool {
    use Op::{
        Div, DivEuclid, DivFloor, Mul, MulOverflows, Rem, RemEuclid, RemFloor, RotateLeft, RotateRight, SaturatingMul,
        Shl, Shr, Sqrt,
    };
    let division = matches!(op, Div | Rem | DivFloor | RemFloor | DivEuclid | RemEuclid);
    division || matches!(op, Mul | MulOverflows | SaturatingMul | Sqrt | Shl | Shr | RotateLeft | RotateRight)
}

/// The operation that computes the result of `op` among others, and the index of the result. One division gives quotient and remainder.
pub(super) const fn part(op: &Op, signed: bool) -> (&Op, usize) {
    match op {
        Op::DivFloor | Op::DivEuclid if !signed => (&Op::Div, 0),
        Op::RemFloor | Op::RemEuclid if !signed => (&Op::Div, 1),
        Op::Rem => (&Op::Div, 1),
        Op::RemFloor => (&Op::DivFloor, 1),
        Op::RemEuclid => (&Op::DivEuclid, 1),
        op => (op, 0),
    }
}

/// An operation, its signedness, the widths of its operands, and the outline of their blocks.
type Key = (Op, bool, Vec<u16>, Outline);

/// Templates of the operations that were lowered before.
#[derive(Debug, Default)]
pub(super) struct Templates {
    /// `None` if the operands need more of the graph behind them than an outline holds.
    known: HashMap<Key, Option<Template>>,
}

impl Templates {
    /// As [`Radix::apply`], by a copy of its result for operands of the same outline.
    pub(super) fn apply(
        &mut self,
        radix: &mut Radix<'_>,
        op: &Op,
        args: &[Int],
        signed: bool,
        width: u16,
    ) -> Result<Vec<Int>> {
        let blocks: Vec<Linear> = args.iter().flat_map(|arg| arg.blocks.iter().cloned()).collect();
        let (outline, places) = radix.builder.outline(&blocks);
        let widths = args.iter().map(|arg| arg.width).collect();
        let (style, budget, limits) = (radix.style, radix.builder.budget(), radix.builder.limits());
        let key = (op.clone(), signed, widths, outline);
        let template = self.known.entry(key).or_insert_with_key(|(op, _, _, outline)| {
            // If the limits stop it, they also stop the direct method below.
            let mut inner = Radix { builder: Builder::from_outline(outline, budget, limits), style };
            let mut operands = outline.operands.iter().cloned();
            let args: Vec<Int> = args
                .iter()
                .map(|arg| Int { blocks: operands.by_ref().take(arg.blocks.len()).collect(), width: arg.width })
                .collect();
            if !args.iter().all(|arg| inner.is_settled(arg)) {
                return None;
            }
            let made = inner.apply(op, &args, signed, width).ok()??;
            let made = made.into_iter().map(|value| inner.settled(value)).collect::<Result<Vec<_>>>().ok()?;
            let results = made.into_iter().flat_map(|value| value.blocks).collect();
            Some(Template::new(outline, inner.builder, results))
        });
        let Some(all) = template.as_ref().and_then(|template| radix.builder.copy(template, &places)) else {
            return Ok(radix.apply(op, args, signed, width)?.unwrap_or_default());
        };
        let ints = all.chunks(super::blocks(width)).map(|blocks| Int { blocks: blocks.to_vec(), width });
        Ok(ints.collect())
    }
}

impl Radix<'_> {
    /// Applies an operation of a well-typed program, with results of that width. The operation is one that [`part`] names. A division gives quotient and remainder, any
    /// other operation one result. `None`
    /// for a wrong number of operands, and for operations that do not take integers.
    pub(super) fn apply(&mut self, op: &Op, args: &[Int], signed: bool, width: u16) -> Result<Option<Vec<Int>>> {
        let bit = |b| Int { blocks: vec![b], width: 1 };
        let flip = |b: Linear| b.times(-1).offset(1);
        Ok(Some(vec![match (op, args) {
            (Op::Const(c), _) => Int::constant(c, width),
            (Op::Neg, [a]) => self.neg(a)?,
            (Op::Not, [a]) => self.not(a),
            (Op::Abs, [a]) if signed => self.abs(a)?,
            (Op::Abs, [a]) => a.clone(),
            (Op::LeadingZeros, [a]) => self.leading_zeros(a)?,
            (Op::TrailingZeros, [a]) => self.trailing_zeros(a)?,
            (Op::CountOnes, [a]) => self.count_ones(a)?,
            (Op::Ilog2, [a]) => self.ilog2(a, signed)?,
            (Op::Sqrt, [a]) => self.sqrt(a, signed)?,
            (Op::Cast, [a]) => self.cast(a, width, signed)?,
            (Op::Lookup(table), [a]) => self.lookup(a, table, width)?,
            (Op::Add, [a, b]) => self.add(a, b)?,
            (Op::Sub, [a, b]) => self.sub(a, b)?,
            (Op::Mul, [a, b]) => self.mul(a, b)?,
            (Op::Div | Op::DivFloor | Op::DivEuclid, [a, b]) => {
                let rounding = match op {
                    Op::Div => Rounding::Truncate,
                    Op::DivFloor => Rounding::Floor,
                    _ => Rounding::Euclid,
                };
                let (quotient, remainder) = self.div_rem(a, b, signed, rounding)?;
                return Ok(Some(vec![quotient, remainder]));
            }
            (Op::AddOverflows, [a, b]) => bit(self.sum_overflows(Sum::Add, a, b, signed)?),
            (Op::SubOverflows, [a, b]) => bit(self.sum_overflows(Sum::Sub, a, b, signed)?),
            (Op::MulOverflows, [a, b]) => bit(self.mul_overflows(a, b, signed)?),
            (Op::SaturatingAdd, [a, b]) => self.saturating_sum(Sum::Add, a, b, signed)?,
            (Op::SaturatingSub, [a, b]) => self.saturating_sum(Sum::Sub, a, b, signed)?,
            (Op::SaturatingMul, [a, b]) => self.saturating_mul(a, b, signed)?,
            (Op::And, [a, b]) => self.and(a, b)?,
            (Op::Or, [a, b]) => self.or(a, b)?,
            (Op::Xor, [a, b]) => self.xor(a, b)?,
            (Op::Min, [a, b]) => self.min(a, b, signed)?,
            (Op::Max, [a, b]) => self.max(a, b, signed)?,
            (Op::Eq, [a, b]) => bit(self.eq(a, b)?),
            (Op::Ne, [a, b]) => bit(flip(self.eq(a, b)?)),
            (Op::Lt, [a, b]) => bit(self.lt(a, b, signed)?),
            (Op::Le, [a, b]) => bit(self.le(a, b, signed)?),
            (Op::Gt, [a, b]) => bit(self.lt(b, a, signed)?),
            (Op::Ge, [a, b]) => bit(self.le(b, a, signed)?),
            (Op::Shl, [a, b]) => self.shl(a, b)?,
            (Op::Shr, [a, b]) => self.shr(a, b, signed)?,
            (Op::RotateLeft, [a, b]) => self.rotate_left(a, b)?,
            (Op::RotateRight, [a, b]) => self.rotate_right(a, b)?,
            (Op::Sum, terms) => self.sum(terms, width)?,
            (Op::Index, [index, values @ ..]) => self.index(index, values)?,
            (Op::Select, [c, a, b]) => self.select(&c.blocks[0], a, b)?,
            _ => return Ok(None),
        }]))
    }

    /// The value with blocks that are quiet enough to be outputs, and whose range the analysis confirms.
    pub(super) fn settled(&mut self, mut value: Int) -> Result<Int> {
        for (k, block) in value.blocks.iter_mut().enumerate() {
            *block = self.settle(&[(&*block, 1)], mask(k, value.width))?;
        }
        Ok(value)
    }

    /// Whether [`Self::settled`] changes nothing.
    fn is_settled(&mut self, value: &Int) -> bool {
        value.blocks.iter().enumerate().all(|(k, block)| self.is_in_range(block, mask(k, value.width)))
    }
}
