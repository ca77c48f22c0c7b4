//! A service, which computes the steps that take time.

use pyo3::prelude::*;
use solinas_client::{Input as Sent, Program as Text, Remote};
use solinas_runtime::{Ciphertext, Control, Error, Input, Job, ProgressParts, export};

use crate::error::{Failure, guarded};
use crate::job::PyJob;
use crate::keys::PyServerKey;
use crate::server::{PyInput, PyStep, Step, ciphertexts, value};

/// A service and a token for it.
#[pyclass(module = "solinas._core", name = "Remote", frozen)]
pub(crate) struct PyRemote {
    remote: Remote,
}

/// Computes a step: on the service if it takes time, else here.
fn run(
    remote: &Remote,
    key: &[u8],
    step: &Step,
    values: &[Input],
    control: &Control<'_>,
) -> Result<Vec<Ciphertext>, Failure> {
    let (text, args) = match step {
        Step::Program(program, args, _) => (program.to_json("program")?, args),
        Step::Circuit(netlist, args, _) => (export::write_bristol(netlist)?, args),
        arrangement => return arrangement.arrange(values),
    };
    let one = |&at: &usize| -> Result<Sent, Failure> {
        Ok(match value(values, at)? {
            Input::Encrypted(ciphertext) => Sent::Encrypted(ciphertext.to_bytes()?),
            Input::Public(plain) => Sent::Public(plain.clone()),
        })
    };
    let inputs = args.iter().map(one).collect::<Result<Vec<_>, _>>()?;
    let job = remote.run(&Text::text(text), key, &inputs)?;
    let results = job.ciphertexts(control);
    if matches!(results, Err(solinas_client::Error::Runtime(Error::Cancelled))) {
        job.cancel()?;
    }
    Ok(results?)
}

#[pymethods]
impl PyRemote {
    /// Finds the service.
    #[new]
    fn new(py: Python<'_>, url: &str, token: &str) -> PyResult<Self> {
        guarded(py, || Ok(Self { remote: Remote::connect(url, token)? }))
    }

    /// The address.
    #[getter]
    fn url(&self) -> &str {
        self.remote.url()
    }

    /// Registers a server key. Returns the number of bytes that were sent.
    fn register(&self, py: Python<'_>, key: &PyServerKey) -> PyResult<u64> {
        guarded(py, || Ok(self.remote.register(&key.key.to_bytes()?)?.sent))
    }

    /// Starts the steps of a plan. The job's result is the values with the numbers `outputs`.
    fn start(
        &self,
        key: &PyServerKey,
        inputs: Vec<PyInput<'_>>,
        steps: Vec<PyStep<'_>>,
        outputs: Vec<usize>,
    ) -> PyResult<PyJob> {
        let mut values = inputs.into_iter().map(PyInput::owned).collect::<PyResult<Vec<_>>>()?;
        let steps: Vec<Step> = steps.into_iter().map(PyStep::owned).collect();
        let (remote, key) = (self.remote.clone(), key.key.clone());
        let work = move |control: &Control<'_>| {
            let key = key.to_bytes()?;
            let count = steps.iter().filter(|step| step.computes()).count();
            let (parts, mut done) = (ProgressParts::new(control, count), 0);
            for step in &steps {
                let results = match count {
                    0 | 1 => run(&remote, &key, step, &values, control)?,
                    _ => parts.run(done, |control| run(&remote, &key, step, &values, control))?,
                };
                values.extend(results.into_iter().map(Input::from));
                done += usize::from(step.computes());
            }
            ciphertexts(&values, &outputs)
        };
        Ok(PyJob::new(Job::start(work)?))
    }

    /// Waits for a job that was started before. The job's result is its results.
    fn follow(&self, id: &str) -> PyResult<PyJob> {
        let job = self.remote.job(id);
        let work = move |control: &Control<'_>| Ok(job.ciphertexts(control)?);
        Ok(PyJob::new(Job::start(work)?))
    }

    /// Cancels a job.
    fn cancel(&self, py: Python<'_>, id: &str) -> PyResult<()> {
        guarded(py, || Ok(self.remote.job(id).cancel().map(drop)?))
    }

    /// The state of a job, the jobs, the keys or the usage, as JSON.
    fn describe(&self, py: Python<'_>, what: &str, id: &str) -> PyResult<String> {
        guarded(py, || {
            Ok(match what {
                "job" => self.remote.job(id).state(0)?.json().clone(),
                "jobs" => self.remote.jobs()?,
                "keys" => self.remote.keys()?,
                _ => self.remote.usage()?,
            }
            .to_string())
        })
    }

    /// The cost of a program on arrays of that many elements, as JSON.
    fn estimate(&self, py: Python<'_>, key: &PyServerKey, program: &str, elements: usize) -> PyResult<String> {
        guarded(py, || {
            self.remote.register(&key.key.to_bytes()?)?;
            let cost = self.remote.estimate(&Text::text(program), &key.key.key_id().to_string(), elements)?;
            Ok(serde_json::json!({
                "bootstraps": cost.bootstraps, "recrypts": cost.recrypts, "products": cost.products, "depth": cost.depth,
                "core_seconds": cost.core_seconds, "seconds": cost.seconds, "queue_seconds": cost.queue_seconds,
            })
            .to_string())
        })
    }
}
