//! Decompositions for key switching: a polynomial as a sum of short digits times fixed weights.

use crate::{Automorphism, BaseConversion, Basis, Coeff, Error, Eval, RnsPoly};

/// Digits by tower. Each residue is cut into digits of `bits` bits: `x = sum_(i,e) d_(i,e) 2^(bits e) E_i mod Q`, where
/// `E_i` is 1 in tower `i` and 0 in the others. Range: digits are in `0..2^bits`.
///
/// The key for digit `(i, e)` encrypts [`weighted`](Self::weighted) of the secret; [`accumulate`](Self::accumulate) is
/// the inner product.
#[derive(Clone, Debug)]
pub struct TowerGadget {
    pub(crate) basis: Basis,
    pub(crate) bits: u32,
    /// Tower and shift of each digit.
    pub(crate) digits: Vec<(usize, u32)>,
}

impl TowerGadget {
    /// Makes digits of `bits` bits. If a prime has at most `bits` bits, its tower has one digit.
    ///
    /// # Errors
    /// [`Error::DigitBits`] unless `bits` is in `1..=60`.
    pub fn new(basis: &Basis, bits: u32) -> Result<Self, Error> {
        if !(1..=60).contains(&bits) {
            return Err(Error::DigitBits { bits });
        }
        let of_tower = |i: usize| (0..basis.modulus(i).bits().div_ceil(bits)).map(move |e| (i, e * bits));
        Ok(Self { basis: basis.clone(), bits, digits: (0..basis.len()).flat_map(of_tower).collect() })
    }

    /// Number of digits, and of rows of a key.
    #[allow(clippy::len_without_is_empty, reason = "there is one digit or more")]
    pub fn len(&self) -> usize {
        self.digits.len()
    }

    /// Returns the weight of digit number `digit` times `s`.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`]; [`Error::Towers`] if there is no such digit.
    pub fn weighted(&self, digit: usize, s: &RnsPoly<Eval>) -> Result<RnsPoly<Eval>, Error> {
        self.basis.same("a gadget", s.basis())?;
        let error = Error::Towers { what: "a digit of a gadget", count: digit, min: 0, max: self.len() - 1 };
        let &(tower, shift) = self.digits.get(digit).ok_or(error)?;
        Ok(RnsPoly::from_towers(&self.basis, |i, out| {
            if i == tower {
                let q = self.basis.modulus(i);
                out.copy_from_slice(s.tower(i));
                self.basis.pointwise(i).scale(out, q.shoup(q.reduce(1 << shift)));
            }
        }))
    }

    /// Computes `sum_d digit_d(x) keys[d]`. If `keys[d]` encrypts the weighted secret, the result encrypts `x` times
    /// the secret.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`], [`Error::Length`] for another number of keys.
    pub fn accumulate(&self, x: &RnsPoly<Coeff>, keys: &[RnsPoly<Eval>]) -> Result<RnsPoly<Eval>, Error> {
        self.basis.same("a gadget", x.basis())?;
        check_keys(&self.basis, keys, self.len())?;
        let mask = (1 << self.bits) - 1;
        Ok(RnsPoly::from_towers_with(&self.basis, self.basis.dimension(), |i, out, digit| {
            let ops = self.basis.pointwise(i);
            for (&(tower, shift), key) in self.digits.iter().zip(keys) {
                digit.iter_mut().zip(x.tower(tower)).for_each(|(digit, &x)| *digit = (x >> shift) & mask);
                ops.reduce(digit);
                self.basis.plan(i).forward(digit);
                ops.multiply_add(out, digit, key.tower(i));
            }
        }))
    }
}

fn check_keys(basis: &Basis, keys: &[RnsPoly<Eval>], want: usize) -> Result<(), Error> {
    if keys.len() != want {
        return Err(Error::Length { what: "keys of a decomposition", got: keys.len(), want });
    }
    keys.iter().try_for_each(|key| basis.same("a decomposition", key.basis()))
}

/// Digits by groups of towers, extended to special primes `P`: `P x = sum_g d_g P E_g mod Q P`, where `E_g` is 1 in the
/// towers of group `g` and 0 in the others. Range: a digit is below `k Q_g`, where `k` is the number of towers of the
/// group (fast conversion). After [`ModDown`](crate::ModDown) by `P > Q_g`, its noise is that of the key.
#[derive(Clone, Debug)]
pub struct Hybrid {
    pub(crate) basis: Basis,
    extended: Basis,
    /// First tower of each group, and its conversion to all primes.
    pub(crate) groups: Vec<(usize, BaseConversion)>,
}

/// An automorphism (`None` is the identity) and its keys, one for each group of towers.
pub type Term<'a> = (Option<&'a Automorphism>, &'a [RnsPoly<Eval>]);

impl Hybrid {
    /// Makes groups of `group` towers of `basis`, with special primes `special`.
    ///
    /// # Errors
    /// [`Error::Towers`] for groups of no tower; [`Error::Primes`], [`Error::BasisMismatch`] for bases that do not fit
    /// together.
    pub fn new(basis: &Basis, special: &Basis, group: usize) -> Result<Self, Error> {
        if group == 0 {
            return Err(Error::Towers { what: "a group of towers", count: 0, min: 1, max: basis.len() });
        }
        let extended = basis.joined(special)?;
        let starts = (0..basis.len()).step_by(group);
        let conversion = |first: usize| {
            let part = basis.range(first..basis.len().min(first + group))?;
            Ok((first, BaseConversion::new(&part, &extended)?))
        };
        let groups = starts.map(conversion).collect::<Result<_, Error>>()?;
        Ok(Self { basis: basis.clone(), extended, groups })
    }

    /// The primes of `Q`.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// The conversion of each group of towers to all primes. All groups but the last one have equally many towers.
    pub fn conversions(&self) -> impl Iterator<Item = &BaseConversion> {
        self.groups.iter().map(|(_, conversion)| conversion)
    }

    /// The primes of `Q`, then those of `P`: the basis of keys.
    pub fn extended(&self) -> &Basis {
        &self.extended
    }

    /// Number of digits, and of rows of a key.
    #[allow(clippy::len_without_is_empty, reason = "there is one digit or more")]
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Returns `P E_g s`, for `s` modulo all primes.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`]; [`Error::Towers`] if there is no such group.
    pub fn weighted(&self, group: usize, s: &RnsPoly<Eval>) -> Result<RnsPoly<Eval>, Error> {
        self.extended.same("a hybrid decomposition", s.basis())?;
        let error = Error::Towers { what: "a group of towers", count: group, min: 0, max: self.len() - 1 };
        let (first, conversion) = self.groups.get(group).ok_or(error)?;
        let towers = *first..first + conversion.from().len();
        let special = self.extended.range(self.basis.len()..self.extended.len())?;
        Ok(RnsPoly::from_towers(&self.extended, |i, out| {
            if towers.contains(&i) {
                let q = self.extended.modulus(i);
                out.copy_from_slice(s.tower(i));
                self.extended.pointwise(i).scale(out, q.shoup(special.product_mod(special.len(), q)));
            }
        }))
    }

    /// Computes `sum_g digit_g(x) keys[g]` modulo all primes. If `keys[g]` encrypts the weighted secret, the result
    /// encrypts `P x` times the secret.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`], [`Error::Length`] for another number of keys.
    pub fn accumulate(&self, x: &RnsPoly<Eval>, keys: &[RnsPoly<Eval>]) -> Result<RnsPoly<Eval>, Error> {
        self.accumulate_automorphisms(x, &[(None, keys)])
    }

    /// Computes `sum_s s(sum_g digit_g(x) keys_s[g])` modulo all primes, over automorphisms `s` (`None` is the
    /// identity), each with its keys. It decomposes `x` once for all of them. If `s(keys_s[g])` encrypts the weighted
    /// `s(S)`, the result encrypts the sum of `P s(x) s(S)`.
    ///
    /// It takes an inverse transform for each tower of `x`, and a forward one for each digit and tower except the
    /// digit's own.
    ///
    /// # Errors
    /// As [`Self::accumulate`]; [`Error::Length`] for an automorphism of another dimension.
    pub fn accumulate_automorphisms(&self, x: &RnsPoly<Eval>, terms: &[Term<'_>]) -> Result<RnsPoly<Eval>, Error> {
        let (mut shares, mut sum) = (RnsPoly::zero(&self.basis), RnsPoly::zero(&self.extended));
        self.accumulate_into(x, terms, &mut shares, &mut sum)?;
        Ok(sum)
    }

    /// As [`Self::accumulate_automorphisms`], but writes to `sum`; overwrites `shares`.
    ///
    /// # Errors
    /// As [`Self::accumulate_automorphisms`].
    pub fn accumulate_into(
        &self,
        x: &RnsPoly<Eval>,
        terms: &[Term<'_>],
        shares: &mut RnsPoly<Coeff>,
        sum: &mut RnsPoly<Eval>,
    ) -> Result<(), Error> {
        const WHAT: &str = "a hybrid decomposition";
        [x.basis(), shares.basis()].into_iter().try_for_each(|basis| self.basis.same(WHAT, basis))?;
        self.extended.same(WHAT, sum.basis())?;
        for (automorphism, keys) in terms {
            check_keys(&self.extended, keys, self.len())?;
            automorphism.map_or(Ok(()), |plan| plan.check(&self.extended))?;
        }
        let n = self.basis.dimension();
        shares.for_each_tower(|i, share| {
            share.copy_from_slice(x.tower(i));
            self.basis.plan(i).inverse(share);
            let (first, conversion) = &self.groups[i / self.groups[0].1.from().len()];
            conversion.share(i - first, share);
        });
        // The digits, and the sum of each term.
        let (groups, width) = (self.groups.len(), self.groups.len() + terms.len());
        sum.for_each_tower_with(width * n, |i, out, scratch| {
            let ops = self.extended.pointwise(i);
            let (digits, sums) = scratch.split_at_mut(groups * n);
            for ((first, conversion), digit) in self.groups.iter().zip(digits.chunks_exact_mut(n)) {
                let towers = *first..first + conversion.from().len();
                if towers.contains(&i) {
                    digit.copy_from_slice(x.tower(i));
                } else {
                    conversion.combine(&shares.words()[towers.start * n..towers.end * n], i, 0, digit);
                    self.extended.plan(i).forward(digit);
                }
            }
            sums.fill(0);
            let digits_of = || digits.chunks_exact(n).enumerate();
            for (terms, sums) in terms.chunks(2).zip(sums.chunks_mut(2 * n)) {
                if let ([(_, x), (_, y)], (first, second)) = (terms, sums.split_at_mut(n)) {
                    let pairs = digits_of().map(|(g, digit)| (digit, [x[g].tower(i), y[g].tower(i)]));
                    ops.dot_two([first, second], &pairs.collect::<Vec<_>>());
                } else {
                    let keys = &terms[0].1;
                    digits_of().for_each(|(g, digit)| ops.multiply_add(sums, digit, keys[g].tower(i)));
                }
            }
            out.fill(0);
            let permuted = &mut digits[..n];
            for ((automorphism, _), sum) in terms.iter().zip(sums.chunks_exact(n)) {
                if let Some(automorphism) = automorphism {
                    automorphism.permute(sum, permuted);
                    ops.add(out, permuted);
                } else {
                    ops.add(out, sum);
                }
            }
        });
        Ok(())
    }
}
