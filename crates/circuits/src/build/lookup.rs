//! Lookup in public tables, and selection among encrypted values.

use super::{reduce, select};
use crate::{BinaryOp, Builder, Error, Natural, NodeId};
use std::collections::HashMap;

/// A truth table of up to 256 entries.
type Table = [u64; 4];

/// `table[index]`, in `width` bits. The index has at most 8 bits, and the table has `2^len(index)` entries.
///
/// Each output bit is a tree of multiplexers. Equal and complementary subtrees are shared, so tables such as parities and thresholds shrink to chains.
pub fn lookup(b: &mut Builder, table: &[Natural], index: &[NodeId], width: usize) -> Vec<NodeId> {
    if index.len() > 8 || table.len() != 1 << index.len() {
        b.fail(Error::BadWidth {
            op: "lookup",
            expected: "an index of at most 8 bits and 2^width table entries, not",
            got: index.len(),
        });
        return b.constant_bits(0, width);
    }
    let mut memo = HashMap::new();
    (0..width)
        .map(|bit| {
            let mut truth = Table::default();
            for (i, entry) in table.iter().enumerate() {
                truth[i / 64] |= u64::from(entry.bit(bit)) << (i % 64);
            }
            tree(b, &mut memo, truth, index)
        })
        .collect()
}

/// `values[index]`, as a tree of multiplexers. An index beyond the end selects the last value. There is at least one value, and all have the same width.
pub fn index(b: &mut Builder, index: &[NodeId], values: &[&[NodeId]]) -> Vec<NodeId> {
    let levels = levels(values.len()).min(index.len());
    let (low, high) = index.split_at(levels);
    let beyond = reduce(b, BinaryOp::Or, high, false);
    let mut rest: Vec<_> = values.iter().take(1 << levels).map(|value| value.to_vec()).collect();
    let Some(last) = rest.last().cloned() else { return Vec::new() };
    for &bit in low {
        let bit = b.or(bit, beyond);
        // The last value serves every index beyond the end.
        rest = rest.chunks(2).map(|pair| select(b, bit, pair.get(1).unwrap_or(&last), &pair[0])).collect();
    }
    rest.swap_remove(0)
}

/// Number of bits that distinguish the given number of values.
pub(crate) const fn levels(values: usize) -> usize {
    (usize::BITS - values.saturating_sub(1).leading_zeros()) as usize
}

/// Keeps the low `2^k` entries.
fn mask(table: Table, k: usize) -> Table {
    let entries = 1usize << k;
    std::array::from_fn(|word| match entries.saturating_sub(64 * word) {
        0 => 0,
        left if left >= 64 => table[word],
        left => table[word] & ((1 << left) - 1),
    })
}

/// The `2^k` entries from entry `2^k` on.
fn upper(table: Table, k: usize) -> Table {
    match k {
        7 => [table[2], table[3], 0, 0],
        6 => [table[1], 0, 0, 0],
        _ => [table[0] >> (1 << k), 0, 0, 0],
    }
}

/// Shannon expansion by the top index bit, at most 8 levels deep. A table shares its node with its complement.
fn tree(b: &mut Builder, memo: &mut HashMap<(usize, Table), NodeId>, table: Table, index: &[NodeId]) -> NodeId {
    let Some((&sel, rest)) = index.split_last() else { return b.constant(table[0] & 1 == 1) };
    if table[0] & 1 == 1 {
        let complement = mask(table.map(|word| !word), index.len());
        let node = tree(b, memo, complement, index);
        return b.not(node);
    }
    if let Some(&node) = memo.get(&(index.len(), table)) {
        return node;
    }
    let k = rest.len();
    let if_false = tree(b, memo, mask(table, k), rest);
    let if_true = tree(b, memo, mask(upper(table, k), k), rest);
    let node = b.mux(sel, if_true, if_false);
    memo.insert((index.len(), table), node);
    node
}
