//! The tree of a transform and its twiddle tables.
//!
//! A node of length `L` and angle `A` represents residues modulo `X^L - W^A`, where `W` is the root of unity of order
//! `D = m 2^32`. A pass of radix `r` leads to its `r` children, of length `L / r` and angles `(A + k D) / r`. With
//! `y = W^(A / r)`, it multiplies block `j` of the node by `y^j`, and transforms the blocks by `r` points. The root's
//! angle is 0 (modulo `X^n - 1`) or `D / 2` (modulo `X^n + 1`).

use super::element::{inv, mul, pow, root_of_unity};
use super::lanes::{Twiddle, encode_twiddle};
use super::naive;
use crate::Backend;
use crate::buffer::AlignedVec;

/// One level of the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    /// Children of a node.
    pub(super) radix: usize,
    /// Coefficients of a node.
    pub(super) len: usize,
    /// Start of its factors in the forward and in the inverse table, in words.
    pub(super) forward: usize,
    pub(super) inverse: usize,
}

/// The passes of a transform and their factors.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) passes: Vec<Pass>,
    /// For each pass except the last: for each node, `y^1..y^(r-1)`. For the last pass: for each block of eight nodes
    /// and each `j` in `1..8`, eight first words, then eight second words.
    pub(super) forward: AlignedVec<u64>,
    /// As `forward`, with inverses. For the last pass: for each node, eight first and eight second words of `y^-j / n`,
    /// `j` in `0..8`.
    pub(super) inverse: AlignedVec<u64>,
    /// The factors of a first pass of radix 5 or 17: see `points::rader`.
    pub(super) rader: AlignedVec<u64>,
    /// Whether the last two passes work on blocks of 64.
    pub(super) blocked: bool,
    /// `1 / n`.
    pub(super) scale: u64,
}

/// Returns whether a transform of `odd * 2^log` points ends in blocks of 64, which the vector kernels need.
pub(super) const fn blocked(log: u32) -> bool {
    log >= 6
}

/// Returns the place of child `k` of a node. Children are in bit-reversed order for powers of two.
pub(super) const fn child(radix: usize, k: usize) -> usize {
    if radix.is_power_of_two() && radix > 1 { k.reverse_bits() >> (usize::BITS - radix.trailing_zeros()) } else { k }
}

/// Radices from the root down.
fn radices(odd: usize, log: u32) -> Vec<usize> {
    let mut radices = Vec::new();
    if odd > 1 {
        radices.push(odd);
    }
    // Two of 8 at the end, and above them 8s, then 16s, as far as they go. With 16 rows, nodes of columns far apart
    // would not stay in the caches.
    let end = if blocked(log) { 6 } else { log - log % 3 };
    let rest = log - end;
    let (small, sixteens, eights) = match rest {
        0 => (0, 0, 0),
        1 | 2 => (rest, 0, 0),
        5 => (2, 0, 1),
        _ => (0, rest % 3, (rest - 4 * (rest % 3)) / 3),
    };
    if small > 0 {
        radices.push(1 << small);
    }
    radices.extend((0..eights).map(|_| 8));
    radices.extend((0..sixteens).map(|_| 16));
    radices.extend((0..end / 3).map(|_| 8));
    radices
}

/// Powers of the root `W`, by the bits of the exponent.
struct Powers([u64; 64]);

impl Powers {
    fn new(root: u64) -> Self {
        let mut square = root;
        Self(core::array::from_fn(|_| {
            let power = square;
            square = mul(square, square);
            power
        }))
    }
    fn get(&self, mut exponent: u64) -> u64 {
        let mut power = 1;
        while exponent != 0 {
            power = mul(power, self.0[exponent.trailing_zeros() as usize]);
            exponent &= exponent - 1;
        }
        power
    }
}

/// Writes the twiddles of one node, one after another.
fn put(table: &mut [u64], at: usize, twiddle: Twiddle) {
    table[at..at + 2].copy_from_slice(&twiddle);
}

/// Writes a twiddle into its lane of a group of eight.
fn put_lane(table: &mut [u64], group: usize, lane: usize, twiddle: Twiddle) {
    table[group + lane] = twiddle[0];
    table[group + 8 + lane] = twiddle[1];
}

/// Transform of `b[q] = w^(3^-q)`, where `w` is the root of unity of order `odd` in {5, 17}, divided by `odd - 1`, in
/// the order of [`child`]. Empty for other `odd`.
fn rader(odd: usize) -> Vec<u64> {
    let len = odd as u64 - 1;
    let roots = root_of_unity(odd as u64).zip(root_of_unity(len)).zip(inv(len));
    let Some(((root, small_root), scale)) = roots.filter(|_| matches!(odd, 5 | 17)) else { return Vec::new() };
    let mut exponents = vec![1];
    for q in 1..len as usize {
        // 1/3 is 3^(odd - 2).
        exponents.push((0..odd - 2).fold(exponents[q - 1], |e, _| 3 * e % odd as u64));
    }
    let b: Vec<u64> = exponents.iter().map(|&e| mul(scale, pow(root, e))).collect();
    let natural = naive::dft(&b, small_root, 0, 1);
    (0..len as usize).map(|i| natural[child(len as usize, i)]).collect()
}

impl Tables {
    /// Makes the tables for `odd * 2^log` points, `odd` in {1, 3, 5, 17}.
    pub(super) fn new(odd: usize, log: u32, negacyclic: bool, backend: Backend) -> Self {
        let len = odd << log;
        let order = (odd as u64) << 32;
        // Both exist: the order divides p - 1, and the length is not a multiple of p.
        let powers = Powers::new(root_of_unity(order).unwrap_or(1));
        let inverse_powers = Powers::new(root_of_unity(order).and_then(inv).unwrap_or(1));
        let scale = inv(len as u64).unwrap_or(1);

        let mut passes = Vec::new();
        let (mut forward_words, mut inverse_words, mut node_len) = (0, 0, len);
        let radices = radices(odd, log);
        for (i, &radix) in radices.iter().enumerate() {
            passes.push(Pass { radix, len: node_len, forward: forward_words, inverse: inverse_words });
            let (nodes, last) = (len / node_len, i + 1 == radices.len() && blocked(log));
            forward_words += 2 * nodes * (radix - 1);
            inverse_words += 2 * nodes * (radix - usize::from(!last));
            node_len /= radix;
        }
        // One word more, because the broadcasts of the vector units read half a word past a twiddle.
        let mut forward = AlignedVec::zeroed(forward_words + 1);
        let mut inverse = AlignedVec::zeroed(inverse_words + 1);

        let mut angles = vec![if negacyclic { order / 2 } else { 0 }];
        for (i, pass) in passes.iter().enumerate() {
            let radix = pass.radix;
            let last = i + 1 == passes.len() && blocked(log);
            for (node, &angle) in angles.iter().enumerate() {
                let (y, y_inverse) = (powers.get(angle / radix as u64), inverse_powers.get(angle / radix as u64));
                let (mut power, mut power_inverse) = (1, if last { scale } else { 1 });
                for j in 0..radix {
                    let (there, back) = (encode_twiddle(backend, power), encode_twiddle(backend, power_inverse));
                    if last {
                        put_lane(&mut inverse, pass.inverse + 16 * node, j, back);
                    }
                    if j > 0 && last {
                        put_lane(&mut forward, pass.forward + 16 * (7 * (node / 8) + j - 1), node % 8, there);
                    } else if j > 0 {
                        let at = 2 * (node * (radix - 1) + j - 1);
                        put(&mut forward, pass.forward + at, there);
                        put(&mut inverse, pass.inverse + at, back);
                    }
                    power = mul(power, y);
                    power_inverse = mul(power_inverse, y_inverse);
                }
            }
            if i + 1 < passes.len() {
                angles = angles
                    .iter()
                    .flat_map(|&angle| (0..radix).map(move |k| (angle + child(radix, k) as u64 * order) / radix as u64))
                    .collect();
            }
        }

        let factors = rader(odd);
        let mut rader = AlignedVec::zeroed(2 * factors.len() + 1);
        for (i, &factor) in factors.iter().enumerate() {
            put(&mut rader, 2 * i, encode_twiddle(backend, factor));
        }
        Self { passes, forward, inverse, rader, blocked: blocked(log), scale }
    }
}
