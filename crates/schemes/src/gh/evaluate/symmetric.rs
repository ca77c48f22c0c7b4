//! Step 3 of Recrypt: the sum of `s` numbers of `p + 1` encrypted bits, rounded, modulo 2.
//!
//! Bit `2^k` of a sum of bits is the parity of their elementary symmetric polynomial `e_(2^k)`. The columns are
//! processed from the lowest up: `e_1` is the bit of the column, and `e_2, e_4, ..` are carries to the next columns.
//! Rounding to the nearest integer takes the bit of column 0 and the half of column 1.
//!
//! `doroz2015` 5.3.4 describes a tree of full adders. It decrypts, but each of its levels multiplies the degree of the
//! carries. It leaves a product of two recrypted ciphertexts 1 to 6 bits of margin; symmetric polynomials leave 26 to
//! 48 (`docs/derivations/gh-noise.md`).
//!
//! The polynomial `prod (1 + x_i T)` modulo `T^(degree+1)` is a balanced tree of products. The products of a
//! coefficient are summed as transforms and reduced once. If `e_2` is the highest one, `2 e_2 = e_1^2 - sum x_i^2`.

use rayon::prelude::*;
use solinas_field::limbs;

use super::super::Error;
use super::super::modulus::{Modulus, Temporary};
use super::super::noise::top_power;

/// Computes the rounded sum modulo 2. Shape: `p + 1` columns of `s` residues; column `j` has weight `2^-j`.
pub(super) fn sum_columns(modulus: &Modulus, mut columns: Vec<Vec<Vec<u64>>>) -> Result<Vec<u64>, Error> {
    let mut half = vec![0; modulus.words()];
    for j in (1..columns.len()).rev() {
        let powers = top_power(columns[j].len(), j);
        let bits = core::mem::take(&mut columns[j]);
        for (power, value) in powers_of_two(modulus, &bits, powers)?.into_iter().enumerate() {
            if power > 0 {
                columns[j - power].push(value);
            } else if j == 1 {
                half = value;
            }
        }
    }
    for bit in &columns[0] {
        modulus.add(&mut half, bit);
    }
    Ok(half)
}

/// Computes `e_1, e_2, e_4, .., e_(2^powers)`.
pub(super) fn powers_of_two(modulus: &Modulus, bits: &[Vec<u64>], powers: usize) -> Result<Vec<Vec<u64>>, Error> {
    let mut first = vec![0; modulus.words()];
    for bit in bits {
        modulus.add(&mut first, bit);
    }
    match powers {
        0 => Ok(vec![first]),
        1 => {
            let second = second_symmetric(modulus, bits, &first)?;
            Ok(vec![first, second])
        }
        _ => {
            let wanted: Vec<usize> = (1..=powers).map(|power| 1 << power).collect();
            let mut outputs = tree(modulus, bits, 1 << powers, &wanted)?;
            outputs.insert(0, first);
            Ok(outputs)
        }
    }
}

/// Computes `e_2 = (e_1^2 - sum x^2) / 2`.
fn second_symmetric(modulus: &Modulus, bits: &[Vec<u64>], first: &[u64]) -> Result<Vec<u64>, Error> {
    let squares = || -> Result<Vec<u64>, Error> {
        let [mut sum, mut operand] = [0, 1].map(|_| modulus.temporary());
        for bit in bits {
            modulus.forward_to(&mut operand, bit)?;
            modulus.multiply_add(&mut sum, &operand, &operand)?;
        }
        modulus.reduce(&mut sum)
    };
    let (square, squares) = rayon::join(|| modulus.square(first), squares);
    let mut twice = square?;
    modulus.sub(&mut twice, &squares?);
    let carry = if twice[0] & 1 == 1 { limbs::add(&mut twice, modulus.d()) } else { 0 };
    limbs::shr(&mut twice, 1);
    if let Some(top) = twice.last_mut() {
        *top |= carry << 63;
    }
    Ok(twice)
}

/// Returns the coefficients `wanted` (ascending, at most `degree`) of `prod (1 + x T)`.
fn tree(modulus: &Modulus, bits: &[Vec<u64>], degree: usize, wanted: &[usize]) -> Result<Vec<Vec<u64>>, Error> {
    if let [bit] = bits {
        return Ok(vec![bit.clone()]);
    }
    let all = |len: usize| (1..=len.min(degree)).collect::<Vec<_>>();
    let (low, high) = bits.split_at(split(bits.len()));
    let (low, high) =
        rayon::join(|| tree(modulus, low, degree, &all(low.len())), || tree(modulus, high, degree, &all(high.len())));
    let (low, high) = (low?, high?);
    let last = wanted.last().copied().unwrap_or(0);
    let transform = |coefficients: &[Vec<u64>]| -> Result<Vec<Temporary<'_>>, Error> {
        let used = coefficients.len().min(last - 1);
        coefficients[..used].par_iter().map(|coefficient| modulus.operand(coefficient)).collect()
    };
    let (low_spectra, high_spectra) = (transform(&low)?, transform(&high)?);
    // Coefficient i of a factor has index i - 1.
    let coefficient = |&k: &usize| -> Result<Vec<u64>, Error> {
        let mut sum = modulus.temporary();
        let mut products = 0;
        for i in k.saturating_sub(high_spectra.len()).max(1)..=low_spectra.len().min(k - 1) {
            modulus.multiply_add(&mut sum, &low_spectra[i - 1], &high_spectra[k - i - 1])?;
            products += 1;
        }
        let mut out = if products > 0 { modulus.reduce(&mut sum)? } else { vec![0; modulus.words()] };
        for factor in [&low, &high] {
            if let Some(single) = factor.get(k - 1) {
                modulus.add(&mut out, single);
            }
        }
        Ok(out)
    };
    wanted.par_iter().map(coefficient).collect()
}

/// Number of leaves of the left factor: the largest power of two below `len`.
fn split(len: usize) -> usize {
    len.next_power_of_two() / 2
}

#[cfg(test)]
mod tests {
    use super::super::super::modulus::Arithmetic;
    use super::*;
    use crate::random::SecretSeed;
    use solinas_bigint::Natural;

    #[test]
    fn symmetric_polynomials_match_the_product_one_factor_at_a_time() {
        let mut rng = SecretSeed::insecure(5).stream(0);
        let mut d = Natural::random_bits(700, &mut rng);
        d.set_bit(0);
        let modulus = Modulus::new(&d, 18, Arithmetic::default()).unwrap();
        for count in 1..=18 {
            let bits: Vec<_> =
                (0..count).map(|_| modulus.residue(&Natural::random_below(&d, &mut rng).unwrap())).collect();
            let mut e = vec![vec![0; modulus.words()]; count + 1];
            e[0] = modulus.one();
            for bit in &bits {
                for k in (1..=count).rev() {
                    let product = modulus.mul(&e[k - 1], bit).unwrap();
                    modulus.add(&mut e[k], &product);
                }
            }
            for powers in 0..=count.ilog2() as usize {
                let want: Vec<_> = (0..=powers).map(|power| e[1 << power].clone()).collect();
                assert_eq!(powers_of_two(&modulus, &bits, powers).unwrap(), want, "{count} bits, {powers}");
            }
        }
    }
}
