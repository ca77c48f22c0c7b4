//! Montgomery multiplication at word level (montgomery1985), for odd moduli of up to some hundred words.
//!
//! A residue stands for `x R mod m`, in a form that depends on the [`Multiplier`]: 64-bit words, or 52-bit digits in vectors. Derivation,
//! operation counts and measured choices: `docs/derivations/montgomery.md`. Everything here takes the same time for all values.

mod words;

use super::Multiplier;
use words::Words;
use zeroize::Zeroize;

/// Arithmetic modulo an odd number, its constants computed once.
///
/// A residue is a slice of [`Self::len`] words in a form of its own: made by [`Self::enter`], read by [`Self::leave`].
pub struct Montgomery {
    engine: Words,
    multiplier: Multiplier,
    /// m, padded to the length of a residue.
    modulus: Box<[u64]>,
    /// Words of m.
    words: usize,
    /// R mod m: the residue of 1.
    one: Box<[u64]>,
    /// R^2 mod m: multiplying by it enters the form.
    square: Box<[u64]>,
}

/// -1/m modulo 2^64, for odd m: each step doubles the number of right bits, from 5.
fn negative_inverse(m: u64) -> u64 {
    let mut x = m.wrapping_mul(3) ^ 2;
    for _ in 0..4 {
        x = x.wrapping_mul(2u64.wrapping_sub(m.wrapping_mul(x)));
    }
    x.wrapping_neg()
}

impl Montgomery {
    /// For an odd modulus of `bits` bits (a public figure; the time does not depend on the words otherwise).
    ///
    /// # Panics
    /// When the modulus is even or 1: the callers in this workspace have checked.
    pub fn new(modulus: &[u64], multiplier: Multiplier) -> Self {
        let words = modulus.iter().rposition(|&w| w != 0).map_or(0, |top| top + 1);
        assert!(words > 0 && modulus[0] & 1 == 1 && modulus[..words] != [1], "the modulus must be odd and above 1");
        let len = words.next_multiple_of(8);
        let mut m = vec![0; len];
        m[..words].copy_from_slice(&modulus[..words]);
        let engine = Words::new(&m, multiplier);
        let mut plan =
            Self { engine, multiplier, modulus: m.into(), words, one: Box::default(), square: Box::default() };
        plan.find_powers();
        plan
    }

    /// R mod m by doublings from the highest power of two below m; then R^2 from 2^(r/32) R by five squarings, where R = 2^r.
    fn find_powers(&mut self) {
        let len = self.modulus.len();
        let bits = 64 * self.words - self.modulus[self.words - 1].leading_zeros() as usize;
        let mut x = vec![0; len];
        x[(bits - 1) / 64] = 1 << ((bits - 1) % 64);
        for _ in bits - 1..64 * len {
            self.double(&mut x);
        }
        self.one = x.clone().into();
        for _ in 0..64 * len / 32 {
            self.double(&mut x);
        }
        let mut scratch = vec![0; self.scratch_len()];
        for _ in 0..5 {
            let half = x.clone();
            self.square(&mut x, &half, &mut scratch);
        }
        self.square = x.into();
    }

    /// x <- 2 x modulo m.
    fn double(&self, x: &mut [u64]) {
        let carry = super::shl(x, 1);
        super::reduce_once(x, carry, &self.modulus);
    }

    /// Which instructions it runs on.
    pub fn multiplier(&self) -> Multiplier {
        self.multiplier
    }

    /// Words of a residue.
    #[expect(clippy::len_without_is_empty, reason = "no residue is empty")]
    pub fn len(&self) -> usize {
        self.modulus.len()
    }

    /// Words of scratch that the other calls need. What they leave there tells of the operands: the caller wipes it if they are secret.
    pub fn scratch_len(&self) -> usize {
        self.engine.scratch_len() + 2 * self.len()
    }

    /// Words of the modulus.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The residue of 1.
    pub fn one(&self) -> &[u64] {
        &self.one
    }

    /// out <- a b. Shape: residues of [`Self::len`] words, scratch of [`Self::scratch_len`].
    pub fn mul(&self, out: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64]) {
        self.engine.mul(out, a, b, &mut scratch[..self.engine.scratch_len()]);
    }

    /// out <- a^2. Shape: residues of [`Self::len`] words, scratch of [`Self::scratch_len`].
    pub fn square(&self, out: &mut [u64], a: &[u64], scratch: &mut [u64]) {
        self.engine.square(out, a, &mut scratch[..self.engine.scratch_len()]);
    }

    /// out <- the residue of x. Shape: `x` of any length; the time depends on it. Range: x any number, also above the modulus.
    pub fn enter(&self, out: &mut [u64], x: &[u64], scratch: &mut [u64]) {
        // Horner's rule in R: a piece x_i enters as x_i R by one multiplication by R^2, and the sum of those above it by one more.
        let (scratch, rest) = scratch.split_at_mut(self.engine.scratch_len());
        let (piece, product) = rest.split_at_mut(self.len());
        out.fill(0);
        for (i, part) in x.chunks(self.len()).rev().enumerate() {
            if i > 0 {
                self.engine.mul(product, out, &self.square, scratch);
                out.copy_from_slice(product);
            }
            piece[..part.len()].copy_from_slice(part);
            piece[part.len()..].fill(0);
            self.engine.mul(product, piece, &self.square, scratch);
            piece.copy_from_slice(out);
            super::add_mod(out, piece, product, &self.modulus);
        }
    }

    /// out <- the number of a residue. Shape: `out` of the modulus's words. Range: out in 0..m.
    pub fn leave(&self, out: &mut [u64], residue: &[u64], scratch: &mut [u64]) {
        let (scratch, rest) = scratch.split_at_mut(self.engine.scratch_len());
        let (number, _) = rest.split_at_mut(self.len());
        scratch[..self.len()].copy_from_slice(residue);
        scratch[self.len()..].fill(0);
        self.engine.reduce(number, scratch);
        out.copy_from_slice(&number[..self.words]);
    }
}

impl Drop for Montgomery {
    fn drop(&mut self) {
        self.modulus.zeroize();
        self.one.zeroize();
        self.square.zeroize();
    }
}
