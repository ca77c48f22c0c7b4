//! Montgomery multiplication at word level (montgomery1985), for odd moduli of up to some hundred words.
//!
//! A residue represents `x R mod m`, in a form that depends on the [`Multiplier`]: 64-bit words, or 52-bit digits in
//! vectors. Derivation, operation counts and measured choices: `docs/derivations/montgomery.md`. Every function takes
//! the same time for all values.

mod digits;
mod words;

use super::Multiplier;
use digits::DigitMontgomery;
use words::WordMontgomery;
use zeroize::Zeroize;

/// Arithmetic modulo an odd number. The constants are computed once and wiped on drop.
///
/// A residue is a slice of [`Self::residue_len`] words in a form of its own. [`Self::enter`] makes it and
/// [`Self::leave`] reads it.
pub struct Montgomery {
    engine: Engine,
    multiplier: Multiplier,
    /// m without leading zero words.
    modulus: Box<[u64]>,
    /// R mod m, in 0..m: the residue of 1.
    one: Box<[u64]>,
    /// R^2 mod m, in 0..m. Multiplying any number below R by it enters the form.
    square: Box<[u64]>,
}

enum Engine {
    Words(WordMontgomery),
    Digits(DigitMontgomery),
}

impl Montgomery {
    /// Makes the constants for an odd modulus above 1. The time depends on the modulus only by its bit length.
    ///
    /// # Panics
    /// Panics if the modulus is even or 1; the callers in this workspace check it.
    pub fn new(modulus: &[u64], multiplier: Multiplier) -> Self {
        let words = modulus.iter().rposition(|&w| w != 0).map_or(0, |top| top + 1);
        let modulus = &modulus[..words];
        assert!(words > 0 && modulus[0] & 1 == 1 && modulus != [1], "the modulus must be odd and above 1");
        let bits = 64 * words - modulus[words - 1].leading_zeros() as usize;
        let engine = match DigitMontgomery::new(modulus, bits, multiplier) {
            Some(digits) => Engine::Digits(digits),
            None => Engine::Words(WordMontgomery::new(modulus, multiplier)),
        };
        let mut plan =
            Self { engine, multiplier, modulus: modulus.into(), one: Box::default(), square: Box::default() };
        plan.find_powers(bits);
        plan
    }

    /// Computes R mod m by doublings from the highest power of two below m. It doubles on to 2^(r/s) R, and computes
    /// R^2 from there by log2 s squarings, where R = 2^r.
    ///
    /// One more squaring makes R^3, which leaves the form as R^2 in 0..m. A residue of digits may be up to 2m, which is
    /// too much for [`Self::enter`].
    fn find_powers(&mut self, bits: usize) {
        let r = self.total_bits();
        let squarings = r.trailing_zeros().min(5);
        let mut scratch = vec![0; self.scratch_len()];
        let (mut one, mut x) = (vec![0; self.residue_len()], vec![0; self.residue_len()]);
        let mut power = vec![0; self.modulus.len()];
        power[(bits - 1) / 64] = 1 << ((bits - 1) % 64);
        for exponent in bits - 1..r + (r >> squarings) {
            if exponent == r {
                self.unpack(&mut one, &power, 0);
            }
            let carry = super::shl(&mut power, 1);
            super::reduce_once(&mut power, carry, &self.modulus);
        }
        let mut half = vec![0; self.residue_len()];
        self.unpack(&mut x, &power, 0);
        for _ in 0..=squarings {
            half.copy_from_slice(&x);
            self.square(&mut x, &half, &mut scratch);
        }
        self.leave(&mut power, &x, &mut scratch);
        debug_assert!(super::lt(&power, &self.modulus) == 1, "R^2 mod m is in 0..m");
        let mut square = vec![0; self.residue_len()];
        self.unpack(&mut square, &power, 0);
        (self.one, self.square) = (one.into(), square.into());
        for secret in [&mut scratch, &mut power, &mut half, &mut x] {
            secret.zeroize();
        }
    }

    /// log2 R.
    fn total_bits(&self) -> usize {
        match &self.engine {
            Engine::Words(words) => 64 * words.len(),
            Engine::Digits(digits) => digits.total_bits(),
        }
    }

    /// out <- bits r i.. of a number, as many as R has, in the form of residues.
    fn unpack(&self, out: &mut [u64], x: &[u64], i: usize) {
        match &self.engine {
            Engine::Words(words) => words.unpack(out, x, i),
            Engine::Digits(digits) => digits.unpack(out, x, i),
        }
    }

    /// The instructions on which it runs.
    pub fn multiplier(&self) -> Multiplier {
        self.multiplier
    }

    /// Words of the modulus.
    pub fn words(&self) -> usize {
        self.modulus.len()
    }

    /// Words of a residue.
    pub fn residue_len(&self) -> usize {
        match &self.engine {
            Engine::Words(words) => words.len(),
            Engine::Digits(digits) => digits.len(),
        }
    }

    /// Words of scratch that the other calls need. The calls leave data in it that depends on the operands; if these
    /// are secret, the caller must wipe it.
    pub fn scratch_len(&self) -> usize {
        self.engine_scratch_len() + 2 * self.residue_len()
    }

    fn engine_scratch_len(&self) -> usize {
        match &self.engine {
            Engine::Words(words) => words.scratch_len(),
            Engine::Digits(digits) => digits.scratch_len(),
        }
    }

    /// The residue of 1.
    pub fn one(&self) -> &[u64] {
        &self.one
    }

    /// out <- a b. Shape: residues of [`Self::residue_len`] words, scratch of [`Self::scratch_len`].
    pub fn mul(&self, out: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64]) {
        let scratch = &mut scratch[..self.engine_scratch_len()];
        match &self.engine {
            Engine::Words(words) => words.mul(out, a, b, scratch),
            Engine::Digits(digits) => digits.mul(out, a, b, scratch),
        }
    }

    /// out <- a^2. Shape: residues of [`Self::residue_len`] words, scratch of [`Self::scratch_len`].
    pub fn square(&self, out: &mut [u64], a: &[u64], scratch: &mut [u64]) {
        let scratch = &mut scratch[..self.engine_scratch_len()];
        match &self.engine {
            Engine::Words(words) => words.square(out, a, scratch),
            Engine::Digits(digits) => digits.square(out, a, scratch),
        }
    }

    /// out <- the residue of x. Shape: `x` of any length; the time depends on the length. Range: x any number, also
    /// above the modulus.
    pub fn enter(&self, out: &mut [u64], x: &[u64], scratch: &mut [u64]) {
        // Horner's rule in R: one multiplication by R^2 enters a piece x_i < R, and one more moves the part above it up
        // by R. R^2 is below m, so any factor below R keeps to the range of a product: out in 0..2m. Two such values
        // sum to less than 4m <= R, the next factor.
        let (scratch, rest) = scratch.split_at_mut(self.engine_scratch_len());
        let (piece, product) = rest.split_at_mut(self.residue_len());
        let pieces = (64 * x.len()).div_ceil(self.total_bits());
        out.fill(0);
        for i in (0..pieces).rev() {
            if i + 1 < pieces {
                self.mul(product, out, &self.square, scratch);
                out.copy_from_slice(product);
            }
            self.unpack(piece, x, i);
            self.mul(product, piece, &self.square, scratch);
            match &self.engine {
                Engine::Words(words) => words.add(out, product),
                Engine::Digits(digits) => digits.add(out, product),
            }
        }
        if pieces > 1 {
            // A sum of two residues may exceed the range of a residue, but it is below R.
            self.mul(product, out, &self.one, scratch);
            out.copy_from_slice(product);
        }
    }

    /// out <- the number of a residue. Shape: `out` of [`Self::words`]. Range: out in 0..m.
    pub fn leave(&self, out: &mut [u64], residue: &[u64], scratch: &mut [u64]) {
        let scratch = &mut scratch[..self.engine_scratch_len()];
        match &self.engine {
            Engine::Words(words) => words.leave(out, residue, scratch),
            Engine::Digits(digits) => digits.leave(out, residue, scratch),
        }
        super::reduce_once(out, 0, &self.modulus);
    }
}

/// -1/m modulo 2^64, for odd m. Each step doubles the number of right bits, from 5.
fn negative_inverse(m: u64) -> u64 {
    let mut x = m.wrapping_mul(3) ^ 2;
    for _ in 0..4 {
        x = x.wrapping_mul(2u64.wrapping_sub(m.wrapping_mul(x)));
    }
    x.wrapping_neg()
}

/// -1/m modulo 2^(64 len), for odd m, in the same way from 64 bits on.
fn negative_inverses(m: &[u64], len: usize, multiplier: Multiplier) -> Vec<u64> {
    let mut x = vec![negative_inverse(m[0])];
    let mut m = m.to_vec();
    m.resize(len.max(m.len()), 0);
    while x.len() < len {
        let next = (2 * x.len()).min(len);
        // With x = -1/m + e the new one is x (2 + m x) = -1/m + m e^2.
        let mut factor = vec![0; next + x.len()];
        multiplier.mul(&mut factor, &m[..next], &x);
        super::add_1(&mut factor, 2);
        let mut product = vec![0; next + x.len()];
        multiplier.mul(&mut product, &factor[..next], &x);
        product.truncate(next);
        factor.zeroize();
        x.zeroize();
        x = product;
    }
    m.zeroize();
    x
}

impl Drop for Montgomery {
    fn drop(&mut self) {
        self.modulus.zeroize();
        self.one.zeroize();
        self.square.zeroize();
    }
}
