//! The gate graph: gates in topological order, and named ports of several bits.

use crate::Error;
use crate::program::{MAX_WIDTH, Type};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;

/// Largest number of nodes of a netlist: `2^26`.
pub const MAX_NODES: usize = 1 << 26;

/// Index of a gate in [`Netlist::gates`]; also names the gate's output wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The position in [`Netlist::gates`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

/// A function of two bits that depends on both. In a name, `N` marks a complemented operand and `Y` a plain one, as in the TFHE library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BinaryOp {
    /// `a & b`
    And,
    /// `a | b`
    Or,
    /// `a ^ b`
    Xor,
    /// `!(a & b)`
    Nand,
    /// `!(a | b)`
    Nor,
    /// `!(a ^ b)`
    Xnor,
    /// `!a & b`
    AndNY,
    /// `a & !b`
    AndYN,
    /// `!a | b`
    OrNY,
    /// `a | !b`
    OrYN,
}

impl BinaryOp {
    /// All operations.
    pub const ALL: [Self; 10] = [
        Self::And,
        Self::Or,
        Self::Xor,
        Self::Nand,
        Self::Nor,
        Self::Xnor,
        Self::AndNY,
        Self::AndYN,
        Self::OrNY,
        Self::OrYN,
    ];

    /// The truth table: bit `a + 2b` is the value at `(a, b)`.
    #[must_use]
    pub const fn truth_table(self) -> u8 {
        match self {
            Self::And => 0b1000,
            Self::Or => 0b1110,
            Self::Xor => 0b0110,
            Self::Nand => 0b0111,
            Self::Nor => 0b0001,
            Self::Xnor => 0b1001,
            Self::AndNY => 0b0100,
            Self::AndYN => 0b0010,
            Self::OrNY => 0b1101,
            Self::OrYN => 0b1011,
        }
    }

    /// The operation with that truth table; `None` for the six tables that do not depend on both operands.
    #[must_use]
    pub fn from_truth_table(table: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.truth_table() == table)
    }

    /// The operation whose result is the complement of this operation's result.
    #[must_use]
    pub const fn complement(self) -> Self {
        match self {
            Self::And => Self::Nand,
            Self::Or => Self::Nor,
            Self::Xor => Self::Xnor,
            Self::Nand => Self::And,
            Self::Nor => Self::Or,
            Self::Xnor => Self::Xor,
            Self::AndNY => Self::OrYN,
            Self::AndYN => Self::OrNY,
            Self::OrNY => Self::AndYN,
            Self::OrYN => Self::AndNY,
        }
    }

    /// The value on each of 64 lanes.
    #[must_use]
    pub const fn apply(self, a: u64, b: u64) -> u64 {
        match self {
            Self::And => a & b,
            Self::Or => a | b,
            Self::Xor => a ^ b,
            Self::Nand => !(a & b),
            Self::Nor => !(a | b),
            Self::Xnor => !(a ^ b),
            Self::AndNY => !a & b,
            Self::AndYN => a & !b,
            Self::OrNY => !a | b,
            Self::OrYN => a | !b,
        }
    }

    /// Lower-case name: `and`, `andny`, ...
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
            Self::Nand => "nand",
            Self::Nor => "nor",
            Self::Xnor => "xnor",
            Self::AndNY => "andny",
            Self::AndYN => "andyn",
            Self::OrNY => "orny",
            Self::OrYN => "oryn",
        }
    }
}

/// One gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// The input bit of that index, counted over the input ports in order.
    Input(u32),
    /// A public constant.
    Const(bool),
    /// Complement.
    Not(NodeId),
    /// A function of two bits.
    Binary(BinaryOp, NodeId, NodeId),
    /// `sel ? if_true : if_false`.
    Mux {
        /// The selecting bit.
        sel: NodeId,
        /// The result when `sel` is 1.
        if_true: NodeId,
        /// The result when `sel` is 0.
        if_false: NodeId,
    },
    /// Parity of three bits: the sum of a full adder.
    Xor3([NodeId; 3]),
    /// Majority of three bits: the carry of a full adder.
    Maj([NodeId; 3]),
}

impl Gate {
    /// The operands, in order; for [`Gate::Mux`] `sel, if_true, if_false`.
    pub fn operands(&self) -> impl Iterator<Item = NodeId> + use<> {
        let (count, all) = match *self {
            Self::Input(_) | Self::Const(_) => (0, [NodeId(0); 3]),
            Self::Not(a) => (1, [a; 3]),
            Self::Binary(_, a, b) => (2, [a, b, b]),
            Self::Mux { sel, if_true, if_false } => (3, [sel, if_true, if_false]),
            Self::Xor3(all) | Self::Maj(all) => (3, all),
        };
        all.into_iter().take(count)
    }

    /// The same gate on other operands.
    #[must_use]
    pub fn map(self, mut f: impl FnMut(NodeId) -> NodeId) -> Self {
        match self {
            Self::Input(_) | Self::Const(_) => self,
            Self::Not(a) => Self::Not(f(a)),
            Self::Binary(op, a, b) => Self::Binary(op, f(a), f(b)),
            Self::Mux { sel, if_true, if_false } => {
                Self::Mux { sel: f(sel), if_true: f(if_true), if_false: f(if_false) }
            }
            Self::Xor3(all) => Self::Xor3(all.map(f)),
            Self::Maj(all) => Self::Maj(all.map(f)),
        }
    }

    /// Lower-case name of the kind: `input`, `const`, `not`, `and`, ..., `mux`, `xor3`, `maj`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Input(_) => "input",
            Self::Const(_) => "const",
            Self::Not(_) => "not",
            Self::Binary(op, ..) => op.name(),
            Self::Mux { .. } => "mux",
            Self::Xor3(_) => "xor3",
            Self::Maj(_) => "maj",
        }
    }
}

/// A named group of bits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Port {
    /// Name shown to the user; unique among the inputs, and among the outputs.
    pub name: String,
    /// The bits, least significant first.
    pub bits: Vec<NodeId>,
    /// Whether the bits form a two's complement integer.
    pub signed: bool,
}

impl Port {
    /// The type of the integer that the port stands for; `None` for a port without bits or of more than [`MAX_WIDTH`].
    #[must_use]
    pub fn ty(&self) -> Option<Type> {
        match (self.bits.len(), self.signed) {
            (1, false) => Some(Type::Bool),
            (width, signed) => {
                let width = u16::try_from(width).ok().filter(|width| (1..=MAX_WIDTH).contains(width))?;
                Some(if signed { Type::Int(width) } else { Type::Uint(width) })
            }
        }
    }
}

/// A combinational circuit: gates in topological order between named ports. Immutable and checked.
///
/// Invariants: operands come before their gate. Input bit `k`, counted over the input ports in order, is the only gate `Input(k)`. Every port has at least
/// one bit. Names are distinct among the inputs, and among the outputs. There is at least one output.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Netlist {
    gates: Vec<Gate>,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
}

#[derive(Deserialize)]
struct Unchecked {
    gates: Vec<Gate>,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
}

impl TryFrom<Unchecked> for Netlist {
    type Error = Error;
    fn try_from(raw: Unchecked) -> Result<Self, Error> {
        Self::new(raw.gates, raw.inputs, raw.outputs)
    }
}

impl Netlist {
    /// Checks the parts and builds a netlist.
    ///
    /// # Errors
    /// [`Error::NodeOutOfOrder`], [`Error::InputMismatch`], [`Error::BadPort`], [`Error::NoOutputs`] or [`Error::TooLarge`] if an invariant of the type
    /// does not hold.
    pub fn new(gates: Vec<Gate>, inputs: Vec<Port>, outputs: Vec<Port>) -> Result<Self, Error> {
        if gates.len() > MAX_NODES {
            return Err(Error::TooLarge { what: "gates", got: gates.len() as u64, limit: MAX_NODES as u64 });
        }
        for (index, gate) in gates.iter().enumerate() {
            if let Some(bad) = gate.operands().find(|id| id.index() >= index) {
                let what = format!("gate n{index} ({})", gate.kind());
                return Err(Error::NodeOutOfOrder { what, node: bad.0, limit: index as u32 });
            }
        }
        if outputs.is_empty() {
            return Err(Error::NoOutputs);
        }
        check_ports(&inputs, gates.len())?;
        check_ports(&outputs, gates.len())?;
        let mut next = 0u32;
        for port in &inputs {
            for bit in &port.bits {
                if gates[bit.index()] != Gate::Input(next) {
                    let kind = gates[bit.index()].kind();
                    let what = format!("bit of input '{}' is node {bit} ({kind}), not input gate {next}", port.name);
                    return Err(Error::InputMismatch { what });
                }
                next += 1;
            }
        }
        let found = gates.iter().filter(|gate| matches!(gate, Gate::Input(_))).count();
        if found != next as usize {
            let what = format!("there are {found} input gates for {next} input bits");
            return Err(Error::InputMismatch { what });
        }
        Ok(Self { gates, inputs, outputs })
    }

    /// The same ports on other gates. `map` holds the new node of each old node. The caller keeps the invariants.
    pub(crate) fn with_gates(&self, gates: Vec<Gate>, map: &[NodeId]) -> Self {
        let port = |port: &Port| Port { bits: port.bits.iter().map(|id| map[id.index()]).collect(), ..port.clone() };
        let inputs = self.inputs.iter().map(port).collect();
        let outputs = self.outputs.iter().map(port).collect();
        Self { gates, inputs, outputs }
    }

    /// The same circuit, in which each selected port is split into ports of one bit, named `x[0]`, `x[1]`, ... `input` and `output` select the ports.
    #[must_use]
    pub fn split_ports(&self, input: impl Fn(&Port) -> bool, output: impl Fn(&Port) -> bool) -> Self {
        let (inputs, outputs) = (split(&self.inputs, input), split(&self.outputs, output));
        Self { gates: self.gates.clone(), inputs, outputs }
    }

    /// The gates; operands come before their gate.
    #[must_use]
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// The gate that drives a node.
    #[must_use]
    pub fn gate(&self, id: NodeId) -> Option<&Gate> {
        self.gates.get(id.index())
    }

    /// The input ports, in order.
    #[must_use]
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    /// The output ports, in order.
    #[must_use]
    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// Number of input bits over all ports.
    #[must_use]
    pub fn input_bits(&self) -> usize {
        self.inputs.iter().map(|port| port.bits.len()).sum()
    }

    /// Number of output bits over all ports.
    #[must_use]
    pub fn output_bits(&self) -> usize {
        self.outputs.iter().map(|port| port.bits.len()).sum()
    }

    /// The output bits over all ports, in order.
    pub fn output_nodes(&self) -> impl Iterator<Item = NodeId> {
        self.outputs.iter().flat_map(|port| port.bits.iter().copied())
    }

    /// For each node, how many operands and output bits read it.
    #[must_use]
    pub fn fanout(&self) -> Vec<u32> {
        let mut fanout = vec![0; self.gates.len()];
        for id in self.gates.iter().flat_map(Gate::operands).chain(self.output_nodes()) {
            fanout[id.index()] += 1;
        }
        fanout
    }
}

/// Splits the selected ports into ports of one bit each, with distinct names.
fn split(ports: &[Port], which: impl Fn(&Port) -> bool) -> Vec<Port> {
    let mut taken: HashSet<String> = ports.iter().filter(|port| !which(port)).map(|port| port.name.clone()).collect();
    let mut all = Vec::with_capacity(ports.len());
    for port in ports {
        if !which(port) {
            all.push(port.clone());
            continue;
        }
        for (i, &bit) in port.bits.iter().enumerate() {
            let mut name = format!("{}[{i}]", port.name);
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            all.push(Port { name, bits: vec![bit], signed: false });
        }
    }
    all
}

fn check_ports(ports: &[Port], nodes: usize) -> Result<(), Error> {
    let mut names = HashSet::new();
    for port in ports {
        if port.bits.is_empty() {
            return Err(Error::BadPort { name: port.name.clone(), problem: "has no bits; give it at least one" });
        }
        if !names.insert(port.name.as_str()) {
            return Err(Error::BadPort { name: port.name.clone(), problem: "is declared twice; rename one" });
        }
        if let Some(bad) = port.bits.iter().find(|id| id.index() >= nodes) {
            let what = format!("port '{}'", port.name);
            return Err(Error::NodeOutOfOrder { what, node: bad.0, limit: nodes as u32 });
        }
    }
    Ok(())
}
