//! Vector lanes: one trait, stamped per instruction set.
//!
//! Each kernel is written once, generic over [`F64Lanes`] and marked `#[inline(always)]`. It is entered through one
//! `#[target_feature]` function per instruction set (see [`dispatch!`]). Each lane performs the same operations in the
//! same order on every back end, fused multiply-adds included, so results are identical bit for bit. The exception is
//! `Simd128`, the lanes of WebAssembly, on which [`NegacyclicPlan`](crate::fft::NegacyclicPlan) runs there.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod digit_window;
mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
#[cfg(target_arch = "x86_64")]
mod stamp;

pub(crate) use digit_window::{DigitWindow, GROUP};
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) use simd128::Simd128;

/// `WIDTH` doubles, and as many `u32` torus words, in registers.
///
/// # Safety
/// Methods that take pointers need `WIDTH` readable (or writable) elements there; no alignment is needed.
pub(crate) trait F64Lanes: Copy {
    /// Floats.
    type V: Copy;
    /// Torus words.
    type I: Copy;
    /// Lanes of a register.
    const WIDTH: usize;

    unsafe fn load(self, src: *const f64) -> Self::V;
    unsafe fn store(self, dst: *mut f64, v: Self::V);
    fn splat(self, x: f64) -> Self::V;
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a * b + c`, rounded once.
    fn mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `a * b - c`, rounded once.
    fn mul_sub(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `c - a * b`, rounded once.
    fn neg_mul_add(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;

    /// Transposes a square of `WIDTH` registers in place.
    fn transpose(self, square: &mut [Self::V]);

    unsafe fn load_u32(self, src: *const u32) -> Self::I;
    unsafe fn store_u32(self, dst: *mut u32, v: Self::I);
    fn splat_u32(self, x: u32) -> Self::I;
    fn add_u32(self, a: Self::I, b: Self::I) -> Self::I;
    fn sub_u32(self, a: Self::I, b: Self::I) -> Self::I;
    fn mul_u32(self, a: Self::I, b: Self::I) -> Self::I;
    fn xor_u32(self, a: Self::I, b: Self::I) -> Self::I;
    /// Shift left by `count` in `0..32`.
    fn shl(self, a: Self::I, count: u32) -> Self::I;
    /// Arithmetic shift right by `count` in `0..32`.
    fn sar(self, a: Self::I, count: u32) -> Self::I;
    /// Converts signed words to floats.
    fn to_float(self, a: Self::I) -> Self::V;
    /// Returns the torus word nearest to a real number of turns: `x` modulo 1 in units of `2^-32`.
    fn to_torus(self, x: Self::V) -> Self::I;
    /// Writes the 8 balanced digits of a group as floats. With `w` the window of a digit as a signed number, the digit
    /// is `floor((w + 1) / 2)`: the digit as a signed number plus the top bit of the digit below (Booth). For digits of
    /// `bits` bits the range is `-2^(bits-1) ..= 2^(bits-1)`.
    ///
    /// # Safety
    /// [`DigitWindow::bytes`] bytes are readable at `before`, 8 floats writable at `out`.
    unsafe fn cut(self, window: &DigitWindow, before: *const u8, out: *mut f64);
    /// Prefetches the cache line at `at`; never faults.
    fn prefetch(self, at: *const f64);
}

/// Enters `kernel(lanes, args..)` with the instruction set of a back end enabled.
macro_rules! dispatch {
    ($backend:expr, $kernel:ident <$($generic:tt),*> ($($arg:ident: $ty:ty),* $(,)?)) => {{
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
        unsafe fn avx512(token: $crate::backend::Avx512, $($arg: $ty),*) {
            // SAFETY: the caller's contract is the kernel's.
            unsafe { $kernel::<$($generic),*>(token, $($arg),*) }
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        unsafe fn avx2(token: $crate::backend::Avx2, $($arg: $ty),*) {
            // SAFETY: the caller's contract is the kernel's.
            unsafe { $kernel::<$($generic),*>(token, $($arg),*) }
        }
        match $backend {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the token proves the instruction set; the caller upholds the kernel's contract.
            $crate::Backend::Avx512(token) => unsafe { avx512(token, $($arg),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the token proves the instruction set; the caller upholds the kernel's contract.
            $crate::Backend::Avx2(token) => unsafe { avx2(token, $($arg),*) },
            // SAFETY: the caller upholds the kernel's contract.
            _ => unsafe { $kernel::<$($generic),*>($crate::backend::Scalar, $($arg),*) },
        }
    }};
}
pub(crate) use dispatch;
