//! Products with plans and scratch that are kept.

use core::cell::RefCell;
use std::sync::{Arc, OnceLock};

use solinas_field::Backend;
use solinas_field::buffer::AlignedVec;
use solinas_field::complex::{self, Wrap};
use zeroize::Zeroize;

use super::size::{self, Task};
use super::{Engine, Ring};

/// Plans for products on one thread, by length: `m 2^k` digits are at `32 (m / 2) + k`.
static PLANS: [OnceLock<Option<Arc<complex::Plan>>>; 128] = [const { OnceLock::new() }; 128];

/// Buffers of a thread, as long as its longest product needed.
#[derive(Default)]
struct Scratch {
    floats: AlignedVec<f64>,
    residue: Vec<u64>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// The plan for products in so many digits, made when first asked for; `None` if there is no such length.
fn plan(digits: usize) -> Option<Arc<complex::Plan>> {
    let log = digits.trailing_zeros() as usize;
    let slot = PLANS.get(32 * ((digits >> log) / 2) + log)?;
    // An environment that asks for a back end which the CPU lacks gets a typed error from every plan; products still work.
    let make =
        || complex::Plan::new(digits, Wrap::Plus, Backend::detect().unwrap_or(Backend::Scalar), 1).ok().map(Arc::new);
    slot.get_or_init(make).clone()
}

/// `out <- a b`. Shape: `out` has the words of `a` and of `b` together; all are written.
///
/// The time depends on the lengths only. The transforms of the operands remain in the thread's scratch: see [`wipe_scratch`].
///
/// # Panics
/// When `out` has another length, or for products of more than 2^29 bits: [`super::Plan::for_product`] reports that as an error.
pub fn mul(out: &mut [u64], a: &[u64], b: &[u64]) {
    assert_eq!(out.len(), a.len() + b.len(), "a product has the words of both operands");
    convolve(out, a, Some(b));
}

/// `out <- a^2`. Shape: `out` has twice the words of `a`; all are written.
///
/// As [`mul`], in two thirds of its time.
///
/// # Panics
/// As [`mul`].
pub fn square(out: &mut [u64], a: &[u64]) {
    assert_eq!(out.len(), 2 * a.len(), "a square has twice the words of its root");
    convolve(out, a, None);
}

fn convolve(out: &mut [u64], a: &[u64], b: Option<&[u64]>) {
    let task = Task::product(a.len(), b.unwrap_or(a).len(), 1);
    let shape = size::choose(&task, &[Ring::Plus], Engine::Complex).ok();
    let found = shape.and_then(|shape| Some((shape, plan(shape.digits)?)));
    let Some((shape, plan)) = found else { panic!("a product of {} bits is too long for a transform", task.bits) };
    let words = shape.out_words();
    let spectra = plan.spectrum_len() * if b.is_some() { 2 } else { 1 };
    SCRATCH.with_borrow_mut(|Scratch { floats, residue }| {
        if floats.len() < spectra {
            *floats = AlignedVec::zeroed(spectra);
        }
        if residue.len() < words {
            residue.resize(words, 0);
        }
        plan.convolve(shape.digit_bits, a, b, &mut residue[..words], &mut floats[..spectra]);
        out.copy_from_slice(&residue[..out.len()]);
    });
}

/// Runs `work` on the thread's scratch of so many words, whose contents are arbitrary.
pub(super) fn with_residue<T>(words: usize, work: impl FnOnce(&mut [u64]) -> T) -> T {
    SCRATCH.with_borrow_mut(|Scratch { residue, .. }| {
        if residue.len() < words {
            residue.resize(words, 0);
        }
        work(&mut residue[..words])
    })
}

/// Frees this thread's scratch, after overwriting what the last products left in it.
pub fn wipe_scratch() {
    SCRATCH.with_borrow_mut(|scratch| {
        scratch.floats.zeroize();
        scratch.residue.zeroize();
        *scratch = Scratch::default();
    });
}
