//! The kernels of each float type, entered with the instruction set of the plan's back end.

use crate::fft::{FloatSink, FloatSource, NegacyclicPlan, forward, inverse};
use crate::simd::dispatch;
use crate::torus::{BlindRotation, Call, blind_rotate};

/// Entry points of a float type. Implemented for `f32` and `f64` alone: the module is private.
pub trait Kernels: Sized {
    /// See [`crate::fft::NegacyclicPlan::forward`].
    ///
    /// # Safety
    /// The source and `dst` hold `N` floats.
    unsafe fn forward(plan: &NegacyclicPlan<Self>, source: FloatSource<Self>, dst: *mut Self);
    /// See [`crate::fft::NegacyclicPlan::inverse`].
    ///
    /// # Safety
    /// `src` and the sink hold `N` floats.
    unsafe fn inverse(plan: &NegacyclicPlan<Self>, src: *mut Self, sink: FloatSink<Self>);
    /// See [`BlindRotation::blind_rotate`].
    ///
    /// # Safety
    /// The pointers of `call` are valid for the lengths stated there.
    unsafe fn blind_rotate(plan: &BlindRotation<Self>, call: Call<Self>);
}

macro_rules! kernels {
    ($f:ty, $tile:literal) => {
        impl Kernels for $f {
            unsafe fn forward(plan: &NegacyclicPlan<$f>, source: FloatSource<$f>, dst: *mut $f) {
                if plan.tile() == 16 {
                    dispatch!(plan.backend(), forward::<$f, FloatSource<$f>; 16>(plan: &NegacyclicPlan<$f>, source: FloatSource<$f>, dst: *mut $f))
                } else {
                    dispatch!(plan.backend(), forward::<$f, FloatSource<$f>; 8>(plan: &NegacyclicPlan<$f>, source: FloatSource<$f>, dst: *mut $f))
                }
            }
            unsafe fn inverse(plan: &NegacyclicPlan<$f>, src: *mut $f, sink: FloatSink<$f>) {
                if plan.tile() == 16 {
                    dispatch!(plan.backend(), inverse::<$f, FloatSink<$f>; 16>(plan: &NegacyclicPlan<$f>, src: *mut $f, sink: FloatSink<$f>))
                } else {
                    dispatch!(plan.backend(), inverse::<$f, FloatSink<$f>; 8>(plan: &NegacyclicPlan<$f>, src: *mut $f, sink: FloatSink<$f>))
                }
            }
            unsafe fn blind_rotate(plan: &BlindRotation<$f>, call: Call<$f>) {
                dispatch!(plan.fft().backend(), blind_rotate::<$f; $tile>(plan: &BlindRotation<$f>, call: Call<$f>))
            }
        }
    };
}
kernels!(f32, 16);
kernels!(f64, 8);
