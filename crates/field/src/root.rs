//! Roots of unity, computed to about 100 bits and rounded once.
//!
//! They come from sums, products, quotients and fused products alone, which IEEE 754 rounds in one way. So every
//! platform computes the same bits. The sine and the cosine of a mathematical library differ in the last bit.

/// An unevaluated sum of two doubles, the second below half an ulp of the first.
#[derive(Clone, Copy, Debug)]
struct Double(f64, f64);

impl Double {
    const ZERO: Self = Self(0.0, 0.0);
    /// `2 pi`.
    const TAU: Self = Self(core::f64::consts::TAU, 2.449_293_598_294_706_4e-16);

    fn sum(a: f64, b: f64) -> Self {
        let s = a + b;
        let t = s - a;
        Self(s, (a - (s - t)) + (b - t))
    }

    fn product(a: f64, b: f64) -> Self {
        let p = a * b;
        Self(p, a.mul_add(b, -p))
    }

    fn add(self, other: Self) -> Self {
        let (s, t) = (Self::sum(self.0, other.0), Self::sum(self.1, other.1));
        let u = Self::sum(s.0, s.1 + t.0);
        Self::sum(u.0, u.1 + t.1)
    }

    fn neg(self) -> Self {
        Self(-self.0, -self.1)
    }

    fn mul(self, other: Self) -> Self {
        let p = Self::product(self.0, other.0);
        Self::sum(p.0, p.1 + self.0.mul_add(other.1, self.1 * other.0))
    }

    /// `p / q` for integers below `2^53`.
    fn ratio(p: f64, q: f64) -> Self {
        let high = p / q;
        Self::sum(high, (-high).mul_add(q, p) / q)
    }
}

#[derive(Clone, Copy, Debug)]
struct Complex(Double, Double);

impl Complex {
    fn mul(self, other: Self) -> Self {
        Self(self.0.mul(other.0).add(self.1.mul(other.1).neg()), self.0.mul(other.1).add(self.1.mul(other.0)))
    }
}

/// `e(p / q) = exp(2 pi i p / q)` to about 100 bits, by its power series after reduction to an eighth of a turn.
fn series(p: u64, q: u64) -> Complex {
    let quarters = (4 * p + q / 2) / q;
    // |p/q - quarters/4| <= 1/8: the numerator over 4q.
    let rest = (4 * p) as i64 - (quarters * q) as i64;
    let angle = Double::TAU.mul(Double::ratio(rest as f64, (4 * q) as f64));
    let square = angle.mul(angle).neg();
    let (mut cos, mut sin) = (Double::ZERO, Double::ZERO);
    // Horner: cos = 1 + s/(1*2) (1 + s/(3*4) (..)), sin = x (1 + s/(2*3) (1 + ..)).
    let one = Double(1.0, 0.0);
    for k in (1..=14).rev() {
        let k = f64::from(2 * k);
        cos = square.mul(Double::ratio(1.0, k * (k - 1.0))).mul(one.add(cos));
        sin = square.mul(Double::ratio(1.0, k * (k + 1.0))).mul(one.add(sin));
    }
    let (cos, sin) = (one.add(cos), angle.mul(one.add(sin)));
    match quarters % 4 {
        0 => Complex(cos, sin),
        1 => Complex(sin.neg(), cos),
        2 => Complex(cos.neg(), sin.neg()),
        _ => Complex(sin, cos.neg()),
    }
}

/// The roots of unity of one order, each a product of two of `2 sqrt(order)` tabulated ones.
#[derive(Debug)]
pub struct Roots {
    order: u64,
    step: u64,
    high: Vec<Complex>,
    low: Vec<Complex>,
}

impl Roots {
    /// Makes the tables of an order, a multiple of four and at most `2^48`.
    pub fn new(order: u64) -> Self {
        assert!(order > 0 && order.is_multiple_of(4) && order <= 1 << 48, "the order is a multiple of 4 up to 2^48");
        let step = order.isqrt().max(1);
        // `get` uses only the first quarter of a turn.
        let high = (0..(order / 4).div_ceil(step)).map(|h| series(h * step, order)).collect();
        let low = (0..step).map(|l| series(l, order)).collect();
        Self { order, step, high, low }
    }

    /// `(cos, sin)` of `2 pi p / order`, each within 0.5001 ulp. Every `p` is valid.
    pub fn get(&self, p: u64) -> (f64, f64) {
        // Quarters of a turn are exact: the order is a multiple of four.
        let quarter = self.order / 4;
        let (quarters, p) = (p / quarter % 4, p % quarter);
        let root = self.high[(p / self.step) as usize].mul(self.low[(p % self.step) as usize]);
        let (cos, sin) = (root.0.0, root.1.0);
        match quarters {
            0 => (cos, sin),
            1 => (-sin, cos),
            2 => (-cos, -sin),
            _ => (sin, -cos),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `2^124`: fixed-point numbers are in units of `2^-124`.
    const ONE: i128 = 1 << 124;
    /// Pi, in those units.
    const PI: i128 = 0x3243_f6a8_885a_308d_3131_98a2_e037_0734;

    /// Product of fixed-point numbers below 4 that are not negative, to within `2^-120`.
    fn fixed_mul(a: i128, b: i128) -> i128 {
        let halves = |x: i128| (x as u128 >> 64, x as u128 & u128::from(u64::MAX));
        let ((a, a_low), (b, b_low)) = (halves(a), halves(b));
        ((a * b + ((a * b_low) >> 64) + ((a_low * b) >> 64)) << 4) as i128
    }

    /// `(cos, sin)` of `2 pi p / q` for at most a quarter of a turn, to within `2^-115`, by their power series in
    /// integers.
    fn exact(p: u64, q: u64) -> (i128, i128) {
        if 8 * p > q {
            let (cos, sin) = exact(q / 4 - p, q);
            return (sin, cos);
        }
        // Divide before multiplying, and carry the remainder along.
        let (whole, rest) = (2 * PI / i128::from(q), 2 * PI % i128::from(q));
        let angle = whole * i128::from(p) + rest * i128::from(p) / i128::from(q);
        let (mut sums, mut term) = ([0, 0], ONE);
        for k in 0..30 {
            sums[k % 2] += if k % 4 < 2 { term } else { -term };
            term = fixed_mul(term, angle) / (k as i128 + 1);
        }
        (sums[0], sums[1])
    }

    /// Returns the distance of a float from a fixed-point number, in ulps of the binade below the float (the smaller
    /// ulps if it is a power of two). The float is in 0..=1, and 2^-72 or more if it is not 0. The fixed-point number
    /// is off by 2^-115, which is less than 2^-30 ulp from 2^-32 on.
    fn ulps(found: f64, exact: i128) -> f64 {
        // The float has no bit below 2^-124, so the conversion is exact.
        let fixed = (found * ONE as f64) as i128;
        assert_eq!(fixed as f64, found * ONE as f64);
        (fixed - exact) as f64 / ONE as f64 / (found - found.next_down())
    }

    #[test]
    fn roots_are_within_0_5001_ulp() {
        for order in [4, 8, 12, 20, 28, 4 * 64, 4 * 7 * 1024, 20 << 15, 28 << 20, 4 << 26] {
            let roots = Roots::new(order);
            let quarter = order / 4;
            // All roots of a small order; for a large one, the ends of the quarter and some between.
            let stride = (quarter / 3000).max(1) | 1;
            for p in
                (0..quarter).step_by(stride as usize).chain(0..quarter.min(50)).chain(quarter.max(50) - 50..quarter)
            {
                let p = p % quarter;
                let (cos, sin) = roots.get(p);
                let (exact_cos, exact_sin) = exact(p, order);
                for error in [ulps(cos, exact_cos), ulps(sin, exact_sin)] {
                    assert!(error.abs() < 0.5001, "{p}/{order}: {error} ulp");
                }
                // A root a quarter of a turn further is a product by i, exactly.
                assert_eq!(roots.get(p + quarter), (-sin, cos), "{p}/{order}");
            }
        }
    }

    #[test]
    fn known_values_are_correctly_rounded() {
        let roots = Roots::new(24);
        assert_eq!(roots.get(0), (1.0, 0.0));
        assert_eq!(roots.get(3), (core::f64::consts::FRAC_1_SQRT_2, core::f64::consts::FRAC_1_SQRT_2));
        assert_eq!(roots.get(2), (0.75_f64.sqrt(), 0.5));
    }
}
