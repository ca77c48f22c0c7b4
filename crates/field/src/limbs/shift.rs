//! Shifts by less than a word.

/// a <- a * 2^count modulo 2^(64 n); returns the bits shifted out, at the bottom of a word. Range: count in 0..64.
pub fn shl(a: &mut [u64], count: u32) -> u64 {
    assert!(count < 64);
    let mut below = 0;
    for x in a {
        let wide = u128::from(*x) << count;
        *x = wide as u64 | below;
        below = (wide >> 64) as u64;
    }
    below
}

/// a <- a / 2^count, rounded down; returns the bits shifted out, at the top of a word. Range: count in 0..64.
pub fn shr(a: &mut [u64], count: u32) -> u64 {
    assert!(count < 64);
    let mut above = 0;
    for x in a.iter_mut().rev() {
        let wide = (u128::from(*x) << 64) >> count;
        *x = (wide >> 64) as u64 | above;
        above = wide as u64;
    }
    above
}
