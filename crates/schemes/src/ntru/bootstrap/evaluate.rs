//! The steps of bootstrapping.

use rayon::prelude::*;
use solinas_ring::{Coeff, Eval, RnsPoly};

use super::BootstrapKey;
use crate::Level;
use crate::leveled::bootstrap::inverse_power_of_two;
use crate::leveled::{NoiseModel, State};
use crate::ntru::{Ciphertext, Error, Evaluator};

/// Words that are squared at a time.
const BLOCK: usize = 1 << 9;

/// A digit's power, or the rest to take digits from.
type Poly = RnsPoly<Eval>;

impl Evaluator<'_> {
    /// Whether a ready ciphertext can be bootstrapped, by the noise with which it would come to level 1.
    pub(in crate::ntru) fn can_bootstrap(&self, x: &Ciphertext) -> bool {
        let state = State { level: x.level, noise: x.noise };
        let can = |key: &BootstrapKey| self.key().params().can_bootstrap(state, key.plan.growth.limit);
        self.check("the operand", x).is_ok() && self.key().bootstrap_key().is_some_and(can)
    }

    /// Steps 0 and 1: `c'` with `f_b c' = 2^(l-1) m + e mod 2^l`, centred, from `F_1 c = m + 2 e'`.
    pub(in crate::ntru) fn round(&self, key: &BootstrapKey, c: &Poly) -> Result<Vec<i64>, Error> {
        let mut c = c.clone();
        c.mul_assign(&key.to_sparse)?;
        Ok(self.rounded(key, &c.into_coeff()))
    }

    /// Rounds the coefficients of `f_b c` to the precision of bootstrapping. Shape: a polynomial of the first level, N.
    pub fn rounded(&self, key: &BootstrapKey, c: &RnsPoly<Coeff>) -> Vec<i64> {
        let precision = key.plan.bootstrapping.precision;
        let q = c.basis().modulus(0).value();
        let scale = libm::exp2(f64::from(precision)) / q as f64;
        let (modulus, half) = (1 << precision, 1 << (precision - 1));
        let round = |&x: &u64| {
            // x/2 modulo q, in steps of q / 2^l: the nearest, as q is odd and a tie cannot be.
            let steps = (((x + (q & (x & 1).wrapping_neg())) / 2) as f64 * scale).round_ties_even() as i64;
            (steps + half) % modulus - half
        };
        c.tower(0).iter().map(round).collect()
    }

    /// Step 2: `1/N` times the encryption of `f_b c' + 2^(l-2)`.
    pub(in crate::ntru) fn embed(&self, key: &BootstrapKey, rounded: &[i64]) -> Result<Poly, Error> {
        let basis = key.embed.basis();
        Ok(RnsPoly::from_towers(basis, |i, out| {
            let ops = basis.pointwise(i);
            ops.reduce_signed(out, rounded);
            basis.plan(i).forward(out);
            ops.multiply(out, key.embed.tower(i));
            ops.add(out, key.shift.tower(i));
        }))
    }

    /// Step 3: the constant coefficient alone, times `N`.
    pub(in crate::ntru) fn trace(&self, key: &BootstrapKey, mut c: Poly) -> Result<Poly, Error> {
        key.plan.switch.trace(&mut c, &key.plan.rounds, &key.trace)?;
        Ok(c)
    }

    /// Step 4: the highest bit of `u mod 2^l`, from an encryption of `u`.
    ///
    /// `digits[i]` holds bit `i` of `u`, correct modulo `2^(k+1)` after `k` squarings. All digits and the rest `u` are at one level. Bit `i` is the rest of `u` after
    /// the lower bits are subtracted.
    pub(in crate::ntru) fn highest_digit(&self, key: &BootstrapKey, traced: Poly) -> Result<Poly, Error> {
        self.highest_digit_with(key, traced, |_| ())
    }

    /// As [`Self::highest_digit`]; `look` sees the digits at each level.
    pub(in crate::ntru) fn highest_digit_with(
        &self,
        key: &BootstrapKey,
        traced: Poly,
        mut look: impl FnMut(&[Poly]),
    ) -> Result<Poly, Error> {
        let precision = key.plan.bootstrapping.precision as usize;
        let mut level = self.key().params().fresh_level();
        let mut rest = traced;
        self.lower_rest(key, &mut rest, level)?;
        let mut digits = vec![rest.clone()];
        level = level.lowered(1);
        look(&digits);
        while digits.len() + 1 < precision {
            let lower = || self.lower_rest(key, &mut rest, level);
            let square = |(i, digit): (usize, &mut Poly)| self.square(key, digit, i, level);
            let squares = || digits.par_iter_mut().enumerate().try_for_each(square);
            let (lowered, squared) = rayon::join(lower, squares);
            lowered.and(squared)?;
            let next = RnsPoly::from_towers(rest.basis(), |i, out| {
                out.copy_from_slice(rest.tower(i));
                let (q, ops) = (rest.basis().modulus(i), rest.basis().pointwise(i));
                for (place, digit) in digits.iter().enumerate() {
                    ops.scale_add(out, digit.tower(i), q.shoup(q.neg(1 << place)));
                }
                ops.scale(out, q.shoup(inverse_power_of_two(q, digits.len())));
            });
            digits.push(next);
            level = level.lowered(1);
            look(&digits);
        }
        // The last squares are wanted in their sum alone: one division, and the message modulo 2.
        let hints = self.key().level_hints(level);
        let basis = rest.basis();
        self.key().rescaled(level, |i, out| {
            let (q, ops) = (basis.modulus(i), basis.pointwise(i));
            let mut squares = [0; BLOCK];
            for (first, out) in (0..).step_by(BLOCK).zip(out.chunks_mut(BLOCK)) {
                let (block, squares) = (first..first + out.len(), &mut squares[..out.len()]);
                squares.fill(0);
                for (place, digit) in digits.iter().enumerate() {
                    let digit = &digit.tower(i)[block.clone()];
                    out.fill(0);
                    ops.scale_add(out, digit, q.shoup(q.neg(1 << place)));
                    ops.multiply_add(squares, out, digit);
                }
                out.copy_from_slice(&rest.tower(i)[block.clone()]);
                ops.multiply(out, &hints.linear.tower(i)[block.clone()]);
                ops.multiply_add(out, squares, &hints.square.tower(i)[block]);
                ops.scale(out, q.shoup(inverse_power_of_two(q, digits.len())));
            }
        })
    }

    /// The rest one level below, modulo `2^l`.
    fn lower_rest(&self, key: &BootstrapKey, x: &mut Poly, level: Level) -> Result<(), Error> {
        let hint = &self.key().level_hints(level).linear;
        let times = |i: usize, out: &mut [u64]| hint.basis().pointwise(i).multiply(out, hint.tower(i));
        Ok(key.plan.rescale(0, level).apply_in_place(x, times)?)
    }

    /// The square of a power of digit `digit`, one level below, modulo `2^(l - digit)`.
    fn square(&self, key: &BootstrapKey, x: &mut Poly, digit: usize, level: Level) -> Result<(), Error> {
        let hint = &self.key().level_hints(level).square;
        let times = |i: usize, out: &mut [u64]| {
            let ops = hint.basis().pointwise(i);
            let mut factor = [0; BLOCK];
            for (x, hint) in out.chunks_mut(BLOCK).zip(hint.tower(i).chunks(BLOCK)) {
                let factor = &mut factor[..x.len()];
                factor.copy_from_slice(x);
                ops.multiply_both(x, factor, hint);
            }
        };
        Ok(key.plan.rescale(digit, level).apply_in_place(x, times)?)
    }
}
