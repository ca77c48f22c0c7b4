//! Operations of programs on integers. A large operation is lowered once and its template is repeated.

use std::collections::HashMap;

use super::{Int, Radix, Result, mask};
use crate::lut::{Builder, Linear, Outline, Template};
use crate::program::Op;

/// Whether the rotations of an operation exceed the blocks of its operands by a factor that grows with the width.
pub(super) const fn is_large(op: &Op) -> bool {
    matches!(op, Op::Mul | Op::Div | Op::Rem | Op::Shl | Op::Shr | Op::RotateLeft | Op::RotateRight)
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
        // One division computes both.
        let op = if *op == Op::Rem { &Op::Div } else { op };
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
    /// Applies an operation of a well-typed program, with results of that width. A division gives quotient and remainder, any other operation one result. `None`
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
            (Op::Cast, [a]) => self.cast(a, width, signed)?,
            (Op::Lookup(table), [a]) => self.lookup(a, table, width)?,
            (Op::Add, [a, b]) => self.add(a, b)?,
            (Op::Sub, [a, b]) => self.sub(a, b)?,
            (Op::Mul, [a, b]) => self.mul(a, b)?,
            (Op::Div | Op::Rem, [a, b]) => {
                let (quotient, remainder) = self.div_rem(a, b, signed)?;
                return Ok(Some(vec![quotient, remainder]));
            }
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
