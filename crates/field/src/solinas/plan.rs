//! Plans: the tables of a length, built once and applied in place.

use super::element::{mul, reduce};
use super::kernel::{self, Node, Pointwise, Span};
use super::tables::{Tables, blocked, child};
use crate::{Backend, Error};
use core::ops::Range;
use core::ptr;

/// The ring whose products a plan computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Convolution {
    /// Polynomials modulo `X^n - 1`.
    Cyclic,
    /// Polynomials modulo `X^n + 1`.
    Negacyclic,
}

/// Largest length, in points.
const MAX_LEN: usize = 17 << 22;
/// A subtree of at most this many words is transformed pass by pass, in the first-level cache.
const CACHED: usize = 1 << 11;

/// A transform of fewer points runs on one thread, because its passes take less time than distributing them.
const SHARED: usize = 1 << 14;

/// Words that the parts of a transform share: each part works on words of its own.
#[derive(Clone, Copy)]
struct SharedWords(*mut u64);
// SAFETY: only a pointer; every use says which words it takes, and that no other part takes them.
unsafe impl Send for SharedWords {}
// SAFETY: as for `Send`.
unsafe impl Sync for SharedWords {}

impl SharedWords {
    /// # Safety
    /// The words reach up to `offset`.
    unsafe fn at(self, offset: usize) -> *mut u64 {
        // SAFETY: the caller's contract.
        unsafe { self.0.add(offset) }
    }
}

/// Runs all parts, side by side.
fn share(parts: usize, part: &(impl Fn(usize) + Sync)) {
    fn split(range: Range<usize>, part: &(impl Fn(usize) + Sync)) {
        if range.len() == 1 {
            part(range.start);
        } else {
            let middle = range.start + range.len() / 2;
            rayon::join(|| split(range.start..middle, part), || split(middle..range.end, part));
        }
    }
    split(0..parts, part);
}

/// Returns the start of part `part` of `len`, a multiple of 8.
fn bound(len: usize, part: usize, parts: usize) -> usize {
    if part == parts { len } else { (len * part / parts) & !7 }
}

/// A transform of `n = m 2^k` points over F_p, `m` in {1, 3, 5, 17}, in place.
///
/// Order: coefficients are in natural order. A spectrum holds the values at the powers [`Self::exponent`] of the root
/// of unity of order `n` (cyclic) or `2 n` (negacyclic). It is the same on every back end and for every thread count.
/// Applying a plan allocates nothing.
///
/// ```
/// use solinas_field::{Backend, solinas::{Convolution, Plan}};
/// let plan = Plan::new(192, Convolution::Cyclic, Backend::detect()?, 1)?;
/// let (mut a, mut b) = (vec![0; 192], vec![0; 192]);
/// (a[1], b[191]) = (6, 7);
/// plan.forward(&mut a)?;
/// plan.forward(&mut b)?;
/// plan.multiply(&mut a, &b)?;
/// plan.inverse(&mut a)?;
/// assert_eq!(a[0], 42);
/// # Ok::<(), solinas_field::Error>(())
/// ```
#[derive(Debug)]
pub struct Plan {
    len: usize,
    log: u32,
    convolution: Convolution,
    backend: Backend,
    threads: usize,
    tables: Tables,
}

impl Plan {
    /// Makes a plan for `len` points. It divides transforms of 2^14 points or more into `threads` parts, which run on
    /// the threads of the current rayon pool.
    ///
    /// # Errors
    /// [`Error::TransformLength`] unless `len` is `m 2^k`, `m` in {1, 3, 5, 17}, in `2..=17 * 2^22`; [`Error::Threads`]
    /// if `threads` is 0.
    pub fn new(len: usize, convolution: Convolution, backend: Backend, threads: usize) -> Result<Self, Error> {
        let log = if len == 0 { 0 } else { len.trailing_zeros() };
        let odd = len >> log;
        if !matches!(odd, 1 | 3 | 5 | 17) || !(2..=MAX_LEN).contains(&len) {
            return Err(Error::TransformLength { len, max: MAX_LEN });
        }
        if threads == 0 {
            return Err(Error::Threads);
        }
        // Without blocks of 64 there are too few points for the vector units.
        let backend = if blocked(log) { backend } else { Backend::Scalar };
        let tables = Tables::new(odd, log, convolution == Convolution::Negacyclic, backend);
        Ok(Self { len, log, convolution, backend, threads, tables })
    }

    /// Returns the smallest supported length of at least `min` points, or `None` past the largest.
    pub fn length_for(min: usize) -> Option<usize> {
        let smallest = |m: usize| m * min.max(2).div_ceil(m).next_power_of_two();
        (min <= MAX_LEN).then(|| [1, 3, 5, 17].map(smallest).into_iter().filter(|&n| n <= MAX_LEN).min()).flatten()
    }

    /// Points of the transform.
    #[allow(clippy::len_without_is_empty, reason = "a transform is never empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The ring whose products this plan computes.
    pub fn convolution(&self) -> Convolution {
        self.convolution
    }

    /// The vector unit on which this plan runs.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Returns the power of the root of unity at which place `index` of a spectrum holds the value. The root has order
    /// `n` if cyclic, `2 n` if negacyclic.
    ///
    /// Formally, let `k` be the base-2 logarithm and `index = c 2^k + j`. Let `j'` be `j` with its digits of weights 1
    /// and 8 in base 8 exchanged if `k >= 6`. The exponent is `e = c + m reverse_k(j')`, or `2 e + 1` if negacyclic.
    pub fn exponent(&self, index: usize) -> usize {
        let odd = self.len >> self.log;
        let (block, mut j) = (index >> self.log, index & ((1 << self.log) - 1));
        if blocked(self.log) {
            j = j & !63 | (j & 7) << 3 | j >> 3 & 7;
        }
        let e = block + odd * child(1 << self.log, j);
        if self.convolution == Convolution::Cyclic { e } else { 2 * e + 1 }
    }

    fn check(&self, len: usize) -> Result<(), Error> {
        if len == self.len { Ok(()) } else { Err(Error::Length { what: "transform", len, expected: self.len }) }
    }

    /// Transforms coefficients to a spectrum, in place. Shape: n. Range: any words, which represent their residues, out
    /// `0..P`. Order: natural to [`Self::exponent`].
    ///
    /// # Errors
    /// [`Error::Length`] unless `data` holds `n` words.
    pub fn forward(&self, data: &mut [u64]) -> Result<(), Error> {
        self.forward_prefix(data, data.len())
    }

    /// As [`Self::forward`], but reads only the first `nonzero` words. The others count as zeros, whatever they hold.
    /// Operands of a product fill half of their transform, and the first pass skips the work for the zeros.
    ///
    /// # Errors
    /// [`Error::Length`] unless `data` holds `n` words, `nonzero` of them at most.
    pub fn forward_prefix(&self, data: &mut [u64], nonzero: usize) -> Result<(), Error> {
        self.check(data.len())?;
        if nonzero > self.len {
            return Err(Error::Length { what: "nonzero prefix", len: nonzero, expected: self.len });
        }
        let half = 2 * nonzero <= self.len && self.tables.passes[0].radix.is_power_of_two();
        data[nonzero..if half { self.len / 2 } else { self.len }].fill(0);
        let at = SharedWords(data.as_mut_ptr());
        let (parts, shared) = self.shares();
        // SAFETY: the data holds the root's coefficients; the parts of a pass have columns of their own, and those after the shared passes nodes.
        unsafe {
            for pass in 0..shared {
                share(parts, &|part| self.forward_columns(pass, at, half, part, parts));
            }
            share(parts, &|part| {
                for node in self.nodes(shared, part, parts) {
                    self.forward_node(shared, node, at.at(node * self.tables.passes[shared].len), half);
                }
            });
        }
        if !self.tables.blocked {
            for x in data {
                *x = reduce(*x);
            }
        }
        Ok(())
    }

    /// Returns the number of parts of a transform, and the number of passes from the root down that are divided by
    /// columns. Below these passes there are nodes for all parts.
    fn shares(&self) -> (usize, usize) {
        if self.threads == 1 || self.len < SHARED {
            return (1, 0);
        }
        let even = |nodes: usize| nodes.is_multiple_of(self.threads) || nodes >= 16 * self.threads;
        let passes = &self.tables.passes[..self.tables.passes.len() - 2];
        let shared = passes.iter().position(|p| even(self.len / p.len)).unwrap_or(passes.len());
        (self.threads, shared)
    }

    /// Returns the nodes of a pass that belong to one part.
    fn nodes(&self, pass: usize, part: usize, parts: usize) -> Range<usize> {
        let nodes = self.len / self.tables.passes[pass].len;
        part * nodes / parts..(part + 1) * nodes / parts
    }

    /// Runs a pass over one part of the columns of each of its nodes.
    unsafe fn forward_columns(&self, pass: usize, data: SharedWords, half: bool, part: usize, parts: usize) {
        for index in 0..self.len / self.tables.passes[pass].len {
            // SAFETY: the caller's contract.
            unsafe { self.forward_step(pass, index, data.at(index * self.tables.passes[pass].len), half, part, parts) };
        }
    }

    /// Runs a pass over one part of the columns of a node. With `half`, the root's upper half counts as zeros.
    unsafe fn forward_step(&self, pass: usize, index: usize, data: *mut u64, half: bool, part: usize, parts: usize) {
        // SAFETY: the caller's contract.
        unsafe {
            if pass == 0 {
                let node = self.root(data, &self.tables.forward, part, parts);
                kernel::forward_root(self.backend, self.tables.passes[0].radix, node, half);
            } else {
                kernel::forward(self.backend, &self.tables, self.columns(pass, index, data, part, parts));
            }
        }
    }

    /// Runs all passes from `pass` on of one of its nodes, whose residues fill `data`.
    unsafe fn forward_node(&self, pass: usize, index: usize, data: *mut u64, half: bool) {
        let parent = self.tables.passes[pass];
        // SAFETY: the caller gives the node's words, and the children share them out.
        unsafe {
            if pass > 0 && parent.len <= CACHED {
                kernel::forward(self.backend, &self.tables, self.subtree(pass, index, data, parent.len));
                return;
            }
            self.forward_step(pass, index, data, half, 0, 1);
            let (below, first) = (pass + 1, index * parent.radix);
            let Some(&child) = self.tables.passes.get(below) else { return };
            if below + 1 == self.tables.passes.len() {
                // The last pass works on all the children of a node together.
                kernel::forward(self.backend, &self.tables, self.subtree(below, first, data, parent.len));
                return;
            }
            for k in 0..parent.radix {
                self.forward_node(below, first + k, data.add(k * child.len), false);
            }
        }
    }

    /// Returns a part of the columns of the root. If the root has factors, they are those at the start of a table.
    fn root(&self, data: *mut u64, table: &[u64], part: usize, parts: usize) -> Node {
        let stride = self.len / self.tables.passes[0].radix;
        let (from, to) = (bound(stride, part, parts), bound(stride, part + 1, parts));
        let factors = match self.convolution {
            Convolution::Cyclic => ptr::null(),
            Convolution::Negacyclic => table.as_ptr(),
        };
        Node { data, stride, from, to, factors, kernel: self.tables.rader.as_ptr() }
    }

    /// Returns one pass over a part of the columns of a node.
    fn columns(&self, pass: usize, index: usize, data: *mut u64, part: usize, parts: usize) -> Span {
        let len = self.tables.passes[pass].len;
        let stride = len / self.tables.passes[pass].radix;
        let columns = Some((bound(stride, part, parts), bound(stride, part + 1, parts)));
        Span { from: pass, to: pass + 1, first: index, data, len, columns }
    }

    /// Returns all passes from `pass` on of the nodes from number `first` in `len` words.
    fn subtree(&self, pass: usize, first: usize, data: *mut u64, len: usize) -> Span {
        Span { from: pass, to: self.tables.passes.len(), first, data, len, columns: None }
    }

    /// Transforms a spectrum to coefficients, in place, divided by `n`: the inverse of [`Self::forward`]. Range: any
    /// words, out `0..P`.
    ///
    /// # Errors
    /// [`Error::Length`] unless `data` holds `n` words.
    pub fn inverse(&self, data: &mut [u64]) -> Result<(), Error> {
        self.check(data.len())?;
        let at = SharedWords(data.as_mut_ptr());
        let (parts, shared) = self.shares();
        // SAFETY: the data holds the root's values; the parts have nodes of their own, then columns.
        unsafe {
            share(parts, &|part| {
                for node in self.nodes(shared, part, parts) {
                    self.inverse_node(shared, node, at.at(node * self.tables.passes[shared].len));
                }
            });
            for pass in (0..shared).rev() {
                share(parts, &|part| self.inverse_columns(pass, at, part, parts));
            }
        }
        if !self.tables.blocked {
            for x in data {
                *x = mul(*x, self.tables.scale);
            }
        }
        Ok(())
    }

    /// Runs an inverse pass over one part of the columns of each of its nodes.
    unsafe fn inverse_columns(&self, pass: usize, data: SharedWords, part: usize, parts: usize) {
        for index in 0..self.len / self.tables.passes[pass].len {
            // SAFETY: the caller's contract.
            unsafe { self.inverse_step(pass, index, data.at(index * self.tables.passes[pass].len), part, parts) };
        }
    }

    /// Runs an inverse pass over one part of the columns of a node.
    unsafe fn inverse_step(&self, pass: usize, index: usize, data: *mut u64, part: usize, parts: usize) {
        // SAFETY: the caller's contract.
        unsafe {
            if pass == 0 {
                kernel::inverse_root(self.backend, &self.tables, self.root(data, &self.tables.inverse, part, parts));
            } else {
                kernel::inverse(self.backend, &self.tables, self.columns(pass, index, data, part, parts));
            }
        }
    }

    /// Inverse of [`Self::forward_node`], except for the factors of the node, which are deferred unless it is the root.
    unsafe fn inverse_node(&self, pass: usize, index: usize, data: *mut u64) {
        let parent = self.tables.passes[pass];
        // SAFETY: the caller gives the node's words, and the children share them out.
        unsafe {
            if pass > 0 && parent.len <= CACHED {
                kernel::inverse(self.backend, &self.tables, self.subtree(pass, index, data, parent.len));
                return;
            }
            let (below, first) = (pass + 1, index * parent.radix);
            if let Some(&child) = self.tables.passes.get(below) {
                if below + 1 == self.tables.passes.len() {
                    kernel::inverse(self.backend, &self.tables, self.subtree(below, first, data, parent.len));
                } else {
                    for k in 0..parent.radix {
                        self.inverse_node(below, first + k, data.add(k * child.len));
                    }
                }
            }
            self.inverse_step(pass, index, data, 0, 1);
        }
    }

    /// `a <- a b`, pointwise. Range: any words, out `0..P`.
    ///
    /// # Errors
    /// [`Error::Length`] unless both hold `n` words.
    pub fn multiply(&self, a: &mut [u64], b: &[u64]) -> Result<(), Error> {
        self.check(a.len())?;
        self.check(b.len())?;
        let (at, b) = (a.as_mut_ptr(), b.as_ptr());
        // SAFETY: both slices have the checked length.
        unsafe { self.pointwise(Pointwise::Multiply, at, at, b) };
        Ok(())
    }

    /// `a <- a^2`, pointwise. Range: any words, out `0..P`.
    ///
    /// # Errors
    /// [`Error::Length`] unless `a` holds `n` words.
    pub fn square(&self, a: &mut [u64]) -> Result<(), Error> {
        self.check(a.len())?;
        let at = a.as_mut_ptr();
        // SAFETY: the slice has the checked length.
        unsafe { self.pointwise(Pointwise::Multiply, at, at, at) };
        Ok(())
    }

    /// `sum <- sum + a b`, pointwise. Range: any words, out `0..P`.
    ///
    /// # Errors
    /// [`Error::Length`] unless all hold `n` words.
    pub fn multiply_add(&self, sum: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), Error> {
        self.check(sum.len())?;
        self.check(a.len())?;
        self.check(b.len())?;
        let (sum, a, b) = (sum.as_mut_ptr(), a.as_ptr(), b.as_ptr());
        // SAFETY: the slices have the checked length.
        unsafe { self.pointwise(Pointwise::MultiplyAdd, sum, a, b) };
        Ok(())
    }

    /// # Safety
    /// The three pointers are to n words.
    unsafe fn pointwise(&self, what: Pointwise, c: *mut u64, a: *const u64, b: *const u64) {
        let (parts, _) = self.shares();
        let (c, a, b) = (SharedWords(c), SharedWords(a.cast_mut()), SharedWords(b.cast_mut()));
        share(parts, &|part| {
            let (from, to) = (bound(self.len, part, parts), bound(self.len, part + 1, parts));
            // SAFETY: the caller's contract; the parts do not overlap.
            unsafe { kernel::pointwise(self.backend, what, c.at(from), a.at(from), b.at(from), to - from) };
        });
    }
}
