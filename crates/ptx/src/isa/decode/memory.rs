//! Loads, stores, parameters, atomic operations and asynchronous copies.

use super::super::words::Words;
use super::super::{Access, Atomic, NONE, Op, Order, Source, Space, alu};
use super::{Decoder, Result};
use crate::counters::Class;
use crate::syntax::{Operand, Symbol, Type};

impl Decoder<'_> {
    /// Takes the space, the order and the hints for caches of an access.
    fn memory_words(&mut self, words: &mut Words<'_>, atomic: bool) -> Result<(Space, Order)> {
        let space = match words.one(&["global", "shared", "const", "shared::cta"]) {
            Some("global") => Space::Global,
            Some("const") => Space::Const,
            None => Space::Generic,
            Some(_) => Space::Shared,
        };
        let semantics = words.one(&["weak", "relaxed", "acquire", "release", "acq_rel", "volatile"]);
        let grid = words.one(&["cta", "gpu", "sys"]) != Some("cta");
        let order = match semantics {
            None => Order { strong: atomic, grid, ..Order::WEAK },
            Some("weak") => Order::WEAK,
            Some(word) => Order {
                strong: true,
                acquire: matches!(word, "acquire" | "acq_rel"),
                release: matches!(word, "release" | "acq_rel"),
                grid,
            },
        };
        Ok((space, order))
    }

    pub(super) fn load_store(&mut self, words: &mut Words<'_>) -> Result {
        let load = words.opcode() != "st";
        if words.take("param") {
            return self.parameter(words, load);
        }
        let (space, order) = self.memory_words(words, false)?;
        let constant = words.take("nc") && load && space == Space::Global;
        words.one(&["ca", "cg", "cs", "lu", "cv", "wb", "wt"]);
        words.one(&["L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"]);
        words.one(&["L2::64B", "L2::128B", "L2::256B"]);
        let count = match words.one(&["v2", "v4"]) {
            Some("v2") => 2,
            Some(_) => 4,
            None => 1,
        };
        let ty = words.ty()?;
        if ty == Type::Pred || ty.bytes() * count > 16 {
            return self.error("an access has at most 16 bytes");
        }
        self.arity(2..=2)?;
        let (address, offset) = self.address(if load { 1 } else { 0 })?;
        let class = match space {
            Space::Shared => Class::Shared,
            Space::Const => Class::Constant,
            Space::Global | Space::Generic => Class::Global,
        };
        let elements = match self.operand(usize::from(!load))?.clone() {
            Operand::Vector(elements) => elements,
            operand => vec![operand],
        };
        if elements.len() as u32 != count {
            return self.error(format!("{count} registers are expected"));
        }
        let mut access = Access { space, offset, bytes: ty.bytes(), count, signed: None, order, constant };
        if load {
            let mut d = Vec::new();
            for element in &elements {
                d.push(self.target(element, ty.bits(), true)?);
            }
            let widest = d.iter().filter(|&&d| d != NONE).map(|&d| self.types[d as usize].bits()).max();
            if ty.is_signed() {
                access.signed = widest.map(|bits| u64::MAX >> (64 - bits));
            }
            self.emit(Op::Load(access), class, &d, &[address]);
        } else {
            if space == Space::Const {
                return self.error("constant memory cannot be written");
            }
            let mut s = vec![address];
            for element in &elements {
                s.push(self.value(element, ty, true)?);
            }
            self.emit(Op::Store(access), class, &[], &s);
        }
        Ok(())
    }

    fn parameter(&mut self, words: &mut Words<'_>, load: bool) -> Result {
        let count = words.one(&["v2", "v4"]).map_or(1, |word| if word == "v2" { 2 } else { 4 });
        let ty = words.ty()?;
        self.arity(2..=2)?;
        let Operand::Address(base, offset) = self.operand(1)?.clone() else {
            return self.error("expected [parameter]");
        };
        let Operand::Symbol(Symbol::Parameter(start_of)) = *base else {
            return self.error("parameters are read by name and constant offset");
        };
        let elements = match self.operand(0)?.clone() {
            Operand::Vector(elements) => elements,
            operand => vec![operand],
        };
        if !load || elements.len() != count || ty == Type::Pred {
            return self.error("this access to a parameter is not supported");
        }
        for (at, element) in elements.iter().enumerate() {
            let d = self.target(element, ty.bits(), true)?;
            let place = i64::from(start_of) + offset + i64::from(ty.bytes()) * at as i64;
            let inside = self.parameters.iter().any(|parameter| {
                let start = i64::from(parameter.offset);
                parameter.offset == start_of
                    && start <= place
                    && place + i64::from(ty.bytes()) <= start + i64::from(parameter.bytes)
            });
            let Some(offset) = u32::try_from(place).ok().filter(|_| inside) else {
                return self.error("the access lies outside of the parameter");
            };
            let source = self.source_of(Source::Parameter { offset, bytes: ty.bytes() });
            self.alu(alu::unary("mov", Type::B64).map(Op::Unary), Class::Constant, d, &[source])?;
            self.widen(d, ty)?;
        }
        Ok(())
    }

    pub(super) fn atomic(&mut self, words: &mut Words<'_>) -> Result {
        let returns = words.opcode() == "atom";
        let (space, order) = self.memory_words(words, true)?;
        let name = words.need(&["add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"])?;
        let ty = words.ty()?;
        let Some(apply) = atomic_function(name, ty).filter(|_| space != Space::Const) else {
            return self.error("this atomic operation does not exist for this type, or is not supported");
        };
        let first = usize::from(returns);
        let operands = if name == "cas" { 2 } else { 1 };
        self.arity(first + 1 + operands..=first + 1 + operands)?;
        let d = if returns { self.result(0, ty)? } else { NONE };
        let (address, offset) = self.address(first)?;
        let mut s = vec![address];
        for at in 0..operands {
            s.push(self.source(first + 1 + at, ty)?);
        }
        if operands == 1 {
            s.push(self.constant(0));
        }
        let access = Access { space, offset, bytes: ty.bytes(), count: 1, signed: None, order, constant: false };
        self.emit(Op::Atomic(Atomic { access, apply }), Class::Atomic, &[d], &s);
        Ok(())
    }

    /// `cp.async`: copies from global to shared memory, their groups, and the waits for them.
    pub(super) fn copy(&mut self, words: &mut Words<'_>) -> Result {
        words.need(&["async"])?;
        if words.take("bulk") || words.take("mbarrier") {
            return self.error("the bulk copies of Hopper and copies with an mbarrier are not supported yet");
        }
        let kind = words.need(&["ca", "cg", "commit_group", "wait_group", "wait_all"])?;
        match kind {
            "commit_group" => {
                self.arity(0..=0)?;
                self.emit(Op::CloseCopies, Class::Barrier, &[], &[]);
                return Ok(());
            }
            "wait_group" => {
                self.arity(1..=1)?;
                let Operand::Integer(left) = *self.operand(0)? else {
                    return self.error("the number of groups is an integer literal");
                };
                self.emit(Op::AwaitCopies(left), Class::Barrier, &[], &[]);
                return Ok(());
            }
            "wait_all" => {
                self.arity(0..=0)?;
                self.emit(Op::CloseCopies, Class::Barrier, &[], &[]);
                self.emit(Op::AwaitCopies(0), Class::Barrier, &[], &[]);
                return Ok(());
            }
            _ => {}
        }
        words.need(&["shared", "shared::cta"])?;
        words.need(&["global"])?;
        if self.statement.opcode.last().is_none_or(|word| word != "global") {
            return self.error("a copy goes from global to shared memory, and has no hints: .shared.global");
        }
        self.arity(3..=3)?;
        let (ty, count) = match (kind, self.operand(2)?) {
            (_, Operand::Integer(16)) => (Type::B64, 2),
            ("ca", Operand::Integer(8)) => (Type::B64, 1),
            ("ca", Operand::Integer(4)) => (Type::B32, 1),
            _ => return self.error("cp.async.cg copies 16 bytes, and cp.async.ca 4, 8 or 16"),
        };
        let ((to, to_offset), (from, from_offset)) = (self.address(0)?, self.address(1)?);
        if self.types.get(from as usize).is_some_and(|ty| ty.bits() != 64) {
            return self.error("the source is an address of 64 bits");
        }
        let access = |space, offset| Access {
            space,
            offset,
            bytes: ty.bytes(),
            count,
            signed: None,
            order: Order::WEAK,
            constant: false,
        };
        let values: Vec<u32> = (0..count).map(|_| self.temporary(ty)).collect();
        self.emit(Op::Load(access(Space::Global, from_offset)), Class::Global, &values, &[from]);
        let sources = [&[to], values.as_slice()].concat();
        self.emit(Op::Copy(access(Space::Shared, to_offset)), Class::Global, &[], &sources);
        Ok(())
    }
}

fn atomic_function(name: &str, ty: Type) -> Option<fn(u64, u64, u64) -> u64> {
    let narrow = ty.bits() == 32;
    Some(match (name, ty) {
        ("add", Type::U32 | Type::S32) => |old, a, _| u64::from((old as u32).wrapping_add(a as u32)),
        ("add", Type::U64) => |old, a, _| old.wrapping_add(a),
        ("min", Type::U32 | Type::U64) => |old, a, _| old.min(a),
        ("max", Type::U32 | Type::U64) => |old, a, _| old.max(a),
        ("min", Type::S32) => |old, a, _| if (a as i32) < old as i32 { a } else { old },
        ("max", Type::S32) => |old, a, _| if (a as i32) > old as i32 { a } else { old },
        ("min", Type::S64) => |old, a, _| if (a as i64) < old as i64 { a } else { old },
        ("max", Type::S64) => |old, a, _| if (a as i64) > old as i64 { a } else { old },
        ("and", Type::B32 | Type::B64) => |old, a, _| old & a,
        ("or", Type::B32 | Type::B64) => |old, a, _| old | a,
        ("xor", Type::B32 | Type::B64) => |old, a, _| old ^ a,
        ("exch", Type::B32 | Type::B64) => |_, a, _| a,
        ("cas", Type::B32 | Type::B64) => |old, a, b| if old == a { b } else { old },
        ("inc", Type::U32) if narrow => |old, a, _| if old >= a { 0 } else { old + 1 },
        ("dec", Type::U32) if narrow => |old, a, _| if old == 0 || old > a { a } else { old - 1 },
        _ => return None,
    })
}
