//! Text files, written as the command writes them.

use std::path::PathBuf;

use pyo3::prelude::*;
use solinas_runtime::Error;

use crate::error::{Failure, guarded};

/// Writes a text file, complete or not at all. It replaces another one, but no key and no ciphertext.
#[pyfunction]
pub(crate) fn write_text(py: Python<'_>, path: PathBuf, text: &str) -> PyResult<()> {
    guarded(py, || solinas_runtime::write_text(&path, text).map_err(|error| Failure::from(Error::from(error))))
}
