//! The engine: schedules of bootstraps. The family of the parameters determines whether they evaluate gates or lookup
//! tables.

use super::elements::{Elements, form_of};
use super::keys::info;
use super::schedule::Schedule;
use super::{gates, tables};
use crate::engine::{Batch, Engine, Plan, Work};
use crate::planning::{self, Plans, Source};
use crate::{Ciphertext, Control, Error, Estimate, Form, KeyId, ParamsInfo, Program, Scheme};
use solinas_circuits::build::{Recipe, Style};
use solinas_circuits::{GateCosts, Limits, Netlist, radix};
use solinas_schemes::tfhe::params::Family;
use solinas_schemes::tfhe::{Evaluator, Job, LweCiphertext, Params, ServerKey, Table};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Measured seconds of one bootstrap: alone, and in a batch on one thread.
#[derive(Debug, Clone, Copy)]
struct Speed {
    alone: f64,
    batched: f64,
}

/// Evaluation under a TFHE key.
#[derive(Debug)]
pub(crate) struct TfheEngine {
    evaluator: Evaluator,
    speed: OnceLock<Speed>,
    plans: Plans<Key, Schedule>,
}

/// The key of a plan: its source, the noise weight of the inputs, and whether it has the lowest depth.
type Key = (Source, u64, bool);

impl TfheEngine {
    /// Prepares a key on the current thread pool.
    pub(crate) fn new(key: &ServerKey) -> Result<Self, Error> {
        Ok(Self { evaluator: Evaluator::new(key)?, speed: OnceLock::new(), plans: Plans::default() })
    }

    fn set(&self) -> &Params {
        self.evaluator.params()
    }

    fn planned(&self, schedule: Arc<Schedule>) -> Box<dyn Plan + '_> {
        Box::new(Planned { engine: self, schedule })
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
        let speed = self.measured_speed();
        Ok(*self.speed.get_or_init(|| speed))
    }

    fn measured_speed(&self) -> Speed {
        let table = match self.set().family() {
            Family::Gates => Table::Sign,
            Family::Integers => Table::Entries(vec![[0; 16]]),
        };
        let dimension = self.set().big_dimension();
        let time = |count: usize| {
            // Words other than 0, so that the rotation skips no step.
            let words = (0..=dimension as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
            let job = Job { input: LweCiphertext::from_words(words), table: &table };
            let jobs = vec![job; count];
            let start = Instant::now();
            // The dimension is right, so there is no error. If there were one, only the time would be wrong.
            let _ = self.evaluator.bootstrap(&jobs);
            start.elapsed().as_secs_f64() / count as f64
        };
        let single = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        match single {
            Ok(pool) => pool.install(|| {
                time(1);
                Speed { alone: time(1), batched: time(8) }
            }),
            Err(_) => Speed { alone: time(1), batched: time(1) },
        }
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

    /// Returns the plan that is expected to end first on this number of threads.
    fn plan(&self, program: &Program, work: &Work<'_>, control: &Control<'_>) -> Result<Box<dyn Plan + '_>, Error> {
        let weight = work.inputs.map_or(Ok(1), weight)?;
        let limits = planning::limits(control)?;
        let plan = |shallow: bool| {
            let key = (Source::Program(program.clone()), weight, shallow);
            self.schedule(key, |_| plan(program, self.set(), weight, shallow, &limits))
        };
        let fewest = plan(false)?;
        let Work { lanes, threads, .. } = *work;
        if lanes == 0 || lanes >= threads {
            // The plan with the fewest bootstraps already occupies every thread.
            return Ok(self.planned(fewest));
        }
        let shallow = match plan(true) {
            // If the shallow plan exceeds the limits, the other plan is still valid.
            Err(Error::Planning { .. }) => return Ok(self.planned(fewest)),
            shallow => shallow?,
        };
        // Fixed relative times, not measured ones: the same program on the same number of threads then always gives the
        // same ciphertexts.
        let speed = Speed { alone: 1.0, batched: 0.75 };
        let faster = seconds(&shallow, lanes, threads, speed) < seconds(&fewest, lanes, threads, speed);
        Ok(self.planned(if faster { shallow } else { fewest }))
    }

    fn plan_circuit(
        &self,
        netlist: &Netlist,
        optimize: bool,
        work: &Work<'_>,
        control: &Control<'_>,
    ) -> Result<Box<dyn Plan + '_>, Error> {
        let weight = work.inputs.map_or(Ok(1), weight)?;
        let limits = planning::limits(control)?;
        let key = (Source::Circuit(netlist.clone(), optimize), weight, false);
        Ok(self.planned(self.schedule(key, |_| circuit(netlist, optimize, self.set(), weight, &limits))?))
    }

    fn convert(&self, ciphertext: &Ciphertext, form: Form, control: &Control<'_>) -> Result<Ciphertext, Error> {
        if self.set().family() == Family::Gates && form == Form::Radix {
            return Err(Error::Form { params: self.set().name().into(), form: "radix" });
        }
        let width = ciphertext.ty().width() as u8;
        let elements = Elements::of(ciphertext)?;
        let graph = match form {
            Form::Bits => tables::radix_to_bits(width, elements.weight)?,
            Form::Radix => {
                // Two bits may come from one rotation. Their sum then has up to twice the variance of independent bits.
                tables::bits_to_radix(width, elements.weight.saturating_mul(2))?
            }
            Form::Slots => return Err(no_slots(self.set())),
        };
        let lanes: Vec<Vec<&LweCiphertext>> = elements.blocks.iter().map(|element| element.iter().collect()).collect();
        let schedule = tables::schedule(&graph);
        let blocks = schedule.run(&self.evaluator, &lanes, control)?;
        let weight = schedule.output_weight();
        let elements = Arc::new(Elements { weight, ..elements.like(blocks) });
        Ciphertext { form, elements, ..ciphertext.clone() }.checked()
    }
}

fn no_slots(params: &Params) -> Error {
    Error::SchemeForm { scheme: Scheme::Tfhe, params: params.name().into(), holds: form_of(params), form: Form::Slots }
}

/// A schedule and its engine.
struct Planned<'a> {
    engine: &'a TfheEngine,
    schedule: Arc<Schedule>,
}

impl Plan for Planned<'_> {
    fn count(&self, lanes: usize) -> Result<Estimate, Error> {
        Ok(count(&self.schedule, lanes, self.engine.set()))
    }

    fn estimate(&self, work: &Work<'_>, _: &rayon::ThreadPool, control: &Control<'_>) -> Result<Estimate, Error> {
        let (&Work { lanes, threads, .. }, speed) = (work, self.engine.speed(control)?);
        Ok(Estimate {
            seconds: seconds(&self.schedule, lanes, threads, speed),
            bootstrap_seconds: speed.alone,
            threads,
            ..self.count(lanes)?
        })
    }

    fn run(&self, batch: &Batch<'_>, control: &Control<'_>) -> Result<Vec<Ciphertext>, Error> {
        let evaluator = &self.engine.evaluator;
        let blocks = batch.blocks(|input| Ok(&Elements::of(input)?.blocks))?;
        let results = self.schedule.run(evaluator, &blocks, control)?;
        let (key_id, insecure, form) = (self.engine.key_id(), evaluator.is_insecure(), self.engine.form());
        let outputs = batch.outputs(form, results).map(|(ty, shape, blocks)| {
            let (params, weight) = (evaluator.params().clone(), self.schedule.output_weight());
            let elements = Arc::new(Elements { params, weight, blocks });
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
        bootstraps: (schedule.bootstraps() * lanes) as u64,
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
    let wave = |jobs: usize| match (jobs * lanes).div_ceil(threads) {
        0 => 0.0,
        1 => speed.alone,
        share => share as f64 * speed.batched,
    };
    schedule.waves().into_iter().map(wave).sum()
}

/// Returns the noise weight with which to plan the inputs: their largest weight times the largest number of equal
/// blocks among them. Equal blocks carry equal noise. A sum of `m` of them with any coefficients has at most `m` times
/// the variance of independent blocks.
fn weight(inputs: &[Ciphertext]) -> Result<u64, Error> {
    let all = inputs.iter().map(|input| Ok((input.shape().is_some(), Elements::of(input)?)));
    let all = all.collect::<Result<Vec<_>, Error>>()?;
    let elements = inputs.iter().map(Ciphertext::len).max().unwrap_or(0);
    let repeated = |element: usize| {
        let mut counts: HashMap<&[u32], u64> = HashMap::new();
        let of_element = |array: bool| if array { element } else { 0 };
        for block in all.iter().filter_map(|(array, input)| input.blocks.get(of_element(*array))).flatten() {
            // Masks are uniform, so two blocks with the same first words are the same ciphertext. A block without a
            // mask has no noise.
            let words = &block.words()[..8.min(block.words().len())];
            if words.iter().any(|&word| word != 0) {
                *counts.entry(words).or_default() += 1;
            }
        }
        counts.into_values().max().unwrap_or(1)
    };
    let most = (0..elements).map(repeated).max().unwrap_or(1);
    Ok(all.iter().map(|(_, input)| input.weight).max().unwrap_or(1).saturating_mul(most))
}
