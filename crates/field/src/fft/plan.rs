//! Twiddle factors of a negacyclic transform.

use super::kernel::{FloatSink, FloatSource};
use crate::buffer::AlignedVec;
use crate::simd::Float;
use crate::{Backend, Error};

/// Largest ring dimension a plan supports.
pub const MAX_DIMENSION: usize = 1 << 16;

/// Plan of the negacyclic transform of real polynomials modulo `X^N + 1`: twiddle factors, tile size, back end.
///
/// A transformed polynomial is `N` floats: the `N/2` real parts, then the `N/2` imaginary parts, in the order the plan leaves them.
#[derive(Debug, Clone)]
pub struct NegacyclicPlan<F> {
    pub(super) half: usize,
    pub(super) tile: usize,
    /// Levels at strides of `T^2` and more: radix-4 nodes (6 scalars), then the radix-2 level if their number is odd (2 scalars a node).
    pub(super) strided: Vec<AlignedVec<F>>,
    /// Per tile, the scalars of the first half of its levels.
    pub(super) rows: AlignedVec<F>,
    /// Per tile, the vectors (`T` lanes: the tile's rows) of the second half.
    pub(super) columns: AlignedVec<F>,
    pub(super) backend: Backend,
}

/// Angle, in turns, of the root `w^2` of node `index` at `depth` of the tree: `1/4` (the number `i`) at the top.
fn angle(depth: u32, index: usize) -> f64 {
    (0..depth).rev().fold(0.25, |turns, bit| turns / 2.0 + ((index >> bit & 1) as f64) / 2.0)
}

fn push<F: Float>(out: &mut Vec<F>, turns: f64) {
    let (sin, cos) = (core::f64::consts::TAU * turns).sin_cos();
    out.extend([F::from_f64(cos), F::from_f64(sin)]);
}

fn radix4<F: Float>(out: &mut Vec<F>, depth: u32, index: usize) {
    let turns = angle(depth, index);
    push(out, turns / 4.0);
    push(out, turns / 2.0);
    push(out, turns * 3.0 / 4.0);
}

fn radix2<F: Float>(out: &mut Vec<F>, depth: u32, index: usize) {
    push(out, angle(depth, index) / 2.0);
}

/// Scalars of the `log2 tile` levels below a node, in the order `subtree` uses them: one radix-4 node, then its four children.
fn subtree<F: Float>(tile: usize, depth: u32, index: usize) -> Vec<F> {
    let mut out = Vec::new();
    radix4(&mut out, depth, index);
    for child in 4 * index..4 * index + 4 {
        if tile == 16 { radix4(&mut out, depth + 2, child) } else { radix2(&mut out, depth + 2, child) }
    }
    out
}

fn aligned<F: Float>(values: &[F]) -> AlignedVec<F> {
    let mut out = AlignedVec::zeroed(values.len());
    out.copy_from_slice(values);
    out
}

impl<F: Float> NegacyclicPlan<F> {
    /// Plan for ring dimension `N` with the tiles of `F`.
    ///
    /// # Errors
    /// [`Error::RingDimension`] unless `N` is a power of two in `2 T^2 ..= 2^16` (`T` = 16 for `f32`, 8 for `f64`).
    pub fn new(dimension: usize, backend: Backend) -> Result<Self, Error> {
        Self::with_tile(dimension, F::TILE, backend)
    }

    /// Plan whose output order is that of another float type's tiles: `16` for `f32`, `8` for `f64`.
    ///
    /// # Errors
    /// [`Error::RingDimension`] as for [`Self::new`].
    pub fn with_tile(dimension: usize, tile: usize, backend: Backend) -> Result<Self, Error> {
        let tile = if tile == 16 { 16 } else { 8 };
        let area = tile * tile;
        if !dimension.is_power_of_two() || dimension < 2 * area || dimension > MAX_DIMENSION {
            return Err(Error::RingDimension { dimension, min: 2 * area, max: MAX_DIMENSION });
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
        let log_tile = tile.ilog2();
        let mut rows = Vec::new();
        let mut columns = Vec::new();
        for node in 0..half / area {
            rows.extend(subtree::<F>(tile, levels, node));
            let lanes: Vec<Vec<F>> = (0..tile).map(|row| subtree(tile, levels + log_tile, node * tile + row)).collect();
            for scalar in 0..lanes[0].len() {
                columns.extend(lanes.iter().map(|lane| lane[scalar]));
            }
        }
        Ok(Self { half, tile, strided, rows: aligned(&rows), columns: aligned(&columns), backend })
    }

    /// Ring dimension `N`.
    pub fn dimension(&self) -> usize {
        2 * self.half
    }

    /// Back end the plan runs on.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// `T`, which fixes the order of the output.
    pub fn tile(&self) -> usize {
        self.tile
    }

    /// Transforms the real polynomial `src` (length `N`, coefficients in order) to `dst` (length `N`, see the type).
    pub fn forward(&self, src: &[F], dst: &mut [F]) {
        assert!(
            src.len() == self.dimension() && dst.len() == self.dimension(),
            "both slices hold N = {} floats",
            2 * self.half
        );
        let source = FloatSource { at: src.as_ptr(), half: self.half };
        // SAFETY: both slices hold N floats, as the kernel needs.
        unsafe { F::forward(self, source, dst.as_mut_ptr()) };
    }

    /// Inverse of [`Self::forward`], times `scale`; `src` is overwritten.
    pub fn inverse(&self, src: &mut [F], dst: &mut [F], scale: F) {
        assert!(
            src.len() == self.dimension() && dst.len() == self.dimension(),
            "both slices hold N = {} floats",
            2 * self.half
        );
        let scale = F::from_f64(scale.to_f64() / self.half as f64);
        let sink = FloatSink { at: dst.as_mut_ptr(), half: self.half, scale };
        // SAFETY: both slices hold N floats, as the kernel needs.
        unsafe { F::inverse(self, src.as_mut_ptr(), sink) };
    }

    /// `dst[j] <- dst[j] + a[j] * b[j]` on transformed polynomials.
    pub fn multiply_accumulate(&self, dst: &mut [F], a: &[F], b: &[F]) {
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
