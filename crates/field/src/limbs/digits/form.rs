//! Numbers cut into digits.

use super::Digits;
#[cfg(target_arch = "x86_64")]
use crate::backend::{Avx2, Avx512};
use crate::limbs::Multiplier;
#[cfg(target_arch = "x86_64")]
use crate::limbs::unit::Ifma;

/// Form in which a multiplier takes its factors.
#[derive(Clone, Copy)]
pub(in crate::limbs) struct Form {
    /// Bits of a digit.
    pub(in crate::limbs) bits: usize,
    /// Lanes of a vector.
    pub(in crate::limbs) width: usize,
    /// Whether a factor is the bit pattern of a double. Otherwise it is the digit itself.
    doubles: bool,
}

impl Form {
    /// Returns the form of a multiplier, or `None` for the multipliers of whole words.
    pub(in crate::limbs) fn of(multiplier: Multiplier) -> Option<Self> {
        match multiplier {
            #[cfg(target_arch = "x86_64")]
            Multiplier::Fma(_) => Some(Self::doubles::<Avx2>()),
            #[cfg(target_arch = "x86_64")]
            Multiplier::Fma512(_) => Some(Self::doubles::<Avx512>()),
            #[cfg(target_arch = "x86_64")]
            Multiplier::Ifma(_) => Some(Self { doubles: false, ..Self::doubles::<Ifma>() }),
            _ => None,
        }
    }

    /// Returns the form of lanes whose factors are doubles.
    pub(super) fn doubles<L: Digits>() -> Self {
        Self { bits: L::BITS as usize, width: L::WIDTH, doubles: true }
    }

    fn mask(self) -> u64 {
        (1 << self.bits) - 1
    }

    /// A digit in factor form.
    pub(in crate::limbs) fn encode(self, digit: u64) -> u64 {
        if self.doubles { (digit as f64).to_bits() } else { digit }
    }

    /// The digit of a factor.
    pub(in crate::limbs) fn decode(self, factor: u64) -> u64 {
        if self.doubles { f64::from_bits(factor) as u64 } else { factor }
    }

    /// digits <- the digits of a number from `first` on, in factor form.
    #[inline(always)]
    pub(in crate::limbs) fn unpack(self, digits: &mut [u64], words: &[u64], first: usize) {
        let word = |i: usize| words.get(i).copied().unwrap_or(0);
        for (i, digit) in digits.iter_mut().enumerate() {
            let bit = (first + i) * self.bits;
            let (at, shift) = (bit / 64, bit % 64);
            let wide = u128::from(word(at + 1)) << 64 | u128::from(word(at));
            *digit = self.encode((wide >> shift) as u64 & self.mask());
        }
    }

    /// words <- the number of digits in 0..2^bits, not in factor form. The part above the top word is dropped.
    #[inline(always)]
    pub(in crate::limbs) fn pack(self, words: &mut [u64], digits: &[u64]) {
        words.fill(0);
        for (i, &digit) in digits.iter().enumerate() {
            let (at, shift) = (i * self.bits / 64, i * self.bits % 64);
            let wide = u128::from(digit) << shift;
            for (k, part) in [wide as u64, (wide >> 64) as u64].into_iter().enumerate() {
                if let Some(word) = words.get_mut(at + k) {
                    *word |= part;
                }
            }
        }
    }

    /// out <- out + x, both in factor form; the carry is dropped.
    pub(in crate::limbs) fn add(self, out: &mut [u64], x: &[u64]) {
        let mut carry = 0;
        for (out, &x) in out.iter_mut().zip(x) {
            let sum = self.decode(*out) + self.decode(x) + carry;
            *out = self.encode(sum & self.mask());
            carry = sum >> self.bits;
        }
    }
}
