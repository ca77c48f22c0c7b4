//! Planned work: its cost, and its run.

use crate::ciphertext::same_key;
use crate::engine::{Batch, OutputSpec, PlanRequest, PlannedWork};
use crate::planning::Source;
use crate::plans::Ran;
use crate::ports::{CircuitPorts, Results, described, input_count, input_names, program_ports, same_type, same_width};
use crate::public::Encrypted;
use crate::{
    Ciphertext, Control, Error, Estimate, Input, Inputs, Plan, Position, Program, Progress, RunState, Server, Type,
    Work, memory,
};
use solinas_circuits::program;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Work that is planned and has not run. [`Server::prepare`] makes it. It shares the server's key and threads.
#[must_use = "`run` it, or ask for its cost"]
pub struct Prepared {
    server: Server,
    source: Arc<Source>,
    /// Elements that run side by side.
    instances: usize,
    /// The noise weight that is assumed of inputs which are not given.
    noise: u64,
    /// The inputs of the run and the form of its results. `None` for fresh inputs.
    call: Option<Call>,
    planned: Box<dyn PlannedWork>,
    /// The plan that the caller gave.
    pinned: Option<Plan>,
    /// Whether results name their plan.
    auditable: bool,
    /// Whether results hide the program.
    is_private: bool,
}

/// The most instances of a program. Counts of operations on them stay below 2^64.
const MOST_INSTANCES: u64 = 1 << 36;

/// How long a cancelled run may take to its next wave.
const PATIENCE: Duration = Duration::from_secs(20);

/// The elements that inputs have, or will have.
#[derive(Debug, Clone, Copy)]
struct Elements {
    instances: usize,
    /// Their noise weight, if they are not given.
    noise: u64,
}

impl Elements {
    const fn fresh(instances: usize) -> Self {
        Self { instances, noise: 1 }
    }
}

/// The inputs of a run, and its results.
struct Call {
    inputs: Vec<Ciphertext>,
    /// The shape of the first array.
    shape: Option<Vec<usize>>,
    outputs: Vec<OutputSpec>,
    results: Results,
}

impl Server {
    /// Checks and plans work, which [`Prepared::run`] computes. `control` can stop the planning.
    ///
    /// # Errors
    /// Inputs of a wrong number, type, key or shape; [`Error::PortWidth`]; [`Error::Empty`]; [`Error::NoRotations`]; [`Error::Levels`]; [`Error::Form`] for a
    /// form that the key cannot hold; [`Error::Planning`]; [`Error::Cancelled`].
    pub fn prepare(&self, work: Work<'_>, control: &Control<'_>) -> Result<Prepared, Error> {
        Prepared::new(self, work, None, control)
    }

    /// Prepares work as [`Self::prepare`] does, with an existing plan in place of a new one. [`Prepared::run`] then
    /// gives the bytes of this plan, which are the same on every machine, on every back end and for every number of
    /// threads.
    ///
    /// # Errors
    /// As [`Self::prepare`]; [`Error::OtherPlan`] for a plan of another program or parameter set, or of inputs with
    /// less noise; [`Error::NoPlan`].
    pub fn prepare_pinned(&self, work: Work<'_>, plan: &Plan, control: &Control<'_>) -> Result<Prepared, Error> {
        Prepared::new(self, work, Some(plan), control)
    }

    /// Plans the work that makes an existing result, or one of this type that is still to come, that of a private program: [`Prepared::private_program`] of
    /// the program that returns its input. What several programs compute together is hidden so.
    ///
    /// # Errors
    /// As [`Self::prepare`] and [`Prepared::private_program`].
    pub fn prepare_private(
        &self,
        ty: Type,
        result: impl Into<Inputs<Input>>,
        control: &Control<'_>,
    ) -> Result<Prepared, Error> {
        check_private(self)?;
        let mut program = program::ProgramBuilder::new();
        let value = program.input("result", ty)?;
        program.output("result", value);
        let program = program.finish()?;
        self.prepare(Work::program(&program, result), control)?.private_program(true)
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
            .field("instances", &self.instances)
            .finish_non_exhaustive()
    }
}

impl Prepared {
    /// Checks and plans work.
    fn new(server: &Server, work: Work<'_>, pinned: Option<&Plan>, control: &Control<'_>) -> Result<Self, Error> {
        let fresh = |source, instances| {
            Self::planned(server, Arc::new(source), Elements::fresh(instances), None, pinned, control)
        };
        match work {
            Work::Program { program, inputs } => {
                program.validate()?;
                let inputs = match inputs {
                    Inputs::Given(inputs) => inputs,
                    // Without inputs there is nothing to assume, and the program can run.
                    Inputs::Fresh { .. } if program.inputs.is_empty() => Vec::new(),
                    Inputs::Fresh { instances } => return fresh(Source::Program(program.clone()), instances),
                };
                let Encrypted { program, inputs, results } = Encrypted::new(server, program, inputs, control)?;
                let shape = check_inputs(server, &program_ports(&program), same_type, &inputs)?;
                let outputs = outputs(&program, &inputs, shape.as_deref())?;
                let call = Call { inputs, shape, outputs, results };
                Self::given(server, Source::Program(program.into_owned()), call, pinned, control)
            }
            Work::Circuit { netlist, optimize, inputs } => {
                let inputs = match inputs {
                    Inputs::Given(inputs) => inputs,
                    Inputs::Fresh { .. } if netlist.inputs().is_empty() => Vec::new(),
                    Inputs::Fresh { instances } => {
                        let netlist = CircuitPorts::fresh(netlist).netlist.into_owned();
                        return fresh(Source::Circuit(netlist, optimize), instances);
                    }
                };
                let ports = CircuitPorts::new(netlist, inputs)?;
                let shape = check_inputs(server, &ports.types(), same_width, &ports.inputs)?;
                let outputs = ports.output_specs();
                let CircuitPorts { netlist, inputs, outputs: counts } = ports;
                let call = Call { inputs, shape, outputs, results: Results::Ports(counts) };
                Self::given(server, Source::Circuit(netlist.into_owned(), optimize), call, pinned, control)
            }
            Work::Convert { .. } if pinned.is_some() => Err(conversion()),
            Work::Convert { ciphertext, form } => {
                same_key(|| "the ciphertext".into(), ciphertext, server.key_id(), &server.params())?;
                if ciphertext.is_compact() {
                    return Err(Error::Compact { what: "the ciphertext".into() });
                }
                let inputs = vec![ciphertext.clone()];
                let outputs = vec![OutputSpec::array(ciphertext.ty())];
                let call = Call { inputs, shape: ciphertext.shape.clone(), outputs, results: Results::Whole };
                if ciphertext.form() == form {
                    let (source, planned) = (Arc::new(Source::Convert(form)), Box::new(Unchanged(ciphertext.clone())));
                    let server = server.clone();
                    return Ok(Self {
                        server,
                        source,
                        instances: 1,
                        noise: 1,
                        call: Some(call),
                        planned,
                        pinned: None,
                        auditable: false,
                        is_private: false,
                    });
                }
                Self::given(server, Source::Convert(form), call, None, control)
            }
        }
    }

    /// Plans a program for inputs that will have this noise weight.
    pub(crate) fn expected(
        server: &Server,
        source: Arc<Source>,
        instances: usize,
        noise: u64,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        Self::planned(server, source, Elements { instances, noise }, None, None, control)
    }

    /// The noise weight of the results.
    pub(crate) fn noise(&self) -> u64 {
        self.planned.noise()
    }

    /// Number of elements that run side by side: those of the arrays, or 1.
    pub fn elements(&self) -> usize {
        self.instances
    }

    fn given(
        server: &Server,
        source: Source,
        call: Call,
        pinned: Option<&Plan>,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let instances = call.inputs.iter().find(|input| input.shape().is_some()).map_or(1, Ciphertext::len);
        let params = server.params();
        let bytes = |output: &OutputSpec| params.encrypted_bytes(output.ty, Some(instances).filter(|_| !output.scalar));
        let results = call.outputs.iter().map(bytes).fold(0, u64::saturating_add);
        // Results that do not fit are not worth a plan.
        memory::check_within(server.room()?, "the result", &params, results, memory::FEWER)?;
        Self::planned(server, Arc::new(source), Elements::fresh(instances), Some(call), pinned, control)
    }

    fn planned(
        server: &Server,
        source: Arc<Source>,
        Elements { instances, noise }: Elements,
        call: Option<Call>,
        pinned: Option<&Plan>,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        if instances as u64 > MOST_INSTANCES {
            let expected = format!("at most {MOST_INSTANCES}");
            return Err(Error::Value { text: instances.to_string(), ty: "a number of elements".into(), expected });
        }
        let server = server.clone();
        let ready = call.as_ref().filter(|call| is_ready(&server, &source, call)).map(|call| &*call.inputs);
        let (threads, model) = (server.threads(), server.model());
        let request = PlanRequest { source: &source, inputs: ready, noise, instances, threads, model };
        let planned = plan(&server, &request, pinned, control)?;
        let pinned = pinned.cloned();
        Ok(Self { server, source, instances, noise, call, planned, pinned, auditable: false, is_private: false })
    }

    /// Lets the results name the plan that made them ([`Ciphertext::plan`]), for an audit: anybody who has the program can check the name. The holder of a
    /// result can then try programs and constants until one has that plan.
    pub fn auditable(self, auditable: bool) -> Self {
        Self { auditable, ..self }
    }

    /// Lets the results be those of a *private program* (TFHE): the holder of the client key learns their values from them, and neither the program nor its
    /// constants. Each block takes some more bootstraps, a fresh encryption of zero and noise that covers that of the computation. Costs, progress and pauses
    /// include them. Results of two programs with equal values are at a statistical distance of at most 2^-40 for each block. Types, shapes and the time are
    /// not hidden. The bytes differ from run to run, and the results name no plan.
    ///
    /// # Errors
    /// [`Error::NoPrivateProgram`] for another scheme; [`Error::Request`] for a conversion.
    pub fn private_program(mut self, is_private: bool) -> Result<Self, Error> {
        if is_private && !self.is_private {
            check_private(&self.server)?;
            if matches!(*self.source, Source::Convert(_)) {
                return Err(Error::Request {
                    what: "a conversion has no program to hide".into(),
                    help: "ask for a private program in the work that follows".into(),
                });
            }
            self.planned.hide()?;
            self.is_private = true;
        }
        Ok(self)
    }

    /// The results that the outputs of the plan give.
    fn results(&self, results: &Results, mut outputs: Vec<Ciphertext>) -> Result<Vec<Ciphertext>, Error> {
        if !self.auditable {
            outputs.iter_mut().for_each(|output| output.plan = None);
        }
        results.of(outputs)
    }

    fn plan_anew(
        &self,
        inputs: Option<&[Ciphertext]>,
        threads: usize,
        control: &Control<'_>,
    ) -> Result<Box<dyn PlannedWork>, Error> {
        let model = self.server.model_on(threads);
        let Self { source, noise, instances, .. } = self;
        let request = PlanRequest { source, inputs, noise: *noise, instances: *instances, threads, model };
        let mut planned = plan(&self.server, &request, self.pinned.as_ref(), control)?;
        if self.is_private {
            planned.hide()?;
        }
        Ok(planned)
    }

    /// The plan, to keep and to give to [`Server::prepare_pinned`].
    ///
    /// # Errors
    /// [`Error::NoPlan`] for a scheme without such values; [`Error::Request`] for a conversion, and for inputs of another form than that in which the server
    /// computes.
    pub fn plan(&self) -> Result<Plan, Error> {
        if matches!(*self.source, Source::Convert(_)) {
            return Err(conversion());
        }
        if self.call.is_some() && self.ready().is_none() {
            // The noise after the conversion is not known yet, and a plan for less noise could not compute them.
            return Err(Error::Request {
                what: "the inputs have another form than that in which the server computes, so a plan for them is not known".into(),
                help: "convert the inputs first, then plan on the results".into(),
            });
        }
        self.planned.plan()?.ok_or_else(|| Error::NoPlan { scheme: self.server.params().scheme })
    }

    /// The inputs, if the plan takes them as they are.
    fn ready(&self) -> Option<&[Ciphertext]> {
        self.call.as_ref().filter(|call| is_ready(&self.server, &self.source, call)).map(|call| &*call.inputs)
    }

    /// The bootstraps of each wave of one element (TFHE). Those that hide the program follow those of the plan.
    pub fn waves(&self) -> Vec<u64> {
        self.planned.waves()
    }

    /// Counts bootstraps, recryptions, products, rotations and depth. It measures nothing, so there are no seconds. Inputs that are not given, or that the
    /// run converts to another form first, count as fresh ciphertexts; the conversion is not counted.
    ///
    /// # Errors
    /// [`Error::Memory`] if no method fits.
    pub fn count(&self) -> Result<Estimate, Error> {
        self.planned.count(self.instances)
    }

    /// Predicts the cost: [`Self::count`], and seconds. The first call for a key measures one operation of each kind, which `control` can stop.
    ///
    /// # Errors
    /// As [`Self::count`]; [`Error::Cancelled`].
    pub fn estimate(&self, control: &Control<'_>) -> Result<Estimate, Error> {
        self.planned.estimate(self.instances, self.server.threads(), self.server.pool.get()?, control)
    }

    /// Predicts the cost as [`Self::estimate`] does, for a given number of threads (at least 1). Each thread counts as
    /// fast as a single thread of this machine. The plan may differ from the plan of this server.
    ///
    /// # Errors
    /// As [`Self::estimate`] and [`Server::prepare`].
    pub fn estimate_on(&self, threads: usize, control: &Control<'_>) -> Result<Estimate, Error> {
        let threads = threads.max(1);
        let planned = self.plan_anew(self.ready(), threads, control)?;
        planned.estimate(self.instances, threads, self.server.pool.get()?, control)
    }

    /// Computes the results. Inputs in another form than the form of the plan are converted first. The work is then
    /// planned again, because the noise of the converted inputs differs.
    ///
    /// # Errors
    /// [`Error::InputCount`] for fresh inputs; [`Error::Memory`]; [`Error::Cancelled`]; for inputs that are converted, as [`Server::prepare`].
    pub fn run(&self, control: &Control<'_>) -> Result<Vec<Ciphertext>, Error> {
        self.call(control, |planned, batch, results| self.results(results, planned.run(batch, control)?))
    }

    /// Computes the results in parts (TFHE). The run stops between two waves if `pause` returns true, and returns its
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
        self.call(control, |planned, batch, results| match planned.run_until(batch, from, &pause, control)? {
            Ran::Done(outputs) => Ok(Ran::Done(self.results(results, outputs)?)),
            paused => Ok(paused),
        })
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

    /// Calls `run` on the pool, with the work and its inputs in the form of the plan.
    fn call<T: Send>(
        &self,
        control: &Control<'_>,
        run: impl Fn(&dyn PlannedWork, &Batch<'_>, &Results) -> Result<T, Error> + Sync,
    ) -> Result<T, Error> {
        let call = self.call.as_ref().ok_or_else(|| input_count(0, input_names(&self.source)))?;
        let room = self.server.room()?;
        self.check_room(room)?;
        let run = |planned: &dyn PlannedWork, inputs: &[Ciphertext]| {
            let (instances, shape, outputs) = (self.instances, call.shape.clone(), &*call.outputs);
            let batch = Batch { inputs, instances, shape, outputs, room };
            self.server.pool.get()?.install(|| run(planned, &batch, &call.results))
        };
        if let Some(inputs) = self.ready() {
            return run(&*self.planned, inputs);
        }
        let silent = control.without_progress();
        let inputs = call.inputs.iter().map(|input| self.converted(input, &silent)).collect::<Result<Vec<_>, _>>()?;
        let planned = self.plan_anew(Some(&inputs), self.server.threads(), control)?;
        run(&*planned, &inputs)
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
        let need = self.planned.need(self.instances, self.server.threads()).least();
        memory::check_within(room, "the run with its results", &self.server.params(), need, memory::FEWER)
    }
}

/// Checks that the results of a server can hide their program.
fn check_private(server: &Server) -> Result<(), Error> {
    let scheme = server.params().scheme;
    if scheme.capabilities().private_program { Ok(()) } else { Err(Error::NoPrivateProgram { scheme }) }
}

/// The error for the plan of a conversion.
fn conversion() -> Error {
    Error::Request {
        what: "a conversion has no plan".into(),
        help: "leave the plan out; the program or circuit that follows has one".into(),
    }
}

/// The pinned plan on an engine, else the plan that its model chooses.
fn plan(
    server: &Server,
    request: &PlanRequest<'_>,
    pinned: Option<&Plan>,
    control: &Control<'_>,
) -> Result<Box<dyn PlannedWork>, Error> {
    let engine = Arc::clone(&server.engine);
    match pinned {
        Some(plan) => engine.pinned(plan, request),
        None => engine.plan(request, control),
    }
}

/// The plan of a conversion to the form that a ciphertext has.
struct Unchanged(Ciphertext);

impl PlannedWork for Unchanged {
    fn count(&self, _: usize) -> Result<Estimate, Error> {
        Ok(Estimate { scheme: self.0.scheme(), ..Estimate::default() })
    }

    fn estimate(
        &self,
        instances: usize,
        threads: usize,
        _: &rayon::ThreadPool,
        _: &Control<'_>,
    ) -> Result<Estimate, Error> {
        Ok(Estimate { threads, ..self.count(instances)? })
    }

    fn run(&self, _: &Batch<'_>, _: &Control<'_>) -> Result<Vec<Ciphertext>, Error> {
        Ok(vec![self.0.clone()])
    }
}

/// Whether a plan takes the inputs as they are.
fn is_ready(server: &Server, source: &Source, call: &Call) -> bool {
    let form = server.engine.form();
    matches!(source, Source::Convert(_)) || call.inputs.iter().all(|input| input.form() == form)
}

/// Checks inputs against ports. Returns the shape of the first array.
fn check_inputs(
    server: &Server,
    ports: &[(String, Type)],
    fits: impl Fn(Type, Type) -> bool,
    inputs: &[Ciphertext],
) -> Result<Option<Vec<usize>>, Error> {
    if inputs.len() != ports.len() {
        return Err(input_count(inputs.len(), ports.iter().map(described).collect()));
    }
    let mut shape: Option<Vec<usize>> = None;
    let (key_id, params) = (server.key_id(), server.params());
    for ((name, ty), input) in ports.iter().zip(inputs) {
        same_key(|| format!("input {name:?}"), input, key_id, &params)?;
        if input.is_compact() {
            return Err(Error::Compact { what: format!("input {name:?}") });
        }
        if !fits(*ty, input.ty()) {
            return Err(Error::InputType { name: name.clone(), want: *ty, got: input.ty() });
        }
        if let Some(of_input) = input.shape() {
            match &shape {
                Some(shape) if shape != of_input => {
                    return Err(Error::Broadcast { lhs: shape.iter().product(), rhs: input.len() });
                }
                _ => shape = Some(of_input.to_vec()),
            }
        }
    }
    Ok(shape)
}

/// The outputs of a program on these inputs. Scalars of integers modulo a number stay scalars, because their
/// ciphertexts hold the scalar in every slot.
fn outputs(program: &Program, inputs: &[Ciphertext], shape: Option<&[usize]>) -> Result<Vec<OutputSpec>, Error> {
    let arrays = program.arrays(&inputs.iter().map(|input| input.shape().is_some()).collect::<Vec<_>>());
    let of_output = |output: &program::Output| {
        let (at, ty) = (output.value.0 as usize, program.nodes[output.value.0 as usize].ty);
        OutputSpec { ty, scalar: ty.modulus().is_some() && !arrays[at] }
    };
    let outputs: Vec<OutputSpec> = program.outputs.iter().map(of_output).collect();
    let empty = shape.is_some_and(|shape| shape.contains(&0));
    match outputs.iter().zip(&program.outputs).find(|(spec, _)| spec.scalar && empty) {
        Some((_, output)) => Err(Error::Empty { output: output.name.clone() }),
        None => Ok(outputs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::{Form, Input, KeyId, KeygenOptions, ParamsInfo, Plain, keygen};
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

        fn memory_bytes(&self) -> usize {
            self.0.memory_bytes()
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
