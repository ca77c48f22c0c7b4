//! Keys, and the server that works with the public one.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use solinas_circuits::counted;
use solinas_runtime::{
    Ciphertext, ClientKey, Control, Estimate, Form, Input, Inputs, Job, KeygenOptions, ParamsInfo, PerProcess, Plain,
    Scheme, Server, ServerKey, ServerOptions, Type, Work,
};

use crate::ciphertext::PyCiphertext;
use crate::circuit::PyCircuit;
use crate::error::{Failure, circuit_error, guarded};
use crate::job::{PyJob, wait};
use crate::program::PyProgram;

/// Makes a pair of keys. `limits` are the server's threads and its bytes for tables; `watch` gets (done, total).
#[pyfunction]
#[pyo3(signature = (scheme, params, rotations, research, insecure_seed, checkpoint, limits, watch))]
#[allow(clippy::too_many_arguments, reason = "the keyword arguments of the Python function")]
pub(crate) fn keygen(
    py: Python<'_>,
    scheme: &str,
    params: Option<String>,
    rotations: bool,
    research: bool,
    insecure_seed: Option<u64>,
    checkpoint: Option<PathBuf>,
    limits: (Option<usize>, Option<u64>),
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<(PyClientKey, PyServerKey)> {
    let scheme = scheme.parse().map_err(Failure::from)?;
    let options = KeygenOptions { scheme, params, rotations, research, insecure_seed, checkpoint };
    let job = Job::start(move |control| Ok(solinas_runtime::keygen(&options, control)?))?;
    wait(&job, py, None, watch)?;
    let (client, server) = job.take()?;
    Ok((PyClientKey { inner: client }, PyServerKey::new(server, ServerOptions { threads: limits.0, memory: limits.1 })))
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
    fn params(&self) -> PyParamsInfo {
        self.inner.params().into()
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
        values: Vec<u128>,
    ) -> PyResult<PyCiphertext> {
        let plain = plain(ty, shape, values)?;
        guarded(py, || Ok(self.inner.encrypt(&plain)?.into()))
    }

    /// The values' bits.
    fn decrypt(&self, py: Python<'_>, ciphertext: &PyCiphertext) -> PyResult<Vec<u128>> {
        let ciphertext = &ciphertext.inner;
        guarded(py, || Ok(self.inner.decrypt(ciphertext)?.values))
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

/// The public evaluation key; made ready for work when work first comes.
#[pyclass(module = "solinas._core", name = "ServerKey", frozen)]
pub(crate) struct PyServerKey {
    key: Arc<ServerKey>,
    options: ServerOptions,
    server: Arc<PerProcess<Slot>>,
}

/// A server once it is made.
type Slot = Mutex<Option<Arc<Server>>>;

/// What the parent process has made; nothing where a fork came while it was being made.
fn inherited(parent: &Slot) -> Slot {
    let made = match parent.try_lock() {
        Ok(server) => server.clone(),
        Err(TryLockError::Poisoned(server)) => server.into_inner().clone(),
        Err(TryLockError::WouldBlock) => None,
    };
    Mutex::new(made)
}

impl PyServerKey {
    fn new(key: ServerKey, options: ServerOptions) -> Self {
        Self { key: Arc::new(key), options, server: Arc::new(PerProcess::new(Slot::default())) }
    }

    /// A function that makes the server once, for the worker's thread.
    fn ready(&self) -> impl FnOnce() -> Result<Arc<Server>, Failure> + Send + 'static {
        let (key, options, slot) = (Arc::clone(&self.key), self.options, Arc::clone(&self.server));
        move || {
            let slot = slot.get(|parent| Ok::<_, Failure>(inherited(parent)))?;
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(server) = &*slot {
                return Ok(Arc::clone(server));
            }
            let server = Arc::new(Server::with_options(&key, &options)?);
            *slot = Some(Arc::clone(&server));
            Ok(server)
        }
    }

    fn start(
        &self,
        work: impl FnOnce(&Server, &Control<'_>) -> Result<Vec<Ciphertext>, Failure> + Send + 'static,
    ) -> PyResult<PyJob> {
        let ready = self.ready();
        Ok(PyJob::new(Job::start(move |control| work(&*ready()?, control))?))
    }
}

/// Values given as bits.
fn plain(ty: &str, shape: Option<Vec<usize>>, values: Vec<u128>) -> PyResult<Plain> {
    let ty: Type = ty.parse().map_err(|error| circuit_error(&error))?;
    Ok(Plain::new(ty, shape, values).map_err(Failure::from)?)
}

/// An input of a program: a ciphertext, or the type, shape and bits of public values.
#[derive(FromPyObject)]
enum PyInput<'py> {
    Encrypted(PyRef<'py, PyCiphertext>),
    Public((String, Option<Vec<usize>>, Vec<u128>)),
}

impl PyInput<'_> {
    fn owned(self) -> PyResult<Input> {
        match self {
            Self::Encrypted(ciphertext) => Ok(ciphertext.inner.clone().into()),
            Self::Public((ty, shape, values)) => Ok(plain(&ty, shape, values)?.into()),
        }
    }
}

fn owned(inputs: &[PyRef<'_, PyCiphertext>]) -> Vec<Ciphertext> {
    inputs.iter().map(|input| input.inner.clone()).collect()
}

#[pymethods]
impl PyServerKey {
    #[getter]
    fn key_id(&self) -> String {
        self.key.key_id().to_string()
    }

    #[getter]
    fn params(&self) -> PyParamsInfo {
        self.key.params().into()
    }

    /// Why what the key protects is not safe, if so.
    fn weakness(&self) -> Option<String> {
        self.key.weakness()
    }

    /// Threads it works on.
    fn threads(&self, py: Python<'_>) -> PyResult<usize> {
        let ready = self.ready();
        guarded(py, || Ok(ready()?.threads()))
    }

    /// Bytes of the key made ready.
    fn memory_bytes(&self, py: Python<'_>) -> PyResult<usize> {
        let ready = self.ready();
        guarded(py, || Ok(ready()?.memory_bytes()))
    }

    /// Encrypts values given as bits, with the public key that a server key of most schemes holds.
    fn encrypt(
        &self,
        py: Python<'_>,
        ty: &str,
        shape: Option<Vec<usize>>,
        values: Vec<u128>,
    ) -> PyResult<PyCiphertext> {
        let plain = plain(ty, shape, values)?;
        guarded(py, || Ok(self.key.encrypt(&plain)?.into()))
    }

    /// Starts a program. An input is a ciphertext, or the type, shape and bits of public values.
    fn run(&self, program: &PyProgram, inputs: Vec<PyInput<'_>>) -> PyResult<PyJob> {
        let inputs = inputs.into_iter().map(PyInput::owned).collect::<PyResult<Vec<_>>>()?;
        let program = program.program.clone();
        self.start(move |server, control| Ok(server.run(Work::program(&program, &inputs), control)?))
    }

    /// Starts a circuit.
    fn run_circuit(&self, circuit: &PyCircuit, inputs: Vec<PyRef<'_, PyCiphertext>>) -> PyResult<PyJob> {
        let (netlist, inputs) = (circuit.netlist.clone(), owned(&inputs));
        self.start(move |server, control| Ok(server.run(Work::circuit(&netlist, &inputs), control)?))
    }

    /// Starts a conversion between the forms `bits` and `radix`.
    fn convert(&self, ciphertext: &PyCiphertext, form: &str) -> PyResult<PyJob> {
        let form = match form {
            "bits" => Form::Bits,
            "radix" => Form::Radix,
            _ => return Err(Failure::Format(format!("there is no form {form:?}; choose bits or radix")).into()),
        };
        let ciphertext = ciphertext.inner.clone();
        self.start(move |server, control| Ok(server.run(Work::Convert { ciphertext: &ciphertext, form }, control)?))
    }

    /// What a program will cost here; Ctrl-C stops what is measured.
    fn estimate(&self, py: Python<'_>, program: &PyProgram, elements: usize) -> PyResult<PyEstimate> {
        let (ready, program) = (self.ready(), program.program.clone());
        let job = Job::start(move |control| {
            let work = Work::program(&program, Inputs::Fresh { instances: elements });
            Ok(ready()?.prepare(work, control)?.estimate(control)?.into())
        })?;
        wait(&job, py, None, None)?;
        Ok(job.take()?)
    }

    /// What a circuit will cost here on one fresh element; Ctrl-C stops what is measured.
    fn estimate_circuit(&self, py: Python<'_>, circuit: &PyCircuit) -> PyResult<PyEstimate> {
        let (ready, netlist) = (self.ready(), circuit.netlist.clone());
        let job = Job::start(move |control| {
            let work = Work::circuit(&netlist, Inputs::Fresh { instances: 1 });
            Ok(ready()?.prepare(work, control)?.estimate(control)?.into())
        })?;
        wait(&job, py, None, None)?;
        Ok(job.take()?)
    }

    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> PyResult<()> {
        guarded(py, || Ok(self.key.save(&path, overwrite)?))
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, threads: Option<usize>, memory: Option<u64>) -> PyResult<Self> {
        guarded(py, || Ok(Self::new(ServerKey::load(&path)?, ServerOptions { threads, memory })))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = guarded(py, || Ok(self.key.to_bytes()?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8], threads: Option<usize>, memory: Option<u64>) -> PyResult<Self> {
        guarded(py, || Ok(Self::new(ServerKey::from_bytes(data)?, ServerOptions { threads, memory })))
    }
}

/// A parameter set.
#[pyclass(module = "solinas._core", name = "ParamsInfo", frozen, get_all)]
pub(crate) struct PyParamsInfo {
    name: String,
    scheme: String,
    family: String,
    description: String,
    lwe_dimension: Option<usize>,
    ring_dimension: usize,
    glwe_dimension: Option<usize>,
    modulus_bits: Option<f64>,
    plaintext_modulus: Option<u64>,
    slots: Option<usize>,
    depth: Option<usize>,
    bootstraps: bool,
    classical_bits: f64,
    quantum_bits: f64,
    estimator: String,
    date: String,
    log2_failure: f64,
    ciphertext_bytes: usize,
    server_key_bytes: usize,
    memory_bytes: usize,
    recommended: bool,
    status: String,
    limited: Option<String>,
    research_only: Option<String>,
    test_size: bool,
}

impl From<ParamsInfo> for PyParamsInfo {
    fn from(info: ParamsInfo) -> Self {
        Self {
            name: info.name,
            scheme: info.scheme.to_string(),
            family: info.family.to_owned(),
            description: info.description,
            lwe_dimension: info.lwe_dimension,
            ring_dimension: info.ring_dimension,
            glwe_dimension: info.glwe_dimension,
            modulus_bits: info.modulus_bits,
            plaintext_modulus: info.plaintext_modulus,
            slots: info.slots,
            depth: info.depth,
            bootstraps: info.bootstraps,
            classical_bits: info.classical_bits,
            quantum_bits: info.quantum_bits,
            estimator: info.estimator,
            date: info.date,
            log2_failure: info.log2_failure,
            ciphertext_bytes: info.ciphertext_bytes,
            server_key_bytes: info.server_key_bytes,
            memory_bytes: info.memory_bytes,
            recommended: info.recommended,
            status: info.status.to_owned(),
            limited: info.limited,
            research_only: info.research_only,
            test_size: info.test_size,
        }
    }
}

#[pymethods]
impl PyParamsInfo {
    fn __repr__(&self) -> String {
        let Self { name, classical_bits, log2_failure, status, .. } = self;
        let note = match status.as_str() {
            "recommended" => "",
            "limited" => ", not recommended",
            _ => ", for research alone",
        };
        let (bits, failure) = (classical_bits.floor(), log2_failure.ceil());
        format!("<parameters {name}: {bits}-bit security, failure 2^{failure}{note}>")
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let rows = [
            ("name", self.name.clone()),
            ("scheme", self.scheme.clone()),
            ("values", self.description.clone()),
            ("classical security in bits", self.classical_bits.floor().to_string()),
            ("quantum security in bits", self.quantum_bits.floor().to_string()),
            ("log2 of the failure probability", self.log2_failure.ceil().to_string()),
            ("ciphertext in bytes", self.ciphertext_bytes.to_string()),
            ("server key in bytes", self.server_key_bytes.to_string()),
            ("not recommended", self.limited.clone().unwrap_or_default()),
            ("for research alone", self.research_only.clone().unwrap_or_default()),
        ];
        html(py, "parameters", rows.into_iter().filter(|(_, value)| !value.is_empty()))
    }
}

/// A table for notebooks; names and values are escaped.
fn html(py: Python<'_>, title: &str, rows: impl IntoIterator<Item = (&'static str, String)>) -> PyResult<String> {
    let cells = PyDict::new(py);
    rows.into_iter().try_for_each(|(name, value)| cells.set_item(name, value))?;
    py.import("solinas._html")?.getattr("table")?.call1((title, cells))?.extract()
}

/// Every parameter set, the default first.
#[pyfunction]
pub(crate) fn params() -> Vec<PyParamsInfo> {
    solinas_runtime::params().into_iter().map(PyParamsInfo::from).collect()
}

/// What a program costs; the times are none where no server has measured them.
#[pyclass(module = "solinas._core", name = "Estimate", frozen, get_all)]
pub(crate) struct PyEstimate {
    bootstraps: u64,
    recrypts: u64,
    products: u64,
    rotations: u64,
    depth: u64,
    seconds: Option<f64>,
    threads: usize,
    memory_bytes: u64,
    /// The counts in words.
    work: String,
}

/// What a program costs with a parameter set: of that scheme, or of the first that has one of the name. Ctrl-C stops it.
#[pyfunction]
#[pyo3(signature = (program, params, scheme))]
pub(crate) fn cost(py: Python<'_>, program: &PyProgram, params: &str, scheme: Option<&str>) -> PyResult<PyEstimate> {
    let (program, params) = (program.program.clone(), params.to_owned());
    let scheme: Option<Scheme> = scheme.map(str::parse).transpose().map_err(Failure::from)?;
    let job = Job::start(move |control| {
        Ok(PyEstimate::from(solinas_runtime::cost_watched(scheme, &program, &params, control)?))
    })?;
    wait(&job, py, None, None)?;
    Ok(job.take()?)
}

impl From<Estimate> for PyEstimate {
    fn from(estimate: Estimate) -> Self {
        Self {
            work: estimate.to_string(),
            bootstraps: estimate.bootstraps,
            recrypts: estimate.recrypts,
            products: estimate.products,
            rotations: estimate.rotations,
            depth: estimate.depth,
            seconds: (estimate.seconds > 0.0).then_some(estimate.seconds),
            threads: estimate.threads,
            memory_bytes: estimate.memory_bytes,
        }
    }
}

#[pymethods]
impl PyEstimate {
    fn __repr__(&self) -> String {
        let (work, threads) = (&self.work, counted(self.threads, "thread"));
        let time = self.seconds.map_or(String::new(), |s| format!(", about {s:.2} s on {threads}"));
        format!("<estimate: {work}{time}>")
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let Self { work, depth, seconds, threads, memory_bytes, .. } = self;
        let rows = [
            ("work", work.clone()),
            ("depth", depth.to_string()),
            ("seconds", seconds.map_or_else(|| "not measured".to_owned(), |seconds| format!("{seconds:.2}"))),
            ("threads", threads.to_string()),
            ("memory in bytes", memory_bytes.to_string()),
        ];
        html(py, "estimate", rows)
    }
}
