//! The computation of a job, or of the part of it until the next pause.

use crate::app::App;
use crate::error::{Code, Error, Problem};
use crate::live::JobKey;
use crate::lock::lock;
use crate::spec::{Spec, Stage};
use crate::stop::Stop;
use crate::store::Lease;
use crate::task::Task;
use solinas_runtime::{Ciphertext, Control, Plan, Position, Prepared, Progress, Ran, RunState};
use std::cell::Cell;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long a job runs before other tenants get their turn.
const TURN: Duration = Duration::from_secs(1);

/// The end of a run.
pub(crate) enum End {
    /// The results with their names.
    Done(Vec<(String, Ciphertext)>),
    Paused,
    Refused(Problem),
    /// For want of memory, of disk, or of the database.
    Later(Problem),
    /// Someone cancelled it.
    Cancelled,
}

/// Computes a job, or a part of it.
pub(crate) fn compute(app: &App, lease: &Lease, stop: &Stop) -> End {
    let loaded = || -> Result<(Spec, Task), Problem> {
        let spec: Spec = serde_json::from_value(lease.spec.clone())
            .map_err(|error| Error::System(format!("a job has a bad record: {error}")))?;
        let task = app.task(&lease.tenant, &spec.key, &spec.computation, &spec.inputs)?;
        Ok((spec, task))
    };
    let (spec, task) = match loaded() {
        Ok(loaded) => loaded,
        Err(problem) => return failed(problem, stop, &[Code::Internal, Code::DiskFull, Code::Unavailable]),
    };
    let run =
        Run { app, lease, spec: &spec, task: &task, stop, begin: Instant::now(), first: AtomicU64::new(u64::MAX) };
    let ran = run.stages();
    run.learn();
    match ran.and_then(|ran| ran.map(|results| run.compact(results)).transpose()) {
        Ok(Some(results)) => End::Done(task.outputs().into_iter().map(str::to_owned).zip(results).collect()),
        Ok(None) => End::Paused,
        Err(problem) => failed(problem, stop, &[Code::Internal, Code::DiskFull, Code::Unavailable, Code::BadParams]),
    }
}

/// The end after a problem. A problem with one of the codes `passing` may pass.
fn failed(problem: Problem, stop: &Stop, passing: &[Code]) -> End {
    match stop.why() {
        Some(why) => End::Refused(why.clone()),
        None if stop.is_set() => End::Cancelled,
        None if passing.contains(&problem.code) => End::Later(problem),
        None => End::Refused(problem),
    }
}

struct Run<'a> {
    app: &'a App,
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
        let row = self.app.store.checkpoint_row(&self.lease.tenant, self.lease.id);
        let kept = row.exists().then(|| Ciphertext::load(&row).ok()).flatten();
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
                self.app.live.report(&self.key(), |progress| (progress.done, progress.total) = (done, total));
            };
            let control = Control { progress: Some(&report), cancel: Some(self.stop.flag()) };
            let silent = control.without_progress();
            let plan = stage.plan.as_ref().map(|plan| Plan::load(&self.app.store.path(&self.lease.tenant, plan)));
            let prepared = task.prepare_stage(number, array.as_ref(), plan.transpose()?.as_ref(), &silent)?;
            let is_kept = Cell::new(number == first && row.exists());
            let keep = || match &array {
                Some(array) if !is_kept.replace(true) => array.save(&row),
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
        self.app.live.measured(&self.key(), |timeline| {
            timeline.begin(stage);
            timeline.passed(stage, 0, ms, 1);
        });
        Ok(results)
    }

    /// Whether another tenant gets its turn.
    fn turn_ends(&self) -> bool {
        let core_ms = self.begin.elapsed().as_millis() as i64 * self.app.threads() as i64;
        self.begin.elapsed() >= TURN
            && self
                .app
                .store
                .ready()
                .is_ok_and(|ready| lock(&self.app.shares).goes_before(&self.lease.tenant, core_ms, &ready))
    }

    /// Runs a stage until its end or the next pause, from the last checkpoint on. `keep` makes the array durable that the stage takes. None if the job
    /// pauses.
    fn in_parts(
        &self,
        stage: usize,
        prepared: &Prepared,
        keep: impl Fn() -> Result<(), solinas_runtime::Error>,
        control: &Control<'_>,
    ) -> Result<Option<Vec<Ciphertext>>, Problem> {
        let file = self.app.store.checkpoint(&self.lease.tenant, self.lease.id);
        let mut state = kept(&file);
        loop {
            let start = Instant::now();
            let clock = Clock::new(self, stage, state.as_ref());
            let leaves = AtomicBool::new(false);
            let pause = |position: Position| {
                clock.tick(position);
                if self.app.is_stopping() || self.turn_ends() {
                    leaves.store(true, Ordering::Relaxed);
                    return true;
                }
                start.elapsed() >= self.app.config.checkpoint
            };
            let ran = match prepared.run_until(state.as_ref(), pause, control) {
                // A checkpoint of an earlier stage or version, for example.
                Err(solinas_runtime::Error::OtherRun { .. }) if state.is_some() => {
                    state = None;
                    continue;
                }
                ran => ran?,
            };
            let paused = match ran {
                Ran::Done(results) => {
                    clock.end(self.spec.stages[stage].elements);
                    return Ok(Some(results));
                }
                Ran::Paused(paused) => paused,
            };
            let kept = || -> Result<(), Problem> {
                keep()?;
                paused.save(&file)?;
                Ok(self.app.store.advanced(self.lease, &self.app.live.timeline(&self.key()))?)
            };
            // The work goes on. After a crash it would begin from an earlier checkpoint.
            if let Err(problem) = kept() {
                tracing::error!(job = %self.lease.id, detail = problem.detail, "a checkpoint was not written");
            }
            if leaves.load(Ordering::Relaxed) {
                return Ok(None);
            }
            state = Some(*paused);
        }
    }

    fn compact(&self, results: Vec<Ciphertext>) -> Result<Vec<Ciphertext>, Problem> {
        match self.spec.compact {
            true => results.iter().map(|result| Ok(self.task.server.compact(result)?)).collect(),
            false => Ok(results),
        }
    }

    /// Learns the time of a step, and counts the work.
    fn learn(&self) {
        let seconds = self.begin.elapsed().as_secs_f64();
        let (app, first) = (self.app, self.first.load(Ordering::Relaxed));
        let params = self.task.server.params().name;
        let steps = self.spec.stages.iter().map(Stage::steps).sum::<u64>().max(1) as f64;
        let progress = app.live.progress(&self.key()).unwrap_or_default();
        let done = progress.done.saturating_sub(first);
        let core_ms = 1e3 * seconds * app.threads() as f64;
        let under = crate::metrics::Under { params: params.clone() };
        app.metrics.bootstraps.get_or_create(&under).inc_by(done);
        app.metrics.bootstrap_core_seconds.get_or_create(&under).inc_by(core_ms / 1e3);
        // Short runs say little.
        if first == 0 && progress.done == progress.total && done > 0 && seconds > 0.05 {
            if let Some(rate) = app.rate(&params) {
                app.metrics.estimate_ratio.observe(core_ms / (rate * steps));
            }
            app.measured(&params, steps, core_ms);
        }
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
            run.app.live.measured(&run.key(), |timeline| timeline.begin(stage));
        }
        Self { run, stage, now: Mutex::new((Instant::now(), state.map_or(0, RunState::wave))) }
    }

    /// Notes that the present wave is done for this number of elements, and that another one begins.
    fn passed(&self, elements: u64, next: usize) {
        let mut now = lock(&self.now);
        let ms = now.0.elapsed().as_secs_f64() * 1e3;
        self.run.app.live.measured(&self.run.key(), |timeline| timeline.passed(self.stage, now.1, ms, elements));
        *now = (Instant::now(), next);
    }

    fn tick(&self, position: Position) {
        self.run.app.live.report(&self.run.key(), |progress| {
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

/// The checkpoint in a file. A damaged one counts for nothing: the stage begins again.
fn kept(file: &Path) -> Option<RunState> {
    if !file.exists() {
        return None;
    }
    RunState::load(file).inspect_err(|error| tracing::warn!(%error, "a checkpoint is not used")).ok()
}
