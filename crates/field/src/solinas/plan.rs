//! Plans: a length's tables, built once and applied in place.

use super::element::mul;
use super::kernel::{self, Node, Pointwise, Step};
use super::tables::{Tables, blocked, child};
use crate::{Backend, Error};
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

/// A transform of `n = m 2^k` points over F_p, `m` in {1, 3, 5, 17}, in place.
///
/// Coefficients are in natural order. A spectrum holds the values at the powers [`Self::exponent`] of the root of unity of order `n` (cyclic) or `2 n`
/// (negacyclic), the same on every back end and for every thread count. Applying a plan allocates nothing.
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
    /// A plan for `len` points; `threads` share one transform of 2^14 points or more.
    ///
    /// # Errors
    /// [`Error::TransformLength`] unless `len` is `m 2^k`, `m` in {1, 3, 5, 17}, in `2..=17 * 2^22`; [`Error::Threads`] for no threads.
    pub fn new(len: usize, convolution: Convolution, backend: Backend, threads: usize) -> Result<Self, Error> {
        let log = if len == 0 { 0 } else { len.trailing_zeros() };
        let odd = len >> log;
        if !matches!(odd, 1 | 3 | 5 | 17) || !(2..=MAX_LEN).contains(&len) {
            return Err(Error::TransformLength { len, max: MAX_LEN });
        }
        if threads == 0 {
            return Err(Error::Threads);
        }
        // Without blocks of 64 there is too little for the vector units.
        let backend = if blocked(log) { backend } else { Backend::Scalar };
        let tables = Tables::new(odd, log, convolution == Convolution::Negacyclic, backend);
        Ok(Self { len, log, convolution, backend, threads, tables })
    }

    /// The smallest supported length of at least `min` points, or `None` past the largest.
    pub fn length_for(min: usize) -> Option<usize> {
        let smallest = |m: usize| m * min.max(2).div_ceil(m).next_power_of_two();
        (min <= MAX_LEN).then(|| [1, 3, 5, 17].map(smallest).into_iter().filter(|&n| n <= MAX_LEN).min()).flatten()
    }

    /// Points of the transform.
    #[allow(clippy::len_without_is_empty, reason = "a transform is never empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The ring whose products it computes.
    pub fn convolution(&self) -> Convolution {
        self.convolution
    }

    /// The vector unit it runs on.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// The power of the root of unity at which place `index` of a spectrum holds the value: of the root of order `n` if cyclic, `2 n` if negacyclic.
    ///
    /// Formally: with `k` the base-2 logarithm and `index = c 2^k + j`, and `j'` equal to `j` with its digits of weights 1 and 8 in base 8 exchanged if
    /// `k >= 6`, the exponent is `e = c + m reverse_k(j')`, or `2 e + 1` if negacyclic.
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

    /// Coefficients to spectrum, in place. Shape: n. Range: any words, which stand for their residues, out `0..P`. Order: natural to [`Self::exponent`].
    ///
    /// # Errors
    /// [`Error::Length`] unless `data` holds `n` words.
    pub fn forward(&self, data: &mut [u64]) -> Result<(), Error> {
        self.check(data.len())?;
        // SAFETY: the data holds the root's coefficients.
        unsafe { self.forward_root(data.as_mut_ptr()) };
        Ok(())
    }

    /// As [`Self::forward`] of data of which only the first `nonzero` words are read; the others count as zeros, whatever they hold. Operands of a product fill
    /// half of their transform: the first pass skips what it can.
    ///
    /// # Errors
    /// [`Error::Length`] unless `data` holds `n` words, `nonzero` of them at most.
    pub fn forward_prefix(&self, data: &mut [u64], nonzero: usize) -> Result<(), Error> {
        self.check(data.len())?;
        let len = data.len();
        let Some(zeros) = data.get_mut(nonzero..) else {
            return Err(Error::Length { what: "nonzero prefix", len: nonzero, expected: len });
        };
        zeros.fill(0);
        self.forward(data)
    }

    /// The root's pass, then its children's.
    unsafe fn forward_root(&self, data: *mut u64) {
        let factors = match self.convolution {
            Convolution::Cyclic => ptr::null(),
            Convolution::Negacyclic => self.tables.forward.as_ptr(),
        };
        // SAFETY: the caller gives n words.
        unsafe {
            self.run(Step::ForwardRoot(self.columns(0, data, factors)));
            self.forward_children(0, 0, data);
        }
    }

    /// The passes below node `index` of pass `pass`, whose residues fill `data`.
    unsafe fn forward_children(&self, pass: usize, index: usize, data: *mut u64) {
        let parent = self.tables.passes[pass];
        let (below, first) = (pass + 1, index * parent.radix);
        let Some(&child) = self.tables.passes.get(below) else { return };
        // SAFETY: the caller gives the node's words, and the children share them out.
        unsafe {
            if parent.len <= CACHED || below + 1 == self.tables.passes.len() {
                self.run(Step::ForwardSubtree { pass: below, first, data, len: parent.len });
                return;
            }
            for k in 0..parent.radix {
                let data = data.add(k * child.len);
                let factors = self.tables.forward.as_ptr().add(child.forward + 2 * (first + k) * (child.radix - 1));
                self.run(Step::ForwardInner { pass: below, node: self.columns(below, data, factors) });
                self.forward_children(below, first + k, data);
            }
        }
    }

    /// All columns of a node of pass `pass`.
    fn columns(&self, pass: usize, data: *mut u64, factors: *const u64) -> Node {
        let pass = self.tables.passes[pass];
        let stride = pass.len / pass.radix;
        Node { data, stride, from: 0, to: stride, factors }
    }

    /// # Safety
    /// As [`kernel::run`].
    unsafe fn run(&self, step: Step) {
        // SAFETY: the caller's contract.
        unsafe { kernel::run(self.backend, &self.tables, step) }
    }

    /// Spectrum to coefficients, in place, divided by `n`: the inverse of [`Self::forward`]. Range: any words, out `0..P`.
    ///
    /// # Errors
    /// [`Error::Length`] unless `data` holds `n` words.
    pub fn inverse(&self, data: &mut [u64]) -> Result<(), Error> {
        self.check(data.len())?;
        // SAFETY: the data holds the root's values.
        unsafe { self.inverse_root(data.as_mut_ptr()) };
        if !self.tables.blocked {
            for x in data {
                *x = mul(*x, self.tables.scale);
            }
        }
        Ok(())
    }

    /// The inverse of [`Self::forward_root`].
    unsafe fn inverse_root(&self, data: *mut u64) {
        let factors = match self.convolution {
            Convolution::Cyclic => ptr::null(),
            Convolution::Negacyclic => self.tables.inverse.as_ptr(),
        };
        // SAFETY: the caller gives n words.
        unsafe {
            self.inverse_children(0, 0, data);
            self.run(Step::InverseRoot(self.columns(0, data, factors)));
        }
    }

    /// The inverse of [`Self::forward_children`], except for the factors of the children, which are owed.
    unsafe fn inverse_children(&self, pass: usize, index: usize, data: *mut u64) {
        let parent = self.tables.passes[pass];
        let (below, first) = (pass + 1, index * parent.radix);
        let Some(&child) = self.tables.passes.get(below) else { return };
        // SAFETY: the caller gives the node's words, and the children share them out.
        unsafe {
            if parent.len <= CACHED || below + 1 == self.tables.passes.len() {
                self.run(Step::InverseSubtree { pass: below, first, data, len: parent.len });
                return;
            }
            for k in 0..parent.radix {
                let data = data.add(k * child.len);
                self.inverse_children(below, first + k, data);
                let node = self.columns(below, data, ptr::null());
                self.run(Step::InverseInner { pass: below, index: first + k, node });
            }
        }
    }

    /// `a <- a b`, pointwise. Range: any words, out `0..P`.
    ///
    /// # Errors
    /// [`Error::Length`] unless both hold `n` words.
    pub fn multiply(&self, a: &mut [u64], b: &[u64]) -> Result<(), Error> {
        self.check(a.len())?;
        self.check(b.len())?;
        let at = a.as_mut_ptr();
        // SAFETY: both slices have the checked length.
        unsafe { kernel::pointwise(self.backend, Pointwise::Multiply, at, at, b.as_ptr(), self.len) };
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
        unsafe { kernel::pointwise(self.backend, Pointwise::Multiply, at, at, at, self.len) };
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
        unsafe { kernel::pointwise(self.backend, Pointwise::MultiplyAdd, sum, a, b, self.len) };
        Ok(())
    }
}
