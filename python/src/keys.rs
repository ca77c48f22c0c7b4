//! Keys: generation, files, encryption and decryption.

use std::path::PathBuf;
use std::sync::Arc;

use num_bigint::BigUint;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use solinas_engine::{
    ClientKey, Error as RuntimeError, Job, KeygenOptions, Natural, NoFingerprint, Plain, PublicKey, ServerKey, Type,
};

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
    let job = Job::start(move |control| Ok(solinas_engine::keygen(&options, control)?))?;
    wait(&job, py, None, watch)?;
    let (client, server) = job.take()?;
    Ok((PyClientKey { inner: client }, server.into()))
}

/// The secret key.
#[pyclass(module = "solinas._core", name = "ClientKey", frozen)]
pub(crate) struct PyClientKey {
    inner: ClientKey,
}

impl PyClientKey {
    /// A key that was read. `research` is the consent to encrypt under a set for research only.
    fn new(key: ClientKey, research: bool) -> Self {
        Self { inner: if research { key.allow_research() } else { key } }
    }
}

#[pymethods]
impl PyClientKey {
    /// The fingerprint of the key pair.
    #[getter]
    fn fingerprint(&self, py: Python<'_>) -> PyResult<String> {
        guarded(py, || Ok(self.inner.fingerprint()?.to_string()))
    }

    /// Raises an error if the key has another fingerprint.
    fn check_fingerprint(&self, py: Python<'_>, wanted: &str) -> PyResult<()> {
        let wanted = wanted.parse().map_err(|error: NoFingerprint| {
            let (what, help) = (format!("{:?} is not a fingerprint", error.0), NoFingerprint::HELP.to_owned());
            Failure::from(RuntimeError::Request { what, help })
        })?;
        guarded(py, || Ok(self.inner.check_fingerprint(&wanted)?))
    }

    /// Whether the id of the key binds the whole public key.
    fn id_binds_key(&self, py: Python<'_>) -> PyResult<bool> {
        guarded(py, || Ok(self.inner.id_binds_key()?))
    }

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
    fn load(py: Python<'_>, path: PathBuf, research: bool, exposed: bool) -> PyResult<Self> {
        let load = if exposed { ClientKey::load_exposed } else { ClientKey::load };
        guarded(py, || Ok(Self::new(load(&path)?, research)))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.inner.to_bytes().map_err(Failure::from)?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8], research: bool) -> PyResult<Self> {
        guarded(py, || Ok(Self::new(ClientKey::from_bytes(data)?, research)))
    }
}

/// The public key, which encrypts.
#[pyclass(module = "solinas._core", name = "PublicKey", frozen)]
pub(crate) struct PyPublicKey {
    inner: PublicKey,
}

impl PyPublicKey {
    /// A key that was read. `research` is the consent to encrypt under a set for research only.
    fn new(key: PublicKey, research: bool) -> Self {
        Self { inner: if research { key.allow_research() } else { key } }
    }
}

#[pymethods]
impl PyPublicKey {
    /// The fingerprint of the key pair.
    #[getter]
    fn fingerprint(&self, py: Python<'_>) -> PyResult<String> {
        guarded(py, || Ok(self.inner.fingerprint()?.to_string()))
    }

    /// Raises an error if the key has another fingerprint.
    fn check_fingerprint(&self, py: Python<'_>, wanted: &str) -> PyResult<()> {
        let wanted = wanted.parse().map_err(|error: NoFingerprint| {
            let (what, help) = (format!("{:?} is not a fingerprint", error.0), NoFingerprint::HELP.to_owned());
            Failure::from(RuntimeError::Request { what, help })
        })?;
        guarded(py, || Ok(self.inner.check_fingerprint(&wanted)?))
    }

    /// Whether the id of the key binds the whole public key.
    fn id_binds_key(&self, py: Python<'_>) -> PyResult<bool> {
        guarded(py, || Ok(self.inner.id_binds_key()?))
    }

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
    fn load(py: Python<'_>, path: PathBuf, research: bool) -> PyResult<Self> {
        guarded(py, || Ok(Self::new(PublicKey::load(&path)?, research)))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = guarded(py, || Ok(self.inner.to_bytes()?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8], research: bool) -> PyResult<Self> {
        guarded(py, || Ok(Self::new(PublicKey::from_bytes(data)?, research)))
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

impl PyServerKey {
    /// A key that was read. `research` is the consent to encrypt under a set for research only.
    fn new(key: ServerKey, research: bool) -> Self {
        if research { key.allow_research() } else { key }.into()
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
    /// The fingerprint of the key pair, if the key holds what it binds.
    #[getter]
    fn fingerprint(&self) -> Option<String> {
        self.key.fingerprint().map(|fingerprint| fingerprint.to_string())
    }

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
    fn load(py: Python<'_>, path: PathBuf, research: bool) -> PyResult<Self> {
        guarded(py, || Ok(Self::new(ServerKey::load(&path)?, research)))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = guarded(py, || Ok(self.key.to_bytes()?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8], research: bool) -> PyResult<Self> {
        guarded(py, || Ok(Self::new(ServerKey::from_bytes(data)?, research)))
    }
}
