//! Ciphertexts of scalars and arrays.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use solinas_engine::Ciphertext;

use crate::error::{Failure, guarded};

/// Encrypted values of one type.
#[pyclass(module = "solinas._core", name = "Ciphertext", frozen)]
pub(crate) struct PyCiphertext {
    pub(crate) inner: Ciphertext,
}

impl From<Ciphertext> for PyCiphertext {
    fn from(inner: Ciphertext) -> Self {
        Self { inner }
    }
}

impl PyCiphertext {
    /// The elements with these flat indices, row by row, in the given shape.
    pub(crate) fn part(
        array: &Ciphertext,
        indices: &[usize],
        shape: Option<Vec<usize>>,
    ) -> Result<Ciphertext, Failure> {
        if shape.is_some() && array.shape().is_some() && indices.iter().copied().eq(0..array.len()) {
            return Ok(array.reshape(shape)?);
        }
        let start = indices.first().copied().unwrap_or(0);
        let end = start.saturating_add(indices.len());
        if array.shape().is_some() && end <= array.len() && indices.iter().copied().eq(start..end) {
            return Ok(match shape {
                None if indices.len() == 1 => array.get(start)?,
                shape => array.slice(start..end)?.reshape(shape)?,
            });
        }
        let parts = indices.iter().map(|&index| array.get(index)).collect::<Result<Vec<_>, _>>()?;
        Ok(Ciphertext::stack(parts)?.reshape(shape)?)
    }
}

#[pymethods]
impl PyCiphertext {
    /// Name of the elements' type.
    #[getter]
    fn type_name(&self) -> String {
        self.inner.ty().to_string()
    }

    /// Sizes of an array, none for a scalar.
    #[getter]
    fn shape(&self) -> Option<Vec<usize>> {
        self.inner.shape().map(<[usize]>::to_vec)
    }

    /// Name of the key.
    #[getter]
    fn key_id(&self) -> String {
        self.inner.key_id().to_string()
    }

    /// Name of the parameter set.
    #[getter]
    fn params_name(&self) -> String {
        self.inner.params_name().to_owned()
    }

    /// `bits`, `radix` or `slots`.
    #[getter]
    fn form(&self) -> &'static str {
        self.inner.form().name()
    }

    /// Bits by which the noise may still grow, the products in a row that are left where the scheme counts them, and whether it can be computed on; none
    /// where operations do not wear it out.
    #[getter]
    fn condition(&self) -> Option<(f64, Option<usize>, bool)> {
        self.inner.condition().map(|condition| (condition.margin, condition.products, condition.usable))
    }

    /// The elements with these flat indices, row by row, in the given shape.
    fn take(&self, py: Python<'_>, indices: Vec<usize>, shape: Option<Vec<usize>>) -> PyResult<Self> {
        let inner = &self.inner;
        guarded(py, || Ok(Self::part(inner, &indices, shape)?.into()))
    }

    /// Scalars and arrays, one after the other, as an array of the given shape.
    #[staticmethod]
    fn stack(py: Python<'_>, parts: Vec<PyRef<'_, Self>>, shape: Vec<usize>) -> PyResult<Self> {
        let parts: Vec<_> = parts.iter().map(|part| part.inner.clone()).collect();
        guarded(py, || Ok(Ciphertext::stack(parts)?.reshape(Some(shape))?.into()))
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        guarded(py, || Ok(self.inner.save(&path)?))
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        guarded(py, || Ok(Ciphertext::load(&path)?.into()))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = guarded(py, || Ok(self.inner.to_bytes()?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        guarded(py, || Ok(Ciphertext::from_bytes(data)?.into()))
    }
}
