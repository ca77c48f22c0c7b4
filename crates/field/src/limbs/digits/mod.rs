//! Products of numbers in short digits held in vectors: one digit in a word of 64 bits, with sums gathered without
//! carries.
//!
//! A number is `sum d[i] 2^(BITS i)`. Chunk J of a product (digits `WIDTH J..`) is gathered from all pairs of chunks
//! i + j = J in WIDTH + 1 accumulators. Accumulator k holds the part that belongs k digits above its lane. Nothing is
//! shuffled until the chunk is complete:
//!
//! ```text
//!   accumulator k, lane l  +=  low(a[W i + l] b[W j + k]) + high(a[W i + l] b[W j + k - 1])      belongs to digit W (i + j) + l + k
//! ```
//!
//! Bounds of the sums and of the carries: `docs/derivations/montgomery.md`.

#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no other architecture has digits yet"))]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod form;
mod kernels;
mod product;

pub(super) use form::Form;
pub(super) use kernels::{carry, high_columns, low_columns, product_columns, square_columns};

#[cfg(target_arch = "x86_64")]
pub(super) use product::{mul, square, supports_lengths};

/// Calls `kernel(token, args..)` with the instructions of a multiplier that has digits.
macro_rules! dispatch {
    ($multiplier:expr, $kernel:ident($($arg:ident: $ty:ty),* $(,)?)) => {{
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
        fn ifma(token: $crate::limbs::unit::Ifma, $($arg: $ty),*) {
            $kernel(token, $($arg),*)
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
        fn fma512(token: $crate::backend::Avx512, $($arg: $ty),*) {
            $kernel(token, $($arg),*)
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn fma(token: $crate::backend::Avx2, $($arg: $ty),*) {
            $kernel(token, $($arg),*)
        }
        match $multiplier {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the token proves the instructions.
            $crate::limbs::Multiplier::Ifma(token) => unsafe { ifma(token, $($arg),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the token proves the instructions.
            $crate::limbs::Multiplier::Fma512(token) => unsafe { fma512(token, $($arg),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the token proves the instructions.
            $crate::limbs::Multiplier::Fma(token) => unsafe { fma(token, $($arg),*) },
            _ => debug_assert!(false, "only multipliers that have a form have digits"),
        }
    }};
}
pub(super) use dispatch;

/// `WIDTH` digits in registers.
///
/// # Safety
/// Methods that take pointers need `WIDTH` words there ([`Digits::broadcast`]: one); no alignment is needed.
pub(super) trait Digits: Copy {
    /// Sums, as integers of 64 bits.
    type V: Copy;
    /// Factors: digits in the multiplier's own form.
    type F: Copy;
    /// Lanes.
    const WIDTH: usize;
    /// Bits of a digit.
    const BITS: u32;
    /// A low half may be this much below zero on average. The offset times 2^BITS is added to a column, and taken back
    /// from the next.
    const OFFSET: u64;

    unsafe fn load(self, src: *const u64) -> Self::V;
    unsafe fn store(self, dst: *mut u64, v: Self::V);
    fn splat(self, x: u64) -> Self::V;
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// WIDTH digits in factor form.
    unsafe fn factor(self, src: *const u64) -> Self::F;
    /// One digit in factor form, in all lanes.
    unsafe fn broadcast(self, src: *const u64) -> Self::F;
    /// A digit below 2^BITS in factor form, as the word that [`Digits::factor`] reads.
    fn encode(self, v: Self::V) -> Self::V;
    /// Returns (low + the low half of a b, high + the high half). Each has a bias of its own, see [`Digits::bias`].
    fn multiply_add(self, low: Self::V, high: Self::V, a: Self::F, b: Self::F) -> (Self::V, Self::V);
    /// Excess that each call of `multiply_add` adds to the (low, high) sums.
    fn bias() -> (u64, u64);
    /// Sums each accumulator k, moved up by k lanes. Returns the lanes that stay in the chunk and the lanes that pass
    /// into the next chunk.
    fn gather(self, accumulators: &[Self::V; 9]) -> (Self::V, Self::V);
    /// One step of [`carry`]. It makes digits of the sums `v`. `above` holds the parts above 2^BITS of the chunk
    /// before, in its last lane, and `carry` is the carry from there. Returns (digits, parts above, carry out).
    fn carry(self, v: Self::V, above: Self::V, carry: u32) -> (Self::V, Self::V, u32);
    /// digits <- a number cut into digits, in factor form. Digits past its end are zero.
    fn unpack(self, digits: &mut [u64], words: &[u64]);
    /// words <- the number of digits in 0..2^BITS. The part above the top word is dropped.
    fn pack(self, words: &mut [u64], digits: &[u64]);
    /// The last lane.
    fn last(self, v: Self::V) -> u64;
}
