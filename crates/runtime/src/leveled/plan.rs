//! Circuits and programs modulo `p` as sums, products and lowerings: decided by levels and the formulas of noise, before anything runs.
//!
//! Invariant: every value decrypts at its level. Where a product would break that, the noisier operand is lowered first; where no level is left, operands are
//! bootstrapped if the key can.

use super::Leveled;
use super::depth::Depth;
use super::slot_noise::{SlotNoise, no_rotations};
use crate::Error;
use crate::arithmetic::{self, Across, Arrays, Schedule, Slots, Step, Value};
use crate::{Program, Type};
use solinas_circuits::{GateCosts, Limits, Netlist};
use solinas_schemes::leveled::{Bootstrap, NoiseModel, Params, State};
use solinas_schemes::slots::log2_peak;

/// Bits of room beyond what is needed: bounds are computed in floating point, here and by the ciphertexts.
const SLACK: f64 = 1e-6;

/// Costs by which netlists are optimised: products.
pub(super) const GATE_COSTS: GateCosts = GateCosts { not: 0, binary: 1, mux: 1, xor3: 1, maj: 1 };

/// What is known of an input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Known {
    pub(super) state: State,
    /// Of a public input, `log2` of what a product with it multiplies noise by.
    pub(super) peak: Option<f64>,
}

/// What decides of a plan.
#[derive(Debug)]
pub(super) struct PlanContext<'a, S: Leveled> {
    pub(super) params: &'a S::Params,
    /// Of each input; fresh where there is none.
    pub(super) inputs: &'a [Known],
    /// Where the key can bootstrap.
    pub(super) bootstrap: Option<Bootstrap>,
    /// Whether the key can rotate slots.
    pub(super) rotates: bool,
}

impl<S: Leveled> PlanContext<'_, S> {
    /// That there are too few levels for what takes `need` products in a row, with a set on whose fresh inputs `plan` has enough. Noise can take more levels
    /// than products do.
    fn too_few(&self, error: Error, need: usize, plan: impl Fn(&PlanContext<'_, S>) -> Result<(), Error>) -> Error {
        let Error::Levels { params, depth, left, .. } = error else { return error };
        let mut levels = if need > left { depth - left.min(depth) + need } else { depth + 1 };
        while let Some(set) = S::of_depth(self.params, levels) {
            let state = State { level: set.depth() + 1, noise: set.fresh_noise() };
            let inputs: Vec<Known> = self.inputs.iter().map(|&input| Known { state, ..input }).collect();
            match plan(&PlanContext { params: &set, inputs: &inputs, bootstrap: set.bootstrap(), ..*self }) {
                Err(Error::Levels { .. }) => levels = set.depth() + 1,
                // Another error is no question of levels.
                _ => break,
            }
        }
        Error::Levels { params, depth, left, need, keys: S::deeper(self.params, levels) }
    }
}

/// A schedule, and its products and lowerings in those of the highest level.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    pub(super) schedule: Schedule,
    pub(super) effort: f64,
    /// What the slots of each output hold; nothing of bits.
    pub(super) outputs: Vec<Slots>,
    /// The level at which each input is used; none of an estimate for fresh ones.
    pub(super) levels: Vec<usize>,
    /// Automorphisms, of all polynomials.
    pub(super) rotations: u64,
    /// These in those of the highest level.
    pub(super) turning: f64,
}

/// The plan of a circuit.
///
/// # Errors
/// [`Error::Levels`] where there are too few; what `limits` do not allow.
pub(super) fn circuit<S: Leveled>(
    netlist: &Netlist,
    context: &PlanContext<'_, S>,
    limits: &Limits<'_>,
) -> Result<Planned, Error> {
    let mut planner = Planner::new(context);
    match arithmetic::plan(netlist, &mut planner, limits) {
        Ok(outputs) => Ok(planner.finish(outputs, Vec::new(), |_| Slots::Array { clean: false })),
        Err(error @ Error::Levels { .. }) => {
            let mut depth = Depth::new(context.params.plaintext_modulus(), Vec::new());
            let outputs = arithmetic::plan(netlist, &mut depth, limits)?;
            let plan =
                |context: &PlanContext<'_, S>| arithmetic::plan(netlist, &mut Planner::new(context), limits).map(drop);
            Err(context.too_few(error, depth.of(&outputs), plan))
        }
        Err(error) => Err(error),
    }
}

/// The plan of a program of integers modulo `p`.
///
/// # Errors
/// As [`circuit`].
pub(super) fn program<S: Leveled>(
    program: &Program,
    context: &PlanContext<'_, S>,
    arrays: Arrays<'_>,
    limits: &Limits<'_>,
) -> Result<Planned, Error> {
    let mut planner = Planner::new(context);
    match arithmetic::plan_program(program, arrays, &mut planner, limits) {
        Ok((outputs, held)) => Ok(planner.finish(outputs, held, |index| arrays.input(index))),
        Err(error @ Error::Levels { .. }) => {
            let public = context.inputs.iter().map(|input| input.peak.is_some()).collect();
            let mut depth = Depth::new(context.params.plaintext_modulus(), public);
            let (outputs, _) = arithmetic::plan_program(program, arrays, &mut depth, limits)?;
            let plan = |context: &PlanContext<'_, S>| {
                arithmetic::plan_program(program, arrays, &mut Planner::new(context), limits).map(drop)
            };
            Err(context.too_few(error, depth.of(&outputs), plan))
        }
        Err(error) => Err(error),
    }
}

/// Whether a program is of integers modulo `p` alone.
pub(super) fn is_modular(program: &Program, p: u64) -> bool {
    program.nodes.iter().all(|node| node.ty.modulus().map(u64::from) == Some(p))
}

/// The type that a set's slots hold.
pub(super) fn slot_type(params: &impl Params) -> Type {
    Type::Mod(params.plaintext_modulus() as u32)
}

struct Planner<'a, S: Leveled> {
    context: &'a PlanContext<'a, S>,
    steps: Vec<Step>,
    states: Vec<State>,
    constants: Vec<Option<u64>>,
    /// The index and the peak of a public input.
    public: Vec<Option<(u32, f64)>>,
    /// The value a level lower, if there is one.
    lowered: Vec<Option<Value>>,
    /// The bootstrapped value, if there is one.
    refreshed: Vec<Option<Value>>,
    /// Automorphisms, and these in those of the highest level.
    rotations: u64,
    turning: f64,
}

impl<'a, S: Leveled> Planner<'a, S> {
    fn new(context: &'a PlanContext<'a, S>) -> Self {
        let (steps, states, constants, public, lowered, refreshed, rotations, turning) = Default::default();
        Self { context, steps, states, constants, public, lowered, refreshed, rotations, turning }
    }

    fn params(&self) -> &'a S::Params {
        self.context.params
    }

    fn p(&self) -> u64 {
        self.params().plaintext_modulus()
    }

    fn push(&mut self, step: Step, state: State) -> Value {
        self.steps.push(step);
        self.states.push(state);
        self.constants.push(None);
        self.public.push(None);
        self.lowered.push(None);
        self.refreshed.push(None);
        (self.steps.len() - 1) as Value
    }

    fn state(&self, value: Value) -> State {
        self.states[value as usize]
    }

    fn known(&self, value: Value) -> Option<u64> {
        self.constants[value as usize]
    }

    /// The value, bootstrapped if it has been.
    fn latest(&self, value: Value) -> Value {
        self.refreshed[value as usize].unwrap_or(value)
    }

    /// Whether it decrypts, and at level 1 can be bootstrapped where the key can.
    fn fits(&self, state: State) -> bool {
        let limit = self.params().noise_limit(state.level);
        let limit = match self.context.bootstrap {
            Some(bootstrap) if state.level == 1 => limit.min(bootstrap.limit),
            _ => limit,
        };
        state.noise <= limit - SLACK
    }

    /// Where the key can bootstrap, no result is past it.
    fn stays_useful(&self, state: State) -> bool {
        self.context.bootstrap.is_none() || self.can_refresh(state)
    }

    /// Whether it can be bootstrapped, for which it is lowered to level 1.
    fn can_refresh(&self, mut state: State) -> bool {
        while state.level > 1 {
            match self.reached(&self.params().drop_level_states(state)) {
                Some(below) => state = below,
                None => return false,
            }
        }
        self.fits(state)
    }

    /// The last of the states that a ciphertext goes through, if it decrypts in all of them.
    fn reached(&self, states: &[State]) -> Option<State> {
        states.iter().all(|&state| self.fits(state)).then(|| states.last().copied()).flatten()
    }

    /// An operand ready for a product with a plaintext of that peak, and the state of the product.
    fn multiplied(&mut self, x: Value, peak: f64) -> Result<(Value, State), Error> {
        let product = |planner: &Self, x: State, _: State| {
            let product = State { noise: x.noise + peak, ..x };
            planner.fits(product).then_some(product)
        };
        let ([x, _], state) = self.ready([x, x], 1, product)?;
        Ok((x, state))
    }

    fn multiply_public(&mut self, x: Value, (index, peak): (u32, f64)) -> Result<Value, Error> {
        let (x, state) = self.multiplied(x, peak)?;
        Ok(self.push(Step::MultiplyPublic(x, index), state))
    }

    fn lower(&mut self, value: Value) -> Option<Value> {
        if let Some(lowered) = self.lowered[value as usize] {
            return Some(lowered);
        }
        let state = self.state(value);
        let below = (state.level > 1).then(|| self.reached(&self.params().drop_level_states(state))).flatten()?;
        let lowered = self.push(Step::Lower(value), below);
        self.lowered[value as usize] = Some(lowered);
        Some(lowered)
    }

    fn refresh(&mut self, value: Value) -> Result<Value, Error> {
        let value = self.latest(value);
        match self.context.bootstrap {
            Some(Bootstrap { gives, .. }) if gives != self.state(value) && self.can_refresh(self.state(value)) => {
                let refreshed = self.push(Step::Refresh(value), gives);
                self.refreshed[value as usize] = Some(refreshed);
                Ok(refreshed)
            }
            _ => Err(self.out_of_levels()),
        }
    }

    /// [`PlanContext::too_few`] says what is needed.
    fn out_of_levels(&self) -> Error {
        let left = self.context.inputs.iter().map(|input| input.state.level).min();
        Error::Levels {
            params: self.params().name().into(),
            depth: self.params().depth(),
            left: left.map_or(self.params().depth(), |level| level - 1),
            need: 0,
            keys: String::new(),
        }
    }

    /// Both operands at one level, `lowest` at least, where `combine` gives what decrypts: lowered, or bootstrapped, as far as it takes.
    fn ready(
        &mut self,
        operands: [Value; 2],
        lowest: usize,
        combine: impl Fn(&Self, State, State) -> Option<State>,
    ) -> Result<([Value; 2], State), Error> {
        let same = operands[0] == operands[1];
        let mut pair = operands.map(|value| self.latest(value));
        let replace = |pair: &mut [Value; 2], at: usize, value: Value| {
            pair[at] = value;
            if same {
                *pair = [value; 2];
            }
        };
        for at in 0..2 {
            if self.state(pair[at]).level < lowest {
                let value = self.refresh(pair[at])?;
                replace(&mut pair, at, value);
            }
        }
        // Each round lowers an operand, until both are as low as can be; then each is bootstrapped once.
        let mut refreshes = 0;
        loop {
            let [x, y] = pair.map(|value| self.state(value));
            if x.level == y.level
                && let Some(state) = combine(self, x, y)
                && self.stays_useful(state)
            {
                return Ok((pair, state));
            }
            // The higher one, or the noisier one.
            let at = usize::from((x.level, x.noise) < (y.level, y.noise));
            let lowered = if x.level.max(y.level) > lowest { self.lower(pair[at]) } else { None };
            let value = match lowered {
                Some(lowered) => lowered,
                None if refreshes < 2 => {
                    refreshes += 1;
                    self.refresh(pair[at])?
                }
                None => return Err(self.out_of_levels()),
            };
            replace(&mut pair, at, value);
        }
    }

    fn finish(self, outputs: Vec<Value>, held: Vec<Slots>, slots: impl Fn(u32) -> Slots) -> Planned {
        let outputs: Vec<Value> = outputs.into_iter().map(|output| self.latest(output)).collect();
        // Time goes with the primes there are.
        let params = self.params();
        let effort = |(step, state): (&Step, &State)| match step {
            Step::Multiply(..) | Step::Lower(_) => params.relative_cost(state.level + 1),
            _ => 0.0,
        };
        let effort = self.steps.iter().zip(&self.states).map(effort).sum();
        let schedule = Schedule::of_inputs(&self.steps, &outputs, slots);
        let levels = self.context.inputs.iter().map(|input| input.state.level).collect();
        Planned { schedule, effort, outputs: held, levels, rotations: self.rotations, turning: self.turning }
    }
}

impl<S: Leveled> arithmetic::Planner for Planner<'_, S> {
    fn input(&mut self, index: u32) -> Result<Value, Error> {
        let params = self.params();
        let fresh = || Known { state: State { level: params.depth() + 1, noise: params.fresh_noise() }, peak: None };
        let Known { state, peak } = self.context.inputs.get(index as usize).copied().unwrap_or_else(fresh);
        let input = self.push(Step::Input(index), state);
        self.public[input as usize] = peak.map(|peak| (index, peak));
        Ok(input)
    }

    fn constant(&mut self, value: u64) -> Value {
        let params = self.params();
        let state = State { level: params.depth() + 1, noise: params.constant_noise(value) };
        let constant = self.push(Step::Constant(value), state);
        self.constants[constant as usize] = Some(value % self.p());
        constant
    }

    fn add_constant(&mut self, x: Value, constant: u64) -> Result<Value, Error> {
        if let Some(known) = self.known(x) {
            return Ok(self.constant((known + constant) % self.p()));
        }
        if constant.is_multiple_of(self.p()) {
            return Ok(x);
        }
        let sum = |planner: &Self, x: State, _: State| {
            let sum = State { noise: planner.params().add_constant_noise(x, constant), ..x };
            planner.fits(sum).then_some(sum)
        };
        let ([x, _], state) = self.ready([x, x], 1, sum)?;
        Ok(self.push(Step::AddConstant(x, constant), state))
    }

    fn scale(&mut self, x: Value, constant: u64) -> Result<Value, Error> {
        let constant = constant % self.p();
        match (self.known(x), constant) {
            (Some(known), _) => return Ok(self.constant(known * constant % self.p())),
            (_, 0) => return Ok(self.constant(0)),
            (_, 1) => return Ok(x),
            _ => {}
        }
        let (x, state) = self.multiplied(x, log2_peak(self.p(), &[constant, 0]))?;
        Ok(self.push(Step::Scale(x, constant), state))
    }

    fn add(&mut self, x: Value, y: Value) -> Result<Value, Error> {
        match (self.known(x), self.known(y)) {
            (Some(known), _) => return self.add_constant(y, known),
            (_, Some(known)) => return self.add_constant(x, known),
            _ => {}
        }
        let (pair, state) = self.ready([x, y], 1, sum)?;
        Ok(self.push(Step::Add(pair[0], pair[1]), state))
    }

    fn subtract(&mut self, x: Value, y: Value) -> Result<Value, Error> {
        let p = self.p();
        match (self.known(x), self.known(y)) {
            (_, Some(known)) => return self.add_constant(x, (p - known) % p),
            (Some(known), _) => {
                let negative = self.scale(y, p - 1)?;
                return self.add_constant(negative, known);
            }
            _ => {}
        }
        let (pair, state) = self.ready([x, y], 1, sum)?;
        Ok(self.push(Step::Subtract(pair[0], pair[1]), state))
    }

    fn multiply(&mut self, x: Value, y: Value) -> Result<Value, Error> {
        match (self.known(x), self.known(y)) {
            (Some(known), _) => return self.scale(y, known),
            (_, Some(known)) => return self.scale(x, known),
            _ => {}
        }
        match (self.public[x as usize], self.public[y as usize]) {
            (_, Some(public)) => return self.multiply_public(x, public),
            (Some(public), _) => return self.multiply_public(y, public),
            _ => {}
        }
        let product = |planner: &Self, x: State, y: State| {
            planner.reached(&planner.params().multiply_states(x.level, [x.noise, y.noise]))
        };
        let (pair, state) = self.ready([x, y], 2, product)?;
        Ok(self.push(Step::Multiply(pair[0], pair[1]), state))
    }

    /// `(x + z)(y + z) + z`, `z` the lowest: it is lowered least.
    fn majority(&mut self, mut all: [Value; 3]) -> Result<Value, Error> {
        all.sort_by_key(|&value| std::cmp::Reverse(self.state(self.latest(value)).level));
        let [x, y, z] = all;
        let (left, right) = (self.add(x, z)?, self.add(y, z)?);
        let product = self.multiply(left, right)?;
        self.add(product, z)
    }

    fn across(&mut self, x: Value, across: Across, elements: usize) -> Result<Value, Error> {
        // Of equal numbers.
        if let Some(known) = self.known(x) {
            return Ok(match across {
                Across::Rotate { .. } => x,
                Across::Sum { .. } => self.constant(known * (elements as u64 % self.p()) % self.p()),
            });
        }
        if !self.context.rotates {
            return Err(no_rotations(self.params()));
        }
        let noises = SlotNoise::new(self.params(), across, elements)?;
        let moved = |planner: &Self, x: State, _: State| noises.of(x, &|state| planner.fits(state));
        let ([x, _], state) = self.ready([x, x], 1, moved)?;
        let automorphisms = noises.automorphisms();
        self.rotations += automorphisms as u64;
        self.turning += automorphisms as f64 * self.params().relative_cost(state.level);
        Ok(self.push(Step::Across(x, across), state))
    }

    fn used(&mut self, _: Value, _: u32) {}
}

fn sum<S: Leveled>(planner: &Planner<'_, S>, x: State, y: State) -> Option<State> {
    let sum = State { level: x.level, noise: (x.noise.exp2() + y.noise.exp2()).log2() };
    planner.fits(sum).then_some(sum)
}
