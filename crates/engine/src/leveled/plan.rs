//! Plans a circuit or a program as sums, products and level drops before anything runs.
//!
//! Invariant: every value decrypts at its level. If a product would break the invariant, the planner first drops the noisier operand by one level. If no level is
//! left, it bootstraps the operand, or returns [`Error::Levels`] if the key cannot.

use super::Leveled;
use super::depth::Depth;
use super::slot_noise::{SlotNoise, no_rotations};
use crate::Error;
use crate::Program;
use crate::arithmetic::{self, ArithmeticStep, Arrays, Schedule, SlotContent, SlotOperation, Value};
use solinas_circuits::{GateCosts, Limits, Netlist};
use solinas_schemes::Level;
use solinas_schemes::leveled::{Bootstrap, NoiseModel, Params, State};
use solinas_schemes::slots::log2_canonical_norm;
use solinas_values::leveled::ParamsOf;

/// Bits by which a noise stays below its limit. The planner and the evaluators compute noises in floating point, and
/// may differ in the last bits.
const SLACK: f64 = 1e-6;

/// The costs for optimizing netlists: only products count.
pub(super) const GATE_COSTS: GateCosts = GateCosts { not: 0, binary: 1, mux: 1, xor3: 1, maj: 1 };

/// An input of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Known {
    pub(super) state: State,
    /// For a public input, `log2` of the factor by which a product with it multiplies noise.
    pub(super) log2_norm: Option<f64>,
}

/// Everything that a plan depends on, except the program.
#[derive(Debug)]
pub(super) struct PlanContext<'a, S: Leveled> {
    pub(super) params: &'a ParamsOf<S>,
    /// The inputs. Inputs beyond these are fresh.
    pub(super) inputs: &'a [Known],
    /// The bootstrap. `None` if the key cannot bootstrap.
    pub(super) bootstrap: Option<Bootstrap>,
    /// Whether the key can rotate slots.
    pub(super) rotates: bool,
}

impl<S: Leveled> PlanContext<'_, S> {
    /// Completes [`Error::Levels`] for a computation of `need` products in a row. It names a set whose fresh inputs have enough levels for `plan`: noise can take more
    /// levels than products do.
    fn too_few(&self, error: Error, need: usize, plan: impl Fn(&PlanContext<'_, S>) -> Result<(), Error>) -> Error {
        let Error::Levels { params, depth, left, .. } = error else { return error };
        let mut levels = if need > left { depth - left.min(depth) + need } else { depth + 1 };
        while let Some(set) = S::deep_enough(self.params, levels) {
            let state = State { level: set.fresh_level(), noise: set.fresh_noise() };
            let inputs: Vec<Known> = self.inputs.iter().map(|&input| Known { state, ..input }).collect();
            match plan(&PlanContext { params: &set, inputs: &inputs, bootstrap: set.bootstrap(), ..*self }) {
                Err(Error::Levels { .. }) => levels = set.depth() + 1,
                // More levels do not help against another error.
                _ => break,
            }
        }
        Error::Levels { params, depth, left, need, keys: S::deeper_set_hint(self.params, levels) }
    }
}

/// A schedule and its cost.
#[derive(Debug, Clone)]
pub(super) struct ArithmeticPlan {
    pub(super) schedule: Schedule,
    /// Time of the products and level drops, in units of a product at the highest level.
    pub(super) relative_cost: f64,
    /// The content of the slots of each output. The list is empty for bits.
    pub(super) outputs: Vec<SlotContent>,
    /// The level at which each input is used. The list is empty for an estimate, which assumes fresh inputs.
    pub(super) levels: Vec<Level>,
    /// Number of rotations of slots, for all polynomials together.
    pub(super) rotations: u64,
    /// Time of the rotations, in units of a rotation at the highest level.
    pub(super) rotation_cost: f64,
}

/// The plan of a circuit.
///
/// # Errors
/// [`Error::Levels`] if there are too few levels; the errors of `limits`.
pub(super) fn circuit<S: Leveled>(
    netlist: &Netlist,
    context: &PlanContext<'_, S>,
    limits: &Limits<'_>,
) -> Result<ArithmeticPlan, Error> {
    let mut planner = Planner::new(context);
    match arithmetic::plan(netlist, &mut planner, limits) {
        Ok(outputs) => Ok(planner.finish(outputs, Vec::new(), |_| SlotContent::Array { zero_padded: false })),
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
) -> Result<ArithmeticPlan, Error> {
    let mut planner = Planner::new(context);
    match arithmetic::plan_program(program, arrays, &mut planner, limits) {
        Ok((outputs, held)) => Ok(planner.finish(outputs, held, |index| arrays.input(index))),
        Err(error @ Error::Levels { .. }) => {
            let public = context.inputs.iter().map(|input| input.log2_norm.is_some()).collect();
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

/// Whether all values of a program are integers modulo `p`.
pub(super) fn is_modular(program: &Program, p: u64) -> bool {
    program.nodes.iter().all(|node| node.ty.modulus().map(u64::from) == Some(p))
}

struct Planner<'a, S: Leveled> {
    context: &'a PlanContext<'a, S>,
    steps: Vec<ArithmeticStep>,
    states: Vec<State>,
    constants: Vec<Option<u64>>,
    /// The index of a public input, and its [`Known::log2_norm`].
    public: Vec<Option<(u32, f64)>>,
    /// The value a level lower, if there is one.
    dropped: Vec<Option<Value>>,
    /// The bootstrapped value, if there is one.
    bootstrapped: Vec<Option<Value>>,
    /// The count of [`ArithmeticPlan::rotations`] so far.
    rotations: u64,
    rotation_cost: f64,
}

impl<'a, S: Leveled> Planner<'a, S> {
    fn new(context: &'a PlanContext<'a, S>) -> Self {
        let (steps, states, constants, public, dropped, bootstrapped, rotations, rotation_cost) = Default::default();
        Self { context, steps, states, constants, public, dropped, bootstrapped, rotations, rotation_cost }
    }

    fn params(&self) -> &'a ParamsOf<S> {
        self.context.params
    }

    fn p(&self) -> u64 {
        self.params().plaintext_modulus()
    }

    fn push(&mut self, step: ArithmeticStep, state: State) -> Value {
        self.steps.push(step);
        self.states.push(state);
        self.constants.push(None);
        self.public.push(None);
        self.dropped.push(None);
        self.bootstrapped.push(None);
        (self.steps.len() - 1) as Value
    }

    fn state(&self, value: Value) -> State {
        self.states[value as usize]
    }

    fn known(&self, value: Value) -> Option<u64> {
        self.constants[value as usize]
    }

    /// The bootstrapped value if there is one, else the value.
    fn latest(&self, value: Value) -> Value {
        self.bootstrapped[value as usize].unwrap_or(value)
    }

    /// Whether a ciphertext decrypts. If the key can bootstrap, a ciphertext at level 1 must be fit for that too.
    fn within_limit(&self, state: State) -> bool {
        let limit = self.params().noise_limit(state.level);
        let limit = match self.context.bootstrap {
            Some(bootstrap) if state.level == Level::LOWEST && bootstrap.limit < limit => bootstrap.limit,
            _ => limit,
        };
        state.noise <= limit.scaled(-SLACK)
    }

    /// Whether a result can be bootstrapped later. If the key cannot bootstrap, this is true for every result.
    fn stays_useful(&self, state: State) -> bool {
        self.context.bootstrap.is_none() || self.can_bootstrap(state)
    }

    /// Whether a ciphertext can be bootstrapped after it has dropped to level 1.
    fn can_bootstrap(&self, mut state: State) -> bool {
        while state.level > Level::LOWEST {
            match self.reached(&self.params().drop_level_states(state)) {
                Some(below) => state = below,
                None => return false,
            }
        }
        self.within_limit(state)
    }

    /// Returns the last of these states if a ciphertext decrypts in each of them.
    fn reached(&self, states: &[State]) -> Option<State> {
        states.iter().all(|&state| self.within_limit(state)).then(|| states.last().copied()).flatten()
    }

    /// Returns the operand at a level at which a plaintext of this canonical norm can multiply it, and the state of the
    /// product.
    fn multiplied(&mut self, x: Value, log2_norm: f64) -> Result<(Value, State), Error> {
        let product = |planner: &Self, x: State, _: State| {
            let product = State { noise: x.noise.scaled(log2_norm), ..x };
            planner.within_limit(product).then_some(product)
        };
        let ([x, _], state) = self.align_operands([x, x], Level::LOWEST, product)?;
        Ok((x, state))
    }

    fn multiply_public(&mut self, x: Value, (index, log2_norm): (u32, f64)) -> Result<Value, Error> {
        let (x, state) = self.multiplied(x, log2_norm)?;
        Ok(self.push(ArithmeticStep::MultiplyPublic(x, index), state))
    }

    fn drop_level(&mut self, value: Value) -> Option<Value> {
        if let Some(dropped) = self.dropped[value as usize] {
            return Some(dropped);
        }
        let state = self.state(value);
        let below = self.reached(&self.params().drop_level_states(state))?;
        let dropped = self.push(ArithmeticStep::DropLevel(value), below);
        self.dropped[value as usize] = Some(dropped);
        Some(dropped)
    }

    fn bootstrap(&mut self, value: Value) -> Result<Value, Error> {
        let value = self.latest(value);
        match self.context.bootstrap {
            Some(Bootstrap { gives, .. }) if gives != self.state(value) && self.can_bootstrap(self.state(value)) => {
                let bootstrapped = self.push(ArithmeticStep::Bootstrap(value), gives);
                self.bootstrapped[value as usize] = Some(bootstrapped);
                Ok(bootstrapped)
            }
            _ => Err(self.out_of_levels()),
        }
    }

    /// The error for too few levels. [`PlanContext::too_few`] adds the number that is needed.
    fn out_of_levels(&self) -> Error {
        let left = self.context.inputs.iter().map(|input| input.state.level).min();
        Error::Levels {
            params: self.params().name().into(),
            depth: self.params().depth(),
            left: left.map_or(self.params().depth(), Level::products_left),
            need: 0,
            keys: String::new(),
        }
    }

    /// Brings both operands to one level, at least `lowest`, at which `combine` gives a state that decrypts. It drops
    /// levels or bootstraps as needed. Returns the operands and the state.
    fn align_operands(
        &mut self,
        operands: [Value; 2],
        lowest: Level,
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
                let value = self.bootstrap(pair[at])?;
                replace(&mut pair, at, value);
            }
        }
        // Each round drops an operand by a level. When both are at the lowest level, each is bootstrapped once.
        let mut bootstraps = 0;
        loop {
            let [x, y] = pair.map(|value| self.state(value));
            if x.level == y.level
                && let Some(state) = combine(self, x, y)
                && self.stays_useful(state)
            {
                return Ok((pair, state));
            }
            // The operand at the higher level drops. At equal levels, the noisier one drops.
            let at = usize::from((x.level, x.noise) < (y.level, y.noise));
            let dropped = if x.level.max(y.level) > lowest { self.drop_level(pair[at]) } else { None };
            let value = match dropped {
                Some(dropped) => dropped,
                None if bootstraps < 2 => {
                    bootstraps += 1;
                    self.bootstrap(pair[at])?
                }
                None => return Err(self.out_of_levels()),
            };
            replace(&mut pair, at, value);
        }
    }

    fn finish(self, outputs: Vec<Value>, held: Vec<SlotContent>, slots: impl Fn(u32) -> SlotContent) -> ArithmeticPlan {
        let outputs: Vec<Value> = outputs.into_iter().map(|output| self.latest(output)).collect();
        let params = self.params();
        let relative_cost = |(step, state): (&ArithmeticStep, &State)| match step {
            ArithmeticStep::Multiply(..) | ArithmeticStep::DropLevel(_) => params.relative_cost(state.level.above()),
            _ => 0.0,
        };
        let relative_cost = self.steps.iter().zip(&self.states).map(relative_cost).sum();
        let schedule = Schedule::of_inputs(&self.steps, &outputs, slots);
        let levels = self.context.inputs.iter().map(|input| input.state.level).collect();
        ArithmeticPlan {
            schedule,
            relative_cost,
            outputs: held,
            levels,
            rotations: self.rotations,
            rotation_cost: self.rotation_cost,
        }
    }
}

impl<S: Leveled> arithmetic::Planner for Planner<'_, S> {
    fn input(&mut self, index: u32) -> Result<Value, Error> {
        let params = self.params();
        let fresh =
            || Known { state: State { level: params.fresh_level(), noise: params.fresh_noise() }, log2_norm: None };
        let Known { state, log2_norm } = self.context.inputs.get(index as usize).copied().unwrap_or_else(fresh);
        let input = self.push(ArithmeticStep::Input(index), state);
        self.public[input as usize] = log2_norm.map(|log2_norm| (index, log2_norm));
        Ok(input)
    }

    fn constant(&mut self, value: u64) -> Value {
        let params = self.params();
        let state = State { level: params.fresh_level(), noise: params.constant_noise(value) };
        let constant = self.push(ArithmeticStep::Constant(value), state);
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
            planner.within_limit(sum).then_some(sum)
        };
        let ([x, _], state) = self.align_operands([x, x], Level::LOWEST, sum)?;
        Ok(self.push(ArithmeticStep::AddConstant(x, constant), state))
    }

    fn scale(&mut self, x: Value, constant: u64) -> Result<Value, Error> {
        let constant = constant % self.p();
        match (self.known(x), constant) {
            (Some(known), _) => return Ok(self.constant(known * constant % self.p())),
            (_, 0) => return Ok(self.constant(0)),
            (_, 1) => return Ok(x),
            _ => {}
        }
        let (x, state) = self.multiplied(x, log2_canonical_norm(self.p(), &[constant, 0]))?;
        Ok(self.push(ArithmeticStep::MultiplyConstant(x, constant), state))
    }

    fn add(&mut self, x: Value, y: Value) -> Result<Value, Error> {
        match (self.known(x), self.known(y)) {
            (Some(known), _) => return self.add_constant(y, known),
            (_, Some(known)) => return self.add_constant(x, known),
            _ => {}
        }
        let (pair, state) = self.align_operands([x, y], Level::LOWEST, sum)?;
        Ok(self.push(ArithmeticStep::Add(pair[0], pair[1]), state))
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
        let (pair, state) = self.align_operands([x, y], Level::LOWEST, sum)?;
        Ok(self.push(ArithmeticStep::Subtract(pair[0], pair[1]), state))
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
        let (pair, state) = self.align_operands([x, y], Level::LOWEST.above(), product)?;
        Ok(self.push(ArithmeticStep::Multiply(pair[0], pair[1]), state))
    }

    /// Computes `(x + z)(y + z) + z`. The operand at the lowest level is `z`, so that it drops by the fewest levels.
    fn majority(&mut self, mut all: [Value; 3]) -> Result<Value, Error> {
        all.sort_by_key(|&value| std::cmp::Reverse(self.state(self.latest(value)).level));
        let [x, y, z] = all;
        let (left, right) = (self.add(x, z)?, self.add(y, z)?);
        let product = self.multiply(left, right)?;
        self.add(product, z)
    }

    fn slot_operation(&mut self, x: Value, operation: SlotOperation, elements: usize) -> Result<Value, Error> {
        // All elements of a known value are equal.
        if let Some(known) = self.known(x) {
            return Ok(match operation {
                SlotOperation::Rotate { .. } => x,
                SlotOperation::InnerSum { .. } => self.constant(known * (elements as u64 % self.p()) % self.p()),
            });
        }
        if !self.context.rotates {
            return Err(no_rotations(self.params()));
        }
        let noises = SlotNoise::new(self.params(), operation, elements)?;
        let moved = |planner: &Self, x: State, _: State| noises.of(x, &|state| planner.within_limit(state));
        let ([x, _], state) = self.align_operands([x, x], Level::LOWEST, moved)?;
        let automorphisms = noises.automorphisms();
        self.rotations += automorphisms as u64;
        self.rotation_cost += automorphisms as f64 * self.params().relative_cost(state.level);
        Ok(self.push(ArithmeticStep::Slots(x, operation), state))
    }

    fn used(&mut self, _: Value, _: u32) {}
}

fn sum<S: Leveled>(planner: &Planner<'_, S>, x: State, y: State) -> Option<State> {
    let sum = State { level: x.level, noise: x.noise.sum(y.noise) };
    planner.within_limit(sum).then_some(sum)
}
