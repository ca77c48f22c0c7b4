//! Quotients and remainders on word slices. Time depends on the values.

mod schoolbook;

pub(crate) use schoolbook::{div_rem_word, rem_word};

/// Quotient and remainder; the divisor's last word is not zero, the dividend is no shorter.
pub(crate) fn div_rem(a: &[u64], d: &[u64]) -> (Vec<u64>, Vec<u64>) {
    schoolbook::div_rem(a, d)
}
