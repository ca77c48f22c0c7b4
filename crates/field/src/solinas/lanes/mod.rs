//! Lanes of field elements: one trait, one file per instruction set.
//!
//! A kernel works with three forms of an element.
//! - *Canonical*: a word in `0..P`, the form that plans take and return.
//! - *Packed* ([`FieldLanes::V`]): a word between two passes. Each back end defines its own form.
//! - *Wide* ([`FieldLanes::X`]): an element with room for a whole radix-8 transform without reductions. On the vector
//!   units it is a pair `x0 + x1 f`, `f = 2^32`, of signed 64-bit numbers. Multiplication by `f` is `(-x1, x0 + x1)`
//!   because `f^2 = f - 1 (mod p)`.
//!
//! `docs/derivations/solinas-transform.md` derives the ranges, which prevent overflow.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no vector unit is supported there"))]
mod vector;

/// A factor as the kernels read it: two words. Each back end defines its own form.
pub(super) type Twiddle = [u64; 2];

/// `WIDTH` field elements in registers.
///
/// # Safety
/// Methods that take pointers need `WIDTH` readable (or writable) words there, [`Self::broadcast`] one twiddle and a word after it;
/// no alignment is needed.
pub(super) trait FieldLanes: Copy {
    /// Canonical or packed elements.
    type V: Copy;
    /// Wide elements.
    type X: Copy;
    /// Twiddles.
    type W: Copy;
    /// Elements in a register.
    const WIDTH: usize;

    unsafe fn load(self, src: *const u64) -> Self::V;
    unsafe fn store(self, dst: *mut u64, v: Self::V);
    /// One twiddle in all lanes.
    unsafe fn broadcast(self, src: *const u64) -> Self::W;
    /// Twiddles of `WIDTH` neighbours in a group of eight: their first words at `src`, their second words eight words on.
    unsafe fn twiddles(self, src: *const u64) -> Self::W;

    fn zero(self) -> Self::X;
    /// Converts any words to packed elements.
    fn encode(self, v: Self::V) -> Self::V;
    /// Converts any words to wide elements.
    fn widen(self, v: Self::V) -> Self::X;
    /// Converts packed to wide elements.
    fn unpack(self, v: Self::V) -> Self::X;
    /// Multiplies packed elements by twiddles.
    fn mul(self, v: Self::V, w: Self::W) -> Self::X;

    /// Multiplies any words.
    fn mul_words(self, a: Self::V, b: Self::V) -> Self::X;

    /// Adds the constant that [`Self::pack`] expects in its operand, once per sum. A transform adds it to input 0,
    /// whose factor is 1 in every output.
    fn lift_packed(self, x: Self::X) -> Self::X;
    /// Adds the constant that [`Self::canonical`] expects in its operand.
    fn lift_canonical(self, x: Self::X) -> Self::X;
    /// Converts lifted wide elements to packed ones.
    fn pack(self, x: Self::X) -> Self::V;
    /// Converts lifted wide elements to canonical ones.
    fn canonical(self, x: Self::X) -> Self::V;

    fn add(self, a: Self::X, b: Self::X) -> Self::X;
    fn sub(self, a: Self::X, b: Self::X) -> Self::X;
    /// Multiplies by `2^SHIFT`, without a reduction.
    fn shl<const SHIFT: u32>(self, a: Self::X) -> Self::X;
    /// Multiplies by `2^SHIFT f^PHI`. Range: `a 2^SHIFT` below `2^63`; out halves of at most `2^34` in magnitude.
    fn twist<const SHIFT: u32, const PHI: u32>(self, a: Self::X) -> Self::X;
    /// Multiplies by `f = 2^32`.
    fn phi(self, a: Self::X) -> Self::X;
    /// Multiplies by `f^2 = 2^64`.
    fn phi2(self, a: Self::X) -> Self::X;

    /// Transposes squares: in a block of 8 rows of 8 words, returns the columns' entries of rows `row..row + WIDTH`, as
    /// 8 registers.
    unsafe fn load_columns(self, block: *const u64, row: usize) -> [Self::V; 8];
    /// The inverse of [`Self::load_columns`].
    unsafe fn store_columns(self, block: *mut u64, row: usize, columns: [Self::V; 8]);
}

/// Returns a back end's form of a factor.
pub(super) fn encode_twiddle(backend: crate::Backend, w: u64) -> Twiddle {
    match backend {
        crate::Backend::Scalar => [w, 0],
        _ => vector::encode_twiddle(w),
    }
}
