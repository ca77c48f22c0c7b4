//! Cutting words into balanced digits.

/// Digits cut from the same number of bytes as a digit has bits.
pub(crate) const GROUP: usize = 8;

/// Where the window of each of 8 digits is: its `bits + 1` bits begin one bit below the digit.
pub(crate) struct DigitWindow {
    /// Of each digit, the bytes of its window among the 16 from the byte before the group (digits 0 to 3) or from `high` on (4 to 7).
    pub(super) shuffle: [u8; 64],
    /// Of each digit, the bits of those bytes below its window.
    pub(super) shift: [u64; GROUP],
    pub(super) high: usize,
    /// Bits of a window.
    pub(super) mask: u64,
    /// Top bit of a window.
    pub(super) sign: u64,
}

/// `2^52`: an integer below it, or-ed into the low bits, adds to it.
pub(super) const INTEGER: f64 = (1_u64 << 52) as f64;

impl DigitWindow {
    /// For digits of 2 to 25 bits.
    pub(crate) fn new(bits: u32) -> Self {
        // The group's first byte is preceded by the byte whose top bit is the one below the first digit.
        let first = |i: usize| 7 + i * bits as usize;
        let high = first(GROUP / 2) / 8;
        let (mut shuffle, mut shift) = ([0; 64], [0; GROUP]);
        for i in 0..GROUP {
            let byte = first(i) / 8 - if i < GROUP / 2 { 0 } else { high };
            shift[i] = (first(i) % 8) as u64;
            for j in 0..8 {
                // Bytes beyond the sixteen are beyond the window too; 0x80 gives zeros.
                shuffle[8 * i + j] = if byte + j < 16 { (byte + j) as u8 } else { 0x80 };
            }
        }
        Self { shuffle, shift, high, mask: (2 << bits) - 1, sign: 1 << bits }
    }

    /// Bytes a group reads, from the byte before it.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> usize {
        self.high + 16
    }

    /// What [`super::F64Lanes::cut`] subtracts.
    #[inline(always)]
    pub(super) fn zero(&self) -> f64 {
        INTEGER + (self.sign / 2) as f64
    }
}
