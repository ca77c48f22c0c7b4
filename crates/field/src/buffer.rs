//! Buffers aligned to cache lines.

use core::ops::{Deref, DerefMut};

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// A word that any bit pattern fills: what an [`AlignedVec`] can hold.
///
/// # Safety
/// The type must have no padding, no invalid bit pattern, and a size and alignment that divide 64.
pub unsafe trait Word: Copy + Default + Send + Sync + 'static {}
// SAFETY: a plain number of 8 bytes.
unsafe impl Word for f64 {}
// SAFETY: a plain number of 4 bytes.
unsafe impl Word for u32 {}
// SAFETY: a plain number of 8 bytes.
unsafe impl Word for u64 {}

/// A boxed slice of words that starts on a 64-byte boundary, zero when made.
#[derive(Clone)]
pub struct AlignedVec<T> {
    lines: Vec<Line>,
    len: usize,
    word: core::marker::PhantomData<T>,
}

impl<T: Word> AlignedVec<T> {
    /// `len` zeros.
    pub fn zeroed(len: usize) -> Self {
        let lines = (len * size_of::<T>()).div_ceil(64);
        Self { lines: vec![Line([0; 64]); lines], len, word: core::marker::PhantomData }
    }
}

impl<T: Word> Default for AlignedVec<T> {
    fn default() -> Self {
        Self::zeroed(0)
    }
}

impl<T: Word> Deref for AlignedVec<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: `lines` owns at least `len` words of T, initialised bytes, aligned to 64; any bit pattern is a T (`Word`).
        unsafe { core::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl<T: Word> DerefMut for AlignedVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and `self` is borrowed mutably.
        unsafe { core::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

impl<T> core::fmt::Debug for AlignedVec<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("AlignedVec").field("len", &self.len).finish_non_exhaustive()
    }
}
