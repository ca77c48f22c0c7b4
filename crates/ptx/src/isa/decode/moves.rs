//! Moves between registers of different types: `mov` of vectors, `cvt` and `cvta`.

use super::super::convert::{self, Rounding};
use super::super::words::Words;
use super::super::{NONE, Op, alu};
use super::{Decoder, Result};
use crate::counters::Class;
use crate::syntax::{Operand, Type};

impl Decoder<'_> {
    /// `mov` between a register and its parts.
    pub(super) fn pack(&mut self, ty: Type) -> Result {
        let part = |count: usize| match (ty.bits(), count) {
            (64, 2) => Some(Type::B32),
            (64, 4) | (32, 2) => Some(Type::B16),
            _ => None,
        };
        match (self.operand(0)?.clone(), self.operand(1)?.clone()) {
            (Operand::Vector(parts), whole) => {
                let Some(half) = part(parts.len()) else { return self.error("parts of this size do not exist") };
                let whole = self.value(&whole, ty, false)?;
                if half == Type::B32 {
                    for (name, target) in ["low", "high"].into_iter().zip(&parts) {
                        let d = self.target(target, 32, false)?;
                        self.alu(alu::unary(name, ty).map(Op::Unary), Class::Integer, d, &[whole])?;
                    }
                    return Ok(());
                }
                for (at, target) in parts.iter().enumerate() {
                    let d = self.target(target, half.bits(), false)?;
                    let shift = self.constant(u64::from(half.bits()) * at as u64);
                    let length = self.constant(half.bits().into());
                    let f = alu::ternary("bfe", Type::U64);
                    self.alu(f.map(Op::Ternary), Class::Integer, d, &[whole, shift, length])?;
                }
                Ok(())
            }
            (whole, Operand::Vector(parts)) => {
                let Some(half) = part(parts.len()) else { return self.error("parts of this size do not exist") };
                let d = self.target(&whole, ty.bits(), false)?;
                let mut sum = self.value(&parts[0], half, false)?;
                if half == Type::B32 {
                    let upper = self.value(&parts[1], half, false)?;
                    return self.alu(alu::binary("join", ty).map(Op::Binary), Class::Integer, d, &[sum, upper]);
                }
                for (at, value) in parts.iter().enumerate().skip(1) {
                    let value = self.value(value, half, false)?;
                    let (position, length) =
                        (self.constant(u64::from(half.bits()) * at as u64), self.constant(half.bits().into()));
                    let last = at + 1 == parts.len();
                    let next = if last { d } else { self.temporary(ty) };
                    let f = alu::insert(Type::B64);
                    self.alu(f.map(Op::Quaternary), Class::Integer, next, &[value, sum, position, length])?;
                    sum = next;
                }
                Ok(())
            }
            _ => self.error("mov has no vector here"),
        }
    }

    pub(super) fn cvt(&mut self, words: &mut Words<'_>) -> Result {
        let nearest = words.take("rn");
        let rounding = words.one(&["rni", "rzi", "rmi", "rpi"]).and_then(Rounding::named);
        let saturate = words.take("sat");
        let (to, from) = (words.ty()?, words.ty()?);
        self.arity(2..=2)?;
        let operand = self.operand(1)?.clone();
        let (d, a) = (self.target(self.operand(0)?, to.bits(), true)?, self.value(&operand, from, true)?);
        let f = match (to, from, rounding) {
            (Type::F64, Type::F64, Some(rounding)) if !saturate && !nearest => Some(convert::round(rounding)),
            (Type::F64, Type::F64, None) if !saturate && !nearest => alu::unary("mov", to),
            (Type::F64, _, None) if nearest && !saturate => convert::to_double(from),
            (_, Type::F64, Some(rounding)) if !nearest => convert::from_double(to, rounding),
            (_, _, None) if !nearest => convert::integers(to, from, saturate),
            _ => None,
        };
        self.alu(f.map(Op::Unary), Class::Convert, d, &[a])?;
        self.widen(d, to)
    }

    /// Copies the sign of a value of type `ty` into the upper part of its register.
    pub(super) fn widen(&mut self, d: u32, ty: Type) -> Result {
        if d == NONE || !ty.is_signed() || self.types[d as usize].bits() == ty.bits() {
            return Ok(());
        }
        let wide = match self.types[d as usize].bits() {
            16 => Type::S16,
            32 => Type::S32,
            _ => Type::S64,
        };
        self.alu(convert::integers(wide, ty, false).map(Op::Unary), Class::Convert, d, &[d])
    }

    /// Addresses of the spaces global, shared and constant are generic addresses already.
    pub(super) fn cvta(&mut self, words: &mut Words<'_>) -> Result {
        words.take("to");
        words.need(&["global", "shared", "const"])?;
        let ty = words.ty()?;
        self.arity(2..=2)?;
        let (d, a) = (self.result(0, ty)?, self.source(1, ty)?);
        self.alu(alu::unary("mov", ty).map(Op::Unary).filter(|_| ty == Type::U64), Class::Integer, d, &[a])
    }
}
