//! The two engines behind one interface.

use std::sync::Arc;

use solinas_field::buffer::AlignedVec;
use solinas_field::{Backend, complex, limbs, solinas};

use super::cache::Scratch;
use super::spectrum::{Data, Shape};
use super::{Engine, Ring, size};
use crate::{Error, words};

/// Least number of digits of a transform for each thread, some 40 microseconds of work. Waking a thread for less does
/// not pay.
const DIGITS_PER_THREAD: usize = 1 << 14;

/// Tables of an engine for a length and a ring.
#[derive(Clone, Debug)]
pub(super) enum Kernel {
    Complex(Arc<complex::Plan>),
    Solinas(Arc<solinas::Plan>),
}

/// Error for numbers that are not of the kernel's engine. The shapes of spectra rule this out.
fn other_engine(what: &'static str) -> Result<(), Error> {
    debug_assert!(false, "{what}: the shapes are compared before");
    let [found, expected] = ["another engine", "this engine"].map(str::to_owned);
    Err(Error::SpectrumOfAnotherPlan { what, found, expected })
}

impl Kernel {
    pub(super) fn new(shape: &Shape, backend: Backend, threads: usize) -> Result<Self, Error> {
        let threads = threads.min(shape.digits / DIGITS_PER_THREAD).max(1);
        match shape.engine {
            Engine::Complex => {
                let plan = complex::Plan::new(shape.digits, size::wrap(shape.ring), backend, threads)?;
                Ok(Self::Complex(Arc::new(plan)))
            }
            Engine::Solinas => {
                let convolution = match shape.ring {
                    Ring::Minus => solinas::Convolution::Cyclic,
                    Ring::Plus => solinas::Convolution::Negacyclic,
                };
                Ok(Self::Solinas(Arc::new(solinas::Plan::new(shape.digits, convolution, backend, threads)?)))
            }
        }
    }

    pub(super) fn zeros(&self) -> Data {
        match self {
            Self::Complex(plan) => Data::Complex(AlignedVec::zeroed(plan.spectrum_len())),
            Self::Solinas(plan) => Data::Solinas(AlignedVec::zeroed(plan.len())),
        }
    }

    /// `out <-` the transform of the digits of `x`, at most a residue's words.
    pub(super) fn forward(&self, shape: &Shape, x: &[u64], out: &mut Data) -> Result<(), Error> {
        words::transformed(shape.words());
        match (self, out) {
            (Self::Complex(plan), Data::Complex(out)) => plan.forward(shape.digit_bits, x, out),
            (Self::Solinas(plan), Data::Solinas(out)) => forward_solinas(plan, shape, x, out)?,
            _ => other_engine("forward")?,
        }
        Ok(())
    }

    /// `a <- a b`.
    pub(super) fn multiply(&self, a: &mut Data, b: &Data) -> Result<(), Error> {
        match (self, a, b) {
            (Self::Complex(plan), Data::Complex(a), Data::Complex(b)) => plan.multiply(a, b),
            (Self::Solinas(plan), Data::Solinas(a), Data::Solinas(b)) => plan.multiply(a, b)?,
            _ => other_engine("multiply")?,
        }
        Ok(())
    }

    /// `a <- a^2`.
    pub(super) fn square(&self, a: &mut Data) -> Result<(), Error> {
        match (self, a) {
            (Self::Complex(plan), Data::Complex(a)) => plan.square(a),
            (Self::Solinas(plan), Data::Solinas(a)) => plan.square(a)?,
            _ => other_engine("square")?,
        }
        Ok(())
    }

    /// `sum <- sum + a b`.
    pub(super) fn multiply_add(&self, sum: &mut Data, a: &Data, b: &Data) -> Result<(), Error> {
        match (self, sum, a, b) {
            (Self::Complex(plan), Data::Complex(sum), Data::Complex(a), Data::Complex(b)) => {
                plan.multiply_add(sum, a, b)
            }
            (Self::Solinas(plan), Data::Solinas(sum), Data::Solinas(a), Data::Solinas(b)) => {
                plan.multiply_add(sum, a, b)?
            }
            _ => other_engine("multiply_add")?,
        }
        Ok(())
    }

    /// `to <- from`.
    pub(super) fn copy(&self, to: &mut Data, from: &Data) -> Result<(), Error> {
        match (to, from) {
            (Data::Complex(to), Data::Complex(from)) => to.copy_from_slice(from),
            (Data::Solinas(to), Data::Solinas(from)) => to.copy_from_slice(from),
            _ => other_engine("copy")?,
        }
        Ok(())
    }

    /// `out <-` the canonical residue; destroys the spectrum. Shape: [`Shape::out_words`], or fewer for a product that
    /// fits.
    pub(super) fn inverse(&self, shape: &Shape, data: &mut Data, out: &mut [u64]) -> Result<(), Error> {
        words::transformed(shape.words());
        match (self, data) {
            (Self::Complex(plan), Data::Complex(data)) => plan.inverse(shape.digit_bits, data, out),
            (Self::Solinas(plan), Data::Solinas(data)) => inverse_solinas(plan, shape, data, out)?,
            _ => other_engine("inverse")?,
        }
        Ok(())
    }

    /// `out <- a b`, or `a^2` without `b`: the canonical residue. Shape: as for [`Self::inverse`].
    pub(super) fn convolve(
        &self,
        shape: &Shape,
        a: &[u64],
        b: Option<&[u64]>,
        out: &mut [u64],
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        words::transformed(shape.words());
        let spectra = if b.is_some() { 2 } else { 1 };
        match self {
            Self::Complex(plan) => {
                plan.convolve(shape.digit_bits, a, b, out, scratch.floats(spectra * plan.spectrum_len()));
                Ok(())
            }
            Self::Solinas(plan) => {
                let (s, t) = scratch.elements(spectra * plan.len()).split_at_mut(plan.len());
                forward_solinas(plan, shape, a, s)?;
                match b {
                    Some(b) => {
                        forward_solinas(plan, shape, b, t)?;
                        plan.multiply(s, t)?;
                    }
                    None => plan.square(s)?,
                }
                inverse_solinas(plan, shape, s, out)
            }
        }
    }

    /// `out <- a b` for the transform of `b`. Shape: as for [`Self::inverse`].
    pub(super) fn convolve_transformed(
        &self,
        shape: &Shape,
        a: &[u64],
        b: &Data,
        out: &mut [u64],
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        words::transformed(shape.words());
        match (self, b) {
            (Self::Complex(plan), Data::Complex(b)) => {
                plan.convolve_transformed(shape.digit_bits, a, b, out, scratch.floats(plan.spectrum_len()));
                Ok(())
            }
            (Self::Solinas(plan), Data::Solinas(b)) => {
                let s = scratch.elements(plan.len());
                forward_solinas(plan, shape, a, s)?;
                plan.multiply(s, b)?;
                inverse_solinas(plan, shape, s, out)
            }
            _ => other_engine("mul_transformed"),
        }
    }
}

fn forward_solinas(plan: &solinas::Plan, shape: &Shape, x: &[u64], out: &mut [u64]) -> Result<(), Error> {
    solinas::split(plan.backend(), x, shape.digit_bits, out)?;
    let used = (64 * x.len()).div_ceil(shape.digit_bits as usize).min(out.len());
    Ok(plan.forward_prefix(out, used)?)
}

fn inverse_solinas(plan: &solinas::Plan, shape: &Shape, data: &mut [u64], out: &mut [u64]) -> Result<(), Error> {
    plan.inverse(data)?;
    debug_assert!(out.len() >= shape.words(), "only complex transforms write fewer words");
    let (low, top) = out.split_at_mut(shape.words());
    if let [top] = top {
        let quotient = solinas::carry_signed(plan.backend(), data, shape.digit_bits, low)?;
        *top = fold_plus(low, quotient);
    } else {
        let quotient = solinas::carry(plan.backend(), data, shape.digit_bits, low)?;
        fold_minus(low, quotient);
    }
    Ok(())
}

/// `low <- low + quotient` modulo `2^bits - 1`, canonical.
fn fold_minus(low: &mut [u64], quotient: u64) {
    let carry = limbs::add_1(low, quotient);
    limbs::add_1(low, carry);
    // All ones represent zero: adding one carries.
    let wrapped = limbs::add_1(low, 1);
    limbs::sub_1(low, 1 - wrapped);
}

/// `(low, top) <- low - quotient` modulo `2^bits + 1`, canonical. Returns the top word, 1 for `2^bits`.
fn fold_plus(low: &mut [u64], quotient: i64) -> u64 {
    // Adds -quotient: one part is subtracted or the other is added, and the remaining part is zero.
    let negative = (quotient >> 63) as u64;
    let borrow = limbs::sub_1(low, quotient as u64 & !negative);
    let carry = limbs::add_1(low, quotient.unsigned_abs() & negative);
    // A value below zero by 2^bits, which is -1, needs one more; a value above by 2^bits needs one less.
    let above = limbs::add_1(low, borrow);
    let below = limbs::sub_1(low, carry);
    // Either step may have reached 2^bits itself, with low words of zero, or of ones.
    limbs::add_1(low, below);
    above | below
}
