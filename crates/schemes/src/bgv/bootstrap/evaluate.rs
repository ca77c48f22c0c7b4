//! The steps of bootstrapping.

use rayon::prelude::*;
use solinas_ring::{Coeff, Eval, RnsPoly};

use super::BootstrapKey;
use crate::Level;
use crate::bgv::cpu::Tensor;
use crate::bgv::{Ciphertext, Error, Evaluator, SwitchKey};
use crate::leveled::bootstrap::inverse_power_of_two;
use crate::leveled::{NoiseModel, State};

/// Both parts of a ciphertext.
pub(in crate::bgv) type Parts = [RnsPoly<Eval>; 2];

/// A ciphertext at the first level under the sparse secret, rounded: the constant coefficient of `c_0'`, and `c_1'`, modulo `2^l` and centred.
#[derive(Debug, PartialEq)]
pub(in crate::bgv) struct RoundedPhase {
    pub(in crate::bgv) constant: i64,
    pub(in crate::bgv) slope: Vec<i64>,
}

impl Evaluator<'_> {
    /// Whether a ready ciphertext can be bootstrapped, by the noise with which it would come to level 1.
    pub fn can_bootstrap(&self, x: &Ciphertext) -> bool {
        let state = State { level: x.level, noise: x.noise };
        let can = |key: &BootstrapKey| self.key().params().can_bootstrap(state, key.plan.growth.limit);
        self.check("the operand", x).is_ok() && self.key().bootstrap_key().is_some_and(can)
    }

    /// Step 0: a ciphertext at the first level under the sparse secret.
    pub(in crate::bgv) fn under_sparse(&self, key: &BootstrapKey, parts: &[RnsPoly<Eval>]) -> Result<Parts, Error> {
        let [first, second] = parts else {
            return Err(Error::Parts { operation: "bootstrapping", parts: parts.len(), max: 2 });
        };
        key.plan.sparse.apply(
            &key.to_sparse,
            false,
            |_, out| out.copy_from_slice(second.tower(0)),
            |_, [b, _]| b.copy_from_slice(first.tower(0)),
        )
    }

    /// Step 1: `c'` with `c_0' + c_1' s_b = 2^(l-r) m + e mod 2^l` in the constant coefficient, from `c_0 + c_1 s_b = m + p e mod q_1`.
    pub(in crate::bgv) fn round(&self, key: &BootstrapKey, parts: Parts) -> RoundedPhase {
        let [first, second] = parts.map(RnsPoly::into_coeff);
        let (first, slope) = (self.rounded(key, &first), self.rounded(key, &second));
        RoundedPhase { constant: first[0], slope }
    }

    /// Rounds the coefficients of a part of a ciphertext under the sparse secret to the precision of bootstrapping. Shape: a
    /// polynomial of the first level, N.
    pub fn rounded(&self, key: &BootstrapKey, part: &RnsPoly<Coeff>) -> Vec<i64> {
        let q = part.basis().modulus(0);
        // -1/p = (q - 1)/p modulo q brings m to the top: m (q - 1)/p - e.
        let top = q.shoup((q.value() - 1) / self.key().params().plaintext_modulus());
        let precision = key.plan.bootstrapping.precision;
        let scale = libm::exp2(f64::from(precision)) / q.value() as f64;
        let (modulus, half) = (1 << precision, 1 << (precision - 1));
        let round = |&x: &u64| {
            // In steps of q / 2^l: the nearest, as q is odd and a tie cannot be.
            let steps = (q.mul_shoup(x, top) as f64 * scale).round_ties_even() as i64;
            (steps + half) % modulus - half
        };
        part.tower(0).iter().map(round).collect()
    }

    /// Step 2: `1/N` times an encryption of `c_0' + c_1' s_b + 2^(l-r-1)`.
    pub(in crate::bgv) fn embed(&self, key: &BootstrapKey, rounded: &RoundedPhase) -> Parts {
        let context = self.context();
        let basis = &context.level(context.params.highest_level()).basis;
        let constant = rounded.constant + (1 << (key.plan.found - 1));
        RnsPoly::two_from_towers(basis, basis.dimension(), |i, [b, a], slope| {
            let (q, ops) = (basis.modulus(i), basis.pointwise(i));
            ops.reduce_signed(slope, &rounded.slope);
            basis.plan(i).forward(slope);
            let [first, second] = key.embed.row(0, i);
            // A constant has one value.
            let log2 = basis.dimension().ilog2() as usize;
            b.fill(q.mul(q.reduce_i64(constant), inverse_power_of_two(q, log2)));
            ops.multiply_add(b, slope, first);
            ops.product(a, slope, second);
        })
    }

    /// Step 3: the constant coefficient alone, times `N`.
    pub(in crate::bgv) fn trace(&self, key: &BootstrapKey, mut x: Parts) -> Result<Parts, Error> {
        let (plan, context) = (&key.plan, self.context());
        let levels = context.params.levels();
        let hybrid = plan.hybrid(context, context.params.highest_level())?;
        let mut keys = key.trace.iter();
        for round in &plan.rounds {
            let keys: Vec<_> = keys.by_ref().take(round.len()).collect();
            let [first, second] = &x;
            let digits = hybrid.digits(|i, out| out.copy_from_slice(second.tower(i)));
            let next = plan.down.apply(digits.scratch_of_automorphisms(), |i, [b, a], scratch| {
                let of_modulus = i < levels;
                if of_modulus {
                    b.copy_from_slice(first.tower(i));
                    a.copy_from_slice(second.tower(i));
                }
                let term = |(automorphism, key)| (automorphism, move |g| SwitchKey::row(key, g, i));
                let terms: Vec<_> = round.iter().zip(keys.iter().copied()).map(term).collect();
                digits.accumulate_automorphisms(i, of_modulus.then(|| first.tower(i)), &terms, [b, a], scratch);
            });
            x = next;
        }
        Ok(x)
    }

    /// Step 4: the highest `r` bits of `u mod 2^l`, from an encryption of `u`.
    ///
    /// `digits[i]` holds bit `i` of `u`, correct modulo `2^(k+1)` after `k` squarings. All digits are at one level. Bit `i` is the rest of `u` after the lower bits
    /// are subtracted. `look` sees the digits at each level.
    pub(in crate::bgv) fn highest_digits(
        &self,
        key: &BootstrapKey,
        traced: &Parts,
        mut look: impl FnMut(&[Parts]),
    ) -> Result<Parts, Error> {
        let plan = &key.plan;
        let mut level = self.key().params().highest_level().lowered(1);
        let mut digits = vec![self.digit(key, traced, &[])?];
        look(&digits);
        for squares in &plan.squares {
            let square = |(i, digit): (usize, &mut Parts)| -> Result<(), Error> {
                // Digit i was first found i levels below the first.
                let k = squares.len() - 1 - i;
                *digit = self.square(key, digit, level, &squares[k])?;
                Ok(())
            };
            digits.par_iter_mut().enumerate().try_for_each(square)?;
            if digits.len() < plan.found {
                digits.push(self.digit(key, traced, &digits)?);
            }
            level = level.lowered(1);
            look(&digits);
        }
        self.top(traced, &digits, level)
    }

    /// `2^-i (u - sum_(j<i) 2^j digits[j])`, for `i = digits.len()`, at the level of the digits.
    fn digit(&self, key: &BootstrapKey, traced: &Parts, digits: &[Parts]) -> Result<Parts, Error> {
        let rescale = &key.plan.rests[digits.len()];
        let part = |part: usize| -> Result<RnsPoly<Eval>, Error> {
            // The noise is small: all but the primes in use are dropped.
            let rest = rescale.apply(&traced[part].truncated(rescale.basis().len())?)?;
            if digits.is_empty() {
                return Ok(rest);
            }
            let basis = rest.basis();
            Ok(RnsPoly::from_towers(basis, |i, out| {
                let (q, ops) = (basis.modulus(i), basis.pointwise(i));
                out.copy_from_slice(rest.tower(i));
                for (place, digit) in digits.iter().enumerate() {
                    ops.scale_add(out, digit[part].tower(i), q.shoup(q.neg(1 << place)));
                }
                ops.scale(out, q.shoup(inverse_power_of_two(q, digits.len())));
            }))
        };
        Ok([part(0)?, part(1)?])
    }

    /// The square of a digit's power, relinearized by the key whose errors are multiples of `2^l`, one level below.
    fn square(
        &self,
        key: &BootstrapKey,
        x: &Parts,
        level: Level,
        down: &solinas_ring::SwitchDown,
    ) -> Result<Parts, Error> {
        let plans = self.context().level(level);
        let tensor = Tensor::new(vec![[x.each_ref(), x.each_ref()]]);
        plans.switch.apply_with(
            down,
            &key.relinearization,
            |i, out| tensor.high(&plans.basis, i, out),
            |i, out| tensor.low(&plans.basis, i, out),
        )
    }

    /// `2^-f (u - sum_j 2^j digits[j]^2)` modulo `p`, of `f` digits: the last squares are wanted in their sum alone.
    fn top(&self, traced: &Parts, digits: &[Parts], level: Level) -> Result<Parts, Error> {
        let plans = self.context().level(level);
        let basis = &plans.basis;
        let scaled = |x: &RnsPoly<Eval>, factor: &(dyn Fn(solinas_field::prime::Modulus) -> u64 + Sync)| {
            RnsPoly::from_towers(basis, |i, out| {
                out.copy_from_slice(x.tower(i));
                basis.pointwise(i).scale(out, basis.modulus(i).shoup(factor(basis.modulus(i))));
            })
        };
        let found = digits.len();
        // -2^(j - f).
        let weight =
            |place: usize| move |q: solinas_field::prime::Modulus| q.neg(inverse_power_of_two(q, found - place));
        let weighted: Vec<Parts> = digits
            .iter()
            .enumerate()
            .map(|(place, digit)| digit.each_ref().map(|part| scaled(part, &weight(place))))
            .collect();
        let rest = traced.each_ref().map(|part| scaled(part, &|q| inverse_power_of_two(q, found)));
        let pairs = weighted.iter().zip(digits).map(|(x, y)| [x.each_ref(), y.each_ref()]);
        let tensor = Tensor::new(pairs.collect());
        plans.switch.apply(
            self.key().relinearization(),
            true,
            |i, out| tensor.high(basis, i, out),
            |i, [b, a]| {
                tensor.low(basis, i, [&mut *b, &mut *a]);
                let ops = basis.pointwise(i);
                ops.add(b, rest[0].tower(i));
                ops.add(a, rest[1].tower(i));
            },
        )
    }
}
