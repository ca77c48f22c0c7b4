//! The tree of moduli under `x^L - e(phase/4)`, `L = m 2^k`: its passes and twiddle factors.
//!
//! The first pass splits off the odd factor, `x^(mM) - c^m = prod_s (x^M - c e(s/m))`. Then each modulus `x^h - w^4`
//! splits by radix 4 or 8 down to tiles of 64 points (`fft::tile`). With `e(t) = exp(2 pi i t)`, the modulus of node
//! `j` of the `2^d` at depth `d` below subtree `s` is `x^(M/2^d) - e(a)`. Here
//! `a = ((phase + 4 s) + 4 m brv_d(j)) / (4 m 2^d)`, where `brv_d` reverses `d` bits.

use crate::buffer::AlignedVec;
use crate::fft::tile::{SCALARS, TILE, TileTwiddles};
use crate::root::Roots;

/// Points of a tile.
pub(super) const TILE_POINTS: usize = TILE * TILE;

/// Points in a gap: a row's part of a strip.
const GAP: usize = 16;

/// Largest number of rows of the top: two steps of radix 8, or the odd factor and one.
pub(super) const MAX_ROWS: usize = 64;

/// Largest odd factor.
pub(super) const MAX_ODD: usize = 7;

/// The split of every node of one length.
#[derive(Debug)]
pub(super) struct Step {
    /// Points of a node.
    pub(super) length: usize,
    /// Base-2 logarithm of the radix, 1 to 3.
    pub(super) radix_log: u32,
    /// Scalars of each node, in order.
    pub(super) twiddles: AlignedVec<f64>,
}

impl Step {
    /// Twiddle scalars of a node.
    pub(super) fn scalars(&self) -> usize {
        scalars(self.radix_log)
    }
}

fn scalars(radix_log: u32) -> usize {
    match radix_log {
        1 => 2,
        2 => 6,
        _ => SCALARS,
    }
}

/// Twiddle factors of one tree.
#[derive(Debug)]
pub(super) struct Tree {
    /// `m`: 1, 3, 5 or 7.
    pub(super) odd: usize,
    /// `M = 2^k`, at least 64.
    pub(super) subtree: usize,
    /// `c^j` for `j` in `0..m`.
    pub(super) first: [(f64, f64); MAX_ODD],
    /// `(cos, sin)` of `2 pi s / m`, `s` in `0..m`.
    pub(super) odd_roots: [(f64, f64); MAX_ODD],
    pub(super) steps: Vec<Step>,
    /// Free points behind each branch.
    gap: usize,
    rows: AlignedVec<f64>,
    columns: AlignedVec<f64>,
}

/// The stages of a transform of `odd * subtree` points, in order, with their twiddle factors: the odd factor, `steps`,
/// and tiles of 8 x 8 points.
#[derive(Debug, Clone)]
pub struct Stages<'a> {
    /// The odd factor `m`: 1, 3, 5 or 7.
    pub odd: usize,
    /// Points of a node below the odd factor, a power of two.
    pub subtree: usize,
    /// Twiddles of the odd factor, as real and imaginary parts: `c^j` for `j` in `0..7`, then `e(s/m)` for `s` in `0..7`.
    /// The twiddles with an index of `m` or more have no meaning.
    pub odd_twiddles: Vec<f64>,
    /// The base-2 logarithm of the radix of each step, and the twiddles of its nodes.
    pub steps: Vec<(u32, &'a [f64])>,
    /// Twiddles of the rows of the tiles: 10 for each tile.
    pub rows: &'a [f64],
    /// Twiddles of the columns of the tiles: 10 for each tile, each of them for 8 columns.
    pub columns: &'a [f64],
}

/// Returns the radices, as logarithms, that split `levels` levels: eights, then one or two fours (or a two if nothing
/// else remains).
pub(super) fn radices(levels: u32) -> Vec<u32> {
    let fours = match (levels, levels % 3) {
        (1, _) => return vec![1],
        (_, 0) => 0,
        (_, 2) => 1,
        _ => 2,
    };
    let mut out = vec![3; (levels as usize - 2 * fours) / 3];
    out.resize(out.len() + fours, 2);
    out
}

/// Angles of the nodes of a tree, in units of 1 / (4 m 2^(k+3)) of a turn, so that every twiddle below a node is an
/// integer number of units.
struct Angles {
    roots: Roots,
    odd: u64,
    phase: u64,
    /// Units in a turn.
    order: u64,
}

impl Angles {
    /// Angle, in units, of the modulus of node `j` at depth `depth` below subtree `s`.
    fn node(&self, s: u64, depth: u32, j: usize) -> u64 {
        let reversed = if depth == 0 { 0 } else { (j as u64).reverse_bits() >> (64 - depth) };
        let numerator = self.phase + 4 * s + 4 * self.odd * reversed;
        numerator * (self.order / ((4 * self.odd) << depth))
    }

    fn push(&self, out: &mut Vec<f64>, units: u64) {
        let (cos, sin) = self.roots.get(units);
        out.extend([cos, sin]);
    }

    /// Scalars of the split of a node.
    fn split(&self, out: &mut Vec<f64>, radix_log: u32, node: u64) {
        if radix_log == 1 {
            self.push(out, node / 2);
            return;
        }
        for power in 1..=3 {
            self.push(out, power * (node / 4));
        }
        if radix_log == 3 {
            self.push(out, node / 8);
            self.push(out, node / 8 + self.order / 8);
        }
    }
}

impl Tree {
    /// Makes the tree under `x^(odd * subtree) - e(phase/4)`, `phase` 0 or 1.
    pub(super) fn new(odd: usize, subtree: usize, phase: u64) -> Self {
        debug_assert!(subtree.is_power_of_two() && subtree >= TILE_POINTS && odd % 2 == 1);
        let levels = (subtree / TILE_POINTS).ilog2();
        let order = 4 * (odd * subtree) as u64;
        let angles = Angles { roots: Roots::new(order), odd: odd as u64, phase, order };
        let unit = |units| angles.roots.get(units);
        let first = core::array::from_fn(|j| unit(j as u64 * phase * (order / (4 * odd as u64))));
        let odd_roots = core::array::from_fn(|s| unit(s as u64 * (order / odd as u64)));

        let mut steps = Vec::new();
        let mut depth = 0;
        for radix_log in radices(levels) {
            let mut twiddles = Vec::new();
            for s in 0..odd as u64 {
                for j in 0..1_usize << depth {
                    angles.split(&mut twiddles, radix_log, angles.node(s, depth, j));
                }
            }
            debug_assert_eq!(twiddles.len(), (odd << depth) * scalars(radix_log));
            steps.push(Step { length: subtree >> depth, radix_log, twiddles: AlignedVec::from_slice(&twiddles) });
            depth += radix_log;
        }

        let tiles = odd * subtree / TILE_POINTS;
        let mut rows = Vec::with_capacity(tiles * SCALARS);
        let mut columns = Vec::with_capacity(tiles * SCALARS * TILE);
        let mut lanes = Vec::with_capacity(TILE * SCALARS);
        for s in 0..odd as u64 {
            for j in 0..1_usize << levels {
                angles.split(&mut rows, 3, angles.node(s, levels, j));
                lanes.clear();
                for row in 0..TILE {
                    angles.split(&mut lanes, 3, angles.node(s, levels + 3, j * TILE + row));
                }
                for scalar in 0..SCALARS {
                    columns.extend((0..TILE).map(|row| lanes[row * SCALARS + scalar]));
                }
            }
        }
        Self {
            odd,
            subtree,
            first,
            odd_roots,
            steps,
            gap: 0,
            rows: AlignedVec::from_slice(&rows),
            columns: AlignedVec::from_slice(&columns),
        }
    }

    /// The stages, for engines on other devices.
    pub(super) fn stages(&self) -> Stages<'_> {
        let odd_twiddles = self.first.iter().chain(&self.odd_roots).flat_map(|&(re, im)| [re, im]).collect();
        let steps = self.steps.iter().map(|step| (step.radix_log, &step.twiddles[..])).collect();
        let Self { odd, subtree, .. } = *self;
        Stages { odd, subtree, odd_twiddles, steps, rows: &self.rows, columns: &self.columns }
    }

    /// `L`.
    pub(super) fn points(&self) -> usize {
        self.odd * self.subtree
    }

    /// Returns the twiddles of tile number `tile`.
    #[inline(always)]
    pub(super) fn tile(&self, tile: usize) -> TileTwiddles {
        TileTwiddles::of_tile(&self.rows, &self.columns, tile)
    }

    /// Number of steps that belong to the top: one below an odd factor, two if there is no odd factor.
    #[inline(always)]
    pub(super) fn top_steps(&self) -> usize {
        self.steps.len().min(if self.odd > 1 { 1 } else { 2 })
    }

    /// The shape of the top.
    #[inline(always)]
    pub(super) fn top(&self) -> Top {
        let steps = &self.steps[..self.top_steps()];
        let (inner, branch) =
            steps.last().map_or((1, self.subtree), |step| (1 << step.radix_log, step.length >> step.radix_log));
        let outer = match steps {
            [first, _] => 1 << first.radix_log,
            _ => self.odd,
        };
        Top { outer, inner, branch, stride: branch + self.gap }
    }

    /// Adds a gap behind each branch. The rows of a column are then in different sets of the caches, although their
    /// distance would be a power of two.
    pub(super) fn with_gaps(self) -> Self {
        Self { gap: GAP, ..self }
    }

    /// Points between the first real and the first imaginary part, with the gaps. The distance is a quarter of 4 KiB
    /// past a multiple of it, for the same reason.
    pub(super) fn imaginary_offset(&self) -> usize {
        let Top { outer, inner, stride, .. } = self.top();
        if self.gap == 0 { self.points() } else { (outer * inner * stride).next_multiple_of(512) + 128 }
    }

    /// Points in gaps before a tile.
    #[inline(always)]
    pub(super) fn gaps_before(&self, tile: usize) -> usize {
        tile * TILE_POINTS / self.top().branch * self.gap
    }
}

/// The top of a tree. A first stage splits by `outer` (the odd factor, or the first of two steps), and a second stage
/// splits by `inner`, down to branches of `branch` points. A missing stage has radix 1.
pub(super) struct Top {
    pub(super) outer: usize,
    pub(super) inner: usize,
    pub(super) branch: usize,
    /// Points from a branch to the next.
    pub(super) stride: usize,
}

#[cfg(test)]
mod tests {
    use super::radices;

    #[test]
    fn radices_add_up_to_the_levels() {
        for levels in 0..24 {
            assert_eq!(radices(levels).iter().sum::<u32>(), levels);
        }
    }
}
