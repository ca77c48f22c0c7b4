//! A service, which computes programs.

use std::sync::Arc;

use pyo3::prelude::*;
use solinas_circuits::program::{Input as Port, Program};
use solinas_client::{Input as Sent, JobRequest, Remote, Trust};
use solinas_engine::{Ciphertext, Control, Error, Job, ServerKey};

use crate::error::{Failure, guarded};
use crate::expr::{PyInput, owned};
use crate::job::{Ids, PyJob};
use crate::keys::PyServerKey;
use crate::program::PyProgram;
use crate::server::{known, with_constants};

/// A service and a token for it.
#[pyclass(module = "solinas._core", name = "Remote", frozen)]
pub(crate) struct PyRemote {
    remote: Remote,
}

/// Computes a program as one job.
fn run(
    remote: &Remote,
    key: &ServerKey,
    request: &JobRequest,
    inputs: &[Ciphertext],
    control: &Control<'_>,
    ids: &Ids,
) -> Result<Vec<Ciphertext>, Failure> {
    let bytes = |input: &Ciphertext| -> Result<Sent, Failure> { Ok(Sent::Encrypted(input.to_bytes()?)) };
    let inputs = inputs.iter().map(bytes).collect::<Result<Vec<_>, _>>()?;
    let key_id = key.key_id().to_string();
    let job = remote.with_key(|| Ok::<_, Failure>(key.to_bytes()?), || remote.submit(request, &key_id, &inputs))?;
    ids.add(job.id());
    let results = job.ciphertexts(control);
    if matches!(results, Err(solinas_client::Error::Values(Error::Cancelled))) {
        job.cancel()?;
    }
    Ok(results?)
}

#[pymethods]
impl PyRemote {
    /// Finds the service.
    #[new]
    #[pyo3(signature = (url, token, insecure_http=false))]
    fn new(py: Python<'_>, url: &str, token: &str, insecure_http: bool) -> PyResult<Self> {
        let trust = Trust { insecure_http, ..Trust::default() };
        guarded(py, || Ok(Self { remote: Remote::connect(url, token, &trust)? }))
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

    /// Starts a program as one job, unless it computes nothing.
    #[allow(clippy::too_many_arguments, reason = "the keyword arguments of the Python function")]
    fn start(
        &self,
        key: &PyServerKey,
        inputs: Vec<Bound<'_, PyInput>>,
        program: &PyProgram,
        deadline: Option<String>,
        max_core_seconds: Option<f64>,
        auditable: bool,
        private_program: bool,
    ) -> PyResult<PyJob> {
        let (inputs, program) = (owned(&inputs), Arc::clone(&program.program));
        let (remote, key, ids) = (self.remote.clone(), key.key.clone(), Ids::default());
        let started = ids.clone();
        let work = move |control: &Control<'_>| {
            if let Some(results) = known(&program, &inputs).filter(|_| !private_program) {
                return Ok(results);
            }
            // A request is short and a program may be long, so public values are a part of the program.
            let (program, inputs) = with_constants(&program, inputs)?;
            let request = JobRequest::new(program.to_json("program")?).deadline(deadline);
            let request = request.max_core_seconds(max_core_seconds);
            let request = request.auditable(auditable).private_program(private_program);
            run(&remote, &key, &request, &inputs, control, &started)
        };
        Ok(PyJob::on_service(Job::start(work)?, ids))
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

    /// The state of a job, as JSON.
    fn job(&self, py: Python<'_>, id: &str) -> PyResult<String> {
        guarded(py, || Ok(self.remote.job(id).state(0)?.json().to_string()))
    }

    /// The schedule of a job, as JSON.
    fn schedule(&self, py: Python<'_>, id: &str) -> PyResult<String> {
        guarded(py, || Ok(self.remote.job(id).schedule()?.to_string()))
    }

    /// The schedule of a job, as a picture in SVG.
    fn schedule_svg(&self, py: Python<'_>, id: &str) -> PyResult<String> {
        guarded(py, || Ok(self.remote.job(id).schedule_svg()?))
    }

    /// The newest jobs, as JSON.
    fn jobs(&self, py: Python<'_>, state: Option<String>, limit: usize) -> PyResult<String> {
        guarded(py, || Ok(serde_json::Value::from(self.remote.jobs(state.as_deref(), limit)?).to_string()))
    }

    /// The registered keys, as JSON.
    fn keys(&self, py: Python<'_>) -> PyResult<String> {
        guarded(py, || Ok(self.remote.keys()?.to_string()))
    }

    /// Quotas, limits, and what was used today, as JSON.
    fn usage(&self, py: Python<'_>) -> PyResult<String> {
        guarded(py, || Ok(self.remote.usage()?.to_string()))
    }

    /// The cost of a program on these inputs, as JSON.
    fn estimate(
        &self,
        py: Python<'_>,
        key: &PyServerKey,
        inputs: Vec<Bound<'_, PyInput>>,
        program: &PyProgram,
        private_program: bool,
    ) -> PyResult<String> {
        let inputs = owned(&inputs);
        guarded(py, || {
            let (program, inputs) = with_constants(&program.program, inputs)?;
            let shapes: Vec<_> = inputs.iter().map(|input| input.shape().unwrap_or_default().to_vec()).collect();
            self.cost(key, &program, &shapes, private_program)
        })
    }

    /// The cost of a program on fresh inputs, of which those of any shape have this one, as JSON.
    fn estimate_fresh(
        &self,
        py: Python<'_>,
        key: &PyServerKey,
        program: &PyProgram,
        shape: Vec<usize>,
        private_program: bool,
    ) -> PyResult<String> {
        guarded(py, || {
            let program = &program.program;
            let own = |input: &Port| input.shape.as_ref().map_or_else(|| shape.clone(), |shape| shape.to_vec());
            let shapes: Vec<_> = program.inputs.iter().map(own).collect();
            self.cost(key, program, &shapes, private_program)
        })
    }
}

impl PyRemote {
    fn cost(
        &self,
        key: &PyServerKey,
        program: &Program,
        shapes: &[Vec<usize>],
        private_program: bool,
    ) -> Result<String, Failure> {
        let request = JobRequest::new(program.to_json("program")?).private_program(private_program);
        let key_id = key.key.key_id().to_string();
        let estimate = || self.remote.estimate(&request, &key_id, Some(shapes));
        let cost = self.remote.with_key(|| Ok::<_, Failure>(key.key.to_bytes()?), estimate)?;
        serde_json::to_string(&cost).map_err(|error| Error::Internal(error.to_string()).into())
    }
}
