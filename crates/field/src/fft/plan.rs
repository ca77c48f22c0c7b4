//! Twiddle factors of a negacyclic transform.

use super::kernel::{FloatSink, FloatSource};
use super::tile::{TILE, TileTwiddles};
use crate::buffer::AlignedVec;
use crate::root::Roots;
use crate::{Backend, Error, kernels};

/// Largest ring dimension a plan supports.
pub const MAX_DIMENSION: usize = 1 << 16;

/// Plan of the negacyclic transform of real polynomials modulo `X^N + 1`. It holds twiddle factors and the back end.
///
/// Shape: a transformed polynomial is `N` floats, the `N/2` real parts and then the `N/2` imaginary parts. The order of
/// the points is the plan's own. In WebAssembly with vectors, the last bits of the floats differ from those of other
/// back ends: it has no fused multiply-add.
#[derive(Debug, Clone)]
pub struct NegacyclicPlan {
    pub(super) half: usize,
    /// Twiddles of the levels at strides of `T^2` and more: radix-4 nodes (6 scalars each). If the number of levels is
    /// odd, the radix-2 level follows (2 scalars a node).
    pub(super) strided: Vec<AlignedVec<f64>>,
    /// Per tile, the scalars of the first half of its levels.
    pub(super) rows: AlignedVec<f64>,
    /// Per tile, the vectors (8 lanes: the tile's rows) of the second half.
    pub(super) columns: AlignedVec<f64>,
    pub(super) backend: Backend,
}

/// Makes the twiddle factors of the nodes of the tree. Their rounding errors are noise of a bootstrap.
struct Nodes {
    /// Angles count in units of a turn over `order = 2N`.
    order: u64,
    roots: Roots,
}

impl Nodes {
    fn new(dimension: usize) -> Self {
        let order = 2 * dimension as u64;
        Self { order, roots: Roots::new(order) }
    }

    /// Angle of the root `w^2` of node `index` at `depth`: a quarter of a turn (the number `i`) at the top.
    fn angle(&self, depth: u32, index: usize) -> u64 {
        (0..depth).rev().fold(self.order / 4, |angle, bit| angle / 2 + (index >> bit & 1) as u64 * (self.order / 2))
    }

    fn push(&self, out: &mut Vec<f64>, angle: u64) {
        let (cos, sin) = self.roots.get(angle);
        out.extend([cos, sin]);
    }

    fn radix4(&self, out: &mut Vec<f64>, depth: u32, index: usize) {
        let angle = self.angle(depth, index);
        self.push(out, angle / 4);
        self.push(out, angle / 2);
        self.push(out, angle / 4 * 3);
    }

    fn radix2(&self, out: &mut Vec<f64>, depth: u32, index: usize) {
        self.push(out, self.angle(depth, index) / 2);
    }

    /// Scalars of the three levels below a node, in the order of the kernels: one radix-4 node, then the first and
    /// third of its children. The twiddles of the second and fourth child are those, times `i`.
    fn subtree(&self, depth: u32, index: usize) -> Vec<f64> {
        let mut out = Vec::new();
        self.radix4(&mut out, depth, index);
        for child in [4 * index, 4 * index + 2] {
            self.radix2(&mut out, depth + 2, child);
        }
        out
    }
}

fn aligned(values: &[f64]) -> AlignedVec<f64> {
    let mut out = AlignedVec::zeroed(values.len());
    out.copy_from_slice(values);
    out
}

impl NegacyclicPlan {
    /// Makes a plan for ring dimension `N`.
    ///
    /// # Errors
    /// [`Error::RingDimension`] unless `N` is a power of two in `2^8 ..= 2^16`.
    pub fn new(dimension: usize, backend: Backend) -> Result<Self, Error> {
        let area = TILE * TILE;
        if !dimension.is_power_of_two() || dimension < 4 * area || dimension > MAX_DIMENSION {
            return Err(Error::RingDimension { dimension, min: 4 * area, max: MAX_DIMENSION });
        }
        let half = dimension / 2;
        let levels = (half / area).ilog2();
        let nodes = Nodes::new(dimension);
        let mut strided = Vec::new();
        let mut depth = 0;
        while depth < levels {
            let mut pass = Vec::new();
            let odd = levels - depth == 1;
            for index in 0..1 << depth {
                if odd { nodes.radix2(&mut pass, depth, index) } else { nodes.radix4(&mut pass, depth, index) }
            }
            depth += if odd { 1 } else { 2 };
            strided.push(aligned(&pass));
        }
        let mut rows = Vec::new();
        let mut columns = Vec::new();
        for node in 0..half / area {
            rows.extend(nodes.subtree(levels, node));
            let lanes: Vec<Vec<f64>> =
                (0..TILE).map(|row| nodes.subtree(levels + TILE.ilog2(), node * TILE + row)).collect();
            for scalar in 0..lanes[0].len() {
                columns.extend(lanes.iter().map(|lane| lane[scalar]));
            }
        }
        Ok(Self { half, strided, rows: aligned(&rows), columns: aligned(&columns), backend })
    }

    /// Ring dimension `N`.
    pub fn dimension(&self) -> usize {
        2 * self.half
    }

    /// Tiles of a transformed polynomial.
    pub(crate) fn tiles(&self) -> usize {
        self.half / (TILE * TILE)
    }

    /// Twiddles of tile number `tile`.
    #[inline(always)]
    pub(crate) fn tile_twiddles(&self, tile: usize) -> TileTwiddles {
        TileTwiddles::of_tile(&self.rows, &self.columns, tile)
    }

    /// The twiddle factors, for kernels on other devices. First come the passes of the strided levels in order: for each
    /// node, the real and imaginary parts of `w`, `w^2` and `w^3` (radix 4), or of `w` (radix 2, if the number of levels
    /// is odd). Then come the rows of all tiles (10 floats each) and the columns of all tiles (10 runs of 8 floats).
    pub fn twiddles(&self) -> Vec<f64> {
        let parts = self.strided.iter().chain([&self.rows, &self.columns]);
        parts.flat_map(|part| part.iter().copied()).collect()
    }

    /// Back end on which the plan runs.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Transforms the real polynomial `src` (length `N`, coefficients in order) to `dst` (length `N`, see the type).
    pub fn forward(&self, src: &[f64], dst: &mut [f64]) {
        assert!(
            src.len() == self.dimension() && dst.len() == self.dimension(),
            "both slices hold N = {} floats",
            2 * self.half
        );
        let source = FloatSource { at: src.as_ptr(), half: self.half };
        // SAFETY: both slices hold N floats, as the kernel needs.
        unsafe { kernels::forward(self, source, dst.as_mut_ptr()) };
    }

    /// Computes the inverse of [`Self::forward`], times `scale`. Overwrites `src`.
    pub fn inverse(&self, src: &mut [f64], dst: &mut [f64], scale: f64) {
        assert!(
            src.len() == self.dimension() && dst.len() == self.dimension(),
            "both slices hold N = {} floats",
            2 * self.half
        );
        let scale = scale / self.half as f64;
        let sink = FloatSink { at: dst.as_mut_ptr(), half: self.half, scale };
        // SAFETY: both slices hold N floats, as the kernel needs.
        unsafe { kernels::inverse(self, src.as_mut_ptr(), sink) };
    }

    /// `dst[j] <- dst[j] + a[j] * b[j]` on transformed polynomials.
    pub fn multiply_accumulate(&self, dst: &mut [f64], a: &[f64], b: &[f64]) {
        let half = self.half;
        assert!(
            dst.len() == 2 * half && a.len() == 2 * half && b.len() == 2 * half,
            "all slices hold N = {} floats",
            2 * half
        );
        let (dst_re, dst_im) = dst.split_at_mut(half);
        let ((a_re, a_im), (b_re, b_im)) = (a.split_at(half), b.split_at(half));
        for j in 0..half {
            dst_re[j] = dst_re[j] + a_re[j] * b_re[j] - a_im[j] * b_im[j];
            dst_im[j] = dst_im[j] + a_re[j] * b_im[j] + a_im[j] * b_re[j];
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// FNV-1a of the bits of all twiddle factors.
    fn digest(plan: &NegacyclicPlan) -> u64 {
        let tables = plan.strided.iter().chain([&plan.rows, &plan.columns]);
        let bytes = tables.flat_map(|table| table.iter()).flat_map(|x| x.to_bits().to_le_bytes());
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    }

    #[test]
    fn twiddles_have_the_same_bits_on_every_platform() {
        let digests = [256, 512, 2048, 1 << 16].map(|n| digest(&NegacyclicPlan::new(n, Backend::Scalar).unwrap()));
        assert_eq!(
            digests,
            [0xe61a_ae6b_2184_bb43, 0x968f_fdeb_08a6_59be, 0xc53b_afa6_3b1e_cccb, 0x8de4_2b2d_a851_b3ee],
            "{digests:#x?}"
        );
    }
}
