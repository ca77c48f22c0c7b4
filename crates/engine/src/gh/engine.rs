//! The engine: plans by bounds of noise, chooses tables by the available memory, and runs wave by wave.

use super::backend::{Backend, Cpu};
use super::run::{Bits, LARGE};
use super::schedule::{GATE_COSTS, schedule};
use crate::arithmetic::{Concurrency, Run, Schedule, most_live};
use crate::engine::{Batch, Element, Engine, PlanRequest, PlannedWork};
use crate::need::Need;
use crate::planning::{self, KernelSource, Plans};
use crate::{Ciphertext, Control, Error, Estimate, Form, KeyId, ParamsInfo, Program};
use solinas_circuits::Limits;
use solinas_circuits::build::{Recipe, Style};
use solinas_circuits::steps::Kernel;
use solinas_schemes::Error as SchemeError;
use solinas_schemes::gh::{self, Evaluator, Params, RecryptMethod, ServerKey, noise};
use solinas_values::gh::{Elements, SCHEME, info};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Instant;

/// Number of recryptions from which on the table of pair products saves more time than it takes to compute (about `s S`
/// products).
const MANY_RECRYPTS: u64 = 64;

/// Measured seconds of one operation.
#[derive(Debug, Clone, Copy)]
struct Speed {
    product: f64,
    recrypt: f64,
}

/// Evaluation under a Gentry-Halevi key.
pub(crate) struct GhEngine {
    key: Arc<ServerKey>,
    backend: Box<dyn Backend>,
    /// The processor, for runs that begin while the tables of the back end are being built.
    cpu: Cpu,
    tables: Mutex<Tables>,
    recrypts: AtomicU64,
    speed: OnceLock<Speed>,
    plans: Plans<Key, Schedule>,
}

/// The key of a plan: its source and the noise of the inputs.
type Key = (Arc<KernelSource>, Vec<f64>);

/// The current tables.
#[derive(Default)]
struct Tables {
    /// Tables of the method that fits the number of recryptions so far.
    evaluator: Option<Arc<Evaluator<'static>>>,
    /// The smallest tables, for runs that begin while other tables are being built.
    least: Weak<Evaluator<'static>>,
    /// Whether a thread is building tables.
    making: bool,
}

/// Marks that tables are being built, until it is dropped.
struct Making<'a>(&'a GhEngine);

impl Drop for Making<'_> {
    fn drop(&mut self) {
        self.0.tables().making = false;
    }
}

impl std::fmt::Debug for GhEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GhEngine").field("key", &self.key).field("backend", &self.backend).finish_non_exhaustive()
    }
}

impl GhEngine {
    /// Builds an engine on a back end, or on the processor with tables of up to `memory` bytes. Tables are built when they
    /// are first needed.
    pub(crate) fn new(key: Arc<ServerKey>, memory: u64, backend: Option<Box<dyn Backend>>) -> Result<Self, Error> {
        let backend = backend.unwrap_or_else(|| Box::new(Cpu(memory)));
        let (tables, recrypts, speed, plans) = Default::default();
        let engine = Self { key, backend, cpu: Cpu(memory), tables, recrypts, speed, plans };
        engine.backend.fastest(engine.set())?;
        Ok(engine)
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self) -> &Params {
        self.key.params()
    }

    /// Returns the method that is worth its tables after `recrypts` more recryptions.
    fn method(&self, recrypts: u64) -> Result<RecryptMethod, Error> {
        let total = self.recrypts.load(Ordering::Relaxed).saturating_add(recrypts);
        let runs = |method| self.backend.bytes(self.set(), method).is_some();
        let worth = |method: &RecryptMethod| match method {
            RecryptMethod::PairTable => total >= MANY_RECRYPTS,
            // A back end without the partial FFT has no smaller tables than these.
            RecryptMethod::FullFft => total > 0 || !runs(RecryptMethod::PartialFft),
            RecryptMethod::PartialFft => true,
        };
        let fits = |method: &RecryptMethod| {
            self.backend.bytes(self.set(), *method).is_some_and(|bytes| bytes <= self.backend.memory())
        };
        let found = RecryptMethod::ALL.into_iter().find(|method| worth(method) && fits(method));
        found.map_or_else(|| self.backend.fastest(self.set()), Ok)
    }

    /// Returns tables that suit `recrypts` more recryptions. Builds them on the current thread pool if necessary.
    ///
    /// A caller that arrives while the tables are being built uses the method that needs the least memory. Results are
    /// identical. No lock is held during the build, because a pool thread that waits for a part of it may begin another
    /// run. That run would wait for its own thread. Tables in use are not replaced, because they would take memory
    /// beside the new ones.
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
        // Drops the old tables before building new ones.
        tables.evaluator = None;
        tables.making = true;
        drop(tables);
        let making = Making(self);
        let made = Arc::new(self.backend.evaluator(&self.key, method)?);
        self.tables().evaluator = Some(Arc::clone(&made));
        drop(making);
        Ok(made)
    }

    /// Returns the smallest tables, on the processor. All runs that need them share one copy.
    fn least(&self) -> Result<Arc<Evaluator<'static>>, Error> {
        if let Some(least) = self.tables().least.upgrade() {
            return Ok(least);
        }
        let made = Arc::new(self.cpu.evaluator(&self.key, RecryptMethod::PartialFft)?);
        let mut tables = self.tables();
        Ok(tables.least.upgrade().unwrap_or_else(|| {
            tables.least = Arc::downgrade(&made);
            made
        }))
    }

    /// Measures the time of an operation once: the second of two runs, or the first one if it takes long. Uses the
    /// tables for few recryptions. Many recryptions use larger tables, which are faster; the difference and the time to
    /// build tables are not counted. The caller can cancel between operations.
    fn speed(&self, control: &Control<'_>) -> Result<Speed, Error> {
        if let Some(speed) = self.speed.get() {
            return Ok(*speed);
        }
        control.check()?;
        let evaluator = self.evaluator(1)?;
        // Its noise is that of a fresh ciphertext. Its words come from the key, because the time does not depend on
        // them.
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
        self: &Arc<Self>,
        request: &PlanRequest<'_>,
        make: impl FnOnce(&[f64]) -> Result<Schedule, Error>,
    ) -> Result<Box<dyn PlannedWork>, Error> {
        let key = (Arc::clone(request.source), noises(request.inputs)?);
        let schedule = self.plans.get(key, |schedule| schedule.steps.len(), |(_, noises)| make(noises));
        let schedule = schedule.map_err(|error| place(error, request.inputs))?;
        Ok(Box::new(Planned { engine: Arc::clone(self), schedule }))
    }
}

impl Engine for GhEngine {
    fn key_id(&self) -> KeyId {
        self.key.id()
    }

    fn params(&self) -> ParamsInfo {
        info(self.set())
    }

    fn is_insecure(&self) -> bool {
        self.key.public().is_insecure()
    }

    fn empty(&self) -> Element {
        Arc::new(Elements { params: self.set().clone(), blocks: Vec::new() })
    }

    fn simulated_cycles(&self) -> Option<u64> {
        self.backend.cycles()
    }

    fn memory_bytes(&self) -> usize {
        let tables = self.tables();
        let tables_of = tables
            .evaluator
            .iter()
            .filter_map(|evaluator| self.backend.bytes(self.set(), evaluator.method()))
            .sum::<u64>();
        let least = tables.least.upgrade().map_or(0, |evaluator| evaluator.method().memory(self.set()));
        8 * self.set().server_key_words() + (tables_of + least) as usize
    }

    fn plan_bytes(&self) -> usize {
        self.plans.nodes() * PLAN_STEP
    }

    fn form(&self) -> Form {
        Form::Bits
    }

    fn plan(self: Arc<Self>, request: &PlanRequest<'_>, control: &Control<'_>) -> Result<Box<dyn PlannedWork>, Error> {
        let limits = planning::limits(control)?;
        match &**request.source {
            KernelSource::Program(program) => {
                self.planned(request, |noises| plan(program, self.set(), noises, &limits))
            }
            KernelSource::Circuit(netlist, optimize) => self.planned(request, |noises| {
                let optimized = optimize.then(|| netlist.optimize_within(&GATE_COSTS, &limits)).transpose()?;
                schedule(optimized.as_ref().unwrap_or(netlist), self.set(), noises, &limits)
            }),
            &KernelSource::Convert(form) => {
                let params = self.set().name().into();
                Err(Error::SchemeForm { scheme: SCHEME, params, holds: Form::Bits, form })
            }
        }
    }
}

/// Plans a program by the construction with the fewest recryptions, then the fewest products.
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

/// Returns the largest noise of each input bit over all instances. Returns no noises for an estimate.
fn noises(inputs: Option<&[Ciphertext]>) -> Result<Vec<f64>, Error> {
    let mut noises = Vec::new();
    for input in inputs.into_iter().flatten() {
        let elements = &Elements::of(input)?.blocks;
        let worst = |i: usize| elements.iter().map(|bits| bits[i].noise()).fold(0.0, f64::max);
        noises.extend((0..input.ty().width()).map(worst));
    }
    Ok(noises)
}

/// Converts the bit index of an error, which counts the bits of all inputs, to an input and its bit.
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

/// Counts recryptions, products and depth of a kernel under a parameter set, without a key.
pub(crate) fn cost(kernel: &Kernel, params: &Params, control: &Control<'_>) -> Result<Estimate, Error> {
    let limits = planning::limits(control)?;
    let schedule = match kernel {
        Kernel::Program(program) | Kernel::Packed(program) => plan(program, params, &[], &limits)?,
        Kernel::Circuit { netlist, optimize } => {
            let optimized = optimize.then(|| netlist.optimize_within(&GATE_COSTS, &limits)).transpose()?;
            schedule(optimized.as_ref().unwrap_or(netlist), params, &[], &limits)?
        }
    };
    Ok(count(&schedule, 1, params, RecryptMethod::PairTable))
}

fn count(schedule: &Schedule, lanes: usize, params: &Params, method: RecryptMethod) -> Estimate {
    Estimate {
        recrypts: schedule.bootstraps * lanes as u64,
        products: schedule.products * lanes as u64,
        depth: schedule.depth,
        memory_bytes: 8 * params.server_key_words() as u64 + method.memory(params),
        scheme: SCHEME,
        ..Default::default()
    }
}

/// Approximate bytes of a step in a plan that is kept.
const PLAN_STEP: usize = 100;

/// A schedule and its engine.
struct Planned {
    engine: Arc<GhEngine>,
    schedule: Arc<Schedule>,
}

impl PlannedWork for Planned {
    fn need(&self, instances: usize, _: usize) -> Need {
        let each = 8 * self.engine.key.public().words() as u64 + 64;
        let lane = most_live(&self.schedule, false) as u64 * each + 32 * self.schedule.steps.len() as u64;
        // Results are held three times at the end, while their bytes are made.
        let results = (instances as u64).saturating_mul(self.schedule.outputs.len() as u64).saturating_mul(3 * each);
        Need { fixed: results, lane }
    }

    fn count(&self, instances: usize) -> Result<Estimate, Error> {
        let method = self.engine.method(self.schedule.bootstraps * instances as u64)?;
        Ok(count(&self.schedule, instances, self.engine.set(), method))
    }

    fn estimate(
        &self,
        instances: usize,
        threads: usize,
        pool: &rayon::ThreadPool,
        control: &Control<'_>,
    ) -> Result<Estimate, Error> {
        let speed = pool.install(|| self.engine.speed(control))?;
        let count = self.count(instances)?;
        // Products run in parallel. Recryptions do so too, except large ones, which use every thread each.
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
        let engine = &self.engine;
        control.check()?;
        let recrypts = self.schedule.bootstraps * batch.instances as u64;
        let evaluator = engine.evaluator(recrypts)?;
        let public = engine.key.public();
        let bits = batch.blocks(|input| Ok(&Elements::of(input)?.blocks))?;
        // This number of instances gives every thread some work.
        let large = public.words() >= LARGE;
        let instances = if large { 1 } else { 4 * rayon::current_num_threads() };
        let instances = instances.min(self.need(batch.instances, 1).lanes(batch.room));
        let run = Run {
            schedule: &self.schedule,
            evaluator: &Bits { evaluator: &evaluator, public },
            concurrency: Concurrency { instances, multiply_batch: None, bootstrap_alone: large },
            levels: &[],
            elements: batch.instances,
        };
        let results = run.run(&bits, control)?;
        engine.recrypts.fetch_add(recrypts, Ordering::Relaxed);
        let (key_id, insecure) = (engine.key_id(), public.is_insecure());
        let outputs = batch.outputs(Form::Bits, results).map(|(ty, shape, blocks)| {
            let elements = Arc::new(Elements { params: engine.set().clone(), blocks });
            Ciphertext::new(ty, shape, Form::Bits, key_id, insecure, elements)
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
        let engine = GhEngine::new(Arc::new(key), 1 << 30, None).unwrap();
        let bytes = |method: RecryptMethod| 8 * params.server_key_words() + method.memory(&params) as usize;
        let full = engine.evaluator(1).unwrap();
        assert_eq!(full.method(), RecryptMethod::FullFft);
        assert!(Arc::ptr_eq(&full, &engine.evaluator(MANY_RECRYPTS).unwrap()), "no second table beside the one in use");
        assert_eq!(engine.memory_bytes(), bytes(RecryptMethod::FullFft));
        drop(full);
        assert_eq!(engine.evaluator(MANY_RECRYPTS).unwrap().method(), RecryptMethod::PairTable);
        assert_eq!(engine.memory_bytes(), bytes(RecryptMethod::PairTable));

        // While tables are being built, all callers share the smallest ones, which are then dropped.
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
