//! The canonical embedding: values of a real polynomial at the roots of `x^n + 1`, in double precision.

use core::f64::consts::PI;

use zeroize::Zeroize;

/// Computes `|a(zeta_k)|` for `zeta_k = exp(i pi (2k + 1) / n)`, by ascending `k`. Shape: `n` coefficients, a power of
/// two; `n` values.
pub(crate) fn magnitudes(coefficients: &[f64]) -> Vec<f64> {
    let n = coefficients.len();
    let twisted = coefficients.iter().enumerate().map(|(i, &a)| {
        let (sin, cos) = libm::sincos(PI * i as f64 / n as f64);
        (a * cos, a * sin)
    });
    let mut values: Vec<(f64, f64)> = twisted.collect();
    transform(&mut values, &roots_of_unity(n), 1);
    let place = |k: usize| if n > 1 { k.reverse_bits() >> (usize::BITS - n.ilog2()) } else { k };
    let magnitudes = (0..n).map(|k| values[place(k)]).map(|(re, im)| libm::hypot(re, im)).collect();
    values.zeroize();
    magnitudes
}

/// `log2` of the largest `|a_i|`. Returns 0 for the polynomial 0.
pub(crate) fn log2_largest(coefficients: &[i64]) -> f64 {
    log2_integer(coefficients.iter().copied().max_by_key(|a| a.unsigned_abs()).unwrap_or(0))
}

/// `log2` of the largest `|a(zeta)|` (the canonical norm). Returns 0 for the polynomial 0. Shape: `n` coefficients, a
/// power of two, at least 2.
///
/// A product with `a` increases the absolute value at each root by at most this factor.
pub(crate) fn log2_canonical_norm(coefficients: &[i64]) -> f64 {
    let (low, high) = coefficients.split_at(coefficients.len() / 2);
    let mut others = coefficients.iter().filter(|&&a| a != 0);
    if let (Some(&one), None) = (others.next(), others.next()) {
        return log2_integer(one);
    }
    // The roots form conjugate pairs. One root of each pair is a (4k + 1)-th power of exp(i pi / n), where X^(n/2) is
    // i.
    let n = coefficients.len() as f64;
    let folded = low.iter().zip(high).enumerate().map(|(j, (&re, &im))| {
        let ((sin, cos), re, im) = (libm::sincos(PI * j as f64 / n), re as f64, im as f64);
        (re * cos - im * sin, re * sin + im * cos)
    });
    let mut values: Vec<(f64, f64)> = folded.collect();
    transform(&mut values, &roots_of_unity(low.len()), 1);
    let largest = values.iter().map(|(re, im)| re * re + im * im).fold(1.0, f64::max);
    values.zeroize();
    0.5 * libm::log2(largest)
}

/// `log2` of the absolute value. Returns 0 for 0.
pub(crate) fn log2_integer(value: i64) -> f64 {
    libm::log2(value.unsigned_abs().max(1) as f64)
}

/// `exp(2 pi i k / n)` for `k < n/2`.
fn roots_of_unity(n: usize) -> Vec<(f64, f64)> {
    let of = |k: usize| {
        let (sin, cos) = libm::sincos(2.0 * PI * k as f64 / n as f64);
        (cos, sin)
    };
    (0..n / 2).map(of).collect()
}

/// Computes a discrete Fourier transform by decimation in frequency, with every `step`-th root. Order of the result:
/// bit-reversed.
fn transform(values: &mut [(f64, f64)], roots: &[(f64, f64)], step: usize) {
    let n = values.len();
    if n < 2 {
        return;
    }
    let (low, high) = values.split_at_mut(n / 2);
    for ((x, y), (cos, sin)) in low.iter_mut().zip(high.iter_mut()).zip(roots.iter().step_by(step)) {
        let difference = (x.0 - y.0, x.1 - y.1);
        *x = (x.0 + y.0, x.1 + y.1);
        *y = (difference.0 * cos - difference.1 * sin, difference.0 * sin + difference.1 * cos);
    }
    transform(low, roots, 2 * step);
    transform(high, roots, 2 * step);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magnitudes_match_their_definition() {
        let a = [3.0, -1.0, 0.5, 2.0, 0.0, 7.0, -4.0, 1.0];
        let n = a.len();
        let direct = |k: usize| {
            let (mut re, mut im) = (0.0, 0.0);
            for (i, a) in a.iter().enumerate() {
                let (sin, cos) = (PI * ((2 * k + 1) * i) as f64 / n as f64).sin_cos();
                (re, im) = (re + a * cos, im + a * sin);
            }
            f64::hypot(re, im)
        };
        let want: Vec<f64> = (0..n).map(direct).collect();
        let got = magnitudes(&a);
        assert!(want.iter().zip(&got).all(|(a, b)| (a - b).abs() < 1e-9), "{want:?} {got:?}");
    }

    #[test]
    fn peak_is_the_largest_magnitude() {
        for a in [vec![3i64, -1, 0, 2, 0, 7, -4, 1], vec![1; 64], (0..256).map(|i| i * i % 5 - 2).collect(), vec![0, 9]]
        {
            let magnitudes = magnitudes(&a.iter().map(|&a| a as f64).collect::<Vec<_>>());
            let want = magnitudes.into_iter().fold(0.0, f64::max).log2();
            assert!((log2_canonical_norm(&a) - want).abs() < 1e-9, "{a:?}");
        }
        // 1 + X + .. + X^(n-1) is 2 / (1 - zeta), about 2n/pi at the roots nearest to 1.
        assert!((log2_canonical_norm(&[1; 4096]) - (2.0 * 4096.0 / PI).log2()).abs() < 1e-6);
        assert!(log2_canonical_norm(&[0; 16]) == 0.0);
    }
}
