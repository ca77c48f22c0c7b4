//! Plans: lengths, trees, and the order of the work.

use super::digits;
use super::kernel::{self, Points, Work};
use super::tree::{TILE_POINTS, Tree};
use crate::buffer::AlignedVec;
use crate::{Backend, Error};

/// What a product is reduced by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// `x^n - 1`: the integer product modulo `2^(bits n) - 1`.
    Minus,
    /// `x^n + 1`: the integer product modulo `2^(bits n) + 1`.
    Plus,
}

/// Largest supported number of digits.
pub const MAX_DIGITS: usize = 1 << 27;
/// Fewest digits: one tile of points.
const MIN_DIGITS: usize = 2 * TILE_POINTS;

/// A tree and where its points are in a spectrum.
#[derive(Debug)]
struct Segment {
    tree: Tree,
    re: usize,
    im: usize,
}

/// Plan of the transforms of `n` balanced digits, for products modulo `x^n - 1` or `x^n + 1`.
///
/// A spectrum is [`Self::spectrum_len`] floats in an order of the plan's own, the same on every back end; products are pointwise.
/// Products are exact when the digits are of at most [`super::max_digit_bits`] bits.
#[derive(Debug)]
pub struct Plan {
    digits: usize,
    wrap: Wrap,
    /// Disjoint, longest first. `Plus` has one; `Minus` one for each factor `x^(n/2^i) + 1`, then the rest `x^t - 1`.
    segments: Vec<Segment>,
    backend: Backend,
    threads: usize,
}

/// `n = 2 m 2^k`: the odd part and the power of two of `n / 2`.
fn factor(digits: usize) -> Option<(usize, usize)> {
    let points = digits / 2;
    let odd = points >> points.checked_ilog2().map_or(0, |_| points.trailing_zeros());
    let power = points.checked_div(odd)?;
    (digits % 2 == 0 && [1, 3, 5, 7].contains(&odd) && power >= TILE_POINTS && digits <= MAX_DIGITS)
        .then_some((odd, power))
}

impl Plan {
    /// Plan for `digits` digits, `2 m 2^k` with `m` in `{1, 3, 5, 7}` and `k >= 6`, on up to `threads` threads of the current pool.
    ///
    /// # Errors
    /// [`Error::Digits`] for another number.
    pub fn new(digits: usize, wrap: Wrap, backend: Backend, threads: usize) -> Result<Self, Error> {
        let (odd, power) = factor(digits).ok_or(Error::Digits {
            digits,
            min: MIN_DIGITS,
            max: MAX_DIGITS,
            next: Self::next_digits(digits),
        })?;
        let segments = match wrap {
            Wrap::Plus => vec![Segment { tree: Tree::new(odd, power, 1), re: 0, im: odd * power }],
            Wrap::Minus => {
                let mut segments = Vec::new();
                let mut length = digits;
                while length / 4 >= odd * TILE_POINTS {
                    length /= 2;
                    let tree = Tree::new(odd, length / 2 / odd, 1);
                    segments.push(Segment { tree, re: length, im: length + length / 2 });
                }
                segments.push(Segment { tree: Tree::new(odd, length / odd, 0), re: 0, im: digits });
                segments
            }
        };
        Ok(Self { digits, wrap, segments, backend, threads: threads.max(1) })
    }

    /// The least number of digits that a plan supports and that is at least this (at most [`MAX_DIGITS`]).
    pub fn next_digits(at_least: usize) -> usize {
        let fits = |odd: usize| {
            let power = at_least.div_ceil(2 * odd).max(TILE_POINTS).checked_next_power_of_two().unwrap_or(MAX_DIGITS);
            2 * odd * power.min(MAX_DIGITS)
        };
        [1, 3, 5, 7].into_iter().map(fits).min().unwrap_or(MAX_DIGITS).min(MAX_DIGITS)
    }

    /// `n`.
    pub fn digits(&self) -> usize {
        self.digits
    }

    /// What a product is reduced by.
    pub fn wrap(&self) -> Wrap {
        self.wrap
    }

    /// Back end the plan runs on.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Most threads a call uses.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Floats of a spectrum.
    pub fn spectrum_len(&self) -> usize {
        match self.wrap {
            Wrap::Plus => self.digits,
            Wrap::Minus => self.digits + self.segments[self.segments.len() - 1].tree.points(),
        }
    }

    /// A spectrum of zeros.
    pub fn spectrum(&self) -> AlignedVec<f64> {
        AlignedVec::zeroed(self.spectrum_len())
    }

    /// Words of a residue: `digit_bits n / 64`; one more holds `2^(digit_bits n)`, the residue of -1 under [`Wrap::Plus`].
    pub fn words(&self, digit_bits: u32) -> usize {
        self.digits / 64 * digit_bits as usize
    }

    /// `spectrum <- transform(x)`, where `x` has at most [`Self::words`] words, cut into balanced digits of `digit_bits` bits (2 to 25).
    pub fn forward(&self, digit_bits: u32, x: &[u64], spectrum: &mut [f64]) {
        self.load(digit_bits, x, spectrum);
        for (segment, p) in self.points(spectrum) {
            self.top(&segment.tree, p, Work::TopForward);
            self.branches(&segment.tree, p, Work::BranchesForward);
        }
    }

    /// `a <- a b`.
    pub fn multiply(&self, a: &mut [f64], b: &[f64]) {
        self.pointwise(a, None, b);
    }

    /// `a <- a^2`.
    pub fn square(&self, a: &mut [f64]) {
        let spectrum: *const [f64] = a;
        // SAFETY: the kernel reads each point of both before it writes it.
        self.pointwise(a, None, unsafe { &*spectrum });
    }

    /// `sum <- sum + a b`.
    pub fn multiply_add(&self, sum: &mut [f64], a: &[f64], b: &[f64]) {
        self.pointwise(sum, Some(a), b);
    }

    /// `out <-` the residue whose spectrum this is, which is destroyed. `out` holds [`Self::words`] words, one more for [`Wrap::Plus`].
    pub fn inverse(&self, digit_bits: u32, spectrum: &mut [f64], out: &mut [u64]) {
        for (segment, p) in self.points(spectrum) {
            self.branches(&segment.tree, p, Work::BranchesInverse);
            self.top(&segment.tree, p, Work::TopInverse);
        }
        self.store(digit_bits, spectrum, out);
    }

    /// `out <- x y` (`x^2` without `y`), as [`Self::inverse`] gives it, with `scratch` of two spectra (one). Faster than the sum of its
    /// parts: a tile is transformed, multiplied and transformed back at once.
    pub fn convolve(&self, digit_bits: u32, x: &[u64], y: Option<&[u64]>, out: &mut [u64], scratch: &mut [f64]) {
        let len = self.spectrum_len();
        let (a, rest) = scratch.split_at_mut(len);
        self.load(digit_bits, x, a);
        let b = y.map(|y| {
            let b = &mut rest[..len];
            self.load(digit_bits, y, b);
            b
        });
        let b = b.map(|b| b.as_mut_ptr());
        for (segment, p) in self.points(a) {
            self.top(&segment.tree, p, Work::TopForward);
            let other = b.map(|b| Points { re: b.wrapping_add(segment.re), im: b.wrapping_add(segment.im) });
            if let Some(other) = other {
                self.top(&segment.tree, other, Work::TopForward);
            }
            self.branches(&segment.tree, p, |tiles| Work::Convolve(other, tiles));
            self.top(&segment.tree, p, Work::TopInverse);
        }
        self.store(digit_bits, a, out);
    }

    fn points(&self, spectrum: &mut [f64]) -> impl Iterator<Item = (&Segment, Points)> {
        assert_eq!(spectrum.len(), self.spectrum_len(), "a spectrum of this plan");
        let at = spectrum.as_mut_ptr();
        self.segments
            .iter()
            .map(move |segment| (segment, Points { re: at.wrapping_add(segment.re), im: at.wrapping_add(segment.im) }))
    }

    /// Digits of `x`, folded.
    fn load(&self, digit_bits: u32, x: &[u64], spectrum: &mut [f64]) {
        let words = self.words(digit_bits);
        assert!((2..=25).contains(&digit_bits) && x.len() <= words, "at most {words} words, digits of 2 to 25 bits");
        assert_eq!(spectrum.len(), self.spectrum_len(), "a spectrum of this plan");
        let (used, rest) = spectrum.split_at_mut(self.digits);
        digits::split(self.backend, x, digit_bits, 0, used);
        rest.fill(0.0);
        // What Booth's recoding carries out of the last digit.
        let top = if x.len() == words { (x[words - 1] >> 63) as f64 } else { 0.0 };
        match self.wrap {
            Wrap::Plus => used[0] -= top,
            Wrap::Minus => used[0] += top,
        }
        if self.wrap == Wrap::Minus {
            let mut length = self.digits;
            for _ in 1..self.segments.len() {
                length /= 2;
                self.fold(spectrum, length);
            }
        }
    }

    /// Coefficients to a canonical residue.
    fn store(&self, digit_bits: u32, spectrum: &mut [f64], out: &mut [u64]) {
        let words = self.words(digit_bits);
        if self.wrap == Wrap::Minus {
            let rest = &self.segments[self.segments.len() - 1].tree;
            // Its transform scaled by t, and its share of the result by 2^-depth: twice as much as the others'.
            for x in &mut spectrum[..rest.points()] {
                *x *= 0.5;
            }
            let mut length = rest.points();
            for _ in 1..self.segments.len() {
                self.fold(spectrum, length);
                length *= 2;
            }
        }
        let scale = 1.0 / (self.digits / 2) as f64;
        let (low, high) = out.split_at_mut(words);
        let carry = digits::carry(self.backend, &spectrum[..self.digits], scale, digit_bits, low);
        match self.wrap {
            Wrap::Minus => {
                // 2^(bits n) = 1: the carry comes back in; then all ones are 0.
                let carry = digits::add_small(low, carry);
                digits::add_small(low, carry);
                let ones = low.iter().fold(u64::MAX, |all, &x| all & x) == u64::MAX;
                let keep = u64::from(ones).wrapping_sub(1);
                low.iter_mut().for_each(|x| *x &= keep);
            }
            Wrap::Plus => {
                // 2^(bits n) = -1: low - carry + 2 q, where the offsets were q (2^(bits n) - 1).
                let twice = 2 * digits::offset_quotient(digit_bits);
                let negative = u64::from(carry > twice).wrapping_neg();
                let borrow = digits::sub_small(low, carry.wrapping_sub(twice) & negative);
                let carried = digits::add_small(low, twice.wrapping_sub(carry) & !negative);
                // Below 0: + 2^(bits n) + 1, which may be 2^(bits n) itself. Above: - 2^(bits n) - 1, likewise.
                let top = digits::add_small(low, borrow);
                let below = digits::sub_small(low, carried);
                low.iter_mut().for_each(|x| *x &= below.wrapping_sub(1));
                high.fill(0);
                if let Some(high) = high.first_mut() {
                    *high = top | below;
                }
            }
        }
    }

    fn fold(&self, spectrum: &mut [f64], length: usize) {
        let (low, high) = spectrum.split_at_mut(length);
        // SAFETY: `high` holds at least as many, `length` is a multiple of 64.
        unsafe { kernel::run_fold(self.backend, low.as_mut_ptr(), high.as_mut_ptr(), 0..length) };
    }

    fn top(&self, tree: &Tree, p: Points, work: impl Fn(core::ops::Range<usize>) -> Work) {
        // SAFETY: all columns of the tree's points, which the caller borrows mutably.
        unsafe { kernel::run(self.backend, tree, p, work(0..tree.branch())) };
    }

    fn branches(&self, tree: &Tree, p: Points, work: impl Fn(core::ops::Range<usize>) -> Work) {
        // SAFETY: all tiles of the tree's points, which the caller borrows mutably.
        unsafe { kernel::run(self.backend, tree, p, work(0..tree.points() / TILE_POINTS)) };
    }

    fn pointwise(&self, a: &mut [f64], x: Option<&[f64]>, b: &[f64]) {
        let len = self.spectrum_len();
        assert!(b.len() == len && x.is_none_or(|x| x.len() == len), "spectra of this plan");
        for (segment, a) in self.points(a) {
            let at =
                |s: &[f64]| Points { re: s[segment.re..].as_ptr().cast_mut(), im: s[segment.im..].as_ptr().cast_mut() };
            // SAFETY: the points are inside the spectra; only `a` is written.
            unsafe { kernel::run_pointwise(self.backend, a, x.map(at), at(b), 0..segment.tree.points()) };
        }
    }
}
