//! Conversion of words to balanced digits.

use crate::Backend;
use crate::simd::{DigitWindow, F64Lanes, GROUP, dispatch};

/// Largest number of bits of a digit.
pub(super) const MAX_DIGIT_BITS: u32 = 25;
/// Positions of the digits in the words.
pub(super) struct Windows {
    cut: DigitWindow,
    bits: u32,
    /// Value added to digit 0: the carry that wraps around from the last digit.
    first: f64,
}

impl Windows {
    /// Makes the positions of digits of 2 to [`MAX_DIGIT_BITS`] bits.
    pub(super) fn new(bits: u32, first: f64) -> Self {
        debug_assert!((2..=MAX_DIGIT_BITS).contains(&bits));
        Self { cut: DigitWindow::new(bits), bits, first }
    }

    /// Returns whether all digits of `x` from number `digit` on (a multiple of 8) are zero.
    #[inline(always)]
    pub(super) fn end_before(&self, x: &[u64], digit: usize) -> bool {
        digit / GROUP * self.bits as usize > size_of_val(x)
    }

    /// Writes `len` balanced digits of `x` from digit `first` on (both multiples of 8). Digits beyond `x` are zero.
    ///
    /// # Safety
    /// `len` floats are writable at `out`, initialised or not.
    #[cfg_attr(not(unoptimised), inline(always))]
    pub(super) unsafe fn split<L: F64Lanes>(&self, l: L, x: &[u64], first: usize, out: *mut f64, len: usize) {
        let bytes = size_of_val(x);
        for group in 0..len / GROUP {
            let at = (first / GROUP + group) * self.bits as usize;
            // SAFETY: 8 floats of `len`; the bytes are inside `x`.
            unsafe {
                let out = out.add(group * GROUP);
                if at > 0 && at - 1 + self.cut.bytes() <= bytes {
                    l.cut(&self.cut, x.as_ptr().cast::<u8>().add(at - 1), out);
                } else if at > bytes {
                    out.cast::<[f64; GROUP]>().write([0.0; GROUP]);
                } else {
                    self.cut_at_end(l, x, at, out);
                }
            }
        }
    }

    /// Cuts digits that are not all inside `x`, from a copy with zeros around.
    ///
    /// # Safety
    /// 8 floats are writable at `out`.
    #[cfg_attr(not(unoptimised), inline(always))]
    unsafe fn cut_at_end<L: F64Lanes>(&self, l: L, x: &[u64], at: usize, out: *mut f64) {
        let bytes = size_of_val(x);
        let mut copy = [0_u8; 128];
        for (i, copy) in copy[..self.cut.bytes()].iter_mut().enumerate() {
            if let Some(byte) = (at + i).checked_sub(1).filter(|&byte| byte < bytes) {
                *copy = x[byte / 8].to_le_bytes()[byte % 8];
            }
        }
        // SAFETY: at most 7 + 4 * 25 bits and 16 bytes: inside the copy; 8 floats.
        unsafe {
            l.cut(&self.cut, copy.as_ptr(), out);
            if at == 0 {
                *out += self.first;
            }
        }
    }
}

#[inline(always)]
unsafe fn split_kernel<L: F64Lanes>(l: L, windows: &Windows, x: &[u64], out: &mut [f64]) {
    // SAFETY: as many floats as the slice has.
    unsafe { windows.split(l, x, 0, out.as_mut_ptr(), out.len()) };
}

/// Writes the balanced digits of `x`, as [`Windows::split`] does. The length of `out` is a multiple of 8.
pub(super) fn split(backend: Backend, windows: &Windows, x: &[u64], out: &mut [f64]) {
    dispatch!(backend, split_kernel<_>(windows: &Windows, x: &[u64], out: &mut [f64]))
}
