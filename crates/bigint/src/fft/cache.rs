//! Products that reuse plans and scratch memory.

use core::cell::RefCell;
use std::sync::OnceLock;

use solinas_field::Backend;
use solinas_field::buffer::AlignedVec;
use solinas_field::complex::{self, Wrap};
use zeroize::Zeroize;

use super::size::{self, Task};
use super::spectrum::Shape;
use super::{Engine, Ring};
use crate::blocks::{by_blocks, kept};
use crate::words;

/// Plans for products on one thread, by length. The plan for `m 2^k` digits is at `32 (m / 2) + k`.
static PLANS: [OnceLock<Option<complex::Plan>>; 128] = [const { OnceLock::new() }; 128];

/// Buffers of a thread, as long as its longest product needed.
#[derive(Default)]
pub(super) struct Scratch {
    floats: AlignedVec<f64>,
    elements: AlignedVec<u64>,
    /// The last product's lengths, and their shape.
    last: Option<(Task, Shape)>,
}

impl Scratch {
    /// Runs `work` on this thread's scratch. The scratch is taken out meanwhile, because this thread may receive
    /// another product while a transform waits for its other threads.
    pub(super) fn lend<T>(work: impl FnOnce(&mut Self) -> T) -> T {
        let mut scratch = SCRATCH.take();
        let done = work(&mut scratch);
        SCRATCH.set(scratch);
        done
    }

    /// Returns floats for spectra, with arbitrary contents.
    pub(super) fn floats(&mut self, len: usize) -> &mut [f64] {
        if self.floats.len() < len {
            self.floats.zeroize();
            self.floats = AlignedVec::zeroed(len);
        }
        &mut self.floats[..len]
    }

    /// Returns field elements for spectra, with arbitrary contents.
    pub(super) fn elements(&mut self, len: usize) -> &mut [u64] {
        if self.elements.len() < len {
            self.elements.zeroize();
            self.elements = AlignedVec::zeroed(len);
        }
        &mut self.elements[..len]
    }

    /// Returns the choice of [`size::choose`] for a product by complex transforms.
    fn shape(&mut self, task: Task) -> Option<Shape> {
        match self.last {
            Some((last, shape)) if last == task => Some(shape),
            _ => {
                let shape = size::choose(&task, &[Ring::Plus], Engine::Complex).ok()?;
                self.last = Some((task, shape));
                Some(shape)
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.floats.zeroize();
        self.elements.zeroize();
    }
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Returns the plan for products in `digits` digits, made at the first call. Returns `None` if there is no such length.
fn plan(digits: usize) -> Option<&'static complex::Plan> {
    let log = digits.trailing_zeros() as usize;
    let slot = PLANS.get(32 * ((digits >> log) / 2) + log)?;
    // If the environment names a back end that the CPU lacks, every plan returns a typed error; products still work.
    let make = || complex::Plan::new(digits, Wrap::Plus, Backend::detect().unwrap_or(Backend::Scalar), 1).ok();
    slot.get_or_init(make).as_ref()
}

/// `out <- a b`. Shape: `out` has the words of `a` and of `b` together; all are written.
///
/// The time depends on the lengths only, except for carries ([`crate::fft`], *Time*). The transforms of the operands
/// remain in the thread's scratch: see [`wipe_scratch`].
///
/// # Panics
/// Panics if `out` has another length.
pub fn mul(out: &mut [u64], a: &[u64], b: &[u64]) {
    assert_eq!(out.len(), a.len() + b.len(), "a product has the words of both operands");
    if !convolve(out, a, Some(b)) {
        in_parts(out, a, b, mul);
    }
}

/// `out <- a^2`. Shape: `out` has twice the words of `a`; all are written.
///
/// As [`mul`], in two thirds of its time.
///
/// # Panics
/// Panics if `out` has another length.
pub fn square(out: &mut [u64], a: &[u64]) {
    assert_eq!(out.len(), 2 * a.len(), "a square has twice the words of its root");
    if !convolve(out, a, None) {
        in_parts(out, a, a, mul);
    }
}

/// `out <- a b`, or `a^2` without `b`, by one transform. Returns false if no transform is long enough.
fn convolve(out: &mut [u64], a: &[u64], b: Option<&[u64]>) -> bool {
    let Ok(task) = Task::product(a.len(), b.unwrap_or(a).len(), 1) else { return false };
    Scratch::lend(|scratch| {
        let found = scratch.shape(task).and_then(|shape| Some((shape, plan(shape.digits)?)));
        let Some((shape, plan)) = found else { return false };
        let spectra = if b.is_some() { 2 } else { 1 };
        words::transformed(out.len());
        plan.convolve(shape.digit_bits, a, b, out, scratch.floats(spectra * plan.spectrum_len()));
        true
    })
}

/// `out <- long short` by blocks of the long operand, about `ratio` times as long as the short one, whose transform is
/// made once. Returns false if no transform is long enough.
///
/// The transforms remain in the thread's scratch: see [`wipe_scratch`].
pub(crate) fn mul_by_blocks(out: &mut [u64], long: &[u64], short: &[u64], ratio: usize) -> bool {
    let n = short.len();
    Scratch::lend(|scratch| {
        let mut shape_of = |block: usize| scratch.shape(Task::product(block, n, 1).ok()?);
        let Some(shape) = shape_of(ratio * n) else { return false };
        // The longest blocks that this transform takes, and then no more blocks than these, of equal lengths.
        let full = shape.words().saturating_sub(n);
        let fits = shape_of(full).is_some_and(|other| other.digits == shape.digits);
        let blocks = long.len().div_ceil(if fits { full } else { ratio * n });
        let block = long.len().div_ceil(blocks);
        let Some(shape) = shape_of(block) else { return false };
        let Some(plan) = plan(shape.digits) else { return false };
        let (fixed, moving) = scratch.floats(2 * plan.spectrum_len()).split_at_mut(plan.spectrum_len());
        plan.forward(shape.digit_bits, short, fixed);
        by_blocks(out, long, block, &mut kept(n), |window, part| {
            words::transformed(shape.words());
            plan.convolve_transformed(shape.digit_bits, part, fixed, window, moving);
        });
        true
    })
}

/// `out <- a b`, by calls of `mul` for the two halves of the longer operand.
fn in_parts(out: &mut [u64], a: &[u64], b: &[u64], mul: impl Fn(&mut [u64], &[u64], &[u64])) {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let half = long.len().div_ceil(2);
    by_blocks(out, long, half, &mut kept(short.len()), |window, part| mul(window, part, short));
}

/// Overwrites the data of the last products in this thread's scratch and frees it.
pub fn wipe_scratch() {
    drop(SCRATCH.take());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_in_parts_are_products() {
        for (n, m) in [(1, 1), (7, 3), (20, 90), (51, 50)] {
            let (a, b) = (vec![u64::MAX; n], vec![u64::MAX - 1; m]);
            let (mut out, mut expected) = (vec![7; n + m], vec![7; n + m]);
            mul(&mut expected, &a, &b);
            in_parts(&mut out, &a, &b, mul);
            assert_eq!(out, expected, "{n} x {m} words");
        }
    }
}
