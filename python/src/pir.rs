//! Private information retrieval: what travels between client and server is bytes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use solinas_engine::{Error, Fingerprint, Job, NoFingerprint, on_pool};
use solinas_schemes::lwe::pir::{Answer, Builder, Client, Database, Hint, Layout, Pending, Query};

use crate::error::{Failure, guarded};
use crate::job::wait;

/// A database that is being filled.
#[pyclass(module = "solinas._core", name = "PirBuilder", frozen)]
pub(crate) struct PyPirBuilder {
    /// None once the database is finished.
    inner: Mutex<Option<Builder>>,
}

#[pymethods]
impl PyPirBuilder {
    #[new]
    fn new(py: Python<'_>, records: usize, record_bytes: usize, queries: u32) -> PyResult<Self> {
        let make = || Builder::new(Layout::new(records, record_bytes, queries)?);
        guarded(py, || Ok(Self { inner: Mutex::new(Some(make().map_err(Error::from)?)) }))
    }

    /// Adds whole records.
    fn push(&self, py: Python<'_>, records: &[u8]) -> PyResult<()> {
        guarded(py, || {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(inner.as_mut().ok_or_else(finished)?.push(records).map_err(Error::from)?)
        })
    }

    fn finish(&self, py: Python<'_>) -> PyResult<PyPirDatabase> {
        guarded(py, || {
            let builder = self.inner.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or_else(finished)?;
            Ok(PyPirDatabase { inner: Arc::new(builder.finish().map_err(Error::from)?) })
        })
    }
}

fn finished() -> Error {
    Error::Internal("the database is finished".to_owned())
}

/// A database of a server.
#[pyclass(module = "solinas._core", name = "PirDatabase", frozen)]
pub(crate) struct PyPirDatabase {
    inner: Arc<Database>,
}

#[pymethods]
impl PyPirDatabase {
    #[getter]
    fn rows(&self) -> usize {
        self.inner.layout().rows()
    }

    #[getter]
    fn columns(&self) -> usize {
        self.inner.layout().columns()
    }

    #[getter]
    fn memory_bytes(&self) -> usize {
        self.inner.memory_bytes()
    }

    fn record<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        let record = guarded(py, || Ok(self.inner.record(index).map_err(Error::from)?))?;
        Ok(PyBytes::new(py, &record))
    }

    /// Computes the hint. `watch` is called with (done, total).
    #[pyo3(signature = (watch=None))]
    fn hint<'py>(&self, py: Python<'py>, watch: Option<&Bound<'_, PyAny>>) -> PyResult<Bound<'py, PyBytes>> {
        let database = Arc::clone(&self.inner);
        let job = Job::start(move |control| Ok::<_, Failure>(on_pool(|| Ok(database.hint(control)?.to_bytes()))?))?;
        wait(&job, py, None, watch)?;
        Ok(PyBytes::new(py, &job.take()?))
    }

    fn answer_all<'py>(
        &self,
        py: Python<'py>,
        queries: Vec<Bound<'py, PyBytes>>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let bytes: Vec<&[u8]> = queries.iter().map(|query| query.as_bytes()).collect();
        let work = || {
            let queries = bytes.iter().map(|bytes| Query::from_bytes(bytes)).collect::<Result<Vec<_>, _>>()?;
            Ok(self.inner.answer_all(&queries)?.iter().map(Answer::to_bytes).collect::<Vec<_>>())
        };
        let answers = guarded(py, || Ok(on_pool(work)?))?;
        Ok(answers.iter().map(|answer| PyBytes::new(py, answer)).collect())
    }
}

/// A client of a database, and its queries without an answer yet.
#[pyclass(module = "solinas._core", name = "PirClient", frozen)]
pub(crate) struct PyPirClient {
    client: Client,
    pending: Mutex<BTreeMap<[u8; 16], Pending>>,
}

#[pymethods]
impl PyPirClient {
    #[new]
    #[pyo3(signature = (hint, fingerprint = None))]
    fn new(py: Python<'_>, hint: &[u8], fingerprint: Option<&str>) -> PyResult<Self> {
        guarded(py, || {
            let parsed = fingerprint.map(str::parse::<Fingerprint>).transpose();
            let fingerprint = parsed.map_err(|error: NoFingerprint| {
                let (what, help) = (format!("{:?} is not a fingerprint", error.0), NoFingerprint::HELP.to_owned());
                Error::Request { what, help }
            })?;
            let hint = match fingerprint {
                Some(fingerprint) => Hint::from_trusted_bytes(hint, fingerprint),
                None => Hint::from_bytes(hint),
            };
            Ok(Self { client: Client::new(hint.map_err(Error::from)?), pending: Mutex::default() })
        })
    }

    #[getter]
    fn fingerprint(&self) -> String {
        self.client.hint().fingerprint().to_string()
    }

    #[getter]
    fn records(&self) -> usize {
        self.client.layout().records()
    }

    #[getter]
    fn record_bytes(&self) -> usize {
        self.client.layout().record_bytes()
    }

    fn query<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = guarded(py, || {
            let (query, pending) = on_pool(|| Ok(self.client.query(index)?))?;
            self.pending.lock().unwrap_or_else(PoisonError::into_inner).insert(pending.number(), pending);
            Ok(query.to_bytes())
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads the answer to a query. An answer that does not fit leaves the query waiting.
    fn read<'py>(&self, py: Python<'py>, answer: &[u8], query: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let record = guarded(py, || {
            let number = Query::from_bytes(query).map_err(Error::from)?.number();
            let answer = Answer::from_bytes(answer).map_err(Error::from)?;
            let none = || Error::from(solinas_schemes::Error::NoQuery);
            let mut all = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
            self.client.check(all.get(&number).ok_or_else(none)?, &answer).map_err(Error::from)?;
            let pending = all.remove(&number).ok_or_else(none)?;
            drop(all);
            Ok(self.client.read(pending, &answer).map_err(Error::from)?)
        })?;
        Ok(PyBytes::new(py, &record))
    }

    /// Wipes the secret of a query.
    fn forget(&self, py: Python<'_>, query: &[u8]) -> PyResult<()> {
        guarded(py, || {
            let number = Query::from_bytes(query).map_err(Error::from)?.number();
            self.pending.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
            Ok(())
        })
    }
}
