//! The smallest parameters for a task.

use pyo3::prelude::*;
use solinas_schemes::ntru::KeyDistribution;
use solinas_schemes::ntru::find::{ParamsRequest, find};

use crate::error::{Failure, guarded};
use crate::params::as_dict;

/// The smallest parameters of the NTRU scheme.
#[pyfunction]
pub(crate) fn find_params<'py>(
    py: Python<'py>,
    task: (usize, u64, u32),
    security: f64,
    ternary: Option<bool>,
    ring_reduction: bool,
    slots: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let (depth, plaintext_modulus, terms) = task;
    let keys = ternary.map(|ternary| if ternary { KeyDistribution::Ternary } else { KeyDistribution::Gaussian });
    let wanted =
        ParamsRequest { security, terms, keys, ring_reduction, slots, ..ParamsRequest::new(depth, plaintext_modulus) };
    let error = |error| Failure::from(solinas_engine::Error::from(error));
    let found = guarded(py, || find(&wanted).map_err(error))?;
    let described = as_dict(py, &found)?;
    described.set_item("attack", found.estimate.attack.name())?;
    Ok(described)
}

/// The smallest parameters of the BGV scheme.
#[pyfunction]
pub(crate) fn find_bgv(
    py: Python<'_>,
    depth: usize,
    plaintext_modulus: u64,
    security: u16,
) -> PyResult<Bound<'_, PyAny>> {
    let found = guarded(py, || Ok(solinas_engine::smallest_bgv(depth, plaintext_modulus, security)?))?;
    as_dict(py, &found)
}
