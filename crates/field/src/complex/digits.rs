//! Words to balanced digits, and coefficients back to words.
//!
//! Plain loops over arrays, which the compiler turns into the vector instructions of the back end they are compiled for.

use crate::Backend;
use crate::simd::{Lanes, dispatch};

/// Coefficients are integers up to this in magnitude.
pub const MAX_COEFFICIENT: f64 = (1_u64 << 50) as f64;
/// Added to a float below `2^51` in magnitude, it leaves the integer nearest in the low bits.
const MAGIC: f64 = (3_u64 << 51) as f64;
/// `2^52`: the integer below it that is or-ed into the low bits adds to it.
const INTEGER: f64 = (1_u64 << 52) as f64;
/// Digits cut from the same number of bytes as a digit has bits.
const GROUP: usize = 8;
/// Digits carried at a time, into as many words as a digit has bits.
const CHUNK: usize = 64;

/// Where the window of each digit of a group is: its `bits + 1` bits begin one bit below the digit.
struct Windows {
    byte: [usize; GROUP],
    shift: [u64; GROUP],
    bits: u32,
}

impl Windows {
    #[inline(always)]
    fn new(bits: u32) -> Self {
        // The group's first byte is preceded by the byte whose top bit is the one below the first digit.
        let (mut byte, mut shift) = ([0; GROUP], [0; GROUP]);
        for i in 0..GROUP {
            let at = 7 + i * bits as usize;
            (byte[i], shift[i]) = (at / 8, (at % 8) as u64);
        }
        Self { byte, shift, bits }
    }

    /// Bytes a group reads, from the byte before it.
    #[inline(always)]
    fn bytes(&self) -> usize {
        self.byte[GROUP - 1] + 8
    }

    /// The balanced digits of a group: each is the digit as a signed number, plus the top bit of the digit below (Booth), that is
    /// `floor((w + 1) / 2)` for its window `w` as a signed number. In `-2^(bits-1) ..= 2^(bits-1)`.
    ///
    /// # Safety
    /// [`Self::bytes`] bytes are readable at `before`.
    #[inline(always)]
    unsafe fn cut(&self, before: *const u8, out: &mut [f64; GROUP]) {
        let mut window = [0; GROUP];
        for i in 0..GROUP {
            // SAFETY: byte[i] + 8 is at most `bytes`.
            window[i] = u64::from_le(unsafe { before.add(self.byte[i]).cast::<u64>().read_unaligned() });
        }
        let (mask, sign) = ((2 << self.bits) - 1, 1 << self.bits);
        let zero = INTEGER + (1_u64 << (self.bits - 1)) as f64;
        for i in 0..GROUP {
            let digit = ((((window[i] >> self.shift[i]) & mask) ^ sign) + 1) >> 1;
            out[i] = f64::from_bits(INTEGER.to_bits() | digit) - zero;
        }
    }
}

/// The balanced digits of `x` from digit `first` (a multiple of 8) on, as many as `out` takes (a multiple of 8); zeros beyond `x`.
#[inline(always)]
unsafe fn split_kernel<L: Lanes>(_lanes: L, x: &[u64], bits: u32, first: usize, out: &mut [f64]) {
    let windows = Windows::new(bits);
    let bytes = size_of_val(x);
    let (groups, _) = out.as_chunks_mut::<GROUP>();
    for (group, out) in groups.iter_mut().enumerate() {
        let at = (first / GROUP + group) * bits as usize;
        if at > 0 && at - 1 + windows.bytes() <= bytes {
            // SAFETY: the bytes are inside `x`.
            unsafe { windows.cut(x.as_ptr().cast::<u8>().add(at - 1), out) };
        } else if at > bytes {
            *out = [0.0; GROUP];
        } else {
            // At the ends: a copy with zeros around.
            let mut copy = [0_u8; 64];
            for (i, copy) in copy[..windows.bytes()].iter_mut().enumerate() {
                if let Some(byte) = (at + i).checked_sub(1).filter(|&byte| byte < bytes) {
                    *copy = x[byte / 8].to_le_bytes()[byte % 8];
                }
            }
            // SAFETY: at most 7 + 7 * 25 bits and 8 bytes: inside the copy.
            unsafe { windows.cut(copy.as_ptr(), out) };
        }
    }
}

/// See [`split_kernel`]. `bits` is in `2..=25`.
pub(super) fn split(backend: Backend, x: &[u64], bits: u32, first: usize, out: &mut [f64]) {
    debug_assert!((2..=25).contains(&bits) && first % GROUP == 0 && out.len() % GROUP == 0);
    dispatch!(backend, split_kernel<_>(x: &[u64], bits: u32, first: usize, out: &mut [f64]))
}

#[inline(always)]
unsafe fn carry_kernel<L: Lanes>(
    _lanes: L,
    coefficients: &[f64],
    scale: f64,
    bits: u32,
    out: &mut [u64],
    carry_out: &mut u64,
) {
    let offset = ((1_u64 << 51) - offset_quotient(bits)).wrapping_sub(MAGIC.to_bits());
    let mask = (1_u64 << bits) - 1;
    let pair_mask = (1_u64 << (2 * bits)) - 1;
    // What the digit below the chunk leaves over, and the carry of the digits below.
    let (mut above, mut carry) = (0, 0);
    let (chunks, _) = coefficients.as_chunks::<CHUNK>();
    for (c, out) in chunks.iter().zip(out.chunks_exact_mut(bits as usize)) {
        let mut u = [0; CHUNK + 1];
        u[0] = above;
        for i in 0..CHUNK {
            u[i + 1] = c[i].mul_add(scale, MAGIC).to_bits().wrapping_add(offset);
        }
        above = u[CHUNK];
        // Below 2^bits + 2^(52 - bits).
        let mut s = [0; CHUNK];
        for i in 0..CHUNK {
            s[i] = (u[i + 1] & mask) + (u[i] >> bits);
        }
        let mut pairs = [0; CHUNK / 2];
        for i in 0..CHUNK / 2 {
            pairs[i] = s[2 * i] + (s[2 * i + 1] << bits);
        }
        let (mut word, mut filled) = (0_u64, 0);
        let mut next = 0;
        for pair in pairs {
            let sum = pair + carry;
            carry = sum >> (2 * bits);
            let digit = sum & pair_mask;
            word |= digit << filled;
            filled += 2 * bits;
            if filled >= 64 {
                filled -= 64;
                out[next] = word;
                next += 1;
                word = digit >> (2 * bits - filled);
            }
        }
    }
    *carry_out = carry + (above >> bits);
}

/// Carries `scale * coefficients` (within [`MAX_COEFFICIENT`]) in base `2^bits`, each plus the offset `(2^bits - 1) q`, `q` the
/// [`offset_quotient`]; writes `out`, as many bits, a multiple of 64 digits; gives the carry out of it. `bits` is in `2..=25`.
pub(super) fn carry(backend: Backend, coefficients: &[f64], scale: f64, bits: u32, out: &mut [u64]) -> u64 {
    debug_assert_eq!(coefficients.len() * bits as usize, 64 * out.len());
    let mut carry = 0;
    let carry_out = &mut carry;
    dispatch!(backend, carry_kernel<_>(coefficients: &[f64], scale: f64, bits: u32, out: &mut [u64], carry_out: &mut u64));
    carry
}

/// `q`: the offsets of [`carry`] add up to `q (2^(bits n) - 1)`.
pub(super) fn offset_quotient(bits: u32) -> u64 {
    1 << (51 - bits)
}

/// `out <- out + x`; the carry.
pub(super) fn add_small(out: &mut [u64], x: u64) -> u64 {
    let mut carry = x;
    for out in out {
        let (sum, overflow) = out.overflowing_add(carry);
        (*out, carry) = (sum, u64::from(overflow));
    }
    carry
}

/// `out <- out - x`; the borrow.
pub(super) fn sub_small(out: &mut [u64], x: u64) -> u64 {
    let mut borrow = x;
    for out in out {
        let (difference, underflow) = out.overflowing_sub(borrow);
        (*out, borrow) = (difference, u64::from(underflow));
    }
    borrow
}
