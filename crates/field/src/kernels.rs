//! Entry points of the kernels: each enables the instruction set of its plan's back end.

use crate::fft::{self, FloatSink, FloatSource, NegacyclicPlan};
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use crate::simd::Simd128;
use crate::simd::dispatch;
use crate::torus::{self, BlindRotation, Call, Monomials, Seat};
use fft::{forward as forward_kernel, inverse as inverse_kernel};
use torus::{blind_rotate_bits as bits_kernel, blind_rotate_blocks as blocks_kernel};

/// See [`NegacyclicPlan::forward`].
///
/// # Safety
/// The source and `dst` hold `N` floats.
pub(crate) unsafe fn forward(plan: &NegacyclicPlan, source: FloatSource, dst: *mut f64) {
    // Without instructions for them, a function of integers computes fused multiply-adds, and takes most of the time.
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    // SAFETY: the caller's contract.
    unsafe {
        forward_kernel(Simd128, plan, source, dst);
    }
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    dispatch!(plan.backend(), forward_kernel<_, FloatSource>(plan: &NegacyclicPlan, source: FloatSource, dst: *mut f64))
}

/// See [`NegacyclicPlan::inverse`].
///
/// # Safety
/// `src` and the sink hold `N` floats.
pub(crate) unsafe fn inverse(plan: &NegacyclicPlan, src: *mut f64, sink: FloatSink) {
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    // SAFETY: the caller's contract.
    unsafe {
        inverse_kernel(Simd128, plan, src, sink);
    }
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    dispatch!(plan.backend(), inverse_kernel<_, FloatSink>(plan: &NegacyclicPlan, src: *mut f64, sink: FloatSink))
}

/// See [`BlindRotation::blind_rotate`]: a key of independent bits.
///
/// # Safety
/// The pointers of `call` are valid for the lengths stated there.
pub(crate) unsafe fn blind_rotate_bits(plan: &BlindRotation, call: Call) {
    dispatch!(plan.fft().backend(), bits_kernel<_>(plan: &BlindRotation, call: Call))
}

/// See [`BlindRotation::blind_rotate`]: a key of blocks.
///
/// # Safety
/// The pointers of `call` are valid for the lengths stated there.
pub(crate) unsafe fn blind_rotate_blocks(plan: &BlindRotation, monomials: &Monomials, call: Call, seat: Seat<'_>) {
    dispatch!(
        plan.fft().backend(),
        blocks_kernel<_>(plan: &BlindRotation, monomials: &Monomials, call: Call, seat: Seat<'_>)
    )
}
