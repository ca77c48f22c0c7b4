//! Products of spectra, point by point.

use super::element::reduce_u128;
use super::lanes::FieldLanes;
use crate::Backend;
use crate::simd::dispatch;

/// Operation of a pointwise kernel on its first operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pointwise {
    /// `c <- a b`.
    Multiply,
    /// `c <- c + a b`.
    MultiplyAdd,
}

/// # Safety
/// The three pointers are to `len` words; `a` and `b` may be `c`.
#[cfg_attr(not(unoptimised), inline(always))]
unsafe fn pointwise_kernel<L: FieldLanes>(
    l: L,
    what: Pointwise,
    c: *mut u64,
    a: *const u64,
    b: *const u64,
    len: usize,
) {
    let mut i = 0;
    // SAFETY: the caller's contract.
    unsafe {
        while i + L::WIDTH <= len {
            let mut x = l.lift_canonical(l.mul_words(l.load(a.add(i)), l.load(b.add(i))));
            if what == Pointwise::MultiplyAdd {
                x = l.add(x, l.widen(l.load(c.add(i))));
            }
            l.store(c.add(i), l.canonical(x));
            i += L::WIDTH;
        }
        while i < len {
            let sum = if what == Pointwise::MultiplyAdd { u128::from(c.add(i).read()) } else { 0 };
            // (2^64 - 1)^2 + 2^64 - 1 < 2^128.
            let product = u128::from(a.add(i).read()) * u128::from(b.add(i).read());
            c.add(i).write(reduce_u128(product + sum));
            i += 1;
        }
    }
}

/// Computes `len` products with the instructions of a back end. Range: any words in, canonical out.
///
/// # Safety
/// As [`pointwise_kernel`].
pub(super) unsafe fn pointwise(
    backend: Backend,
    what: Pointwise,
    c: *mut u64,
    a: *const u64,
    b: *const u64,
    len: usize,
) {
    dispatch!(backend, pointwise_kernel<_>(what: Pointwise, c: *mut u64, a: *const u64, b: *const u64, len: usize));
}
