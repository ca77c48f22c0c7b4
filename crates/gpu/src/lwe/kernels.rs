//! The kernels, and the shapes of their launches.

use super::work::Seed;
use crate::{Arg, Buffer, Device, Error, Kernel, Launch, Module};
use solinas_schemes::lwe::{Layout, Piece};

static MULTIPLY: Module = Module::new("lwe_multiply", include_str!("../../ptx/lwe_multiply.ptx"));
static SEEDED: Module = Module::new("lwe_seeded", include_str!("../../ptx/lwe_seeded.ptx"));
static EXPAND: Module = Module::new("lwe_expand", include_str!("../../ptx/lwe_expand.ptx"));
static REDUCE: Module = Module::new("lwe_reduce", include_str!("../../ptx/lwe_reduce.ptx"));
static RECONSTRUCT: Module = Module::new("lwe_reconstruct", include_str!("../../ptx/lwe_reconstruct.ptx"));

/// Threads of a block, unless the kernel states a smaller number.
const BLOCK: u32 = 256;
/// Words of a group of the generator.
const GROUP: usize = 256;
/// Words of the unit of the widths of tiles.
const UNIT: usize = 16;

/// The kernels on a device.
#[derive(Debug)]
pub(super) struct Kernels {
    multiply_1: Kernel,
    multiply_8: Kernel,
    seeded_whole: Kernel,
    seeded: Kernel,
    expand: Kernel,
    reduce: Kernel,
    pub(super) reconstruct: Kernel,
}

/// A range of rows of some tiles, cut into slices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) first_tile: usize,
    pub(super) tiles: usize,
    pub(super) first_row: usize,
    pub(super) rows: usize,
    /// The largest number of slices.
    pub(super) slices: usize,
}

impl Span {
    /// Rows of a slice, and the number of slices.
    fn slices(&self) -> (u32, u32) {
        let each = self.rows.div_ceil(self.slices).next_multiple_of(32);
        (each as u32, self.rows.div_ceil(each) as u32)
    }
}

/// Number of blocks of threads that share a period of the generator, for a tile of this width (see
/// `cuda/lwe/seeded.cu`).
pub(super) fn parts(width: usize) -> usize {
    let units = width / UNIT;
    (units * period_rows(units)).div_ceil(BLOCK as usize)
}

/// Rows of a period.
fn period_rows(units: usize) -> usize {
    16 >> units.trailing_zeros().min(4)
}

impl Kernels {
    pub(super) fn new(device: &Device) -> Result<Self, Error> {
        let load = |module, name| Kernel::load(device, module, name);
        Ok(Self {
            multiply_1: load(&MULTIPLY, "lwe_multiply_1")?,
            multiply_8: load(&MULTIPLY, "lwe_multiply_8")?,
            seeded_whole: load(&SEEDED, "lwe_seeded_whole")?,
            seeded: load(&SEEDED, "lwe_seeded")?,
            expand: load(&EXPAND, "lwe_expand")?,
            reduce: load(&REDUCE, "lwe_reduce")?,
            reconstruct: load(&RECONSTRUCT, "lwe_reconstruct")?,
        })
    }

    /// Adds the products of the rows of `span` to `sums`. `matrix` has these rows from word `start` on, tile by tile.
    pub(super) fn multiply(
        &self,
        [sums, matrix, factors]: [&Buffer<u32>; 3],
        start: usize,
        layout: &Layout,
        span: &Span,
        lanes: usize,
    ) -> Launch<'_> {
        let (per_slice, slices) = span.slices();
        let args = vec![
            Arg::write(sums),
            Arg::read(matrix),
            Arg::read(factors),
            (start as u64).into(),
            (span.first_tile as u32).into(),
            (layout.words() as u32).into(),
            (layout.padded_columns() as u32).into(),
            (span.rows as u32).into(),
            (span.first_row as u32).into(),
            (layout.padded_rows() as u32).into(),
            per_slice.into(),
        ];
        let kernel = if lanes == 1 { &self.multiply_1 } else { &self.multiply_8 };
        Launch { kernel, grid: [span.tiles as u32, slices, 1], block: BLOCK, shared: 0, args }
    }

    /// Adds the products of all rows of some tiles of one width to `sums`.
    pub(super) fn seeded(
        &self,
        seed: &Seed,
        [sums, factors]: [&Buffer<u32>; 2],
        layout: &Layout,
        span: &Span,
    ) -> Launch<'_> {
        let width = layout.width(layout.tile(span.first_tile).0);
        let (per_slice, slices) = span.slices();
        let mut args = vec![Arg::write(sums), Arg::read(factors), seed.first(), Arg::read(&seed.moduli)];
        let numbers = [
            span.first_tile,
            layout.words(),
            layout.padded_columns(),
            span.first_row,
            span.first_row + span.rows,
            layout.padded_rows(),
        ];
        args.extend(numbers.map(|number| Arg::from(number as u32)));
        args.push(per_slice.into());
        args.extend(seed.key.map(Arg::from));
        let kernel = if width.is_multiple_of(GROUP) { &self.seeded_whole } else { &self.seeded };
        Launch { kernel, grid: [span.tiles as u32, slices, parts(width) as u32], block: BLOCK, shared: 0, args }
    }

    /// Writes the rows of a piece to `matrix`, from word `start` on.
    pub(super) fn expand(
        &self,
        seed: &Seed,
        matrix: &Buffer<u32>,
        start: u64,
        layout: &Layout,
        piece: &Piece,
    ) -> Launch<'_> {
        let mut args = vec![Arg::write(matrix), seed.first(), Arg::read(&seed.moduli), start.into()];
        let numbers =
            [piece.tile, layout.words(), layout.padded_columns(), piece.first, piece.rows, layout.padded_rows()];
        args.extend(numbers.map(|number| Arg::from(number as u32)));
        args.extend(seed.key.map(Arg::from));
        let groups = (piece.words / GROUP) as u32;
        Launch { kernel: &self.expand, grid: [groups.div_ceil(16), 1, 1], block: BLOCK, shared: 0, args }
    }

    /// Writes the residues of `vectors` sums. The sums lie in groups of `lanes`.
    pub(super) fn reduce(
        &self,
        [residues, sums, moduli]: [&Buffer<u32>; 3],
        inverses: &Buffer<u64>,
        layout: &Layout,
        slices: usize,
        [vectors, lanes]: [usize; 2],
    ) -> Launch<'_> {
        let places = (layout.words() * layout.padded_columns()) as u32;
        let mut args = vec![Arg::write(residues), Arg::read(sums), Arg::read(moduli), Arg::read(inverses)];
        let numbers = [slices, lanes, layout.words(), layout.padded_columns()];
        args.extend(numbers.map(|number| Arg::from(number as u32)));
        let grid = [places.div_ceil(BLOCK), vectors as u32, 1];
        Launch { kernel: &self.reduce, grid, block: BLOCK, shared: 0, args }
    }
}
