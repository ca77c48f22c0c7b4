//! Differences of long integers, and the choice of one of two by their carries.

use crate::{Arg, Buffer, Device, Error, Kernel, Launch, Module, Stream};

static REDUCE: Module = Module::new("carry_reduce", include_str!("../../ptx/carry_reduce.ptx"));
static RESOLVE: Module = Module::new("carry_resolve", include_str!("../../ptx/carry_resolve.ptx"));

/// Words of a block of carries.
const CARRY_BLOCK: u32 = 2048;

/// Subtraction of long numbers, and the carries of all kernels that end with `resolve`.
#[derive(Debug)]
pub(super) struct Subtraction {
    subtract: Kernel,
    resolve: Kernel,
    select: Kernel,
}

/// The carries of a batch: the carries between blocks, and the carry out of each number.
#[derive(Debug)]
pub(super) struct Carries {
    pub(super) flags: Buffer<u32>,
    out: Buffer<u32>,
}

/// The numbers of a batch. `stride` is the number of words from one number to the next, or 0 if all items share one
/// number. `words` is the number of words that may differ from 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers<'a> {
    pub(super) buffer: &'a Buffer<u64>,
    pub(super) stride: usize,
    pub(super) words: usize,
}

/// The grid of a kernel that carries over `words` words of each item.
pub(super) fn carry_grid(words: usize, items: usize) -> [u32; 3] {
    [(words as u32).div_ceil(CARRY_BLOCK), items as u32, 1]
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

    /// Adds the carries between blocks to `items` numbers of `words` words, and `carry` to each.
    pub(super) fn resolve(
        &self,
        numbers: &Buffer<u64>,
        words: usize,
        items: usize,
        carry: u32,
        carries: &Carries,
    ) -> Launch<'_> {
        let args = vec![
            Arg::write(numbers),
            Arg::read(&carries.flags),
            Arg::write(&carries.out),
            (words as u32).into(),
            carry.into(),
        ];
        Launch { kernel: &self.resolve, grid: carry_grid(words, items), block: 32, shared: 0, args }
    }

    /// `differences <- x - y` modulo `2^(64 words)`, for items of `words` words. The carry out of an item is 1 if there is
    /// no borrow.
    pub(super) fn subtract(
        &self,
        differences: &Buffer<u64>,
        x: Numbers<'_>,
        y: Numbers<'_>,
        (words, items): (usize, usize),
        carries: &Carries,
    ) -> [Launch<'_>; 2] {
        let subtract = vec![
            Arg::write(differences),
            Arg::read(x.buffer),
            Arg::read(y.buffer),
            Arg::write(&carries.flags),
            (words as u32).into(),
            (x.stride as u32).into(),
            (y.stride as u32).into(),
            (y.words as u32).into(),
        ];
        [
            Launch { kernel: &self.subtract, grid: carry_grid(words, items), block: 256, shared: 0, args: subtract },
            self.resolve(differences, words, items, 1, carries),
        ]
    }

    /// Item `first` + i of `out` <- item i of `b` where the carry is 1, else of `a`, for items of `words` words, of which
    /// `out` takes `out_words`.
    pub(super) fn select(
        &self,
        (out, first, out_words): (&Buffer<u64>, usize, usize),
        a: &Buffer<u64>,
        b: &Buffer<u64>,
        (words, items): (usize, usize),
        carries: &Carries,
    ) -> Launch<'_> {
        let mut args = vec![Arg::write(out), Arg::read(a), Arg::read(b), Arg::read(&carries.out)];
        args.extend([words, out_words, first].map(|number| Arg::from(number as u32)));
        let grid = [(out_words as u32).div_ceil(256), items as u32, 1];
        Launch { kernel: &self.select, grid, block: 256, shared: 0, args }
    }
}
