//! The cases, with the same names for every engine, and the targets of ours.

use std::fmt;

/// A Boolean parameter set of a peer, by the failure probability that tfhe-rs states for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateSet {
    /// 2^-64, bootstrap then keyswitch: the peer's default.
    P64,
    /// 2^-64, keyswitch then bootstrap.
    P64KsPbs,
    /// 2^-165, bootstrap then keyswitch.
    P165,
    /// 2^-165, keyswitch then bootstrap.
    P165KsPbs,
    /// The parameters of the first TFHE library; about 120 bits of security, failure probability not stated.
    TfheLib,
    /// `ParamsBinary` of the peer tfhe-go; at least 128 bits of security and less than 2^-64, as it states.
    TfheGo,
}

impl GateSet {
    /// Every set of tfhe-rs, weakest failure probability first.
    pub const TFHE_RS: [Self; 5] = [Self::P64, Self::P64KsPbs, Self::P165, Self::P165KsPbs, Self::TfheLib];
}

impl fmt::Display for GateSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::P64 => "pfail=2^-64",
            Self::P64KsPbs => "pfail=2^-64/ks-pbs",
            Self::P165 => "pfail=2^-165",
            Self::P165KsPbs => "pfail=2^-165/ks-pbs",
            Self::TfheLib => "tfhe-lib",
            Self::TfheGo => "tfhe-go",
        })
    }
}

/// A Boolean parameter set of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OurSet {
    /// `gates-128`, our default: fails with less than 2^-128.
    Gates128,
    /// `gates-64`
    Gates64,
    /// `gates-40`
    Gates40,
}

impl OurSet {
    /// Name of the set.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gates128 => "gates-128",
            Self::Gates64 => "gates-64",
            Self::Gates40 => "gates-40",
        }
    }

    /// Its part of a row's id, empty for the default.
    fn suffix(self) -> String {
        if self == Self::Gates128 { String::new() } else { format!("/ours={}", self.name()) }
    }
}

/// A bootstrapped gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// `!(a & b)`
    Nand,
    /// `a ^ b`
    Xor,
    /// `if s { a } else { b }`
    Mux,
}

/// The operands of operations on integers, of which the lowest bits are taken. The times do not depend on them.
pub const OPERANDS: (u64, u64) = (0xfedc_ba98_7654_3210, 0x0f1e_2d3c_4b5a_6978);

/// An operation on two encrypted integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntOp {
    /// Sum modulo 2^bits.
    Add,
    /// Product modulo 2^bits.
    Mul,
    /// Quotient.
    Div,
    /// Unsigned less-than.
    Lt,
    /// Bitwise and.
    BitAnd,
}

/// Keys of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Keys for gates under one parameter set of each engine.
    Gate(GateSet, OurSet),
    /// Keys for integers under the engine's defaults.
    Int,
}

/// A task that is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// One gate.
    Gate(Gate, GateSet, OurSet),
    /// A number of independent NAND gates in one call. The time is that of one gate.
    Nands(usize, GateSet, OurSet),
    /// One operation on integers of a number of bits.
    Int(IntOp, u32),
    /// One lookup table over a block of 2 message and 2 carry bits: keyswitch and bootstrap.
    Lut,
    /// Client and server key generation.
    Keygen(KeyKind),
}

impl Task {
    /// Whether the peer computes it in a process of its own, whose CPU time is not ours to read.
    pub fn in_another_process(&self) -> bool {
        matches!(self, Self::Gate(_, GateSet::TfheGo, _) | Self::Nands(_, GateSet::TfheGo, _))
    }

    /// Operations of one run. Times are given per operation.
    pub fn ops(&self) -> usize {
        match self {
            Self::Nands(count, ..) => *count,
            _ => 1,
        }
    }
}

/// A size, measured once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Server key as it is used: the peer's serialized, ours as it lies in memory.
    ServerKey(KeyKind),
    /// Server key, serialized with its masks replaced by a seed.
    SeededServerKey(KeyKind),
    /// Peak resident memory of one 64-bit multiplication, key included, in a process of its own.
    PeakMul64,
}

/// Target of ours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// At most this multiple of the peer's figure.
    Ratio(f64),
    /// At most this figure, in the row's own unit.
    AtMost(f64),
}

/// A timed row of the table.
#[derive(Clone, Copy, Debug)]
pub struct TimedCase {
    /// The task.
    pub task: Task,
    /// Threads, each on a core of its own.
    pub threads: usize,
    /// Target of ours.
    pub target: Option<Target>,
    /// Left out by `--quick`.
    pub slow: bool,
}

/// A size row of the table.
#[derive(Clone, Copy, Debug)]
pub struct SizeCase {
    /// The size.
    pub size: Size,
    /// Target of ours, in MB.
    pub target: Option<Target>,
    /// Left out by `--quick`.
    pub slow: bool,
}

impl TimedCase {
    /// The row's id, as in `gate/nand/pfail=2^-64`; more than one thread is part of it.
    pub fn id(&self) -> String {
        let base = match self.task {
            Task::Gate(gate, set, ours) => {
                format!("gate/{}/{set}{}", format!("{gate:?}").to_lowercase(), ours.suffix())
            }
            Task::Nands(count, set, ours) => format!("gate/nand/{set}{}/batch={count}", ours.suffix()),
            Task::Int(op, bits) => format!("u{bits}/{}", format!("{op:?}").to_lowercase()),
            Task::Lut => "lut/message=2/carry=2".into(),
            Task::Keygen(kind) => format!("keygen/{kind}"),
        };
        if self.threads == 1 { base } else { format!("{base}/threads={}", self.threads) }
    }
}

impl SizeCase {
    /// The row's id, as in `size/server-key/int`.
    pub fn id(&self) -> String {
        match self.size {
            Size::ServerKey(kind) => format!("size/server-key/{kind}"),
            Size::SeededServerKey(kind) => format!("size/server-key-seeded/{kind}"),
            Size::PeakMul64 => "memory/u64/mul/peak".into(),
        }
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gate(set, ours) => write!(f, "gate/{set}{}", ours.suffix()),
            Self::Int => f.write_str("int"),
        }
    }
}

/// The keys whose making and size are measured.
fn key_kinds() -> [KeyKind; 3] {
    [KeyKind::Gate(GateSet::P64, OurSet::Gates128), KeyKind::Gate(GateSet::P64, OurSet::Gates64), KeyKind::Int]
}

/// All timed rows, in the order of the table.
pub fn timed_cases() -> Vec<TimedCase> {
    use Target::{AtMost, Ratio};
    let case = |task, threads, target| TimedCase { task, threads, target, slow: false };
    let mut cases = Vec::new();
    // Ours fails no more often than the peer's on rows with a target: 2^-165 and the unstated probability have none.
    let sets = [
        (GateSet::P64, OurSet::Gates128, Some(Ratio(0.3))),
        (GateSet::P64KsPbs, OurSet::Gates128, Some(Ratio(0.3))),
        (GateSet::P64, OurSet::Gates64, Some(Ratio(0.3))),
        (GateSet::P64KsPbs, OurSet::Gates64, Some(Ratio(0.3))),
        (GateSet::P165, OurSet::Gates128, None),
        (GateSet::P165KsPbs, OurSet::Gates128, None),
        (GateSet::TfheLib, OurSet::Gates40, None),
        (GateSet::TfheGo, OurSet::Gates128, Some(Ratio(1.0))),
    ];
    for (set, ours, target) in sets {
        cases.push(case(Task::Gate(Gate::Nand, set, ours), 1, target));
    }
    for gate in [Gate::Xor, Gate::Mux] {
        cases.push(case(Task::Gate(gate, GateSet::P64, OurSet::Gates128), 1, Some(Ratio(0.3))));
    }
    for (count, threads) in [(16, 1), (16, 2), (64, 2)] {
        for set in [GateSet::P64, GateSet::P64KsPbs] {
            cases.push(case(Task::Nands(count, set, OurSet::Gates128), threads, Some(Ratio(0.1))));
        }
    }
    for (count, threads) in [(16, 1), (64, 2)] {
        cases.push(case(Task::Nands(count, GateSet::TfheGo, OurSet::Gates128), threads, Some(Ratio(1.0))));
    }
    cases.push(case(Task::Lut, 1, None));
    for bits in [16, 32, 64] {
        for op in [IntOp::Add, IntOp::Mul, IntOp::Lt, IntOp::BitAnd] {
            for threads in [1, 2, 4] {
                let target = match (op, bits, threads) {
                    (IntOp::Add, 64, 1) => Some(Ratio(0.14)),
                    (IntOp::Mul, 64, 1) => Some(Ratio(0.09)),
                    (IntOp::Add, 64, 4) => Some(Ratio(0.3)),
                    (IntOp::Mul, 64, 4) => Some(Ratio(0.15)),
                    _ => None,
                };
                let slow = op == IntOp::Mul && bits > 16;
                cases.push(TimedCase { task: Task::Int(op, bits), threads, target, slow });
            }
        }
    }
    cases.push(TimedCase { task: Task::Int(IntOp::Div, 64), threads: 1, target: Some(Ratio(0.2)), slow: true });
    for (op, bits) in [(IntOp::Div, 64), (IntOp::Add, 256), (IntOp::Mul, 256), (IntOp::Div, 256)] {
        let slow = op != IntOp::Add;
        cases.push(TimedCase { task: Task::Int(op, bits), threads: 2, target: None, slow });
    }
    for kind in key_kinds() {
        cases.push(case(Task::Keygen(kind), 2, Some(AtMost(5000.0))));
    }
    cases
}

/// All size rows, in the order of the table.
pub fn size_cases() -> Vec<SizeCase> {
    use Target::AtMost;
    let mut cases = Vec::new();
    for kind in key_kinds() {
        cases.push(SizeCase { size: Size::ServerKey(kind), target: Some(AtMost(100.0)), slow: false });
        cases.push(SizeCase { size: Size::SeededServerKey(kind), target: Some(AtMost(26.0)), slow: false });
    }
    cases.push(SizeCase { size: Size::PeakMul64, target: Some(AtMost(1073.7)), slow: true });
    cases
}
