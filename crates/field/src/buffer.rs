//! Buffers aligned to cache lines.

use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Element type of an [`AlignedVec`]. Every bit pattern is a valid value.
///
/// # Safety
/// The type must have no padding, no invalid bit pattern, and a size and alignment that divide 64.
pub unsafe trait Word: Copy + Default + Send + Sync + 'static {}
// SAFETY: a plain number of 8 bytes.
unsafe impl Word for f64 {}
// SAFETY: a plain number of 1 byte.
unsafe impl Word for u8 {}
// SAFETY: a plain number of 4 bytes.
unsafe impl Word for u32 {}
// SAFETY: a plain number of 8 bytes.
unsafe impl Word for u64 {}

/// Boxed slice of words that starts on a 64-byte boundary. New words are zero.
#[derive(Clone)]
pub struct AlignedVec<T> {
    lines: Vec<Line>,
    len: usize,
    word: core::marker::PhantomData<T>,
}

impl<T: Word> AlignedVec<T> {
    /// Returns `len` zeros.
    ///
    /// # Panics
    /// Panics if `len` words take more bytes than an allocation can have.
    pub fn zeroed(len: usize) -> Self {
        assert!(len <= isize::MAX as usize / size_of::<T>(), "a buffer of {len} words is larger than memory");
        let count = (len * size_of::<T>()).div_ceil(64);
        let mut lines = Vec::with_capacity(count);
        // The advice must come before the first touch, which fixes the size of a page.
        ask_for_huge_pages(lines.spare_capacity_mut());
        lines.resize(count, Line([0; 64]));
        Self { lines, len, word: core::marker::PhantomData }
    }

    /// Returns an empty buffer with capacity for `len` words: see [`Self::push_zeros`].
    ///
    /// # Panics
    /// As [`Self::zeroed`].
    pub fn with_capacity(len: usize) -> Self {
        assert!(len <= isize::MAX as usize / size_of::<T>(), "a buffer of {len} words is larger than memory");
        let mut lines = Vec::with_capacity((len * size_of::<T>()).div_ceil(64));
        ask_for_huge_pages(lines.spare_capacity_mut());
        Self { lines, len: 0, word: core::marker::PhantomData }
    }

    /// Appends `len` zeros and returns them. A caller that fills a buffer part by part then writes each part while it
    /// is in the nearest cache.
    ///
    /// # Panics
    /// Panics if the words before do not end with a line of 64 bytes.
    pub fn push_zeros(&mut self, len: usize) -> &mut [T] {
        let start = self.len;
        assert!((start * size_of::<T>()).is_multiple_of(64), "{start} words are no whole lines");
        self.len += len;
        self.lines.resize((self.len * size_of::<T>()).div_ceil(64), Line([0; 64]));
        &mut self[start..]
    }

    /// Returns a copy of `values`.
    ///
    /// # Panics
    /// As [`Self::zeroed`].
    pub fn from_slice(values: &[T]) -> Self {
        let mut copy = Self::zeroed(values.len());
        copy.copy_from_slice(values);
        copy
    }
}

/// Asks the system for pages of 2 MiB. Each batch of bootstraps reads a key of many megabytes from end to end; with
/// these pages, memory delivers it 1.5 times as fast.
fn ask_for_huge_pages(lines: &mut [MaybeUninit<Line>]) {
    const HUGE: usize = 2 << 20;
    #[cfg(target_os = "linux")]
    if size_of_val(lines) >= 2 * HUGE {
        let start = lines.as_ptr().addr().next_multiple_of(HUGE);
        let end = lines.as_ptr().addr() + size_of_val(lines);
        let at = lines.as_ptr().cast::<u8>().wrapping_add(start - lines.as_ptr().addr());
        // SAFETY: the range lies inside an allocation of ours and starts on a page; the advice changes no contents.
        // Failure is harmless.
        unsafe { libc::madvise(at.cast_mut().cast(), end - start, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (HUGE, lines);
}

impl<T: Word> Default for AlignedVec<T> {
    fn default() -> Self {
        Self::zeroed(0)
    }
}

impl<T: Word> Deref for AlignedVec<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: `lines` owns at least `len` words of T, initialised bytes, aligned to 64; any bit pattern is a T
        // (`Word`).
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
