//! The modulus switch: rounds LWE ciphertexts to multiples of `1/2N` turn.
//!
//! The rounding errors `r_j` of the mask add `sum_j r_j s_j` to the phase. A bit of the key has the mean `1 / (l + 1)` in
//! blocks of `l` bits. So `sum_j r_j / (l + 1)` is the expected contribution, and it is subtracted from the body first.
//!
//! The error that remains in a block has the variance `(sum_j r_j^2 - (sum_j r_j)^2 / (l + 1)) / (l + 1)`. The words of
//! a block are rounded together, up or down, such that this is least. It is the rounding to the nearest point of the
//! lattice `A_l*` (Conway and Sloane 1982): that point rounds up the words with the largest fractions. Derivation:
//! `docs/derivations/tfhe-parameters.md`, section 4.

use super::ParamsLiteral;
use solinas_field::torus::MAX_BLOCK_BITS;

/// Rounds an LWE ciphertext. Appends the exponents of the mask to `exponents` and returns that of the body. Range:
/// `0..2N`.
pub(super) fn modulus_switch(words: &[u32], params: &ParamsLiteral, offset: u32, exponents: &mut Vec<u16>) -> usize {
    let log = (2 * params.ring_dimension).ilog2();
    let (mask, body) = words.split_at(words.len() - 1);
    let error: i64 = mask.chunks_exact(params.block_bits).map(|block| round_block(block, log, exponents)).sum();
    let mean = (error / (params.block_bits as i64 + 1)) as u32;
    round(body[0].wrapping_add(offset).wrapping_sub(mean), log) as usize
}

/// The nearest multiple of `2^-log` turn.
fn round(word: u32, log: u32) -> u32 {
    (word >> (31 - log)).wrapping_add(1) >> 1 & ((1 << log) - 1)
}

/// Rounds the words of a block to multiples of `2^-log` turn, appends them, and returns the sum of the errors, in units of
/// `2^-32` turn.
fn round_block(words: &[u32], log: u32, exponents: &mut Vec<u16>) -> i64 {
    let dropped = 32 - log;
    let unit = 1i64 << dropped;
    let count = words.len();
    if let [word] = words {
        let exponent = round(*word, log);
        exponents.push(exponent as u16);
        return i64::from(word.wrapping_sub(exponent << dropped) as i32);
    }
    let fraction = |word: u32| i64::from(word) & (unit - 1);
    // The numbers of the words, the largest fractions first. The order of equal fractions is that of the words.
    let mut order = [0, 1, 2, 3];
    const { assert!(MAX_BLOCK_BITS == 4) };
    let order = &mut order[..count];
    order.sort_by_key(|&i| -fraction(words[i]));
    // Rounding up the word of fraction f changes its error from f to f - unit.
    let (mut sum, mut squares) =
        words.iter().map(|&word| fraction(word)).fold((0, 0), |(sum, squares), f| (sum + f, squares + f * f));
    let cost = |sum: i64, squares: i64| (count as i64 + 1) * squares - sum * sum;
    let mut best = (cost(sum, squares), 0, sum);
    for (up, &i) in order.iter().enumerate() {
        let f = fraction(words[i]);
        (sum, squares) = (sum - unit, squares + (f - unit) * (f - unit) - f * f);
        if cost(sum, squares) < best.0 {
            best = (cost(sum, squares), up + 1, sum);
        }
    }
    let (_, up, error) = best;
    for (i, &word) in words.iter().enumerate() {
        let rounds_up = order[..up].contains(&i);
        exponents.push(((word >> dropped).wrapping_add(u32::from(rounds_up)) & ((1 << log) - 1)) as u16);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_core::{RngCore, SeedableRng};

    /// The cost of every rounding up or down of a block: `(l + 1) sum r^2 - (sum r)^2`.
    fn costs(words: &[u32], log: u32) -> impl Iterator<Item = i64> {
        let unit = 1i64 << (32 - log);
        let fractions: Vec<i64> = words.iter().map(|&word| i64::from(word) & (unit - 1)).collect();
        (0..1u32 << words.len()).map(move |up| {
            let errors = fractions.iter().enumerate().map(|(i, f)| f - i64::from(up >> i & 1) * unit);
            let (sum, squares) = errors.fold((0, 0), |(sum, squares), r| (sum + r, squares + r * r));
            (fractions.len() as i64 + 1) * squares - sum * sum
        })
    }

    #[test]
    fn blocks_are_rounded_with_the_least_variance() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        for log in [9, 10, 12, 14] {
            for count in 1..=MAX_BLOCK_BITS {
                for _ in 0..2000 {
                    let half = 1 << (31 - log);
                    let words: Vec<u32> = (0..count)
                        .map(|_| match rng.next_u32() % 8 {
                            0 => [0, 1, u32::MAX, 1 << 31, half, half - 1, half + 1][rng.next_u32() as usize % 7],
                            _ => rng.next_u32(),
                        })
                        .collect();
                    let mut exponents = Vec::new();
                    let error = round_block(&words, log, &mut exponents);
                    let errors: Vec<i64> = words
                        .iter()
                        .zip(&exponents)
                        .map(|(&word, &e)| i64::from(word.wrapping_sub(u32::from(e) << (32 - log)) as i32))
                        .collect();
                    let (sum, squares) = errors.iter().fold((0, 0), |(sum, squares), r| (sum + r, squares + r * r));
                    assert_eq!(error, sum, "{words:?}");
                    assert_eq!(
                        (count as i64 + 1) * squares - sum * sum,
                        costs(&words, log).min().unwrap(),
                        "{words:?}, 2^-{log}"
                    );
                }
            }
        }
    }
}
