//! Step 5: the sparse subset sum.

use rand_core::RngCore;
use rayon::prelude::*;
use solinas_bigint::Natural;
use zeroize::Zeroizing;

use super::Root;
use crate::gh::modulus::Modulus;
use crate::gh::{Error, Params};
use crate::random::SecretSeed;

/// Draws `x_k` of all blocks but the last, uniform below `d`.
pub(super) fn draw_x(params: &Params, root: &Root, seed: &SecretSeed) -> Vec<u64> {
    let mut rng = seed.derive("gh subset sum").stream(0);
    let mut x =
        || Natural::random_below(root.public.d(), &mut rng).map(|x| root.modulus.residue(&x)).unwrap_or_default();
    (1..params.blocks()).flat_map(|_| x()).collect()
}

/// Draws the indices `l_k` of the candidates that sum to the secret. Secret. They are uniform in `0..S` up to a bias
/// below 2^-48: 64 random bits map to fewer than 2^16 values.
pub(super) fn indices(params: &Params, seed: &SecretSeed) -> Zeroizing<Vec<usize>> {
    let mut rng = seed.derive("gh indices").stream(0);
    let mut index = || ((u128::from(rng.next_u64()) * params.candidates() as u128) >> 64) as usize;
    Zeroizing::new((0..params.blocks()).map(|_| index()).collect())
}

/// Computes all `x_k` from those of all blocks but the last.
///
/// `x_(s-1) = (w - sum_k x_k R^(l_k)) R^(-l_(s-1))`, with `R = 2^rho` and `R^-1 = ((d + 1) / 2)^rho`.
pub(in crate::gh) fn squash(
    params: &Params,
    modulus: &Modulus,
    w: &[u64],
    indices: &[usize],
    mut x: Vec<u64>,
) -> Result<Vec<u64>, Error> {
    let (words, rho) = (modulus.words(), params.ratio_bits());
    let d = Natural::from_words(modulus.d());
    let half = modulus.residue(&(&(&d + &Natural::one()) >> 1));
    let largest = rho * (params.candidates() - 1);
    let (&last, indices) = indices.split_last().unwrap_or((&0, &[]));
    let power = |base: &[u64], index: usize| modulus.pow(base, (rho * index) as u64, largest.ilog2() + 1);
    let term = |(x, &index): (&[u64], &usize)| -> Result<Vec<u64>, Error> {
        let factor = if largest + 1 < modulus.bits() {
            Zeroizing::new(power_of_two(words, rho * index))
        } else {
            power(&modulus.residue(&Natural::from(2u64).rem(&d)?), index)?
        };
        modulus.mul(x, &factor)
    };
    let terms = || x.par_chunks_exact(words).zip(indices).map(term).collect::<Result<Vec<_>, _>>();
    let (terms, factor) = rayon::join(terms, || power(&half, last));
    let mut rest = Zeroizing::new(w.to_vec());
    for term in Zeroizing::new(terms?).iter() {
        modulus.sub(&mut rest, term);
    }
    x.extend(modulus.mul(&rest, &factor?)?);
    Ok(x)
}

/// Computes `2^exponent`, below `2^(64 words)`. The time does not depend on the secret exponent.
fn power_of_two(words: usize, exponent: usize) -> Vec<u64> {
    let bit = 1u64 << (exponent % 64);
    let word = |i: usize| {
        let difference = (i ^ (exponent / 64)) as u64;
        // All ones if the difference is zero.
        let mask = ((difference | difference.wrapping_neg()) >> 63).wrapping_sub(1);
        bit & mask
    };
    (0..words).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gh::ParamsLiteral;
    use crate::gh::modulus::Arithmetic;

    #[test]
    fn powers_of_two_have_their_bit() {
        for exponent in [0, 1, 63, 64, 65, 100, 191] {
            let power = Natural::from_words(power_of_two(3, exponent));
            assert_eq!(power, Natural::power_of_two(exponent));
        }
    }

    #[test]
    fn both_ways_of_powers_give_the_same_subset_sum() {
        // With 16 candidates, the exponents (up to 1,290) stay below the 2,000 bits of d. With 4,000 candidates (up to
        // 3,999) they do not.
        let mut d = Natural::random_bits(2000, &mut SecretSeed::insecure(1).stream(0));
        d.set_bit(0);
        d.set_bit(1999);
        let modulus = Modulus::new(&d, 1, Arithmetic::default()).unwrap();
        let literal = |candidates| ParamsLiteral {
            name: "mine".into(),
            candidates: Some(candidates),
            ..Params::named("ci-3").unwrap().literal().clone()
        };
        for candidates in [16, 4000] {
            let params = Params::try_from(literal(candidates)).unwrap();
            let mut rng = SecretSeed::insecure(2).stream(0);
            let mut residue = || modulus.residue(&Natural::random_below(&d, &mut rng).unwrap());
            let w = residue();
            let x: Vec<u64> = (0..2).flat_map(|_| residue()).collect();
            let indices = [candidates - 1, 7, candidates - 3];
            let x = squash(&params, &modulus, &w, &indices, x).unwrap();
            let mut sum = Natural::ZERO;
            for (x, index) in x.chunks_exact(modulus.words()).zip(indices) {
                sum = (&sum + &(&Natural::from_words(x) << (params.ratio_bits() * index))).rem(&d).unwrap();
            }
            assert_eq!(sum, Natural::from_words(w));
        }
    }
}
