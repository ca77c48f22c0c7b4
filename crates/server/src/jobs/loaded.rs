//! A job that is loaded: its server, its program and its inputs in memory.

use crate::error::{Code, Problem};
use crate::id::{Digest, Tenant};
use crate::jobs::source;
use crate::jobs::spec::{Constant, InputSpec};
use crate::jobs::storage::Files;
use solinas_engine::{
    Ciphertext, CiphertextFacts, Control, Input, Plain, Plan, PrepareOptions, Prepared, Program, Server, ServerKey,
    ServerOptions, Type, Work,
};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// Memory for the inputs of a job, in bytes that are left.
struct MemoryAllowance(u64);

impl MemoryAllowance {
    fn take(&mut self, bytes: u64) -> Result<(), Problem> {
        self.check(bytes)?;
        self.0 -= bytes;
        Ok(())
    }

    fn check(&self, bytes: u64) -> Result<(), Problem> {
        match bytes > self.0 {
            true => {
                let what = "the inputs together are larger than the memory that the service has for them";
                let fix = "split the job; the operator's setting is `job_memory_bytes`";
                Err(Problem::new(Code::TooLarge, what, fix))
            }
            false => Ok(()),
        }
    }
}

/// A job in memory.
pub(crate) struct LoadedJob {
    pub(crate) server: Server,
    pub(crate) program: Program,
    pub(crate) inputs: Vec<Input>,
    /// Whether the results hide the program.
    pub(crate) private_program: bool,
}

impl LoadedJob {
    /// Checks and plans its program, or takes a plan.
    pub(crate) fn prepare(&self, plan: Option<&Plan>, control: &Control<'_>) -> Result<Prepared, Problem> {
        let work = Work::program(&self.program, &self.inputs);
        let options = PrepareOptions { plan, private_program: self.private_program };
        Ok(self.server.prepare_with(work, options, control)?)
    }

    /// Names of the results.
    pub(crate) fn outputs(&self) -> Vec<&str> {
        self.program.outputs.iter().map(|output| output.name.as_str()).collect()
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
    Server::with_options(&loaded, options).map_err(|error| match error {
        // No other job with this key would fit.
        solinas_engine::Error::Memory { .. } => Problem::of(Code::BadParams, &error),
        other => other.into(),
    })
}

/// Reads the key, the program and the inputs of a job.
///
/// # Errors
/// What is missing, or cannot be used.
pub(crate) fn load(
    files: &dyn Files,
    tenant: &Tenant,
    key: &str,
    program: &Digest,
    inputs: &[InputSpec],
    private_program: bool,
) -> Result<LoadedJob, Problem> {
    let program = source::load(files, tenant, program)?;
    let server = files.server(tenant, key)?;
    let inputs = Loader::new(files, tenant).load(inputs, program.inputs.len())?;
    Ok(LoadedJob { server, program, inputs, private_program })
}

/// Reads the inputs of a job. Each file is read once, however often the job names it, and not before the headers of all files have shown that their number
/// and their memory are allowed.
struct Loader<'a> {
    files: &'a dyn Files,
    tenant: &'a Tenant,
    memory: MemoryAllowance,
    read: HashMap<&'a Digest, Ciphertext>,
}

impl<'a> Loader<'a> {
    fn new(files: &'a dyn Files, tenant: &'a Tenant) -> Self {
        Self { files, tenant, memory: MemoryAllowance(files.input_memory()), read: HashMap::new() }
    }

    /// The inputs of a program that takes `expected` of them.
    fn load(mut self, inputs: &'a [InputSpec], expected: usize) -> Result<Vec<Input>, Problem> {
        self.check(inputs, expected)?;
        let mut all = Vec::new();
        for one in inputs {
            match one {
                InputSpec::Constant(Constant { ty, values, shape }) => {
                    let ty: Type = ty.parse()?;
                    all.push(Input::Public(Plain::parse(ty, values, shape.clone())?));
                }
                InputSpec::Blob(digest) => all.push(self.ciphertext(digest)?.into()),
            }
        }
        Ok(all)
    }

    /// Checks the number and the memory of the inputs by the headers of their files.
    fn check(&mut self, inputs: &'a [InputSpec], expected: usize) -> Result<(), Problem> {
        if inputs.len() != expected {
            let what = format!("the program has {expected} inputs, and the job gives {}", inputs.len());
            return Err(Problem::new(Code::WrongShape, what, "give one for each input of the program"));
        }
        let (mut known, mut passing) = (HashSet::new(), 0);
        for digest in inputs.iter().filter_map(InputSpec::digest) {
            if known.insert(digest) {
                let facts = self.peek(digest)?;
                self.memory.take(facts.memory_bytes)?;
                // What one file takes for a while, others take after it.
                passing = passing.max(facts.loading_bytes.saturating_sub(facts.memory_bytes));
                self.memory.check(passing)?;
            }
        }
        Ok(())
    }

    /// What the header of a ciphertext says.
    fn peek(&self, digest: &Digest) -> Result<CiphertextFacts, Problem> {
        let path = self.files.ciphertext(self.tenant, digest)?;
        let facts = Ciphertext::peek(&path).map_err(|error| unusable(digest, error))?;
        if facts.is_compact {
            let what = format!("the blob {digest} is a compact result, which cannot be computed with");
            return Err(Problem::new(Code::WrongType, what, "compute it again in the full form"));
        }
        Ok(facts)
    }

    fn ciphertext(&mut self, digest: &'a Digest) -> Result<Ciphertext, Problem> {
        if let Some(ciphertext) = self.read.get(digest) {
            return Ok(ciphertext.clone());
        }
        let path = self.files.ciphertext(self.tenant, digest)?;
        let ciphertext = Ciphertext::load(&path).map_err(|error| unusable(digest, error))?;
        self.read.insert(digest, ciphertext.clone());
        Ok(ciphertext)
    }
}

/// The problem of a file that is no ciphertext. Its path is of no use to a caller.
fn unusable(digest: &Digest, error: solinas_engine::Error) -> Problem {
    let error = match error {
        solinas_engine::Error::InFile { source, .. } => *source,
        other => other,
    };
    let mut problem = Problem::from(error);
    problem.detail = format!("the blob {digest} cannot be used: {}", problem.detail);
    problem
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
