//! Single bits, lengths and shifts.

use std::ops::{Shl, Shr};

use solinas_field::limbs;

use super::Natural;

impl Natural {
    /// 2^`exponent`.
    pub fn power_of_two(exponent: usize) -> Self {
        let mut words = vec![0; exponent / 64 + 1];
        words[exponent / 64] = 1 << (exponent % 64);
        Self { words }
    }

    /// Number of bits up to the highest one that is set; 0 for zero.
    pub fn bit_len(&self) -> usize {
        self.words.last().map_or(0, |top| 64 * self.words.len() - top.leading_zeros() as usize)
    }

    /// Bit `index` (bit 0 is the lowest); false beyond the length.
    pub fn bit(&self, index: usize) -> bool {
        self.words.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// Sets bit `index`. The number grows if needed.
    pub fn set_bit(&mut self, index: usize) {
        if self.words.len() <= index / 64 {
            self.words.resize(index / 64 + 1, 0);
        }
        self.words[index / 64] |= 1 << (index % 64);
    }

    /// Number of times that 2 divides this; `None` for zero.
    pub fn trailing_zeros(&self) -> Option<usize> {
        let index = self.words.iter().position(|&word| word != 0)?;
        Some(64 * index + self.words[index].trailing_zeros() as usize)
    }

    /// This modulo 2^`count`.
    pub fn low_bits(&self, count: usize) -> Self {
        let mut words = self.words[..self.words.len().min(count.div_ceil(64))].to_vec();
        if words.len() * 64 > count {
            words[count / 64] &= (1 << (count % 64)) - 1;
        }
        Self::from_words(words)
    }
}

impl Shl<usize> for &Natural {
    type Output = Natural;

    /// self * 2^count.
    fn shl(self, count: usize) -> Natural {
        if self.is_zero() {
            return Natural::ZERO;
        }
        let mut words = vec![0; count / 64];
        words.extend_from_slice(&self.words);
        words.push(0);
        limbs::shl(&mut words[count / 64..], (count % 64) as u32);
        Natural::from_words(words)
    }
}

impl Shr<usize> for &Natural {
    type Output = Natural;

    /// self / 2^count, rounded down.
    fn shr(self, count: usize) -> Natural {
        let Some(words) = self.words.get(count / 64..) else { return Natural::ZERO };
        let mut words = words.to_vec();
        limbs::shr(&mut words, (count % 64) as u32);
        Natural::from_words(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_are_products_and_quotients_by_powers_of_two() {
        let a = Natural::from_words([3, 0, u64::MAX]);
        for count in [0, 1, 63, 64, 65, 127, 128, 129, 191, 192, 193, 1000] {
            assert_eq!(&a << count, &a * &Natural::power_of_two(count));
            assert_eq!(&(&a << count) >> count, a);
            assert_eq!(&a >> count, a.div_rem(&Natural::power_of_two(count)).unwrap().0);
            assert_eq!(a.low_bits(count), a.div_rem(&Natural::power_of_two(count)).unwrap().1);
        }
        assert_eq!(&Natural::ZERO << 70, Natural::ZERO);
        assert_eq!(&Natural::ZERO >> 70, Natural::ZERO);
    }

    #[test]
    fn lengths_and_bits_agree() {
        assert_eq!(Natural::ZERO.bit_len(), 0);
        assert_eq!(Natural::ZERO.trailing_zeros(), None);
        for index in [0, 1, 63, 64, 127, 128, 200] {
            let a = Natural::power_of_two(index);
            assert_eq!((a.bit_len(), a.trailing_zeros()), (index + 1, Some(index)));
            assert!(a.bit(index) && !a.bit(index + 1) && !a.bit(index + 64));
            let mut b = Natural::ZERO;
            b.set_bit(index);
            assert_eq!(a, b);
        }
    }
}
