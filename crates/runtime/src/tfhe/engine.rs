//! The engine: schedules of bootstraps. The family of the parameters determines whether they evaluate gates or lookup
//! tables.

use super::blocks::Blocks;
use super::compact::Compact;
use super::elements::Elements;
use super::inputs::BatchInputs;
use super::{private, random};
use crate::device::{Device, part};
use crate::engine::{Batch, Engine, PlanRequest, PlannedWork, RandomRequest};
use crate::memory::Need;
use crate::planning::{self, Plans, Source};
use crate::plans::{
    Body, Cursor, End, Plan, Position, Ran, RunId, RunState, SCHEME, Schedule, form_of, id as plan_id, info, inputs_id,
    planned_weight, source_id, tables, value_bytes,
};

use crate::{Ciphertext, Control, CostModel, Error, Estimate, Form, KeyId, ParamsInfo, Program};
use solinas_circuits::build::{Recipe, Style};
use solinas_circuits::{GateCosts, Limits, Netlist, radix};
use solinas_formats::OnDemand;
use solinas_formats::tfhe::ServerFile;
use solinas_schemes::tfhe::params::Family;
use solinas_schemes::tfhe::{
    Backend, Evaluator, LookupTable, LweCiphertext, Packer, PackingKey, Params, Sanitizer, Split, Sum, Task,
};
use std::collections::HashMap;
use std::ops::Add;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Measured seconds of one bootstrap: alone, and in a batch on one thread or multiprocessor. For devices, also the
/// seconds of the copies of one value to the device and back.
#[derive(Debug, Clone, Copy)]
struct Speed {
    alone: f64,
    batched: f64,
    copies: f64,
}

/// The speed that each further thread of a team adds, relative to one thread (`cargo measure blind-rotate`).
const TEAM_GAIN: f64 = 0.55;

/// Approximate bytes of a bootstrap in a plan that is kept: its task, and its terms and those of the plan.
const PLAN_NODE: usize = 400;

/// Evaluation under a TFHE key.
#[derive(Debug)]
pub(crate) struct TfheEngine {
    evaluator: Arc<Evaluator>,
    packing: Arc<Packing>,
    /// The key on a device, which then computes the bootstraps.
    device: Option<Box<dyn Backend>>,
    speed: OnceLock<Speed>,
    plans: Plans<Key, Scheduled>,
}

/// The packing key of a server key, which is read and prepared when results are first packed, or when one is first made private.
#[derive(Debug)]
struct Packing {
    key: Arc<OnDemand<PackingKey>>,
    packer: OnceLock<Packer>,
    sanitizer: OnceLock<Sanitizer>,
}

impl Packing {
    /// The prepared key.
    fn packer(&self) -> Result<&Packer, Error> {
        self.prepared(&self.packer, |key| Ok(Packer::new(key)?))
    }

    /// The encryptions of zero of the key.
    fn sanitizer(&self) -> Result<&Sanitizer, Error> {
        self.prepared(&self.sanitizer, |key| Ok(Sanitizer::new(key)?))
    }

    fn prepared<'a, T>(
        &'a self,
        cell: &'a OnceLock<T>,
        prepare: impl FnOnce(&PackingKey) -> Result<T, Error>,
    ) -> Result<&'a T, Error> {
        if let Some(prepared) = cell.get() {
            return Ok(prepared);
        }
        // Prepares outside the cell, for the reason of [`TfheEngine::speed`].
        let prepared = prepare(self.key.get()?)?;
        Ok(cell.get_or_init(|| prepared))
    }
}

/// The key of a plan: its source, the noise weight of the inputs, and whether it has the lowest depth.
type Key = (Arc<Source>, u64, bool);

/// A plan, and its waves of bootstraps.
#[derive(Debug)]
struct Scheduled {
    /// None for a conversion, whose plan leaves no choice.
    body: Option<Body>,
    schedule: Schedule,
    /// The identity of the plan, from its first run on.
    id: OnceLock<KeyId>,
}

impl Scheduled {
    fn new(body: Body, weight: u64) -> Self {
        Self { schedule: body.schedule(weight), body: Some(body), id: OnceLock::new() }
    }
}

impl TfheEngine {
    /// Prepares a key on the current thread pool: for a device, or without one for the pool itself.
    pub(crate) fn new(file: &ServerFile, device: Option<&dyn Device>) -> Result<Self, Error> {
        let evaluator = Evaluator::new(&file.key)?;
        let packing = Packing { key: file.packing.clone(), packer: OnceLock::new(), sanitizer: OnceLock::new() };
        let device = device.map(|device| part(device, SCHEME.name(), &evaluator)).transpose()?;
        Ok(Self { device, ..Self::host(Arc::new(evaluator), Arc::new(packing)) })
    }

    /// The engine of the current thread pool.
    fn host(evaluator: Arc<Evaluator>, packing: Arc<Packing>) -> Self {
        Self { evaluator, packing, device: None, speed: OnceLock::new(), plans: Plans::default() }
    }

    fn target(&self) -> &dyn Backend {
        self.device.as_deref().unwrap_or(&*self.evaluator)
    }

    fn set(&self) -> &Params {
        self.evaluator.params()
    }

    /// The plan of a program that its model chooses.
    fn chosen(
        &self,
        program: &Program,
        request: &PlanRequest<'_>,
        weight: u64,
        control: &Control<'_>,
    ) -> Result<Arc<Scheduled>, Error> {
        let limits = planning::limits(control)?;
        let plan = |shallow: bool| {
            let key = (Arc::clone(request.source), weight, shallow);
            self.scheduled(key, || body(program, self.set(), weight, shallow, &limits))
        };
        let threads = match request.model {
            CostModel::Fewest => return plan(false),
            CostModel::Shallow => return plan(true),
            CostModel::Threads(threads) => threads,
        };
        let instances = request.instances;
        if instances == 0 || instances >= threads {
            // The plan of the fewest bootstraps has work for every thread.
            return plan(false);
        }
        let (fewest, shallow) = both(|| plan(false), || plan(true));
        let fewest = fewest?;
        let shallow = match shallow {
            // A plan with more bootstraps that is too large leaves the first plan.
            Err(Error::Planning { .. }) => return Ok(fewest),
            shallow => shallow?,
        };
        // The choice uses fixed relative times and no measured ones: the same program and model give the same plan.
        let speed = Speed { alone: 1.0, batched: 0.6, copies: 0.0 };
        let seconds = |planned: &Scheduled| self.seconds_on_host(planned.schedule.waves(), instances, threads, speed);
        Ok(if seconds(&shallow) < seconds(&fewest) { shallow } else { fewest })
    }

    /// The schedule that converts an input to another form.
    fn conversion(&self, form: Form, inputs: Option<&[Ciphertext]>) -> Result<Schedule, Error> {
        if self.set().family() == Family::Gates && form == Form::Radix {
            return Err(Error::Form { params: self.set().name().into(), form: "radix" });
        }
        let Some([input]) = inputs else {
            return Err(Error::Internal("a conversion takes one ciphertext".into()));
        };
        let (width, weight) = (input.ty().width() as u16, weight(std::slice::from_ref(input), &Control::default())?);
        let graph = match form {
            Form::Bits => tables::radix_to_bits(width, weight)?,
            Form::Radix => tables::bits_to_radix(width, weight)?,
            Form::Slots => return Err(no_slots(self.set())),
        };
        Ok(tables::schedule(&graph))
    }

    fn scheduled(&self, key: Key, make: impl FnOnce() -> Result<Body, Error>) -> Result<Arc<Scheduled>, Error> {
        let weight = key.1;
        self.plans.get(key, |made| made.schedule.bootstraps(), |_| Ok(Scheduled::new(make()?, weight)))
    }

    /// Predicts the time of waves of so many bootstraps on threads. They run one after the other, split as the evaluator splits them.
    fn seconds_on_host(&self, waves: Vec<usize>, lanes: usize, threads: usize, speed: Speed) -> f64 {
        let wave = |jobs: usize| {
            let jobs = jobs.saturating_mul(lanes);
            let Split { batch, members } = self.evaluator.split(jobs, threads);
            let one = if batch == 1 { speed.alone } else { batch as f64 * speed.batched };
            let rounds = jobs.div_ceil(batch).div_ceil((threads / members).max(1));
            rounds as f64 * one / (1.0 + TEAM_GAIN * (members - 1) as f64)
        };
        // The sum of no numbers is -0.0.
        waves.into_iter().map(wave).fold(0.0, Add::add)
    }

    /// Returns the measured time of a bootstrap. Measures once: the second of two runs, when the key is in the cache.
    fn speed(&self, control: &Control<'_>) -> Result<Speed, Error> {
        if let Some(speed) = self.speed.get() {
            return Ok(*speed);
        }
        control.check()?;
        // Measures outside the cell. If the process forks during a measurement inside it, the child waits for a thread
        // that it does not have.
        let speed = self.measured_speed()?;
        Ok(*self.speed.get_or_init(|| speed))
    }

    fn measured_speed(&self) -> Result<Speed, Error> {
        let table = match self.set().family() {
            Family::Gates => LookupTable::Sign,
            Family::Integers => LookupTable::Entries(vec![[0; 16]]),
        };
        let tables = [table];
        // The words are not 0, so that the rotation skips no step.
        let words = (0..=self.set().big_dimension() as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
        let value = LweCiphertext::from_words(words);
        let time = |count: usize| {
            let task =
                |slot| Task { argument: Sum { terms: vec![(0, 1)], constant: 0 }, table: 0, outputs: vec![slot] };
            let tasks: Vec<Task> = (1..=count as u32).map(task).collect();
            let mut values = self.target().values(count + 1, count, &tables)?;
            values.write(&[(0, &value)])?;
            let start = Instant::now();
            values.bootstrap(&tasks)?;
            Ok::<f64, Error>(start.elapsed().as_secs_f64())
        };
        if let Some(parallel) = self.target().parallel() {
            time(1)?;
            let copies = self.seconds_of_copies(&value)?;
            return Ok(Speed { alone: time(1)?, batched: time(2 * parallel)? / 2.0, copies });
        }
        let single = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        match single {
            Ok(pool) => pool.install(|| {
                time(1)?;
                Ok(Speed { alone: time(1)?, batched: time(8)? / 8.0, copies: 0.0 })
            }),
            Err(_) => time(1).map(|alone| Speed { alone, batched: alone, copies: 0.0 }),
        }
    }

    /// Returns the measured seconds of the copies of one value to the devices and back, as one of several.
    fn seconds_of_copies(&self, value: &LweCiphertext) -> Result<f64, Error> {
        const VALUES: u32 = 8;
        let mut values = self.target().values(VALUES as usize, VALUES as usize, &[])?;
        let start = Instant::now();
        values.write(&(0..VALUES).map(|slot| (slot, value)).collect::<Vec<_>>())?;
        let sum = |slot| Sum { terms: vec![(slot, 1)], constant: 0 };
        values.read(&(0..VALUES).map(sum).collect::<Vec<_>>())?;
        Ok(start.elapsed().as_secs_f64() / f64::from(VALUES))
    }
}

impl Engine for TfheEngine {
    fn key_id(&self) -> KeyId {
        self.evaluator.id()
    }

    fn params(&self) -> ParamsInfo {
        info(self.set())
    }

    fn memory_bytes(&self) -> usize {
        self.evaluator.size()
    }

    fn plan_bytes(&self) -> usize {
        self.plans.nodes() * PLAN_NODE
    }

    fn form(&self) -> Form {
        form_of(self.set())
    }

    fn on_host(&self) -> Option<Arc<dyn Engine>> {
        Some(Arc::new(Self::host(Arc::clone(&self.evaluator), Arc::clone(&self.packing))))
    }

    fn compact(&self, ciphertext: &Ciphertext) -> Result<Ciphertext, Error> {
        let elements = Elements::of(ciphertext)?;
        elements.check_params("the ciphertext", self.evaluator.params())?;
        if elements.blocks.is_compact() {
            return Ok(ciphertext.clone());
        }
        let full = elements.blocks.full()?;
        let compact = Compact::new(&self.evaluator, || self.packing.packer(), &full.concat())?;
        let blocks = Blocks::Compact(compact, ciphertext.form().blocks(ciphertext.ty()));
        let elements = Elements { blocks, ..elements.clone() };
        Ok(Ciphertext { elements: Arc::new(elements), ..ciphertext.clone() })
    }

    // The processor computes this in any case, because the kernels of devices begin a bootstrap with a keyswitch.
    fn random(&self, request: &RandomRequest<'_>, control: &Control<'_>) -> Result<Ciphertext, Error> {
        random::random(&self.evaluator, request, control)
    }

    fn plan(self: Arc<Self>, request: &PlanRequest<'_>, control: &Control<'_>) -> Result<Box<dyn PlannedWork>, Error> {
        // The masks of many inputs take a while.
        let weight_within = |inputs: &[Ciphertext]| weight(inputs, control);
        let weight =
            || Ok::<_, Error>(planned_weight(self.set(), request.inputs.map_or(Ok(request.noise), weight_within)?));
        let (form, scheduled, weight) = match &**request.source {
            Source::Program(program) => {
                let weight = weight()?;
                (self.form(), self.chosen(program, request, weight, control)?, weight)
            }
            Source::Circuit(netlist, optimize) => {
                let weight = weight()?;
                let limits = planning::limits(control)?;
                let key = (Arc::clone(request.source), weight, false);
                let body = || circuit(netlist, *optimize, self.set(), weight, &limits);
                (self.form(), self.scheduled(key, body)?, weight)
            }
            Source::Convert(form) => {
                let schedule = self.conversion(*form, request.inputs)?;
                (*form, Arc::new(Scheduled { body: None, schedule, id: OnceLock::new() }), 1)
            }
        };
        let (source, model) = (Arc::clone(request.source), request.model);
        let model = model.to_string();
        Ok(Box::new(Planned { engine: self, scheduled, form, weight, source, model, is_private: false }))
    }

    fn pinned(self: Arc<Self>, plan: &Plan, request: &PlanRequest<'_>) -> Result<Box<dyn PlannedWork>, Error> {
        let noise = |inputs: &[Ciphertext]| weight(inputs, &Control::default());
        plan.check(self.set(), request.source, request.inputs.map_or(Ok(request.noise), noise)?)?;
        let (source, model, weight) = (Arc::clone(request.source), plan.model().to_owned(), plan.weight());
        let scheduled = Arc::new(Scheduled::new(plan.body().clone(), weight));
        let form = self.form();
        Ok(Box::new(Planned { engine: self, scheduled, form, weight, source, model, is_private: false }))
    }
}

fn no_slots(params: &Params) -> Error {
    Error::SchemeForm { scheme: SCHEME, params: params.name().into(), holds: form_of(params), form: Form::Slots }
}

/// A plan on this engine, with results of that form.
struct Planned {
    engine: Arc<TfheEngine>,
    scheduled: Arc<Scheduled>,
    form: Form,
    weight: u64,
    source: Arc<Source>,
    model: String,
    /// Whether the results hide the program.
    is_private: bool,
}

impl Planned {
    /// The bootstraps of each wave of one instance, and of each round that hides the program.
    fn widths(&self) -> Vec<usize> {
        let schedule = &self.scheduled.schedule;
        let rounds = if self.is_private { private::waves(schedule, self.engine.set()) } else { Vec::new() };
        schedule.waves().into_iter().chain(rounds).collect()
    }

    fn run_from(
        &self,
        batch: &Batch<'_>,
        from: Option<&Cursor>,
        pause: &dyn Fn(Position) -> bool,
        control: &Control<'_>,
    ) -> Result<End, Error> {
        let inputs = BatchInputs::new(batch, self.engine.set())?;
        let lanes = self.need(batch.instances, 1).lanes(batch.room);
        let (schedule, target) = (&self.scheduled.schedule, self.engine.target());
        match self.is_private {
            true => {
                private::run(schedule, target, self.engine.packing.sanitizer()?, (&inputs, from, lanes), pause, control)
            }
            false => schedule.run(target, &inputs, from, pause, lanes, control),
        }
    }

    fn results(&self, batch: &Batch<'_>, results: Vec<Vec<LweCiphertext>>) -> Result<Vec<Ciphertext>, Error> {
        let (evaluator, plan) = (&self.engine.evaluator, if self.is_private { None } else { self.id()? });
        let (key_id, insecure, form) = (self.engine.key_id(), evaluator.is_insecure(), self.form);
        let (params, mut first) = (evaluator.params(), 0);
        let outputs = batch.outputs(form, results).map(|(ty, shape, blocks)| {
            let next = first + form.blocks(ty);
            let most = params.max_weight() as u64;
            let weight =
                if self.is_private { most } else { self.scheduled.schedule.joint_weight(first..next).min(most) };
            first = next;
            let params = params.clone();
            let elements = Arc::new(Elements { params, weight, blocks: Blocks::Full(blocks) });
            Ciphertext { ty, shape, form, key_id, insecure, plan, name: None, elements }.checked()
        });
        outputs.collect()
    }

    /// The identity of the plan. None for a conversion.
    fn id(&self) -> Result<Option<KeyId>, Error> {
        let Some(body) = &self.scheduled.body else { return Ok(None) };
        if let Some(id) = self.scheduled.id.get() {
            return Ok(Some(*id));
        }
        let id = plan_id(self.engine.set(), source_id(&self.source)?, self.weight, body)?;
        Ok(Some(*self.scheduled.id.get_or_init(|| id)))
    }
}

impl PlannedWork for Planned {
    fn hide(&mut self) -> Result<(), Error> {
        // A run prepares the section, which takes a moment.
        self.is_private = true;
        Ok(())
    }

    fn waves(&self) -> Vec<u64> {
        self.widths().into_iter().map(|width| width as u64).collect()
    }

    fn noise(&self) -> u64 {
        let schedule = &self.scheduled.schedule;
        match self.is_private {
            true => self.engine.set().max_weight() as u64,
            false => schedule.joint_weight(0..schedule.outputs.len()),
        }
    }

    fn need(&self, instances: usize, _: usize) -> Need {
        self.scheduled.schedule.need(instances, value_bytes(self.engine.set()))
    }

    fn count(&self, instances: usize) -> Result<Estimate, Error> {
        Ok(count(&self.widths(), instances, self.engine.set()))
    }

    fn estimate(
        &self,
        instances: usize,
        threads: usize,
        _: &rayon::ThreadPool,
        control: &Control<'_>,
    ) -> Result<Estimate, Error> {
        let speed = self.engine.speed(control)?;
        let (schedule, widths) = (&self.scheduled.schedule, self.widths());
        // Each round takes its values from the host and gives them back.
        let rounds = widths.len() - schedule.waves().len();
        let copied = schedule.values_of_host() + 2 * rounds * schedule.outputs.len();
        let seconds = match self.engine.target().parallel() {
            // Devices share a wave among their multiprocessors.
            Some(parallel) => seconds_on_devices(widths, instances, parallel, speed),
            None => self.engine.seconds_on_host(widths, instances, threads, speed),
        };
        let copies = (copied * instances) as f64 * speed.copies;
        Ok(Estimate { seconds: seconds + copies, bootstrap_seconds: speed.alone, threads, ..self.count(instances)? })
    }

    fn plan(&self) -> Result<Option<Plan>, Error> {
        let plan = |body: &Body| Plan::new(self.engine.set(), &self.source, &self.model, self.weight, body.clone());
        self.scheduled.body.as_ref().map(plan).transpose()
    }

    fn run(&self, batch: &Batch<'_>, control: &Control<'_>) -> Result<Vec<Ciphertext>, Error> {
        match self.run_from(batch, None, &|_| false, control)? {
            End::Done(results) => self.results(batch, results),
            End::Paused(_) => Err(Error::Internal("a run paused by itself".into())),
        }
    }

    fn run_until(
        &self,
        batch: &Batch<'_>,
        from: Option<&RunState>,
        pause: &dyn Fn(Position) -> bool,
        control: &Control<'_>,
    ) -> Result<Ran, Error> {
        let Some(plan) = self.id()? else {
            return Err(Error::Request {
                what: "a conversion cannot pause".into(),
                help: "run it without a checkpoint".into(),
            });
        };
        let id = RunId { key_id: self.engine.key_id(), plan, inputs: inputs_id(batch.inputs)? };
        let cursor = from.map(|from| from.cursor(id)).transpose()?;
        let (schedule, set) = (&self.scheduled.schedule, self.engine.set());
        let fits = |cursor: &Cursor| {
            schedule.check_cursor(cursor, batch.instances)
                || self.is_private && private::check_cursor(schedule, set, cursor, batch.instances)
        };
        if cursor.is_some_and(|cursor| !fits(cursor)) {
            return Err(Error::OtherRun { what: "of another number of elements or waves".into() });
        }
        match self.run_from(batch, cursor, pause, control)? {
            End::Done(results) => Ok(Ran::Done(self.results(batch, results)?)),
            End::Paused(cursor) => {
                let evaluator = &self.engine.evaluator;
                let outputs = self.scheduled.schedule.outputs.len();
                Ok(Ran::Paused(Box::new(RunState::new(
                    evaluator.params(),
                    id,
                    evaluator.is_insecure(),
                    outputs,
                    cursor,
                ))))
            }
        }
    }
}

/// Counts bootstraps and depth of a program under a parameter set, without a key.
pub(crate) fn cost(program: &Program, params: &Params, control: &Control<'_>) -> Result<Estimate, Error> {
    planning::check_built_in()?;
    Ok(count(&body(program, params, 1, false, &planning::limits(control)?)?.schedule(1).waves(), 1, params))
}

/// Counts as [`cost`] does, for a circuit.
pub(crate) fn cost_circuit(netlist: &Netlist, params: &Params, control: &Control<'_>) -> Result<Estimate, Error> {
    planning::check_built_in()?;
    Ok(count(&circuit(netlist, true, params, 1, &planning::limits(control)?)?.schedule(1).waves(), 1, params))
}

/// Plans a circuit whose inputs have this noise weight.
fn circuit(
    netlist: &Netlist,
    optimize: bool,
    params: &Params,
    weight: u64,
    limits: &Limits<'_>,
) -> Result<Body, Error> {
    let optimized = optimize.then(|| netlist.optimize_within(&gate_costs(params), limits)).transpose()?;
    Ok(match params.family() {
        Family::Gates => Body::Gates(optimized.unwrap_or_else(|| netlist.clone())),
        Family::Integers => Body::Tables(tables::lower_netlist(optimized.as_ref().unwrap_or(netlist), weight, limits)?),
    })
}

fn count(waves: &[usize], lanes: usize, params: &Params) -> Estimate {
    Estimate {
        bootstraps: waves.iter().sum::<usize>() as u64 * lanes as u64,
        depth: waves.len() as u64,
        memory_bytes: Evaluator::size_of(params) as u64,
        ..Default::default()
    }
}

fn gate_costs(params: &Params) -> GateCosts {
    let mux = match params.family() {
        Family::Gates => 2,
        Family::Integers => 1,
    };
    GateCosts { mux, ..Default::default() }
}

fn body(program: &Program, params: &Params, weight: u64, shallow: bool, limits: &Limits<'_>) -> Result<Body, Error> {
    program.validate()?;
    match params.family() {
        Family::Gates => {
            let style = if shallow { Style::LowestDepth } else { Style::FewestBootstraps };
            let netlist = program.lower_within(Recipe::from(style), limits)?;
            Ok(Body::Gates(netlist.optimize_within(&gate_costs(params), limits)?))
        }
        Family::Integers => {
            let style = if shallow { radix::Style::LowestDepth } else { radix::Style::FewestRotations };
            Ok(Body::Tables(radix::lower_within(program, style, tables::budget(weight), limits)?.graph))
        }
    }
}

/// Computes two values side by side, on a thread beside the pool, which may be busy for long. Without that thread it computes one after the other.
fn both<A, B: Send>(a: impl FnOnce() -> A, b: impl Fn() -> B + Sync) -> (A, B) {
    std::thread::scope(|scope| match std::thread::Builder::new().spawn_scoped(scope, &b) {
        Ok(thread) => {
            let a = a();
            (a, thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        }
        Err(_) => (a(), b()),
    })
}

/// Predicts the time of waves of so many bootstraps on devices. They run one after the other, and the devices share each wave evenly.
fn seconds_on_devices(waves: Vec<usize>, lanes: usize, parallel: usize, speed: Speed) -> f64 {
    let wave = |jobs: usize| match (jobs as u64 * lanes as u64).div_ceil(parallel as u64) {
        0 => 0.0,
        1 => speed.alone,
        share => share as f64 * speed.batched,
    };
    // The sum of no numbers is -0.0.
    waves.into_iter().map(wave).fold(0.0, Add::add)
}

/// Returns the noise weight with which to plan the inputs: every sum of their blocks has at most this many times the variance that the same sum of
/// independent bootstraps has.
///
/// Blocks of weight 1 have the same noise if their masks are equal or opposite, and independent noise otherwise. A sum of `m` equal ones with any coefficients
/// has at most `m` times the variance of independent blocks. Inputs of a larger weight may share noise with each other and with blocks of weight 1, in any
/// way. A sum of parts whose variances are at most `w_i v` has at most the variance `(sum of w_i) v` (Cauchy and Schwarz), so their weights add up.
fn weight(inputs: &[Ciphertext], control: &Control<'_>) -> Result<u64, Error> {
    let all = inputs.iter().map(|input| Ok((input.shape().is_some(), Elements::of(input)?)));
    let all = all.collect::<Result<Vec<_>, Error>>()?;
    let (single, shared): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, input)| input.weight <= 1);
    let elements = inputs.iter().map(Ciphertext::len).max().unwrap_or(0);
    let repeated = |element: usize| -> Result<u64, Error> {
        control.check()?;
        let mut counts: HashMap<[u32; 8], u64> = HashMap::new();
        let of_element = |array: bool| if array { element } else { 0 };
        for words in single.iter().flat_map(|(array, input)| input.blocks.mask_starts(of_element(*array))) {
            // A block without a mask has no noise.
            if words != [0; 8] {
                *counts.entry(words).or_default() += 1;
            }
        }
        Ok(counts.into_values().max().unwrap_or(0))
    };
    let counted = if single.is_empty() { 0 } else { elements };
    let most = (0..counted).map(repeated).try_fold(0, |most, one| Ok::<_, Error>(one?.max(most)))?;
    Ok(shared.iter().map(|(_, input)| input.weight).fold(most, u64::saturating_add).max(1))
}
