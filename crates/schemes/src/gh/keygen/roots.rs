//! Values of polynomials at the roots `zeta_h = exp(i pi (2h + 1) / n)` of `x^n + 1`, `h < n/2`, for groups of roots at
//! a time. The other roots are the conjugates of these.

use core::f64::consts::PI;

use zeroize::Zeroize;

use super::super::encrypt::Noise;

/// Number of roots in a group.
pub(super) const LANES: usize = 16;

/// One number for each root of a group.
pub(super) type Lanes<T> = [T; LANES];

/// Real and imaginary parts at the roots of a group.
#[derive(Clone, Copy, Zeroize)]
#[zeroize(bound = "T: Zeroize")]
pub(super) struct Values<T> {
    pub(super) re: Lanes<T>,
    pub(super) im: Lanes<T>,
}

macro_rules! arithmetic {
    ($($float:ty),*) => {$(
        impl Values<$float> {
            pub(super) const ZERO: Self = Self { re: [0.0; LANES], im: [0.0; LANES] };

            pub(super) fn constant(value: $float) -> Self {
                Self { re: [value; LANES], im: [0.0; LANES] }
            }

            /// self <- self + other
            #[inline(always)]
            pub(super) fn add(&mut self, other: &Self) {
                for i in 0..LANES {
                    self.re[i] += other.re[i];
                    self.im[i] += other.im[i];
                }
            }

            /// self <- self + x y
            #[inline(always)]
            pub(super) fn add_product(&mut self, x: &Self, y: &Self) {
                for i in 0..LANES {
                    self.re[i] += x.re[i] * y.re[i] - x.im[i] * y.im[i];
                    self.im[i] += x.re[i] * y.im[i] + x.im[i] * y.re[i];
                }
            }

            /// Squares of the absolute values.
            pub(super) fn squares(&self) -> Lanes<$float> {
                core::array::from_fn(|i| self.re[i] * self.re[i] + self.im[i] * self.im[i])
            }
        }
    )*};
}

arithmetic!(f32, f64);

impl Values<f32> {
    /// Returns the values multiplied by `factor`.
    pub(super) fn scaled(&self, factor: f32) -> Self {
        Self { re: self.re.map(|x| factor * x), im: self.im.map(|x| factor * x) }
    }

    pub(super) fn widened(&self) -> Values<f64> {
        Values { re: self.re.map(f64::from), im: self.im.map(f64::from) }
    }
}

/// Computes the elementary symmetric polynomials `e_0 = 1` to `e_degree`.
pub(super) fn symmetric(values: impl Iterator<Item = Values<f64>>, degree: usize) -> Vec<Values<f64>> {
    let mut e = vec![Values::<f64>::ZERO; degree + 1];
    e[0] = Values::<f64>::constant(1.0);
    for (known, value) in values.enumerate() {
        for k in (1..=degree.min(known + 1)).rev() {
            let (lower, upper) = e.split_at_mut(k);
            upper[0].add_product(&lower[k - 1], &value);
        }
    }
    e
}

/// The roots in groups: lane `l` of group `g` holds `zeta_h` with `h = g LANES + l`.
pub(super) struct Roots {
    /// `exp(i pi j / n)`, `j < 2n`.
    powers: Vec<(f32, f32)>,
    /// Values of `x^i` at the first group, `i < n`.
    monomials: Vec<Values<f32>>,
}

impl Roots {
    pub(super) fn new(dimension: usize) -> Self {
        let power = |j| {
            let (sin, cos) = libm::sincos(PI * j as f64 / dimension as f64);
            (cos as f32, sin as f32)
        };
        let powers: Vec<_> = (0..2 * dimension).map(power).collect();
        let monomial = |i: usize| {
            let mut value = Values::<f32>::ZERO;
            for lane in 0..LANES {
                (value.re[lane], value.im[lane]) = powers[(2 * lane + 1) * i % powers.len()];
            }
            value
        };
        let monomials = (0..dimension).map(monomial).collect();
        Self { powers, monomials }
    }

    /// Computes the values of `bit + 2 u` at the roots of a group.
    pub(super) fn indicator(&self, group: usize, bit: bool, noise: &Noise) -> Values<f32> {
        let mut value = Values::<f32>::constant(f32::from(u8::from(bit)));
        for &(i, negative) in &noise.terms {
            let i = i as usize;
            // zeta_h^i is exp(i pi 2 g LANES i / n) times its value in the first group.
            let (cos, sin) = self.powers[(2 * LANES * group * i) & (self.powers.len() - 1)];
            let factor = if negative { -2.0 } else { 2.0 };
            let turn = Values { re: [factor * cos; LANES], im: [factor * sin; LANES] };
            value.add_product(&self.monomials[i], &turn);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical_embedding;

    #[test]
    fn values_of_an_indicator_are_those_of_its_polynomial() {
        let n = 64;
        let noise = Noise { terms: vec![(0, true), (5, false), (17, true), (63, false)] };
        let mut coefficients = vec![0.0; n];
        coefficients[0] = 1.0;
        for &(i, negative) in &noise.terms {
            coefficients[i as usize] += if negative { -2.0 } else { 2.0 };
        }
        let want = canonical_embedding::magnitudes(&coefficients);
        let roots = Roots::new(n);
        for group in 0..n / 2 / LANES {
            for (square, want) in roots.indicator(group, true, &noise).squares().iter().zip(&want[group * LANES..]) {
                assert!((f64::from(square.sqrt()) - want).abs() < 1e-4, "{square} {want}");
            }
        }
    }

    #[test]
    fn symmetric_polynomials_of_equal_values_are_binomials() {
        let e = symmetric((0..5).map(|_| Values::<f64>::constant(2.0)), 5);
        let got: Vec<f64> = e.iter().map(|value| value.re[3]).collect();
        assert_eq!(got, [1.0, 10.0, 40.0, 80.0, 80.0, 32.0]);
        assert!(e.iter().all(|value| value.im == [0.0; LANES]));
    }
}
