//! Plain integers of any size, kept in words of 64 bits.

use pyo3::exceptions::PyZeroDivisionError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use solinas_bigint::{Error, Integer, Modulus, Natural};

use crate::error::{Failure, guarded};

/// Words of the operands from which other threads of Python run meanwhile. Shorter work takes less than the switch.
const LONG: usize = 256;

/// Why a computation has no result.
enum Problem {
    Bigint(Error),
    Range(&'static str),
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::Bigint(error)
    }
}

impl From<Problem> for PyErr {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::Bigint(error @ Error::DivisionByZero) => PyZeroDivisionError::new_err(error.to_string()),
            Problem::Bigint(error @ (Error::Digit { .. } | Error::NoDigits { .. })) => {
                Failure::Format(error.to_string()).into()
            }
            Problem::Bigint(error) => Failure::Range(error.to_string()).into(),
            Problem::Range(message) => Failure::Range(message.to_owned()).into(),
        }
    }
}

/// Computes, without the interpreter's lock if the operands are long, and without letting a panic through.
fn compute<T: Send>(
    py: Python<'_>,
    operands: &[&Integer],
    work: impl FnOnce() -> Result<T, Problem> + Send,
) -> PyResult<T> {
    let words: usize = operands.iter().map(|operand| operand.magnitude().words().len()).sum();
    if words < LONG {
        return Ok(work()?);
    }
    Ok(guarded(py, || Ok(work()))??)
}

/// An integer.
#[pyclass(module = "solinas._core", name = "BigInteger", frozen)]
pub(crate) struct PyBigInteger(Integer);

impl PyBigInteger {
    fn natural(&self, what: &'static str) -> Result<&Natural, Problem> {
        self.0.to_natural().ok_or(Problem::Range(what))
    }
}

#[pymethods]
impl PyBigInteger {
    /// The number of these bytes, or its negative.
    #[staticmethod]
    fn from_bytes(data: &[u8], big: bool, negative: bool) -> Self {
        let magnitude = if big { Natural::from_be_bytes(data) } else { Natural::from_le_bytes(data) };
        Self(Integer::from_parts(negative, magnitude))
    }

    /// The bytes of the magnitude, with zeros up to `length`, which is at least their number.
    fn to_bytes<'py>(&self, py: Python<'py>, length: usize, big: bool) -> PyResult<Bound<'py, PyBytes>> {
        let words = self.0.magnitude().words();
        PyBytes::new_with(py, length, |bytes| {
            for (chunk, word) in bytes.chunks_mut(8).zip(words) {
                chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
            }
            if big {
                bytes.reverse();
            }
            Ok(())
        })
    }

    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, base: u32) -> PyResult<Self> {
        // A base of 0 is that of the prefix.
        let read = || if base == 0 { text.parse() } else { Integer::from_radix(text, base) };
        let value = if text.len() < 20 * LONG { read() } else { guarded(py, || Ok(read()))? };
        Ok(Self(value.map_err(Problem::from)?))
    }

    fn digits(&self, py: Python<'_>, base: u32) -> PyResult<String> {
        compute(py, &[&self.0], || Ok(self.0.to_radix(base)?))
    }

    #[getter]
    fn negative(&self) -> bool {
        self.0.is_negative()
    }

    #[getter]
    fn bits(&self) -> usize {
        self.0.magnitude().bit_len()
    }

    /// -1, 0 or 1 for less, equal and greater.
    fn compare(&self, other: &Self) -> i8 {
        self.0.cmp(&other.0) as i8
    }

    fn add(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        compute(py, &[&self.0, &other.0], || Ok(Self(&self.0 + &other.0)))
    }

    fn sub(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        compute(py, &[&self.0, &other.0], || Ok(Self(&self.0 - &other.0)))
    }

    fn mul(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        compute(py, &[&self.0, &other.0], || Ok(Self(&self.0 * &other.0)))
    }

    fn square(&self, py: Python<'_>) -> PyResult<Self> {
        compute(py, &[&self.0], || Ok(Self(self.0.square())))
    }

    fn divide(&self, py: Python<'_>, other: &Self) -> PyResult<(Self, Self)> {
        let (quotient, remainder) = compute(py, &[&self.0, &other.0], || Ok(self.0.div_rem_floor(&other.0)?))?;
        Ok((Self(quotient), Self(remainder)))
    }

    fn negate(&self) -> Self {
        Self(-self.0.clone())
    }

    /// The number times 2^by, rounded down.
    fn shift(&self, py: Python<'_>, by: isize) -> PyResult<Self> {
        compute(py, &[&self.0], || {
            let (magnitude, count) = (self.0.magnitude(), by.unsigned_abs());
            if by >= 0 {
                return Ok(Self(Integer::from_parts(self.0.is_negative(), magnitude << count)));
            }
            let mut shifted = magnitude >> count;
            if self.0.is_negative() && magnitude.trailing_zeros().is_some_and(|zeros| zeros < count) {
                shifted += &Natural::one();
            }
            Ok(Self(Integer::from_parts(self.0.is_negative(), shifted)))
        })
    }

    fn power(&self, py: Python<'_>, exponent: u32) -> PyResult<Self> {
        compute(py, &[&self.0], || Ok(Self(self.0.pow(exponent))))
    }

    fn sqrt(&self, py: Python<'_>) -> PyResult<(Self, Self)> {
        compute(py, &[&self.0], || {
            let (root, rest) = self.natural("a negative number has no square root")?.vartime_sqrt_rem();
            Ok((Self(root.into()), Self(rest.into())))
        })
    }

    fn gcd(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        compute(py, &[&self.0, &other.0], || Ok(Self(self.0.magnitude().vartime_gcd(other.0.magnitude()).into())))
    }

    fn cofactors(&self, py: Python<'_>, other: &Self) -> PyResult<(Self, Self, Self)> {
        compute(py, &[&self.0, &other.0], || {
            let (gcd, x, y) = self.0.gcd_with_cofactors(&other.0);
            Ok((Self(gcd.into()), Self(x), Self(y)))
        })
    }

    fn is_probable_prime(&self, py: Python<'_>) -> PyResult<bool> {
        compute(py, &[&self.0], || match self.0.to_natural() {
            Some(n) => Ok(n.vartime_is_probable_prime()?),
            None => Ok(false),
        })
    }
}

/// A modulus with its plans.
#[pyclass(module = "solinas._core", name = "BigModulus", frozen)]
pub(crate) struct PyBigModulus {
    modulus: Modulus,
    value: Integer,
}

impl PyBigModulus {
    fn residue(&self, x: &PyBigInteger) -> Result<Natural, Problem> {
        let reduced = self.modulus.reduce(x.0.magnitude())?;
        Ok(match x.0.is_negative() {
            true => self.modulus.sub(&Natural::ZERO, &reduced)?,
            false => reduced,
        })
    }

    fn apply(
        &self,
        py: Python<'_>,
        operands: &[&PyBigInteger],
        work: impl FnOnce(&[Natural]) -> Result<Natural, Problem> + Send,
    ) -> PyResult<PyBigInteger> {
        compute(py, &[&self.value], || {
            let residues = operands.iter().map(|x| self.residue(x)).collect::<Result<Vec<_>, _>>()?;
            Ok(PyBigInteger(work(&residues)?.into()))
        })
    }
}

#[pymethods]
impl PyBigModulus {
    #[new]
    fn new(py: Python<'_>, value: &PyBigInteger) -> PyResult<Self> {
        compute(py, &[&value.0], || {
            let modulus = Modulus::new(value.natural("a modulus is at least 2")?)?;
            Ok(Self { modulus, value: value.0.clone() })
        })
    }

    fn reduce(&self, py: Python<'_>, x: &PyBigInteger) -> PyResult<PyBigInteger> {
        compute(py, &[&self.value, &x.0], || Ok(PyBigInteger(self.residue(x)?.into())))
    }

    fn add(&self, py: Python<'_>, a: &PyBigInteger, b: &PyBigInteger) -> PyResult<PyBigInteger> {
        self.apply(py, &[a, b], |x| Ok(self.modulus.add(&x[0], &x[1])?))
    }

    fn sub(&self, py: Python<'_>, a: &PyBigInteger, b: &PyBigInteger) -> PyResult<PyBigInteger> {
        self.apply(py, &[a, b], |x| Ok(self.modulus.sub(&x[0], &x[1])?))
    }

    fn mul(&self, py: Python<'_>, a: &PyBigInteger, b: &PyBigInteger) -> PyResult<PyBigInteger> {
        self.apply(py, &[a, b], |x| Ok(self.modulus.mul(&x[0], &x[1])?))
    }

    fn square(&self, py: Python<'_>, a: &PyBigInteger) -> PyResult<PyBigInteger> {
        self.apply(py, &[a], |x| Ok(self.modulus.square(&x[0])?))
    }

    fn inverse(&self, py: Python<'_>, a: &PyBigInteger) -> PyResult<PyBigInteger> {
        self.apply(py, &[a], |x| Ok(self.modulus.vartime_inverse(&x[0])?))
    }

    /// base^exponent; a negative exponent is a power of the inverse.
    fn power(
        &self,
        py: Python<'_>,
        base: &PyBigInteger,
        exponent: &PyBigInteger,
        secret: bool,
    ) -> PyResult<PyBigInteger> {
        let PyBigInteger(exponent) = exponent;
        let work = |x: &[Natural]| -> Result<Natural, Problem> {
            let mut base = x[0].clone();
            if exponent.is_negative() {
                base = match secret {
                    true => base.inverse(self.modulus.value())?,
                    false => self.modulus.vartime_inverse(&base)?,
                };
            }
            Ok(match secret {
                true => self.modulus.pow(&base, exponent.magnitude())?,
                false => self.modulus.vartime_pow(&base, exponent.magnitude())?,
            })
        };
        // A power is long work at every length.
        if exponent.magnitude().bit_len() < LONG {
            return self.apply(py, &[base], work);
        }
        let done = guarded(py, || Ok(self.residue(base).and_then(|base| work(&[base]))))?;
        Ok(PyBigInteger(done?.into()))
    }
}
