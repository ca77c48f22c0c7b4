//! Columns of products and their carries, over any [`Digits`].

use super::Digits;

/// The sums of one chunk of columns.
struct Sums<L: Digits> {
    accumulators: [L::V; 9],
    terms: u64,
}

impl<L: Digits> Sums<L> {
    #[inline(always)]
    fn new(l: L) -> Self {
        Self { accumulators: [l.splat(0); 9], terms: 0 }
    }

    /// Adds the products of chunks `a[0], a[1], ...` with `b[0], b[-1], ...`.
    ///
    /// # Safety
    /// `terms` chunks must be readable from `a` on upwards, and from `b` on downwards.
    #[inline(always)]
    unsafe fn add(&mut self, l: L, a: *const u64, b: *const u64, terms: usize) {
        let mut sums = self.accumulators;
        for t in 0..terms {
            // SAFETY: the caller's contract; term t reads chunk t above `a` and chunk t below `b`.
            unsafe {
                let x = l.factor(a.add(t * L::WIDTH));
                let row = b.sub(t * L::WIDTH);
                for k in 0..L::WIDTH {
                    (sums[k], sums[k + 1]) = l.multiply_add(sums[k], sums[k + 1], x, l.broadcast(row.add(k)));
                }
            }
        }
        self.accumulators = sums;
        self.terms += terms as u64;
    }

    /// Doubles the gathered sums.
    #[inline(always)]
    fn double(&mut self, l: L) {
        for x in &mut self.accumulators {
            *x = l.add(*x, *x);
        }
        self.terms *= 2;
    }

    /// Returns the sums of this chunk of digits and the part that passes into the next, modulo 2^64.
    #[inline(always)]
    fn gather(mut self, l: L) -> (L::V, L::V) {
        let (low, high) = L::bias();
        if (low, high) != (0, 0) {
            let (low, high) =
                (low.wrapping_mul(self.terms).wrapping_neg(), high.wrapping_mul(self.terms).wrapping_neg());
            for k in 0..=L::WIDTH {
                let bias = if k < L::WIDTH { low } else { 0 }.wrapping_add(if k > 0 { high } else { 0 });
                self.accumulators[k] = l.add(self.accumulators[k], l.splat(bias));
            }
        }
        l.gather(&self.accumulators)
    }
}

/// Offset that is added to each column so that none is negative, minus the carry that it causes.
#[inline(always)]
fn offset<L: Digits>(l: L) -> L::V {
    l.splat((L::OFFSET << L::BITS).wrapping_sub(L::OFFSET))
}

/// t <- the columns of a b, not yet carried. Shape: a, b of whole chunks in factor form, t as long as both together.
#[inline(always)]
pub(in crate::limbs) fn product_columns<L: Digits>(l: L, t: &mut [u64], a: &[u64], b: &[u64]) {
    let (chunks, rows) = (a.len() / L::WIDTH, b.len() / L::WIDTH);
    assert!(
        chunks > 0
            && rows > 0
            && a.len() == chunks * L::WIDTH
            && b.len() == rows * L::WIDTH
            && t.len() == a.len() + b.len()
    );
    let mut above = offset(l);
    for j in 0..chunks + rows - 1 {
        let mut sums = Sums::new(l);
        let first = (j + 1).saturating_sub(rows);
        let last = j.min(chunks - 1);
        // SAFETY: chunks first..=last of a meet chunks j - first down to j - last of b, all within them; t has chunk j.
        unsafe {
            sums.add(l, a.as_ptr().add(first * L::WIDTH), b.as_ptr().add((j - first) * L::WIDTH), last + 1 - first);
            let (low, high) = sums.gather(l);
            l.store(t.as_mut_ptr().add(j * L::WIDTH), l.add(low, above));
            above = l.add(high, offset(l));
        }
    }
    // SAFETY: t has as many chunks as a and b together.
    unsafe { l.store(t.as_mut_ptr().add((chunks + rows - 1) * L::WIDTH), above) };
}

/// t <- the columns of a^2, not yet carried, with each pair of different chunks once. Shape: a n digits in factor form,
/// t 2n.
#[inline(always)]
pub(in crate::limbs) fn square_columns<L: Digits>(l: L, t: &mut [u64], a: &[u64]) {
    let n = a.len();
    assert!(n.is_multiple_of(L::WIDTH) && n > 0 && t.len() == 2 * n);
    let chunks = n / L::WIDTH;
    let mut above = offset(l);
    for j in 0..2 * chunks - 1 {
        let mut sums = Sums::new(l);
        let first = (j + 1).saturating_sub(chunks);
        // SAFETY: chunks first.. of a below j / 2 meet chunks j - first down to above j / 2, all within n digits; t has
        // chunk j.
        unsafe {
            sums.add(
                l,
                a.as_ptr().add(first * L::WIDTH),
                a.as_ptr().add((j - first) * L::WIDTH),
                j.div_ceil(2) - first,
            );
            sums.double(l);
            if j % 2 == 0 {
                let middle = a.as_ptr().add(j / 2 * L::WIDTH);
                sums.add(l, middle, middle, 1);
            }
            let (low, high) = sums.gather(l);
            l.store(t.as_mut_ptr().add(j * L::WIDTH), l.add(low, above));
            above = l.add(high, offset(l));
        }
    }
    // SAFETY: t has 2 chunks.
    unsafe { l.store(t.as_mut_ptr().add((2 * chunks - 1) * L::WIDTH), above) };
}

/// t <- the n lowest columns of a b, not yet carried. Shape: a, b n digits in factor form, t n.
#[inline(always)]
pub(in crate::limbs) fn low_columns<L: Digits>(l: L, t: &mut [u64], a: &[u64], b: &[u64]) {
    let n = a.len();
    assert!(n.is_multiple_of(L::WIDTH) && b.len() == n && t.len() == n);
    let mut above = offset(l);
    for j in 0..n / L::WIDTH {
        let mut sums = Sums::new(l);
        // SAFETY: chunks 0..=j of a meet chunks j down to 0 of b; t has chunk j.
        unsafe {
            sums.add(l, a.as_ptr(), b.as_ptr().add(j * L::WIDTH), j + 1);
            let (low, high) = sums.gather(l);
            l.store(t.as_mut_ptr().add(j * L::WIDTH), l.add(low, above));
            above = l.add(high, offset(l));
        }
    }
}

/// t <- t + the columns of a b from n on. Returns the sum of column n - 1, without the high halves of column n - 2 that
/// come from chunks i + j = n / WIDTH - 2. Shape: a, b n digits in factor form, t n.
#[inline(always)]
pub(in crate::limbs) fn high_columns<L: Digits>(l: L, t: &mut [u64], a: &[u64], b: &[u64]) -> u64 {
    let n = a.len();
    assert!(n.is_multiple_of(L::WIDTH) && n > 0 && b.len() == n && t.len() == n);
    let chunks = n / L::WIDTH;
    let mut edge = 0;
    let mut above = l.splat(0);
    for j in chunks - 1..2 * chunks {
        let mut sums = Sums::new(l);
        let first = j + 1 - chunks;
        // SAFETY: chunks first.. of a meet chunks n - 1 down to first of b; t has chunk first - 1.
        unsafe {
            let rows = chunks - first;
            if rows > 0 {
                sums.add(l, a.as_ptr().add(first * L::WIDTH), b.as_ptr().add((chunks - 1) * L::WIDTH), rows);
            }
            let (low, high) = sums.gather(l);
            if first == 0 {
                edge = l.last(low);
            } else {
                let at = t.as_mut_ptr().add((first - 1) * L::WIDTH);
                l.store(at, l.add(l.load(at), l.add(low, above)));
            }
            above = l.add(high, offset(l));
        }
    }
    edge
}

/// t <- digits in 0..2^BITS of the sums in t. It adds `extra` to the lowest sum and drops the part above the top.
/// Range: sums in 0..2^63. The digits also go to `factors` in factor form, as many as that holds.
#[inline(always)]
pub(in crate::limbs) fn carry<L: Digits>(l: L, t: &mut [u64], extra: u64, factors: &mut [u64]) {
    assert!(t.len().is_multiple_of(L::WIDTH) && factors.len().is_multiple_of(L::WIDTH) && factors.len() <= t.len());
    if let Some(first) = t.first_mut() {
        *first = first.wrapping_add(extra).wrapping_add(L::OFFSET);
    }
    let mut above = l.splat(0);
    let mut carried = 0;
    let mut digits;
    for at in (0..t.len()).step_by(L::WIDTH) {
        // SAFETY: both slices are of whole chunks.
        unsafe {
            (digits, above, carried) = l.carry(l.load(t.as_ptr().add(at)), above, carried);
            l.store(t.as_mut_ptr().add(at), digits);
            if at < factors.len() {
                l.store(factors.as_mut_ptr().add(at), l.encode(digits));
            }
        }
    }
}
