//! Reads PTX text into kernels of statements whose names are resolved.

mod body;
mod lexer;
mod parser;

use std::collections::BTreeMap;

use crate::error::ParseError;

pub(crate) use body::SHARED_START;
pub(crate) use parser::parse;

/// A fundamental type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Pred,
    U8,
    S8,
    B8,
    U16,
    S16,
    B16,
    U32,
    S32,
    B32,
    U64,
    S64,
    B64,
    F32,
    F64,
}

impl Type {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "pred" => Self::Pred,
            "u8" => Self::U8,
            "s8" => Self::S8,
            "b8" => Self::B8,
            "u16" => Self::U16,
            "s16" => Self::S16,
            "b16" => Self::B16,
            "u32" => Self::U32,
            "s32" => Self::S32,
            "b32" => Self::B32,
            "u64" => Self::U64,
            "s64" => Self::S64,
            "b64" => Self::B64,
            "f32" => Self::F32,
            "f64" => Self::F64,
            _ => return None,
        })
    }

    /// Width in bits; 1 for predicates.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::Pred => 1,
            Self::U8 | Self::S8 | Self::B8 => 8,
            Self::U16 | Self::S16 | Self::B16 => 16,
            Self::U32 | Self::S32 | Self::B32 | Self::F32 => 32,
            Self::U64 | Self::S64 | Self::B64 | Self::F64 => 64,
        }
    }

    pub(crate) fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    pub(crate) fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }
}

/// A special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Special {
    Thread(usize),
    BlockSize(usize),
    Block(usize),
    GridSize(usize),
    Lane,
    /// The mask of lanes below (or equal, above) this one.
    LanesLess,
    LanesUpTo,
    LanesFrom,
    LanesGreater,
}

impl Special {
    /// The register `name`, or `name.axis`.
    fn named(name: &str, axis: &str) -> Option<Self> {
        let axis = ["x", "y", "z"].into_iter().position(|known| known == axis);
        Some(match (name, axis) {
            ("%laneid", None) => Self::Lane,
            ("%lanemask_lt", None) => Self::LanesLess,
            ("%lanemask_le", None) => Self::LanesUpTo,
            ("%lanemask_ge", None) => Self::LanesFrom,
            ("%lanemask_gt", None) => Self::LanesGreater,
            ("%tid", Some(axis)) => Self::Thread(axis),
            ("%ntid", Some(axis)) => Self::BlockSize(axis),
            ("%ctaid", Some(axis)) => Self::Block(axis),
            ("%nctaid", Some(axis)) => Self::GridSize(axis),
            _ => return None,
        })
    }
}

/// An operand whose names are resolved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    Register(u32),
    /// `!%p`
    Not(u32),
    /// An integer modulo 2^64.
    Integer(u64),
    /// Bits of a double.
    Double(u64),
    /// Bits of a single.
    Single(u32),
    Special(Special),
    /// Address of a variable or of a parameter.
    Symbol(Symbol),
    /// `[base + offset]`
    Address(Box<Operand>, i64),
    /// `{a, b}`
    Vector(Vec<Operand>),
    /// `d|p`
    Pair(Box<Operand>, Box<Operand>),
    /// `_`
    Sink,
    /// A label, as an index of a statement.
    Label(usize),
    /// A name that is no register; it becomes a label at the end of the kernel.
    Unresolved(String),
}

/// A variable that an instruction names. Values are offsets in its state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
    Parameter(u32),
    Shared(u32),
    Const(u32),
}

/// One instruction.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) text: String,
    /// Predicate register, and whether its value is negated.
    pub(crate) guard: Option<(u32, bool)>,
    /// Opcode and modifiers.
    pub(crate) opcode: Vec<String>,
    pub(crate) operands: Vec<Operand>,
}

impl Statement {
    pub(crate) fn error<T>(&self, what: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError { line: self.line, column: self.column, what: what.into() })
    }
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Offset in the block of parameters, bytes.
    pub offset: u32,
    /// Size, bytes.
    pub bytes: u32,
    /// Alignment, bytes.
    pub align: u32,
}

/// An array in shared memory.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    /// Offset in the emulated shared memory, which has gaps between arrays.
    pub(crate) offset: u32,
    pub(crate) bytes: u32,
}

/// A kernel as it was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) max_threads: Option<u32>,
    /// Types of the registers by number.
    pub(crate) registers: Vec<Type>,
    /// Static arrays; dynamic memory follows at `dynamic`.
    pub(crate) arrays: Vec<Array>,
    /// Offset of dynamic shared memory.
    pub(crate) dynamic: u32,
    /// Bytes of the static arrays without gaps.
    pub(crate) shared_bytes: u32,
    pub(crate) statements: Vec<Statement>,
}

/// A file as it was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub(crate) entries: Vec<Entry>,
    /// The bytes of constant memory.
    pub(crate) constants: Vec<u8>,
}

/// Names of variables with their places.
type Symbols = BTreeMap<String, Symbol>;
