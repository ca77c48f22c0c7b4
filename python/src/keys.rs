//! Keys: generation, files, encryption and decryption.

use std::path::PathBuf;
use std::sync::Arc;

use num_bigint::BigUint;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use solinas_runtime::{ClientKey, Job, KeygenOptions, Natural, Plain, PublicKey, ServerKey, Type};

use crate::ciphertext::PyCiphertext;
use crate::error::{Failure, circuit_error, guarded};
use crate::job::wait;
use crate::params::as_dict;

/// Generates a pair of keys. `watch` is called with (done, total).
#[pyfunction]
#[pyo3(signature = (scheme, params, rotations, research, insecure_seed, checkpoint, watch))]
#[allow(clippy::too_many_arguments, reason = "the keyword arguments of the Python function")]
pub(crate) fn keygen(
    py: Python<'_>,
    scheme: &str,
    params: Option<String>,
    rotations: bool,
    research: bool,
    insecure_seed: Option<u64>,
    checkpoint: Option<PathBuf>,
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<(PyClientKey, PyServerKey)> {
    let scheme = scheme.parse().map_err(Failure::from)?;
    let options = KeygenOptions { scheme, params, rotations, research, insecure_seed, checkpoint };
    let job = Job::start(move |control| Ok(solinas_runtime::keygen(&options, control)?))?;
    wait(&job, py, None, watch)?;
    let (client, server) = job.take()?;
    Ok((PyClientKey { inner: client }, server.into()))
}

/// The secret key.
#[pyclass(module = "solinas._core", name = "ClientKey", frozen)]
pub(crate) struct PyClientKey {
    inner: ClientKey,
}

#[pymethods]
impl PyClientKey {
    #[getter]
    fn key_id(&self) -> String {
        self.inner.key_id().to_string()
    }

    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        as_dict(py, &self.inner.params())
    }

    /// Why what the key protects is not safe, if so.
    fn weakness(&self) -> Option<String> {
        self.inner.weakness()
    }

    /// Encrypts values given as bits.
    fn encrypt(
        &self,
        py: Python<'_>,
        ty: &str,
        shape: Option<Vec<usize>>,
        values: Vec<BigUint>,
    ) -> PyResult<PyCiphertext> {
        let plain = plain(ty, shape, values)?;
        guarded(py, || Ok(self.inner.encrypt(&plain)?.into()))
    }

    /// The public key.
    fn public_key(&self, py: Python<'_>) -> PyResult<PyPublicKey> {
        guarded(py, || Ok(PyPublicKey { inner: self.inner.public_key()? }))
    }

    /// The values' bits.
    fn decrypt(&self, py: Python<'_>, ciphertext: &PyCiphertext) -> PyResult<Vec<BigUint>> {
        let ciphertext = &ciphertext.inner;
        guarded(py, || Ok(numbers(self.inner.decrypt(ciphertext)?.values)))
    }

    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> PyResult<()> {
        guarded(py, || Ok(self.inner.save(&path, overwrite)?))
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        guarded(py, || Ok(Self { inner: ClientKey::load(&path)? }))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.inner.to_bytes().map_err(Failure::from)?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        guarded(py, || Ok(Self { inner: ClientKey::from_bytes(data)? }))
    }
}

/// The public key, which encrypts.
#[pyclass(module = "solinas._core", name = "PublicKey", frozen)]
pub(crate) struct PyPublicKey {
    inner: PublicKey,
}

#[pymethods]
impl PyPublicKey {
    #[getter]
    fn key_id(&self) -> String {
        self.inner.key_id().to_string()
    }

    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        as_dict(py, &self.inner.params())
    }

    /// Why what the key protects is not safe, if so.
    fn weakness(&self) -> Option<String> {
        self.inner.weakness()
    }

    /// Encrypts values given as bits.
    fn encrypt(
        &self,
        py: Python<'_>,
        ty: &str,
        shape: Option<Vec<usize>>,
        values: Vec<BigUint>,
    ) -> PyResult<PyCiphertext> {
        let plain = plain(ty, shape, values)?;
        guarded(py, || Ok(self.inner.encrypt(&plain)?.into()))
    }

    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> PyResult<()> {
        guarded(py, || Ok(self.inner.save(&path, overwrite)?))
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        guarded(py, || Ok(Self { inner: PublicKey::load(&path)? }))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = guarded(py, || Ok(self.inner.to_bytes()?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        guarded(py, || Ok(Self { inner: PublicKey::from_bytes(data)? }))
    }
}

/// The public evaluation key.
#[pyclass(module = "solinas._core", name = "ServerKey", frozen)]
pub(crate) struct PyServerKey {
    pub(crate) key: Arc<ServerKey>,
}

impl From<ServerKey> for PyServerKey {
    fn from(key: ServerKey) -> Self {
        Self { key: Arc::new(key) }
    }
}

/// Bits for Python.
pub(crate) fn numbers(values: Vec<Natural>) -> Vec<BigUint> {
    values.into_iter().map(BigUint::from).collect()
}

/// Values given as bits.
pub(crate) fn plain(ty: &str, shape: Option<Vec<usize>>, values: Vec<BigUint>) -> PyResult<Plain> {
    let ty: Type = ty.parse().map_err(|error| circuit_error(&error))?;
    Ok(Plain::new(ty, shape, values).map_err(Failure::from)?)
}

#[pymethods]
impl PyServerKey {
    #[getter]
    fn key_id(&self) -> String {
        self.key.key_id().to_string()
    }

    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        as_dict(py, &self.key.params())
    }

    /// Why what the key protects is not safe, if so.
    fn weakness(&self) -> Option<String> {
        self.key.weakness()
    }

    /// Encrypts values given as bits, with the public key that a server key of most schemes holds.
    fn encrypt(
        &self,
        py: Python<'_>,
        ty: &str,
        shape: Option<Vec<usize>>,
        values: Vec<BigUint>,
    ) -> PyResult<PyCiphertext> {
        let plain = plain(ty, shape, values)?;
        guarded(py, || Ok(self.key.encrypt(&plain)?.into()))
    }

    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> PyResult<()> {
        guarded(py, || Ok(self.key.save(&path, overwrite)?))
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        guarded(py, || Ok(ServerKey::load(&path)?.into()))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = guarded(py, || Ok(self.key.to_bytes()?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        guarded(py, || Ok(ServerKey::from_bytes(data)?.into()))
    }
}
