//! Noise of bootstrapping: `docs/derivations/ntru-bootstrap.md` derives the formulas.

use solinas_field::prime::Modulus;

use super::Bootstrapping;
use crate::leveled::bootstrap::{self, BootstrapNoise};
use crate::ntru::Params;
use crate::ntru::noise;
use crate::ntru::params::Failure;
use crate::ntru::switch::variance;
use crate::{Level, Noise};

impl Bootstrapping {
    /// Returns the noise of all steps by the formulas, whether or not bootstrapping works.
    pub(in crate::ntru) fn growth(self, params: &Params) -> BootstrapNoise {
        match grow(params, self, |_, _, _| Ok::<_, core::convert::Infallible>(())) {
            Ok(growth) => growth,
            Err(never) => match never {},
        }
    }

    /// Checks that bootstrapping works for sums at level 1 with the noise `input`, and again after products of its
    /// results.
    ///
    /// # Errors
    /// The step whose noise is too large.
    pub(in crate::ntru) fn check_noise(self, params: &Params, input: Noise) -> Result<(), Failure> {
        let fits = |what, level, over| if over > 0.0 { Err(Failure::Noise { what, level, over }) } else { Ok(()) };
        let growth = grow(params, self, fits)?;
        let terms = libm::log2(f64::from(params.literal().terms));
        let mut noise = growth.output.scaled(terms);
        for level in Level::LOWEST.above().up_to(params.bootstrapped_level()).rev() {
            let product = noise::product(params, noise, noise);
            let switched = noise::hint(params, product, params.dimension());
            fits("a product", level, switched.bits_above(noise::limit(params, params.log2_modulus(level))))?;
            noise = params.noise_after_division(switched, level).scaled(terms);
        }
        fits("a bit to be bootstrapped", Level::LOWEST, noise.max(input).bits_above(growth.limit))
    }
}

/// Returns the noise of every step. `fits(what, level, over)` is called with the number of bits by which a noise
/// exceeds its limit; it is negative for a noise below its limit. An error of `fits` ends the work.
fn grow<E>(
    params: &Params,
    bootstrapping: Bootstrapping,
    fits: impl Fn(&'static str, Level, f64) -> Result<(), E>,
) -> Result<BootstrapNoise, E> {
    let Bootstrapping { precision, weight } = bootstrapping;
    let (n, dimension) = (params.dimension() as f64, params.dimension());
    let square = |x: f64| x * x;
    // Digits uniform in an interval of 2^precision, and masks of the keys.
    let uniform = libm::exp2(f64::from(2 * precision)) / 12.0;
    let mask = square(libm::exp2(f64::from(precision)) * params.sigma());
    let embedded = uniform * (weight as f64 + n * mask) + libm::exp2(f64::from(2 * precision - 4)) * (1.0 + mask);
    let log2 = |moduli: &[Modulus]| moduli.iter().map(|q| libm::log2(q.value() as f64)).collect::<Vec<_>>();
    let switch = variance(params, 1 << precision, &log2(params.moduli()), &log2(params.special_moduli()));
    let switches: f64 = bootstrap::rounds(dimension)
        .map(|steps| {
            let (terms, after) = (bootstrap::automorphisms_of(&steps), dimension.ilog2() - steps.end);
            terms as f64 * libm::exp2(f64::from(after)) * switch
        })
        .sum();
    let [embedded, traced] =
        [embedded, embedded / n + switches].map(|variance| Noise::from_log2(0.5 * libm::log2(variance)));

    let top = params.fresh_level();
    let hinted = |what, level, noise| {
        let switched = noise::hint(params, noise, dimension);
        fits(what, level, switched.bits_above(noise::limit(params, params.log2_modulus(level))))?;
        Ok(switched)
    };
    // The noise that a division carries over must be at most half of the rounding, or the total must not grow.
    let divided = |what, level, digit: u32, switched, before: Noise| {
        let modulus = 1 << (precision - digit);
        let after = noise::rescale(params, modulus, switched, params.log2_primes(level), dimension);
        let most = before.max(noise::rounding(params, modulus, dimension).scaled(libm::log2(1.5f64)));
        fits(what, level, after.bits_above(most))?;
        Ok(after)
    };
    let mut rest =
        divided("the trace, divided,", top, 0, hinted("the trace", top, traced)?, Noise::from_log2(f64::NEG_INFINITY))?;
    let mut digits = vec![vec![rest]];
    let mut level = top.lowered(1);
    loop {
        let mut squares = Vec::new();
        for (digit, powers) in (0..).zip(&digits) {
            let power = powers[powers.len() - 1];
            let switched = hinted("a digit's square", level, noise::product(params, power, power))?;
            squares.push((digit, power, switched));
        }
        let found = digits.len() as u32;
        let lowered = noise::hint(params, rest, dimension);
        let weighted = |rest: Noise, parts: &[(u32, Noise)]| {
            parts.iter().fold(rest, |sum, &(digit, x)| sum.sum(x.scaled(f64::from(digit))))
        };
        if found + 1 == precision {
            let parts: Vec<_> = squares.iter().map(|&(digit, _, switched)| (digit, switched)).collect();
            let last = weighted(lowered, &parts).scaled(-f64::from(found));
            let output = params.noise_after_division(last, level);
            let below = level.lowered(1);
            fits("a bootstrapped bit", below, output.bits_above(noise::limit(params, params.log2_modulus(below))))?;
            let limit = limit(params, bootstrapping);
            return Ok(BootstrapNoise { limit, embedded, traced, digits, output });
        }
        rest = divided("a digit's rest, divided,", level, 0, lowered, rest)?;
        let mut parts = Vec::new();
        for (digit, power, switched) in squares {
            let after = divided("a digit's square, divided,", level, digit, switched, power)?;
            digits[digit as usize].push(after);
            parts.push((digit, after));
        }
        digits.push(vec![weighted(rest, &parts).scaled(-f64::from(found))]);
        level = level.lowered(1);
    }
}

/// `log2` of the noise under the sparse key, in steps of the rounding: half of it, as the message's lowest bit goes to the top.
fn steps(params: &Params, bootstrapping: Bootstrapping, noise: Noise) -> f64 {
    let switched = noise.scaled(noise::stretch(params.plaintext_modulus(), params.sigma(), params.dimension()));
    switched.log2() - 1.0 + f64::from(bootstrapping.precision) - params.log2_modulus(Level::LOWEST)
}

/// Largest noise at level 1 that can be bootstrapped.
fn limit(params: &Params, bootstrapping: Bootstrapping) -> Noise {
    let steps = |noise| steps(params, bootstrapping, noise);
    let limit =
        bootstrapping.rounded().noise_limit(params.log2_modulus(Level::LOWEST), noise::failure_bits(params), steps);
    limit.scaled(-noise::tolerance_above(params.dimension()))
}
