//! The engine: schedules of bootstraps. The family of the parameters determines whether they evaluate gates or lookup
//! tables.

use super::inputs::BatchInputs;
use super::{private, random, trivial, weight};
use crate::device::{Device, part};
use crate::engine::{
    Batch, Blockwise, Element, Engine, Facts, Operands, Part, Pausing, Pinning, PlanRequest, PlannedWork, PublicValues,
    RandomRequest, Stopped, Valued,
};
use crate::need::Need;
use crate::planning::{self, KernelSource, Plans};
use crate::plans::{
    Body, Cursor, End, KernelPlan, Position, RunId, RunState, Schedule, StepsState, id as plan_id, planned_weight,
    source_id, tables,
};
use crate::{Ciphertext, Control, CostModel, Error, Estimate, Form, KeyId, ParamsInfo, Plain, Program, Type};
use solinas_circuits::build::{Recipe, Style};
use solinas_circuits::steps::{self, Kernel, SlotId};
use solinas_circuits::{GateCosts, Limits, Netlist, radix};
use solinas_formats::OnDemand;
use solinas_formats::tfhe::ServerFile;
use solinas_schemes::tfhe::params::Family;
use solinas_schemes::tfhe::{
    Backend, Evaluator, LookupTable, LweCiphertext, Packer, PackingKey, Params, Sanitizer, SlotBootstrap, Split, Sum,
};
use solinas_values::payload::downcast;
use solinas_values::tfhe::{Blocks, Compact, Elements, SCHEME, form_of, info, value_bytes};
use std::ops::{Add, Range};
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
type Key = (Arc<KernelSource>, u64, bool);

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
        let (width, weight) = (input.ty().width() as u16, weight::of_array(input, &Control::default())?);
        let graph = match form {
            Form::Bits => tables::radix_to_bits(width, weight)?,
            Form::Radix => tables::bits_to_radix(width, weight)?,
            Form::Slots => return Err(no_slots(self.set())),
        };
        Ok(tables::schedule(&graph))
    }

    /// The state of steps, from that of a file.
    fn resumed(
        &self,
        state: &StepsState,
        slots: &[(Type, Facts)],
    ) -> Result<(Option<steps::Batch>, steps::Cursor<Element>), Error> {
        let other = || Error::OtherRun { what: "of other steps".into() };
        let (form, mut blocks) = (self.form(), state.blocks.iter());
        let mut live = Vec::with_capacity(state.live.len());
        for &(slot, base, count) in &state.live {
            let (ty, facts) = slots.get(slot as usize).ok_or_else(other)?;
            let size = form.blocks(*ty) as u64;
            // Each value takes blocks of the file, so that a forged number takes no memory.
            if count.saturating_mul(size) > blocks.len() as u64 {
                return Err(other());
            }
            let value = |_| -> Element {
                let blocks = Blocks::Full(vec![blocks.by_ref().take(size as usize).cloned().collect()]);
                Arc::new(Elements { params: self.set().clone(), weight: facts.weight, blocks })
            };
            live.push((SlotId(slot), base as usize, (0..count).map(value).collect()));
        }
        if blocks.next().is_some() {
            return Err(other());
        }
        let batch = state.batch.map(|numbers| {
            let [step, start, end] = numbers.map(|number| number as usize);
            steps::Batch { step, lanes: start..end }
        });
        Ok((batch, steps::Cursor { done: state.done.iter().map(|&done| done as usize).collect(), live }))
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
            let task = |slot| SlotBootstrap {
                argument: Sum { terms: vec![(0, 1)], constant: 0 },
                table: 0,
                outputs: vec![slot],
            };
            let tasks: Vec<SlotBootstrap> = (1..=count as u32).map(task).collect();
            let mut slots = self.target().slots(count + 1, count, &tables)?;
            slots.write(&[(0, &value)])?;
            let start = Instant::now();
            slots.bootstrap(&tasks)?;
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
        let mut slots = self.target().slots(VALUES as usize, VALUES as usize, &[])?;
        let start = Instant::now();
        slots.write(&(0..VALUES).map(|slot| (slot, value)).collect::<Vec<_>>())?;
        let sum = |slot| Sum { terms: vec![(slot, 1)], constant: 0 };
        slots.read(&(0..VALUES).map(sum).collect::<Vec<_>>())?;
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

    fn is_insecure(&self) -> bool {
        self.evaluator.is_insecure()
    }

    fn empty(&self) -> Element {
        Arc::new(Elements { params: self.set().clone(), weight: 1, blocks: Blocks::Full(Vec::new()) })
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

    fn plan(self: Arc<Self>, request: &PlanRequest<'_>, control: &Control<'_>) -> Result<Box<dyn PlannedWork>, Error> {
        let weight = planned_weight(self.set(), request.weight);
        let (form, scheduled, weight) = match &**request.source {
            KernelSource::Program(program) => (self.form(), self.chosen(program, request, weight, control)?, weight),
            KernelSource::Circuit(netlist, optimize) => {
                let limits = planning::limits(control)?;
                let key = (Arc::clone(request.source), weight, false);
                let body = || circuit(netlist, *optimize, self.set(), weight, &limits);
                (self.form(), self.scheduled(key, body)?, weight)
            }
            KernelSource::Convert(form) => {
                let schedule = self.conversion(*form, request.inputs)?;
                (*form, Arc::new(Scheduled { body: None, schedule, id: OnceLock::new() }), 1)
            }
        };
        let (source, model) = (Arc::clone(request.source), request.model);
        let model = model.to_string();
        let is_private = request.hides;
        Ok(Box::new(Planned { engine: self, scheduled, form, weight, source, model, is_private }))
    }

    fn pinning(self: Arc<Self>) -> Option<Arc<dyn Pinning>> {
        Some(self)
    }

    fn public_values(&self) -> Option<&dyn PublicValues> {
        Some(self)
    }

    fn blockwise(&self) -> Option<&dyn Blockwise> {
        Some(self)
    }

    // The masks of many inputs take a while.
    fn weight(&self, operands: &Operands<'_>, control: &Control<'_>) -> Result<Option<u64>, Error> {
        weight::of_operands(operands, control).map(Some)
    }
}

impl Pinning for TfheEngine {
    fn pinned(self: Arc<Self>, plan: &KernelPlan, request: &PlanRequest<'_>) -> Result<Box<dyn PlannedWork>, Error> {
        plan.check(self.set(), request.source, request.weight)?;
        let (source, model, weight) = (Arc::clone(request.source), plan.model().to_owned(), plan.weight());
        let scheduled = Arc::new(Scheduled::new(plan.body().clone(), weight));
        let (form, is_private) = (self.form(), request.hides);
        Ok(Box::new(Planned { engine: self, scheduled, form, weight, source, model, is_private }))
    }
}

impl PublicValues for TfheEngine {
    fn public(&self, plain: &Plain) -> Result<Ciphertext, Error> {
        trivial::array(&self.evaluator, plain)
    }
}

impl Blockwise for TfheEngine {
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
        ciphertext.clone().with_elements(Arc::new(elements))
    }

    // The processor computes this in any case, because the kernels of devices begin a bootstrap with a keyswitch.
    fn random(&self, request: &RandomRequest<'_>, control: &Control<'_>) -> Result<Ciphertext, Error> {
        random::random(&self.evaluator, request, control)
    }

    fn are_equal(&self, lanes: usize, of: Valued<'_>) -> Result<bool, Error> {
        weight::are_equal(lanes, of)
    }

    fn state(&self, id: RunId, stopped: Stopped) -> Result<RunState, Error> {
        let steps = stopped.steps.map(|(batch, cursor)| suspended(batch, cursor)).transpose()?;
        Ok(RunState::new(self.set(), id, self.evaluator.is_insecure(), stopped.cursor, steps))
    }

    fn stopped(&self, id: RunId, state: &RunState, slots: &[(Type, Facts)]) -> Result<Stopped, Error> {
        let cursor = state.cursor(id)?.clone();
        let steps = state.steps().map(|steps| self.resumed(steps, slots)).transpose()?;
        Ok(Stopped { cursor, steps })
    }
}

/// The state of steps, as files have it.
fn suspended(batch: Option<steps::Batch>, cursor: steps::Cursor<Element>) -> Result<StepsState, Error> {
    let (mut live, mut blocks) = (Vec::with_capacity(cursor.live.len()), Vec::new());
    for (slot, base, values) in cursor.live {
        live.push((slot.0, base as u64, values.len() as u64));
        for value in &values {
            blocks.extend(downcast::<Elements>(&**value, SCHEME)?.blocks.full()?.concat());
        }
    }
    let batch = batch.map(|batch| [batch.step, batch.lanes.start, batch.lanes.end].map(|number| number as u64));
    Ok(StepsState { batch, done: cursor.done.into_iter().map(|done| done as u64).collect(), live, blocks })
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
    source: Arc<KernelSource>,
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

    /// The largest noise weight of the parameter set.
    fn most(&self) -> u64 {
        self.engine.set().max_weight() as u64
    }

    /// The noise weight of some blocks of the results.
    fn joint_weight(&self, blocks: Range<usize>) -> u64 {
        self.scheduled.schedule.joint_weight(blocks).min(self.most())
    }

    fn results(&self, batch: &Batch<'_>, results: Vec<Vec<LweCiphertext>>) -> Result<Vec<Ciphertext>, Error> {
        let evaluator = &self.engine.evaluator;
        let (key_id, insecure, form) = (self.engine.key_id(), evaluator.is_insecure(), self.form);
        let (params, mut first) = (evaluator.params(), 0);
        let outputs = batch.outputs(form, results).map(|(ty, shape, blocks)| {
            let next = first + form.blocks(ty);
            let weight = if self.is_private { self.most() } else { self.joint_weight(first..next) };
            first = next;
            let params = params.clone();
            let elements = Arc::new(Elements { params, weight, blocks: Blocks::Full(blocks) });
            Ciphertext::new(ty, shape, form, key_id, insecure, elements)
        });
        outputs.collect()
    }
}

impl PlannedWork for Planned {
    fn waves(&self) -> Vec<u64> {
        self.widths().into_iter().map(|width| width as u64).collect()
    }

    fn facts(&self, kernel: &Kernel) -> Vec<Facts> {
        match self.is_private {
            true => {
                let hidden = Facts { weight: self.most(), is_own: false, is_apart: false, passes: None };
                vec![hidden; kernel.result_types().len()]
            }
            false => facts(&self.scheduled.schedule, self.engine.set(), kernel),
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

    fn plan(&self) -> Result<Option<KernelPlan>, Error> {
        let plan =
            |body: &Body| KernelPlan::new(self.engine.set(), &self.source, &self.model, self.weight, body.clone());
        self.scheduled.body.as_ref().map(plan).transpose()
    }

    fn run(&self, batch: &Batch<'_>, control: &Control<'_>) -> Result<Vec<Ciphertext>, Error> {
        match self.run_from(batch, None, &|_| false, control)? {
            End::Done(results) => self.results(batch, results),
            End::Paused(_) => Err(Error::Internal("a run paused by itself".into())),
        }
    }

    // None for a conversion.
    fn id(&self) -> Result<Option<KeyId>, Error> {
        let Some(body) = &self.scheduled.body else { return Ok(None) };
        if let Some(id) = self.scheduled.id.get() {
            return Ok(Some(*id));
        }
        let id = plan_id(self.engine.set(), source_id(&self.source)?, self.weight, body)?;
        Ok(Some(*self.scheduled.id.get_or_init(|| id)))
    }

    fn pausing(&self) -> Option<&dyn Pausing> {
        Some(self)
    }
}

impl Pausing for Planned {
    fn run_until(
        &self,
        batch: &Batch<'_>,
        from: Option<&Cursor>,
        pause: &dyn Fn(Position) -> bool,
        control: &Control<'_>,
    ) -> Result<Part, Error> {
        let (schedule, set) = (&self.scheduled.schedule, self.engine.set());
        let fits = |cursor: &Cursor| {
            schedule.check_cursor(cursor, batch.instances)
                || self.is_private && private::check_cursor(schedule, set, cursor, batch.instances)
        };
        if from.is_some_and(|cursor| !fits(cursor)) {
            return Err(Error::OtherRun { what: "of another number of elements or waves".into() });
        }
        match self.run_from(batch, from, pause, control)? {
            End::Done(results) => Ok(Part::Done(self.results(batch, results)?)),
            End::Paused(cursor) => Ok(Part::Paused(cursor)),
        }
    }
}

/// Counts bootstraps and depth of a kernel under a parameter set, without a key.
pub(crate) fn cost(
    kernel: &Kernel,
    params: &Params,
    weight: u64,
    control: &Control<'_>,
) -> Result<(Estimate, Vec<Facts>), Error> {
    let (limits, weight) = (planning::limits(control)?, planned_weight(params, weight));
    let body = match kernel {
        Kernel::Program(program) | Kernel::Packed(program) => body(program, params, weight, false, &limits)?,
        Kernel::Circuit { netlist, optimize } => circuit(netlist, *optimize, params, weight, &limits)?,
    };
    let schedule = body.schedule(weight);
    Ok((count(&schedule.waves(), 1, params), facts(&schedule, params, kernel)))
}

/// What is known before a run of the results of a kernel.
fn facts(schedule: &Schedule, params: &Params, kernel: &Kernel) -> Vec<Facts> {
    let (form, mut first) = (form_of(params), 0);
    // The number of the input of each block of the inputs.
    let inputs = kernel.input_types();
    let ports = inputs.iter().enumerate().flat_map(|(port, ty)| std::iter::repeat_n(port, form.blocks(*ty)));
    let ports: Vec<usize> = ports.collect();
    let of = |ty: &Type| {
        let blocks = first..first + form.blocks(*ty);
        first = blocks.end;
        let weight = schedule.joint_weight(blocks.clone()).min(params.max_weight() as u64);
        let mut passed =
            schedule.passed(blocks.clone()).into_iter().flatten().map(|value| ports.get(value as usize).copied());
        let passes = passed.next().flatten().filter(|first| passed.all(|port| port == Some(*first)));
        Facts { weight, is_own: schedule.are_own(blocks.clone()), is_apart: schedule.are_apart(blocks), passes }
    };
    kernel.result_types().iter().map(of).collect()
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
