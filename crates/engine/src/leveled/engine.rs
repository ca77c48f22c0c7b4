//! The engine of leveled schemes.

use super::plan::{self, ArithmeticPlan, GATE_COSTS, Known, PlanContext};
use super::{Leveled, multiply_batch};
use crate::arithmetic::{ArithmeticStep, Arrays, Concurrency, Run, SlotContent, most_live};
use crate::engine::{Batch, Element, Engine, PlanRequest, PlannedWork, PublicValues};
use crate::need::Need;
use crate::planning::{self, KernelSource, Plans};
use crate::{Ciphertext, Control, Error, Estimate, Form, KeyId, ParamsInfo, Plain, Program};
use solinas_circuits::build::{Recipe, Style};
use solinas_circuits::steps::Kernel;
use solinas_circuits::{Limits, Netlist};
use solinas_schemes::leveled::{NoiseModel, Params, ServerKey, State, StoredCiphertext};
use solinas_schemes::slots::log2_canonical_norm;
use solinas_schemes::{Evaluate, Noise};
use solinas_values::leveled::{
    Elements, ParamsOf, Server, form_of, memory_bytes, packed, polynomial_bytes, slot_type, trivial,
};
use solinas_values::memory;
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

/// Approximate number of coefficients on which each thread works at a time. More instances would take more memory and
/// save no time.
const COEFFICIENTS: usize = 1 << 16;

/// Approximate bytes of a step in a plan that is kept.
const PLAN_STEP: usize = 100;

/// Evaluation under a key of a leveled scheme.
#[derive(Debug)]
pub(crate) struct LeveledEngine<S: Leveled> {
    key: Arc<Server<S>>,
    /// The evaluator on a device. `None` if the processor computes.
    on_device: Option<Box<dyn OnDevice<S>>>,
    /// Largest number of products of one batch.
    multiply_batch: usize,
    speed: OnceLock<Speed>,
    plans: Plans<Key, ArithmeticPlan>,
}

/// An evaluator on a device, for the engine of a scheme. Its results are those of the evaluator on the processor.
pub(crate) trait OnDevice<S: Leveled>: Debug + Send + Sync {
    /// As [`LeveledEngine::measure`].
    fn speed(&self, engine: &LeveledEngine<S>, control: &Control<'_>) -> Result<Speed, Error>;

    /// As [`LeveledWork::run_on`].
    fn run(
        &self,
        work: &LeveledWork<S>,
        inputs: &[Vec<&StoredCiphertext>],
        batch: &Batch<'_>,
        control: &Control<'_>,
    ) -> Result<Vec<Vec<StoredCiphertext>>, Error>;
}

impl<S: Leveled, E: Evaluate<Stored = StoredCiphertext> + Debug + Send> OnDevice<S> for E {
    fn speed(&self, engine: &LeveledEngine<S>, control: &Control<'_>) -> Result<Speed, Error> {
        engine.measure(self, control)
    }

    fn run(
        &self,
        work: &LeveledWork<S>,
        inputs: &[Vec<&StoredCiphertext>],
        batch: &Batch<'_>,
        control: &Control<'_>,
    ) -> Result<Vec<Vec<StoredCiphertext>>, Error> {
        work.run_on(self, inputs, batch, control)
    }
}

/// The key of a plan in the cache: its source, the states and slots of the inputs, and the elements of arrays.
type Key = (Arc<KernelSource>, Vec<Known>, Vec<SlotContent>, usize);

/// Measured seconds of one operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Speed {
    /// A product at the highest level.
    product: f64,
    /// Each further product of a batch at the highest level.
    more: f64,
    /// A bootstrap; 0 if the set has none.
    bootstrap: f64,
    /// A rotation of slots at the highest level.
    rotation: f64,
}

impl<S: Leveled> LeveledEngine<S> {
    /// # Errors
    /// The errors of [`memory::budget`].
    pub(super) fn new(key: Arc<Server<S>>, on_device: Option<Box<dyn OnDevice<S>>>) -> Result<Self, Error> {
        let multiply_batch = multiply_batch::<S>(key.public().params(), memory::budget()?);
        Ok(Self::with_batch(key, on_device, multiply_batch))
    }

    fn with_batch(key: Arc<Server<S>>, on_device: Option<Box<dyn OnDevice<S>>>, multiply_batch: usize) -> Self {
        Self { key, on_device, multiply_batch, speed: OnceLock::new(), plans: Plans::default() }
    }

    /// The evaluator on the processor.
    fn evaluator(&self) -> Result<S::Evaluator<'_>, Error> {
        Ok(S::evaluator(&self.key.key)?)
    }

    fn set(&self) -> &ParamsOf<S> {
        self.key.public().params()
    }

    /// The amount of work at a time, for the current thread pool. At most `lanes` instances run side by side.
    fn concurrency(&self, lanes: usize) -> Concurrency {
        let instances = (COEFFICIENTS / self.set().dimension()).max(1) * rayon::current_num_threads();
        Concurrency {
            instances: instances.min(lanes),
            multiply_batch: (S::MULTIPLY_BATCH > 1).then_some(self.multiply_batch),
            bootstrap_alone: false,
        }
    }

    /// Returns the measured speed. The first call measures it, on a public constant.
    fn speed(&self, control: &Control<'_>) -> Result<Speed, Error> {
        if let Some(speed) = self.speed.get() {
            return Ok(*speed);
        }
        let speed = match &self.on_device {
            Some(evaluator) => evaluator.speed(self, control)?,
            None => self.measure(&self.evaluator()?, control)?,
        };
        Ok(*self.speed.get_or_init(|| speed))
    }

    fn measure(&self, evaluator: &impl Evaluate, control: &Control<'_>) -> Result<Speed, Error> {
        let set = self.set();
        let x = evaluator.constant(1)?;
        let products = |count: usize| -> Result<f64, Error> {
            Ok(evaluator.time_products(&vec![(&x, &x); count], control)?.as_secs_f64())
        };
        let product = if set.depth() == 0 { 0.0 } else { products(1)? };
        let more = match set.depth() {
            0 => 0.0,
            _ if self.multiply_batch == 1 => product,
            // A batch of two products would give a less certain difference.
            _ => {
                let count = self.multiply_batch.min(4);
                ((products(count)? - product) / (count - 1) as f64).max(0.0)
            }
        };
        let bootstrap = match set.bootstrap() {
            None => 0.0,
            Some(_) => evaluator.time(|| evaluator.bootstrap(&x).map(drop), control)?.as_secs_f64(),
        };
        let rotation = match evaluator.slot_rotations() {
            None => 0.0,
            Some(rotations) => evaluator.time(|| rotations.swap_rows(&x).map(drop), control)?.as_secs_f64(),
        };
        Ok(Speed { product, more, bootstrap, rotation })
    }

    fn work(
        self: &Arc<Self>,
        key: Key,
        make: impl FnOnce(&Key) -> Result<ArithmeticPlan, Error>,
    ) -> Result<Box<dyn PlannedWork>, Error> {
        let planned = self.plans.get(key, |planned| planned.schedule.steps.len(), make)?;
        Ok(Box::new(LeveledWork { engine: Arc::clone(self), planned }))
    }
}

impl<S: Leveled> Engine for LeveledEngine<S> {
    fn key_id(&self) -> KeyId {
        self.key.public().id()
    }

    fn params(&self) -> ParamsInfo {
        self.key.info()
    }

    fn is_insecure(&self) -> bool {
        self.key.public().is_insecure()
    }

    fn empty(&self) -> Element {
        Arc::new(Elements::<S> { params: self.set().clone(), count: 0, zero_padded: true, blocks: Vec::new() })
    }

    fn memory_bytes(&self) -> usize {
        key_bytes::<S>(&self.key.key) + (self.multiply_batch - 1) * self.set().product_bytes()
    }

    fn plan_bytes(&self) -> usize {
        self.plans.nodes() * PLAN_STEP
    }

    fn form(&self) -> Form {
        form_of(self.set())
    }

    fn on_host(&self) -> Option<Arc<dyn Engine>> {
        Some(Arc::new(Self::with_batch(Arc::clone(&self.key), None, self.multiply_batch)))
    }

    fn plan(self: Arc<Self>, request: &PlanRequest<'_>, control: &Control<'_>) -> Result<Box<dyn PlannedWork>, Error> {
        let PlanRequest { source, inputs, instances, .. } = *request;
        let params = self.set();
        let limits = planning::limits(control)?;
        match &**source {
            KernelSource::Program(program) => {
                let (states, slots) = states::<S>(inputs, params)?;
                // Without a number of elements, an estimate assumes a full polynomial.
                let elements = if inputs.is_none() && instances == 1 { params.dimension() } else { instances };
                self.work((Arc::clone(source), states, slots, elements), |(_, states, slots, _)| {
                    let arrays = Arrays { elements, inputs: slots };
                    let rotates = self.evaluator()?.slot_rotations().is_some();
                    let context = PlanContext { rotates, ..context::<S>(params, states) };
                    plan_program(program, &context, arrays, &limits)
                })
            }
            KernelSource::Circuit(netlist, optimize) => {
                let (states, _) = states::<S>(inputs, params)?;
                self.work((Arc::clone(source), states, Vec::new(), 0), |(_, states, ..)| {
                    plan_circuit(netlist, *optimize, &context::<S>(params, states), &limits)
                })
            }
            &KernelSource::Convert(form) => {
                let (params, holds) = (params.name().into(), self.form());
                Err(Error::SchemeForm { scheme: S::SCHEME, params, holds, form })
            }
        }
    }

    fn public_values(&self) -> Option<&dyn PublicValues> {
        if self.form() == Form::Slots { Some(self) } else { None }
    }
}

impl<S: Leveled> PublicValues for LeveledEngine<S> {
    fn public(&self, plain: &Plain) -> Result<Ciphertext, Error> {
        trivial::<S>(self.key.public(), plain)
    }
}

fn context<'a, S: Leveled>(params: &'a ParamsOf<S>, inputs: &'a [Known]) -> PlanContext<'a, S> {
    PlanContext { params, inputs, bootstrap: params.bootstrap(), rotates: false }
}

/// Bytes of a server key in memory.
fn key_bytes<S: Leveled>(key: &ServerKey<S>) -> usize {
    memory_bytes::<S>(key.params()) + S::rotation_key_bytes(key)
}

/// The plan of a program. For integers of bits, it takes the construction with the fewest bootstraps, then the fewest products.
fn plan_program<S: Leveled>(
    program: &Program,
    context: &PlanContext<'_, S>,
    arrays: Arrays<'_>,
    limits: &Limits<'_>,
) -> Result<ArithmeticPlan, Error> {
    program.validate()?;
    let params = context.params;
    if form_of(params) == Form::Slots {
        if plan::is_modular(program, params.plaintext_modulus()) {
            return plan::program(program, context, arrays, limits);
        }
        let other = program.nodes.iter().map(|node| node.ty).find(|&ty| ty != slot_type(params));
        let wanted = other.map_or_else(String::new, |ty| ty.to_string());
        let holds = slot_type(params).to_string();
        return Err(Error::Modular { params: params.name().into(), holds, wanted });
    }
    let candidates = [Style::FewestBootstraps, Style::LowestDepth].map(|style| {
        let netlist = program.lower_within(Recipe::from(style), limits)?;
        plan::circuit(&netlist.optimize_within(&GATE_COSTS, limits)?, context, limits)
            .or_else(|_| plan::circuit(&netlist, context, limits))
    });
    match candidates {
        [Ok(a), Ok(b)] => {
            let cost = |planned: &ArithmeticPlan| (planned.schedule.bootstraps, planned.relative_cost);
            Ok(if cost(&b) < cost(&a) { b } else { a })
        }
        [Ok(only), Err(_)] | [Err(_), Ok(only)] => Ok(only),
        // The error of the construction with the lowest depth.
        [Err(_), Err(error)] => Err(error),
    }
}

/// The plan of a circuit.
fn plan_circuit<S: Leveled>(
    netlist: &Netlist,
    optimize: bool,
    context: &PlanContext<'_, S>,
    limits: &Limits<'_>,
) -> Result<ArithmeticPlan, Error> {
    let params = context.params;
    if form_of(params) == Form::Slots {
        let (name, ty) = (params.name().into(), slot_type(params));
        return Err(Error::Modular { params: name, holds: ty.to_string(), wanted: "bits".into() });
    }
    let optimized = optimize.then(|| netlist.optimize_within(&GATE_COSTS, limits)).transpose()?;
    plan::circuit(optimized.as_ref().unwrap_or(netlist), context, limits)
}

/// Returns a bound of the states of all instances for each input bit or polynomial, and the content of the slots of
/// each input. Both lists are empty for an estimate.
fn states<S: Leveled>(
    ciphertexts: Option<&[Ciphertext]>,
    params: &ParamsOf<S>,
) -> Result<(Vec<Known>, Vec<SlotContent>), Error> {
    let (mut inputs, mut slots) = (Vec::new(), Vec::new());
    for (i, input) in ciphertexts.into_iter().flatten().enumerate() {
        let elements = Elements::<S>::of(input)?;
        elements.check(|| format!("input {i}"), params)?;
        slots.push(match input.shape() {
            None => SlotContent::Replicated,
            Some(_) => SlotContent::Array { zero_padded: elements.zero_padded },
        });
        for i in 0..input.form().blocks(input.ty()) {
            let states = elements.blocks.iter().map(|blocks| State { level: blocks[i].level, noise: blocks[i].noise });
            let log2_norm = |poly: &Arc<StoredCiphertext>| {
                Some(log2_canonical_norm(params.plaintext_modulus(), poly.plaintext.as_deref()?))
            };
            let log2_norms: Option<Vec<f64>> = elements.blocks.iter().map(|blocks| log2_norm(&blocks[i])).collect();
            let log2_norm = log2_norms.map(|log2_norms| log2_norms.into_iter().fold(0.0, f64::max));
            inputs.push(Known { state: at_lowest_level(params, states), log2_norm });
        }
    }
    Ok((inputs, slots))
}

/// The lowest level of these ciphertexts, and the largest of their noises at that level.
fn at_lowest_level(params: &impl NoiseModel, states: impl Iterator<Item = State> + Clone) -> State {
    let level = states.clone().map(|state| state.level).min().unwrap_or(params.fresh_level());
    let dropped = |mut state: State| {
        while state.level > level {
            // The last state is one level lower.
            state = params.drop_level_states(state).pop().unwrap_or(State { level, ..state });
        }
        state.noise
    };
    State { level, noise: states.map(dropped).fold(Noise::ONE, Noise::max) }
}

/// Counts the products and the depth of a kernel under a parameter set, without a key. Operations across elements
/// count for a full polynomial.
pub(super) fn cost<S: Leveled>(
    kernel: &Kernel,
    params: &ParamsOf<S>,
    control: &Control<'_>,
) -> Result<Estimate, Error> {
    let limits = planning::limits(control)?;
    let plan = match kernel {
        Kernel::Program(program) | Kernel::Packed(program) => {
            let arrays = Arrays { elements: params.dimension(), inputs: &[] };
            // A key may rotate slots. If the parameters allow no rotations, their error gives the reason.
            let context = PlanContext { rotates: true, ..context::<S>(params, &[]) };
            plan_program(program, &context, arrays, &limits)?
        }
        Kernel::Circuit { netlist, optimize } => plan_circuit(netlist, *optimize, &context::<S>(params, &[]), &limits)?,
    };
    costs::<S>(&plan, params)
}

/// The cost of a plan on one element.
fn costs<S: Leveled>(planned: &ArithmeticPlan, params: &ParamsOf<S>) -> Result<Estimate, Error> {
    let multiply_batch = multiply_batch::<S>(params, memory::budget()?);
    Ok(with_memory::<S>(count::<S>(planned, 1), params, memory_bytes::<S>(params), multiply_batch))
}

/// Adds the memory of the key and of a batch of products.
fn with_memory<S: Leveled>(
    estimate: Estimate,
    params: &ParamsOf<S>,
    key_bytes: usize,
    multiply_batch: usize,
) -> Estimate {
    let more = estimate.products.clamp(1, multiply_batch as u64) - 1;
    Estimate { memory_bytes: key_bytes as u64 + more * params.product_bytes() as u64, ..estimate }
}

fn count<S: Leveled>(ArithmeticPlan { schedule, rotations, .. }: &ArithmeticPlan, lanes: usize) -> Estimate {
    Estimate {
        bootstraps: schedule.bootstraps * lanes as u64,
        products: schedule.count(lanes, |step| matches!(step, ArithmeticStep::Multiply(..))),
        rotations: *rotations,
        depth: schedule.levels,
        scheme: S::SCHEME,
        ..Default::default()
    }
}

/// A plan of this engine.
pub(crate) struct LeveledWork<S: Leveled> {
    engine: Arc<LeveledEngine<S>>,
    planned: Arc<ArithmeticPlan>,
}

impl<S: Leveled> LeveledWork<S> {
    /// The number of instances that hold a given number of elements.
    fn lanes(&self, elements: usize) -> usize {
        if self.engine.form() == Form::Slots { packed(self.engine.set(), elements) } else { elements }
    }

    /// Runs the plan on the polynomials that hold the elements of a batch.
    fn run_on<E: Evaluate<Stored = StoredCiphertext>>(
        &self,
        evaluator: &E,
        inputs: &[Vec<&StoredCiphertext>],
        batch: &Batch<'_>,
        control: &Control<'_>,
    ) -> Result<Vec<Vec<StoredCiphertext>>, Error> {
        let ArithmeticPlan { schedule, levels, .. } = &*self.planned;
        let elements = batch.instances;
        let lanes = self.need(elements, rayon::current_num_threads()).lanes(batch.room);
        Run { schedule, evaluator, concurrency: self.engine.concurrency(lanes), levels, elements }.run(inputs, control)
    }
}

impl<S: Leveled> PlannedWork for LeveledWork<S> {
    fn need(&self, instances: usize, threads: usize) -> Need {
        let (schedule, sets) = (&self.planned.schedule, self.lanes(instances) as u64);
        let each = polynomial_bytes::<S>(self.engine.set());
        let live = most_live(schedule, S::MULTIPLY_BATCH > 1) as u64;
        let lane = live.saturating_mul(each).saturating_add(32 * schedule.steps.len() as u64);
        // Results are held three times at the end, while their bytes are made. Each thread computes a product.
        let results = sets.saturating_mul(schedule.outputs.len() as u64).saturating_mul(3 * each);
        let products = (threads * self.engine.set().product_bytes()) as u64;
        let fixed = results.saturating_add(products);
        match schedule.crosses() {
            // All instances run side by side.
            true => Need { fixed: fixed.saturating_add(lane.saturating_mul(sets)), lane: 0 },
            false => Need { fixed, lane },
        }
    }

    fn count(&self, instances: usize) -> Result<Estimate, Error> {
        let LeveledEngine { key, multiply_batch, .. } = &*self.engine;
        let estimate = count::<S>(&self.planned, self.lanes(instances));
        Ok(with_memory::<S>(estimate, self.engine.set(), key_bytes::<S>(&key.key), *multiply_batch))
    }

    fn estimate(
        &self,
        instances: usize,
        threads: usize,
        pool: &rayon::ThreadPool,
        control: &Control<'_>,
    ) -> Result<Estimate, Error> {
        let speed = pool.install(|| self.engine.speed(control))?;
        let ArithmeticPlan { schedule, relative_cost, rotation_cost, .. } = &*self.planned;
        let bootstraps = speed.bootstrap * schedule.bootstraps as f64;
        // The first product of a batch takes more time than the others.
        let product = |step: &ArithmeticStep| matches!(step, ArithmeticStep::Multiply(..));
        let sets = self.lanes(instances);
        let first = match schedule.count(sets, product) {
            0 => 1.0,
            all => schedule.groups(sets, self.engine.multiply_batch, product) as f64 / all as f64,
        };
        let products = (speed.product * first + speed.more * (1.0 - first)) * relative_cost;
        // A batch uses all threads of the pool, in which it was measured.
        let threads_of_product = if S::MULTIPLY_BATCH > 1 { 1 } else { threads };
        // The plan counts the rotations of all polynomials.
        let seconds = products * sets as f64 / threads_of_product as f64
            + (bootstraps * sets as f64 + speed.rotation * rotation_cost) / threads as f64;
        Ok(Estimate { seconds, bootstrap_seconds: speed.bootstrap, threads, ..self.count(instances)? })
    }

    fn run(&self, batch: &Batch<'_>, control: &Control<'_>) -> Result<Vec<Ciphertext>, Error> {
        let (engine, form) = (&self.engine, self.engine.form());
        let (whole, count) = (batch, batch.instances);
        let batch = Batch { instances: self.lanes(count), shape: batch.shape.clone(), ..*batch };
        let polynomials = batch.blocks(|input| Ok(&Elements::<S>::of(input)?.blocks))?;
        let inputs: Vec<Vec<_>> =
            polynomials.iter().map(|blocks| blocks.iter().map(|&block| &**block).collect()).collect();
        let results = match &engine.on_device {
            Some(evaluator) => evaluator.run(self, &inputs, whole, control)?,
            None => self.run_on(&engine.evaluator()?, &inputs, whole, control)?,
        };
        let results = results.into_iter().map(|outputs| outputs.into_iter().map(Arc::new).collect()).collect();
        let (key_id, insecure) = (engine.key_id(), engine.key.public().is_insecure());
        let held = self.planned.outputs.iter().copied().map(Some).chain(std::iter::repeat(None));
        let outputs = batch.outputs(form, results).zip(held).map(|((ty, shape, blocks), held)| {
            let count = if shape.is_some() { count } else { 1 };
            let zero_padded = held == Some(SlotContent::Array { zero_padded: true });
            let elements = Arc::new(Elements::<S> { params: engine.set().clone(), count, zero_padded, blocks });
            Ciphertext::new(ty, shape, form, key_id, insecure, elements)
        });
        outputs.collect()
    }
}
