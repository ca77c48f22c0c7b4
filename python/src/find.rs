//! The smallest parameters for a task.

use pyo3::prelude::*;
use solinas_schemes::ntru::KeyDistribution;
use solinas_schemes::ntru::find::{Found, ParamsRequest, find};

use crate::error::{Failure, guarded};
use crate::keys::PyParamsInfo;

/// What was found.
#[pyclass(module = "solinas._core", name = "FoundParams", frozen, get_all)]
pub(crate) struct PyFoundParams {
    name: String,
    dimension: usize,
    plaintext_modulus: u64,
    slots: Option<usize>,
    depth: usize,
    primes: Vec<u64>,
    log2_modulus: f64,
    dimensions: Vec<usize>,
    classical_bits: f64,
    quantum_bits: f64,
    attack: &'static str,
    block: usize,
    ciphertext_bytes: usize,
    server_key_bytes: usize,
    encrypt_ms: f64,
    add_ms: f64,
    multiply_ms: Option<f64>,
    decrypt_ms: f64,
}

impl From<Found> for PyFoundParams {
    fn from(found: Found) -> Self {
        Self {
            dimension: found.literal.dimension,
            plaintext_modulus: found.literal.plaintext_modulus,
            slots: found.slots,
            depth: found.literal.depth,
            attack: found.estimate.attack.name(),
            block: found.estimate.block,
            encrypt_ms: found.expected.encrypt_ms,
            add_ms: found.expected.add_ms,
            multiply_ms: found.expected.multiply_ms,
            decrypt_ms: found.expected.decrypt_ms,
            name: found.name,
            primes: found.primes,
            log2_modulus: found.log2_modulus,
            dimensions: found.dimensions,
            classical_bits: found.classical_bits,
            quantum_bits: found.quantum_bits,
            ciphertext_bytes: found.ciphertext_bytes,
            server_key_bytes: found.server_key_bytes,
        }
    }
}

/// The smallest parameters of the NTRU scheme.
#[pyfunction]
pub(crate) fn find_params(
    py: Python<'_>,
    task: (usize, u64, u32),
    security: f64,
    ternary: Option<bool>,
    ring_reduction: bool,
    slots: bool,
) -> PyResult<PyFoundParams> {
    let (depth, plaintext_modulus, terms) = task;
    let keys = ternary.map(|ternary| if ternary { KeyDistribution::Ternary } else { KeyDistribution::Gaussian });
    let wanted = ParamsRequest { depth, plaintext_modulus, security, terms, keys, ring_reduction, slots };
    let error = |error| Failure::from(solinas_runtime::Error::from(error));
    guarded(py, || Ok(find(&wanted).map_err(error)?.into()))
}

/// The smallest parameters of the BGV scheme.
#[pyfunction]
pub(crate) fn find_bgv(py: Python<'_>, depth: usize, plaintext_modulus: u64, security: u16) -> PyResult<PyParamsInfo> {
    guarded(py, || Ok(solinas_runtime::find_bgv(depth, plaintext_modulus, security)?.into()))
}
