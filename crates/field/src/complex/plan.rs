//! Plans: lengths, trees, and the order of the work.

use super::carry::{self, Carry, Spill};
use super::digits::{self, Windows};
use super::kernel::{self, Work};
use super::points::Points;
use super::top::{STRIP, Source};
use super::tree::{MAX_ROWS, Stages, TILE_POINTS, Tree};
use crate::buffer::AlignedVec;
use crate::{Backend, Error};
use core::ops::Range;

/// Modulus of a product.
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

/// A tree and the position of its points in a spectrum.
#[derive(Debug)]
struct Segment {
    tree: Tree,
    re: usize,
    im: usize,
}

impl Segment {
    fn points(&self, spectrum: *mut f64) -> Points {
        Points { re: spectrum.wrapping_add(self.re), im: spectrum.wrapping_add(self.im) }
    }
}

/// Plan of the transforms of `n` balanced digits, for products modulo `x^n - 1` or `x^n + 1`.
///
/// A spectrum has [`Self::spectrum_len`] floats. Their order is the plan's own and the same on every back end; products
/// are pointwise. Products are exact if the digits have at most [`super::max_digit_bits`] bits.
#[derive(Debug)]
pub struct Plan {
    digits: usize,
    wrap: Wrap,
    /// Disjoint segments, longest first. `Plus` has one. `Minus` has one for each factor `x^(n/2^i) + 1`, then the rest
    /// `x^t - 1`.
    segments: Vec<Segment>,
    backend: Backend,
    threads: usize,
}

/// Splits `n / 2 = m 2^k` for `n = 2 m 2^k` into the odd part and the power of two.
fn factor(digits: usize) -> Option<(usize, usize)> {
    let points = digits / 2;
    let odd = points >> points.checked_ilog2().map_or(0, |_| points.trailing_zeros());
    let power = points.checked_div(odd)?;
    (digits.is_multiple_of(2) && [1, 3, 5, 7].contains(&odd) && power >= TILE_POINTS && digits <= MAX_DIGITS)
        .then_some((odd, power))
}

/// The other factor of a product.
#[derive(Clone, Copy)]
enum Factor {
    /// The first factor again.
    Same,
    /// Points below the top. The product destroys them.
    Branches(Points),
    /// A finished transform.
    Spectrum(Points),
}

impl Plan {
    /// Makes a plan for `digits` digits, `2 m 2^k` with `m` in `{1, 3, 5, 7}` and `k >= 6`, on up to `threads` threads
    /// of the current pool.
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
            Wrap::Plus => {
                let tree = Tree::new(odd, power, 1).with_gaps();
                vec![Segment { re: 0, im: tree.imaginary_offset(), tree }]
            }
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

    /// Returns the least number of digits that a plan supports and that is at least `at_least` (at most
    /// [`MAX_DIGITS`]).
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

    /// Modulus of the products.
    pub fn wrap(&self) -> Wrap {
        self.wrap
    }

    /// Back end on which the plan runs.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Largest number of threads that a call uses.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Floats of a spectrum.
    pub fn spectrum_len(&self) -> usize {
        match self.wrap {
            Wrap::Plus => 2 * self.segments[0].tree.imaginary_offset(),
            Wrap::Minus => self.digits + self.segments[self.segments.len() - 1].tree.points(),
        }
    }

    /// Returns a spectrum of zeros.
    pub fn spectrum(&self) -> AlignedVec<f64> {
        AlignedVec::zeroed(self.spectrum_len())
    }

    /// Words of a residue: `digit_bits n / 64`. Under [`Wrap::Plus`], one more word holds `2^(digit_bits n)`, the
    /// residue of -1.
    pub fn words(&self, digit_bits: u32) -> usize {
        self.digits / 64 * digit_bits as usize
    }

    /// The stages of the transform, for engines on other devices. `None` under [`Wrap::Minus`].
    pub fn stages(&self) -> Option<Stages<'_>> {
        (self.wrap == Wrap::Plus).then(|| self.segments[0].tree.stages())
    }

    /// `spectrum <- transform(x)`, where `x` has at most [`Self::words`] words, cut into balanced digits of
    /// `digit_bits` bits (2 to 25).
    ///
    /// # Panics
    /// Panics for other lengths; the caller must check them.
    pub fn forward(&self, digit_bits: u32, x: &[u64], spectrum: &mut [f64]) {
        in_pool(self.threads, || {
            let windows = self.windows(digit_bits, x);
            let source = self.load(&windows, x, spectrum);
            for (segment, p) in self.points(spectrum) {
                self.top(&segment.tree, p, |columns| Work::TopForward(source, columns));
                self.branches(&segment.tree, p, Work::BranchesForward);
            }
        });
    }

    /// `a <- a b`.
    pub fn multiply(&self, a: &mut [f64], b: &[f64]) {
        self.pointwise(a, None, Some(b));
    }

    /// `a <- a^2`.
    pub fn square(&self, a: &mut [f64]) {
        self.pointwise(a, None, None);
    }

    /// `sum <- sum + a b`.
    pub fn multiply_add(&self, sum: &mut [f64], a: &[f64], b: &[f64]) {
        self.pointwise(sum, Some(a), Some(b));
    }

    /// Writes the residue with this spectrum to `out` and destroys the spectrum. Shape: `out` holds [`Self::words`]
    /// words. For [`Wrap::Plus`] it holds one more, unless the residue is known not to be `2^(digit_bits n)`. It may
    /// hold fewer for a product of integers that fits, if the operands' digits are together at most `n + 1`.
    ///
    /// # Panics
    /// Panics for other lengths.
    pub fn inverse(&self, digit_bits: u32, spectrum: &mut [f64], out: &mut [u64]) {
        in_pool(self.threads, || {
            for (segment, p) in self.points(spectrum) {
                self.branches(&segment.tree, p, Work::BranchesInverse);
            }
            self.store(digit_bits, spectrum, out);
        });
    }

    /// `out <- x y` (`x^2` without `y`), as [`Self::inverse`] writes it. Shape: `scratch` holds two spectra (one
    /// without `y`). It is faster than the sum of its parts, because it transforms a tile, multiplies it and transforms
    /// it back at once.
    ///
    /// # Panics
    /// Panics for other lengths.
    pub fn convolve(&self, digit_bits: u32, x: &[u64], y: Option<&[u64]>, out: &mut [u64], scratch: &mut [f64]) {
        in_pool(self.threads, || {
            let len = self.spectrum_len();
            let (a, b) = scratch.split_at_mut(len);
            let other = y.map(|y| {
                let windows = self.windows(digit_bits, y);
                let b = &mut b[..len];
                let source = self.load(&windows, y, b);
                for (segment, p) in self.points(b) {
                    self.top(&segment.tree, p, |columns| Work::TopForward(source, columns));
                }
                b.as_mut_ptr()
            });
            let factor = |segment: &Segment| other.map_or(Factor::Same, |b| Factor::Branches(segment.points(b)));
            self.convolve_points(digit_bits, x, factor, a);
            self.store(digit_bits, a, out);
        });
    }

    /// `out <- x y`, as [`Self::convolve`] does, for the spectrum of `y`. Shape: `scratch` holds one spectrum.
    ///
    /// # Panics
    /// Panics for other lengths.
    pub fn convolve_transformed(&self, digit_bits: u32, x: &[u64], y: &[f64], out: &mut [u64], scratch: &mut [f64]) {
        assert_eq!(y.len(), self.spectrum_len(), "a spectrum of this plan");
        in_pool(self.threads, || {
            // The product only reads these points.
            let factor = |segment: &Segment| Factor::Spectrum(segment.points(y.as_ptr().cast_mut()));
            self.convolve_points(digit_bits, x, factor, scratch);
            self.store(digit_bits, scratch, out);
        });
    }

    /// `spectrum <-` the points of the product of `x` and the factor of each segment, with the branches done backwards.
    fn convolve_points(&self, digit_bits: u32, x: &[u64], factor: impl Fn(&Segment) -> Factor, spectrum: &mut [f64]) {
        let windows = self.windows(digit_bits, x);
        let source = self.load(&windows, x, spectrum);
        for (segment, p) in self.points(spectrum) {
            let factor = factor(segment);
            self.top(&segment.tree, p, |columns| Work::TopForward(source, columns));
            self.branches(&segment.tree, p, |tiles| match factor {
                Factor::Same => Work::Convolve(None, tiles),
                Factor::Branches(b) => Work::Convolve(Some(b), tiles),
                Factor::Spectrum(b) => Work::Finish(b, tiles),
            });
        }
    }

    fn points(&self, spectrum: &mut [f64]) -> impl Iterator<Item = (&Segment, Points)> {
        assert_eq!(spectrum.len(), self.spectrum_len(), "a spectrum of this plan");
        let at = spectrum.as_mut_ptr();
        self.segments.iter().map(move |segment| (segment, segment.points(at)))
    }

    /// Returns the positions of the digits of `x`.
    fn windows(&self, digit_bits: u32, x: &[u64]) -> Windows {
        let words = self.words(digit_bits);
        assert!(
            (2..=digits::MAX_DIGIT_BITS).contains(&digit_bits) && x.len() <= words,
            "at most {words} words in digits of 2 to 25 bits"
        );
        // Booth's recoding carries the top bit out of the last digit.
        let top = if x.len() == words { (x[words - 1] >> 63) as f64 } else { 0.0 };
        Windows::new(digit_bits, if self.wrap == Wrap::Plus { -top } else { top })
    }

    /// Returns the input of a transform of `x`: its words, unless the digits must be folded first.
    fn load<'a>(&self, windows: &'a Windows, x: &'a [u64], spectrum: &mut [f64]) -> Source<'a> {
        if self.wrap == Wrap::Plus {
            return Source::Words(x, windows);
        }
        let (used, rest) = spectrum.split_at_mut(self.digits);
        digits::split(self.backend, windows, x, used);
        rest.fill(0.0);
        let mut length = self.digits;
        for _ in 1..self.segments.len() {
            length /= 2;
            self.fold(spectrum, length);
        }
        Source::InPlace
    }

    /// Runs the tops of all factors backwards and combines their residues to coefficients, all times `n/2`.
    fn join_factors(&self, spectrum: &mut [f64]) {
        for (segment, p) in self.points(spectrum) {
            self.top(&segment.tree, p, |columns| Work::TopInverse(columns, None));
        }
        if self.wrap == Wrap::Minus {
            let rest = &self.segments[self.segments.len() - 1].tree;
            // Its transform is scaled by t, and its share of the result by 2^-depth, twice the share of the others.
            for x in &mut spectrum[..rest.points()] {
                *x *= 0.5;
            }
            let mut length = rest.points();
            for _ in 1..self.segments.len() {
                self.fold(spectrum, length);
                length *= 2;
            }
        }
    }

    /// Converts spectra, of which the branches are done, to a canonical residue of the integer.
    fn store(&self, digit_bits: u32, spectrum: &mut [f64], out: &mut [u64]) {
        let words = self.words(digit_bits);
        let most = if self.wrap == Wrap::Plus { words + 1 } else { words };
        let least = if self.wrap == Wrap::Plus { 0 } else { words };
        assert!((least..=most).contains(&out.len()), "a residue of {least} to {most} words");
        let (low, high) = out.split_at_mut(words.min(out.len()));
        let scale = 1.0 / (self.digits / 2) as f64;
        match self.wrap {
            Wrap::Minus => {
                self.join_factors(spectrum);
                let coefficients = &spectrum[..self.digits];
                let streams = carry::flat_streams(self.digits);
                // 2^(bits n) = 1, so the carry is added again at the lowest word. Then all ones are 0.
                let carry = self.carry(streams, digit_bits, scale, 0, low, |columns, carry, spill| {
                    // SAFETY: calls at one time have other columns.
                    unsafe { carry::flat(self.backend, coefficients, streams, columns, carry, spill) }
                });
                let carry = carry::add_small(low, carry);
                carry::add_small(low, carry);
                let ones = low.iter().fold(u64::MAX, |ones, &x| ones & x);
                let keep = u64::from(ones == u64::MAX).wrapping_sub(1);
                low.iter_mut().for_each(|x| *x &= keep);
            }
            Wrap::Plus => {
                let tree = &self.segments[0].tree;
                let p = self.segments[0].points(spectrum.as_mut_ptr());
                // 2^(bits n) = -1, and the offsets are q (2^(bits n) - 1) = -2 q.
                // Modulo the power of two above fewer words, 2^(bits n) = 0 and the offsets are -q.
                let short = low.len() < words;
                let offsets = carry::offset_quotient(digit_bits) * if short { 1 } else { 2 };
                let streams = self.digits / tree.top().branch;
                let carry = self.carry(streams, digit_bits, scale, offsets, low, |columns, carry, spill| {
                    let work = Work::TopInverse(columns, Some((carry, spill)));
                    // SAFETY: the points are borrowed mutably by the caller; calls at one time have other columns.
                    unsafe { kernel::run(self.backend, tree, p, work) };
                });
                if short {
                    return;
                }
                let borrow = carry::sub_small(low, carry);
                // A negative value gets 2^(bits n) + 1; the sum may be 2^(bits n) itself.
                let top = carry::add_small(low, borrow);
                high.fill(0);
                if let Some(high) = high.first_mut() {
                    *high = top;
                }
            }
        }
    }

    /// Carries all coefficients into words, with `first` added to the lowest. Returns the carry out of the words.
    /// `work` carries some columns of the coefficients, which are in streams.
    fn carry(
        &self,
        streams: usize,
        digit_bits: u32,
        scale: f64,
        first: u64,
        out: &mut [u64],
        work: impl Fn(Range<usize>, Carry, &mut Spill) + Sync,
    ) -> u64 {
        let chunks = self.digits / streams / carry::CHUNK;
        let parts = self.threads.min(chunks);
        let words = chunks * digit_bits as usize;
        let carry = Carry::new(scale, digit_bits, out, words);
        let cut = |part| chunks * part / parts;
        let work = |part, spill: &mut Spill| {
            work(cut(part) * carry::CHUNK..cut(part + 1) * carry::CHUNK, carry, spill);
        };
        // A call on one thread allocates nothing.
        let (mut one, mut many) = ([[0; 2 * MAX_ROWS]], Vec::new());
        let spills = if parts == 1 {
            &mut one[..]
        } else {
            many.resize(parts, one[0]);
            &mut many[..]
        };
        each(spills, 0, &work);
        carry::join(out, streams, words, spills, |part| cut(part) * digit_bits as usize, first)
    }

    fn fold(&self, spectrum: &mut [f64], length: usize) {
        let (low, high) = spectrum.split_at_mut(length);
        // SAFETY: `high` holds at least as many, `length` is a multiple of 64.
        unsafe { kernel::run_fold(self.backend, low.as_mut_ptr(), high.as_mut_ptr(), 0..length) };
    }

    /// Runs all columns of the top of a tree.
    fn top<'a>(&self, tree: &Tree, p: Points, work: impl Fn(Range<usize>) -> Work<'a> + Sync) {
        parallel(self.threads, STRIP, 0..tree.top().branch, &|columns| {
            // SAFETY: the points are borrowed mutably by the caller; calls at one time have other columns.
            unsafe { kernel::run(self.backend, tree, p, work(columns)) };
        });
    }

    /// Runs all tiles below the top.
    fn branches<'a>(&self, tree: &Tree, p: Points, work: impl Fn(Range<usize>) -> Work<'a> + Sync) {
        let grain = tree.top().branch / TILE_POINTS;
        parallel(self.threads, grain, 0..tree.points() / TILE_POINTS, &|tiles| {
            // SAFETY: the points are borrowed mutably by the caller; calls at one time have other branches.
            unsafe { kernel::run(self.backend, tree, p, work(tiles)) };
        });
    }

    fn pointwise(&self, a: &mut [f64], x: Option<&[f64]>, b: Option<&[f64]>) {
        let len = self.spectrum_len();
        assert!(x.is_none_or(|x| x.len() == len) && b.is_none_or(|b| b.len() == len), "spectra of this plan");
        for (segment, a) in self.points(a) {
            let at = |s: &[f64]| segment.points(s.as_ptr().cast_mut());
            parallel(self.threads, STRIP, 0..segment.tree.imaginary_offset(), &|range| {
                // SAFETY: the points are inside the spectra; only `a` is written, and calls at one time have other
                // ranges.
                unsafe { kernel::run_pointwise(self.backend, a, x.map(at), b.map(at), range) };
            });
        }
    }
}

/// Runs `work` on a thread of the pool. That thread can distribute the work without passing through the pool's queue
/// each time.
fn in_pool(threads: usize, work: impl FnOnce() + Send) {
    if threads == 1 { work() } else { rayon::scope(|_| work()) }
}

/// Runs `work` over a range, in as many parts as there are threads, cut at multiples of `grain`.
fn parallel(threads: usize, grain: usize, range: Range<usize>, work: &(impl Fn(Range<usize>) + Sync)) {
    let grains = range.len() / grain;
    if threads == 1 || grains < 2 {
        return work(range);
    }
    let lower = threads / 2;
    let middle = range.start + (grains * lower).div_ceil(threads) * grain;
    rayon::join(
        || parallel(lower, grain, range.start..middle, work),
        || parallel(threads - lower, grain, middle..range.end, work),
    );
}

/// Runs `work` for each element of `parts` with its number, counted from `first`, on as many threads.
fn each<T: Send>(parts: &mut [T], first: usize, work: &(impl Fn(usize, &mut T) + Sync)) {
    if let [part] = parts {
        return work(first, part);
    }
    let (low, high) = parts.split_at_mut(parts.len() / 2);
    let middle = first + low.len();
    rayon::join(|| each(low, first, work), || each(high, middle, work));
}

#[cfg(test)]
mod error_tests;
