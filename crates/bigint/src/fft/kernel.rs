//! The engines behind one interface.

use std::sync::Arc;

use solinas_field::buffer::AlignedVec;
use solinas_field::{Backend, complex};

use super::size;
use super::spectrum::{Data, Shape};
use super::{Engine, Ring};
use crate::Error;

/// Tables of an engine for a length and a ring.
#[derive(Clone, Debug)]
pub(super) enum Kernel {
    Complex(Arc<complex::Plan>),
}

impl Kernel {
    pub(super) fn new(shape: &Shape, backend: Backend, threads: usize) -> Result<Self, Error> {
        match shape.engine {
            Engine::Complex => {
                let plan = complex::Plan::new(shape.digits, size::wrap(shape.ring), backend, threads)?;
                Ok(Self::Complex(Arc::new(plan)))
            }
            Engine::Solinas => Err(Error::TransformTooLong { bits: shape.digits, max: 0 }),
        }
    }

    pub(super) fn zeros(&self) -> Data {
        match self {
            Self::Complex(plan) => Data::Complex(AlignedVec::zeroed(plan.spectrum_len())),
        }
    }

    pub(super) fn forward(&self, shape: &Shape, x: &[u64], out: &mut Data) {
        match (self, out) {
            (Self::Complex(plan), Data::Complex(out)) => plan.forward(shape.digit_bits, x, out),
            _ => debug_assert!(false, "the plan checks shapes"),
        }
    }

    pub(super) fn multiply(&self, a: &mut Data, b: &Data) {
        match (self, a, b) {
            (Self::Complex(plan), Data::Complex(a), Data::Complex(b)) => plan.multiply(a, b),
            _ => debug_assert!(false, "the plan checks shapes"),
        }
    }

    pub(super) fn square(&self, a: &mut Data) {
        match (self, a) {
            (Self::Complex(plan), Data::Complex(a)) => plan.square(a),
            _ => debug_assert!(false, "the plan checks shapes"),
        }
    }

    pub(super) fn multiply_add(&self, sum: &mut Data, a: &Data, b: &Data) {
        match (self, sum, a, b) {
            (Self::Complex(plan), Data::Complex(sum), Data::Complex(a), Data::Complex(b)) => {
                plan.multiply_add(sum, a, b)
            }
            _ => debug_assert!(false, "the plan checks shapes"),
        }
    }

    pub(super) fn copy(&self, to: &mut Data, from: &Data) {
        match (to, from) {
            (Data::Complex(to), Data::Complex(from)) => to.copy_from_slice(from),
            _ => debug_assert!(false, "the plan checks shapes"),
        }
    }

    /// Canonical residue: `bits / 64` words, one more modulo `2^bits + 1`.
    pub(super) fn inverse(&self, shape: &Shape, data: &mut Data, out: &mut [u64]) {
        debug_assert_eq!(
            out.len(),
            shape.digits * shape.digit_bits as usize / 64 + usize::from(shape.ring == Ring::Plus)
        );
        match (self, data) {
            (Self::Complex(plan), Data::Complex(data)) => plan.inverse(shape.digit_bits, data, out),
            _ => debug_assert!(false, "the plan checks shapes"),
        }
    }
}
