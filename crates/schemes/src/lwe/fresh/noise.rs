//! Noise: what a ciphertext carries, and how much there may be.
//!
//! `<c, s> = m + 2 x` with `x = <e, r>`, and `+ e_0 + <e', s'>` where encryption adds noise of its own. It decrypts while `|m + 2 x| < M/2` (wang2014,
//! section 2.1.2). See `docs/derivations/lwe-noise.md`.

use super::Params;

/// Tolerance of measured noise above and below the formula, in bits of the standard deviation. It holds for the root
/// mean square over ciphertexts of several keys.
pub const TOLERANCE: f64 = 0.3;

/// Standard deviation of the noise `2 x` of fresh ciphertexts over keys and encryptions, base-2 logarithm.
pub fn fresh(params: &Params) -> f64 {
    let (n, samples, square) = (params.dimension() as f64, params.samples() as f64, params.sigma().powi(2));
    // r is 1 with a probability of 1/2: its mean square is 1/2.
    let own = if params.literal().encryption_noise { square + n * square * square } else { 0.0 };
    1.0 + 0.5 * libm::log2(samples * square / 2.0 + own)
}

/// Base-2 logarithm of the probability that a Gaussian of standard deviation 1 is beyond `-x` or `x`: from above, and within 2% where `x` is 1 or more.
pub fn log2_tail(x: f64) -> f64 {
    if x < 1.0 {
        return libm::log2(erfc(x / 2f64.sqrt()));
    }
    // Continued fraction of Mills' ratio.
    let ratio = (1..=60).rev().fold(x, |value, k| x + f64::from(k) / value);
    libm::log2(2.0 / (core::f64::consts::TAU.sqrt() * ratio)) - x * x / 2.0 * core::f64::consts::LOG2_E
}

/// The complementary error function by the series of erf, for small arguments.
fn erfc(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for k in 1..40 {
        term *= -x * x / f64::from(k);
        sum += term / f64::from(2 * k + 1);
    }
    1.0 - 2.0 / core::f64::consts::PI.sqrt() * sum
}

/// Base-2 logarithm of the probability that noise of that standard deviation (base-2 logarithm) reaches half a modulus of `log2 M`.
pub fn log2_failure(log2_std: f64, log2_modulus: f64) -> f64 {
    log2_tail(libm::exp2(log2_modulus - 1.0 - log2_std))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_the_normal_distribution() {
        for (x, tail) in
            [(0.0, 1.0), (0.5, 0.617_075), (1.0, 0.317_311), (2.0, 0.045_500_3), (3.0, 2.699_8e-3), (6.0, 1.973_2e-9)]
        {
            let got = log2_tail(x).exp2();
            assert!((got / tail - 1.0).abs() < 1e-3, "{x}: {got}");
        }
        assert!((log2_tail(20.0) - (-293.0)).abs() < 1.0, "{}", log2_tail(20.0));
    }
}
