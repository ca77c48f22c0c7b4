//! Division by primes of the basis, preserving a plaintext modulus.

use core::borrow::BorrowMut;

use solinas_field::prime::Shoup;

use crate::threads::{Scratch, for_each_tower};
use crate::{BaseConversion, Basis, Coeff, Divisor, Error, Eval, RnsPoly};

/// Plan of the exact division by the last prime `q`: `c' = (c - D)/q`. `D` is the number of least magnitude that is `c`
/// modulo `q` and 0 modulo the plaintext modulus `p` (ModReduce, rohloff2014 section 3.4; with `p = 1`, rounding to the
/// nearest).
///
/// `|D| <= p q / 2`. The message is multiplied by `1/q mod p`: choose `q = 1 mod p` to keep it. It takes one inverse
/// transform, and one forward transform per remaining prime.
#[derive(Clone, Debug)]
pub struct Rescale {
    basis: Basis,
    target: Basis,
    plaintext: Divisor,
    /// `1/q mod p`.
    inverse: u64,
    /// `1/q mod q_i`.
    inverses: Vec<Shoup>,
    /// `-q mod q_i`.
    minus: Vec<Shoup>,
}

impl Rescale {
    /// Makes the division by the last prime of `basis`, for plaintext modulus `p`.
    ///
    /// # Errors
    /// [`Error::OnePrime`] for a basis of one prime; [`Error::PlaintextModulus`] if `p` is out of `1..2^31`, or the prime
    /// divides it.
    pub fn new(basis: &Basis, plaintext: u64) -> Result<Self, Error> {
        let towers = basis.len();
        if towers < 2 {
            return Err(Error::OnePrime);
        }
        let target = basis.prefix(towers - 1)?;
        let q = basis.modulus(towers - 1).value();
        let divisor = Divisor::new(plaintext)?;
        let inverse = divisor.vartime_inverse(divisor.reduce(q));
        let inverse = inverse.ok_or(Error::PlaintextModulus { modulus: plaintext })?;
        let constants = |i: usize| {
            let m = target.modulus(i);
            let q = m.reduce(q);
            (m.shoup(m.inv(q).unwrap_or(0)), m.shoup(m.neg(q)))
        };
        let (inverses, minus) = (0..towers - 1).map(constants).unzip();
        Ok(Self { basis: basis.clone(), target, plaintext: divisor, inverse, inverses, minus })
    }

    /// The basis of the dividends.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// The basis of the quotients, without the last prime.
    pub fn target(&self) -> &Basis {
        &self.target
    }

    /// The plaintext modulus `p`.
    pub fn plaintext(&self) -> Divisor {
        self.plaintext
    }

    /// `1/q mod p`.
    pub fn plaintext_inverse(&self) -> u64 {
        self.inverse
    }

    /// `1/q` modulo each prime of the target.
    pub fn inverses(&self) -> &[Shoup] {
        &self.inverses
    }

    /// `-q` modulo each prime of the target.
    pub fn minus(&self) -> &[Shoup] {
        &self.minus
    }

    /// `(c - D)/q`.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`].
    pub fn apply(&self, c: &RnsPoly<Eval>) -> Result<RnsPoly<Eval>, Error> {
        self.basis.same("a division by the last prime", c.basis())?;
        Ok(self.apply_to(|i, out| out.copy_from_slice(c.tower(i))))
    }

    /// As [`Self::apply`], for the polynomial of which `tower(i, out)` writes tower `i` in the transformed domain, over
    /// words with arbitrary contents. A product of other polynomials is then computed where it is needed, in the
    /// nearest cache.
    pub fn apply_to(&self, tower: impl Fn(usize, &mut [u64]) + Send + Sync) -> RnsPoly<Eval> {
        let correction = self.correction_of(|rest| tower(self.target.len(), rest));
        RnsPoly::from_towers_with(&self.target, self.target.dimension(), |i, out, d| {
            tower(i, out);
            self.divide(&correction, i, out, d);
        })
    }

    /// As [`Self::apply_to`], for two polynomials whose towers are made together:
    /// `tower(i, words of each, N words of scratch)`.
    pub fn apply_two_to(&self, tower: impl Fn(usize, [&mut [u64]; 2], &mut [u64]) + Send + Sync) -> [RnsPoly<Eval>; 2] {
        let (last, n) = (self.target.len(), self.basis.dimension());
        let mut taken = Scratch::take(3 * n);
        let (x, rest) = taken[..3 * n].split_at_mut(n);
        let (y, scratch) = rest.split_at_mut(n);
        tower(last, [&mut *x, &mut *y], scratch);
        let corrections = [x, y].map(|rest| {
            self.basis.plan(last).inverse(rest);
            self.correction(rest)
        });
        RnsPoly::two_from_towers(&self.target, n, |i, [x, y], scratch| {
            tower(i, [&mut *x, &mut *y], scratch);
            for (out, correction) in [x, y].into_iter().zip(&corrections) {
                self.divide(correction, i, out, scratch);
            }
        })
    }

    /// As [`Self::apply`], in place. `tower(i, words)` makes tower `i` of the polynomial from the words of `c`.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`].
    pub fn apply_in_place(
        &self,
        c: &mut RnsPoly<Eval>,
        tower: impl Fn(usize, &mut [u64]) + Send + Sync,
    ) -> Result<(), Error> {
        self.basis.same("a division by the last prime", c.basis())?;
        let last = self.target.len();
        let correction = self.correction_of(|rest| {
            rest.copy_from_slice(c.tower(last));
            tower(last, rest);
        });
        c.narrow(&self.target);
        c.for_each_tower_with(self.target.dimension(), |i, out, d| {
            tower(i, out);
            self.divide(&correction, i, out, d);
        });
        Ok(())
    }

    /// Returns `D` of the polynomial whose last tower `last` writes.
    fn correction_of(&self, last: impl Fn(&mut [u64])) -> Correction {
        let n = self.basis.dimension();
        let mut scratch = Scratch::take(n);
        let rest = &mut scratch[..n];
        last(rest);
        self.basis.plan(self.target.len()).inverse(rest);
        self.correction(rest)
    }

    /// Computes `(c - D)/q` in tower `i`, of values.
    fn divide(&self, correction: &Correction, i: usize, c: &mut [u64], d: &mut [u64]) {
        correction.write(self, i, d);
        self.target.plan(i).forward(d);
        self.target.pointwise(i).sub_scale(c, d, self.inverses[i]);
    }

    /// As [`Self::apply`], for coefficients.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`].
    pub fn apply_to_coefficients(&self, c: &RnsPoly<Coeff>) -> Result<RnsPoly<Coeff>, Error> {
        self.basis.same("a division by the last prime", c.basis())?;
        let correction = self.correction(c.tower(self.target.len()));
        Ok(RnsPoly::from_towers_with(&self.target, self.target.dimension(), |i, out, d| {
            out.copy_from_slice(c.tower(i));
            correction.write(self, i, d);
            self.target.pointwise(i).sub_scale(out, d, self.inverses[i]);
        }))
    }

    /// Computes `D` from the residues modulo `q`.
    fn correction(&self, rest: &[u64]) -> Correction {
        let q = self.basis.modulus(self.target.len());
        let (p, m) = (self.plaintext.value(), self.plaintext);
        let fits = u128::from(p) * u128::from(q.value()) < 1 << 61;
        let (mut first, mut second) = (vec![0; rest.len()], vec![0; if fits { 0 } else { rest.len() }]);
        // k = d/q mod p with the least |d - q k|; if both p/2 and -p/2 are possible, k has the sign of d.
        let quotient = |d: i64| {
            let k = m.centered(m.reduce(m.reduce(d.unsigned_abs()) * self.inverse));
            if d < 0 { -k } else { k }
        };
        if fits && self.inverse == 1 && p.is_power_of_two() {
            // The usual case is |d| mod p by its lowest bits, less p above p/2, without branches.
            let (mask, half) = (p as i64 - 1, p as i64 / 2);
            for (first, &x) in first.iter_mut().zip(rest) {
                let d = q.centered(x);
                let sign = d >> 63;
                let k = ((d ^ sign) - sign) & mask;
                let k = k - (p as i64 & ((half - k) >> 63));
                *first = d - q.value() as i64 * ((k ^ sign) - sign);
            }
        } else if fits {
            first.iter_mut().zip(rest).for_each(|(first, &x)| {
                let d = q.centered(x);
                *first = d - q.value() as i64 * quotient(d);
            });
        } else {
            for ((first, second), &x) in first.iter_mut().zip(&mut second).zip(rest) {
                *first = q.centered(x);
                *second = quotient(*first);
            }
        }
        Correction { first, second }
    }
}

/// `D = first`, or `first - q second` if `D` does not fit a word.
struct Correction {
    first: Vec<i64>,
    second: Vec<i64>,
}

impl Correction {
    /// Writes `D` modulo prime `i` of the target.
    fn write(&self, plan: &Rescale, i: usize, out: &mut [u64]) {
        let ops = plan.target.pointwise(i);
        ops.reduce_signed(out, &self.first);
        if !self.second.is_empty() {
            let mut k = vec![0; out.len()];
            ops.reduce_signed(&mut k, &self.second);
            ops.scale_add(out, &k, plan.minus[i]);
        }
    }
}

/// Plan of the approximate division by the primes `P` that follow those of `Q`: `c' = (c - D)/P`. `D` is a number near
/// zero that is `c` modulo `P` and 0 modulo the plaintext modulus `p`, computed by one fast base conversion.
/// `|D| <= (2k - 1 + p) P / 2`, where `k` is the number of primes of `P`.
#[derive(Clone, Debug)]
pub struct ModDown {
    basis: Basis,
    conversion: BaseConversion,
    plaintext: Divisor,
    /// `P/p_i mod p`, and `-1/P mod p`.
    cofactors: Vec<u64>,
    minus_inverse: u64,
    /// `P`, `1/P` and `-(P-1)/2` modulo each prime of `Q`; `(P-1)/2` modulo each prime of `P`.
    products: Vec<Shoup>,
    inverses: Vec<Shoup>,
    halves: Vec<u64>,
    special_halves: Vec<u64>,
}

impl ModDown {
    /// Makes the division by `special`, whose primes follow those of `target`, for plaintext modulus `p`.
    ///
    /// # Errors
    /// [`Error::Primes`], [`Error::BasisMismatch`] for bases that do not fit together; [`Error::PlaintextModulus`].
    pub fn new(target: &Basis, special: &Basis, plaintext: u64) -> Result<Self, Error> {
        let basis = target.joined(special)?;
        let m = Divisor::new(plaintext)?;
        let product = |skip: Option<usize>| {
            let primes = special.moduli().enumerate().filter(|&(k, _)| Some(k) != skip);
            primes.fold(m.reduce(1), |product, (_, q)| m.reduce(product * m.reduce(q.value())))
        };
        let inverse = m.vartime_inverse(product(None)).ok_or(Error::PlaintextModulus { modulus: plaintext })?;
        let half = |q: solinas_field::prime::Modulus, product: u64| q.mul(q.sub(product, 1), q.value().div_ceil(2));
        let of_target = |i: usize| {
            let q = target.modulus(i);
            let p = special.product_mod(special.len(), q);
            (q.shoup(p), (q.shoup(q.inv(p).unwrap_or(0)), q.neg(half(q, p))))
        };
        let (products, (inverses, halves)) = (0..target.len()).map(of_target).unzip();
        Ok(Self {
            conversion: BaseConversion::new(special, target)?,
            cofactors: (0..special.len()).map(|i| product(Some(i))).collect(),
            minus_inverse: m.reduce(m.value() - inverse),
            special_halves: special.moduli().map(|q| half(q, 0)).collect(),
            basis,
            plaintext: m,
            products,
            inverses,
            halves,
        })
    }

    /// The basis of the dividends.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// The constants, for other implementations.
    pub fn constants(&self) -> ModDownConstants<'_> {
        ModDownConstants {
            conversion: &self.conversion,
            plaintext: self.plaintext,
            cofactors: &self.cofactors,
            minus_inverse: self.minus_inverse,
            half: self.half(),
            products: &self.products,
            inverses: &self.inverses,
            halves: &self.halves,
            special_halves: &self.special_halves,
        }
    }

    /// `(c - D)/P`.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`].
    pub fn apply(&self, c: &RnsPoly<Eval>) -> Result<RnsPoly<Eval>, Error> {
        let mut quotient = RnsPoly::zero(self.conversion.to());
        self.add_to(&mut quotient, c.clone())?;
        Ok(quotient)
    }

    /// Adds `(c - D)/P` to `sum`. Overwrites `c`.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`].
    pub fn add_to(&self, sum: &mut RnsPoly<Eval>, mut c: impl BorrowMut<RnsPoly<Eval>>) -> Result<(), Error> {
        const WHAT: &str = "a division by special primes";
        let c = c.borrow_mut();
        let (target, special) = (self.conversion.to(), self.conversion.from());
        self.basis.same(WHAT, c.basis())?;
        target.same(WHAT, sum.basis())?;
        let (values, rest) = c.words_mut().split_at_mut(target.words());
        // x = c + (P-1)/2 mod P, then D = x - (P-1)/2 + P k is centred; k makes it 0 modulo p.
        for_each_tower(rest, special.dimension(), |i, x| {
            special.plan(i).inverse(x);
            let q = special.modulus(i);
            x.iter_mut().for_each(|x| *x = q.add(*x, self.special_halves[i]));
            self.conversion.share(i, x);
        });
        let corrections = self.corrections(rest);
        let n = target.dimension();
        sum.for_each_tower_with(2 * n, |i, out, scratch| {
            let ops = target.pointwise(i);
            let (d, multiple) = scratch.split_at_mut(n);
            self.conversion.combine(rest, i, self.halves[i], d);
            ops.reduce_signed(multiple, &corrections);
            ops.scale(multiple, self.products[i]);
            ops.add(d, multiple);
            target.plan(i).forward(d);
            // -(D - c)/P.
            ops.sub_scale(d, &values[i * n..][..n], self.inverses[i]);
            ops.sub(out, d);
        });
        Ok(())
    }

    /// `(P-1)/2` modulo p, by P modulo 2p.
    fn half(&self) -> u64 {
        let (p, special) = (self.plaintext.value(), self.conversion.from());
        let twice = 2 * p;
        let product = special
            .moduli()
            .fold(1u64, |product, q| (u128::from(product) * u128::from(q.value() % twice) % u128::from(twice)) as u64);
        (product + twice - 1) % twice / 2 % p
    }

    /// `k = -D_0/P mod p`, centred, for `D_0 = sum_i y_i P/p_i - (P-1)/2`.
    fn corrections(&self, shares: &[u64]) -> Vec<i64> {
        let (m, special) = (self.plaintext, self.conversion.from());
        if m.value() == 1 {
            return vec![0; special.dimension()];
        }
        let mut sums = vec![0u64; special.dimension()];
        // A power of two divides 2^64, so its sums can wrap.
        let wraps = m.value().is_power_of_two();
        for (share, &cofactor) in shares.chunks_exact(special.dimension()).zip(&self.cofactors) {
            for (sum, &y) in sums.iter_mut().zip(share) {
                *sum = if wraps {
                    sum.wrapping_add(y.wrapping_mul(cofactor)) & (m.value() - 1)
                } else {
                    m.reduce(*sum + m.reduce(y) * cofactor)
                };
            }
        }
        let half = self.half();
        let correct = |sum: u64| m.centered(m.reduce(m.reduce(sum + m.value() - half) * self.minus_inverse));
        sums.into_iter().map(correct).collect()
    }
}

/// The constants of a [`ModDown`].
#[derive(Debug, Clone, Copy)]
pub struct ModDownConstants<'a> {
    /// The conversion from the primes of `P` to those of `Q`.
    pub conversion: &'a BaseConversion,
    /// The plaintext modulus `p`.
    pub plaintext: Divisor,
    /// `P/p_i mod p`.
    pub cofactors: &'a [u64],
    /// `-1/P mod p`.
    pub minus_inverse: u64,
    /// `(P-1)/2 mod p`.
    pub half: u64,
    /// `P` modulo each prime of `Q`.
    pub products: &'a [Shoup],
    /// `1/P` modulo each prime of `Q`.
    pub inverses: &'a [Shoup],
    /// `-(P-1)/2` modulo each prime of `Q`.
    pub halves: &'a [u64],
    /// `(P-1)/2` modulo each prime of `P`.
    pub special_halves: &'a [u64],
}
