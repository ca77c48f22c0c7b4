//! Multiplication, and sums of many terms.

use super::{Adder, add, cast, same_width};
use crate::{Builder, NodeId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Memory of one bit of a sum in its column, bytes. The column grows by doubling.
const BIT_BYTES: u64 = 1 << 5;

/// Method by which partial products are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Multiplier {
    /// Adds the partial products to a running sum, one after the other.
    ShiftAndAdd(Adder),
    /// `oh2018`, section 3.2: computes all partial products at once. The adder of section 3.1 then adds pairs (first, last), (second, last but one), ...,
    /// level by level. Zeros pad the number of partial products to a power of two.
    Oh2018,
    /// Carry-save tree of full adders (XOR3 and MAJ), followed by one addition. With [`Adder::Ripple`] the tree continues to the end. This needs the fewest
    /// bootstraps, about `1.5 n^2` for the low half.
    CarrySave(Adder),
}

/// The low half of `x * y`.
pub fn mul(b: &mut Builder, multiplier: Multiplier, x: &[NodeId], y: &[NodeId]) -> Vec<NodeId> {
    if !same_width(b, "mul", x, y) {
        return x.to_vec();
    }
    match multiplier {
        Multiplier::ShiftAndAdd(adder) => {
            let mut rows = partial_products(b, x, y).into_iter();
            let first = rows.next().unwrap_or_default();
            // Row i has i low zeros, so only the bits above them are added.
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

/// Row `i` is `x[i] & (y << i)`, truncated to the width. Its low `i` bits are constant.
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

/// Bits of the same weight, the earliest first.
type Column = BinaryHeap<Reverse<(u32, NodeId)>>;

fn carry_save(b: &mut Builder, adder: Adder, x: &[NodeId], y: &[NodeId]) -> Vec<NodeId> {
    let mut columns = vec![Column::new(); x.len()];
    for (i, &x) in x.iter().enumerate() {
        for (column, &y) in columns[i..].iter_mut().zip(y) {
            let bit = b.and(x, y);
            push(b, column, bit);
        }
    }
    add_columns(b, adder, columns)
}

/// The sum of terms of the same width. There is at least one term.
pub fn sum(b: &mut Builder, multiplier: Multiplier, adder: Adder, terms: &[&[NodeId]]) -> Vec<NodeId> {
    let Some((first, others)) = terms.split_first() else { return Vec::new() };
    if !others.iter().all(|term| same_width(b, "sum", first, term)) {
        return first.to_vec();
    }
    if !b.may_take(terms.len() as u64 * first.len() as u64 * BIT_BYTES) {
        return first.to_vec();
    }
    if let Multiplier::CarrySave(_) = multiplier {
        let mut columns = vec![Column::new(); first.len()];
        for term in terms {
            if !b.step() {
                return first.to_vec();
            }
            columns.iter_mut().zip(*term).for_each(|(column, &bit)| push(b, column, bit));
        }
        return add_columns(b, adder, columns);
    }
    let mut terms: Vec<_> = terms.iter().map(|term| term.to_vec()).collect();
    while terms.len() > 1 {
        terms =
            terms.chunks(2).map(|pair| pair[1..].iter().fold(pair[0].clone(), |x, y| add(b, adder, &x, y))).collect();
    }
    terms.swap_remove(0)
}

/// The sum of single bits, in as many bits.
pub(super) fn sum_bits(b: &mut Builder, multiplier: Multiplier, bits: &[NodeId]) -> Vec<NodeId> {
    let adder = match multiplier {
        Multiplier::ShiftAndAdd(adder) | Multiplier::CarrySave(adder) => adder,
        Multiplier::Oh2018 => Adder::Oh2018,
    };
    // Columns beyond the length of the largest sum stay empty.
    let count = (usize::BITS - bits.len().leading_zeros()) as usize;
    let mut columns = vec![Column::new(); count.min(bits.len())];
    if let Some(lowest) = columns.first_mut() {
        bits.iter().for_each(|&bit| push(b, lowest, bit));
    }
    let sum = add_columns(b, adder, columns);
    cast(b, &sum, false, bits.len())
}

fn push(b: &Builder, column: &mut Column, bit: NodeId) {
    if b.constant_value(bit) != Some(false) {
        column.push(Reverse((b.level(bit), bit)));
    }
}

/// The sum of columns, modulo `2^columns`.
fn add_columns(b: &mut Builder, adder: Adder, mut columns: Vec<Column>) -> Vec<NodeId> {
    if adder == Adder::Ripple {
        // Column by column to the end: this needs the fewest full adders, and is no deeper than the ripple itself.
        compress(b, &mut columns, 1);
    } else {
        // Dadda's tree has heights 2, 3, 4, 6, 9, 13, ..., counted from the last level.
        let tallest = columns.iter().map(BinaryHeap::len).max().unwrap_or(0);
        let heights: Vec<_> =
            std::iter::successors(Some(2), |h| Some(h * 3 / 2)).take_while(|h| *h < tallest).collect();
        heights.into_iter().rev().for_each(|height| compress(b, &mut columns, height));
    }
    let zero = b.constant(false);
    let mut row =
        || columns.iter_mut().map(|column| column.pop().map_or(zero, |Reverse((_, bit))| bit)).collect::<Vec<_>>();
    let (sum, rest) = (row(), row());
    if adder == Adder::Ripple { sum } else { add(b, adder, &sum, &rest) }
}

/// Reduces each column to at most `height` bits. Adders take the earliest bits of a column, and their carries go to the next column.
fn compress(b: &mut Builder, columns: &mut [Column], height: usize) {
    let zero = b.constant(false);
    for k in 0..columns.len() {
        let mut column = std::mem::take(&mut columns[k]);
        let mut sums = Vec::new();
        while column.len() + sums.len() > height && b.check().is_ok() {
            // A column with one bit too many takes a half adder, otherwise full adders. In a tree, sums wait for the next level.
            let half = column.len() + sums.len() == height + 1;
            if column.len() < if half { 2 } else { 3 } {
                column.extend(sums.drain(..));
            }
            let mut next = || column.pop().map_or(zero, |Reverse((_, bit))| bit);
            let bits = [next(), next(), if half { zero } else { next() }];
            let sum = b.xor3(bits[0], bits[1], bits[2]);
            if height == 1 {
                column.push(Reverse((b.level(sum), sum)))
            } else {
                sums.push(Reverse((b.level(sum), sum)))
            }
            if let Some(above) = columns.get_mut(k + 1) {
                let carry = b.maj(bits[0], bits[1], bits[2]);
                above.push(Reverse((b.level(carry), carry)));
            }
        }
        column.extend(sums);
        columns[k] = column;
    }
}
