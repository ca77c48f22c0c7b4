//! Parameter sets and costs, as dictionaries.

use pyo3::exceptions::PyValueError;
use std::sync::Arc;

use pyo3::prelude::*;
use serde::Serialize;
use solinas_engine::{Estimate, Job, Scheme};

use crate::error::Failure;
use crate::job::wait;
use crate::program::PyProgram;

/// A serialised value as Python's dictionaries, lists and numbers.
pub(crate) fn as_dict<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))?;
    py.import("json")?.getattr("loads")?.call1((text,))
}

/// A cost; `work` is the counts in words.
pub(crate) fn estimate_dict<'py>(py: Python<'py>, estimate: &Estimate) -> PyResult<Bound<'py, PyAny>> {
    let cost = as_dict(py, estimate)?;
    cost.set_item("work", estimate.to_string())?;
    Ok(cost)
}

/// Every parameter set, the default first.
#[pyfunction]
pub(crate) fn params(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    as_dict(py, &solinas_engine::params())
}

/// The GPUs of the machine.
#[pyfunction]
pub(crate) fn gpus(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    as_dict(py, &solinas_engine::gpus().gpus)
}

/// The cost of a program under a parameter set, of the given scheme or of the first that has a set of this name. Ctrl-C stops it.
#[pyfunction]
pub(crate) fn cost<'py>(
    py: Python<'py>,
    program: &PyProgram,
    params: &str,
    scheme: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let (program, params) = (Arc::clone(&program.program), params.to_owned());
    let scheme: Option<Scheme> = scheme.map(str::parse).transpose().map_err(Failure::from)?;
    let job: Job<_, Failure> =
        Job::start(move |control| Ok(solinas_engine::cost_under(scheme, &program, &params, control)?))?;
    wait(&job, py, None, None)?;
    estimate_dict(py, &job.take()?)
}
