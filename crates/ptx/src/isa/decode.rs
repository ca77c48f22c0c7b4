//! Statements to instructions.

use std::collections::BTreeMap;

use super::alu;
use super::convert::{self, Rounding};
use super::words::Words;
use super::{Access, Atomic, Instruction, NONE, Op, Order, Shuffle, Source, Space, Vote};
use crate::counters::Class;
use crate::error::ParseError;
use crate::syntax::{Entry, Operand, Statement, Symbol, Type};

type Result<T = ()> = std::result::Result<T, ParseError>;

/// The instructions of a kernel before registers are assigned to places.
pub(super) struct Decoded {
    pub(super) code: Vec<Instruction>,
    pub(super) registers: usize,
    pub(super) sources: Vec<Source>,
}

/// Numbers of sources start here, until all temporary registers are known.
const SOURCES: u32 = 1 << 24;

struct Decoder<'a> {
    statement: &'a Statement,
    index: usize,
    types: Vec<Type>,
    code: Vec<Instruction>,
    sources: Vec<Source>,
    known: BTreeMap<Source, u32>,
}

/// Decodes all statements of a kernel.
pub(super) fn decode(entry: &Entry) -> Result<Decoded> {
    let Some(last) = entry.statements.last() else {
        return Err(ParseError { line: 1, column: 1, what: format!("the kernel {} has no instructions", entry.name) });
    };
    let mut decoder = Decoder {
        statement: last,
        index: 0,
        types: entry.registers.clone(),
        code: Vec::new(),
        sources: Vec::new(),
        known: BTreeMap::new(),
    };
    // First instruction of each statement, for the targets of branches.
    let mut starts = Vec::with_capacity(entry.statements.len() + 1);
    for (index, statement) in entry.statements.iter().enumerate() {
        starts.push(decoder.code.len());
        (decoder.statement, decoder.index) = (statement, index);
        decoder.decode()?;
    }
    starts.push(decoder.code.len());
    decoder.statement = last;
    decoder.emit_unguarded(Op::Exit, Class::Branch);
    let registers = decoder.types.len();
    for instruction in &mut decoder.code {
        if let Op::Branch(target) = &mut instruction.op {
            *target = starts[*target];
        }
        let guard = instruction.guard.as_mut().map(|(register, _)| register);
        for register in instruction.s.iter_mut().chain(guard) {
            if *register != NONE && *register >= SOURCES {
                *register = *register - SOURCES + registers as u32;
            }
        }
    }
    Ok(Decoded { code: decoder.code, registers, sources: decoder.sources })
}

fn pad<const N: usize>(registers: &[u32]) -> [u32; N] {
    std::array::from_fn(|at| registers.get(at).copied().unwrap_or(NONE))
}

impl Decoder<'_> {
    fn error<T>(&self, what: impl Into<String>) -> Result<T> {
        self.statement.error(what)
    }

    fn emit(&mut self, op: Op, class: Class, d: &[u32], s: &[u32]) {
        let counted = self.code.last().is_none_or(|last| last.statement != self.index);
        self.code.push(Instruction {
            op,
            guard: self.statement.guard.map(|(register, negated)| (register, !negated)),
            d: pad(d),
            s: pad(s),
            reads_carry: false,
            writes_carry: false,
            class,
            counted,
            statement: self.index,
            needs: Box::default(),
            sets: Box::default(),
        });
    }

    fn emit_unguarded(&mut self, op: Op, class: Class) {
        self.emit(op, class, &[], &[]);
        if let Some(last) = self.code.last_mut() {
            last.guard = None;
        }
    }

    fn temporary(&mut self, ty: Type) -> u32 {
        self.types.push(ty);
        self.types.len() as u32 - 1
    }

    fn source_of(&mut self, source: Source) -> u32 {
        let (sources, known) = (&mut self.sources, &mut self.known);
        *known.entry(source).or_insert_with(|| {
            sources.push(source);
            SOURCES + sources.len() as u32 - 1
        })
    }

    fn constant(&mut self, value: u64) -> u32 {
        self.source_of(Source::Constant(value))
    }

    fn operand(&self, at: usize) -> Result<&Operand> {
        self.statement.operands.get(at).map_or_else(|| self.error(format!("operand {} is missing", at + 1)), Ok)
    }

    fn arity(&self, counts: std::ops::RangeInclusive<usize>) -> Result {
        let count = self.statement.operands.len();
        if counts.contains(&count) {
            Ok(())
        } else {
            self.error(format!("{count} operands do not fit this instruction"))
        }
    }

    /// The register that operand `at` names for a result of `bits` bits, or of more if `wider`.
    fn target(&self, operand: &Operand, bits: u32, wider: bool) -> Result<u32> {
        match *operand {
            Operand::Register(register) => {
                let has = self.types[register as usize].bits();
                if has == bits || wider && has > bits {
                    Ok(register)
                } else {
                    self.error(format!("the result has {bits} bits and its register {has}"))
                }
            }
            Operand::Sink => Ok(NONE),
            _ => self.error("the result is no register"),
        }
    }

    fn result(&self, at: usize, ty: Type) -> Result<u32> {
        self.target(self.operand(at)?, ty.bits(), false)
    }

    /// The register or constant of an operand of type `ty`, or of a register with more bits if `wider`.
    fn value(&mut self, operand: &Operand, ty: Type, wider: bool) -> Result<u32> {
        let bits = ty.bits();
        let mask = u64::MAX >> (64 - bits);
        match *operand {
            Operand::Register(register) => {
                let has = self.types[register as usize].bits();
                if has == bits || wider && has > bits {
                    Ok(register)
                } else {
                    self.error(format!("an operand has {bits} bits and its register {has}"))
                }
            }
            Operand::Not(register) if ty == Type::Pred => {
                let inverse = self.temporary(Type::Pred);
                let Some(not) = alu::unary("not", Type::Pred) else { return self.error("no operand may be negated") };
                self.emit(Op::Unary(not), Class::Integer, &[inverse], &[register]);
                Ok(inverse)
            }
            // The manual truncates literals, which have 64 bits.
            Operand::Integer(value) if !ty.is_float() => {
                Ok(self.constant(if ty == Type::Pred { u64::from(value != 0) } else { value & mask }))
            }
            Operand::Double(value) if bits == 64 => Ok(self.constant(value)),
            Operand::Single(value) if bits == 32 => Ok(self.constant(value.into())),
            Operand::Special(special) if bits == 32 || wider => Ok(self.source_of(Source::Special(special))),
            Operand::Symbol(Symbol::Shared(offset) | Symbol::Const(offset)) if bits >= 32 => {
                Ok(self.constant(offset.into()))
            }
            Operand::Symbol(Symbol::Parameter(_)) => {
                self.error("the address of a parameter is not supported; use ld.param")
            }
            _ => self.error("an operand does not fit the type of the instruction"),
        }
    }

    fn source(&mut self, at: usize, ty: Type) -> Result<u32> {
        let operand = self.operand(at)?.clone();
        self.value(&operand, ty, false)
    }

    /// `[base + offset]`: the register of the base and the offset.
    fn address(&mut self, at: usize) -> Result<(u32, i64)> {
        match self.operand(at)?.clone() {
            Operand::Address(base, offset) => {
                let narrow = matches!(*base, Operand::Register(register) if self.types[register as usize].bits() == 32);
                let ty = if narrow { Type::U32 } else { Type::U64 };
                Ok((self.value(&base, ty, false)?, offset))
            }
            _ => self.error("an address in brackets is expected"),
        }
    }

    fn alu(&mut self, op: Option<Op>, class: Class, d: u32, s: &[u32]) -> Result {
        let Some(op) = op else { return self.error("this opcode does not exist for this type, or is not supported") };
        // A result that nobody can read has no effect.
        if d == NONE {
            self.emit(Op::Nothing, class, &[], s);
        } else {
            self.emit(op, class, &[d], s);
        }
        Ok(())
    }

    fn decode(&mut self) -> Result {
        let statement = self.statement;
        let mut words = Words::new(statement);
        let opcode = words.opcode();
        match opcode {
            "add" | "sub" | "addc" | "subc" => self.sum(&mut words)?,
            "mul" | "mad" | "madc" => self.product(&mut words)?,
            "fma" | "div" | "sqrt" | "rcp" => self.fp64(&mut words)?,
            "rem" | "min" | "max" | "and" | "or" | "xor" | "copysign" => {
                let ty = words.ty()?;
                self.arity(3..=3)?;
                let (d, a, b) = (self.result(0, ty)?, self.source(1, ty)?, self.source(2, ty)?);
                self.alu(alu::binary(opcode, ty).map(Op::Binary), class_of(ty), d, &[a, b])?;
            }
            "abs" | "neg" | "not" | "brev" | "mov" => {
                let ty = words.ty()?;
                self.arity(2..=2)?;
                if opcode == "mov"
                    && self.statement.operands.iter().any(|operand| matches!(operand, Operand::Vector(_)))
                {
                    self.pack(ty)?;
                } else {
                    let (d, a) = (self.result(0, ty)?, self.source(1, ty)?);
                    self.alu(alu::unary(opcode, ty).map(Op::Unary), class_of(ty), d, &[a])?;
                }
            }
            "popc" | "clz" | "bfind" => {
                let name = if words.take("shiftamt") { "bfind.shiftamt" } else { opcode };
                let ty = words.ty()?;
                self.arity(2..=2)?;
                let (d, a) = (self.result(0, Type::U32)?, self.source(1, ty)?);
                self.alu(alu::unary(name, ty).map(Op::Unary), Class::Integer, d, &[a])?;
            }
            "shl" | "shr" => {
                let ty = words.ty()?;
                self.arity(3..=3)?;
                let (d, a, n) = (self.result(0, ty)?, self.source(1, ty)?, self.source(2, Type::U32)?);
                self.alu(alu::shift(opcode, ty).map(Op::Binary), Class::Integer, d, &[a, n])?;
            }
            "shf" => {
                let left = words.need(&["l", "r"])? == "l";
                let wrap = words.need(&["wrap", "clamp"])? == "wrap";
                let ty = words.ty()?;
                self.fixed(4, ty, Type::B32, Op::Ternary(alu::funnel(left, wrap)))?;
            }
            "prmt" => {
                let ty = words.ty()?;
                let mode = words.one(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]);
                let Some(f) = alu::permute(mode) else { return self.error("this mode of prmt does not exist") };
                self.fixed(4, ty, Type::B32, Op::Ternary(f))?;
            }
            "lop3" => {
                let ty = words.ty()?;
                self.fixed(5, ty, Type::B32, Op::Quaternary(alu::lop3()))?;
            }
            "bfe" | "bfi" => self.field(&mut words)?,
            "setp" => self.setp(&mut words)?,
            "selp" => {
                let ty = words.ty()?;
                self.arity(4..=4)?;
                let (d, a, b) = (self.result(0, ty)?, self.source(1, ty)?, self.source(2, ty)?);
                let c = self.source(3, Type::Pred)?;
                self.alu(alu::ternary("selp", ty).map(Op::Ternary), Class::Integer, d, &[a, b, c])?;
            }
            "cvt" => self.cvt(&mut words)?,
            "cvta" => self.cvta(&mut words)?,
            "ld" | "ldu" | "st" => self.load_store(&mut words)?,
            "atom" | "red" => self.atomic(&mut words)?,
            "shfl" | "vote" | "redux" | "activemask" => self.warp(&mut words)?,
            "bar" | "barrier" | "membar" | "fence" => self.barrier(&mut words)?,
            "bra" => {
                words.take("uni");
                self.arity(1..=1)?;
                let Operand::Label(target) = *self.operand(0)? else { return self.error("bra needs a label") };
                self.emit(Op::Branch(target), Class::Branch, &[], &[]);
            }
            "ret" | "exit" => {
                words.take("uni");
                self.arity(0..=0)?;
                self.emit(Op::Exit, Class::Branch, &[], &[]);
            }
            "trap" => self.emit(Op::Trap, Class::Branch, &[], &[]),
            "nanosleep" => {
                words.ty()?;
                self.emit(Op::Nothing, Class::Branch, &[], &[]);
            }
            "cp" | "mbarrier" | "mapa" | "griddepcontrol" | "elect" | "getctarank" => {
                return self.error(format!(
                    "{opcode} is for the asynchronous copies and clusters of Hopper, which are not supported yet"
                ));
            }
            _ => return self.error(format!("the opcode {opcode} is not supported")),
        }
        words.end()
    }

    /// An operation whose operands all have one type.
    fn fixed(&mut self, count: usize, ty: Type, expected: Type, op: Op) -> Result {
        if ty != expected {
            return self.error("this opcode exists for .b32 only");
        }
        self.arity(count..=count)?;
        let d = self.result(0, ty)?;
        let mut s = Vec::new();
        for at in 1..count {
            s.push(self.source(at, ty)?);
        }
        self.alu(Some(op), Class::Integer, d, &s)
    }

    fn carry(&mut self, name: &str, ty: Type, reads: bool, writes: bool, class: Class) -> Result {
        let third = name.starts_with("mad");
        self.arity(if third { 4..=4 } else { 3..=3 })?;
        let (d, a, b) = (self.result(0, ty)?, self.source(1, ty)?, self.source(2, ty)?);
        let c = if third { self.source(3, ty)? } else { self.constant(0) };
        let Some(f) = alu::carry(name, ty, reads, writes) else { return self.error("this type has no carry flag") };
        let d = if d == NONE { self.temporary(ty) } else { d };
        self.emit(Op::Carry(f), class, &[d], &[a, b, c]);
        if let Some(last) = self.code.last_mut() {
            (last.reads_carry, last.writes_carry) = (reads, writes);
        }
        Ok(())
    }

    fn sum(&mut self, words: &mut Words<'_>) -> Result {
        let opcode = words.opcode();
        let reads = opcode.ends_with('c');
        let writes = words.take("cc");
        let ty = words.ty()?;
        let name = &opcode[..3];
        if reads || writes {
            return self.carry(name, ty, reads, writes, Class::Integer);
        }
        if ty.is_float() && !words.take("rn") {
            return self
                .error(format!("{opcode} without .rn may be fused with a product, and its result is then unknown"));
        }
        self.arity(3..=3)?;
        let (d, a, b) = (self.result(0, ty)?, self.source(1, ty)?, self.source(2, ty)?);
        self.alu(alu::binary(name, ty).map(Op::Binary), class_of(ty), d, &[a, b])
    }

    fn product(&mut self, words: &mut Words<'_>) -> Result {
        let opcode = words.opcode();
        let ty = words.ty()?;
        if ty.is_float() {
            if opcode != "mul" || !words.take("rn") {
                return self.error("products of floating numbers are mul.rn.f64 and fma.rn.f64");
            }
            self.arity(3..=3)?;
            let (d, a, b) = (self.result(0, ty)?, self.source(1, ty)?, self.source(2, ty)?);
            return self.alu(alu::binary("mul", ty).map(Op::Binary), Class::Fp64, d, &[a, b]);
        }
        let part = words.need(&["lo", "hi", "wide"])?;
        let (reads, writes) = (opcode == "madc", words.take("cc"));
        if reads || writes {
            if opcode == "mul" {
                return self.error("mul has no carry");
            }
            return self.carry(&format!("mad.{part}"), ty, reads, writes, Class::Multiply);
        }
        let wide = match (part, ty) {
            ("wide", Type::U16 | Type::S16) => Type::U32,
            ("wide", _) => Type::U64,
            _ => ty,
        };
        let (d, a, b) = (self.result(0, wide)?, self.source(1, ty)?, self.source(2, ty)?);
        let name = format!("{opcode}.{part}");
        if opcode == "mul" {
            self.arity(3..=3)?;
            return self.alu(alu::binary(&name, ty).map(Op::Binary), Class::Multiply, d, &[a, b]);
        }
        self.arity(4..=4)?;
        let c = self.source(3, wide)?;
        self.alu(alu::ternary(&name, ty).map(Op::Ternary), Class::Multiply, d, &[a, b, c])
    }

    fn fp64(&mut self, words: &mut Words<'_>) -> Result {
        let opcode = words.opcode();
        let ty = words.ty()?;
        if !ty.is_float() && opcode == "div" {
            self.arity(3..=3)?;
            let (d, a, b) = (self.result(0, ty)?, self.source(1, ty)?, self.source(2, ty)?);
            return self.alu(alu::binary("div", ty).map(Op::Binary), Class::Integer, d, &[a, b]);
        }
        if !words.take("rn") {
            return self.error(format!("{opcode} must round to nearest: .rn"));
        }
        let count = match opcode {
            "fma" => 4,
            "div" => 3,
            _ => 2,
        };
        self.arity(count..=count)?;
        let d = self.result(0, ty)?;
        let mut s = Vec::new();
        for at in 1..count {
            s.push(self.source(at, ty)?);
        }
        let op = match opcode {
            "fma" => alu::ternary(opcode, ty).map(Op::Ternary),
            "div" => alu::binary(opcode, ty).map(Op::Binary),
            _ => alu::unary(opcode, ty).map(Op::Unary),
        };
        self.alu(op.filter(|_| ty == Type::F64), Class::Fp64, d, &s)
    }

    fn field(&mut self, words: &mut Words<'_>) -> Result {
        let opcode = words.opcode();
        let ty = words.ty()?;
        let (d, a) = (self.result(0, ty)?, self.source(1, ty)?);
        if opcode == "bfe" {
            self.arity(4..=4)?;
            let (position, length) = (self.source(2, Type::U32)?, self.source(3, Type::U32)?);
            // The position shares its type with the value in the table of functions; both are below 2^32.
            return self.alu(alu::ternary("bfe", ty).map(Op::Ternary), Class::Integer, d, &[a, position, length]);
        }
        self.arity(5..=5)?;
        let b = self.source(2, ty)?;
        let (position, length) = (self.source(3, Type::U32)?, self.source(4, Type::U32)?);
        self.alu(alu::insert(ty).map(Op::Quaternary), Class::Integer, d, &[a, b, position, length])
    }

    /// `mov` between a register and its parts.
    fn pack(&mut self, ty: Type) -> Result {
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

    fn setp(&mut self, words: &mut Words<'_>) -> Result {
        let names = [
            "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu",
            "num", "nan",
        ];
        let name = words.need(&names)?;
        let combine = words.one(&["and", "or", "xor"]);
        let ty = words.ty()?;
        self.arity(if combine.is_some() { 4..=4 } else { 3..=3 })?;
        let (d, a, b) = (self.result(0, Type::Pred)?, self.source(1, ty)?, self.source(2, ty)?);
        let compare = alu::compare(name, ty).map(Op::Binary);
        let Some(combine) = combine else { return self.alu(compare, Class::Integer, d, &[a, b]) };
        let c = self.source(3, Type::Pred)?;
        let first = self.temporary(Type::Pred);
        self.alu(compare, Class::Integer, first, &[a, b])?;
        self.alu(alu::binary(combine, Type::Pred).map(Op::Binary), Class::Integer, d, &[first, c])
    }

    fn cvt(&mut self, words: &mut Words<'_>) -> Result {
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
    fn widen(&mut self, d: u32, ty: Type) -> Result {
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
    fn cvta(&mut self, words: &mut Words<'_>) -> Result {
        words.take("to");
        words.need(&["global", "shared", "const"])?;
        let ty = words.ty()?;
        self.arity(2..=2)?;
        let (d, a) = (self.result(0, ty)?, self.source(1, ty)?);
        self.alu(alu::unary("mov", ty).map(Op::Unary).filter(|_| ty == Type::U64), Class::Integer, d, &[a])
    }

    /// Takes the space, the order and the hints for caches of an access.
    fn memory_words(&mut self, words: &mut Words<'_>, atomic: bool) -> Result<(Space, Order)> {
        let space = match words.one(&["global", "shared", "const", "shared::cta"]) {
            Some("global") => Space::Global,
            Some("const") => Space::Const,
            None => Space::Generic,
            Some(_) => Space::Shared,
        };
        let semantics = words.one(&["weak", "relaxed", "acquire", "release", "acq_rel", "volatile"]);
        words.one(&["cta", "gpu", "sys"]);
        let order = match semantics {
            None => Order { strong: atomic, ..Order::WEAK },
            Some("weak") => Order::WEAK,
            Some(word) => Order {
                strong: true,
                acquire: matches!(word, "acquire" | "acq_rel"),
                release: matches!(word, "release" | "acq_rel"),
            },
        };
        Ok((space, order))
    }

    fn load_store(&mut self, words: &mut Words<'_>) -> Result {
        let load = words.opcode() != "st";
        if words.take("param") {
            return self.parameter(words, load);
        }
        let (space, order) = self.memory_words(words, false)?;
        words.take("nc");
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
        let mut access = Access { space, offset, bytes: ty.bytes(), count, signed: None, order };
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
        let Operand::Symbol(Symbol::Parameter(start)) = *base else {
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
            let place = i64::from(start) + offset + i64::from(ty.bytes()) * at as i64;
            let Ok(offset) = u32::try_from(place) else {
                return self.error("the offset lies outside of the parameters");
            };
            let source = self.source_of(Source::Parameter { offset, bytes: ty.bytes() });
            self.alu(alu::unary("mov", Type::B64).map(Op::Unary), Class::Constant, d, &[source])?;
            self.widen(d, ty)?;
        }
        Ok(())
    }

    fn atomic(&mut self, words: &mut Words<'_>) -> Result {
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
        let access = Access { space, offset, bytes: ty.bytes(), count: 1, signed: None, order };
        self.emit(Op::Atomic(Atomic { access, apply }), Class::Atomic, &[d], &s);
        Ok(())
    }

    fn warp(&mut self, words: &mut Words<'_>) -> Result {
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

    fn barrier(&mut self, words: &mut Words<'_>) -> Result {
        match words.opcode() {
            "membar" => {
                words.need(&["cta", "gl", "sys"])?;
                self.emit(Op::Fence, Class::Barrier, &[], &[]);
            }
            "fence" => {
                words.need(&["sc", "acq_rel"])?;
                words.need(&["cta", "gpu", "sys"])?;
                self.emit(Op::Fence, Class::Barrier, &[], &[]);
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

fn class_of(ty: Type) -> Class {
    if ty == Type::F64 { Class::Fp64 } else { Class::Integer }
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
