//! The transforms in portable code, one word at a time. They are the reference for the other kernels, and they serve
//! the small dimensions.
//!
//! Residues are in `0..4q` between levels (Harvey, "Faster arithmetic for number-theoretic transforms", 2014).

use super::modulus::{Shoup, reduce_once};
use super::{Modulus, plan::Table};

/// See [`super::NttPlan::forward`].
pub(super) fn forward(q: Modulus, table: &Table, x: &mut [u64]) {
    let (q2, mut length) = (2 * q.value(), x.len());
    while length > 1 {
        let nodes = x.len() / length;
        for (node, block) in x.chunks_exact_mut(length).enumerate() {
            let w = table.shoup(nodes + node);
            let (low, high) = block.split_at_mut(length / 2);
            for (a, b) in low.iter_mut().zip(high) {
                let (u, p) = (reduce_once(*a, q2), q.mul_shoup_lazy(*b, w));
                (*a, *b) = (u + p, u + q2 - p);
            }
        }
        length /= 2;
    }
    for x in x {
        *x = reduce_once(reduce_once(*x, q2), q.value());
    }
}

/// See [`super::NttPlan::inverse`].
pub(super) fn inverse(q: Modulus, table: &Table, x: &mut [u64]) {
    let (q2, mut length) = (2 * q.value(), 2);
    while length <= x.len() {
        let nodes = x.len() / length;
        for (node, block) in x.chunks_exact_mut(length).enumerate() {
            let w = table.shoup(nodes + node);
            let (low, high) = block.split_at_mut(length / 2);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (reduce_once(*a + *b, q2), q.mul_shoup_lazy(*a + q2 - *b, w));
            }
        }
        length *= 2;
    }
    let scale: Shoup = table.shoup(0);
    let (low, high) = x.split_at_mut(x.len() / 2);
    for x in low {
        *x = q.mul_shoup(*x, scale);
    }
    // The root's factor contains the scale.
    for x in high {
        *x = reduce_once(*x, q.value());
    }
}
