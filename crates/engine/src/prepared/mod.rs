//! Planned work: its cost, and its run.

mod batches;
mod kernels;
mod request;
mod run;
mod values;

use crate::plans::{Ran, RunId, inputs_id, joint_id};
use crate::{Ciphertext, Control, Error, Estimate, KeyId, Plan, Position, Progress, RunState, Server, Work};
pub use batches::{Batches, LaneBatch};
use kernels::{Choice, Kernels};
pub(crate) use kernels::{Known, level_sums};
pub(crate) use request::fresh_steps;
use request::{Request, input_count};
use run::{Parts, Run};
use serde::{Deserialize, Serialize};
use solinas_circuits::program::ValueType;
use solinas_values::memory;
use std::fmt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Work that is planned and has not run. [`Server::prepare`] makes it. It shares the server's key and threads.
#[must_use = "`run` it, or ask for its cost"]
pub struct Prepared {
    server: Server,
    request: Request,
    kernels: Kernels,
    /// The plan that the caller gave.
    pinned: Option<Plan>,
    /// Whether results name their plan.
    auditable: bool,
    /// Whether results hide the program.
    is_private: bool,
}

/// How [`Server::prepare_with`](crate::Server::prepare_with) prepares work.
#[derive(Debug, Clone, Copy, Default)]
pub struct PrepareOptions<'a> {
    /// A plan in place of a new one (TFHE). The results then have the bytes of this plan, which are the same on every machine, on every back end and for every
    /// number of threads.
    pub plan: Option<&'a Plan>,
    /// Whether the results are those of a *private program* (TFHE): the holder of the client key learns their values from them, and neither the program nor
    /// its constants. Each block takes some more bootstraps, a fresh encryption of zero and noise that covers that of the computation. Costs, progress and
    /// pauses include them. Results of two programs with equal values are at a statistical distance of at most 2^-40 for each block. Types, shapes and the
    /// time are not hidden. The bytes differ from run to run, and the results name no plan.
    pub private_program: bool,
}

impl<'a> From<&'a Plan> for PrepareOptions<'a> {
    fn from(plan: &'a Plan) -> Self {
        Self { plan: Some(plan), private_program: false }
    }
}

/// A step of prepared work: a program that runs for each of its lanes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepSchedule {
    /// Number of lanes: elements that run side by side. Elements that share ciphertexts count, too.
    pub lanes: u64,
    /// The bootstraps of each wave for one lane. Those of a wave need the results of earlier waves only.
    pub waves: Vec<u64>,
}

impl StepSchedule {
    /// All bootstraps.
    pub fn bootstraps(&self) -> u64 {
        self.waves.iter().sum::<u64>() * self.lanes
    }
}

/// The most lanes of a step that read public values which few others read. Their operations are one kernel; more of them read ciphertexts without noise.
const MOST_JOINED: usize = 4096;

/// How long a cancelled run may take to its next wave.
const PATIENCE: Duration = Duration::from_secs(20);

impl Server {
    /// Checks and plans work, which [`Prepared::run`] computes: each step of it, before the first one runs. `control` can stop the planning.
    ///
    /// # Errors
    /// Inputs of a wrong number, type, key or shape; [`Error::PortWidth`]; [`Error::Empty`]; [`Error::NoRotations`]; [`Error::Levels`]; [`Error::Form`] for a
    /// form that the key cannot hold; [`Error::Planning`]; [`Error::Cancelled`].
    pub fn prepare(&self, work: Work<'_>, control: &Control<'_>) -> Result<Prepared, Error> {
        self.prepare_with(work, PrepareOptions::default(), control)
    }

    /// Prepares work as [`Self::prepare`] does, by a given plan, or with results that hide the program.
    ///
    /// # Errors
    /// As [`Self::prepare`]; [`Error::OtherPlan`] for a plan of another program or parameter set, or of inputs with less noise; [`Error::NoPlan`];
    /// [`Error::NoPrivateProgram`]; [`Error::Request`] for options of a conversion.
    pub fn prepare_with(
        &self,
        work: Work<'_>,
        options: PrepareOptions<'_>,
        control: &Control<'_>,
    ) -> Result<Prepared, Error> {
        Prepared::new(self, work, Choice::new(self, options, self.threads()), control)
    }

    /// Plans work and computes its results: [`Self::prepare`] and [`Prepared::run`].
    ///
    /// # Errors
    /// As [`Self::prepare`] and [`Prepared::run`].
    pub fn run(&self, work: Work<'_>, control: &Control<'_>) -> Result<Vec<Ciphertext>, Error> {
        self.prepare(work, control)?.run(control)
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("server", &self.server)
            .field("steps", &self.kernels.all.len())
            .finish_non_exhaustive()
    }
}

impl Prepared {
    /// Checks and plans work.
    fn new(server: &Server, work: Work<'_>, choice: Choice<'_>, control: &Control<'_>) -> Result<Self, Error> {
        let Choice { pinned, is_private, .. } = choice;
        if is_private && !server.params().scheme.capabilities().private_program {
            return Err(Error::NoPrivateProgram { scheme: server.params().scheme });
        }
        let request = Request::new(server, work, control)?;
        if request.conversion.is_some() && pinned.is_some() {
            return Err(conversion());
        }
        if request.conversion.is_some() && is_private {
            return Err(Error::Request {
                what: "a conversion has no program to hide".into(),
                help: "ask for a private program in the work that follows".into(),
            });
        }
        let params = server.params();
        if request.values.is_some() {
            let bytes = |output: &solinas_circuits::steps::Output| {
                let shape = &output.ty.shape;
                params.encrypted_bytes(output.ty.ty, Some(shape.size()).filter(|_| !shape.is_empty()))
            };
            let results = request.steps.outputs.iter().map(bytes).fold(0, u64::saturating_add);
            // Results that do not fit are not worth a plan.
            memory::check_within(server.room()?, "the result", &params, results, memory::FEWER)?;
        }
        let values = request.values.as_deref().filter(|_| is_ready(server, &request));
        let kernels = Kernels::new(server, &request, values, choice, control)?;
        let (server, pinned) = (server.clone(), pinned.cloned());
        Ok(Self { server, request, kernels, pinned, auditable: false, is_private })
    }

    /// Lets the results name the plan that made them ([`Ciphertext::plan`]), for an audit: anybody who has the program can check the name. The holder of a
    /// result can then try programs and constants until one has that plan.
    pub fn auditable(self, auditable: bool) -> Self {
        Self { auditable, ..self }
    }

    fn plan_anew(
        &self,
        values: Option<&[Ciphertext]>,
        threads: usize,
        control: &Control<'_>,
    ) -> Result<Kernels, Error> {
        let options = PrepareOptions { plan: self.pinned.as_ref(), private_program: self.is_private };
        Kernels::new(&self.server, &self.request, values, Choice::new(&self.server, options, threads), control)
    }

    /// The plan, to keep and to give to [`Server::prepare_with`].
    ///
    /// # Errors
    /// [`Error::NoPlan`] for a scheme without such values; [`Error::Request`] for a conversion, and for inputs of another form than that in which the server
    /// computes.
    pub fn plan(&self) -> Result<Plan, Error> {
        if self.request.conversion.is_some() {
            return Err(conversion());
        }
        if self.request.values.is_some() && self.ready().is_none() {
            // The noise after the conversion is not known yet, and a plan for less noise could not compute them.
            return Err(Error::Request {
                what: "the inputs have another form than that in which the server computes, so a plan for them is not known".into(),
                help: "convert the inputs first, then plan on the results".into(),
            });
        }
        if self.kernels.all.is_empty() {
            return Err(Error::Request {
                what: "the program only moves elements, so it has no plan".into(),
                help: "leave the plan out".into(),
            });
        }
        let plans = self.kernels.all.iter().map(|kernel| kernel.work.plan()?.ok_or_else(|| no_plan(&self.server)));
        Plan::new(plans.collect::<Result<Vec<_>, Error>>()?)
    }

    /// The inputs, if the plan takes them as they are.
    fn ready(&self) -> Option<&[Ciphertext]> {
        self.request.values.as_deref().filter(|_| is_ready(&self.server, &self.request))
    }

    /// Names, types and shapes of the results.
    pub fn results(&self) -> impl Iterator<Item = (&str, &ValueType)> {
        self.request.steps.outputs.iter().map(|output| (output.name.as_str(), &output.ty))
    }

    /// The steps in order, with their waves (TFHE). A step that hides the program has such waves after those of its plan.
    pub fn schedule(&self) -> Vec<StepSchedule> {
        let of = |kernel: &kernels::PlannedKernel| StepSchedule {
            lanes: kernel.instances as u64,
            waves: kernel.work.waves(),
        };
        self.kernels.all.iter().map(of).collect()
    }

    /// Counts bootstraps, recryptions, products, rotations and depth. It measures nothing, so there are no seconds. Inputs that are not given, or that the
    /// run converts to another form first, count as fresh ciphertexts; the conversion is not counted.
    ///
    /// # Errors
    /// [`Error::Memory`] if no method fits.
    pub fn count(&self) -> Result<Estimate, Error> {
        self.kernels.count(&self.server)
    }

    /// Predicts the cost: [`Self::count`], and seconds. The first call for a key measures one operation of each kind, which `control` can stop.
    ///
    /// # Errors
    /// As [`Self::count`]; [`Error::Cancelled`].
    pub fn estimate(&self, control: &Control<'_>) -> Result<Estimate, Error> {
        self.kernels.estimate(&self.server, self.server.threads(), control)
    }

    /// Predicts the cost as [`Self::estimate`] does, for a given number of threads (at least 1). Each thread counts as
    /// fast as a single thread of this machine. The plan may differ from the plan of this server.
    ///
    /// # Errors
    /// As [`Self::estimate`] and [`Server::prepare`].
    pub fn estimate_on(&self, threads: usize, control: &Control<'_>) -> Result<Estimate, Error> {
        let threads = threads.max(1);
        self.plan_anew(self.ready(), threads, control)?.estimate(&self.server, threads, control)
    }

    /// Computes the results. Inputs in another form than the form of the plan are converted first. The work is then
    /// planned again, because the noise of the converted inputs differs.
    ///
    /// # Errors
    /// [`Error::InputCount`] for fresh inputs; [`Error::Memory`]; [`Error::Cancelled`]; for inputs that are converted, as [`Server::prepare`].
    pub fn run(&self, control: &Control<'_>) -> Result<Vec<Ciphertext>, Error> {
        match self.call(None, control)? {
            Ran::Done(results) => Ok(results),
            Ran::Paused(_) => Err(Error::Internal("a run paused by itself".into())),
        }
    }

    /// Computes the results in parts (TFHE). The run stops between two waves or steps if `pause` returns true, and returns its
    /// state. A later call with this state as `from` continues there. The results equal the results of [`Self::run`] in
    /// every bit.
    ///
    /// # Errors
    /// As [`Self::run`]; [`Error::OtherRun`] for a state of other work; [`Error::NoPause`].
    pub fn run_until(
        &self,
        from: Option<&RunState>,
        pause: impl Fn(Position) -> bool + Sync,
        control: &Control<'_>,
    ) -> Result<Ran, Error> {
        self.call(Some((from, &pause)), control)
    }

    /// Computes the results and keeps the state of the run in a file (TFHE). The run writes the file between two waves
    /// whenever the duration `every` has passed since the last write. A later call with this file continues from it.
    /// The file stays after the last wave: save the results, then remove it.
    ///
    /// A cancellation takes effect at the next wave, after the file is written. If that wave does not come within 20
    /// seconds, the run stops there, and the file has the progress of the last write.
    ///
    /// # Errors
    /// As [`Self::run_until`]; the errors of the file.
    pub fn run_with_checkpoint(
        &self,
        path: &Path,
        every: Duration,
        control: &Control<'_>,
    ) -> Result<Vec<Ciphertext>, Error> {
        let mut state = if path.exists() { Some(RunState::load(path)?) } else { None };
        let cancelled = || control.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed));
        let (stop, since) = (AtomicBool::new(false), OnceLock::new());
        let report = |progress: Progress| {
            if let Some(report) = control.progress {
                report(progress);
            }
            if cancelled() && since.get_or_init(Instant::now).elapsed() >= PATIENCE {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let patient = Control { progress: Some(&report), cancel: Some(&stop) };
        loop {
            control.check()?;
            let start = Instant::now();
            match self.run_until(state.as_ref(), |_| cancelled() || start.elapsed() >= every, &patient)? {
                Ran::Done(results) => return Ok(results),
                Ran::Paused(paused) => {
                    paused.save(path)?;
                    state = Some(*paused);
                }
            }
        }
    }

    /// Runs on the pool, with the inputs in the form of the plan.
    fn call(&self, parts: Option<InParts<'_>>, control: &Control<'_>) -> Result<Ran, Error> {
        let given = self.request.values.as_ref().ok_or_else(|| input_count(0, &self.request.names))?;
        let room = self.server.room()?;
        self.check_room(room)?;
        // A conversion to the form that a ciphertext has.
        if self.request.conversion.is_some_and(|form| given.iter().all(|input| input.form() == form)) {
            return Ok(Ran::Done(given.clone()));
        }
        if self.ready().is_some() {
            return self.run_on(&self.kernels, given, room, parts, control);
        }
        let (given, kernels) = self.in_form(given, control)?;
        self.run_on(&kernels, &given, room, parts, control)
    }

    /// The inputs in the form of the plan, and the plans for their noise.
    fn in_form(&self, given: &[Ciphertext], control: &Control<'_>) -> Result<(Vec<Ciphertext>, Kernels), Error> {
        let silent = control.without_progress();
        let given = given.iter().map(|input| self.converted(input, &silent)).collect::<Result<Vec<_>, _>>()?;
        let kernels = self.plan_anew(Some(&given), self.server.threads(), control)?;
        Ok((given, kernels))
    }

    fn run_on(
        &self,
        kernels: &Kernels,
        given: &[Ciphertext],
        room: u64,
        parts: Option<InParts<'_>>,
        control: &Control<'_>,
    ) -> Result<Ran, Error> {
        // The hash of a large program takes a while.
        let is_named = self.auditable && !self.is_private;
        let plan = if is_named || parts.is_some() { self.plan_id(kernels)? } else { None };
        let parts = match (parts, plan) {
            (None, _) => None,
            (Some(_), None) => return Err(self.no_pause()),
            (Some((from, pause)), Some(plan)) => {
                let (key_id, inputs, is_private) = (self.server.key_id(), inputs_id(given)?, self.is_private);
                Some(Parts { id: RunId { key_id, plan, inputs, is_private }, from, pause })
            }
        };
        let run = Run { server: &self.server, kernels, given, room, control };
        match self.server.pool.get()?.install(|| run.run(parts.as_ref()))? {
            Ran::Done(results) => {
                let plan = plan.filter(|_| is_named);
                Ok(Ran::Done(results.into_iter().map(|result| result.with_plan(plan)).collect()))
            }
            paused => Ok(paused),
        }
    }

    /// The identity of the plans of all steps. None for a conversion, and for a scheme without such values.
    fn plan_id(&self, kernels: &Kernels) -> Result<Option<KeyId>, Error> {
        let mut ids: Vec<KeyId> = Vec::new();
        for kernel in &kernels.all {
            let Some(id) = kernel.work.id()? else { return Ok(None) };
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        joint_id(&ids).map(Some)
    }

    fn no_pause(&self) -> Error {
        match self.request.conversion {
            None => no_pause(&self.server),
            Some(_) => {
                Error::Request { what: "a conversion cannot pause".into(), help: "run it without a checkpoint".into() }
            }
        }
    }

    /// An input in the form of the plan.
    fn converted(&self, input: &Ciphertext, control: &Control<'_>) -> Result<Ciphertext, Error> {
        let form = self.server.engine.form();
        if input.form() == form {
            return Ok(input.clone());
        }
        let mut converted = self.server.run(Work::Convert { ciphertext: input, form }, control)?;
        converted.pop().ok_or_else(|| Error::Internal("a conversion without a result".into()))
    }

    /// Checks that the run fits in the memory that it may take ([`ServerOptions::run_memory`](crate::ServerOptions::run_memory)). A run checks it too.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn check_memory(&self) -> Result<(), Error> {
        self.check_room(self.server.room()?)
    }

    fn check_room(&self, room: u64) -> Result<(), Error> {
        let threads = self.server.threads();
        // Several steps run batch by batch.
        let lanes = |instances: usize| if self.kernels.all.len() == 1 { instances } else { instances.min(1) };
        let need = |kernel: &kernels::PlannedKernel| kernel.work.need(lanes(kernel.instances), threads).least();
        let need = self.kernels.all.iter().map(need).max().unwrap_or(0);
        memory::check_within(room, "the run with its results", &self.server.params(), need, memory::FEWER)
    }
}

/// The state from which a run goes on, and when it stops.
type InParts<'a> = (Option<&'a RunState>, &'a (dyn Fn(Position) -> bool + Sync));

/// The error for plans of a scheme whose plans are no values.
fn no_plan(server: &Server) -> Error {
    Error::NoPlan { scheme: server.params().scheme }
}

/// The error for a scheme whose runs cannot pause.
fn no_pause(server: &Server) -> Error {
    Error::NoPause { scheme: server.params().scheme }
}

/// The error for the plan of a conversion.
fn conversion() -> Error {
    Error::Request {
        what: "a conversion has no plan".into(),
        help: "leave the plan out; the program or circuit that follows has one".into(),
    }
}

/// Whether a plan takes the inputs as they are.
fn is_ready(server: &Server, request: &Request) -> bool {
    let form = server.engine.form();
    request.conversion.is_some() || request.values.iter().flatten().all(|input| input.form() == form)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Element, Engine, Operands, PlanRequest, PlannedWork, PublicValues};
    use crate::{Form, Input, KeyId, KeygenOptions, ParamsInfo, Plain, Program, Type, keygen};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// An engine that counts the plans that it makes.
    #[derive(Debug)]
    struct Counting(Arc<dyn Engine>, AtomicUsize);

    impl Engine for Counting {
        fn key_id(&self) -> KeyId {
            self.0.key_id()
        }

        fn params(&self) -> ParamsInfo {
            self.0.params()
        }

        fn is_insecure(&self) -> bool {
            self.0.is_insecure()
        }

        fn empty(&self) -> Element {
            self.0.empty()
        }

        fn memory_bytes(&self) -> usize {
            self.0.memory_bytes()
        }

        fn weight(&self, operands: &Operands<'_>, control: &Control<'_>) -> Result<Option<u64>, Error> {
            self.0.weight(operands, control)
        }

        fn public_values(&self) -> Option<&dyn PublicValues> {
            self.0.public_values()
        }

        fn form(&self) -> Form {
            self.0.form()
        }

        fn plan(
            self: Arc<Self>,
            request: &PlanRequest<'_>,
            control: &Control<'_>,
        ) -> Result<Box<dyn PlannedWork>, Error> {
            self.1.fetch_add(1, Ordering::Relaxed);
            Arc::clone(&self.0).plan(request, control)
        }
    }

    #[test]
    fn prepared_work_is_planned_once() {
        let options = KeygenOptions {
            params: Some("gates-toy".into()),
            research: true,
            insecure_seed: Some(1),
            ..KeygenOptions::default()
        };
        let (client, key) = keygen(&options, &Control::default()).unwrap();
        let mut server = Server::new(&key, Some(2)).unwrap();
        let engine = Arc::new(Counting(Arc::clone(&server.engine), AtomicUsize::new(0)));
        server.engine = Arc::clone(&engine) as Arc<dyn Engine>;
        let program = Program::from_op("and", &[Type::Bool; 2]).unwrap();
        let plain = Plain::new(Type::Bool, Some(vec![2]), vec![0, 1]).unwrap();
        let control = Control::default();
        let public = Input::Public(plain.clone());
        for (i, y) in [Input::Encrypted(client.encrypt(&plain).unwrap()), public].into_iter().enumerate() {
            let inputs = [client.encrypt(&plain).unwrap().into(), y];
            let prepared = server.prepare(Work::program(&program, &inputs), &control).unwrap();
            assert_eq!(prepared.count().unwrap(), prepared.count().unwrap());
            assert!(prepared.estimate(&control).unwrap().seconds >= 0.0);
            for _ in 0..2 {
                assert_eq!(client.decrypt(&prepared.run(&control).unwrap()[0]).unwrap(), plain);
            }
            assert_eq!(engine.1.load(Ordering::Relaxed), i + 1);
        }
    }
}
