//! Words to balanced digits, and coefficients back to words.
//!
//! Plain loops over arrays, which the compiler turns into the vector instructions of the back end they are compiled for.

use crate::Backend;
use crate::simd::{Cut, GROUP, Lanes, dispatch};

/// Digits of more bits are not cut.
pub(super) const MAX_DIGIT_BITS: u32 = 25;
/// Added to a float below `2^51` in magnitude, it leaves the integer nearest in the low bits.
const MAGIC: f64 = (3_u64 << 51) as f64;
/// Digits carried at a time, into as many words as a digit has bits.
pub(super) const CHUNK: usize = 64;

/// How words are cut into digits.
pub(super) struct Windows {
    cut: Cut,
    bits: u32,
    /// Added to digit 0: what comes round from the last.
    first: f64,
}

impl Windows {
    /// For digits of 2 to [`MAX_DIGIT_BITS`] bits.
    pub(super) fn new(bits: u32, first: f64) -> Self {
        debug_assert!((2..=MAX_DIGIT_BITS).contains(&bits));
        Self { cut: Cut::new(bits), bits, first }
    }

    /// The balanced digits of `x` from digit `first` on, `len` of them (both multiples of 8); zeros beyond `x`.
    ///
    /// # Safety
    /// `len` floats are writable at `out`, initialised or not.
    #[inline(always)]
    pub(super) unsafe fn split<L: Lanes>(&self, l: L, x: &[u64], first: usize, out: *mut f64, len: usize) {
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

    /// Digits of which some are not inside `x`: from a copy with zeros around.
    ///
    /// # Safety
    /// 8 floats are writable at `out`.
    #[inline(always)]
    unsafe fn cut_at_end<L: Lanes>(&self, l: L, x: &[u64], at: usize, out: *mut f64) {
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
unsafe fn split_kernel<L: Lanes>(l: L, windows: &Windows, x: &[u64], out: &mut [f64]) {
    // SAFETY: as many floats as the slice has.
    unsafe { windows.split(l, x, 0, out.as_mut_ptr(), out.len()) };
}

/// The balanced digits of `x`, as [`Windows::split`]; `out` holds a multiple of 8.
pub(super) fn split(backend: Backend, windows: &Windows, x: &[u64], out: &mut [f64]) {
    dispatch!(backend, split_kernel<_>(windows: &Windows, x: &[u64], out: &mut [f64]))
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

type Pack = fn(&[u64; CHUNK / 2], &mut [u64]) -> u64;
/// [`pack`] for digits of so many bits: with the shifts known, there is no branch left in it.
const PACK: [Pack; MAX_DIGIT_BITS as usize + 1] = [
    pack::<2>, // not called: digits are of 2 bits or more
    pack::<2>, pack::<2>, pack::<3>, pack::<4>, pack::<5>, pack::<6>, pack::<7>, pack::<8>, pack::<9>, pack::<10>,
    pack::<11>, pack::<12>, pack::<13>, pack::<14>, pack::<15>, pack::<16>, pack::<17>, pack::<18>, pack::<19>,
    pack::<20>, pack::<21>, pack::<22>, pack::<23>, pack::<24>, pack::<25>,
];

#[inline(always)]
unsafe fn carry_kernel<L: Lanes>(
    _lanes: L,
    coefficients: &[f64],
    below: usize,
    scale: f64,
    bits: u32,
    out: &mut [u64],
    through: &mut u64,
) {
    let offset = offset(bits);
    let (below, coefficients) = coefficients.split_at(below);
    let mask = (1_u64 << bits) - 1;
    let pack = PACK[bits as usize];
    // What the digit below the chunk leaves over, and the carry of the digits below.
    let mut above = below.last().map_or(0, |c| c.mul_add(scale, MAGIC).to_bits().wrapping_add(offset));
    let mut carry = *through;
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
    *through = carry;
}

/// What turns the bits of a coefficient plus [`MAGIC`] into the coefficient plus its offset.
#[inline(always)]
fn offset(bits: u32) -> u64 {
    ((1_u64 << 51) - offset_quotient(bits)).wrapping_sub(MAGIC.to_bits())
}

/// How coefficients become words.
#[derive(Clone, Copy)]
pub(super) struct Carry {
    pub(super) backend: Backend,
    /// Coefficients are integers of at most `2^50` in magnitude after this factor.
    pub(super) scale: f64,
    /// Of a digit, 2 to [`MAX_DIGIT_BITS`].
    pub(super) bits: u32,
}

impl Carry {
    /// Carries the coefficients from number `below` on, each plus the offset `(2^bits - 1) q` ([`offset_quotient`]), in base `2^bits` into
    /// the words of as many bits (a multiple of 64 coefficients, which gives `out.len()`); coefficient `below - 1` spills into them. Gives
    /// the carry out of the words, without what the last coefficient spills.
    pub(super) fn words(self, coefficients: &[f64], below: usize, first: u64, out: &mut [u64]) -> u64 {
        let Self { backend, scale, bits } = self;
        let coefficients = &coefficients[..below + out.len() / bits as usize * CHUNK];
        let mut carry = first;
        let through = &mut carry;
        dispatch!(
            backend,
            carry_kernel<_>(coefficients: &[f64], below: usize, scale: f64, bits: u32, out: &mut [u64], through: &mut u64)
        );
        carry
    }

    /// What a coefficient spills above its own digit.
    pub(super) fn spill(self, coefficient: f64) -> u64 {
        coefficient.mul_add(self.scale, MAGIC).to_bits().wrapping_add(offset(self.bits)) >> self.bits
    }
}

/// `q`: the offsets of [`Carry::words`] add up to `q (2^(bits n) - 1)`.
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
