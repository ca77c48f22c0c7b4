//! Cutting words into balanced digits.

/// Digits in a group. A group has as many bytes as a digit has bits.
pub(crate) const GROUP: usize = 8;

/// Positions of the windows of the 8 digits of a group. A window has `bits + 1` bits and begins one bit below its
/// digit.
pub(crate) struct DigitWindow {
    /// For each digit, the bytes of its window among 16 bytes. They begin at the byte before the group (digits 0 to 3)
    /// or at `high` (digits 4 to 7).
    pub(super) shuffle: [u8; 64],
    /// For each digit, the number of bits below its window in those bytes.
    pub(super) shift: [u64; GROUP],
    pub(super) high: usize,
    /// Bits of a window.
    pub(super) mask: u64,
    /// Top bit of a window.
    pub(super) sign: u64,
}

/// `2^52`. An or with an integer below it in the low bits adds the integer.
pub(super) const INTEGER: f64 = (1_u64 << 52) as f64;

impl DigitWindow {
    /// Returns the windows of digits of 2 to 25 bits.
    pub(crate) fn new(bits: u32) -> Self {
        // Bit 7 of the byte before the group is the bit below the first digit.
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

    /// Bytes that a group reads, from the byte before it.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> usize {
        self.high + 16
    }

    /// Offset that [`super::F64Lanes::cut`] subtracts.
    #[inline(always)]
    pub(super) fn zero(&self) -> f64 {
        INTEGER + (self.sign / 2) as f64
    }
}
