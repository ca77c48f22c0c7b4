//! Twiddle factors of a negacyclic transform.

use super::kernel::{FloatSink, FloatSource};
use super::tile::{TILE, TileTwiddles};
use crate::buffer::AlignedVec;
use crate::{Backend, Error, kernels};

/// Largest ring dimension a plan supports.
pub const MAX_DIMENSION: usize = 1 << 16;

/// Plan of the negacyclic transform of real polynomials modulo `X^N + 1`. It holds twiddle factors and the back end.
///
/// Shape: a transformed polynomial is `N` floats, the `N/2` real parts and then the `N/2` imaginary parts. The order of
/// the points is the plan's own.
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

/// Angle, in turns, of the root `w^2` of node `index` at `depth` of the tree: `1/4` (the number `i`) at the top.
fn angle(depth: u32, index: usize) -> f64 {
    (0..depth).rev().fold(0.25, |turns, bit| turns / 2.0 + ((index >> bit & 1) as f64) / 2.0)
}

/// Returns `(cos, sin)` of a dyadic angle in turns, nearly correctly rounded: the errors of the twiddle factors are
/// noise of a bootstrap.
///
/// The function reduces the angle exactly to an eighth of a turn on either side. It restores the rounding error of the
/// conversion to radians to first order.
fn unit_root(turns: f64) -> (f64, f64) {
    /// `2 pi` is `TAU` plus this.
    const TAU_REST: f64 = 2.449_293_598_294_706_4e-16;
    let quarters = (turns * 4.0).round();
    let reduced = turns - quarters / 4.0;
    let radians = core::f64::consts::TAU * reduced;
    let lost = core::f64::consts::TAU.mul_add(reduced, -radians) + TAU_REST * reduced;
    let (sin, cos) = radians.sin_cos();
    let (cos, sin) = (sin.mul_add(-lost, cos), cos.mul_add(lost, sin));
    match (quarters as i64).rem_euclid(4) {
        0 => (cos, sin),
        1 => (-sin, cos),
        2 => (-cos, -sin),
        _ => (sin, -cos),
    }
}

fn push(out: &mut Vec<f64>, turns: f64) {
    let (cos, sin) = unit_root(turns);
    out.extend([cos, sin]);
}

fn radix4(out: &mut Vec<f64>, depth: u32, index: usize) {
    let turns = angle(depth, index);
    push(out, turns / 4.0);
    push(out, turns / 2.0);
    push(out, turns * 3.0 / 4.0);
}

fn radix2(out: &mut Vec<f64>, depth: u32, index: usize) {
    push(out, angle(depth, index) / 2.0);
}

/// Scalars of the three levels below a node, in the order of the kernels: one radix-4 node, then the first and third of
/// its children. The twiddles of the second and fourth child are those, times `i`.
fn subtree(depth: u32, index: usize) -> Vec<f64> {
    let mut out = Vec::new();
    radix4(&mut out, depth, index);
    for child in [4 * index, 4 * index + 2] {
        radix2(&mut out, depth + 2, child);
    }
    out
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
        let mut strided = Vec::new();
        let mut depth = 0;
        while depth < levels {
            let mut pass = Vec::new();
            let odd = levels - depth == 1;
            for index in 0..1 << depth {
                if odd { radix2(&mut pass, depth, index) } else { radix4(&mut pass, depth, index) }
            }
            depth += if odd { 1 } else { 2 };
            strided.push(aligned(&pass));
        }
        let mut rows = Vec::new();
        let mut columns = Vec::new();
        for node in 0..half / area {
            rows.extend(subtree(levels, node));
            let lanes: Vec<Vec<f64>> = (0..TILE).map(|row| subtree(levels + TILE.ilog2(), node * TILE + row)).collect();
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
        for j in 0..half {
            dst_re[j] = dst_re[j] + a[j] * b[j] - a[half + j] * b[half + j];
            dst_im[j] = dst_im[j] + a[j] * b[half + j] + a[half + j] * b[j];
        }
    }
}
