//! The server, and the programs that it computes.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::prelude::*;
use solinas_circuits::program::{Op, Output};
use solinas_engine::{
    Ciphertext, Control, Error, Form, Input, Inputs, Job, LaneBatch, PrepareOptions, Prepared, Program, Server,
    ServerOptions, Type, Work,
};

use crate::ciphertext::PyCiphertext;
use crate::error::{Failure, circuit_error, guarded};
use crate::expr::{PyInput, owned};
use crate::job::{PyJob, wait};
use crate::keys::PyServerKey;
use crate::params::estimate_dict;
use crate::plan::PyPlan;
use crate::program::PyProgram;

/// A server: an evaluation key that is ready for work, and threads.
#[pyclass(module = "solinas._core", name = "Server", frozen)]
pub(crate) struct PyServer {
    pub(crate) server: Arc<Server>,
}

/// The program with the public values in place of inputs, and the ciphertexts that are left as its inputs.
pub(crate) fn with_constants(program: &Program, inputs: Vec<Input>) -> Result<(Program, Vec<Ciphertext>), Error> {
    let (mut public, mut encrypted) = (HashMap::new(), Vec::new());
    for (index, input) in (0u32..).zip(inputs) {
        match input {
            Input::Public(plain) => {
                public.insert(index, plain.try_into()?);
            }
            Input::Encrypted(ciphertext) => encrypted.push(ciphertext),
        }
    }
    Ok((program.with_public(&public)?, encrypted))
}

/// The results of a program that computes nothing.
pub(crate) fn known(program: &Program, inputs: &[Input]) -> Option<Vec<Ciphertext>> {
    let one = |output: &Output| match program.nodes[output.value.0 as usize].op {
        Op::Input(index) => match &inputs[index as usize] {
            Input::Encrypted(ciphertext) => Some(ciphertext.clone()),
            Input::Public(_) => None,
        },
        _ => None,
    };
    program.outputs.iter().map(one).collect()
}

/// The only result of a conversion.
fn ciphertext_of(results: Vec<Ciphertext>) -> Result<Ciphertext, Failure> {
    results.into_iter().next().ok_or_else(|| Error::Internal("the conversion has no result".into()).into())
}

/// The inputs of a call.
fn given(inputs: &[Bound<'_, PyInput>]) -> Inputs {
    Inputs::Given(owned(inputs))
}

/// Fresh inputs of that many elements.
fn fresh(elements: usize) -> Inputs {
    Inputs::Fresh { instances: elements }
}

#[pymethods]
impl PyServer {
    /// Loads a key into memory and starts threads. `None` stands for the default of a limit.
    #[new]
    fn new(
        py: Python<'_>,
        key: &PyServerKey,
        threads: Option<usize>,
        memory: Option<u64>,
        device: Option<&str>,
        model: Option<&str>,
    ) -> PyResult<Self> {
        let key = Arc::clone(&key.key);
        let device = device.map(str::parse).transpose().map_err(|error| Failure::from(Error::from(error)))?;
        let model = model.map(str::parse).transpose().map_err(Failure::from)?;
        let options = ServerOptions { threads, memory, device, model, ..ServerOptions::default() };
        let job: Job<_, Failure> = Job::start(move |_| Ok(Server::with_options(&key, &options)?))?;
        wait(&job, py, None, None)?;
        Ok(Self { server: Arc::new(job.take()?) })
    }

    /// The number of threads.
    #[getter]
    fn threads(&self) -> usize {
        self.server.threads()
    }

    /// The device that computes.
    #[getter]
    fn device(&self) -> String {
        self.server.device().to_string()
    }

    /// The rule by which plans are chosen.
    #[getter]
    fn model(&self) -> String {
        self.server.model().to_string()
    }

    /// The error of the GPU after which a server on `auto` computed on the processor.
    #[getter]
    fn device_failure(&self) -> Option<&str> {
        self.server.device_failure()
    }

    /// The bytes of the key in memory.
    #[getter]
    fn memory_bytes(&self) -> usize {
        self.server.memory_bytes()
    }

    /// Starts a program, by a plan if there is one.
    #[pyo3(signature = (inputs, program, plan=None, auditable=false, private_program=false))]
    fn start(
        &self,
        inputs: Vec<Bound<'_, PyInput>>,
        program: &PyProgram,
        plan: Option<&PyPlan>,
        auditable: bool,
        private_program: bool,
    ) -> PyResult<PyJob> {
        let (inputs, program) = (owned(&inputs), Arc::clone(&program.program));
        let (server, plan) = (Arc::clone(&self.server), plan.map(|plan| plan.inner.clone()));
        let work = move |control: &Control<'_>| {
            if let Some(results) = known(&program, &inputs).filter(|_| !private_program) {
                return Ok(results);
            }
            let options = PrepareOptions { plan: plan.as_ref(), private_program };
            let prepared = server.prepare_with(Work::program(&program, &inputs), options, control)?;
            Ok(prepared.auditable(auditable).run(control)?)
        };
        Ok(PyJob::new(Job::start(work)?))
    }

    /// Starts a batch of lanes that another server has planned.
    fn start_batch(
        &self,
        inputs: Vec<PyRef<'_, PyCiphertext>>,
        program: &PyProgram,
        plan: &PyPlan,
        hides: bool,
    ) -> PyResult<PyJob> {
        let inputs = inputs.iter().map(|input| input.inner.clone()).collect();
        let batch = LaneBatch { program: (*program.program).clone(), plan: plan.inner.clone(), inputs, hides };
        let server = Arc::clone(&self.server);
        Ok(PyJob::new(Job::start(move |control| Ok(server.run_batch(&batch, control)?))?))
    }

    /// The plan of a program on inputs. Ctrl-C stops the planning.
    fn plan(&self, py: Python<'_>, inputs: Vec<Bound<'_, PyInput>>, program: &PyProgram) -> PyResult<PyPlan> {
        Ok(self.prepared(py, given(&inputs), program, false, |work, _| work.plan())?.into())
    }

    /// The plan of a program on fresh inputs.
    fn plan_fresh(&self, py: Python<'_>, program: &PyProgram, elements: usize) -> PyResult<PyPlan> {
        Ok(self.prepared(py, fresh(elements), program, false, |work, _| work.plan())?.into())
    }

    /// Converts a ciphertext to the form `bits` or `radix`. Ctrl-C stops it.
    fn convert(&self, py: Python<'_>, ciphertext: &PyCiphertext, form: &str) -> PyResult<PyCiphertext> {
        let form = match form {
            "bits" => Form::Bits,
            "radix" => Form::Radix,
            _ => return Err(Failure::Format(format!("there is no form {form:?}; choose bits or radix")).into()),
        };
        let (server, ciphertext) = (Arc::clone(&self.server), ciphertext.inner.clone());
        let job: Job<_, Failure> = Job::start(move |control| {
            let converted = server.run(Work::Convert { ciphertext: &ciphertext, form }, control)?;
            ciphertext_of(converted)
        })?;
        wait(&job, py, None, None)?;
        Ok(job.take()?.into())
    }

    /// Returns the compact form of a result.
    fn compact(&self, py: Python<'_>, ciphertext: &PyCiphertext) -> PyResult<PyCiphertext> {
        let ciphertext = &ciphertext.inner;
        guarded(py, || Ok(self.server.compact(ciphertext)?.into()))
    }

    /// Starts the making of encrypted random values from a public seed. The job has one result.
    fn random(&self, ty: &str, shape: Option<Vec<usize>>, seed: Vec<u8>) -> PyResult<PyJob> {
        let ty: Type = ty.parse().map_err(|error| circuit_error(&error))?;
        let server = Arc::clone(&self.server);
        let work = move |control: &Control<'_>| Ok(vec![server.random(ty, shape, &seed, control)?]);
        Ok(PyJob::new(Job::start(work)?))
    }

    /// Predicts the cost of a program on inputs. Ctrl-C stops the measurement.
    fn estimate<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<Bound<'py, PyInput>>,
        program: &PyProgram,
        private_program: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        estimate_dict(py, &self.prepared(py, given(&inputs), program, private_program, Prepared::estimate)?)
    }

    /// Predicts the cost of a program on fresh inputs. Ctrl-C stops the measurement.
    fn estimate_fresh<'py>(
        &self,
        py: Python<'py>,
        program: &PyProgram,
        elements: usize,
        private_program: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        estimate_dict(py, &self.prepared(py, fresh(elements), program, private_program, Prepared::estimate)?)
    }
}

impl PyServer {
    /// Plans a program on a thread of its own, and reads a fact of the work. Ctrl-C stops it.
    fn prepared<T: Send + 'static>(
        &self,
        py: Python<'_>,
        inputs: Inputs,
        program: &PyProgram,
        private_program: bool,
        read: impl FnOnce(&Prepared, &Control<'_>) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let (server, program) = (Arc::clone(&self.server), Arc::clone(&program.program));
        let options = PrepareOptions { plan: None, private_program };
        let job: Job<T, Failure> = Job::start(move |control| {
            let work = server.prepare_with(Work::program(&program, inputs), options, control)?;
            Ok(read(&work, control)?)
        })?;
        wait(&job, py, None, None)?;
        job.take().map_err(Into::into)
    }
}
