//! Text files, written as the command writes them, and locks.

use std::path::PathBuf;

use pyo3::prelude::*;
use solinas_engine::Error;
use solinas_formats::Lock;

use crate::error::{Failure, guarded};

/// Writes a text file, complete or not at all. It replaces another one, but no key and no ciphertext.
#[pyfunction]
pub(crate) fn write_text(py: Python<'_>, path: PathBuf, text: &str) -> PyResult<()> {
    guarded(py, || solinas_engine::write_text(&path, text).map_err(|error| Failure::from(Error::from(error))))
}

/// A locked file, for one process at a time.
#[pyclass(module = "solinas._core", name = "Lock")]
pub(crate) struct PyLock(Option<Lock>);

#[pymethods]
impl PyLock {
    /// Locks a file. Creates it if it is missing. `None` while somebody else has the lock.
    #[staticmethod]
    fn take(path: PathBuf) -> PyResult<Option<Self>> {
        Ok(Lock::take(&path)?.map(|lock| Self(Some(lock))))
    }

    /// Ends the lock.
    fn release(&mut self) {
        self.0 = None;
    }
}
