//! Blind rotation (Chillotti, Gama, Georgieva, Izabachene 2016, algorithm 3): multiplies GLWE accumulators by
//! `X^(sum_i e_i s_i)`, where the bits `s_i` are encrypted.
//!
//! A key of independent bits takes one CMUX a bit ([`super::cmux`]). A block-binary key takes one step for each block of
//! bits, of which at most one is 1 ([`super::block`]). Both kinds of step share their shape. Between the strided levels of
//! the transforms, work goes tile by tile. The tiles of all digits are finished, multiplied by the key and transformed
//! back while they are in the first cache. A batch of accumulators shares each pass over the key, and a group of them
//! shares each load of it.

use super::block::Monomials;
use super::cmux::WORKING_POLYNOMIALS;
use super::team::{Crew, Seat};
use crate::buffer::AlignedVec;
use crate::fft::{NegacyclicPlan, Sink, TILE};
use crate::simd::F64Lanes;
use crate::torus::Decomposition;
use crate::{Backend, Error, kernels};

/// Plan of blind rotations: ring, GLWE dimension, decomposition, length of the blocks of the key, back end.
///
/// The key is a chain of blocks. A block holds the transformed GGSW ciphertexts of [`Self::block_bits`] bits, in
/// [`Self::block_len`] floats, in the order in which the products read them. The order is: each run of 8 points; each bit
/// of the block; each row (mask polynomials first, then the body, most significant digit first); each of the `k + 1`
/// output polynomials; 8 real parts and 8 imaginary parts.
#[derive(Debug, Clone)]
pub struct BlindRotation {
    pub(super) fft: NegacyclicPlan,
    pub(super) k: usize,
    pub(super) cut: Decomposition,
    pub(super) block_bits: usize,
    /// Monomials at the points of the transform, for blocks of more than one bit.
    pub(super) monomials: Option<Monomials>,
}

/// Working memory of one thread.
#[derive(Debug)]
pub struct Scratch {
    /// Working memory of a CMUX. There is none for blocks.
    words: AlignedVec<u32>,
    /// For each accumulator of a group, the rows of digits. The products overwrite them.
    work: AlignedVec<f64>,
    /// The same tile of each of these rows.
    tiles: AlignedVec<f64>,
}

/// Floats of a tile: real and imaginary parts.
pub(super) const SQUARE: usize = 2 * TILE * TILE;
/// Largest number of rows of a GGSW ciphertext.
pub(super) const MAX_ROWS: usize = 32;
/// Largest number of bits of a block.
pub const MAX_BLOCK_BITS: usize = 4;
/// Unused floats after each row of digits. Rows of a power of two would begin in the same set of the first cache.
const PADDING: usize = 72;

impl BlindRotation {
    /// Makes a plan for GLWE dimension `k`, ring dimension `N`, a decomposition, and keys whose blocks have `block_bits`
    /// bits. Blocks of one bit are for keys of independent bits.
    ///
    /// # Errors
    /// [`Error::RingDimension`], [`Error::GlweDimension`] unless `k` is in `1..=4`, [`Error::Decomposition`] if a GGSW
    /// ciphertext has too many rows, or [`Error::BlockBits`] unless `block_bits` is in `1..=4`.
    pub fn new(
        dimension: usize,
        k: usize,
        cut: Decomposition,
        block_bits: usize,
        backend: Backend,
    ) -> Result<Self, Error> {
        if !(1..=4).contains(&k) {
            return Err(Error::GlweDimension { k });
        }
        if (k + 1) * cut.levels() as usize > MAX_ROWS {
            return Err(Error::Decomposition { base_log: cut.base_log(), levels: cut.levels() });
        }
        if !(1..=MAX_BLOCK_BITS).contains(&block_bits) {
            return Err(Error::BlockBits { block_bits, max: MAX_BLOCK_BITS });
        }
        let fft = NegacyclicPlan::new(dimension, backend)?;
        let monomials = (block_bits > 1).then(|| Monomials::new(dimension));
        Ok(Self { fft, k, cut, block_bits, monomials })
    }

    /// Plan of the transform.
    pub fn fft(&self) -> &NegacyclicPlan {
        &self.fft
    }

    /// Rows of a GGSW ciphertext.
    pub fn rows(&self) -> usize {
        (self.k + 1) * self.cut.levels() as usize
    }

    /// Bits of a block of the key.
    pub fn block_bits(&self) -> usize {
        self.block_bits
    }

    /// Number of accumulators that share each load of the key.
    pub fn group(&self) -> usize {
        group(self.k + 1)
    }

    /// Floats of a transformed block of the key: `block_bits * rows * (k + 1) * N`.
    pub fn block_len(&self) -> usize {
        self.block_bits * self.rows() * (self.k + 1) * self.fft.dimension()
    }

    /// The tables of the monomials at the points of the transform, for kernels on other devices. First come the roots
    /// `e(i / 2N)` for `i` in `0..2N`, real and imaginary parts in turn. Then come the factors of the lanes, for each
    /// exponent modulo 64 the 8 real and the 8 imaginary parts. The last are the factors of the registers, for each exponent
    /// modulo 8 the real and imaginary parts in turn. There are none for blocks of one bit.
    pub fn monomials(&self) -> Vec<f64> {
        self.monomials.as_ref().map_or_else(Vec::new, Monomials::tables)
    }

    /// Words of an accumulator: `(k + 1) N`.
    pub fn accumulator_len(&self) -> usize {
        (self.k + 1) * self.fft.dimension()
    }

    /// Working memory for [`Self::blind_rotate`].
    pub fn scratch(&self) -> Scratch {
        let rows = self.working_rows();
        Scratch {
            words: AlignedVec::zeroed(self.working_words()),
            work: AlignedVec::zeroed(rows * self.row_stride()),
            tiles: self.tiles(),
        }
    }

    /// Memory for a tile of each row of digits.
    pub(super) fn tiles(&self) -> AlignedVec<f64> {
        AlignedVec::zeroed(self.working_rows() * SQUARE)
    }

    /// Rows of digits of a group of accumulators.
    fn working_rows(&self) -> usize {
        self.group() * self.rows()
    }

    /// Words of [`Scratch::words`].
    fn working_words(&self) -> usize {
        if self.monomials.is_some() { 0 } else { WORKING_POLYNOMIALS * self.fft.dimension() }
    }

    /// Floats from one row of digits to the next in the working memory.
    #[inline(always)]
    pub(super) fn row_stride(&self) -> usize {
        self.fft.dimension() + PADDING
    }

    /// Places one transformed polynomial of the GGSW ciphertext of bit `bit` of a block at row `row`, output `output`. The
    /// polynomial is in turns, scaled by `2/N`.
    pub fn place(&self, block: &mut [f64], bit: usize, row: usize, output: usize, transformed: &[f64]) {
        let (half, outputs, rows) = (self.fft.dimension() / 2, self.k + 1, self.rows());
        assert!(block.len() == self.block_len() && transformed.len() == 2 * half, "a block and a polynomial");
        assert!(bit < self.block_bits && row < rows && output < outputs, "a place in the block");
        for run in 0..half / TILE {
            let at = (((run * self.block_bits + bit) * rows + row) * outputs + output) * 2 * TILE;
            block[at..at + TILE].copy_from_slice(&transformed[run * TILE..][..TILE]);
            block[at + TILE..at + 2 * TILE].copy_from_slice(&transformed[half + run * TILE..][..TILE]);
        }
    }

    /// Rotates each accumulator by `sum_i exponents[i] s_i`, where `key` is the chain of the blocks of `GGSW(s_i)`.
    ///
    /// `accumulators` holds a batch of [`Self::accumulator_len`] words each. `exponents` holds one run for each of
    /// them, with one exponent (in `0..2N`) for each bit. Each block of the key is read once for the whole batch.
    pub fn blind_rotate(&self, key: &[f64], exponents: &[u16], accumulators: &mut [u32], scratch: &mut Scratch) {
        let call = self.call(key, exponents, accumulators, scratch);
        let alone = Seat { member: 0, members: 1, crew: &Crew::default() };
        // SAFETY: `call` checked the lengths.
        unsafe { self.run(call, alone) };
    }

    /// The pointers of a call.
    ///
    /// # Panics
    /// Panics if a length is wrong.
    pub(super) fn call(&self, key: &[f64], exponents: &[u16], accumulators: &mut [u32], scratch: &mut Scratch) -> Call {
        let blocks = key.len() / self.block_len();
        let batch = accumulators.len() / self.accumulator_len();
        let n = self.fft.dimension();
        assert!(key.len() == blocks * self.block_len(), "the key is whole blocks");
        assert!(
            accumulators.len() == batch * self.accumulator_len() && exponents.len() == blocks * self.block_bits * batch,
            "one exponent for each bit and accumulator"
        );
        assert!(exponents.iter().all(|&e| usize::from(e) < 2 * n), "exponents are below 2N");
        let rows = self.working_rows();
        assert!(
            scratch.words.len() == self.working_words()
                && scratch.work.len() == rows * self.row_stride()
                && scratch.tiles.len() == rows * SQUARE,
            "working memory of this plan"
        );
        Call {
            key: key.as_ptr(),
            blocks,
            exponents: exponents.as_ptr(),
            batch,
            accumulators: accumulators.as_mut_ptr(),
            words: scratch.words.as_mut_ptr(),
            work: scratch.work.as_mut_ptr(),
            tiles: scratch.tiles.as_mut_ptr(),
        }
    }

    /// The part of a rotation that a member of a team computes.
    ///
    /// # Safety
    /// `call` is from [`Self::call`], whose arguments are still borrowed, but each member has tiles of its own. All members
    /// of the team run it. There is one member if the key has independent bits.
    pub(super) unsafe fn run(&self, call: Call, seat: Seat<'_>) {
        // SAFETY: the caller's contract.
        unsafe {
            match &self.monomials {
                Some(monomials) => kernels::blind_rotate_blocks(self, monomials, call, seat),
                None => kernels::blind_rotate_bits(self, call),
            }
        }
    }
}

/// Pointers of one call of [`BlindRotation::blind_rotate`], lengths checked there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(super) key: *const f64,
    pub(super) blocks: usize,
    pub(super) exponents: *const u16,
    pub(super) batch: usize,
    pub(super) accumulators: *mut u32,
    pub(super) words: *mut u32,
    pub(super) work: *mut f64,
    pub(super) tiles: *mut f64,
}

/// Number of accumulators that share each load of the key, for a given number of output polynomials. It is the largest
/// whose sums fit in registers.
pub(super) const fn group(outputs: usize) -> usize {
    if outputs == 2 { 4 } else { 2 }
}

/// Adds to a polynomial of an accumulator.
#[derive(Clone, Copy)]
pub(super) struct Accumulate {
    pub(super) at: *mut u32,
    pub(super) half: usize,
}

impl<L: F64Lanes> Sink<L> for Accumulate {
    #[inline(always)]
    unsafe fn put(self, l: L, j: usize, re: L::V, im: L::V) {
        for (at, x) in [(j, re), (j + self.half, im)] {
            // SAFETY: the polynomial has 2 * half words.
            unsafe {
                let at = self.at.add(at);
                l.store_u32(at, l.add_u32(l.load_u32(at), l.to_torus(x)));
            }
        }
    }
}
