//! Batches of the lanes of a program, for machines that compute parts of them.

use pyo3::prelude::*;
use solinas_engine::{Batches, Control, Job, LaneBatch, PrepareOptions, Work};
use std::sync::Arc;

use crate::ciphertext::PyCiphertext;
use crate::error::{Failure, guarded};
use crate::expr::{PyInput, owned};
use crate::job::wait;
use crate::plan::PyPlan;
use crate::program::PyProgram;
use crate::server::PyServer;

/// The batches of a program that is planned, and how far they are.
#[pyclass(module = "solinas._core", name = "Batches")]
pub(crate) struct PyBatches(Batches);

/// The program of a batch, its plan, what it reads, and whether its results hide the program.
type Lanes = (PyProgram, PyPlan, Vec<PyCiphertext>, bool);

#[pymethods]
impl PyBatches {
    /// Plans a program, by a plan if there is one. Ctrl-C stops the planning.
    #[new]
    #[pyo3(signature = (server, inputs, program, plan=None, private_program=false))]
    fn new(
        py: Python<'_>,
        server: &PyServer,
        inputs: Vec<Bound<'_, PyInput>>,
        program: &PyProgram,
        plan: Option<&PyPlan>,
        private_program: bool,
    ) -> PyResult<Self> {
        let (inputs, program) = (owned(&inputs), Arc::clone(&program.program));
        let (server, plan) = (Arc::clone(&server.server), plan.map(|plan| plan.inner.clone()));
        let job: Job<Batches, Failure> = Job::start(move |control| {
            let options = PrepareOptions { plan: plan.as_ref(), private_program };
            Ok(server.prepare_with(Work::program(&program, &inputs), options, control)?.batches(control)?)
        })?;
        wait(&job, py, None, None)?;
        Ok(Self(job.take()?))
    }

    /// The next batch. A program reads an array with an element for each lane, or one value for all. None after the last batch.
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<Lanes>> {
        let lanes = |LaneBatch { program, plan, inputs, hides }| {
            (program.into(), plan.into(), inputs.into_iter().map(PyCiphertext::from).collect(), hides)
        };
        guarded(py, || Ok(self.0.next(&Control::default())?.map(lanes)))
    }

    /// Takes the results of the batch that `next` handed out, one array for each output of its program.
    fn finish(&mut self, py: Python<'_>, results: Vec<PyRef<'_, PyCiphertext>>) -> PyResult<()> {
        let results: Vec<_> = results.iter().map(|result| result.inner.clone()).collect();
        guarded(py, || Ok(self.0.finish(results)?))
    }

    /// The outputs of the program, after the last batch.
    fn outputs(&self, py: Python<'_>) -> PyResult<Vec<PyCiphertext>> {
        guarded(py, || Ok(self.0.outputs()?.into_iter().map(PyCiphertext::from).collect()))
    }
}
