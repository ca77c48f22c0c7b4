//! Special functions of the estimates, to about ten digits.

/// Euler's constant.
pub(super) const EULER: f64 = 0.577_215_664_901_532_9;

/// Smallest argument of the asymptotic series.
const LARGE: f64 = 12.0;

/// `ln Gamma(x)` for `x > 0`: Stirling's series, after shifts to a large argument.
pub(super) fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < LARGE {
        product *= x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))) / x;
    (x - 0.5) * libm::log(x) - x + 0.5 * libm::log(2.0 * core::f64::consts::PI) + series - libm::log(product)
}

/// The derivative of [`ln_gamma`].
pub(super) fn digamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < LARGE {
        shift += 1.0 / x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = y * (1.0 / 12.0 - y * (1.0 / 120.0 - y * (1.0 / 252.0 - y * (1.0 / 240.0 - y / 132.0))));
    libm::log(x) - 0.5 / x - series - shift
}

/// `zeta'(d) / zeta(d)` for `2 <= d < 60`, by the Euler-Maclaurin formula. Returns 0 from 60 on, where the absolute
/// value is below `2^-59`.
pub(super) fn zeta_slope(d: usize) -> f64 {
    if !(2..60).contains(&d) {
        return 0.0;
    }
    let (d, cut) = (d as f64, 96_u32);
    let term = |k: f64| (libm::pow(k, -d), libm::log(k) * libm::pow(k, -d));
    let (mut zeta, mut slope) = (1..cut).fold((0.0, 0.0), |(zeta, slope), k| {
        let (x, y) = term(f64::from(k));
        (zeta + x, slope + y)
    });
    // The remainder: the integral, half of the first term, and the term of the first derivative.
    let k = f64::from(cut);
    let ((x, y), ln) = (term(k), libm::log(k));
    zeta += k * x / (d - 1.0) + 0.5 * x + d * x / (12.0 * k);
    slope += k * x * (ln / (d - 1.0) + (d - 1.0).powi(-2)) + 0.5 * y + (d * y - x) / (12.0 * k);
    -slope / zeta
}

/// `Pr(X <= x)` for a chi-square variable with `degrees` degrees of freedom. Returns 0 or 1 if the result is within
/// `e^-45` of it.
pub(super) fn chi_square(x: f64, degrees: f64) -> f64 {
    // Chernoff's bound for both tails.
    let ratio = x / degrees;
    if 0.5 * degrees * (ratio - 1.0 - libm::log(ratio)) > 45.0 {
        return if ratio > 1.0 { 1.0 } else { 0.0 };
    }
    let (a, x) = (0.5 * degrees, 0.5 * x);
    let front = libm::exp(a * libm::log(x) - x - ln_gamma(a));
    if x < a + 1.0 {
        // Series of the lower incomplete gamma function.
        let (mut term, mut sum, mut k) = (1.0 / a, 1.0 / a, a);
        while term > 1e-16 * sum {
            k += 1.0;
            term *= x / k;
            sum += term;
        }
        return (front * sum).min(1.0);
    }
    // Lentz's continued fraction of the upper incomplete gamma function.
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / TINY, 1.0 / b);
    let mut fraction = d;
    for i in 1..10_000_u32 {
        let i = f64::from(i);
        let numerator = -i * (i - a);
        b += 2.0;
        d = 1.0 / keep_off_zero(numerator * d + b);
        c = keep_off_zero(b + numerator / c);
        fraction *= c * d;
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    return (1.0 - front * fraction).clamp(0.0, 1.0);

    fn keep_off_zero(x: f64) -> f64 {
        if x.abs() < TINY { TINY } else { x }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64) {
        assert!((got - want).abs() <= 1e-9 * want.abs().max(1e-3), "{got} is not {want}");
    }

    #[test]
    fn special_functions_have_their_known_values() {
        for (x, want) in
            [(0.5, 0.572_364_942_924_700_1), (1.0, 0.0), (5.0, 24_f64.ln()), (101.0, 363.739_375_555_563_5)]
        {
            close(ln_gamma(x), want);
        }
        for (x, want) in [(1.0, -EULER), (0.5, -EULER - 2.0 * 2_f64.ln()), (100.0, 4.600_161_852_738_087)] {
            close(digamma(x), want);
        }
        // -0.5699609930945328 follows from Glaisher's constant.
        close(zeta_slope(2), -0.569_960_993_094_532_8);
        close(zeta_slope(4), -0.068_911_265_896_125_4 / 1.082_323_233_711_138_2);
        assert_eq!((zeta_slope(1), zeta_slope(60)), (0.0, 0.0));
    }

    #[test]
    fn chi_square_has_its_known_values_and_both_forms_agree() {
        // Two degrees of freedom: 1 - e^(-x/2).
        for x in [0.1, 1.0, 2.9, 3.1, 10.0, 60.0] {
            close(chi_square(x, 2.0), 1.0 - (-0.5 * x).exp());
        }
        // Four: 1 - e^(-x/2) (1 + x/2).
        for x in [0.5_f64, 5.9, 6.1, 20.0] {
            close(chi_square(x, 4.0), 1.0 - (-0.5 * x).exp() * (1.0 + 0.5 * x));
        }
        // The series and the continued fraction meet at x = a + 1.
        for degrees in [50.0, 400.0, 3000.0] {
            let (below, above) = (chi_square(degrees + 1.999, degrees), chi_square(degrees + 2.001, degrees));
            assert!(above > below && above - below < 1e-3, "{degrees}: {below}, {above}");
        }
        assert_eq!((chi_square(1.0, 1000.0), chi_square(4000.0, 1000.0)), (0.0, 1.0));
    }
}
