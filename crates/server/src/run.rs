//! The computation of a job, or of the part of it until the next pause.

use crate::error::{Code, Error, Problem};
use crate::live::JobKey;
use crate::lock::lock;
use crate::shelf::Shelf;
use crate::spec::{Spec, Stage};
use crate::stop::Stop;
use crate::store::Lease;
use crate::task::{self, Task};
use solinas_runtime::{self as runtime, Ciphertext, Control, Plan, Position, Prepared, Progress, RunState};
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// How far a run came.
pub(crate) enum Ran {
    /// The results with their names.
    Done(Vec<(String, Ciphertext)>),
    Paused,
    Refused(Problem),
    /// For want of memory, of disk, or of the database.
    Later(Problem),
    /// Someone cancelled it.
    Cancelled,
}

/// The work of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Work {
    pub(crate) bootstraps: u64,
    /// Core-milliseconds, if the run computed the whole job.
    pub(crate) whole_core_ms: Option<f64>,
}

/// Computes a job, or a part of it.
pub(crate) fn compute(shelf: &dyn Shelf, lease: &Lease, stop: &Stop) -> (Ran, Option<Work>) {
    let loaded = || -> Result<(Spec, Task), Problem> {
        let spec: Spec = serde_json::from_value(lease.spec.clone())
            .map_err(|error| Error::System(format!("a job has a bad record: {error}")))?;
        let task = task::load(shelf, &lease.tenant, &spec.key, &spec.computation, &spec.inputs, spec.private_program)?;
        Ok((spec, task))
    };
    let (spec, task) = match loaded() {
        Ok(loaded) => loaded,
        Err(problem) => {
            let here = [Code::TooLarge, Code::BadParams, Code::BadFile];
            let mut passing = vec![Code::Internal, Code::DiskFull, Code::Unavailable];
            passing.extend(here.into_iter().filter(|_| shelf.is_elsewhere()));
            return (failed(problem, stop, &passing), None);
        }
    };
    let run =
        Run { shelf, lease, spec: &spec, task: &task, stop, begin: Instant::now(), first: AtomicU64::new(u64::MAX) };
    let ran = run.stages();
    let work = run.work();
    let ran = match ran.and_then(|ran| ran.map(|results| run.finished(results)).transpose()) {
        Ok(Some(results)) => Ran::Done(task.outputs().into_iter().map(str::to_owned).zip(results).collect()),
        Ok(None) => Ran::Paused,
        Err(problem) => {
            let mut passing = vec![Code::Internal, Code::DiskFull, Code::Unavailable, Code::BadParams];
            passing.extend(shelf.is_elsewhere().then_some(Code::TooLarge));
            failed(problem, stop, &passing)
        }
    };
    (ran, Some(work))
}

/// The end after a problem. A problem with one of the codes `passing` may pass.
fn failed(problem: Problem, stop: &Stop, passing: &[Code]) -> Ran {
    match stop.why() {
        Some(why) => Ran::Refused(why.clone()),
        None if stop.is_set() => Ran::Cancelled,
        None if passing.contains(&problem.code) => Ran::Later(problem),
        None => Ran::Refused(problem),
    }
}

struct Run<'a> {
    shelf: &'a dyn Shelf,
    lease: &'a Lease,
    spec: &'a Spec,
    task: &'a Task,
    stop: &'a Stop,
    begin: Instant,
    /// The first progress of this run.
    first: AtomicU64,
}

impl Run<'_> {
    fn key(&self) -> JobKey {
        (self.lease.tenant.clone(), self.lease.id)
    }

    /// Runs the stages. None if the job pauses.
    fn stages(&self) -> Result<Option<Vec<Ciphertext>>, Problem> {
        let Self { task, spec, .. } = self;
        let kept = self.shelf.kept_array(self.lease)?;
        let was_kept = kept.is_some();
        let (first, mut array) = task.start(kept);
        let steps: Vec<u64> = spec.stages.iter().map(Stage::steps).collect();
        let total: u64 = steps.iter().sum();
        let mut results = Vec::new();
        for (number, stage) in spec.stages.iter().enumerate().skip(first) {
            let before: u64 = steps[..number].iter().sum();
            let report = |now: Progress| {
                // The parts of a stage without a plan are not bootstraps.
                let (done, total) = match spec.stages.len() {
                    1 => (now.done, now.total),
                    _ => (
                        before + (u128::from(now.done) * u128::from(steps[number]) / u128::from(now.total)) as u64,
                        total,
                    ),
                };
                self.first.fetch_min(done, Ordering::Relaxed);
                self.shelf.live().report(&self.key(), |progress| (progress.done, progress.total) = (done, total));
            };
            let control = Control { progress: Some(&report), cancel: Some(self.stop.flag()) };
            let silent = control.without_progress();
            let load = |plan| -> Result<Plan, Problem> { Ok(Plan::load(&self.shelf.plan(self.lease, plan)?)?) };
            let plan = stage.plan.as_ref().map(load).transpose()?;
            let prepared =
                task.prepare_stage(number, array.as_ref(), plan.as_ref(), &silent)?.auditable(spec.auditable);
            let is_kept = Cell::new(number == first && was_kept);
            let keep = || match &array {
                Some(array) if !is_kept.get() => {
                    self.shelf.keep_array(self.lease, array)?;
                    is_kept.set(true);
                    Ok(())
                }
                _ => Ok(()),
            };
            results = match stage.plan.is_some() {
                false => self.whole(number, &prepared, &control)?,
                true => match self.in_parts(number, &prepared, keep, &control)? {
                    Some(results) => results,
                    None => return Ok(None),
                },
            };
            if task.reduction.is_some() {
                array = task.next(number, array.as_ref(), &results)?;
            }
        }
        match (&task.reduction, array) {
            (Some(_), Some(array)) => Ok(Some(vec![array.get(0)?])),
            _ => Ok(Some(results)),
        }
    }

    /// Runs a stage that cannot pause.
    fn whole(&self, stage: usize, prepared: &Prepared, control: &Control<'_>) -> Result<Vec<Ciphertext>, Problem> {
        let start = Instant::now();
        let results = prepared.run(control)?;
        let ms = start.elapsed().as_secs_f64() * 1e3;
        self.shelf.live().measured(&self.key(), |timeline| {
            timeline.begin(stage);
            timeline.passed(stage, 0, ms, 1);
        });
        Ok(results)
    }

    /// Runs a stage until its end or the next pause, from the last checkpoint on. `keep` makes the array durable that the stage takes. None if the job
    /// pauses.
    fn in_parts(
        &self,
        stage: usize,
        prepared: &Prepared,
        keep: impl Fn() -> Result<(), Problem>,
        control: &Control<'_>,
    ) -> Result<Option<Vec<Ciphertext>>, Problem> {
        let mut state = self.shelf.kept_state(self.lease)?;
        loop {
            let start = Instant::now();
            let clock = Clock::new(self, stage, state.as_ref());
            let leaves = AtomicBool::new(false);
            let pause = |position: Position| {
                clock.tick(position);
                if self.shelf.yields(self.lease, self.begin.elapsed()) {
                    leaves.store(true, Ordering::Relaxed);
                    return true;
                }
                start.elapsed() >= self.shelf.checkpoint()
            };
            let ran = match prepared.run_until(state.as_ref(), pause, control) {
                // A checkpoint of an earlier stage or version, for example.
                Err(runtime::Error::OtherRun { .. }) if state.is_some() => {
                    state = None;
                    continue;
                }
                ran => ran?,
            };
            let paused = match ran {
                runtime::Ran::Done(results) => {
                    clock.end(self.spec.stages[stage].elements);
                    return Ok(Some(results));
                }
                runtime::Ran::Paused(paused) => paused,
            };
            let kept = || -> Result<(), Problem> {
                keep()?;
                self.shelf.keep_state(self.lease, &paused)
            };
            let is_kept = kept();
            // The work goes on. After a crash it would begin from an earlier checkpoint.
            if let Err(problem) = &is_kept {
                tracing::error!(job = %self.lease.id, detail = problem.detail, "a checkpoint was not written");
            }
            // Without a checkpoint, a job that makes room for another one would not get on.
            if leaves.load(Ordering::Relaxed) && (is_kept.is_ok() || self.shelf.stops()) {
                return Ok(None);
            }
            state = Some(*paused);
        }
    }

    /// The results in the form that the job asks for.
    fn finished(&self, results: Vec<Ciphertext>) -> Result<Vec<Ciphertext>, Problem> {
        let one = |result: Ciphertext| -> Result<Ciphertext, Problem> {
            Ok(if self.spec.compact { self.task.server.compact(&result)? } else { result })
        };
        results.into_iter().map(one).collect()
    }

    /// The work so far.
    fn work(&self) -> Work {
        let seconds = self.begin.elapsed().as_secs_f64();
        let first = self.first.load(Ordering::Relaxed);
        let progress = self.shelf.live().progress(&self.key()).unwrap_or_default();
        let bootstraps = progress.done.saturating_sub(first);
        let is_whole = first == 0 && progress.done == progress.total && bootstraps > 0;
        Work { bootstraps, whole_core_ms: is_whole.then(|| 1e3 * seconds * self.shelf.threads() as f64) }
    }
}

/// Measures the waves of a stage.
struct Clock<'a> {
    run: &'a Run<'a>,
    stage: usize,
    /// When the present wave began, and its number.
    now: Mutex<(Instant, usize)>,
}

impl<'a> Clock<'a> {
    fn new(run: &'a Run<'a>, stage: usize, state: Option<&RunState>) -> Self {
        if state.is_none() {
            run.shelf.live().measured(&run.key(), |timeline| timeline.begin(stage));
        }
        Self { run, stage, now: Mutex::new((Instant::now(), state.map_or(0, RunState::wave))) }
    }

    /// Notes that the present wave is done for this number of elements, and that another one begins.
    fn passed(&self, elements: u64, next: usize) {
        let mut now = lock(&self.now);
        let ms = now.0.elapsed().as_secs_f64() * 1e3;
        self.run.shelf.live().measured(&self.run.key(), |timeline| timeline.passed(self.stage, now.1, ms, elements));
        *now = (Instant::now(), next);
    }

    fn tick(&self, position: Position) {
        self.run.shelf.live().report(&self.run.key(), |progress| {
            (progress.wave, progress.waves) = (position.wave, position.waves);
        });
        self.passed((position.done + position.lanes) as u64, position.wave);
    }

    fn end(&self, elements: u64) {
        // A stage without bootstraps has no waves.
        if !self.run.spec.stages[self.stage].waves.is_empty() {
            self.passed(elements, 0);
        }
    }
}
