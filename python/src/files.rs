//! Text files, written as the command writes them.

use std::path::PathBuf;

use pyo3::prelude::*;
use solinas_formats::NewFile;

use crate::error::{Failure, guarded};

/// Writes a text file, complete or not at all; it replaces another one.
#[pyfunction]
pub(crate) fn write_text(py: Python<'_>, path: PathBuf, text: &str) -> PyResult<()> {
    guarded(py, || {
        let written = NewFile::with_bytes(&path, text.as_bytes(), false, true).and_then(NewFile::persist);
        written.map(drop).map_err(|error| {
            let error = solinas_formats::Error::io(&path, "write", error);
            Failure::from(solinas_runtime::Error::from(error))
        })
    })
}
