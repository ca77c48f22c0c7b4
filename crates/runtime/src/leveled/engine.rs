//! The engine: plans by levels and noise, steps wave by wave.

use super::elements::{Elements, Poly, form_of, packed};
use super::keys::{self, Server};
use super::plan::{self, GATE_COSTS, Known, Planned, Setting, State};
use super::run::Polynomials;
use super::{Leveled, Parameters, constant, together};
use crate::arithmetic::{Arrays, Slots, Step, run};
use crate::engine::{Batch, Engine, Plan, PlanRequest};
use crate::planning::{self, Plans, Source};
use crate::{Ciphertext, Control, Error, Estimate, Form, KeyId, ParamsInfo, Plain, Program, memory};
use solinas_circuits::build::{Recipe, Style};
use solinas_circuits::{Limits, Netlist};
use solinas_schemes::slots::log2_peak;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Evaluation under a key of a leveled scheme.
#[derive(Debug)]
pub(super) struct LeveledEngine<S: Leveled> {
    key: Arc<Server<S>>,
    /// Products that are computed together at most.
    together: usize,
    speed: OnceLock<Speed>,
    plans: Plans<Key, Planned>,
}

/// What a plan depends on: its source, the states and slots of the inputs, and the elements of arrays.
type Key = (Arc<Source>, Vec<Known>, Vec<Slots>, usize);

/// Measured seconds, of one at a time.
#[derive(Debug, Clone, Copy)]
struct Speed {
    /// At the highest level.
    product: f64,
    /// What each further product takes of those that are computed together.
    more: f64,
    bootstrap: f64,
    /// An automorphism at the highest level.
    rotation: f64,
}

impl<S: Leveled> LeveledEngine<S> {
    /// # Errors
    /// Of [`memory::budget`].
    pub(super) fn new(key: Arc<Server<S>>) -> Result<Self, Error> {
        let together = together::<S>(S::params(key.public()), memory::budget()?);
        Ok(Self { key, together, speed: OnceLock::new(), plans: Plans::default() })
    }

    fn set(&self) -> &S::Params {
        S::params(self.key.public())
    }

    /// Measured once, of a ciphertext that anyone can read.
    fn speed(&self, control: &Control<'_>) -> Result<Speed, Error> {
        if let Some(speed) = self.speed.get() {
            return Ok(*speed);
        }
        let (key, set) = (&self.key.key, self.set());
        let x = S::trivial(self.key.public(), &constant(set, 1))?;
        let time = |work: &dyn Fn() -> Result<S::Ciphertext, Error>| twice(control, &|| work().map(drop));
        let products = |count: usize| {
            let pairs = vec![(&x, &x); count];
            S::product_seconds(key, &pairs, control)
        };
        let product = if set.depth() == 0 { 0.0 } else { products(1)? };
        let more = match set.depth() {
            0 => 0.0,
            _ if self.together == 1 => product,
            // Of a few, as the difference of two is less certain.
            _ => {
                let count = self.together.min(4);
                ((products(count)? - product) / (count - 1) as f64).max(0.0)
            }
        };
        let bootstrap = match set.refresh() {
            None => 0.0,
            Some(_) => time(&|| S::refresh(key, &x))?,
        };
        let rotation = match S::rotates(key) {
            false => 0.0,
            true => time(&|| S::swap_rows(key, &x))?,
        };
        Ok(*self.speed.get_or_init(|| Speed { product, more, bootstrap, rotation }))
    }

    fn job(
        self: &Arc<Self>,
        key: Key,
        make: impl FnOnce(&Key) -> Result<Planned, Error>,
    ) -> Result<Box<dyn Plan>, Error> {
        let planned = self.plans.get(key, |planned| planned.schedule.steps.len(), make)?;
        Ok(Box::new(Job { engine: Arc::clone(self), planned }))
    }
}

impl<S: Leveled> Engine for LeveledEngine<S> {
    fn key_id(&self) -> KeyId {
        S::id(self.key.public())
    }

    fn params(&self) -> ParamsInfo {
        self.key.info()
    }

    fn memory_bytes(&self) -> usize {
        S::key_bytes(&self.key.key) + (self.together - 1) * self.set().product_bytes()
    }

    fn form(&self) -> Form {
        form_of(self.set())
    }

    fn plan(self: Arc<Self>, request: &PlanRequest<'_>, control: &Control<'_>) -> Result<Box<dyn Plan>, Error> {
        let PlanRequest { source, inputs, instances, .. } = *request;
        let params = self.set();
        let limits = planning::limits(control)?;
        match &**source {
            Source::Program(program) => {
                let (states, slots) = states::<S>(inputs, params)?;
                // An estimate is of a full polynomial, unless it says of how many elements.
                let elements = if inputs.is_none() && instances == 1 { params.dimension() } else { instances };
                self.job((Arc::clone(source), states, slots, elements), |(_, states, slots, _)| {
                    let arrays = Arrays { elements, inputs: slots };
                    let setting = Setting { rotates: S::rotates(&self.key.key), ..setting(params, states) };
                    plan_program(program, &setting, arrays, &limits)
                })
            }
            Source::Circuit(netlist, optimize) => {
                let (states, _) = states::<S>(inputs, params)?;
                self.job((Arc::clone(source), states, Vec::new(), 0), |(_, states, ..)| {
                    plan_circuit(netlist, *optimize, &setting(params, states), &limits)
                })
            }
            &Source::Convert(form) => {
                let (params, holds) = (params.name().into(), self.form());
                Err(Error::SchemeForm { scheme: S::SCHEME, params, holds, form })
            }
        }
    }

    fn public(&self, plain: &Plain) -> Result<Option<Ciphertext>, Error> {
        let slots = self.form() == Form::Slots;
        slots.then(|| keys::public::<S>(self.key.public(), plain)).transpose()
    }
}

/// Seconds of the second of two runs, unless it is cancelled.
pub(super) fn twice(control: &Control<'_>, work: &dyn Fn() -> Result<(), Error>) -> Result<f64, Error> {
    control.check()?;
    work()?;
    control.check()?;
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}

fn setting<'a, P: Parameters>(params: &'a P, inputs: &'a [Known]) -> Setting<'a, P> {
    Setting { params, inputs, refresh: params.refresh(), rotates: false }
}

/// The plan of a program; of integers of bits, by the construction that takes the fewest bootstraps, then products, or the only one for which the levels do.
fn plan_program(
    program: &Program,
    setting: &Setting<'_, impl Parameters>,
    arrays: Arrays<'_>,
    limits: &Limits<'_>,
) -> Result<Planned, Error> {
    program.validate()?;
    let params = setting.params;
    if form_of(params) == Form::Slots {
        if plan::is_modular(program, params.plaintext_modulus()) {
            return plan::program(program, setting, arrays, limits);
        }
        let other = program.nodes.iter().map(|node| node.ty).find(|&ty| ty != plan::slot_type(params));
        let wanted = other.map_or_else(String::new, |ty| ty.to_string());
        let holds = plan::slot_type(params).to_string();
        return Err(Error::Modular { params: params.name().into(), holds, wanted });
    }
    let candidates = [Style::FewestBootstraps, Style::LowestDepth].map(|style| {
        let netlist = program.lower_within(Recipe::from(style), limits)?;
        plan::circuit(&netlist.optimize_within(&GATE_COSTS, limits)?, setting, limits)
            .or_else(|_| plan::circuit(&netlist, setting, limits))
    });
    match candidates {
        [Ok(a), Ok(b)] => {
            let cost = |planned: &Planned| (planned.schedule.refreshes, planned.effort);
            Ok(if cost(&b) < cost(&a) { b } else { a })
        }
        [Ok(only), Err(_)] | [Err(_), Ok(only)] => Ok(only),
        // That of the lower depth.
        [Err(_), Err(error)] => Err(error),
    }
}

/// The plan of a circuit.
fn plan_circuit(
    netlist: &Netlist,
    optimize: bool,
    setting: &Setting<'_, impl Parameters>,
    limits: &Limits<'_>,
) -> Result<Planned, Error> {
    let params = setting.params;
    if form_of(params) == Form::Slots {
        let (name, ty) = (params.name().into(), plan::slot_type(params));
        return Err(Error::Modular { params: name, holds: ty.to_string(), wanted: "bits".into() });
    }
    let optimized = optimize.then(|| netlist.optimize_within(&GATE_COSTS, limits)).transpose()?;
    plan::circuit(optimized.as_ref().unwrap_or(netlist), setting, limits)
}

/// For each input bit, or polynomial of slots, a state that bounds those of all lanes, and for each input what its slots hold; none for an estimate.
fn states<S: Leveled>(
    ciphertexts: Option<&[Ciphertext]>,
    params: &S::Params,
) -> Result<(Vec<Known>, Vec<Slots>), Error> {
    let (mut inputs, mut slots) = (Vec::new(), Vec::new());
    for (i, input) in ciphertexts.into_iter().flatten().enumerate() {
        let elements = Elements::<S>::of(input)?;
        elements.check(|| format!("input {i}"), params)?;
        slots.push(match input.shape() {
            None => Slots::Scalar,
            Some(_) => Slots::Array { clean: elements.clean },
        });
        for i in 0..input.form().blocks(input.ty()) {
            let states = elements.blocks.iter().map(|blocks| State { level: blocks[i].level, noise: blocks[i].noise });
            let peak = |poly: &Arc<Poly>| Some(log2_peak(params.plaintext_modulus(), poly.public.as_deref()?));
            let peaks: Option<Vec<f64>> = elements.blocks.iter().map(|blocks| peak(&blocks[i])).collect();
            let peak = peaks.map(|peaks| peaks.into_iter().fold(0.0, f64::max));
            inputs.push(Known { state: at_lowest_level(params, states), peak });
        }
    }
    Ok((inputs, slots))
}

/// The lowest level of these ciphertexts, and the greatest of their noises there.
fn at_lowest_level(params: &impl Parameters, states: impl Iterator<Item = State> + Clone) -> State {
    let level = states.clone().map(|state| state.level).min().unwrap_or(params.depth() + 1);
    let lowered = |mut state: State| {
        while state.level > level {
            // A ciphertext of a level above the first has a last state, which is one level lower.
            state = params.lowered(state).pop().unwrap_or(State { level, ..state });
        }
        state.noise
    };
    State { level, noise: states.map(lowered).fold(0.0, f64::max) }
}

/// Products and depth of a program under a parameter set, without a key: of a full polynomial, where it goes across elements.
pub(super) fn cost<S: Leveled>(
    program: &Program,
    params: &S::Params,
    control: &Control<'_>,
) -> Result<Estimate, Error> {
    let arrays = Arrays { elements: params.dimension(), inputs: &[] };
    // A key may have them, or the parameters say why not.
    let setting = Setting { rotates: true, ..setting(params, &[]) };
    costs::<S>(&plan_program(program, &setting, arrays, &planning::limits(control)?)?, params)
}

/// As [`cost`], of a circuit.
pub(super) fn cost_circuit<S: Leveled>(
    netlist: &Netlist,
    params: &S::Params,
    control: &Control<'_>,
) -> Result<Estimate, Error> {
    costs::<S>(&plan_circuit(netlist, true, &setting(params, &[]), &planning::limits(control)?)?, params)
}

/// What a plan costs on one element.
fn costs<S: Leveled>(planned: &Planned, params: &S::Params) -> Result<Estimate, Error> {
    let together = together::<S>(params, memory::budget()?);
    Ok(with_memory::<S>(count::<S>(planned, 1), params, params.memory_bytes(), together))
}

/// With the memory of a key of so many bytes and of products that are computed together.
fn with_memory<S: Leveled>(estimate: Estimate, params: &S::Params, key_bytes: usize, together: usize) -> Estimate {
    let more = estimate.products.clamp(1, together as u64) - 1;
    Estimate { memory_bytes: key_bytes as u64 + more * params.product_bytes() as u64, ..estimate }
}

fn count<S: Leveled>(Planned { schedule, rotations, .. }: &Planned, lanes: usize) -> Estimate {
    Estimate {
        bootstraps: schedule.refreshes * lanes as u64,
        products: schedule.count(lanes, |step| matches!(step, Step::Multiply(..))),
        rotations: *rotations,
        depth: schedule.levels,
        scheme: S::SCHEME,
        ..Default::default()
    }
}

/// A plan of this engine.
struct Job<S: Leveled> {
    engine: Arc<LeveledEngine<S>>,
    planned: Arc<Planned>,
}

impl<S: Leveled> Job<S> {
    /// Sets of ciphertexts that hold so many elements.
    fn lanes(&self, elements: usize) -> usize {
        if self.engine.form() == Form::Slots { packed(self.engine.set(), elements) } else { elements }
    }
}

impl<S: Leveled> Plan for Job<S> {
    fn count(&self, instances: usize) -> Result<Estimate, Error> {
        let LeveledEngine { key, together, .. } = &*self.engine;
        let estimate = count::<S>(&self.planned, self.lanes(instances));
        Ok(with_memory::<S>(estimate, self.engine.set(), S::key_bytes(&key.key), *together))
    }

    fn estimate(
        &self,
        instances: usize,
        threads: usize,
        pool: &rayon::ThreadPool,
        control: &Control<'_>,
    ) -> Result<Estimate, Error> {
        let speed = pool.install(|| self.engine.speed(control))?;
        let Planned { schedule, effort, turning, .. } = &*self.planned;
        let bootstraps = speed.bootstrap * schedule.refreshes as f64;
        // Of the products that are computed together the first takes more than the others.
        let product = |step: &Step| matches!(step, Step::Multiply(..));
        let sets = self.lanes(instances);
        let first = match schedule.count(sets, product) {
            0 => 1.0,
            all => schedule.groups(sets, self.engine.together, product) as f64 / all as f64,
        };
        let products = (speed.product * first + speed.more * (1.0 - first)) * effort;
        // Those that are computed together have all threads of the pool, in which they were measured.
        let threads_of_product = if S::MULTIPLIES_TOGETHER > 1 { 1 } else { threads };
        // Automorphisms are those of all polynomials.
        let seconds = products * sets as f64 / threads_of_product as f64
            + (bootstraps * sets as f64 + speed.rotation * turning) / threads as f64;
        Ok(Estimate { seconds, bootstrap_seconds: speed.bootstrap, threads, ..self.count(instances)? })
    }

    fn run(&self, batch: &Batch<'_>, control: &Control<'_>) -> Result<Vec<Ciphertext>, Error> {
        let (engine, form) = (&self.engine, self.engine.form());
        let count = batch.instances;
        let batch = Batch { instances: self.lanes(count), shape: batch.shape.clone(), ..*batch };
        let polynomials = batch.blocks(|input| Ok(&Elements::<S>::of(input)?.blocks))?;
        let runner = Polynomials::<S> { key: &engine.key.key, together: engine.together, levels: &self.planned.levels };
        let results = run(&self.planned.schedule, &runner, &polynomials, count, control)?;
        let (key_id, insecure) = (engine.key_id(), S::is_insecure(engine.key.public()));
        let held = self.planned.outputs.iter().copied().map(Some).chain(std::iter::repeat(None));
        let outputs = batch.outputs(form, results).zip(held).map(|((ty, shape, blocks), held)| {
            let count = if shape.is_some() { count } else { 1 };
            let clean = held == Some(Slots::Array { clean: true });
            let elements = Arc::new(Elements::<S> { params: engine.set().clone(), count, clean, blocks });
            Ciphertext { ty, shape, form, key_id, insecure, elements }.checked()
        });
        outputs.collect()
    }
}
