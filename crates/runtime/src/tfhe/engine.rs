//! The engine: schedules of bootstraps. The family of the parameters determines whether they evaluate gates or lookup
//! tables.

use super::SCHEME;
use super::blocks::Blocks;
use super::elements::{Elements, form_of};
use super::keys::info;
use super::schedule::Schedule;
use super::values::Target;
use super::{gates, tables};
use crate::engine::{Batch, Engine, Plan, PlanRequest};
use crate::planning::{self, Plans, Source};
use crate::{Ciphertext, Control, Error, Estimate, Form, KeyId, ParamsInfo, Program};
use solinas_circuits::build::{Recipe, Style};
use solinas_circuits::{GateCosts, Limits, Netlist, radix};
use solinas_gpu::Device;
use solinas_gpu::tfhe::{Engines, Sum, Task};
use solinas_schemes::tfhe::params::Family;
use solinas_schemes::tfhe::{Evaluator, LookupTable, LweCiphertext, Params, ServerKey};
use std::collections::HashMap;
use std::ops::Add;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Measured seconds of one bootstrap: alone, and in a batch on one thread or multiprocessor. On devices, also those of the
/// copies of one value there and back.
#[derive(Debug, Clone, Copy)]
struct Speed {
    alone: f64,
    batched: f64,
    copies: f64,
}

/// Evaluation under a TFHE key.
#[derive(Debug)]
pub(crate) struct TfheEngine {
    evaluator: Arc<Evaluator>,
    /// The key on devices, which then compute the bootstraps.
    devices: Option<Engines>,
    speed: OnceLock<Speed>,
    plans: Plans<Key, Schedule>,
}

/// The key of a plan: its source, the noise weight of the inputs, and whether it has the lowest depth.
type Key = (Arc<Source>, u64, bool);

impl TfheEngine {
    /// Prepares a key on the current thread pool: for devices, or without devices for the pool itself.
    pub(crate) fn new(key: &ServerKey, devices: &[Device]) -> Result<Self, Error> {
        let evaluator = Evaluator::new(key)?;
        let devices = (!devices.is_empty()).then(|| Engines::new(devices, &evaluator)).transpose()?;
        Ok(Self { devices, ..Self::host(Arc::new(evaluator)) })
    }

    /// The engine of the current thread pool.
    fn host(evaluator: Arc<Evaluator>) -> Self {
        Self { evaluator, devices: None, speed: OnceLock::new(), plans: Plans::default() }
    }

    fn target(&self) -> Target<'_> {
        self.devices.as_ref().map_or(Target::Host(&self.evaluator), Target::Devices)
    }

    fn set(&self) -> &Params {
        self.evaluator.params()
    }

    /// The schedule of a program that is expected to end first on the threads of the request.
    fn fastest(
        &self,
        program: &Program,
        request: &PlanRequest<'_>,
        weight: u64,
        control: &Control<'_>,
    ) -> Result<Arc<Schedule>, Error> {
        let limits = planning::limits(control)?;
        let plan = |shallow: bool| {
            let key = (Arc::clone(request.source), weight, shallow);
            self.schedule(key, |_| plan(program, self.set(), weight, shallow, &limits))
        };
        let fewest = plan(false)?;
        let PlanRequest { instances, threads, .. } = *request;
        if instances == 0 || instances >= threads {
            // The plan of the fewest bootstraps has work for every thread.
            return Ok(fewest);
        }
        let shallow = match plan(true) {
            // A plan with more bootstraps that is too large leaves the first plan.
            Err(Error::Planning { .. }) => return Ok(fewest),
            shallow => shallow?,
        };
        // By fixed relative times, not measured ones: the same program on as many threads gives the same ciphertexts each time.
        let speed = Speed { alone: 1.0, batched: 0.75, copies: 0.0 };
        let faster = seconds(&shallow, instances, threads, speed) < seconds(&fewest, instances, threads, speed);
        Ok(if faster { shallow } else { fewest })
    }

    /// The schedule that converts an input to another form.
    fn conversion(&self, form: Form, inputs: Option<&[Ciphertext]>) -> Result<Schedule, Error> {
        if self.set().family() == Family::Gates && form == Form::Radix {
            return Err(Error::Form { params: self.set().name().into(), form: "radix" });
        }
        let Some([input]) = inputs else {
            return Err(Error::Internal("a conversion takes one ciphertext".into()));
        };
        let (width, weight) = (input.ty().width() as u8, Elements::of(input)?.weight);
        let graph = match form {
            Form::Bits => tables::radix_to_bits(width, weight)?,
            // Two bits may come from one rotation: twice the variance they would add up to otherwise.
            Form::Radix => tables::bits_to_radix(width, weight.saturating_mul(2))?,
            Form::Slots => return Err(no_slots(self.set())),
        };
        Ok(tables::schedule(&graph))
    }

    fn schedule(&self, key: Key, make: impl FnOnce(&Key) -> Result<Schedule, Error>) -> Result<Arc<Schedule>, Error> {
        self.plans.get(key, Schedule::bootstraps, make)
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
        // Words other than 0, so that the rotation skips no step.
        let words = (0..=self.set().big_dimension() as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
        let value = LweCiphertext::from_words(words);
        let time = |count: usize| {
            let task =
                |slot| Task { argument: Sum { terms: vec![(0, 1)], constant: 0 }, table: 0, outputs: vec![slot] };
            let tasks: Vec<Task> = (1..=count as u32).map(task).collect();
            let mut values = self.target().values(count + 1, count, &tables)?;
            values.write(0, &value)?;
            let start = Instant::now();
            values.bootstrap(&tasks)?;
            Ok::<f64, Error>(start.elapsed().as_secs_f64())
        };
        if let Some(devices) = &self.devices {
            time(1)?;
            let copies = self.seconds_of_copies(&value)?;
            return Ok(Speed { alone: time(1)?, batched: time(2 * devices.parallel())? / 2.0, copies });
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
        for slot in 0..VALUES {
            values.write(slot, value)?;
        }
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

    fn form(&self) -> Form {
        form_of(self.set())
    }

    fn on_host(&self) -> Option<Arc<dyn Engine>> {
        Some(Arc::new(Self::host(Arc::clone(&self.evaluator))))
    }

    fn compact(&self, ciphertext: &Ciphertext) -> Result<Ciphertext, Error> {
        let elements = Elements::of(ciphertext)?;
        if elements.blocks.is_compact() {
            return Ok(ciphertext.clone());
        }
        let full = elements.blocks.full()?;
        let mut blocks = self.evaluator.compact(&full.concat())?.into_iter();
        let compact = full.iter().map(|element| blocks.by_ref().take(element.len()).collect()).collect();
        let elements = Elements { blocks: Blocks::Compact(compact), ..elements.clone() };
        Ok(Ciphertext { elements: Arc::new(elements), ..ciphertext.clone() })
    }

    fn plan(self: Arc<Self>, request: &PlanRequest<'_>, control: &Control<'_>) -> Result<Box<dyn Plan>, Error> {
        let weight = || request.inputs.map_or(Ok(1), weight);
        let (form, schedule) = match &**request.source {
            Source::Program(program) => (self.form(), self.fastest(program, request, weight()?, control)?),
            Source::Circuit(netlist, optimize) => {
                let weight = weight()?;
                let limits = planning::limits(control)?;
                let key = (Arc::clone(request.source), weight, false);
                let schedule = self.schedule(key, |_| circuit(netlist, *optimize, self.set(), weight, &limits))?;
                (self.form(), schedule)
            }
            Source::Convert(form) => (*form, Arc::new(self.conversion(*form, request.inputs)?)),
        };
        Ok(Box::new(Planned { engine: self, schedule, form }))
    }
}

fn no_slots(params: &Params) -> Error {
    Error::SchemeForm { scheme: SCHEME, params: params.name().into(), holds: form_of(params), form: Form::Slots }
}

/// A schedule of this engine, with results of that form.
struct Planned {
    engine: Arc<TfheEngine>,
    schedule: Arc<Schedule>,
    form: Form,
}

impl Plan for Planned {
    fn count(&self, instances: usize) -> Result<Estimate, Error> {
        Ok(count(&self.schedule, instances, self.engine.set()))
    }

    fn estimate(
        &self,
        instances: usize,
        threads: usize,
        _: &rayon::ThreadPool,
        control: &Control<'_>,
    ) -> Result<Estimate, Error> {
        let speed = self.engine.speed(control)?;
        // Devices share a wave among their multiprocessors.
        let workers = self.engine.devices.as_ref().map_or(threads, Engines::parallel);
        let copies = (self.schedule.values_of_host() * instances) as f64 * speed.copies;
        Ok(Estimate {
            seconds: seconds(&self.schedule, instances, workers, speed) + copies,
            bootstrap_seconds: speed.alone,
            threads,
            ..self.count(instances)?
        })
    }

    fn run(&self, batch: &Batch<'_>, control: &Control<'_>) -> Result<Vec<Ciphertext>, Error> {
        let evaluator = &self.engine.evaluator;
        let target = self.engine.target();
        let full = batch.inputs.iter().map(|input| Elements::of(input)?.blocks.full());
        let full = full.collect::<Result<Vec<_>, Error>>()?;
        let blocks = batch.blocks_of(&full.iter().map(|input| &**input).collect::<Vec<_>>());
        let results = self.schedule.run(target, &blocks, control)?;
        let (key_id, insecure, form) = (self.engine.key_id(), evaluator.is_insecure(), self.form);
        let outputs = batch.outputs(form, results).map(|(ty, shape, blocks)| {
            let (params, weight) = (evaluator.params().clone(), self.schedule.output_weight());
            let elements = Arc::new(Elements { params, weight, blocks: Blocks::Full(blocks) });
            Ciphertext { ty, shape, form, key_id, insecure, elements }.checked()
        });
        outputs.collect()
    }
}

/// Counts bootstraps and depth of a program under a parameter set, without a key.
pub(crate) fn cost(program: &Program, params: &Params, control: &Control<'_>) -> Result<Estimate, Error> {
    Ok(count(&plan(program, params, 1, false, &planning::limits(control)?)?, 1, params))
}

/// Counts as [`cost`] does, for a circuit.
pub(crate) fn cost_circuit(netlist: &Netlist, params: &Params, control: &Control<'_>) -> Result<Estimate, Error> {
    Ok(count(&circuit(netlist, true, params, 1, &planning::limits(control)?)?, 1, params))
}

/// Plans a circuit whose inputs have this noise weight.
fn circuit(
    netlist: &Netlist,
    optimize: bool,
    params: &Params,
    weight: u64,
    limits: &Limits<'_>,
) -> Result<Schedule, Error> {
    let optimized = optimize.then(|| netlist.optimize_within(&gate_costs(params), limits)).transpose()?;
    let netlist = optimized.as_ref().unwrap_or(netlist);
    Ok(match params.family() {
        Family::Gates => gates::schedule(netlist, weight),
        Family::Integers => tables::schedule(&tables::lower_netlist(netlist, weight, limits)?),
    })
}

fn count(schedule: &Schedule, lanes: usize, params: &Params) -> Estimate {
    Estimate {
        bootstraps: schedule.bootstraps() as u64 * lanes as u64,
        depth: schedule.waves().len() as u64,
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

fn plan(
    program: &Program,
    params: &Params,
    weight: u64,
    shallow: bool,
    limits: &Limits<'_>,
) -> Result<Schedule, Error> {
    program.validate()?;
    match params.family() {
        Family::Gates => {
            let style = if shallow { Style::LowestDepth } else { Style::FewestBootstraps };
            let netlist = program.lower_within(Recipe::from(style), limits)?;
            Ok(gates::schedule(&netlist.optimize_within(&gate_costs(params), limits)?, weight))
        }
        Family::Integers => {
            let style = if shallow { radix::Style::LowestDepth } else { radix::Style::FewestRotations };
            Ok(tables::schedule(&radix::lower_within(program, style, tables::budget(weight), limits)?.graph))
        }
    }
}

/// Predicts the time of a schedule. Waves run one after the other; the threads share each wave evenly.
fn seconds(schedule: &Schedule, lanes: usize, threads: usize, speed: Speed) -> f64 {
    let wave = |jobs: usize| match (jobs as u64 * lanes as u64).div_ceil(threads as u64) {
        0 => 0.0,
        1 => speed.alone,
        share => share as f64 * speed.batched,
    };
    // The sum of no numbers is -0.0.
    schedule.waves().into_iter().map(wave).fold(0.0, Add::add)
}

/// Returns the noise weight with which to plan the inputs: their largest weight times the largest number of equal
/// blocks among them. Equal blocks carry equal noise. A sum of `m` of them with any coefficients has at most `m` times
/// the variance of independent blocks.
fn weight(inputs: &[Ciphertext]) -> Result<u64, Error> {
    let all = inputs.iter().map(|input| Ok((input.shape().is_some(), Elements::of(input)?)));
    let all = all.collect::<Result<Vec<_>, Error>>()?;
    let elements = inputs.iter().map(Ciphertext::len).max().unwrap_or(0);
    let repeated = |element: usize| {
        let mut counts: HashMap<[u32; 8], u64> = HashMap::new();
        let of_element = |array: bool| if array { element } else { 0 };
        for words in all.iter().flat_map(|(array, input)| input.blocks.mask_starts(of_element(*array))) {
            // A block without a mask has no noise.
            if words != [0; 8] {
                *counts.entry(words).or_default() += 1;
            }
        }
        counts.into_values().max().unwrap_or(1)
    };
    let most = (0..elements).map(repeated).max().unwrap_or(1);
    Ok(all.iter().map(|(_, input)| input.weight).max().unwrap_or(1).saturating_mul(most))
}
