//! Noise of bootstrapping: `docs/derivations/bgv-bootstrap.md` derives the formulas.

use super::Bootstrapping;
use crate::bgv::Params;
use crate::bgv::noise::{self, SIGMA, TERNARY};
use crate::bgv::params::{Failure, log2};
use crate::leveled::bootstrap::{self, BootstrapNoise};
use crate::{Level, Noise};

impl Bootstrapping {
    /// Returns the noise of all steps by the formulas, whether or not bootstrapping works.
    pub(in crate::bgv) fn growth(self, params: &Params) -> BootstrapNoise {
        match grow(params, self, |_, _, _| Ok::<_, core::convert::Infallible>(())) {
            Ok(growth) => growth,
            Err(never) => match never {},
        }
    }

    /// Checks that bootstrapping works. Returns the noise of its results.
    ///
    /// # Errors
    /// The step whose noise is too large.
    pub(in crate::bgv) fn check_noise(self, params: &Params) -> Result<Noise, Failure> {
        let fits = |what, level, over| if over > 0.0 { Err(Failure::Noise { what, level, over }) } else { Ok(()) };
        grow(params, self, fits).map(|growth| growth.output)
    }
}

/// Returns the noise of every step. `fits(what, level, over)` is called with the number of bits by which a noise
/// exceeds its limit; it is negative for a noise below its limit. An error of `fits` ends the work.
fn grow<E>(
    params: &Params,
    bootstrapping: Bootstrapping,
    fits: impl Fn(&'static str, Level, f64) -> Result<(), E>,
) -> Result<BootstrapNoise, E> {
    let Bootstrapping { precision, weight, .. } = bootstrapping;
    let (n, dimension, top) = (params.dimension() as f64, params.dimension(), params.highest_level());
    let fits = |what, level, noise: Noise| {
        fits(what, level, noise.bits_above(noise::limit(params, params.log2_modulus(level))))?;
        Ok(noise)
    };
    let square = |log2: f64| libm::exp2(2.0 * log2);
    let whole = libm::exp2(f64::from(precision));
    // Uniform in an interval of 2^precision, and the errors of the keys.
    let embedded = square(f64::from(precision)) / 12.0 * (weight as f64 + n * (whole * SIGMA).powi(2));
    let switch = |level| noise::switched_digits_modulo(params, whole, params.digit_squares(level));
    let division = noise::rounding_modulo(whole, params.special().len(), n * TERNARY);
    let switches: f64 = bootstrap::rounds(dimension)
        .map(|steps| {
            let (terms, after) = (bootstrap::automorphisms_of(&steps), dimension.ilog2() - steps.end);
            (terms as f64 * square(switch(top).log2()) + square(division.log2())) * libm::exp2(f64::from(after))
        })
        .sum();
    let traced = fits("the trace", top, Noise::from_log2(0.5 * libm::log2(embedded / n + switches)))?;

    let found = (precision - params.plaintext_modulus().ilog2()) as usize;
    let weighted = |rest: Noise, parts: &[Noise]| {
        parts.iter().zip(0..).fold(rest, |sum, (&part, place)| sum.sum(part.scaled(f64::from(place))))
    };
    // A bit as it is first found, to multiples of 2^(digit + 1), less the digits below it.
    let digit = |number: usize, below: &[Noise]| {
        let level = top.lowered(number);
        let rounding = noise::rounding_modulo(libm::exp2(number as f64 + 1.0), 1, n * TERNARY);
        let rest = noise::rescale(params, traced, params.log2_prime(level), rounding);
        fits("a digit", level.lowered(1), weighted(rest, below).scaled(-(number as f64)))
    };
    let mut digits: Vec<Vec<Noise>> = vec![vec![digit(0, &[])?]];
    let mut depth = 0;
    loop {
        let level = top.lowered(1 + depth);
        let products: Vec<Noise> = digits
            .iter()
            .map(|powers| powers[powers.len() - 1])
            .map(|power| fits("a digit's square", level, noise::product(params, power, power)))
            .collect::<Result<_, E>>()?;
        if depth + 2 == precision as usize {
            let last = weighted(traced, &products).scaled(-(found as f64));
            let last = fits("the highest digit", level, last.root_sum_squares(params.switch_noise(level)))?;
            let output = fits("a bootstrapped number", level.lowered(1), params.reduced(last, level, 2, true))?;
            let embedded = Noise::from_log2(0.5 * libm::log2(embedded));
            return Ok(BootstrapNoise { limit: limit(params, bootstrapping), embedded, traced, digits, output });
        }
        let mut last = Vec::new();
        for (product, powers) in products.into_iter().zip(&mut digits) {
            // W[i][k + 1] is right modulo 2^(k + 2).
            let modulus = libm::exp2(powers.len() as f64 + 1.0);
            let rounding = noise::rounding_modulo(modulus, 1 + params.special().len(), n * TERNARY);
            let switched = product.root_sum_squares(switch(level));
            powers.push(noise::rescale(params, switched, params.log2_prime(level), rounding));
            last.push(powers[powers.len() - 1]);
        }
        if digits.len() < found {
            digits.push(vec![digit(digits.len(), &last)?]);
        }
        depth += 1;
    }
}

/// Largest noise at level 1 that can be bootstrapped.
fn limit(params: &Params, bootstrapping: Bootstrapping) -> Noise {
    let p = params.plaintext_modulus();
    let switch = switched_to_sparse(params, bootstrapping);
    // In steps of the rounding: m + p e is divided by p.
    let steps = |noise: Noise| {
        let sparse = noise.root_sum_squares(switch).log2();
        sparse - f64::from(p.ilog2()) + f64::from(bootstrapping.precision) - params.log2_modulus(Level::LOWEST)
    };
    let limit =
        bootstrapping.rounded(p).noise_limit(params.log2_modulus(Level::LOWEST), noise::failure_bits(params), steps);
    limit.scaled(-noise::tolerance_above(params.dimension()))
}

/// Noise that the switch to the sparse secret adds, with the highest level's prime as special prime.
pub(super) fn switched_to_sparse(params: &Params, bootstrapping: Bootstrapping) -> Noise {
    let (p, moduli) = (params.plaintext_modulus() as f64, params.moduli());
    // A digit is uniform in 0..q_1.
    let squares = libm::exp2(2.0 * (log2(&moduli[..1]) - log2(&moduli[moduli.len() - 1..]))) / 3.0;
    let switched = noise::switched_digits_modulo(params, p, squares);
    switched.root_sum_squares(noise::rounding_modulo(p, 1, bootstrapping.weight as f64))
}
