//! Differences of long integers, and the choice of one of two by their carries.

use crate::{Arg, Buffer, Device, Error, Kernel, Launch, Module, Stream};

static REDUCE: Module = Module::new("carry_reduce", include_str!("../../ptx/carry_reduce.ptx"));
static RESOLVE: Module = Module::new("carry_resolve", include_str!("../../ptx/carry_resolve.ptx"));

/// Words of a block of carries.
const CARRY_BLOCK: u32 = 2048;

/// Subtraction of numbers of `words` words, with the buffers for the carries of a batch.
#[derive(Debug)]
pub(super) struct Subtraction {
    subtract: Kernel,
    resolve: Kernel,
    select: Kernel,
}

/// Carries of a batch: between blocks, and out of each number.
#[derive(Debug)]
pub(super) struct Carries {
    flags: Buffer<u32>,
    out: Buffer<u32>,
}

/// Numbers of a batch: words from one to the next (0 if all items share one), and words of each that are not zero.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers<'a> {
    pub(super) buffer: &'a Buffer<u64>,
    pub(super) stride: usize,
    pub(super) words: usize,
}

impl Subtraction {
    pub(super) fn new(device: &Device) -> Result<Self, Error> {
        let load = |module, name| Kernel::load(device, module, name);
        Ok(Self {
            subtract: load(&REDUCE, "carry_subtract")?,
            resolve: load(&RESOLVE, "carry_resolve")?,
            select: load(&REDUCE, "carry_select")?,
        })
    }

    /// Makes the buffers for `items` numbers of `words` words.
    pub(super) fn carries(stream: &Stream, words: usize, items: usize) -> Result<Carries, Error> {
        let blocks = (words as u32).div_ceil(CARRY_BLOCK) as usize;
        Ok(Carries {
            flags: stream.buffer(items * blocks, "the carries of a reduction")?,
            out: stream.buffer(items, "the carries of a reduction")?,
        })
    }

    /// `differences <- x - y` modulo `2^(64 words)`. The carry out of an item is 1 if there is no borrow.
    pub(super) fn subtract(
        &self,
        differences: &Buffer<u64>,
        x: Numbers<'_>,
        y: Numbers<'_>,
        carries: &Carries,
    ) -> [Launch<'_>; 2] {
        let items = carries.out.len() as u32;
        let words = differences.len() as u32 / items;
        let grid = [words.div_ceil(CARRY_BLOCK), items, 1];
        let subtract = vec![
            Arg::write(differences),
            Arg::read(x.buffer),
            Arg::read(y.buffer),
            Arg::write(&carries.flags),
            words.into(),
            (x.stride as u32).into(),
            (y.stride as u32).into(),
            (y.words as u32).into(),
        ];
        let resolve = vec![
            Arg::write(differences),
            Arg::read(&carries.flags),
            Arg::write(&carries.out),
            words.into(),
            1u32.into(),
        ];
        [
            Launch { kernel: &self.subtract, grid, block: 256, shared: 0, args: subtract },
            Launch { kernel: &self.resolve, grid, block: 32, shared: 0, args: resolve },
        ]
    }

    /// `out <- b` where the carry is 1, else `a`. Shape: `a` and `b` have as many words; `out` may have fewer in each item.
    pub(super) fn select(&self, out: &Buffer<u64>, a: &Buffer<u64>, b: &Buffer<u64>, carries: &Carries) -> Launch<'_> {
        let items = carries.out.len() as u32;
        let (words, out_words) = (a.len() as u32 / items, out.len() as u32 / items);
        let args =
            vec![Arg::write(out), Arg::read(a), Arg::read(b), Arg::read(&carries.out), words.into(), out_words.into()];
        Launch { kernel: &self.select, grid: [out_words.div_ceil(256), items, 1], block: 256, shared: 0, args }
    }
}
