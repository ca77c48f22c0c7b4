//! The canonical embedding: values of a real polynomial at the roots of `x^n + 1`, in double precision.

use core::f64::consts::PI;

use zeroize::Zeroize;

/// `|a(zeta_k)|` for `zeta_k = exp(i pi (2k + 1) / n)`, `k` ascending. Shape: `n` coefficients, a power of two; `n` values.
pub(super) fn magnitudes(coefficients: &[f64]) -> Vec<f64> {
    let n = coefficients.len();
    let twisted = coefficients.iter().enumerate().map(|(i, &a)| {
        let (sin, cos) = (PI * i as f64 / n as f64).sin_cos();
        (a * cos, a * sin)
    });
    let mut values: Vec<(f64, f64)> = twisted.collect();
    transform(&mut values);
    let place = |k: usize| if n > 1 { k.reverse_bits() >> (usize::BITS - n.ilog2()) } else { k };
    let magnitudes = (0..n).map(|k| values[place(k)]).map(|(re, im)| re.hypot(im)).collect();
    values.zeroize();
    magnitudes
}

/// Discrete Fourier transform with decimation in frequency; the values come out in bit-reversed order.
fn transform(values: &mut [(f64, f64)]) {
    let n = values.len();
    if n < 2 {
        return;
    }
    let (low, high) = values.split_at_mut(n / 2);
    for (k, (x, y)) in low.iter_mut().zip(high.iter_mut()).enumerate() {
        let (sin, cos) = (2.0 * PI * k as f64 / n as f64).sin_cos();
        let difference = (x.0 - y.0, x.1 - y.1);
        *x = (x.0 + y.0, x.1 + y.1);
        *y = (difference.0 * cos - difference.1 * sin, difference.0 * sin + difference.1 * cos);
    }
    transform(low);
    transform(high);
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
}
