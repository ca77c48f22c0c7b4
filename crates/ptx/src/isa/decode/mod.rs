//! Statements to instructions.

mod memory;
mod moves;
mod threads;

use std::collections::BTreeMap;

use super::alu;
use super::words::Words;
use super::{Instruction, NONE, Op, Source};
use crate::counters::Class;
use crate::error::ParseError;
use crate::syntax::{Entry, Operand, Parameter, Statement, Symbol, Type};

/// The opcodes that the interpreter knows.
pub const OPCODES: &[&str] = &[
    "abs",
    "activemask",
    "add",
    "addc",
    "and",
    "atom",
    "bar",
    "barrier",
    "bfe",
    "bfi",
    "bfind",
    "bra",
    "brev",
    "clz",
    "copysign",
    "cp",
    "cvt",
    "cvta",
    "div",
    "exit",
    "fence",
    "fma",
    "ld",
    "ldu",
    "lop3",
    "mad",
    "madc",
    "max",
    "membar",
    "min",
    "mov",
    "mul",
    "nanosleep",
    "neg",
    "not",
    "or",
    "popc",
    "prmt",
    "rcp",
    "red",
    "redux",
    "rem",
    "ret",
    "selp",
    "setp",
    "shf",
    "shfl",
    "shl",
    "shr",
    "sqrt",
    "st",
    "sub",
    "subc",
    "trap",
    "vote",
    "xor",
];

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
    parameters: &'a [Parameter],
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
        parameters: &entry.parameters,
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
            guard_needs: None,
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
        if !OPCODES.contains(&opcode) {
            return self.unknown(opcode);
        }
        match opcode {
            "add" | "sub" | "addc" | "subc" => self.sum(&mut words)?,
            "mul" | "mad" | "madc" => self.product(&mut words)?,
            "fma" | "div" | "sqrt" | "rcp" => self.fp64(&mut words)?,
            "rem" => {
                let ty = words.ty()?;
                self.quotient(opcode, ty)?;
            }
            "min" | "max" | "and" | "or" | "xor" | "copysign" => {
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
                let name = if opcode == "bfind" && words.take("shiftamt") { "bfind.shiftamt" } else { opcode };
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
            "cp" => self.copy(&mut words)?,
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
            _ => return self.unknown(opcode),
        }
        words.end()
    }

    fn unknown(&self, opcode: &str) -> Result {
        match opcode {
            "mbarrier" | "mapa" | "griddepcontrol" | "elect" | "getctarank" => self
                .error(format!("{opcode} is for the bulk copies and clusters of Hopper, which are not supported yet")),
            _ => self.error(format!("the opcode {opcode} is not supported")),
        }
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

    /// `div` and `rem` of integers.
    fn quotient(&mut self, opcode: &str, ty: Type) -> Result {
        self.arity(3..=3)?;
        let (d, a, b) = (self.result(0, ty)?, self.source(1, ty)?, self.source(2, ty)?);
        self.alu(alu::binary(opcode, ty).map(Op::Quotient), Class::Integer, d, &[a, b])
    }

    fn fp64(&mut self, words: &mut Words<'_>) -> Result {
        let opcode = words.opcode();
        let ty = words.ty()?;
        if !ty.is_float() && opcode == "div" {
            return self.quotient(opcode, ty);
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
}

fn class_of(ty: Type) -> Class {
    if ty == Type::F64 { Class::Fp64 } else { Class::Integer }
}
