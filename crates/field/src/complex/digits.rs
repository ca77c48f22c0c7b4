//! Words to balanced digits, and coefficients back to words.

/// Coefficients are integers up to this in magnitude.
pub const MAX_COEFFICIENT: f64 = (1_u64 << 50) as f64;
/// Added to a float below `2^51` in magnitude, it leaves the integer nearest in the low bits.
const MAGIC: f64 = (3_u64 << 51) as f64;

/// The 64 bits of `x` from bit `at` on.
#[inline(always)]
fn window(x: &[u64], at: usize) -> u64 {
    let (word, bit) = (at / 64, at % 64);
    let get = |i: usize| x.get(i).copied().unwrap_or(0);
    // Two shifts: none is by 64.
    get(word) >> bit | (get(word + 1) << 1) << (63 - bit)
}

/// Digit `j` of `bits` bits, balanced: the digit as a signed number, plus the top bit of the digit below (Booth). In
/// `-2^(bits-1) ..= 2^(bits-1)`.
#[inline(always)]
fn digit(x: &[u64], j: usize, bits: u32) -> f64 {
    let (signed, below) = if j == 0 {
        (window(x, 0), 0)
    } else {
        let w = window(x, j * bits as usize - 1);
        (w >> 1, w & 1)
    };
    (((signed << (64 - bits)) as i64 >> (64 - bits)) + below as i64) as f64
}

/// Digits `first..first + out.len()` of `x`.
pub(super) fn split(x: &[u64], bits: u32, first: usize, out: &mut [f64]) {
    for (j, out) in out.iter_mut().enumerate() {
        *out = digit(x, first + j, bits);
    }
}

/// Carries `scale * coefficients` (within [`MAX_COEFFICIENT`]) in base `2^bits`, each plus the offset `(2^bits - 1) q`, `q = 2^(51 - bits)`;
/// writes `out`, as many bits; gives the carry out of it, at most `2^(52 - bits)`.
pub(super) fn carry(coefficients: &[f64], scale: f64, bits: u32, out: &mut [u64]) -> u64 {
    debug_assert_eq!(coefficients.len() * bits as usize, 64 * out.len());
    let offset = (1_u64 << 51) - offset_quotient(bits);
    let mask = (1_u64 << bits) - 1;
    let mut carry = 0;
    let (mut word, mut filled) = (0_u64, 0);
    let mut next = out.iter_mut();
    for &c in coefficients {
        let integer = c.mul_add(scale, MAGIC).to_bits().wrapping_sub(MAGIC.to_bits()).wrapping_add(offset);
        let sum = integer + carry;
        let digit = sum & mask;
        carry = sum >> bits;
        word |= digit << filled;
        filled += bits;
        if filled >= 64 {
            filled -= 64;
            if let Some(out) = next.next() {
                *out = word;
            }
            word = digit >> (bits - filled);
        }
    }
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
