//! Circuits as sums, products and recryptions: decided by the bounds of noise, before anything runs.
//!
//! Invariant: every value keeps the margin that Recrypt needs, so that it can be recrypted, decrypted, or go on as an input. Where a sum or a
//! product would break it, one operand is recrypted, or both; a recrypted bit serves all that is planned after it.

use crate::Error;
use solinas_circuits::{BinaryOp, Gate, GateCosts, Netlist, NodeId};
use solinas_schemes::gh::{Params, noise};

/// Bits of margin beyond what is needed: bounds are computed in floating point, here and by the ciphertexts.
const SLACK: f64 = 1e-6;
/// Bits of noise that one product less is worth in a majority.
const PRODUCT_BITS: f64 = 2.0;

/// Number of a value.
pub(super) type Value = u32;

/// One step; its value has the step's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The input bit of that index.
    Input(u32),
    /// A public bit.
    Constant(bool),
    /// `x + 1`.
    Not(Value),
    /// `x + y`.
    Add(Value, Value),
    /// `x y`.
    Multiply(Value, Value),
    /// The same bit of less noise.
    Recrypt(Value),
}

impl Step {
    pub(super) fn operands(self) -> impl Iterator<Item = Value> {
        let (count, pair) = match self {
            Self::Input(_) | Self::Constant(_) => (0, [0; 2]),
            Self::Not(x) | Self::Recrypt(x) => (1, [x; 2]),
            Self::Add(x, y) | Self::Multiply(x, y) => (2, [x, y]),
        };
        pair.into_iter().take(count)
    }
}

/// Steps in waves, each of which needs earlier ones alone.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Schedule {
    pub(super) steps: Vec<Step>,
    /// Wave of each step.
    pub(super) waves: Vec<u32>,
    pub(super) outputs: Vec<Value>,
    pub(super) recrypts: u64,
    pub(super) products: u64,
    /// Recryptions on the longest path.
    pub(super) depth: u64,
}

/// Costs by which netlists are optimised: a majority takes two products where its operands differ in noise, a MUX one.
pub(super) const GATE_COSTS: GateCosts = GateCosts { not: 0, binary: 1, mux: 1, xor3: 1, maj: 2 };

/// The schedule of a circuit whose input bits have those bounds of noise.
///
/// # Errors
/// [`Error::Exhausted`] for an input that cannot be computed on; [`Error::TooDeep`] for a gate that no recryption makes possible.
pub(super) fn schedule(netlist: &Netlist, params: &Params, inputs: &[f64]) -> Result<Schedule, Error> {
    let netlist = netlist.prune();
    let mut planner = Planner::new(params);
    let fanout = netlist.fanout();
    let mut nodes: Vec<Value> = Vec::with_capacity(netlist.gates().len());
    for (gate, uses) in netlist.gates().iter().zip(fanout) {
        let at = |id: NodeId| nodes[id.index()];
        let value = match *gate {
            Gate::Input(index) => planner.input(index, inputs.get(index as usize).copied())?,
            Gate::Const(bit) => planner.push(Step::Constant(bit), 0.0),
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
        planner.uses[value as usize] += uses;
        nodes.push(value);
    }
    let outputs = netlist.output_nodes().map(|id| planner.latest(nodes[id.index()])).collect();
    Ok(planner.finish(outputs))
}

struct Planner<'a> {
    params: &'a Params,
    /// Noise of a recrypted ciphertext.
    recrypted: f64,
    /// The most noise there may be.
    limit: f64,
    steps: Vec<Step>,
    noises: Vec<f64>,
    /// The recrypted value of each, if there is one.
    fresher: Vec<Option<Value>>,
    /// Gates and outputs that read each.
    uses: Vec<u32>,
}

impl<'a> Planner<'a> {
    fn new(params: &'a Params) -> Self {
        Self {
            params,
            recrypted: noise::recrypted(params),
            limit: noise::capacity(params) - noise::recrypt_need(params) - SLACK,
            steps: Vec::new(),
            noises: Vec::new(),
            fresher: Vec::new(),
            uses: Vec::new(),
        }
    }

    fn push(&mut self, step: Step, noise: f64) -> Value {
        self.steps.push(step);
        self.noises.push(noise);
        self.fresher.push(None);
        self.uses.push(0);
        (self.steps.len() - 1) as Value
    }

    fn input(&mut self, index: u32, noise: Option<f64>) -> Result<Value, Error> {
        let noise = noise.unwrap_or_else(|| noise::fresh(self.params));
        if noise > self.limit {
            let (margin, need) = (noise::margin(self.params, noise), noise::recrypt_need(self.params));
            return Err(Error::Exhausted { bit: index as usize, margin, need });
        }
        Ok(self.push(Step::Input(index), noise))
    }

    fn noise(&self, value: Value) -> f64 {
        self.noises[value as usize]
    }

    /// The value, recrypted if it has been.
    fn latest(&self, value: Value) -> Value {
        self.fresher[value as usize].unwrap_or(value)
    }

    fn recrypt(&mut self, value: Value) -> Value {
        let value = self.latest(value);
        if self.noise(value) <= self.recrypted {
            return value;
        }
        let fresher = self.push(Step::Recrypt(value), self.recrypted);
        self.fresher[value as usize] = Some(fresher);
        fresher
    }

    /// The operands, recrypted as far as it takes for `combine` to keep the limit: rather one than both, rather the one that more gates
    /// read, rather the noisier one.
    fn operands(
        &mut self,
        [x, y]: [Value; 2],
        operation: &'static str,
        combine: fn(f64, f64) -> f64,
    ) -> Result<[Value; 2], Error> {
        let [x, y] = [x, y].map(|value| self.latest(value));
        let (nx, ny) = (self.noise(x), self.noise(y));
        let (rx, ry) = (nx.min(self.recrypted), ny.min(self.recrypted));
        let fits = |x: f64, y: f64| combine(x, y) <= self.limit;
        if fits(nx, ny) {
            return Ok([x, y]);
        }
        if x != y {
            let rank = |value: Value| (self.uses[value as usize], self.noise(value));
            let first_x = rank(x).partial_cmp(&rank(y)).is_none_or(std::cmp::Ordering::is_ge);
            match (fits(rx, ny), fits(nx, ry)) {
                (true, false) => return Ok([self.recrypt(x), y]),
                (false, true) => return Ok([x, self.recrypt(y)]),
                (true, true) if first_x => return Ok([self.recrypt(x), y]),
                (true, true) => return Ok([x, self.recrypt(y)]),
                (false, false) => {}
            }
        }
        if !fits(rx, ry) {
            return Err(Error::TooDeep {
                params: self.params.name().into(),
                operation,
                margin: noise::margin(self.params, combine(rx, ry)),
                need: noise::recrypt_need(self.params),
            });
        }
        let x = self.recrypt(x);
        Ok([x, self.recrypt(y)])
    }

    fn add(&mut self, x: Value, y: Value) -> Result<Value, Error> {
        let [x, y] = self.operands([x, y], "sum", noise::sum)?;
        Ok(self.push(Step::Add(x, y), noise::sum(self.noise(x), self.noise(y))))
    }

    fn not(&mut self, x: Value) -> Result<Value, Error> {
        // A trivial ciphertext of 1 has noise 0.
        let [x, _] = self.operands([x, x], "sum", |x, _| noise::sum(x, 0.0))?;
        Ok(self.push(Step::Not(x), noise::sum(self.noise(x), 0.0)))
    }

    fn multiply(&mut self, x: Value, y: Value) -> Result<Value, Error> {
        let [x, y] = self.operands([x, y], "product", noise::product)?;
        Ok(self.push(Step::Multiply(x, y), noise::product(self.noise(x), self.noise(y))))
    }

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

    /// With `z` the noisiest: `(x + z)(y + z) + z`, which squares its noise, or `x y + (x + y) z`, a product more.
    fn majority(&mut self, all: [Value; 3]) -> Result<Value, Error> {
        let mut all = all.map(|value| self.latest(value));
        all.sort_by(|&x, &y| self.noise(x).total_cmp(&self.noise(y)));
        let [x, y, z] = all;
        let [nx, ny, nz] = all.map(|value| self.noise(value));
        let squared = noise::sum(noise::product(noise::sum(nx, nz), noise::sum(ny, nz)), nz);
        let linear = noise::sum(noise::product(nx, ny), noise::product(noise::sum(nx, ny), nz));
        if squared <= self.limit && squared <= linear + PRODUCT_BITS {
            let (left, right) = (self.add(x, z)?, self.add(y, z)?);
            let product = self.multiply(left, right)?;
            return self.add(product, z);
        }
        let either = self.add(x, y)?;
        let propagated = self.multiply(either, z)?;
        let generated = self.multiply(x, y)?;
        self.add(generated, propagated)
    }

    /// Without the steps that no output needs.
    fn finish(self, outputs: Vec<Value>) -> Schedule {
        let mut live = vec![false; self.steps.len()];
        outputs.iter().for_each(|&output| live[output as usize] = true);
        for (index, step) in self.steps.iter().enumerate().rev().filter(|(_, step)| !matches!(step, Step::Input(_))) {
            if live[index] {
                step.operands().for_each(|operand| live[operand as usize] = true);
            }
        }
        let mut place = vec![0; self.steps.len()];
        let (mut steps, mut waves, mut depths) = (Vec::new(), Vec::new(), Vec::new());
        let (mut recrypts, mut products) = (0, 0);
        for (index, &step) in self.steps.iter().enumerate().filter(|(index, _)| live[*index]) {
            place[index] = steps.len() as Value;
            let at = |value: Value| place[value as usize];
            let step = match step {
                Step::Input(_) | Step::Constant(_) => step,
                Step::Not(x) => Step::Not(at(x)),
                Step::Add(x, y) => Step::Add(at(x), at(y)),
                Step::Multiply(x, y) => Step::Multiply(at(x), at(y)),
                Step::Recrypt(x) => Step::Recrypt(at(x)),
            };
            let before = |all: &[u32]| step.operands().map(|operand| all[operand as usize]).max();
            let (wave, depth) = (before(&waves).map_or(0, |wave| wave + 1), before(&depths).unwrap_or(0));
            let recrypt = matches!(step, Step::Recrypt(_));
            recrypts += u64::from(recrypt);
            products += u64::from(matches!(step, Step::Multiply(..)));
            waves.push(wave);
            depths.push(depth + u32::from(recrypt));
            steps.push(step);
        }
        let outputs: Vec<Value> = outputs.into_iter().map(|output| place[output as usize]).collect();
        let depth = outputs.iter().map(|&output| u64::from(depths[output as usize])).max().unwrap_or(0);
        Schedule { steps, waves, outputs, recrypts, products, depth }
    }
}
