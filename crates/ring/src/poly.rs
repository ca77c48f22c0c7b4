//! Polynomials as residues.

use core::fmt;
use core::marker::PhantomData;

use solinas_field::buffer::AlignedVec;
use zeroize::Zeroize;

use crate::memory::PooledWords;
use crate::threads::{alone, for_each_tower, for_each_tower_of_two, for_each_tower_with};
use crate::{Basis, Error};

mod sealed {
    pub trait Sealed {}
}

/// Meaning of the words of an [`RnsPoly`]: [`Coeff`] or [`Eval`].
pub trait Domain: sealed::Sealed + Copy + Send + Sync + 'static {}

/// Coefficients, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coeff;

/// Values at the odd powers of the root, in the transform's order. Products are word by word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eval;

impl sealed::Sealed for Coeff {}
impl sealed::Sealed for Eval {}
impl Domain for Coeff {}
impl Domain for Eval {}

/// A polynomial modulo `X^N + 1` and modulo each prime of a [`Basis`], tower by tower, with words in `0..q_i`.
///
/// The type does not wipe its words. If they are secret, wrap it in [`zeroize::Zeroizing`].
#[derive(Clone)]
pub struct RnsPoly<D: Domain> {
    basis: Basis,
    /// The words of the basis, and those left over from dropped towers.
    words: PooledWords,
    domain: PhantomData<D>,
}

impl<D: Domain> RnsPoly<D> {
    /// Returns 0.
    pub fn zero(basis: &Basis) -> Self {
        Self::of(basis, PooledWords::zeroed(basis.words()))
    }

    /// Makes a polynomial from its words, tower by tower, as stored.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Residue`].
    pub fn from_words(basis: &Basis, words: &[u64]) -> Result<Self, Error> {
        if words.len() != basis.words() {
            return Err(Error::Length { what: "a polynomial", got: words.len(), want: basis.words() });
        }
        for (tower, (words, q)) in words.chunks_exact(basis.dimension()).zip(basis.moduli()).enumerate() {
            if let Some(&word) = words.iter().find(|&&word| word >= q.value()) {
                return Err(Error::Residue { tower, word, modulus: q.value() });
            }
        }
        Ok(Self::copy(basis, words))
    }

    fn of(basis: &Basis, words: impl Into<PooledWords>) -> Self {
        Self { words: words.into(), basis: basis.clone(), domain: PhantomData }
    }

    /// Copies as many words as the basis has.
    fn copy(basis: &Basis, words: &[u64]) -> Self {
        match PooledWords::kept(words.len()) {
            Some(mut kept) => {
                kept[..words.len()].copy_from_slice(words);
                Self::of(basis, kept)
            }
            None => Self::of(basis, AlignedVec::from_slice(words)),
        }
    }

    /// Fills each tower by `fill(tower, its words)`, on the current pool. `fill` writes residues over zeros.
    pub fn from_towers(basis: &Basis, fill: impl Fn(usize, &mut [u64]) + Send + Sync) -> Self {
        Self::written(basis, |i, words| {
            words.fill(0);
            fill(i, words);
        })
    }

    /// As [`Self::from_towers`]; `write` must write every word, because the words have arbitrary contents.
    fn written(basis: &Basis, write: impl Fn(usize, &mut [u64]) + Send + Sync) -> Self {
        let n = basis.dimension();
        if let Some(words) = PooledWords::kept(basis.words()) {
            let mut out = Self::of(basis, words);
            out.for_each_tower(write);
            return out;
        }
        if alone(basis.words(), n) {
            // Each tower is written once, while it is in the nearest cache.
            let mut words = AlignedVec::with_capacity(basis.words());
            (0..basis.len()).for_each(|i| write(i, words.push_zeros(n)));
            return Self::of(basis, words);
        }
        let mut out = Self::zero(basis);
        out.for_each_tower(write);
        out
    }

    /// As [`Self::from_towers`], with `scratch` words of scratch with arbitrary contents for
    /// `fill(tower, its words, scratch)`.
    pub fn from_towers_with(
        basis: &Basis,
        scratch: usize,
        fill: impl Fn(usize, &mut [u64], &mut [u64]) + Send + Sync,
    ) -> Self {
        let mut out = Self::zero(basis);
        out.for_each_tower_with(scratch, fill);
        out
    }

    /// Makes two polynomials whose towers are made together. `fill(tower, words of each, scratch)` writes into zeros
    /// and has `scratch` words of scratch with arbitrary contents.
    pub fn two_from_towers(
        basis: &Basis,
        scratch: usize,
        fill: impl Fn(usize, [&mut [u64]; 2], &mut [u64]) + Send + Sync,
    ) -> [Self; 2] {
        let n = basis.dimension();
        if let [Some(x), Some(y)] = [(); 2].map(|()| PooledWords::kept(basis.words())) {
            let mut out = [x, y].map(|words| Self::of(basis, words));
            let [x, y] = &mut out;
            for_each_tower_of_two([x.words_mut(), y.words_mut()], n, scratch, |i, [x, y], scratch| {
                x.fill(0);
                y.fill(0);
                fill(i, [x, y], scratch);
            });
            return out;
        }
        if alone(basis.words(), n) {
            let mut words = [(); 2].map(|()| AlignedVec::with_capacity(basis.words()));
            let mut scratch = AlignedVec::zeroed(scratch);
            for i in 0..basis.len() {
                let [x, y] = &mut words;
                fill(i, [x.push_zeros(n), y.push_zeros(n)], &mut scratch);
            }
            return words.map(|words| Self::of(basis, words));
        }
        let mut out = [Self::zero(basis), Self::zero(basis)];
        let [x, y] = &mut out;
        for_each_tower_of_two([x.words_mut(), y.words_mut()], n, scratch, fill);
        out
    }

    /// Its basis.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// All words, tower by tower.
    pub fn words(&self) -> &[u64] {
        &self.words[..self.basis.words()]
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words[..self.basis.words()]
    }

    /// The words of tower `i`.
    ///
    /// # Panics
    /// Panics if there is none.
    pub fn tower(&self, i: usize) -> &[u64] {
        let n = self.basis.dimension();
        &self.words[i * n..][..n]
    }

    pub(crate) fn for_each_tower(&mut self, work: impl Fn(usize, &mut [u64]) + Send + Sync) {
        let n = self.basis.dimension();
        for_each_tower(self.words_mut(), n, work);
    }

    /// As [`Self::from_towers_with`], applied to this polynomial.
    pub(crate) fn for_each_tower_with(
        &mut self,
        scratch: usize,
        work: impl Fn(usize, &mut [u64], &mut [u64]) + Send + Sync,
    ) {
        let n = self.basis.dimension();
        for_each_tower_with(self.words_mut(), n, scratch, work);
    }

    /// Fills tower after tower.
    pub(crate) fn fill(&mut self, mut fill: impl FnMut(&mut [u64])) {
        let n = self.basis.dimension();
        self.words_mut().chunks_exact_mut(n).for_each(&mut fill);
    }

    /// The same words in the other domain's type.
    fn recast<E: Domain>(self) -> RnsPoly<E> {
        RnsPoly { basis: self.basis, words: self.words, domain: PhantomData }
    }

    /// Returns the polynomial modulo the first `count` primes.
    ///
    /// # Errors
    /// [`Error::Towers`].
    pub fn truncated(&self, count: usize) -> Result<Self, Error> {
        let basis = self.basis.prefix(count)?;
        Ok(Self::copy(&basis, &self.words[..basis.words()]))
    }

    /// Drops all towers except the first ones, those of `basis`.
    pub(crate) fn narrow(&mut self, basis: &Basis) {
        self.basis = basis.clone();
    }

    /// Returns `self + x` as a new polynomial.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`].
    pub fn plus(&self, x: &Self) -> Result<Self, Error> {
        self.basis.same("a sum", &x.basis)?;
        let sum = |i, out: &mut [u64]| self.basis.pointwise(i).sum(out, self.tower(i), x.tower(i));
        Ok(Self::written(&self.basis, sum))
    }

    /// Returns `self - x` as a new polynomial.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`].
    pub fn minus(&self, x: &Self) -> Result<Self, Error> {
        self.basis.same("a difference", &x.basis)?;
        let difference = |i, out: &mut [u64]| self.basis.pointwise(i).difference(out, self.tower(i), x.tower(i));
        Ok(Self::written(&self.basis, difference))
    }

    /// `self <- self + x`.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`].
    pub fn add_assign(&mut self, x: &Self) -> Result<(), Error> {
        self.basis.same("a sum", &x.basis)?;
        let basis = self.basis.clone();
        self.for_each_tower(|i, words| basis.pointwise(i).add(words, x.tower(i)));
        Ok(())
    }

    /// `self <- self - x`.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`].
    pub fn sub_assign(&mut self, x: &Self) -> Result<(), Error> {
        self.basis.same("a difference", &x.basis)?;
        let basis = self.basis.clone();
        self.for_each_tower(|i, words| basis.pointwise(i).sub(words, x.tower(i)));
        Ok(())
    }

    /// `self <- -self`.
    pub fn negate(&mut self) {
        let basis = self.basis.clone();
        self.for_each_tower(|i, words| basis.pointwise(i).neg(words));
    }

    /// `self <- self / 2` modulo each prime.
    pub fn halve(&mut self) {
        let basis = self.basis.clone();
        self.for_each_tower(|i, words| {
            let q = basis.modulus(i);
            basis.pointwise(i).scale(words, q.shoup(q.value().div_ceil(2)));
        });
    }

    /// `self <- factor self`.
    pub fn scale(&mut self, factor: i64) {
        let basis = self.basis.clone();
        self.for_each_tower(|i, words| {
            let q = basis.modulus(i);
            basis.pointwise(i).scale(words, q.shoup(q.reduce_i64(factor)));
        });
    }
}

impl RnsPoly<Coeff> {
    /// Makes a polynomial from signed coefficients of magnitude up to `2^61`, without branches on them. Shape: N.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn from_signed(basis: &Basis, coefficients: &[i64]) -> Result<Self, Error> {
        if coefficients.len() != basis.dimension() {
            let (got, want) = (coefficients.len(), basis.dimension());
            return Err(Error::Length { what: "coefficients", got, want });
        }
        Ok(Self::written(basis, |i, words| basis.pointwise(i).reduce_signed(words, coefficients)))
    }

    /// Transforms every tower.
    pub fn into_eval(mut self) -> RnsPoly<Eval> {
        let basis = self.basis.clone();
        self.for_each_tower(|i, words| basis.plan(i).forward(words));
        self.recast()
    }
}

impl RnsPoly<Eval> {
    /// Transforms every tower back.
    pub fn into_coeff(mut self) -> RnsPoly<Coeff> {
        let basis = self.basis.clone();
        self.for_each_tower(|i, words| basis.plan(i).inverse(words));
        self.recast()
    }

    /// `self <- self x`.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`].
    pub fn mul_assign(&mut self, x: &Self) -> Result<(), Error> {
        self.basis.same("a product", &x.basis)?;
        let basis = self.basis.clone();
        self.for_each_tower(|i, words| basis.pointwise(i).multiply(words, x.tower(i)));
        Ok(())
    }

    /// `self <- self + x y`.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`].
    pub fn add_product(&mut self, x: &Self, y: &Self) -> Result<(), Error> {
        self.basis.same("a sum of products", &x.basis)?;
        self.basis.same("a sum of products", &y.basis)?;
        let basis = self.basis.clone();
        self.for_each_tower(|i, words| basis.pointwise(i).multiply_add(words, x.tower(i), y.tower(i)));
        Ok(())
    }

    /// Returns whether no value is 0. The time reveals nothing.
    pub fn is_invertible(&self) -> bool {
        !self.words().iter().fold(false, |zero, &word| zero | (word == 0))
    }

    /// Returns `1 / self`, or `None` if a value is 0. The time reveals only that.
    pub fn inverse(&self) -> Option<Self> {
        if !self.is_invertible() {
            return None;
        }
        // There is one inverse per tower, of the product of all values. The inverse of each value follows from it in
        // turn.
        Some(Self::from_towers(&self.basis, |i, out| {
            let (q, values) = (self.basis.modulus(i), self.tower(i));
            let mut product = 1;
            for (out, &value) in out.iter_mut().zip(values) {
                *out = product;
                product = q.mul(product, value);
            }
            let mut inverse = q.inv(product).unwrap_or(0);
            for (out, &value) in out.iter_mut().zip(values).rev() {
                *out = q.mul(*out, inverse);
                inverse = q.mul(inverse, value);
            }
        }))
    }
}

impl<D: Domain> PartialEq for RnsPoly<D> {
    fn eq(&self, other: &Self) -> bool {
        self.basis == other.basis && self.words() == other.words()
    }
}

impl<D: Domain> Zeroize for RnsPoly<D> {
    fn zeroize(&mut self) {
        self.words.zeroize();
    }
}

impl<D: Domain> fmt::Debug for RnsPoly<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RnsPoly").field("basis", &self.basis).finish_non_exhaustive()
    }
}
