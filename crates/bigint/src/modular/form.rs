//! The common interface of the methods of modular multiplication, and powers based on it.

use std::sync::{Mutex, PoisonError};

use solinas_field::limbs;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::{Error, Natural, fft};

/// A representation of residues with products that stay in it. Shape: residues are slices of [`Form::residue_words`]
/// words; workspaces are of `self`.
///
/// The time of an operation does not depend on the values, with two exceptions: the carries of transforms
/// ([`crate::fft`], *Time*), and the exponent in [`Form::vartime_pow`]. Buffers that hold residues are wiped on drop.
pub trait Form {
    /// Buffers for one thread.
    type Workspace: ZeroizeOnDrop;
    /// A residue whose transforms are kept.
    type Operand: ZeroizeOnDrop;

    /// Words of a residue.
    fn residue_words(&self) -> usize;
    /// Buffers for one thread.
    fn workspace(&self) -> Self::Workspace;
    /// The residue of 1.
    fn one(&self) -> Zeroizing<Vec<u64>>;
    /// Returns the residue of x, in 0..m, with as many words as m.
    ///
    /// # Errors
    /// The plans of `self` with a workspace of `self` cause none; the same holds for every method.
    fn enter(&self, x: &[u64], workspace: &mut Self::Workspace) -> Result<Zeroizing<Vec<u64>>, Error>;
    /// residue <- the number that it represents, in 0..m.
    ///
    /// # Errors
    /// As [`Form::enter`].
    fn leave(&self, residue: &mut [u64], workspace: &mut Self::Workspace) -> Result<(), Error>;
    /// Keeps the transforms of a residue.
    ///
    /// # Errors
    /// As [`Form::enter`].
    fn prepare(&self, residue: &[u64]) -> Result<Self::Operand, Error>;
    /// a <- a b.
    ///
    /// # Errors
    /// As [`Form::enter`].
    fn mul(&self, a: &mut [u64], b: &[u64], workspace: &mut Self::Workspace) -> Result<(), Error>;
    /// a <- a b.
    ///
    /// # Errors
    /// As [`Form::enter`].
    fn mul_prepared(&self, a: &mut [u64], b: &Self::Operand, workspace: &mut Self::Workspace) -> Result<(), Error>;
    /// a <- a^2.
    ///
    /// # Errors
    /// As [`Form::enter`].
    fn square(&self, a: &mut [u64], workspace: &mut Self::Workspace) -> Result<(), Error>;

    /// Returns residue^exponent, or 1 for exponent 0. The time depends on `bits` and not on the exponent. It uses fixed
    /// windows (wang2014, algorithm 7.2, with a window of w bits in place of one), and reads tables from end to end.
    /// Range: exponent below 2^bits.
    ///
    /// # Errors
    /// As [`Form::enter`].
    fn pow(
        &self,
        residue: &[u64],
        exponent: &Natural,
        bits: usize,
        workspace: &mut Self::Workspace,
    ) -> Result<Zeroizing<Vec<u64>>, Error> {
        debug_assert!(exponent.bit_len() <= bits);
        let n = self.residue_words();
        let window = window(bits);
        let mut table = Zeroizing::new(vec![0; n << window]);
        table[..n].copy_from_slice(&self.one());
        let base = self.prepare(residue)?;
        for i in 1..1 << window {
            let (done, rest) = table.split_at_mut(i * n);
            let entry = &mut rest[..n];
            entry.copy_from_slice(&done[(i - 1) * n..]);
            self.mul_prepared(entry, &base, workspace)?;
        }
        let mut power = self.one();
        let mut factor = Zeroizing::new(vec![0; n]);
        for digit in digits(exponent, bits, window) {
            for _ in 0..window {
                self.square(&mut power, workspace)?;
            }
            limbs::lookup(&mut factor, &table, digit as usize);
            self.mul(&mut power, &factor, workspace)?;
        }
        Ok(power)
    }

    /// Returns residue^exponent, or 1 for exponent 0. The time depends on the exponent. It uses sliding windows over
    /// odd powers, whose transforms are kept.
    ///
    /// # Errors
    /// As [`Form::enter`].
    fn vartime_pow(
        &self,
        residue: &[u64],
        exponent: &Natural,
        workspace: &mut Self::Workspace,
    ) -> Result<Zeroizing<Vec<u64>>, Error> {
        let window = window(exponent.bit_len());
        let mut square = Zeroizing::new(residue.to_vec());
        self.square(&mut square, workspace)?;
        let square = self.prepare(&square)?;
        let mut odd = vec![self.prepare(residue)?];
        let mut entry = Zeroizing::new(residue.to_vec());
        for _ in 1..1usize << (window - 1) {
            self.mul_prepared(&mut entry, &square, workspace)?;
            odd.push(self.prepare(&entry)?);
        }
        let mut power = self.one();
        let mut end = exponent.bit_len();
        let mut started = false;
        while end > 0 {
            if !exponent.bit(end - 1) {
                end -= 1;
                self.square(&mut power, workspace)?;
                continue;
            }
            // The longest window with a one at each end.
            let start = (end.saturating_sub(window)..end).find(|&i| exponent.bit(i)).unwrap_or(end - 1);
            let digit = (start..end).rev().fold(0, |digit, i| 2 * digit + usize::from(exponent.bit(i)));
            if started {
                for _ in start..end {
                    self.square(&mut power, workspace)?;
                }
            }
            self.mul_prepared(&mut power, &odd[digit / 2], workspace)?;
            (end, started) = (start, true);
        }
        Ok(power)
    }
}

/// Returns the window in bits that needs the fewest products for exponents of `bits` bits, table included.
fn window(bits: usize) -> usize {
    let cost = |window: usize| (1 << window) + bits.div_ceil(window);
    (1..=8).min_by_key(|&window| cost(window)).unwrap_or(1)
}

/// Digits of `window` bits of an exponent of `bits` bits, highest first.
fn digits(exponent: &Natural, bits: usize, window: usize) -> impl Iterator<Item = u64> {
    (0..bits.div_ceil(window)).rev().map(move |i| {
        let at = i * window;
        let word = |i: usize| exponent.words().get(i).copied().unwrap_or(0);
        let wide = u128::from(word(at / 64 + 1)) << 64 | u128::from(word(at / 64));
        (wide >> (at % 64)) as u64 & ((1 << window) - 1)
    })
}

/// Returns x with zeros above it. Shape: `len` words, at least as many as x has.
pub(super) fn padded(x: &[u64], len: usize) -> Zeroizing<Vec<u64>> {
    let mut words = Zeroizing::new(vec![0; len]);
    words[..x.len()].copy_from_slice(x);
    words
}

/// Runs `work` on a workspace of its own, for secrets. It then wipes the workspace and the data of products in this
/// thread's scratch.
pub(super) fn with_wiped<W: ZeroizeOnDrop, T>(
    mut workspace: W,
    work: impl FnOnce(&mut W) -> Result<T, Error>,
) -> Result<T, Error> {
    let result = work(&mut workspace);
    drop(workspace);
    fft::wipe_scratch();
    result
}

/// Idle workspaces.
#[derive(Debug)]
pub(crate) struct Pool<W>(Mutex<Vec<W>>);

impl<W> Default for Pool<W> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<W> Pool<W> {
    /// Lends a workspace. If none is idle, it makes one. After an error the workspace is dropped.
    pub(crate) fn with<T>(
        &self,
        make: impl FnOnce() -> W,
        work: impl FnOnce(&mut W) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut workspace = waiting.unwrap_or_else(make);
        let result = work(&mut workspace)?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(workspace);
        Ok(result)
    }
}
