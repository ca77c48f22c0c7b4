//! Entry points of the kernels: each enables the instruction set of its plan's back end.

use crate::fft::{self, FloatSink, FloatSource, NegacyclicPlan};
use crate::simd::dispatch;
use crate::torus::{self, BlindRotation, Call};
use fft::{forward as forward_kernel, inverse as inverse_kernel};
use torus::blind_rotate as blind_rotate_kernel;

/// See [`NegacyclicPlan::forward`].
///
/// # Safety
/// The source and `dst` hold `N` floats.
pub(crate) unsafe fn forward(plan: &NegacyclicPlan, source: FloatSource, dst: *mut f64) {
    dispatch!(plan.backend(), forward_kernel<_, FloatSource>(plan: &NegacyclicPlan, source: FloatSource, dst: *mut f64))
}

/// See [`NegacyclicPlan::inverse`].
///
/// # Safety
/// `src` and the sink hold `N` floats.
pub(crate) unsafe fn inverse(plan: &NegacyclicPlan, src: *mut f64, sink: FloatSink) {
    dispatch!(plan.backend(), inverse_kernel<_, FloatSink>(plan: &NegacyclicPlan, src: *mut f64, sink: FloatSink))
}

/// See [`BlindRotation::blind_rotate`].
///
/// # Safety
/// The pointers of `call` are valid for the lengths stated there.
pub(crate) unsafe fn blind_rotate(plan: &BlindRotation, call: Call) {
    dispatch!(plan.fft().backend(), blind_rotate_kernel<_>(plan: &BlindRotation, call: Call))
}
