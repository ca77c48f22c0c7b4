//! Key switching with keys of two parts. Each digit is made once for both, tower by tower in the nearest cache.
//!
//! In the towers of `Q`, keys for [`Hybrid`] digits are held divided by `P` ([`Hybrid::divide`]). The division that
//! ends the switch ([`SwitchDown`]) then needs no multiplication there.

use solinas_field::buffer::AlignedVec;
use solinas_field::prime::{Modulus, Pointwise, Shoup};

use crate::threads::{for_each_tower, for_each_tower_of_two};
use crate::{Automorphism, Basis, Divisor, Error, Eval, Hybrid, RnsPoly, TowerGadget};

/// Access to tower `i` of the keys in a sum of digits times keys; `key(digit)` is that tower of the two parts of a key.
pub trait Keys<'k>: Fn(usize) -> [&'k [u64]; 2] {}
impl<'k, F: Fn(usize) -> [&'k [u64]; 2]> Keys<'k> for F {}

/// The digits of a polynomial by groups of towers.
#[derive(Debug)]
pub struct HybridDigits<'a, F> {
    plan: &'a Hybrid,
    tower: F,
    /// `x_i (Q_g/q_i)^-1 mod q_i`; the digits are combinations of these.
    shares: AlignedVec<u64>,
}

impl Hybrid {
    /// Makes the digits of the polynomial modulo `Q` of which `tower(i, out)` writes tower `i` in the transformed
    /// domain. It takes one inverse transform a tower, and calls `tower` once more for each.
    pub fn digits<F: Fn(usize, &mut [u64]) + Send + Sync>(&self, tower: F) -> HybridDigits<'_, F> {
        let mut shares = AlignedVec::zeroed(self.basis.words());
        let group = self.groups[0].1.from().len();
        for_each_tower(&mut shares, self.basis.dimension(), |i, words| {
            let (first, conversion) = &self.groups[i / group];
            tower(i, words);
            self.basis.plan(i).inverse(words);
            self.basis.pointwise(i).scale(words, conversion.inverses[i - first]);
        });
        HybridDigits { plan: self, tower, shares }
    }

    /// Divides a key's part by `P` in the towers of `Q`.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`].
    pub fn divide(&self, key: &mut RnsPoly<Eval>) -> Result<(), Error> {
        self.extended().same("a key of a hybrid decomposition", key.basis())?;
        let (towers, all) = (self.basis.len(), self.extended().len());
        let special = self.extended().range(towers..all)?;
        key.for_each_tower(|i, words| {
            if i < towers {
                let q = self.basis.modulus(i);
                let inverse = q.inv(special.product_mod(special.len(), q)).unwrap_or(0);
                self.basis.pointwise(i).scale(words, q.shoup(inverse));
            }
        });
        Ok(())
    }
}

impl<F: Fn(usize, &mut [u64]) + Send + Sync> HybridDigits<'_, F> {
    /// Words of scratch that [`Self::accumulate`] needs.
    pub fn scratch(&self) -> usize {
        self.plan.len() * self.plan.basis.dimension()
    }

    /// Adds tower `i` (of `Q`, then of `P`) of `sum_g digit_g (b_g, a_g)` to `sums`. It takes one transform for each
    /// group that does not hold the tower. Shape: N words each.
    pub fn accumulate<'k>(&self, i: usize, keys: impl Keys<'k>, sums: [&mut [u64]; 2], scratch: &mut [u64]) {
        self.write(i, scratch);
        self.dot(i, scratch, &keys, sums);
    }

    /// Words of scratch that [`Self::accumulate_automorphisms`] needs.
    pub fn scratch_of_automorphisms(&self) -> usize {
        self.scratch() + 3 * self.plan.basis.dimension()
    }

    /// Adds tower `i` of `sum_s s(f, 0) + s(sum_g digit_g (b_(s,g), a_(s,g)))` over automorphisms `s` to `sums`.
    /// `first` is that tower of `f`; `None` means 0. It makes the digits once for all. Shape: N words each.
    pub fn accumulate_automorphisms<'k, K: Keys<'k>>(
        &self,
        i: usize,
        first: Option<&[u64]>,
        terms: &[(&Automorphism, K)],
        sums: [&mut [u64]; 2],
        scratch: &mut [u64],
    ) {
        let (n, ops) = (self.plan.basis.dimension(), self.plan.extended().pointwise(i));
        let (digits, rest) = scratch.split_at_mut(self.scratch());
        let (b, rest) = rest.split_at_mut(n);
        let (a, rest) = rest.split_at_mut(n);
        let permuted = &mut rest[..n];
        let [b_sum, a_sum] = sums;
        self.write(i, digits);
        for (automorphism, keys) in terms {
            match first {
                Some(first) => b.copy_from_slice(first),
                None => b.fill(0),
            }
            a.fill(0);
            self.dot(i, digits, keys, [&mut *b, &mut *a]);
            for (part, sum) in [(&*b, &mut *b_sum), (&*a, &mut *a_sum)] {
                automorphism.permute(part, permuted);
                ops.add(sum, permuted);
            }
        }
    }

    /// Writes the digits in tower `i`.
    fn write(&self, i: usize, digits: &mut [u64]) {
        let (n, extended) = (self.plan.basis.dimension(), self.plan.extended());
        for ((first, conversion), digit) in self.plan.groups.iter().zip(digits.chunks_exact_mut(n)) {
            let towers = *first..first + conversion.from().len();
            if towers.contains(&i) {
                (self.tower)(i, digit);
            } else {
                conversion.combine(&self.shares[first * n..][..towers.len() * n], i, 0, digit);
                extended.plan(i).forward(digit);
            }
        }
    }

    /// Adds the products of the digits with keys.
    fn dot<'k>(&self, i: usize, digits: &[u64], keys: &impl Keys<'k>, sums: [&mut [u64]; 2]) {
        let digits = digits.chunks_exact(self.plan.basis.dimension()).take(self.plan.len()).enumerate();
        let terms: Vec<(&[u64], [&[u64]; 2])> = digits.map(|(g, digit)| (digit, keys(g))).collect();
        self.plan.extended().pointwise(i).dot_two(sums, &terms);
    }
}

/// The digits of a polynomial, tower by tower.
#[derive(Debug)]
pub struct TowerDigits<'a, F> {
    plan: &'a TowerGadget,
    tower: F,
    coefficients: AlignedVec<u64>,
}

impl TowerGadget {
    /// Makes the digits of the polynomial of which `tower(i, out)` writes tower `i` in the transformed domain. It takes
    /// one inverse transform a tower, and calls `tower` once more for each.
    pub fn digits<F: Fn(usize, &mut [u64]) + Send + Sync>(&self, tower: F) -> TowerDigits<'_, F> {
        let mut coefficients = AlignedVec::zeroed(self.basis.words());
        for_each_tower(&mut coefficients, self.basis.dimension(), |i, words| {
            tower(i, words);
            self.basis.plan(i).inverse(words);
        });
        TowerDigits { plan: self, tower, coefficients }
    }
}

impl<F: Fn(usize, &mut [u64]) + Send + Sync> TowerDigits<'_, F> {
    /// Adds tower `i` of `sum_d digit_d (b_d, a_d)` to `sums`. It takes one transform a digit. Shape: N words each,
    /// also of scratch.
    pub fn accumulate<'k>(&self, i: usize, keys: impl Keys<'k>, sums: [&mut [u64]; 2], digit: &mut [u64]) {
        let TowerGadget { basis, bits, digits } = self.plan;
        let (n, ops) = (basis.dimension(), basis.pointwise(i));
        let mask = (1 << bits) - 1;
        let [b_sum, a_sum] = sums;
        for (d, &(tower, shift)) in digits.iter().enumerate() {
            if tower == i && basis.modulus(i).bits() <= *bits {
                (self.tower)(i, digit);
            } else {
                let from = &self.coefficients[tower * n..][..n];
                digit.iter_mut().zip(from).for_each(|(digit, &x)| *digit = (x >> shift) & mask);
                ops.reduce(digit);
                basis.plan(i).forward(digit);
            }
            ops.dot_two([&mut *b_sum, &mut *a_sum], &[(digit, keys(d))]);
        }
    }
}

/// Plan of the division that ends a key switch by groups: `(v - D)/(P r)`. Here `v` is known divided by `P` modulo the
/// primes of `Q`, and as it is modulo those of `P`. `r` is 1 or the last prime of `Q`. `D` is `v` modulo `P r`, 0
/// modulo the plaintext modulus `p`, and near zero: `|D| <= (k/2 + 1 + p) P r / 2`, where `k` is the number of primes
/// of `P r`.
#[derive(Clone, Debug)]
pub struct SwitchDown {
    target: Basis,
    /// The primes by which it divides: `r` if it is not 1, then those of `P`.
    divisor: Basis,
    /// For each of those: the factor that makes `v` its share of the combination, and the summand for `(P r - 1)/2`.
    shares: Vec<(Shoup, u64)>,
    /// For target `i`: the factors of each share and of the correction in `D/P`, and the constant.
    factors: Vec<(Vec<Shoup>, u64)>,
    /// `1/r`, if it is not 1.
    inverses: Option<Vec<Shoup>>,
    correction: Correction,
    bits: u32,
}

/// The constants of a [`SwitchDown`].
#[derive(Clone, Copy, Debug)]
pub struct SwitchDownConstants<'a> {
    /// For each prime of the divisor: the factor that makes `v` its share, and the summand of the product.
    pub shares: &'a [(Shoup, u64)],
    /// For each target: the factors of each share and of the correction, and the summand.
    pub factors: &'a [(Vec<Shoup>, u64)],
    /// `1/r` modulo each target, if it is not 1.
    pub inverses: Option<&'a [Shoup]>,
    /// The plaintext modulus `p`.
    pub plaintext: Divisor,
    /// The factor of each share in the correction modulo `p`, and the summand.
    pub cofactors: &'a [u64],
    /// The summand of the correction modulo `p`.
    pub constant: u64,
}

/// Data to make `D` 0 modulo `p`.
#[derive(Clone, Debug)]
struct Correction {
    plaintext: Divisor,
    /// Operations modulo `p`, if it is an odd prime.
    prime: Option<Pointwise>,
    /// The factor of each share, and the constant.
    factors: Vec<u64>,
    constant: u64,
    /// Mean of the fast conversion's excess, rounded down: a part of [`Self::offset`].
    excess: u64,
}

impl Correction {
    /// Writes `k` with `D = D_0 + P r k = 0 mod p`, centred around minus the excess, plus [`Self::offset`].
    fn write(&self, shares: &[u64], bits: u32, out: &mut [u64]) {
        let (m, len) = (self.plaintext, out.len());
        if let Some(prime) = self.prime {
            let q = prime.modulus();
            let factors: Vec<Shoup> = self.factors.iter().map(|&factor| q.shoup(factor)).collect();
            prime.combine(out, shares, bits, &factors, self.constant);
        } else {
            let two64 = m.reduce(m.reduce(1 << 32) * m.reduce(1 << 32));
            for (j, out) in out.iter_mut().enumerate() {
                let product = |(i, &factor): (usize, &u64)| u128::from(shares[i * len + j]) * u128::from(factor);
                let sum: u128 = self.factors.iter().enumerate().map(product).sum();
                let sum = m.reduce(m.reduce((sum >> 64) as u64) * two64) + m.reduce(sum as u64) + self.constant;
                *out = m.reduce(sum);
            }
        }
        let (p, half) = (m.value(), m.value() / 2);
        out.iter_mut().for_each(|k| *k += half + if *k > half { 0 } else { p });
    }

    /// Summand that makes corrections positive.
    fn offset(&self) -> u64 {
        self.plaintext.value() + self.plaintext.value() / 2 + self.excess
    }
}

impl SwitchDown {
    /// Makes the division by the primes of `special`, `P`, and by those of `dropped` before them, if there are any; for
    /// plaintext modulus `p`.
    ///
    /// # Errors
    /// [`Error::Primes`], [`Error::BasisMismatch`] for bases that do not fit together; [`Error::PlaintextModulus`].
    pub fn new(target: &Basis, dropped: Option<&Basis>, special: &Basis, plaintext: u64) -> Result<Self, Error> {
        let divisor = dropped.map_or(Ok(special.clone()), |dropped| dropped.joined(special))?;
        target.joined(&divisor)?;
        let (m, count) = (Divisor::new(plaintext)?, divisor.len());
        let product = |skip: usize, one: u64, multiply: &dyn Fn(u64, u64) -> u64| {
            let others = divisor.moduli().enumerate().filter(|&(k, _)| k != skip);
            others.fold(one, |product, (_, q)| multiply(product, q.value()))
        };
        let modulo = |q: Modulus| move |x: u64, y: u64| q.mul(x, q.reduce(y));
        let half = |q: Modulus, product: u64| q.mul(q.sub(product, 1), q.value().div_ceil(2));
        let share = |(i, q): (usize, Modulus)| {
            let mut weight = q.inv(product(i, 1, &modulo(q))).unwrap_or(0);
            let added = q.mul(half(q, 0), weight);
            if i < count - special.len() {
                weight = q.mul(weight, special.product_mod(special.len(), q));
            }
            (q.shoup(weight), added)
        };
        // -D_0/(P r) mod p, D_0 = sum_i y_i (P r/p_i) - (P r - 1)/2.
        let modulo_p = |x: u64, y: u64| m.reduce(x * m.reduce(y));
        let whole = product(count, m.reduce(1), &modulo_p);
        let inverse = m.vartime_inverse(whole).ok_or(Error::PlaintextModulus { modulus: plaintext })?;
        let minus = m.reduce(m.value() - inverse);
        let twice = u128::from(2 * m.value());
        let product_twice = product(count, 1, &|x, y| (u128::from(x) * (u128::from(y) % twice) % twice) as u64);
        let half_mod_p = m.reduce((product_twice + 2 * m.value() - 1) % (2 * m.value()) / 2);
        // The sum of the shares over their primes is k/2 on average, and D_0 is 1/2 less.
        let excess = (count as u64 - 1) / 2;
        let correction = Correction {
            plaintext: m,
            prime: Modulus::new(plaintext).ok().map(|q| Pointwise::new(q, target.backend())),
            factors: (0..count).map(|i| m.reduce(product(i, m.reduce(1), &modulo_p) * minus)).collect(),
            constant: m.reduce(m.reduce(half_mod_p * inverse) + m.reduce(excess)),
            excess,
        };
        let of_target = |q: Modulus| {
            let p = q.inv(special.product_mod(special.len(), q)).unwrap_or(0);
            let whole = product(count, 1, &modulo(q));
            let of_share = |i: usize| q.shoup(q.mul(product(i, 1, &modulo(q)), p));
            let r = q.mul(whole, p);
            let factors = (0..count).map(of_share).chain([q.shoup(r)]).collect();
            let constant = q.add(q.mul(half(q, whole), p), q.mul(q.reduce(correction.offset()), r));
            (factors, q.neg(constant))
        };
        let inverse_of = |dropped: &Basis| {
            let inverse = |q: Modulus| q.shoup(q.inv(dropped.product_mod(dropped.len(), q)).unwrap_or(0));
            target.moduli().map(inverse).collect()
        };
        Ok(Self {
            shares: divisor.moduli().enumerate().map(share).collect(),
            factors: target.moduli().map(of_target).collect(),
            inverses: dropped.map(inverse_of),
            bits: divisor.moduli().map(|q| q.bits()).max().unwrap_or(0).max(33),
            target: target.clone(),
            correction,
            divisor,
        })
    }

    /// The primes of the quotients.
    pub fn target(&self) -> &Basis {
        &self.target
    }

    /// The primes by which it divides: `r` if it is not 1, then those of `P`.
    pub fn divisor(&self) -> &Basis {
        &self.divisor
    }

    /// The constants, for other implementations.
    pub fn constants(&self) -> SwitchDownConstants<'_> {
        SwitchDownConstants {
            shares: &self.shares,
            factors: &self.factors,
            inverses: self.inverses.as_deref(),
            plaintext: self.correction.plaintext,
            cofactors: &self.correction.factors,
            constant: self.correction.constant,
        }
    }

    /// Computes `(v - D)/(P r)` of two polynomials whose towers are made together. `tower(i, words of each, scratch)`
    /// writes tower `i` of `Q` (the last is that of `r`) and then of `P` into zeros, in the transformed domain.
    pub fn apply(
        &self,
        scratch: usize,
        tower: impl Fn(usize, [&mut [u64]; 2], &mut [u64]) + Send + Sync,
    ) -> [RnsPoly<Eval>; 2] {
        let (towers, n, count) = (self.target.len(), self.target.dimension(), self.divisor.len());
        // Shares, then a row of corrections.
        let mut rest = [(); 2].map(|()| AlignedVec::zeroed((count + 1) * n));
        let [x, y] = &mut rest;
        for_each_tower_of_two([&mut x[..count * n], &mut y[..count * n]], n, scratch, |i, [x, y], scratch| {
            tower(towers + i, [&mut *x, &mut *y], scratch);
            let (weight, half) = self.shares[i];
            let (q, ops) = (self.divisor.modulus(i), self.divisor.pointwise(i));
            for words in [x, y] {
                self.divisor.plan(i).inverse(words);
                ops.scale(words, weight);
                words.iter_mut().for_each(|x| *x = q.add(*x, half));
            }
        });
        for rest in &mut rest {
            let (shares, out) = rest.split_at_mut(count * n);
            self.correction.write(shares, self.bits, out);
        }
        RnsPoly::two_from_towers(&self.target, scratch.max(n), |i, [x, y], scratch| {
            tower(i, [&mut *x, &mut *y], scratch);
            let (ops, (factors, constant)) = (self.target.pointwise(i), &self.factors[i]);
            let d = &mut scratch[..n];
            for (out, rest) in [x, y].into_iter().zip(&rest) {
                ops.combine(d, rest, self.bits, factors, *constant);
                self.target.plan(i).forward(d);
                match &self.inverses {
                    Some(inverses) => ops.sub_scale(out, d, inverses[i]),
                    None => ops.sub(out, d),
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use solinas_field::Backend;
    use solinas_field::prime::primes;

    use super::*;
    use crate::{Coeff, MixedRadix};

    /// `P r` times the result is `v` minus a small number that is 0 modulo `p`; the test computes that number from
    /// both.
    #[test]
    fn switch_down_divides_and_keeps_the_message() {
        let n = 64;
        let all = primes(40, 5, 128).unwrap();
        for backend in solinas_testing::back_ends(Backend::available()) {
            for (plaintext, dropped) in [(1, false), (2, true), (15, false), (16, true), (257, true), (65537, false)] {
                let basis = |range: core::ops::Range<usize>| Basis::new(n, &all[range], backend).unwrap();
                let (target, special) = (basis(0..if dropped { 2 } else { 3 }), basis(3..5));
                let last = dropped.then(|| basis(2..3));
                let plan = SwitchDown::new(&target, last.as_ref(), &special, plaintext).unwrap();
                // v = p x with a known x: for v / (P r), rounded to multiples of p / (P r), the remainder modulo p
                // is 0.
                let whole = basis(0..5);
                let mut state = 1u64;
                let mut word = |i: usize| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (state >> 20) % whole.modulus(i).value()
                };
                let words: Vec<u64> = (0..5 * n).map(|at| word(at / n)).collect();
                let v = RnsPoly::<Coeff>::from_words(&whole, &words).unwrap();
                let exact = MixedRadix::new(&whole);
                let m = Divisor::new(plaintext).unwrap();
                let before = exact.centered_mod(&v, m).unwrap();
                let magnitudes = exact.log2_magnitudes(&v).unwrap();
                // Divided by P in the towers of Q.
                let mut held = v.clone().into_eval();
                Hybrid::new(&basis(0..3), &special, 1).unwrap().divide(&mut held).unwrap();
                let quotient = plan.apply(0, |i, [x, y], _| {
                    x.copy_from_slice(held.tower(i));
                    y.copy_from_slice(held.tower(i));
                });
                assert!(quotient[0] == quotient[1]);
                let [quotient, _] = quotient.map(RnsPoly::into_coeff);
                let after = MixedRadix::new(&target).centered_mod(&quotient, m).unwrap();
                let divided = MixedRadix::new(&target).log2_magnitudes(&quotient).unwrap();
                let divisor = all[if dropped { 2 } else { 3 }..].iter();
                let product = divisor.clone().fold(m.reduce(1), |product, q| m.reduce(product * m.reduce(q.value())));
                let bits: f64 = divisor.map(|q| (q.value() as f64).log2()).sum();
                for j in 0..n {
                    assert_eq!(m.reduce(after[j] * product), before[j], "p = {plaintext}");
                    assert!(
                        (divided[j] - (magnitudes[j] - bits)).abs() < 1e-6,
                        "p = {plaintext}: the size of a quotient"
                    );
                }
            }
        }
    }

    /// Sums over automorphisms are those of each, permuted.
    #[test]
    fn automorphisms_share_their_digits() {
        let (n, all) = (64, primes(40, 5, 128).unwrap());
        for backend in solinas_testing::back_ends(Backend::available()) {
            let basis = |range: core::ops::Range<usize>| Basis::new(n, &all[range], backend).unwrap();
            let hybrid = Hybrid::new(&basis(0..3), &basis(3..5), 2).unwrap();
            let mut state = 7u64;
            let mut random = |of: &Basis| {
                let words: Vec<u64> = (0..of.words())
                    .map(|at| {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                        (state >> 20) % of.modulus(at / n).value()
                    })
                    .collect();
                RnsPoly::<Eval>::from_words(of, &words).unwrap()
            };
            let (x, first) = (random(&basis(0..3)), random(&basis(0..3)));
            let keys: Vec<[RnsPoly<Eval>; 2]> = (0..4).map(|_| [(); 2].map(|()| random(hybrid.extended()))).collect();
            let automorphisms = [5, 33].map(|exponent| Automorphism::new(hybrid.extended(), exponent).unwrap());
            let digits = hybrid.digits(|i, out| out.copy_from_slice(x.tower(i)));
            let mut scratch = vec![1; digits.scratch_of_automorphisms()];
            for i in 0..5 {
                let key = |term: usize, g: usize| keys[2 * term + g].each_ref().map(|part| part.tower(i));
                let first = (i < 3).then(|| first.tower(i));
                let terms: Vec<_> =
                    automorphisms.iter().enumerate().map(|(term, plan)| (plan, move |g| key(term, g))).collect();
                let (mut b, mut a) = (vec![3; n], vec![4; n]);
                digits.accumulate_automorphisms(i, first, &terms, [&mut b, &mut a], &mut scratch);
                let (mut want_b, mut want_a) = (vec![3; n], vec![4; n]);
                for (term, plan) in automorphisms.iter().enumerate() {
                    let (mut b, mut a) = (first.map_or(vec![0; n], <[u64]>::to_vec), vec![0; n]);
                    digits.accumulate(i, |g| key(term, g), [&mut b, &mut a], &mut scratch);
                    let q = hybrid.extended().modulus(i);
                    for (part, want) in [(b, &mut want_b), (a, &mut want_a)] {
                        let mut permuted = vec![0; n];
                        plan.permute(&part, &mut permuted);
                        want.iter_mut().zip(permuted).for_each(|(want, x)| *want = q.add(*want, x));
                    }
                }
                assert!(b == want_b && a == want_a, "tower {i}");
            }
        }
    }
}
