//! The engine: plans by bounds of noise, tables by the memory there is, steps wave by wave.

use super::elements::Elements;
use super::keys::info;
use super::run::{Bits, LARGE};
use super::schedule::{GATE_COSTS, schedule};
use crate::arithmetic::{Concurrency, Run, Schedule};
use crate::engine::{Batch, Engine, Plan, Work};
use crate::planning::{self, Plans, Source};
use crate::{Ciphertext, Control, Error, Estimate, Form, KeyId, ParamsInfo, Program, Scheme};
use solinas_circuits::build::{Recipe, Style};
use solinas_circuits::{Limits, Netlist};
use solinas_schemes::Error as SchemeError;
use solinas_schemes::gh::{self, Arithmetic, Evaluator, Params, RecryptMethod, ServerKey, noise};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Instant;

/// Recryptions from which on the products of all pairs of indicators are worth their making: about what they save pays for `s S` products.
const MANY_RECRYPTS: u64 = 64;

/// Measured seconds.
#[derive(Debug, Clone, Copy)]
struct Speed {
    product: f64,
    recrypt: f64,
}

/// Evaluation under a key of Gentry and Halevi's scheme.
pub(crate) struct GhEngine {
    key: Arc<ServerKey>,
    memory: u64,
    tables: Mutex<Tables>,
    recrypts: AtomicU64,
    speed: OnceLock<Speed>,
    plans: Plans<Key, Schedule>,
}

/// What a plan depends on: its source, and the noise of the inputs.
type Key = (Source, Vec<f64>);

/// The tables there are.
#[derive(Default)]
struct Tables {
    /// Of the method that the recryptions so far have been worth.
    evaluator: Option<Arc<Evaluator<'static>>>,
    /// The least ones, for runs that come while others are made.
    least: Weak<Evaluator<'static>>,
    /// Whether tables are being made.
    making: bool,
}

/// Tables are being made, until it is dropped.
struct Making<'a>(&'a GhEngine);

impl Drop for Making<'_> {
    fn drop(&mut self) {
        self.0.tables().making = false;
    }
}

impl std::fmt::Debug for GhEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GhEngine").field("key", &self.key).field("memory", &self.memory).finish_non_exhaustive()
    }
}

impl GhEngine {
    /// With tables of up to `memory` bytes; they are made when they are first needed.
    pub(crate) fn new(key: Arc<ServerKey>, memory: Option<u64>) -> Result<Self, Error> {
        let memory = memory.map_or_else(crate::memory::budget, Ok)?;
        RecryptMethod::fitting(key.params(), memory)?;
        let (tables, recrypts, speed, plans) = Default::default();
        Ok(Self { key, memory, tables, recrypts, speed, plans })
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self) -> &Params {
        self.key.params()
    }

    /// The method for as many recryptions more.
    fn method(&self, recrypts: u64) -> Result<RecryptMethod, Error> {
        let total = self.recrypts.load(Ordering::Relaxed).saturating_add(recrypts);
        let worth = |method: &RecryptMethod| match method {
            RecryptMethod::PairTable => total >= MANY_RECRYPTS,
            RecryptMethod::FullFft => total > 0,
            RecryptMethod::PartialFft => true,
        };
        let fits = |method: &RecryptMethod| method.memory(self.set()) <= self.memory;
        match RecryptMethod::ALL.into_iter().find(|method| worth(method) && fits(method)) {
            Some(method) => Ok(method),
            None => Ok(RecryptMethod::fitting(self.set(), self.memory)?),
        }
    }

    /// The tables for as many recryptions more, on the current thread pool.
    ///
    /// No lock is held while they are made: a thread of the pool that waits for their parts may take up another run meanwhile, and wait for
    /// itself. Who comes while others make tables does with the least: results are the same. Tables that are in use are not replaced, as
    /// they would take memory beside the new ones.
    fn evaluator(&self, recrypts: u64) -> Result<Arc<Evaluator<'static>>, Error> {
        let method = self.method(recrypts)?;
        let rank = |method| RecryptMethod::ALL.iter().position(|&other| other == method);
        let mut tables = self.tables();
        match &tables.evaluator {
            Some(present) if rank(present.method()) <= rank(method) || Arc::strong_count(present) > 1 => {
                return Ok(Arc::clone(present));
            }
            None if tables.making => {
                drop(tables);
                return self.least();
            }
            _ => {}
        }
        // The old tables go before the new ones come.
        tables.evaluator = None;
        tables.making = true;
        drop(tables);
        let making = Making(self);
        let made = Arc::new(self.make(method)?);
        self.tables().evaluator = Some(Arc::clone(&made));
        drop(making);
        Ok(made)
    }

    fn make(&self, method: RecryptMethod) -> Result<Evaluator<'static>, Error> {
        Ok(Evaluator::shared(Arc::clone(&self.key), method, self.memory, Arithmetic::default())?)
    }

    /// The least tables, which all runs share that need them at a time.
    fn least(&self) -> Result<Arc<Evaluator<'static>>, Error> {
        if let Some(least) = self.tables().least.upgrade() {
            return Ok(least);
        }
        let made = Arc::new(self.make(RecryptMethod::PartialFft)?);
        let mut tables = self.tables();
        Ok(tables.least.upgrade().unwrap_or_else(|| {
            tables.least = Arc::downgrade(&made);
            made
        }))
    }

    /// Measured once: the second of two runs, or the only one where it takes long. With the tables of few recryptions: many are done with larger ones, which
    /// are quicker, once they are made; neither is counted. It can be stopped between a table and an operation.
    fn speed(&self, control: &Control<'_>) -> Result<Speed, Error> {
        if let Some(speed) = self.speed.get() {
            return Ok(*speed);
        }
        control.check()?;
        let evaluator = self.evaluator(1)?;
        // Its noise is that of a fresh ciphertext, though its words are the modulus' own: time does not depend on them.
        let public = self.key.public();
        let x = gh::Ciphertext::from_parts(public, public.r().words().to_vec(), noise::fresh(self.set()));
        let x = x.unwrap_or_else(|_| gh::Ciphertext::trivial(public, true));
        let time = |work: &dyn Fn() -> Result<gh::Ciphertext, SchemeError>| -> Result<f64, Error> {
            let mut seconds = 0.0;
            for _ in 0..2 {
                control.check()?;
                let start = Instant::now();
                work()?;
                seconds = start.elapsed().as_secs_f64();
                if seconds > 0.5 {
                    break;
                }
            }
            Ok(seconds)
        };
        let product = time(&|| evaluator.multiply(&x, &x))?;
        let recrypt = time(&|| evaluator.recrypt(&x))?;
        Ok(*self.speed.get_or_init(|| Speed { product, recrypt }))
    }

    fn planned(
        &self,
        source: Source,
        inputs: Option<&[Ciphertext]>,
        make: impl FnOnce(&[f64]) -> Result<Schedule, Error>,
    ) -> Result<Box<dyn Plan + '_>, Error> {
        let key = (source, noises(inputs)?);
        let schedule = self.plans.get(key, |schedule| schedule.steps.len(), |(_, noises)| make(noises));
        Ok(Box::new(Planned { engine: self, schedule: schedule.map_err(|error| place(error, inputs))? }))
    }
}

impl Engine for GhEngine {
    fn key_id(&self) -> KeyId {
        self.key.id()
    }

    fn params(&self) -> ParamsInfo {
        info(self.set())
    }

    fn memory_bytes(&self) -> usize {
        let tables = self.tables();
        let all = tables.evaluator.iter().cloned().chain(tables.least.upgrade());
        let bytes: u64 = all.map(|evaluator| evaluator.method().memory(self.set())).sum();
        8 * self.set().server_key_words() + bytes as usize
    }

    fn form(&self) -> Form {
        Form::Bits
    }

    fn plan(&self, program: &Program, work: &Work<'_>, control: &Control<'_>) -> Result<Box<dyn Plan + '_>, Error> {
        let limits = planning::limits(control)?;
        let source = Source::Program(program.clone());
        self.planned(source, work.inputs, |noises| plan(program, self.set(), noises, &limits))
    }

    fn plan_circuit(
        &self,
        netlist: &Netlist,
        optimize: bool,
        work: &Work<'_>,
        control: &Control<'_>,
    ) -> Result<Box<dyn Plan + '_>, Error> {
        let limits = planning::limits(control)?;
        self.planned(Source::Circuit(netlist.clone(), optimize), work.inputs, |noises| {
            let optimized = optimize.then(|| netlist.optimize_within(&GATE_COSTS, &limits)).transpose()?;
            schedule(optimized.as_ref().unwrap_or(netlist), self.set(), noises, &limits)
        })
    }

    fn convert(&self, _: &Ciphertext, form: Form, _: &Control<'_>) -> Result<Ciphertext, Error> {
        Err(Error::SchemeForm { scheme: Scheme::Gh, params: self.set().name().into(), holds: Form::Bits, form })
    }
}

/// The plan of a program, of the constructions that take the fewest recryptions, then products.
fn plan(program: &Program, params: &Params, inputs: &[f64], limits: &Limits<'_>) -> Result<Schedule, Error> {
    program.validate()?;
    let candidates = [Style::FewestBootstraps, Style::LowestDepth].map(|style| {
        let netlist = program.lower_within(Recipe::from(style), limits)?;
        schedule(&netlist.optimize_within(&GATE_COSTS, limits)?, params, inputs, limits)
    });
    match candidates {
        [Ok(a), Ok(b)] => {
            let cost = |s: &Schedule| (s.bootstraps, s.products, s.depth);
            Ok(if cost(&b) < cost(&a) { b } else { a })
        }
        [Ok(only), Err(_)] | [Err(_), Ok(only)] => Ok(only),
        [Err(error), Err(_)] => Err(error),
    }
}

/// For each input bit the worst noise of any lane; none for an estimate.
fn noises(inputs: Option<&[Ciphertext]>) -> Result<Vec<f64>, Error> {
    let mut noises = Vec::new();
    for input in inputs.into_iter().flatten() {
        let elements = &Elements::of(input)?.blocks;
        let worst = |i: usize| elements.iter().map(|bits| bits[i].noise()).fold(0.0, f64::max);
        noises.extend((0..input.ty().width()).map(worst));
    }
    Ok(noises)
}

/// The error with the input and its bit, where it has the number of a bit among those of all inputs.
fn place(error: Error, inputs: Option<&[Ciphertext]>) -> Error {
    let Error::Exhausted { mut bit, margin, need, .. } = error else { return error };
    let mut input = 1;
    for width in inputs.into_iter().flatten().map(|input| input.ty().width()) {
        if bit < width {
            break;
        }
        bit -= width;
        input += 1;
    }
    Error::Exhausted { input, bit, margin, need }
}

/// Recryptions, products and depth of a program under a parameter set, without a key.
pub(crate) fn cost(program: &Program, params: &Params, control: &Control<'_>) -> Result<Estimate, Error> {
    let schedule = plan(program, params, &[], &planning::limits(control)?)?;
    Ok(count(&schedule, 1, params, RecryptMethod::PairTable))
}

/// As [`cost`], of a circuit.
pub(crate) fn cost_circuit(netlist: &Netlist, params: &Params, control: &Control<'_>) -> Result<Estimate, Error> {
    let limits = planning::limits(control)?;
    let schedule = schedule(&netlist.optimize_within(&GATE_COSTS, &limits)?, params, &[], &limits)?;
    Ok(count(&schedule, 1, params, RecryptMethod::PairTable))
}

fn count(schedule: &Schedule, lanes: usize, params: &Params, method: RecryptMethod) -> Estimate {
    Estimate {
        recrypts: schedule.bootstraps * lanes as u64,
        products: schedule.products * lanes as u64,
        depth: schedule.depth,
        memory_bytes: 8 * params.server_key_words() as u64 + method.memory(params),
        scheme: Scheme::Gh,
        ..Default::default()
    }
}

/// A schedule of this engine.
struct Planned<'a> {
    engine: &'a GhEngine,
    schedule: Arc<Schedule>,
}

impl Plan for Planned<'_> {
    fn count(&self, lanes: usize) -> Result<Estimate, Error> {
        let method = self.engine.method(self.schedule.bootstraps * lanes as u64)?;
        Ok(count(&self.schedule, lanes, self.engine.set(), method))
    }

    fn estimate(&self, work: &Work<'_>, pool: &rayon::ThreadPool, control: &Control<'_>) -> Result<Estimate, Error> {
        let &Work { lanes, threads, .. } = work;
        let speed = pool.install(|| self.engine.speed(control))?;
        let count = self.count(lanes)?;
        // Products are side by side; so are recryptions, but for those that use every thread each.
        let measured = pool.current_num_threads() as f64;
        let side_by_side = speed.product * count.products as f64;
        let recrypts = speed.recrypt * count.recrypts as f64;
        let seconds = match self.engine.key.public().words() >= LARGE {
            true => recrypts * measured + side_by_side,
            false => recrypts + side_by_side,
        };
        Ok(Estimate { seconds: seconds / threads as f64, bootstrap_seconds: speed.recrypt, threads, ..count })
    }

    fn run(&self, batch: &Batch<'_>, control: &Control<'_>) -> Result<Vec<Ciphertext>, Error> {
        let engine = self.engine;
        control.check()?;
        let recrypts = self.schedule.bootstraps * batch.lanes as u64;
        let evaluator = engine.evaluator(recrypts)?;
        let public = engine.key.public();
        let bits = batch.blocks(|input| Ok(&Elements::of(input)?.blocks))?;
        // As many instances as give every thread some work.
        let large = public.words() >= LARGE;
        let instances = if large { 1 } else { 4 * rayon::current_num_threads() };
        let run = Run {
            schedule: &self.schedule,
            evaluator: &Bits { evaluator: &evaluator, public },
            concurrency: Concurrency { instances, multiply_batch: None, bootstrap_alone: large },
            levels: &[],
            elements: batch.lanes,
        };
        let results = run.run(&bits, control)?;
        engine.recrypts.fetch_add(recrypts, Ordering::Relaxed);
        let (key_id, insecure) = (engine.key_id(), public.is_insecure());
        let outputs = batch.outputs(Form::Bits, results).map(|(ty, shape, blocks)| {
            let elements = Arc::new(Elements { params: engine.set().clone(), blocks });
            Ciphertext { ty, shape, form: Form::Bits, key_id, insecure, elements }.checked()
        });
        outputs.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use solinas_schemes::Entropy;

    #[test]
    fn tables_in_use_are_kept_and_others_replaced_by_larger_ones() {
        let params = Params::named("ci-15").unwrap();
        let client = gh::ClientKey::generate(&params, true, Entropy::Insecure(1), &Control::default()).unwrap();
        let key = client.server_key(&Control::default()).unwrap();
        let engine = GhEngine::new(Arc::new(key), Some(1 << 30)).unwrap();
        let bytes = |method: RecryptMethod| 8 * params.server_key_words() + method.memory(&params) as usize;
        let full = engine.evaluator(1).unwrap();
        assert_eq!(full.method(), RecryptMethod::FullFft);
        assert!(Arc::ptr_eq(&full, &engine.evaluator(MANY_RECRYPTS).unwrap()), "no second table beside the one in use");
        assert_eq!(engine.memory_bytes(), bytes(RecryptMethod::FullFft));
        drop(full);
        assert_eq!(engine.evaluator(MANY_RECRYPTS).unwrap().method(), RecryptMethod::PairTable);
        assert_eq!(engine.memory_bytes(), bytes(RecryptMethod::PairTable));

        // While tables are made, all share the least ones; then there are no more of them.
        *engine.tables() = Tables { making: true, ..Tables::default() };
        let making = Making(&engine);
        let least = engine.evaluator(1).unwrap();
        assert_eq!(least.method(), RecryptMethod::PartialFft);
        assert!(Arc::ptr_eq(&least, &engine.evaluator(1).unwrap()));
        assert_eq!(engine.memory_bytes(), bytes(RecryptMethod::PartialFft));
        drop((least, making));
        assert_eq!(engine.memory_bytes(), 8 * params.server_key_words());
        assert_eq!(engine.evaluator(1).unwrap().method(), RecryptMethod::FullFft);
    }
}
