//! Plans.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use solinas_engine::Plan;

use crate::error::guarded;

/// Every bootstrap of a program or circuit.
#[pyclass(module = "solinas._core", name = "Plan", frozen)]
pub(crate) struct PyPlan {
    pub(crate) inner: Plan,
}

impl From<Plan> for PyPlan {
    fn from(inner: Plan) -> Self {
        Self { inner }
    }
}

#[pymethods]
impl PyPlan {
    /// The hash of the plan.
    #[getter]
    fn id(&self) -> String {
        self.inner.id().to_string()
    }

    /// The name of the parameter set.
    #[getter]
    fn params_name(&self) -> String {
        self.inner.params().name
    }

    /// The rule that chose the plan.
    #[getter]
    fn model(&self) -> &str {
        self.inner.model()
    }

    /// The bootstraps of one element.
    #[getter]
    fn bootstraps(&self) -> u64 {
        self.inner.bootstraps()
    }

    /// The bootstraps of each wave of one element.
    #[getter]
    fn waves(&self) -> Vec<u64> {
        self.inner.waves()
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        guarded(py, || Ok(self.inner.save(&path)?))
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        guarded(py, || Ok(Plan::load(&path)?.into()))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &guarded(py, || Ok(self.inner.to_bytes()?))?))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        guarded(py, || Ok(Plan::from_bytes(data)?.into()))
    }
}
