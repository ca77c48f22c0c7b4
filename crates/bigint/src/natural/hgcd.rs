//! Half of Euclid's algorithm at a time, from the leading halves of the numbers (Möller, On Schönhage's algorithm and
//! subquadratic integer gcd computation, Math. Comp. 77, 2008). A greatest common divisor takes the time of some
//! products times the logarithm of the length.

use super::Natural;
use super::gcd::{Steps, sum};

/// Lehmer's steps reduce numbers of fewer bits.
const RECURSIVE_MIN_BITS: usize = 64 * 160;

/// Steps of Euclid's algorithm from (x, y) to (x', y'): x = a x' + b y', y = c x' + d y', with determinant 1, or -1 if `odd`.
#[derive(Debug)]
pub(super) struct Matrix {
    pub(super) a: Natural,
    pub(super) b: Natural,
    pub(super) c: Natural,
    pub(super) d: Natural,
    pub(super) odd: bool,
}

impl Matrix {
    fn identity() -> Self {
        Self { a: Natural::one(), b: Natural::ZERO, c: Natural::ZERO, d: Natural::one(), odd: false }
    }

    /// Returns whether the matrix contains no step.
    pub(super) fn is_identity(&self) -> bool {
        self.b.is_zero() && self.c.is_zero()
    }

    fn mul(&self, other: &Self) -> Self {
        let dot = |a: &Natural, b: &Natural, c: &Natural, d: &Natural| &(a * b) + &(c * d);
        Self {
            a: dot(&self.a, &other.a, &self.b, &other.c),
            b: dot(&self.a, &other.b, &self.b, &other.d),
            c: dot(&self.c, &other.a, &self.d, &other.c),
            d: dot(&self.c, &other.b, &self.d, &other.d),
            odd: self.odd ^ other.odd,
        }
    }

    /// Returns (x', y') for x, y. This matrix took their parts above bit `shift` to `high`.
    pub(super) fn apply(
        &self,
        x: &Natural,
        y: &Natural,
        shift: usize,
        high: (&Natural, &Natural),
    ) -> (Natural, Natural) {
        let (x, y) = (x.low_bits(shift), y.low_bits(shift));
        // (d x - b y, a y - c x); after an odd number of steps all signs are changed.
        let part = |high: &Natural, plus: Natural, minus: Natural| {
            let high = high << shift;
            let (plus, minus) = if self.odd { (minus, plus) } else { (plus, minus) };
            (&high + &plus).abs_diff(&minus)
        };
        (part(high.0, &self.d * &x, &self.b * &y), part(high.1, &self.a * &y, &self.c * &x))
    }
}

/// Takes the steps from (x, y) to (x', y') that leave both at least 2^s, s = n/2 + 1 for n bits, and their difference
/// less. Returns the matrix, x' and y'.
///
/// So the entries of the matrix are below 2^(n-s) < 2^s. The same steps on longer numbers whose leading bits are x and
/// y leave positive numbers, whatever the lower bits are: these move x' by less than the largest entry.
pub(super) fn hgcd(mut x: Natural, mut y: Natural) -> (Matrix, Natural, Natural) {
    let bits = longest(&x, &y);
    let least = bits / 2 + 1;
    let mut matrix = Matrix::identity();
    if bits >= RECURSIVE_MIN_BITS && shortest(&x, &y) > least {
        let shift = bits / 2;
        let (steps, high_x, high_y) = hgcd(&x >> shift, &y >> shift);
        (x, y) = steps.apply(&x, &y, shift, (&high_x, &high_y));
        matrix = steps;
        while longest(&x, &y) > bits / 4 * 3 + 1 {
            if !step(&mut matrix, &mut x, &mut y, least) {
                return (matrix, x, y);
            }
        }
        let size = longest(&x, &y);
        if size > least + 2 && shortest(&x, &y) > least {
            // The upper part of 2 (size - s) - 1 bits is reduced to size - s bits, and so x and y to about s.
            let shift = 2 * least + 1 - size;
            let (steps, high_x, high_y) = hgcd(&x >> shift, &y >> shift);
            (x, y) = steps.apply(&x, &y, shift, (&high_x, &high_y));
            matrix = matrix.mul(&steps);
        }
    }
    while step(&mut matrix, &mut x, &mut y, least) {}
    (matrix, x, y)
}

fn longest(x: &Natural, y: &Natural) -> usize {
    x.bit_len().max(y.bit_len())
}

fn shortest(x: &Natural, y: &Natural) -> usize {
    x.bit_len().min(y.bit_len())
}

/// Takes the steps that leave both numbers at least 2^`least`: as many as leading words determine, otherwise one.
/// Returns false if there is none.
fn step(matrix: &mut Matrix, x: &mut Natural, y: &mut Natural, least: usize) -> bool {
    if shortest(x, y) > least + 64 {
        let steps = Steps::of_leading(x, y);
        if steps.b != 0 {
            let (next_x, next_y) = steps.apply(x, y);
            if shortest(&next_x, &next_y) > least {
                let Steps { a, b, c, d, odd } = steps;
                let Matrix { a: m11, b: m12, c: m21, d: m22, odd: parity } = matrix;
                (*m11, *m12) = (sum(m11, d, m12, c), sum(m11, b, m12, a));
                (*m21, *m22) = (sum(m21, d, m22, c), sum(m21, b, m22, a));
                *parity ^= odd;
                (*x, *y) = (next_x, next_y);
                return true;
            }
        }
    }
    // One division of the greater by the less, with a quotient smaller by one if the remainder would be too short.
    let swapped = *x < *y;
    let (greater, less) = if swapped { (&mut *y, &*x) } else { (&mut *x, &*y) };
    if less.bit_len() <= least || greater.abs_diff(less).bit_len() <= least {
        return false;
    }
    let Ok((mut quotient, mut remainder)) = greater.div_rem(less) else { return false };
    if remainder.bit_len() <= least {
        quotient = quotient.abs_diff(&Natural::one());
        remainder += less;
    }
    *greater = remainder;
    if swapped {
        matrix.a += &(&matrix.b * &quotient);
        matrix.c += &(&matrix.d * &quotient);
    } else {
        matrix.b += &(&matrix.a * &quotient);
        matrix.d += &(&matrix.c * &quotient);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(x: &Natural, y: &Natural) {
        let bits = longest(x, y);
        let (matrix, u, v) = hgcd(x.clone(), y.clone());
        let Matrix { a, b, c, d, odd } = &matrix;
        assert_eq!((&(a * &u) + &(b * &v), &(c * &u) + &(d * &v)), (x.clone(), y.clone()));
        let (plus, minus) = (a * d, b * c);
        let (plus, minus) = if *odd { (minus, plus) } else { (plus, minus) };
        assert_eq!(plus, &minus + &Natural::one());
        if !matrix.is_identity() {
            assert!(shortest(&u, &v) > bits / 2 + 1);
        }
        if shortest(x, y) > bits / 2 + 1 {
            assert!(u.abs_diff(&v).bit_len() <= bits / 2 + 1, "{bits} bits");
        }
    }

    #[test]
    fn fibonacci_numbers_are_halved() {
        let (mut a, mut b) = (Natural::one(), Natural::one());
        for _ in 0..40_000 {
            let sum = &a + &b;
            a = std::mem::replace(&mut b, sum);
        }
        check(&a, &b);
        check(&b, &a);
    }

    #[test]
    fn neighbours_are_left_alone() {
        let power = Natural::power_of_two(40_000);
        check(&power, &(&power + &Natural::one()));
        check(&power, &(&power + &Natural::power_of_two(20_000)));
        check(&(&power + &Natural::power_of_two(20_002)), &power);
        check(&power, &Natural::power_of_two(39_999));
        check(&power, &power);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn steps_lead_from_one_pair_to_the_other(
            x in proptest::collection::vec(any::<u64>(), 1..800), y in proptest::collection::vec(any::<u64>(), 1..800)
        ) {
            let same = x.len().min(y.len());
            let [short_x, short_y] = [&x[..same], &y[..same]].map(Natural::from_words);
            check(&short_x, &short_y);
            check(&(&short_x + &Natural::power_of_two(64 * same)), &short_y);
            check(&Natural::from_words(x), &Natural::from_words(y));
        }
    }
}
