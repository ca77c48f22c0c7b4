//! Multiplication.

use super::{Adder, add, cast, same_width};
use crate::{Builder, NodeId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How partial products are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Multiplier {
    /// One partial product after the other, each added to the running sum.
    ShiftAndAdd(Adder),
    /// `oh2018`, section 3.2: all partial products at once, then pairs (first, last), (second, last but one), ... are added, level by
    /// level, by the adder of section 3.1; zeros pad their number to a power of two.
    Oh2018,
    /// Carry-save tree of full adders (XOR3 and MAJ), then one addition. With [`Adder::Ripple`] the tree goes on to the end: the fewest
    /// bootstraps, about `1.5 n^2` for the low half.
    CarrySave(Adder),
}

/// `x * y`, low half.
pub fn mul(b: &mut Builder, multiplier: Multiplier, x: &[NodeId], y: &[NodeId]) -> Vec<NodeId> {
    if !same_width(b, "mul", x, y) {
        return x.to_vec();
    }
    match multiplier {
        Multiplier::ShiftAndAdd(adder) => {
            let mut rows = partial_products(b, x, y).into_iter();
            let first = rows.next().unwrap_or_default();
            // Row i has i low zeros: only the bits above them are added.
            rows.enumerate().fold(first, |mut sum, (i, row)| {
                let high = add(b, adder, &sum[i + 1..], &row[i + 1..]);
                sum.splice(i + 1.., high);
                sum
            })
        }
        Multiplier::Oh2018 => pairing_tree(b, x, y),
        Multiplier::CarrySave(adder) => carry_save(b, adder, x, y),
    }
}

/// `x * y`, all `2n` bits.
pub fn mul_wide(b: &mut Builder, multiplier: Multiplier, signed: bool, x: &[NodeId], y: &[NodeId]) -> Vec<NodeId> {
    if !same_width(b, "mul", x, y) {
        return x.to_vec();
    }
    let (x, y) = (cast(b, x, signed, 2 * x.len()), cast(b, y, signed, 2 * y.len()));
    mul(b, multiplier, &x, &y)
}

/// Row `i` is `x[i] & (y << i)`, truncated to the width; its low `i` bits are constant.
fn partial_products(b: &mut Builder, x: &[NodeId], y: &[NodeId]) -> Vec<Vec<NodeId>> {
    let zero = b.constant(false);
    let row = |i: usize| {
        let mut bits = vec![zero; i];
        bits.extend(y[..x.len() - i].iter().map(|&y| b.and(x[i], y)));
        bits
    };
    (0..x.len()).map(row).collect()
}

fn pairing_tree(b: &mut Builder, x: &[NodeId], y: &[NodeId]) -> Vec<NodeId> {
    // M_1, which has the fewest bits, comes first.
    let mut terms = partial_products(b, x, y);
    terms.reverse();
    let zero = b.constant(false);
    let padded = terms.len().next_power_of_two();
    terms.splice(0..0, std::iter::repeat_n(vec![zero; x.len()], padded - x.len()));
    while terms.len() > 1 {
        let half = terms.len() / 2;
        let upper = terms.split_off(half);
        terms = terms.iter().zip(upper.iter().rev()).map(|(first, last)| add(b, Adder::Oh2018, last, first)).collect();
    }
    terms.pop().unwrap_or_default()
}

/// Full adders take the three earliest bits of a column, as in the three-dimensional method of Oklobdzija; no column passes a carry
/// before it is down to two bits (one bit when the last addition is a ripple).
fn carry_save(b: &mut Builder, adder: Adder, x: &[NodeId], y: &[NodeId]) -> Vec<NodeId> {
    let n = x.len();
    let mut columns: Vec<BinaryHeap<Reverse<(u32, NodeId)>>> = vec![BinaryHeap::new(); n];
    for (i, &x) in x.iter().enumerate() {
        for (column, &y) in columns[i..].iter_mut().zip(y) {
            let bit = b.and(x, y);
            if b.constant_value(bit) != Some(false) {
                column.push(Reverse((b.level(bit), bit)));
            }
        }
    }
    let keep = if adder == Adder::Ripple { 1 } else { 2 };
    let zero = b.constant(false);
    let mut rows = [Vec::with_capacity(n), Vec::with_capacity(n)];
    for k in 0..n {
        let mut column = std::mem::take(&mut columns[k]);
        while column.len() > keep {
            let mut next = || column.pop().map_or(zero, |Reverse((_, bit))| bit);
            let bits = [next(), next(), next()];
            let sum = b.xor3(bits[0], bits[1], bits[2]);
            column.push(Reverse((b.level(sum), sum)));
            if k + 1 < n {
                let carry = b.maj(bits[0], bits[1], bits[2]);
                columns[k + 1].push(Reverse((b.level(carry), carry)));
            }
        }
        let mut bits = column.into_iter().map(|Reverse((_, bit))| bit);
        rows.iter_mut().for_each(|row| row.push(bits.next().unwrap_or(zero)));
    }
    let [sum, rest] = rows;
    if keep == 1 { sum } else { add(b, adder, &sum, &rest) }
}
