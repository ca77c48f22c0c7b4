//! The computation of a job, or of the part of it until the next pause.

use crate::error::{Code, Error, Problem};
use crate::jobs::loaded::{self, LoadedJob};
use crate::jobs::progress::JobKey;
use crate::jobs::spec::Spec;
use crate::jobs::stop::Stop;
use crate::jobs::storage::JobStorage;
use crate::lock::lock;
use crate::store::Lease;
use crate::store::timeline::Timeline;
use solinas_engine::{self as engine, Ciphertext, Control, Plan, Position, Prepared, Progress, StepSchedule};
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

/// What a run computed, and what it took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RunCost {
    pub(crate) bootstraps: u64,
    /// Core-milliseconds, if the run computed the whole job.
    pub(crate) whole_core_ms: Option<f64>,
}

/// Computes a job, or a part of it.
pub(crate) fn compute(storage: &dyn JobStorage, lease: &Lease, stop: &Stop) -> (Ran, Option<RunCost>) {
    let loaded = || -> Result<(Spec, LoadedJob), Problem> {
        let spec: Spec = serde_json::from_value(lease.spec.clone())
            .map_err(|error| Error::System(format!("a job has a bad record: {error}")))?;
        let job = loaded::load(storage, &lease.tenant, &spec.key, &spec.program, &spec.inputs, spec.private_program)?;
        Ok((spec, job))
    };
    let (spec, job) = match loaded() {
        Ok(loaded) => loaded,
        Err(problem) => {
            let here = [Code::TooLarge, Code::BadParams, Code::BadFile];
            let mut passing = vec![Code::Internal, Code::DiskFull, Code::Unavailable];
            passing.extend(here.into_iter().filter(|_| storage.is_elsewhere()));
            return (failed(problem, stop, &passing), None);
        }
    };
    let run =
        Run { storage, lease, spec: &spec, job: &job, stop, begin: Instant::now(), first: AtomicU64::new(u64::MAX) };
    let ran = run.results();
    let work = run.work();
    let ran = match ran.and_then(|ran| ran.map(|results| run.finished(results)).transpose()) {
        Ok(Some(results)) => Ran::Done(job.outputs().into_iter().map(str::to_owned).zip(results).collect()),
        Ok(None) => Ran::Paused,
        Err(problem) => {
            let mut passing = vec![Code::Internal, Code::DiskFull, Code::Unavailable, Code::BadParams];
            passing.extend(storage.is_elsewhere().then_some(Code::TooLarge));
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
    storage: &'a dyn JobStorage,
    lease: &'a Lease,
    spec: &'a Spec,
    job: &'a LoadedJob,
    stop: &'a Stop,
    begin: Instant,
    /// The first progress of this run.
    first: AtomicU64,
}

impl Run<'_> {
    fn key(&self) -> JobKey {
        (self.lease.tenant.clone(), self.lease.id)
    }

    /// Computes the results. None if the job pauses.
    fn results(&self) -> Result<Option<Vec<Ciphertext>>, Problem> {
        let report = |now: Progress| {
            self.first.fetch_min(now.done, Ordering::Relaxed);
            self.storage.live().report(&self.key(), |progress| (progress.done, progress.total) = (now.done, now.total));
        };
        let control = Control { progress: Some(&report), cancel: Some(self.stop.flag()) };
        let load = |plan| -> Result<Plan, Problem> { Ok(Plan::load(&self.storage.plan(self.lease, plan)?)?) };
        let plan = self.spec.plan.as_ref().map(load).transpose()?;
        let prepared = self.job.prepare(plan.as_ref(), &control.without_progress())?.auditable(self.spec.auditable);
        match plan {
            Some(_) => self.in_parts(&prepared, &control),
            None => self.whole(&prepared, &control).map(Some),
        }
    }

    /// Runs work that cannot pause.
    fn whole(&self, prepared: &Prepared, control: &Control<'_>) -> Result<Vec<Ciphertext>, Problem> {
        let clock = Clock::new(self, false);
        let results = prepared.run(control)?;
        clock.end();
        Ok(results)
    }

    /// Runs work until its end or the next pause, from the last checkpoint on. None if the job pauses.
    fn in_parts(&self, prepared: &Prepared, control: &Control<'_>) -> Result<Option<Vec<Ciphertext>>, Problem> {
        let mut state = self.storage.kept_state(self.lease)?;
        loop {
            let start = Instant::now();
            let clock = Clock::new(self, state.is_some());
            let leaves = AtomicBool::new(false);
            let pause = |position: Position| {
                clock.tick(position);
                if self.storage.yields(self.lease, self.begin.elapsed()) {
                    leaves.store(true, Ordering::Relaxed);
                    return true;
                }
                start.elapsed() >= self.storage.checkpoint()
            };
            let ran = match prepared.run_until(state.as_ref(), pause, control) {
                // A checkpoint of another version, for example.
                Err(engine::Error::OtherRun { .. }) if state.is_some() => {
                    state = None;
                    continue;
                }
                ran => ran?,
            };
            let paused = match ran {
                engine::Ran::Done(results) => {
                    clock.end();
                    return Ok(Some(results));
                }
                engine::Ran::Paused(paused) => paused,
            };
            let is_kept = self.storage.keep_state(self.lease, &paused);
            // The work goes on. After a crash it would begin from an earlier checkpoint.
            if let Err(problem) = &is_kept {
                tracing::error!(job = %self.lease.id, detail = problem.detail, "a checkpoint was not written");
            }
            // Without a checkpoint, a job that makes room for another one would not get on.
            if leaves.load(Ordering::Relaxed) && (is_kept.is_ok() || self.storage.stops()) {
                return Ok(None);
            }
            state = Some(*paused);
        }
    }

    /// The results in the form that the job asks for.
    fn finished(&self, results: Vec<Ciphertext>) -> Result<Vec<Ciphertext>, Problem> {
        let one = |result: Ciphertext| -> Result<Ciphertext, Problem> {
            Ok(if self.spec.compact { self.job.server.compact(&result)? } else { result })
        };
        results.into_iter().map(one).collect()
    }

    /// The work so far.
    fn work(&self) -> RunCost {
        let seconds = self.begin.elapsed().as_secs_f64();
        let first = self.first.load(Ordering::Relaxed);
        let progress = self.storage.live().progress(&self.key()).unwrap_or_default();
        let bootstraps = progress.done.saturating_sub(first);
        let is_whole = first == 0 && progress.done == progress.total && bootstraps > 0;
        RunCost { bootstraps, whole_core_ms: is_whole.then(|| 1e3 * seconds * self.storage.threads() as f64) }
    }
}

/// Measures the waves of a job.
struct Clock<'a> {
    run: &'a Run<'a>,
    /// When the present wave began, and how many waves are done.
    now: Mutex<(Instant, usize)>,
    /// Number of all waves.
    waves: usize,
}

impl<'a> Clock<'a> {
    /// `resumes` tells whether the run goes on from a checkpoint, so that what was measured before counts.
    fn new(run: &'a Run<'a>, resumes: bool) -> Self {
        let steps = &run.spec.steps;
        let mut done = 0;
        run.storage.live().measured(&run.key(), |timeline| {
            if !resumes {
                timeline.clear();
            }
            done = timeline.done(steps);
        });
        let waves = steps.iter().map(|step| step.waves.len()).sum();
        Self { run, now: Mutex::new((Instant::now(), done)), waves }
    }

    /// Notes that a wave has ended: the one before the position.
    fn tick(&self, position: Position) {
        let Position { step, done, group, wave, waves, .. } = position;
        // Between two groups of lanes, the last wave of a group has ended. A step without bootstraps has none.
        let (ended, lanes) = if wave > 0 { (wave - 1, done + group) } else { (waves.saturating_sub(1), done) };
        if waves > 0 {
            self.measured(|timeline, steps, ms| {
                let before = timeline.is_done(steps, step, ended);
                timeline.passed(step, ended, ms, lanes as u64);
                usize::from(!before && timeline.is_done(steps, step, ended))
            });
        }
    }

    /// Notes that all waves have ended.
    fn end(&self) {
        self.measured(|timeline, steps, ms| {
            timeline.end(steps, ms);
            self.waves
        });
    }

    /// Changes the measured waves, given the milliseconds since the last change, and reports how many are done. `change` returns how many have become so.
    fn measured(&self, change: impl FnOnce(&mut Timeline, &[StepSchedule], f64) -> usize) {
        let (live, key, mut now) = (self.run.storage.live(), self.run.key(), lock(&self.now));
        let ms = now.0.elapsed().as_secs_f64() * 1e3;
        live.measured(&key, |timeline| now.1 += change(timeline, &self.run.spec.steps, ms));
        *now = (Instant::now(), now.1.min(self.waves));
        live.report(&key, |progress| (progress.wave, progress.waves) = (now.1, self.waves));
    }
}
