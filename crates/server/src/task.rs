//! The task of a job in memory: a program or circuit, and its inputs.

use crate::error::{Code, Problem};
use crate::id::{Digest, Tenant};
use crate::reduction::Reduction;
use crate::shelf::Files;
use crate::source::Source;
use crate::spec::{Computation, Constant, InputSpec};
use solinas_runtime::{
    Ciphertext, Control, Input, Plain, Plan, Prepared, Server, ServerKey, ServerOptions, Type, Work,
};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// Memory for the inputs of a job: a quarter of what is free when the first of them is read.
struct Room(u64);

impl Default for Room {
    fn default() -> Self {
        Self(solinas_runtime::memory_budget().map_or(u64::MAX, |budget| budget / 4))
    }
}

impl Room {
    fn take(&mut self, bytes: u64) -> Result<(), Problem> {
        self.0 = self.0.checked_sub(bytes).ok_or_else(|| {
            let what = "the inputs together are larger than the memory that the service has for them";
            Problem::new(Code::TooLarge, what, "split the job")
        })?;
        Ok(())
    }
}

/// A task in memory.
pub(crate) struct Task {
    pub(crate) server: Server,
    /// None for a reduction of the only input.
    pub(crate) source: Option<Source>,
    pub(crate) reduction: Option<Reduction>,
    pub(crate) inputs: Vec<Input>,
}

impl Task {
    /// Checks and plans its program or circuit, or takes a plan.
    pub(crate) fn prepare(
        &self,
        source: &Source,
        plan: Option<&Plan>,
        control: &Control<'_>,
    ) -> Result<Prepared, Problem> {
        let encrypted = || -> Result<Vec<Ciphertext>, Problem> {
            let one = |input: &Input| match input {
                Input::Encrypted(ciphertext) => Ok(ciphertext.clone()),
                Input::Public(_) => Err(Problem::new(
                    Code::WrongType,
                    "a constant stands for an input of a circuit",
                    "encrypt the value, or write a program in place of the circuit",
                )),
            };
            self.inputs.iter().map(one).collect()
        };
        let work = match source {
            Source::Program(program) => Work::program(program, &self.inputs),
            Source::Circuit(netlist) => Work::circuit(netlist, &encrypted()?),
        };
        Ok(match plan {
            Some(plan) => self.server.prepare_pinned(work, plan, control)?,
            None => self.server.prepare(work, control)?,
        })
    }

    /// Names of the results.
    pub(crate) fn outputs(&self) -> Vec<&str> {
        match (&self.source, &self.reduction) {
            (Some(source), None) => source.outputs(),
            _ => vec!["result"],
        }
    }
}

/// Makes the server of a key in a file.
///
/// # Errors
/// [`Code::BadFile`]; [`Code::BadParams`] for a key that does not fit in memory, or for which the device has no kernels.
pub(crate) fn load_server(path: &Path, key_id: &str, options: &ServerOptions) -> Result<Server, Problem> {
    let loaded = ServerKey::load(path).map_err(|error| {
        tracing::error!(%error, "a registered key cannot be read");
        let what = format!("the file of the key {key_id} is damaged on the service");
        Problem::new(Code::BadFile, what, "ask the operator to run `solinas admin check`")
    })?;
    Ok(Server::with_options(&loaded, options)?)
}

/// Reads the key, the program and the inputs of a task.
///
/// # Errors
/// What is missing, or cannot be used.
pub(crate) fn load(
    files: &dyn Files,
    tenant: &Tenant,
    key: &str,
    computation: &Computation,
    inputs: &[InputSpec],
) -> Result<Task, Problem> {
    let program = computation.program.as_ref();
    let source = program.map(|program| Source::load(files, tenant, program)).transpose()?;
    let server = files.server(tenant, key)?;
    let most = files.most_inputs();
    let expected = source.as_ref().filter(|_| computation.reduce.is_none()).map(Source::inputs);
    if let Some(expected) = expected.filter(|&expected| inputs.len() > expected) {
        let what = format!("the program has {expected} inputs, and the job gives {}", inputs.len());
        return Err(Problem::new(Code::WrongShape, what, "give one for each input of the program"));
    }
    let mut room = Room::default();
    let mut all = Vec::new();
    for one in inputs {
        all.extend(input(files, tenant, one, &mut room)?);
        if all.len() > most {
            let fix = "put values together in arrays; the operator's setting is `inputs`";
            return Err(Problem::new(Code::BadRequest, format!("the job has more than {most} inputs"), fix));
        }
    }
    let reduction = match &computation.reduce {
        Some(how) => Some(Reduction::of(files, tenant, how, source.as_ref(), &all)?),
        None => None,
    };
    Ok(Task { server, source, reduction, inputs: all })
}

/// An input, or one for each of its elements.
fn input(files: &dyn Files, tenant: &Tenant, input: &InputSpec, room: &mut Room) -> Result<Vec<Input>, Problem> {
    let mut uploaded = |digest: &Digest| ciphertext(files, tenant, digest, room);
    Ok(match input {
        InputSpec::Constant(Constant { ty, values, shape }) => {
            let ty: Type = ty.parse()?;
            vec![Input::Public(Plain::parse(ty, values, shape.clone())?)]
        }
        InputSpec::Blob(digest) => vec![uploaded(digest)?.into()],
        InputSpec::Elements(digest) => {
            let array = uploaded(digest)?;
            (0..array.len()).map(|index| Ok(array.get(index)?.into())).collect::<Result<_, Problem>>()?
        }
    })
}

fn ciphertext(files: &dyn Files, tenant: &Tenant, digest: &Digest, room: &mut Room) -> Result<Ciphertext, Problem> {
    let (path, bytes) = files.ciphertext(tenant, digest)?;
    room.take(bytes)?;
    let ciphertext = Ciphertext::load(&path).map_err(|error| {
        // The path is of no use to a caller.
        let error = match error {
            solinas_runtime::Error::InFile { source, .. } => *source,
            other => other,
        };
        let mut problem = Problem::from(error);
        problem.detail = format!("the blob {digest} cannot be used: {}", problem.detail);
        problem
    })?;
    if ciphertext.is_compact() {
        let what = format!("the blob {digest} is a compact result, which cannot be computed with");
        return Err(Problem::new(Code::WrongType, what, "compute it again in the full form"));
    }
    Ok(ciphertext)
}

/// Does work with a control that stops it after that time.
pub(crate) fn within<T>(limit: Duration, work: impl FnOnce(&Control<'_>) -> T) -> T {
    let cancel = AtomicBool::new(false);
    let (done, ends) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let cancel = &cancel;
        let watch = move || {
            if ends.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
                cancel.store(true, Ordering::Relaxed);
            }
        };
        if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, watch) {
            tracing::error!(%error, "work has no limit of time");
        }
        let result = work(&Control { progress: None, cancel: Some(cancel) });
        drop(done);
        result
    })
}
