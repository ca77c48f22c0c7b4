//! Bases on a device.

use super::kernels::{BLOCK, Kernels, TILE};
use super::poly::{MAX_ITEMS, Polys};
use crate::{Arg, Buffer, Error, Kernel, Launch, Stream};
use solinas_field::prime::Shoup;
use solinas_ring::{Basis, Domain, RnsPoly};
use std::ops::Range;
use std::sync::Arc;

/// Largest dimension, as `log2 N`.
const MAX_LOG: u32 = 16;

/// Bytes of the tables of a ring for each word of a polynomial: the factors of both transforms.
pub(super) const TABLES: usize = 32;

/// A basis of primes on a device, with its stream and the tables of its transforms. A clone is cheap.
#[derive(Debug, Clone)]
pub struct Ring {
    pub(super) basis: Basis,
    pub(super) stream: Arc<Stream>,
    pub(super) kernels: Arc<Kernels>,
    pub(super) tables: Arc<Tables>,
}

/// The constants of the primes of a basis. A basis of its first primes has the same ones.
#[derive(Debug)]
pub(super) struct Tables {
    /// As `modulus` of `zq.h`: four words a prime.
    pub(super) moduli: Buffer<u64>,
    /// The factors of the forward transform, as pairs of a factor and its quotient: `[towers][N][2]`
    forward: Buffer<u64>,
    /// The factors of the inverse transform: `[towers][N][2]`
    inverse: Buffer<u64>,
}

/// The words of `factor` of `zq.h`.
pub(super) fn words_of(factors: &[Shoup]) -> Vec<u64> {
    factors.iter().flat_map(|factor| [factor.value(), factor.quotient()]).collect()
}

/// An error of the rings of the CPU.
pub(super) fn refused(error: solinas_ring::Error) -> Error {
    Error::Scheme(error.into())
}

impl Ring {
    /// Copies the tables of a basis to the device of `stream`. All operations on the polynomials run on this stream.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for dimensions above 2^16, and for polynomials of 2^32 words and more; [`Error::Memory`];
    /// the errors of the device.
    pub fn new(stream: &Arc<Stream>, basis: &Basis) -> Result<Self, Error> {
        let kernels = Arc::new(Kernels::new(stream.device())?);
        Self::with_kernels(stream, &kernels, basis)
    }

    /// As [`Self::new`], for another basis on the same stream.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn another(&self, basis: &Basis) -> Result<Self, Error> {
        Self::with_kernels(&self.stream, &self.kernels, basis)
    }

    fn with_kernels(stream: &Arc<Stream>, kernels: &Arc<Kernels>, basis: &Basis) -> Result<Self, Error> {
        if basis.dimension() > 1 << MAX_LOG || u32::try_from(basis.words()).is_err() {
            return Err(Error::Unsupported { params: format!("rings of {basis}") });
        }
        let (mut moduli, mut forward, mut inverse) = (Vec::new(), Vec::new(), Vec::new());
        for (i, q) in basis.moduli().enumerate() {
            moduli.extend([q.value(), q.word(), q.barrett(), u64::from(q.bits() - 1)]);
            let [down, up] = basis.plan(i).factors();
            forward.extend(words_of(&down));
            inverse.extend(words_of(&up));
        }
        let tables = Tables {
            moduli: stream.buffer_of(&moduli, "the primes of a ring")?,
            forward: stream.buffer_of(&forward, "twiddle factors")?,
            inverse: stream.buffer_of(&inverse, "twiddle factors")?,
        };
        let (stream, kernels) = (Arc::clone(stream), Arc::clone(kernels));
        Ok(Self { basis: basis.clone(), stream, kernels, tables: Arc::new(tables) })
    }

    /// The ring of the first `count` primes. It shares the tables.
    ///
    /// # Errors
    /// [`Error::Scheme`] for none, or for more primes than there are.
    pub fn prefix(&self, count: usize) -> Result<Self, Error> {
        Ok(Self { basis: self.basis.prefix(count).map_err(refused)?, ..self.clone() })
    }

    /// The basis.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// Number of primes.
    pub(super) fn towers(&self) -> u32 {
        self.basis.len() as u32
    }

    /// `log2 N`.
    pub(super) fn log(&self) -> u32 {
        self.basis.dimension().ilog2()
    }

    /// Copies polynomials to the device.
    ///
    /// # Errors
    /// [`Error::Scheme`] for polynomials of another basis; [`Error::Unsupported`] for none or more than 65,535;
    /// [`Error::Memory`]; the errors of the device.
    pub fn upload<D: Domain>(&self, polys: &[&RnsPoly<D>]) -> Result<Polys<D>, Error> {
        let out = Polys::unwritten(self, polys.len())?;
        for (item, poly) in polys.iter().enumerate() {
            self.same("a copy to a device", poly.basis())?;
            self.stream.write(&out.words, item * self.basis.words(), poly.words())?;
        }
        Ok(out)
    }

    /// Refuses another basis than that of the ring.
    pub(super) fn same(&self, what: &'static str, basis: &Basis) -> Result<(), Error> {
        if self.basis == *basis {
            return Ok(());
        }
        let (lhs, rhs) = (self.basis.to_string(), basis.to_string());
        Err(refused(solinas_ring::Error::BasisMismatch { what, lhs, rhs }))
    }

    /// Runs a kernel with a thread for each word of `items` polynomials.
    pub(super) fn for_each_word(&self, kernel: &Kernel, items: usize, args: Vec<Arg>) -> Result<(), Error> {
        self.for_each(kernel, self.basis.words() as u32, items, args)
    }

    /// Runs a kernel with a thread for each of `words` words of `items` polynomials.
    pub(super) fn for_each(&self, kernel: &Kernel, words: u32, items: usize, args: Vec<Arg>) -> Result<(), Error> {
        if items > MAX_ITEMS {
            return Err(Error::Unsupported { params: format!("a batch of {items} polynomials") });
        }
        self.launch(kernel, [words.div_ceil(BLOCK), items as u32, 1], args)
    }

    fn launch(&self, kernel: &Kernel, grid: [u32; 3], args: Vec<Arg>) -> Result<(), Error> {
        self.stream.launch(&Launch { kernel, grid, block: BLOCK, shared: 0, args })
    }

    /// Transforms the towers in `range` of all polynomials.
    pub(super) fn forward(&self, words: &Buffer<u64>, items: usize, range: Range<u32>) -> Result<(), Error> {
        if let Some((grid, args)) = self.columns(&self.tables.forward, words, items, &range) {
            self.launch(&self.kernels.forward_columns, grid, args)?;
        }
        let (grid, args) = self.rows(&self.tables.forward, words, items, &range);
        self.launch(&self.kernels.forward_rows, grid, args)
    }

    /// The inverse of [`Self::forward`].
    pub(super) fn inverse(&self, words: &Buffer<u64>, items: usize, range: Range<u32>) -> Result<(), Error> {
        let (grid, args) = self.rows(&self.tables.inverse, words, items, &range);
        self.launch(&self.kernels.inverse_rows, grid, args)?;
        match self.columns(&self.tables.inverse, words, items, &range) {
            Some((grid, args)) => self.launch(&self.kernels.inverse_columns, grid, args),
            None => Ok(()),
        }
    }

    fn transform_args(&self, table: &Buffer<u64>, words: &Buffer<u64>) -> Vec<Arg> {
        vec![Arg::write(words), Arg::read(table), Arg::read(&self.tables.moduli)]
    }

    fn rows(&self, table: &Buffer<u64>, words: &Buffer<u64>, items: usize, range: &Range<u32>) -> ([u32; 3], Vec<Arg>) {
        let (towers, log) = (range.end - range.start, self.log());
        let mut args = self.transform_args(table, words);
        args.extend([range.start, towers, self.towers(), log].map(Arg::from));
        ([(towers << log).div_ceil(TILE), items as u32, 1], args)
    }

    /// Returns the grid and the arguments of the pass over columns. `None` if a polynomial fits in one block.
    fn columns(
        &self,
        table: &Buffer<u64>,
        words: &Buffer<u64>,
        items: usize,
        range: &Range<u32>,
    ) -> Option<([u32; 3], Vec<Arg>)> {
        let (towers, log) = (range.end - range.start, self.log());
        let mut args = self.transform_args(table, words);
        args.extend([range.start, self.towers(), log].map(Arg::from));
        (1 << log > TILE).then(|| ([(towers << log) / TILE, items as u32, 1], args))
    }
}
