//! Sums of residues modulo one number, by lists.

use super::modulus::{Modulus, Workspace, misfit};
use super::reduce::{Numbers, carry_grid};
use crate::complex::Lists;
use crate::{Arg, Buffer, Device, Error, Kernel, Launch, Module, Stream};
use solinas_bigint::Natural;

static SUMS: Module = Module::new("carry_sums", include_str!("../../ptx/carry_sums.ptx"));

/// Bits of the top of the modulus that a quotient takes.
const TOP_BITS: usize = 39;

/// The kernels of sums, and the reciprocal of the top of the modulus.
#[derive(Debug)]
pub(super) struct Sums {
    sums: Kernel,
    collect: Kernel,
    quotient: Kernel,
    /// Bits of the modulus that its top lacks.
    shift: u32,
    reciprocal: u64,
}

/// Sums of words as the kernel `carry_sums` writes them: their low 64 bits, and the others.
#[derive(Debug)]
pub(crate) struct WordSums {
    pub(crate) low: Buffer<u64>,
    pub(crate) high: Buffer<u32>,
}

impl WordSums {
    /// Makes the buffers for `items` sums of `words` words.
    ///
    /// # Errors
    /// [`Error::Memory`]; the errors of the device.
    pub(crate) fn new(stream: &Stream, words: usize, items: usize) -> Result<Self, Error> {
        let (low, high) = (stream.buffer(items * words, "sums")?, stream.buffer(items * words, "sums")?);
        Ok(Self { low, high })
    }
}

impl Sums {
    pub(super) fn new(device: &Device, value: &Natural) -> Result<Self, Error> {
        let load = |name| Kernel::load(device, &SUMS, name);
        let shift = value.bit_len().saturating_sub(TOP_BITS);
        let top = (value >> shift).to_u64().unwrap_or(u64::MAX) + u64::from(shift > 0);
        // The quotient of the modulus 1 may be anything: all residues are 0.
        let reciprocal = ((1u128 << 64) / u128::from(top.max(2))) as u64;
        let (sums, collect, quotient) = (load("carry_sums")?, load("carry_collect")?, load("carry_quotient")?);
        Ok(Self { sums, collect, quotient, shift: shift as u32, reciprocal })
    }
}

impl Modulus {
    /// Residue `first` + i of `out` <- the sum of the residues of `x` that list i names, modulo d. `out` may be `x`.
    /// Shape: fewer than `2^23` residues in a list. The kernel trusts the lists: the caller keeps each place below the
    /// number of residues of `x`.
    ///
    /// # Errors
    /// [`Error::Launch`] for other shapes.
    pub(crate) fn sums<'p>(
        &'p self,
        x: &Buffer<u64>,
        lists: &Lists,
        out: (&Buffer<u64>, usize),
        sums: &WordSums,
        workspace: &Workspace,
    ) -> Result<Vec<Launch<'p>>, Error> {
        let words = self.words as u32;
        let args = vec![
            Arg::read(x),
            Arg::read(&lists.starts),
            Arg::read(&lists.members),
            Arg::write(&sums.low),
            Arg::write(&sums.high),
            words.into(),
        ];
        let grid = [words.div_ceil(256), lists.items as u32, 1];
        let mut launches = vec![Launch { kernel: &self.sums.sums, grid, block: 256, shared: 0, args }];
        launches.extend(self.reduce_sums(sums, lists.items, out, workspace)?);
        Ok(launches)
    }

    /// Residue `first` + i of `out` <- sum i of words, modulo d. Shape: sums of fewer than `2^23` residues.
    ///
    /// # Errors
    /// [`Error::Launch`] for other shapes.
    pub(crate) fn reduce_sums<'p>(
        &'p self,
        sums: &WordSums,
        items: usize,
        out: (&Buffer<u64>, usize),
        workspace: &Workspace,
    ) -> Result<Vec<Launch<'p>>, Error> {
        let mut launches = self.collect(sums, &workspace.less, items, workspace)?.to_vec();
        launches.extend(self.reduce_wide(&workspace.less, items, out, workspace)?);
        Ok(launches)
    }

    /// `wide` <- sums of words with their carries: numbers of k + 1 words.
    ///
    /// # Errors
    /// [`Error::Launch`] for other shapes.
    pub(crate) fn collect<'p>(
        &'p self,
        sums: &WordSums,
        wide: &Buffer<u64>,
        items: usize,
        workspace: &Workspace,
    ) -> Result<[Launch<'p>; 2], Error> {
        let k = self.words;
        self.check(workspace, items)?;
        if sums.low.len() < items * k || sums.high.len() < items * k || wide.len() < items * (k + 1) {
            return Err(misfit(format!("{items} sums in {} words", sums.low.len().min(wide.len()))));
        }
        let args = vec![
            Arg::read(&sums.low),
            Arg::read(&sums.high),
            Arg::write(wide),
            Arg::write(&workspace.carries.flags),
            (k as u32).into(),
        ];
        let grid = carry_grid(k + 1, items);
        let collect = Launch { kernel: &self.sums.collect, grid, block: 256, shared: 0, args };
        Ok([collect, self.subtraction.resolve(wide, k + 1, items, 0, &workspace.carries)])
    }

    /// Residue `first` + i of `out` <- number i of `wide` modulo d. Shape: numbers of k + 1 words, below `2^23 d`.
    ///
    /// # Errors
    /// [`Error::Launch`] for other shapes.
    fn reduce_wide<'p>(
        &'p self,
        wide: &Buffer<u64>,
        items: usize,
        (out, first): (&Buffer<u64>, usize),
        workspace: &Workspace,
    ) -> Result<Vec<Launch<'p>>, Error> {
        let k = self.words;
        self.check(workspace, items)?;
        if wide.len() < items * (k + 1) || out.len() < (first + items) * k {
            return Err(misfit(format!("{items} items from {first} on in {} words", out.len())));
        }
        let args = vec![
            Arg::read(wide),
            Arg::read(&self.modulus),
            Arg::write(&workspace.remainder),
            Arg::write(&workspace.carries.flags),
            self.sums.reciprocal.into(),
            (k as u32).into(),
            self.sums.shift.into(),
        ];
        let grid = carry_grid(k + 1, items);
        let mut launches = vec![
            Launch { kernel: &self.sums.quotient, grid, block: 256, shared: 0, args },
            self.subtraction.resolve(&workspace.remainder, k + 1, items, 0, &workspace.carries),
        ];
        launches.extend(self.reduce_once((out, first, k), items, workspace));
        Ok(launches)
    }

    /// Residue i of `out` <- d less residue i of `x`, which is d for 0. `out` may be `x`.
    ///
    /// # Errors
    /// [`Error::Launch`] for other shapes.
    pub(crate) fn negate<'p>(
        &'p self,
        x: &Buffer<u64>,
        out: &Buffer<u64>,
        items: usize,
        workspace: &Workspace,
    ) -> Result<[Launch<'p>; 2], Error> {
        let k = self.words;
        self.check(workspace, items)?;
        if x.len() < items * k || out.len() < items * k {
            return Err(misfit(format!("{items} items in {} words", x.len().min(out.len()))));
        }
        let modulus = Numbers { buffer: &self.modulus, stride: 0, words: k };
        let x = Numbers { buffer: x, stride: k, words: k };
        Ok(self.subtraction.subtract(out, modulus, x, (k, items), &workspace.carries))
    }
}
