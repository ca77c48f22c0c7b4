//! Instructions of warps, barriers and fences.

use super::super::words::Words;
use super::super::{NONE, Op, Shuffle, Vote};
use super::{Decoder, Result};
use crate::counters::Class;
use crate::syntax::{Operand, Type};

impl Decoder<'_> {
    pub(super) fn warp(&mut self, words: &mut Words<'_>) -> Result {
        let opcode = words.opcode();
        if opcode == "activemask" {
            let ty = words.ty()?;
            self.arity(1..=1)?;
            let d = self.result(0, ty)?;
            return self.alu(Some(Op::ActiveMask), Class::Warp, d, &[]);
        }
        if !words.take("sync") {
            return self.error(format!("{opcode} without .sync does not exist on these devices"));
        }
        match opcode {
            "shfl" => {
                let mode = match words.need(&["up", "down", "bfly", "idx"])? {
                    "up" => Shuffle::Up,
                    "down" => Shuffle::Down,
                    "bfly" => Shuffle::Butterfly,
                    _ => Shuffle::Index,
                };
                let ty = words.ty()?;
                self.arity(5..=5)?;
                let (value, valid) = match self.operand(0)?.clone() {
                    Operand::Pair(value, valid) => (*value, *valid),
                    operand => (operand, Operand::Sink),
                };
                let d = [self.target(&value, 32, false)?, self.target(&valid, 1, false)?];
                let mut s = [NONE; 4];
                for (at, source) in s.iter_mut().enumerate() {
                    *source = self.source(at + 1, if at == 0 { ty } else { Type::B32 })?;
                }
                self.emit(Op::Shuffle(mode), Class::Warp, &d, &s);
            }
            "vote" => {
                let vote = match words.need(&["all", "any", "uni", "ballot"])? {
                    "all" => Vote::All,
                    "any" => Vote::Any,
                    "uni" => Vote::Uniform,
                    _ => Vote::Ballot,
                };
                let ty = words.ty()?;
                let expected = if vote == Vote::Ballot { Type::B32 } else { Type::Pred };
                self.arity(3..=3)?;
                let (d, a, members) = (self.result(0, ty)?, self.source(1, Type::Pred)?, self.source(2, Type::B32)?);
                self.alu(Some(Op::Vote(vote)).filter(|_| ty == expected), Class::Warp, d, &[a, members])?;
            }
            _ => {
                let name = words.need(&["add", "min", "max", "and", "or", "xor"])?;
                let ty = words.ty()?;
                self.arity(3..=3)?;
                let f: Option<fn(u64, u64) -> u64> = match (name, ty) {
                    ("add", Type::U32 | Type::S32) => Some(|a, b| u64::from((a as u32).wrapping_add(b as u32))),
                    ("min", Type::U32) => Some(u64::min),
                    ("max", Type::U32) => Some(u64::max),
                    ("min", Type::S32) => Some(|a, b| if (a as i32) < b as i32 { a } else { b }),
                    ("max", Type::S32) => Some(|a, b| if (a as i32) > b as i32 { a } else { b }),
                    ("and", Type::B32) => Some(|a, b| a & b),
                    ("or", Type::B32) => Some(|a, b| a | b),
                    ("xor", Type::B32) => Some(|a, b| a ^ b),
                    _ => None,
                };
                let (d, a, members) = (self.result(0, ty)?, self.source(1, ty)?, self.source(2, Type::B32)?);
                self.alu(f.map(Op::Reduce), Class::Warp, d, &[a, members])?;
            }
        }
        Ok(())
    }

    pub(super) fn barrier(&mut self, words: &mut Words<'_>) -> Result {
        match words.opcode() {
            "membar" => {
                let grid = words.need(&["cta", "gl", "sys"])? != "cta";
                self.emit(Op::Fence { grid }, Class::Barrier, &[], &[]);
            }
            "fence" => {
                words.need(&["sc", "acq_rel"])?;
                let grid = words.need(&["cta", "gpu", "sys"])? != "cta";
                self.emit(Op::Fence { grid }, Class::Barrier, &[], &[]);
            }
            _ if words.take("warp") => {
                words.need(&["sync"])?;
                self.arity(1..=1)?;
                let members = self.source(0, Type::B32)?;
                self.emit(Op::WarpBarrier, Class::Barrier, &[], &[members]);
            }
            _ => {
                words.take("cta");
                if words.take("cluster") {
                    return self.error("barriers of clusters are not supported yet");
                }
                if words.need(&["sync", "red"])? == "sync" {
                    words.take("aligned");
                    if self.statement.operands.len() > 1 {
                        return self.error("barriers of a part of the block are not supported yet");
                    }
                    let number = self.source(0, Type::U32)?;
                    self.emit(Op::Barrier(None), Class::Barrier, &[], &[number]);
                    return Ok(());
                }
                let vote = match words.need(&["popc", "and", "or"])? {
                    "popc" => Vote::Count,
                    "and" => Vote::All,
                    _ => Vote::Any,
                };
                words.take("aligned");
                let ty = words.ty()?;
                let expected = if vote == Vote::Count { Type::U32 } else { Type::Pred };
                if ty != expected {
                    return self.error("the type of this barrier's result is wrong");
                }
                self.arity(3..=3)?;
                let (d, number, p) = (self.result(0, ty)?, self.source(1, Type::U32)?, self.source(2, Type::Pred)?);
                self.emit(Op::Barrier(Some(vote)), Class::Barrier, &[d], &[number, p]);
            }
        }
        Ok(())
    }
}
