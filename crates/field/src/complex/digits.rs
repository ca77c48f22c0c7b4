//! Words to balanced digits, and coefficients back to words.
//!
//! Plain loops over arrays, which the compiler turns into the vector instructions of the back end they are compiled for.

use crate::Backend;
use crate::simd::{Lanes, dispatch};

/// Coefficients are integers up to this in magnitude.
pub const MAX_COEFFICIENT: f64 = (1_u64 << 50) as f64;
/// Digits of more bits are not cut.
pub(super) const MAX_DIGIT_BITS: u32 = 25;
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
    debug_assert!((2..=MAX_DIGIT_BITS).contains(&bits) && first % GROUP == 0 && out.len() % GROUP == 0);
    dispatch!(backend, split_kernel<_>(x: &[u64], bits: u32, first: usize, out: &mut [f64]))
}

/// Carries pairs of digits in base `2^(2 BITS)` from 0 and packs them into `BITS` words; gives the carry.
fn pack<const BITS: usize>(pairs: &[u64; CHUNK / 2], out: &mut [u64]) -> u64 {
    let Some(out) = out.first_chunk_mut::<BITS>() else { return 0 };
    let (mut carry, mut word) = (0, 0);
    for (i, pair) in pairs.iter().enumerate() {
        let sum = pair + carry;
        carry = sum >> (2 * BITS);
        let digit = sum & ((1 << (2 * BITS)) - 1);
        let (at, filled) = (2 * BITS * i / 64, 2 * BITS * i % 64);
        word |= digit << filled;
        if filled + 2 * BITS >= 64 {
            out[at] = word;
            word = if filled == 0 { 0 } else { digit >> (64 - filled) };
        }
    }
    carry
}

/// [`pack`] for digits of so many bits: with the shifts known, there is no branch left in it.
const PACK: [fn(&[u64; CHUNK / 2], &mut [u64]) -> u64; MAX_DIGIT_BITS as usize + 1] = [
    pack::<2>, // not called: digits are of 2 bits or more
    pack::<2>, pack::<2>, pack::<3>, pack::<4>, pack::<5>, pack::<6>, pack::<7>, pack::<8>, pack::<9>, pack::<10>,
    pack::<11>, pack::<12>, pack::<13>, pack::<14>, pack::<15>, pack::<16>, pack::<17>, pack::<18>, pack::<19>,
    pack::<20>, pack::<21>, pack::<22>, pack::<23>, pack::<24>, pack::<25>,
];

#[inline(always)]
unsafe fn carry_kernel<L: Lanes>(
    _lanes: L,
    coefficients: &[f64],
    scale: f64,
    bits: u32,
    out: &mut [u64],
    through: &mut u64,
) {
    let offset = ((1_u64 << 51) - offset_quotient(bits)).wrapping_sub(MAGIC.to_bits());
    let mask = (1_u64 << bits) - 1;
    let pack = PACK[bits as usize];
    // What the digit below the chunk leaves over, and the carry of the digits below.
    let (mut above, mut carry) = (0, *through);
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
        // Within a chunk from a carry of 0; the true one is added to the words, so that chunks do not wait for each other's digits.
        let within = pack(&pairs, out);
        carry = within + add_small(out, carry);
    }
    *through = carry + (above >> bits);
}

/// Carries `scale * coefficients` (within [`MAX_COEFFICIENT`]) in base `2^bits`, each plus the offset `(2^bits - 1) q`, `q` the
/// [`offset_quotient`]; writes `out`, as many bits, a multiple of 64 digits; gives the carry out of it. `first` is carried in. `bits` is in `2..=25`.
pub(super) fn carry(backend: Backend, coefficients: &[f64], scale: f64, bits: u32, first: u64, out: &mut [u64]) -> u64 {
    debug_assert_eq!(coefficients.len() * bits as usize, 64 * out.len());
    let mut carry = first;
    let through = &mut carry;
    dispatch!(backend, carry_kernel<_>(coefficients: &[f64], scale: f64, bits: u32, out: &mut [u64], through: &mut u64));
    carry
}

/// `q`: the offsets of [`carry`] add up to `q (2^(bits n) - 1)`.
pub(super) fn offset_quotient(bits: u32) -> u64 {
    1 << (51 - bits)
}

/// Words that [`add_small`] and [`sub_small`] go through whatever they hold.
const ALWAYS: usize = 512;

/// `out <- out + x`; the carry. Takes the same time for all values up to [`ALWAYS`] words; of more, a carry runs as far as it must.
pub(super) fn add_small(out: &mut [u64], x: u64) -> u64 {
    let mut carry = x;
    for (i, out) in out.iter_mut().enumerate() {
        if i >= ALWAYS && carry == 0 {
            break;
        }
        let (sum, overflow) = out.overflowing_add(carry);
        (*out, carry) = (sum, u64::from(overflow));
    }
    carry
}

/// `out <- out - x`; the borrow. Time as [`add_small`].
pub(super) fn sub_small(out: &mut [u64], x: u64) -> u64 {
    let mut borrow = x;
    for (i, out) in out.iter_mut().enumerate() {
        if i >= ALWAYS && borrow == 0 {
            break;
        }
        let (difference, underflow) = out.overflowing_sub(borrow);
        (*out, borrow) = (difference, u64::from(underflow));
    }
    borrow
}
