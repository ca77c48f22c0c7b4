//! The discrete Fourier transform by its definition: the oracle of the tests.

use super::element::{add, mul, pow, reduce};

/// `X[e] = sum_j x[j] root^(start + step e) j`, `e` in `0..len`, in natural order. Range: any words, out `0..P`. Quadratic time.
///
/// Cyclic: `root` of order `len`, `start = 0`, `step = 1`. Negacyclic: `root` of order `2 len`, `start = 1`, `step = 2`.
pub fn dft(x: &[u64], root: u64, start: u64, step: u64) -> Vec<u64> {
    (0..x.len() as u64)
        .map(|e| {
            let point = pow(root, start + step * e);
            x.iter().rev().fold(0, |sum, &x| add(mul(sum, point), reduce(x)))
        })
        .collect()
}

/// Product of two polynomials modulo `X^len - 1` (`sign = 1`) or `X^len + 1` (`sign = p - 1`). Range: any words, out
/// `0..P`. Quadratic time.
///
/// # Panics
/// Panics if the operands differ in length.
pub fn convolution(a: &[u64], b: &[u64], sign: u64) -> Vec<u64> {
    assert_eq!(a.len(), b.len(), "operands of one length");
    let mut product = vec![0; a.len()];
    for (i, &a) in a.iter().enumerate() {
        for (j, &b) in b.iter().enumerate() {
            let (at, wrapped) = if i + j < product.len() { (i + j, 1) } else { (i + j - product.len(), sign) };
            product[at] = add(product[at], mul(mul(a, b), wrapped));
        }
    }
    product
}
