//! Plans a circuit as sums, products and recryptions, by the bounds of noise, before anything runs.
//!
//! Invariant: every value keeps the margin that Recrypt needs. It can therefore be recrypted, decrypted, or used as an
//! input. If a sum or a product would break the invariant, one or both operands are recrypted first. All later gates
//! use the recrypted value.

use crate::Error;
use crate::arithmetic::{self, ArithmeticStep, Schedule, Value, plan};
use solinas_circuits::{GateCosts, Limits, Netlist};
use solinas_schemes::gh::{Params, noise};

/// Extra margin in bits, because the bounds are computed in floating point, here and by the ciphertexts.
const SLACK: f64 = 1e-6;
/// Number of bits of noise that are worth one product in a majority.
const PRODUCT_BITS: f64 = 2.0;

/// Costs for the optimization of netlists. A majority takes two products if its operands differ in noise; a MUX takes
/// one.
pub(super) const GATE_COSTS: GateCosts = GateCosts { not: 0, binary: 1, mux: 1, xor3: 1, maj: 2 };

/// Plans a circuit whose input bits have these bounds of noise.
///
/// # Errors
/// [`Error::Exhausted`] if an input has too much noise. [`Error::TooDeep`] if a gate is impossible even with recrypted
/// operands. [`Error::Planning`] if the plan exceeds `limits`.
pub(super) fn schedule(
    netlist: &Netlist,
    params: &Params,
    inputs: &[f64],
    limits: &Limits<'_>,
) -> Result<Schedule, Error> {
    let mut planner = Planner::new(params, inputs);
    let outputs: Vec<Value> = plan(netlist, &mut planner, limits)?;
    let outputs: Vec<Value> = outputs.into_iter().map(|output| planner.latest(output)).collect();
    Ok(Schedule::new(&planner.steps, &outputs))
}

struct Planner<'a> {
    params: &'a Params,
    /// Noise of the input bits. Missing ones are fresh.
    inputs: &'a [f64],
    /// Noise of a recrypted ciphertext.
    recrypted: f64,
    /// Largest allowed noise.
    limit: f64,
    steps: Vec<ArithmeticStep>,
    noises: Vec<f64>,
    /// The recrypted value of each value, if there is one.
    fresher: Vec<Option<Value>>,
    /// Number of gates and outputs that read each value.
    uses: Vec<u32>,
}

impl<'a> Planner<'a> {
    fn new(params: &'a Params, inputs: &'a [f64]) -> Self {
        Self {
            params,
            inputs,
            recrypted: noise::recrypted(params),
            limit: noise::capacity(params) - noise::recrypt_need(params) - SLACK,
            steps: Vec::new(),
            noises: Vec::new(),
            fresher: Vec::new(),
            uses: Vec::new(),
        }
    }

    fn push(&mut self, step: ArithmeticStep, noise: f64) -> Value {
        self.steps.push(step);
        self.noises.push(noise);
        self.fresher.push(None);
        self.uses.push(0);
        (self.steps.len() - 1) as Value
    }

    fn noise(&self, value: Value) -> f64 {
        self.noises[value as usize]
    }

    /// Returns the recrypted value, if there is one, else the value itself.
    fn latest(&self, value: Value) -> Value {
        self.fresher[value as usize].unwrap_or(value)
    }

    fn recrypt(&mut self, value: Value) -> Value {
        let value = self.latest(value);
        if self.noise(value) <= self.recrypted {
            return value;
        }
        let fresher = self.push(ArithmeticStep::Bootstrap(value), self.recrypted);
        self.fresher[value as usize] = Some(fresher);
        fresher
    }

    /// Returns the operands, recrypted as far as `combine` needs to stay within the limit. It prefers to recrypt one
    /// operand to both. Of two candidates it takes the one that more gates read, then the noisier one.
    fn operands(
        &mut self,
        [x, y]: [Value; 2],
        operation: &'static str,
        combine: fn(f64, f64) -> f64,
    ) -> Result<[Value; 2], Error> {
        let [x, y] = [x, y].map(|value| self.latest(value));
        let (nx, ny) = (self.noise(x), self.noise(y));
        let (rx, ry) = (nx.min(self.recrypted), ny.min(self.recrypted));
        let within_limit = |x: f64, y: f64| combine(x, y) <= self.limit;
        if within_limit(nx, ny) {
            return Ok([x, y]);
        }
        if x != y {
            let rank = |value: Value| (self.uses[value as usize], self.noise(value));
            let first_x = rank(x).partial_cmp(&rank(y)).is_none_or(std::cmp::Ordering::is_ge);
            match (within_limit(rx, ny), within_limit(nx, ry)) {
                (true, false) => return Ok([self.recrypt(x), y]),
                (false, true) => return Ok([x, self.recrypt(y)]),
                (true, true) if first_x => return Ok([self.recrypt(x), y]),
                (true, true) => return Ok([x, self.recrypt(y)]),
                (false, false) => {}
            }
        }
        if !within_limit(rx, ry) {
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
}

impl arithmetic::Planner for Planner<'_> {
    fn input(&mut self, index: u32) -> Result<Value, Error> {
        let noise = self.inputs.get(index as usize).copied().unwrap_or_else(|| noise::fresh(self.params));
        if noise > self.limit {
            let (margin, need) = (noise::margin(self.params, noise), noise::recrypt_need(self.params));
            return Err(Error::Exhausted { input: 1, bit: index as usize, margin, need });
        }
        Ok(self.push(ArithmeticStep::Input(index), noise))
    }

    fn constant(&mut self, value: u64) -> Value {
        self.push(ArithmeticStep::Constant(value), 0.0)
    }

    fn add_constant(&mut self, x: Value, constant: u64) -> Result<Value, Error> {
        // A trivial ciphertext has noise 0.
        let [x, _] = self.operands([x, x], "sum", |x, _| noise::sum(x, 0.0))?;
        Ok(self.push(ArithmeticStep::AddConstant(x, constant), noise::sum(self.noise(x), 0.0)))
    }

    fn scale(&mut self, x: Value, constant: u64) -> Result<Value, Error> {
        Ok(if constant & 1 == 1 { x } else { self.constant(0) })
    }

    /// A difference of bits is their sum.
    fn subtract(&mut self, x: Value, y: Value) -> Result<Value, Error> {
        self.add(x, y)
    }

    fn add(&mut self, x: Value, y: Value) -> Result<Value, Error> {
        let [x, y] = self.operands([x, y], "sum", noise::sum)?;
        Ok(self.push(ArithmeticStep::Add(x, y), noise::sum(self.noise(x), self.noise(y))))
    }

    fn multiply(&mut self, x: Value, y: Value) -> Result<Value, Error> {
        let [x, y] = self.operands([x, y], "product", noise::product)?;
        Ok(self.push(ArithmeticStep::Multiply(x, y), noise::product(self.noise(x), self.noise(y))))
    }

    /// With `z` the noisiest operand: `(x + z)(y + z) + z`, which squares its noise, or `x y + (x + y) z`, which takes
    /// one more product.
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

    fn used(&mut self, value: Value, times: u32) {
        self.uses[value as usize] += times;
    }
}
