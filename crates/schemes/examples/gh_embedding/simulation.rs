//! Values of noise polynomials at the roots of `x^n + 1`, in double precision.

use core::f64::consts::PI;

use rand_core::RngCore;
use rayon::prelude::*;
use solinas_schemes::gh::{Params, noise};

/// Real and imaginary part.
pub(crate) type Complex = (f64, f64);

fn add(x: Complex, y: Complex) -> Complex {
    (x.0 + y.0, x.1 + y.1)
}

fn multiply(x: Complex, y: Complex) -> Complex {
    (x.0 * y.0 - x.1 * y.1, x.0 * y.1 + x.1 * y.0)
}

/// `log2 max |a(zeta)|`.
pub(crate) fn log2_norm(values: &[Complex]) -> f64 {
    values.iter().map(|value| value.0.hypot(value.1)).fold(0.0, f64::max).log2()
}

/// At each root.
pub(crate) fn product(x: &[Complex], y: &[Complex]) -> Vec<Complex> {
    x.iter().zip(y).map(|(&x, &y)| multiply(x, y)).collect()
}

fn uniform(rng: &mut impl RngCore) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) * 2f64.powi(-53)
}

/// What noise is fixed by a key, at the roots `zeta_h = exp(i pi (2h + 1) / n)`, `h < n/2`; the others are conjugates.
pub(crate) struct Key<'a> {
    params: &'a Params,
    /// `exp(i pi j / n)`, `j < 2n`.
    roots: Vec<Complex>,
    /// By block, then indicator: the bit, and terms `+-x^i`.
    indicators: Vec<(f64, Vec<(usize, f64)>)>,
    /// `v(zeta_h)`, divided by its root mean square.
    secret: Vec<Complex>,
}

impl<'a> Key<'a> {
    /// A key at random.
    pub(crate) fn draw(params: &'a Params, rng: &mut impl RngCore) -> Self {
        let n = params.dimension();
        let density = params.nonzeros() as f64 / n as f64;
        let roots = (0..2 * n).map(|j| (PI * j as f64 / n as f64).sin_cos()).map(|(sin, cos)| (cos, sin)).collect();
        let m = params.indicators();
        let mut indicators = Vec::new();
        for _ in 0..params.blocks() {
            let first = rng.next_u32() as usize % m;
            let second = (first + 1 + rng.next_u32() as usize % (m - 1)) % m;
            for a in 0..m {
                let terms = loop {
                    let mut terms = Vec::new();
                    for i in 0..n {
                        if uniform(rng) < density {
                            terms.push((i, if rng.next_u32() & 1 == 1 { -2.0 } else { 2.0 }));
                        }
                    }
                    if terms.len() <= params.max_nonzeros() {
                        break terms;
                    }
                };
                indicators.push((f64::from(u8::from(a == first || a == second)), terms));
            }
        }
        // As key generation does, until the mean of 1/|v| is small enough.
        let limit = (noise::capacity(params) - mean_square_bits(params)).exp2().recip();
        let secret = loop {
            let normal = |_| {
                let (radius, angle) = ((-uniform(rng).ln()).sqrt(), 2.0 * PI * uniform(rng));
                (radius * angle.cos(), radius * angle.sin())
            };
            let secret: Vec<Complex> = (0..n / 2).map(normal).collect();
            let mean = secret.iter().map(|v| v.0.hypot(v.1).recip()).sum::<f64>() / secret.len() as f64;
            if mean <= limit {
                break secret;
            }
        };
        Self { params, roots, indicators, secret }
    }

    /// `a(zeta_h)` of recrypted ciphertexts, for candidates at random. Shape: by ciphertext, then `h`.
    pub(crate) fn recrypted(&self, count: usize, rng: &mut impl RngCore) -> Vec<Vec<Complex>> {
        let n = self.params.dimension();
        let mut candidate = |_| (rng.next_u32() as usize & ((2 << self.params.precision()) - 1)) as u8;
        let mut candidates =
            || (0..self.params.blocks() * self.params.candidates()).map(&mut candidate).collect::<Vec<u8>>();
        let sets: Vec<Vec<u8>> = (0..count).map(|_| candidates()).collect();
        let at_root = |h: usize| -> Vec<Complex> {
            let value = |(bit, terms): &(f64, Vec<(usize, f64)>)| {
                terms.iter().fold((*bit, 0.0), |sum, &(i, sign)| {
                    let root = self.roots[(2 * h + 1) * i % (2 * n)];
                    (sum.0 + sign * root.0, sum.1 + sign * root.1)
                })
            };
            let values: Vec<Complex> = self.indicators.iter().map(value).collect();
            sets.iter().map(|candidates| self.recrypt_at(&values, candidates)).collect()
        };
        let by_root: Vec<Vec<Complex>> = (0..n / 2).into_par_iter().map(at_root).collect();
        (0..count).map(|index| by_root.iter().map(|values| values[index]).collect()).collect()
    }

    /// Recrypt at one root: columns, symmetric polynomials. `candidates`: block by block.
    fn recrypt_at(&self, indicators: &[Complex], candidates: &[u8]) -> Complex {
        let (m, count, p) = (self.params.indicators(), self.params.candidates(), self.params.precision());
        let mut columns = vec![Vec::new(); p + 1];
        let mut sums = vec![(0.0, 0.0); 2 << p];
        for (values, candidates) in indicators.chunks_exact(m).zip(candidates.chunks_exact(count)) {
            sums.fill((0.0, 0.0));
            let mut rest = candidates;
            for a in 0..self.params.first_indices() {
                let (here, after) = rest.split_at(rest.len().min(m - 1 - a));
                for (&value, &candidate) in values[a + 1..].iter().zip(here) {
                    let sum = &mut sums[usize::from(candidate)];
                    *sum = add(*sum, multiply(values[a], value));
                }
                rest = after;
            }
            for (j, column) in columns.iter_mut().enumerate() {
                let taken = sums.iter().enumerate().filter(|(value, _)| value >> (p - j) & 1 == 1);
                let sum = taken.fold((0.0, 0.0), |sum, (_, &next)| add(sum, next));
                column.push(sum);
            }
        }
        for j in (1..=p).rev() {
            let bits = core::mem::take(&mut columns[j]);
            let powers = j.min(bits.len().ilog2() as usize);
            let mut e = vec![(0.0, 0.0); (1 << powers) + 1];
            e[0] = (1.0, 0.0);
            for bit in bits {
                for k in (1..e.len()).rev() {
                    e[k] = add(e[k], multiply(e[k - 1], bit));
                }
            }
            for power in 1..=powers {
                columns[j - power].push(e[1 << power]);
            }
            if j == 1 {
                columns[0].push(e[1]);
            }
        }
        columns[0].iter().fold((0.0, 0.0), |sum, &next| add(sum, next))
    }

    /// Margins of `a` by its values at the roots: at the worst coefficient of `a w`, and root mean square.
    pub(crate) fn margins(&self, values: &[Complex]) -> (f64, f64) {
        let n = self.params.dimension();
        // Coefficient i is the sum over h < n/2 of (2/n) Re(a/v(zeta_h) zeta_h^-i): a transform, padded, and twisted.
        let mut quotients = vec![(0.0, 0.0); n];
        for (h, (&a, &v)) in values.iter().zip(&self.secret).enumerate() {
            let square = v.0 * v.0 + v.1 * v.1;
            quotients[h] = multiply(a, (v.0 / square, -v.1 / square));
        }
        transform(&mut quotients, &self.roots, 2);
        let unit = mean_square_bits(self.params);
        let (mut worst, mut squares) = (0.0f64, 0.0);
        for (place, &q) in quotients.iter().enumerate() {
            // Bit-reversed place; zeta_h^-i = exp(-i pi i / n) exp(-2 pi i h i / n).
            let i = place.reverse_bits() >> (usize::BITS - n.ilog2());
            let (cos, sin) = self.roots[i];
            let coefficient = 2.0 / n as f64 * (q.0 * cos + q.1 * sin);
            worst = worst.max(coefficient.abs());
            squares += coefficient * coefficient;
        }
        (unit - worst.log2(), unit - 0.5 * (squares / n as f64).log2())
    }
}

/// `log2` of the root mean square of `|v(zeta)|`.
fn mean_square_bits(params: &Params) -> f64 {
    params.coefficient_bits() as f64 + 0.5 * (params.dimension() as f64 / 12.0).log2()
}

/// Discrete Fourier transform, `exp(-2 pi i jk / n)`; the values come out in bit-reversed order. `roots[stride k]` is `exp(2 pi i k / n)`.
fn transform(values: &mut [Complex], roots: &[Complex], stride: usize) {
    let n = values.len();
    if n < 2 {
        return;
    }
    let (low, high) = values.split_at_mut(n / 2);
    for ((x, y), &(cos, sin)) in low.iter_mut().zip(high.iter_mut()).zip(roots.iter().step_by(stride)) {
        let difference = (x.0 - y.0, x.1 - y.1);
        *x = add(*x, *y);
        *y = multiply(difference, (cos, -sin));
    }
    transform(low, roots, 2 * stride);
    transform(high, roots, 2 * stride);
}
