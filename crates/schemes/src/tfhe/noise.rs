//! Formulas of noise variance, in squared turns, and the failure probability that follows.
//!
//! GLWE keys are uniform binary, LWE keys uniform binary or block-binary. Derivations and measurements: `docs/derivations/tfhe-parameters.md`.

use super::evaluate::BOXES;
use super::params::{Cut, Family};
use super::{LookupTable, PackedBits, Params};
use solinas_field::torus::MAX_BLOCK_BITS;

/// Mean square of a balanced digit in `-B/2..B/2`: `(B^2 + 2) / 12`.
fn digit_square(cut: Cut) -> f64 {
    let base = libm::exp2(f64::from(cut.base_log));
    (base * base + 2.0) / 12.0
}

/// Variance of rounding to `bits` bits: `2^(-2 bits) / 12`.
fn rounding_to(bits: u32) -> f64 {
    libm::exp2(-2.0 * f64::from(bits)) / 12.0
}

/// Variance of rounding to `l` digits: `B^(-2 l) / 12`.
fn rounding(cut: Cut) -> f64 {
    rounding_to(cut.base_log * cut.levels)
}

/// Variance after a blind rotation, and so after a bootstrap with one table. It is [`bootstrap_of_key`] for keys with
/// the expected numbers of ones.
pub fn bootstrap(params: &Params) -> f64 {
    let p = params.literal();
    let ones = p.lwe_dimension as f64 * lwe_mean(params);
    bootstrap_of_key(params, ones, params.big_dimension() as f64 / 2.0) + first_block(params, &largest_table(params))
}

/// The table for which [`first_block`] is largest, among lone tables of a rotation with entries in `0..=15`. It has
/// sixteen entries of 15. The graphs of lookup tables in `solinas-circuits` refuse entries above 15. [`first_block`]
/// grows with the square of equal entries, so sixteen entries of 16 would raise it by 14 %.
fn largest_table(params: &Params) -> LookupTable {
    match params.family() {
        Family::Gates => LookupTable::Sign,
        Family::Integers => LookupTable::Entries(vec![[15; BOXES]]),
    }
}

/// Variance that the first block of a block-binary key adds beyond [`bootstrap_of_key`]. It depends on the table.
///
/// Before the first block, the digits are those of a test polynomial and not random. Their sums are large. The error of the
/// transforms is `D * g`, with digits `D` and a random `g`, and the mean 1/2 of the bits of the GLWE key adds up its
/// coefficients: `l c u^2 / 12 * sum_i (P_i / 2)^2`, twice. `P_i` is the sum of the digits up to `i`, minus the sum of those
/// after it.
pub fn first_block(params: &Params, table: &LookupTable) -> f64 {
    let p = params.literal();
    if p.block_bits == 1 {
        return 0.0;
    }
    let base = libm::exp2(f64::from(p.decomposition.base_log));
    let boxes = table.boxes().map(|word| f64::from(word as i32) * 2f64.powi(-32) * base);
    // Within a box, P changes linearly from `start` to `end`.
    let width = (p.ring_dimension / BOXES) as f64;
    let total: f64 = boxes.iter().sum::<f64>() * width;
    let mut start = -total;
    let squares = boxes.iter().map(|digit| {
        let end = start + 2.0 * digit * width;
        let sum = width * (start * start + start * end + end * end) / 3.0;
        start = end;
        sum
    });
    2.0 * p.block_bits as f64 * FIRST_BLOCK_ERROR * 2f64.powi(-106) / 12.0 * squares.sum::<f64>() / 4.0
}

/// As [`float_error`], for the part of a step's error that [`first_block`] counts. It is measured.
const FIRST_BLOCK_ERROR: f64 = 7.5;

/// Mean of a bit of the LWE key: `1 / (l + 1)` for blocks of `l` bits.
fn lwe_mean(params: &Params) -> f64 {
    1.0 / (params.literal().block_bits as f64 + 1.0)
}

/// Variance after a blind rotation (`n` external products) under keys with `lwe_ones` and `glwe_ones` bits equal to 1.
///
/// Each external product adds three terms to the variance of a coefficient:
/// - the noise of the key: `(k+1) l N E[d^2] sigma^2`;
/// - the rounding of the decomposition, if the LWE key bit is 1: `(1 + glwe_ones) B^(-2l) / 12`;
/// - the error of the floating-point transforms.
///
/// Under a block-binary key, `X^a - 1` multiplies the digits and their rounding errors. Its squared norm 2 doubles the
/// terms.
pub fn bootstrap_of_key(params: &Params, lwe_ones: f64, glwe_ones: f64) -> f64 {
    let p = params.literal();
    let cut = p.decomposition;
    // The error of a mask polynomial is multiplied by every key bit that is 1.
    let through_key = 1.0 + glwe_ones;
    let digits = (params.ggsw_rows() * p.ring_dimension) as f64 * digit_square(cut);
    let key = digits * libm::exp2(2.0 * p.glwe_log2_std);
    // The products sum to a word of variance `digits / 12`, because the words of the key are uniform on the turn.
    let transform = through_key * float_error(params) * 2f64.powi(-106) * digits / 12.0;
    let monomial = if p.block_bits > 1 { 2.0 } else { 1.0 };
    monomial * (p.lwe_dimension as f64 * (key + transform) + lwe_ones * through_key * rounding(cut))
}

/// Relative variance of the transforms and of the rounded key, in squared units of roundoff (`2^-53`). It is measured:
/// see the derivation. Products with the monomials add to it under a block-binary key.
fn float_error(params: &Params) -> f64 {
    if params.literal().block_bits > 1 { 12.7 } else { 12.0 }
}

/// Variance that the keyswitch adds. The mean of its rounding is removed.
pub fn keyswitch(params: &Params) -> f64 {
    let p = params.literal();
    let (cut, from) = (p.keyswitch, params.big_dimension() as f64);
    from * f64::from(cut.levels) * digit_square(cut) * libm::exp2(2.0 * p.lwe_log2_std) + from / 4.0 * rounding(cut)
}

/// Variance that the modulus switch to `2N` adds. Its mean is removed: `(1 + n v) / (12 (2N)^2)`. A uniform bit of the key
/// has `v = 1/4`. A bit in a block of `l` bits has `v = 12 G (l + 1)^(-1 - 1/l)`, with the second moment `G` of the lattice
/// `A_l*`.
pub fn modulus_switch(params: &Params) -> f64 {
    let p = params.literal();
    let patterns = p.block_bits as f64 + 1.0;
    let bit = 12.0 * SECOND_MOMENTS[p.block_bits - 1] * libm::pow(patterns, -1.0 - 1.0 / p.block_bits as f64);
    (1.0 + p.lwe_dimension as f64 * bit) / (12.0 * (2.0 * p.ring_dimension as f64).powi(2))
}

/// Normalized second moments of the lattices `A_1*` to `A_4*` (Conway and Sloane 1982).
const SECOND_MOMENTS: [f64; MAX_BLOCK_BITS] = [1.0 / 12.0, 0.080_187_5, 0.078_543_3, 0.077_558_8];

/// Variance of a fresh ciphertext of a client key.
pub fn fresh(params: &Params) -> f64 {
    libm::exp2(2.0 * params.fresh_log2_std())
}

/// Variance of a fresh ciphertext of a public key. It is [`public_encryption_of_key`] for keys in which half of the bits are 1.
pub fn public_encryption(params: &Params) -> f64 {
    public_encryption_of_key(params, params.big_dimension() as f64 / 2.0)
}

/// Variance of a fresh ciphertext of a public key of which the GLWE key has `glwe_ones` bits equal to 1: that of
/// `sum_i r_i e_i + e'' - sum_j e'_j S_j`, with binary `r`, and of the rounding of all words to 32 bits.
pub fn public_encryption_of_key(params: &Params, glwe_ones: f64) -> f64 {
    let random_ones = params.big_dimension() as f64 / 2.0;
    let key = (random_ones + glwe_ones + 1.0) * libm::exp2(2.0 * params.literal().glwe_log2_std);
    key + (1.0 + glwe_ones) * libm::exp2(-64.0) / 12.0
}

/// Variance of an encryption of zero of [`super::Sanitizer`], for keys in which half of the bits are 1: that of `sum_i r_i e_i - sum_j e'_j S_j`, with
/// binary `r`, the noise `e_i = e - B e''` of two rows of the packing key, and the noise `e'` and the rounding of the mask's words.
pub fn zero_encryption(params: &Params) -> f64 {
    let ones = params.big_dimension() as f64 / 2.0;
    let base = libm::exp2(f64::from(params.packing().base_log));
    let rows = ones * (1.0 + base * base) * libm::exp2(2.0 * params.literal().glwe_log2_std);
    rows + ones * fresh(params) + (1.0 + ones) * libm::exp2(-64.0) / 12.0
}

/// Variance of the noise that [`super::Sanitizer`] adds to a fresh bootstrap and an encryption of zero, so that the total is that of
/// [`Params::max_weight`] bootstraps.
pub fn flooding(params: &Params) -> f64 {
    (params.max_weight() - 1.0) * bootstrap(params) - zero_encryption(params)
}

/// Base-2 logarithm of the factor by which a round of sanitization multiplies the statistical distance of two ciphertexts of one message.
///
/// Their errors are those of two bootstraps, so the difference `d` has twice the variance of one. Flooded with noise of standard deviation
/// `s`, they are at the distance `erf(|d| / (2 sqrt(2) s))`. The mean over `d` is `2/pi atan(sqrt(V_bs / 2) / s)`.
pub fn log2_sanitizing_factor(params: &Params) -> f64 {
    let ratio = (bootstrap(params) / (2.0 * flooding(params))).sqrt();
    libm::log2(core::f64::consts::FRAC_2_PI * libm::atan(ratio))
}

/// Rounds of sanitization after which two results with one message are at a statistical distance of at most `2^-40` for each block.
pub fn sanitizing_rounds(params: &Params) -> u32 {
    (LOG2_DISTANCE / log2_sanitizing_factor(params)).ceil() as u32
}

/// Base-2 logarithm of the statistical distance that [`sanitizing_rounds`] reaches.
const LOG2_DISTANCE: f64 = -40.0;

/// Variance that the packing of `2^levels` ciphertexts adds. It is [`packing_of_key`] for keys in which half of the bits are 1.
pub fn packing(params: &Params, levels: u32) -> f64 {
    packing_of_key(params, levels, params.big_dimension() as f64 / 2.0)
}

/// Variance that the packing of `2^levels` ciphertexts adds under a GLWE key with `glwe_ones` bits equal to 1. The keyswitch of level `t`
/// adds `k l N E[d^2] sigma^2` and its rounding, and the levels above it double that error `levels - t` times.
pub fn packing_of_key(params: &Params, levels: u32, glwe_ones: f64) -> f64 {
    let cut = params.packing();
    let digits = params.big_dimension() as f64 * f64::from(cut.levels) * digit_square(cut);
    let keyswitch = digits * libm::exp2(2.0 * params.literal().glwe_log2_std) + glwe_ones * rounding(cut);
    (libm::exp2(2.0 * f64::from(levels)) - 1.0) / 3.0 * keyswitch
}

/// Variance that the rounding of packed results adds. The mean of the mask's part is removed: `k N / 4` roundings of the mask and one of the body.
pub fn packed_rounding(params: &Params, bits: PackedBits) -> f64 {
    params.big_dimension() as f64 / 4.0 * rounding_to(bits.mask) + rounding_to(bits.body)
}

/// Variance at the decryption of results of that weight that are packed, `N` of them.
pub fn packed(params: &Params, bits: PackedBits, weight: f64) -> f64 {
    weight * bootstrap(params) + packing(params, params.packing_levels()) + packed_rounding(params, bits)
}

/// Variance at the decision of a bootstrap whose argument has the variance of `weight` bootstraps with one table.
pub fn decision(params: &Params, weight: f64) -> f64 {
    weight * bootstrap(params) + keyswitch(params) + modulus_switch(params)
}

/// Distance from a message to the nearest wrong decision, in turns: 1/8 for gates, 1/64 for tables of 16 entries. An
/// XOR has twice the distance and twice the coefficients.
pub fn margin(params: &Params) -> f64 {
    match params.family() {
        Family::Gates => 1.0 / 8.0,
        Family::Integers => 1.0 / 64.0,
    }
}

/// Base-2 logarithm of the probability that a bootstrap decides wrongly, for an argument of this weight: the two tails
/// of the normal distribution.
pub fn log2_failure(params: &Params, weight: f64) -> f64 {
    log2_two_tails(margin(params) / decision(params, weight).sqrt())
}

/// `log2(2 Q(z))` for `z > 0`: numerical integration below 2, the continued fraction of Mills' ratio from there on.
pub fn log2_two_tails(z: f64) -> f64 {
    let density = -z * z / 2.0 * core::f64::consts::LOG2_E - 0.5 * libm::log2(core::f64::consts::TAU);
    if z < 2.0 {
        // Simpson's rule on [0, z]; the tails are the rest of the unit mass.
        let steps = 200;
        let h = z / f64::from(steps);
        let f = |i: i32| libm::exp(-0.5 * (f64::from(i) * h).powi(2));
        let inside = (1..steps).map(|i| f(i) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum::<f64>() + f(0) + f(steps);
        return libm::log2(1.0 - 2.0 * inside * h / 3.0 / core::f64::consts::TAU.sqrt());
    }
    let ratio = (1..=200).rev().fold(z, |tail, i| z + f64::from(i) / tail);
    1.0 + density - libm::log2(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tails_match_known_values() {
        // 2 Q(1) = 0.317310507863, 2 Q(6) = 1.973175290e-9, 2 Q(13.0625) = 2^-127.9..
        for (z, p) in [(1.0f64, 0.317_310_507_863f64), (2.5, 0.012_419_330_651_55), (6.0, 1.973_175_290e-9)] {
            assert!((log2_two_tails(z) - p.log2()).abs() < 1e-6, "{z}");
        }
    }

    #[test]
    fn every_set_keeps_the_failure_probability_in_its_name() {
        for name in Params::names() {
            let params = Params::named(&name).unwrap();
            let bound: f64 = name.rsplit('-').next().unwrap().parse().unwrap();
            println!(
                "{name}: log2 p = {:.1}, std bs 2^{:.2} ks 2^{:.2} ms 2^{:.2}",
                params.log2_failure(),
                bootstrap(&params).log2() / 2.0,
                keyswitch(&params).log2() / 2.0,
                modulus_switch(&params).log2() / 2.0
            );
            assert!(params.log2_failure() <= -bound, "{name}: 2^{}", params.log2_failure());
        }
    }
}
