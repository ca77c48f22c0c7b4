//! Circuits as steps that are decided before anything runs.

use crate::Error;
use solinas_circuits::{BinaryOp, Gate, Netlist, NodeId};

/// Number of a value.
pub(crate) type Value = u32;

/// One step; its value has the step's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The input of that index.
    Input(u32),
    /// A public number.
    Constant(u64),
    /// `x + c`.
    AddConstant(Value, u64),
    /// `c x`.
    Scale(Value, u64),
    /// `x + y`.
    Add(Value, Value),
    /// `x - y`.
    Subtract(Value, Value),
    /// `x y`.
    Multiply(Value, Value),
    /// The same number a level lower.
    Lower(Value),
    /// The same number of less noise: recrypted or bootstrapped.
    Refresh(Value),
}

impl Step {
    pub(super) fn operands(self) -> impl Iterator<Item = Value> {
        let (count, pair) = match self {
            Self::Input(_) | Self::Constant(_) => (0, [0; 2]),
            Self::AddConstant(x, _) | Self::Scale(x, _) | Self::Lower(x) | Self::Refresh(x) => (1, [x; 2]),
            Self::Add(x, y) | Self::Subtract(x, y) | Self::Multiply(x, y) => (2, [x, y]),
        };
        pair.into_iter().take(count)
    }

    /// The operands of a sum, difference or product; of others the only one twice.
    pub(super) fn pair(self) -> [Value; 2] {
        let mut operands = self.operands();
        let first = operands.next().unwrap_or_default();
        [first, operands.next().unwrap_or(first)]
    }

    fn map(self, at: impl Fn(Value) -> Value) -> Self {
        match self {
            Self::Input(_) | Self::Constant(_) => self,
            Self::AddConstant(x, c) => Self::AddConstant(at(x), c),
            Self::Scale(x, c) => Self::Scale(at(x), c),
            Self::Add(x, y) => Self::Add(at(x), at(y)),
            Self::Subtract(x, y) => Self::Subtract(at(x), at(y)),
            Self::Multiply(x, y) => Self::Multiply(at(x), at(y)),
            Self::Lower(x) => Self::Lower(at(x)),
            Self::Refresh(x) => Self::Refresh(at(x)),
        }
    }
}

/// How a scheme takes steps, with what it knows of its noise.
pub(crate) trait Planner {
    fn input(&mut self, index: u32) -> Result<Value, Error>;

    fn constant(&mut self, value: u64) -> Value;

    fn add_constant(&mut self, x: Value, constant: u64) -> Result<Value, Error>;

    fn scale(&mut self, x: Value, constant: u64) -> Result<Value, Error>;

    fn add(&mut self, x: Value, y: Value) -> Result<Value, Error>;

    fn subtract(&mut self, x: Value, y: Value) -> Result<Value, Error>;

    fn multiply(&mut self, x: Value, y: Value) -> Result<Value, Error>;

    fn majority(&mut self, all: [Value; 3]) -> Result<Value, Error>;

    /// So many gates and outputs read a value.
    fn used(&mut self, value: Value, times: u32);

    /// The other bit.
    fn not(&mut self, x: Value) -> Result<Value, Error> {
        self.add_constant(x, 1)
    }

    /// A gate of two inputs.
    fn binary(&mut self, op: BinaryOp, x: Value, y: Value) -> Result<Value, Error> {
        use BinaryOp::{And, AndNY, AndYN, Nand, Nor, Or, OrNY, OrYN, Xnor, Xor};
        match op {
            Xor => self.add(x, y),
            And => self.multiply(x, y),
            // x + y + x y.
            Or => {
                let (sum, product) = (self.add(x, y)?, self.multiply(x, y)?);
                self.add(sum, product)
            }
            // y (x + 1) = y + x y, less noise.
            AndNY => {
                let x = self.not(x)?;
                self.multiply(x, y)
            }
            AndYN => self.binary(AndNY, y, x),
            Nand | Nor | Xnor | OrNY | OrYN => {
                let complement = self.binary(op.complement(), x, y)?;
                self.not(complement)
            }
        }
    }
}

/// The steps of a circuit; returns the values of its outputs.
pub(crate) fn plan(netlist: &Netlist, planner: &mut impl Planner) -> Result<Vec<Value>, Error> {
    let netlist = netlist.prune();
    let fanout = netlist.fanout();
    let mut nodes: Vec<Value> = Vec::with_capacity(netlist.gates().len());
    for (gate, uses) in netlist.gates().iter().zip(fanout) {
        let at = |id: NodeId| nodes[id.index()];
        let value = match *gate {
            Gate::Input(index) => planner.input(index)?,
            Gate::Const(bit) => planner.constant(bit.into()),
            Gate::Not(x) => planner.not(at(x))?,
            Gate::Binary(op, x, y) => planner.binary(op, at(x), at(y))?,
            Gate::Xor3([x, y, z]) => {
                let sum = planner.add(at(x), at(y))?;
                planner.add(sum, at(z))?
            }
            Gate::Maj(all) => planner.majority(all.map(at))?,
            Gate::Mux { sel, if_true, if_false } => {
                let differ = planner.add(at(if_true), at(if_false))?;
                let flip = planner.multiply(at(sel), differ)?;
                planner.add(flip, at(if_false))?
            }
        };
        planner.used(value, uses);
        nodes.push(value);
    }
    Ok(netlist.output_nodes().map(|id| nodes[id.index()]).collect())
}

/// Steps in waves, each of which needs earlier ones alone.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Schedule {
    pub(crate) steps: Vec<Step>,
    /// Wave of each step.
    pub(crate) waves: Vec<u32>,
    pub(crate) outputs: Vec<Value>,
    /// Recryptions or bootstraps.
    pub(crate) refreshes: u64,
    pub(crate) products: u64,
    pub(crate) lowerings: u64,
    /// Recryptions or bootstraps on the longest path.
    pub(crate) depth: u64,
    /// Products and lowerings on the longest path.
    pub(crate) levels: u64,
}

impl Schedule {
    /// Of those steps the ones that the outputs need, and all inputs.
    pub(crate) fn new(all: &[Step], outputs: &[Value]) -> Self {
        let mut live = vec![false; all.len()];
        outputs.iter().for_each(|&output| live[output as usize] = true);
        for (index, step) in all.iter().enumerate().rev().filter(|(_, step)| !matches!(step, Step::Input(_))) {
            if live[index] {
                step.operands().for_each(|operand| live[operand as usize] = true);
            }
        }
        let mut place = vec![0; all.len()];
        let (mut steps, mut waves, mut depths, mut levels) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut refreshes, mut products, mut lowerings) = (0, 0, 0);
        for (index, &step) in all.iter().enumerate().filter(|(index, _)| live[*index]) {
            place[index] = steps.len() as Value;
            let step = step.map(|value| place[value as usize]);
            let before = |all: &[u32]| step.operands().map(|operand| all[operand as usize]).max();
            let (wave, depth) = (before(&waves).map_or(0, |wave| wave + 1), before(&depths).unwrap_or(0));
            let level = before(&levels).unwrap_or(0);
            let refresh = matches!(step, Step::Refresh(_));
            let (product, lowering) = (matches!(step, Step::Multiply(..)), matches!(step, Step::Lower(_)));
            refreshes += u64::from(refresh);
            products += u64::from(product);
            lowerings += u64::from(lowering);
            waves.push(wave);
            depths.push(depth + u32::from(refresh));
            levels.push(level + u32::from(product || lowering));
            steps.push(step);
        }
        let outputs: Vec<Value> = outputs.iter().map(|&output| place[output as usize]).collect();
        let longest = |all: &[u32]| outputs.iter().map(|&output| u64::from(all[output as usize])).max().unwrap_or(0);
        let (depth, levels) = (longest(&depths), longest(&levels));
        Self { steps, waves, outputs, refreshes, products, lowerings, depth, levels }
    }
}
