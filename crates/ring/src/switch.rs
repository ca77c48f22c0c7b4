//! Digits of a polynomial against keys of two parts: each digit is made once for both, tower by tower.

use solinas_field::buffer::AlignedVec;

use crate::threads::{for_each_tower, for_each_tower_of_two};
use crate::{Basis, Hybrid, TowerGadget};

/// A polynomial in the transformed domain, and its coefficients, of which `tower(i, out)` writes tower `i` of the former.
fn both_domains(basis: &Basis, tower: impl Fn(usize, &mut [u64]) + Send + Sync) -> [AlignedVec<u64>; 2] {
    let mut out = [AlignedVec::zeroed(basis.words()), AlignedVec::zeroed(basis.words())];
    let [values, coefficients] = &mut out;
    for_each_tower_of_two([values, coefficients], basis.dimension(), |i, [values, coefficients], _| {
        tower(i, values);
        coefficients.copy_from_slice(values);
        basis.plan(i).inverse(coefficients);
    });
    out
}

/// The digits of a polynomial by groups of towers.
#[derive(Debug)]
pub struct HybridDigits<'a> {
    plan: &'a Hybrid,
    values: AlignedVec<u64>,
    /// `x_i (Q_g/q_i)^-1 mod q_i`, of whose combinations the digits are.
    shares: AlignedVec<u64>,
}

impl Hybrid {
    /// The digits of the polynomial modulo `Q` of which `tower(i, out)` writes tower `i` in the transformed domain. One inverse transform a tower.
    pub fn digits(&self, tower: impl Fn(usize, &mut [u64]) + Send + Sync) -> HybridDigits<'_> {
        let [values, mut shares] = both_domains(&self.basis, tower);
        let group = self.groups[0].1.from().len();
        for_each_tower(&mut shares, self.basis.dimension(), |i, words| {
            let (first, conversion) = &self.groups[i / group];
            self.basis.pointwise(i).scale(words, conversion.inverses[i - first]);
        });
        HybridDigits { plan: self, values, shares }
    }
}

impl HybridDigits<'_> {
    /// Adds tower `i` (of `Q`, then of `P`) of `sum_g digit_g (b_g, a_g)` to `sums`; `key(g)` is that tower of `(b_g, a_g)`. One transform for each group that
    /// does not hold the tower. Shape: N words each.
    pub fn accumulate<'k>(
        &self,
        i: usize,
        key: impl Fn(usize) -> [&'k [u64]; 2],
        sums: [&mut [u64]; 2],
        digit: &mut [u64],
    ) {
        let (n, extended) = (self.plan.basis.dimension(), self.plan.extended());
        let ops = extended.pointwise(i);
        let [b_sum, a_sum] = sums;
        for (g, (first, conversion)) in self.plan.groups.iter().enumerate() {
            let towers = *first..first + conversion.from().len();
            let [b, a] = key(g);
            let digit: &[u64] = if towers.contains(&i) {
                &self.values[i * n..][..n]
            } else {
                digit.fill(0);
                conversion.combine(&self.shares[first * n..][..towers.len() * n], i, digit);
                extended.plan(i).forward(digit);
                digit
            };
            ops.multiply_add(b_sum, digit, b);
            ops.multiply_add(a_sum, digit, a);
        }
    }
}

/// The digits of a polynomial, tower by tower.
#[derive(Debug)]
pub struct TowerDigits<'a> {
    plan: &'a TowerGadget,
    values: AlignedVec<u64>,
    coefficients: AlignedVec<u64>,
}

impl TowerGadget {
    /// The digits of the polynomial of which `tower(i, out)` writes tower `i` in the transformed domain. One inverse transform a tower.
    pub fn digits(&self, tower: impl Fn(usize, &mut [u64]) + Send + Sync) -> TowerDigits<'_> {
        let [values, coefficients] = both_domains(&self.basis, tower);
        TowerDigits { plan: self, values, coefficients }
    }
}

impl TowerDigits<'_> {
    /// Adds tower `i` of `sum_d digit_d (b_d, a_d)` to `sums`; `key(d)` is that tower of `(b_d, a_d)`. One transform a digit. Shape: N words each.
    pub fn accumulate<'k>(
        &self,
        i: usize,
        key: impl Fn(usize) -> [&'k [u64]; 2],
        sums: [&mut [u64]; 2],
        digit: &mut [u64],
    ) {
        let TowerGadget { basis, bits, digits } = self.plan;
        let (n, ops) = (basis.dimension(), basis.pointwise(i));
        let mask = (1 << bits) - 1;
        let [b_sum, a_sum] = sums;
        for (d, &(tower, shift)) in digits.iter().enumerate() {
            let [b, a] = key(d);
            let digit: &[u64] = if tower == i && basis.modulus(i).bits() <= *bits {
                &self.values[i * n..][..n]
            } else {
                let from = &self.coefficients[tower * n..][..n];
                digit.iter_mut().zip(from).for_each(|(digit, &x)| *digit = (x >> shift) & mask);
                ops.reduce(digit);
                basis.plan(i).forward(digit);
                digit
            };
            ops.multiply_add(b_sum, digit, b);
            ops.multiply_add(a_sum, digit, a);
        }
    }
}
