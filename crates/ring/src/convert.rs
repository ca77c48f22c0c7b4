//! Approximate base conversion.

use solinas_field::prime::{Modulus, Shoup};

use crate::{Basis, Coeff, Error, RnsPoly};

/// Plan of the fast conversion to other primes: `x` in `0..Q` becomes `x + a Q` with an unknown `a` in `0..t` for each
/// coefficient (Bajard, Eynard, Hasan and Zucca 2016). [`MixedRadix`](crate::MixedRadix) is exact, at `t/2` times the
/// work.
#[derive(Clone, Debug)]
pub struct BaseConversion {
    from: Basis,
    to: Basis,
    /// `(Q/q_i)^-1 mod q_i`.
    pub(crate) inverses: Vec<Shoup>,
    /// For target `j`: `Q/q_i mod p_j`.
    factors: Vec<Vec<Shoup>>,
    /// Bits of the widest `q_i`.
    bits: u32,
}

/// `Q/q_i mod p`, for each `i`.
fn cofactors(basis: &Basis, p: Modulus) -> Vec<u64> {
    let skip = |i: usize| {
        let others = basis.moduli().enumerate().filter(|&(k, _)| k != i);
        others.fold(1, |product, (_, q)| p.mul(product, p.reduce(q.value())))
    };
    (0..basis.len()).map(skip).collect()
}

impl BaseConversion {
    /// Makes the conversion from one basis to another of the same dimension.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`] for another dimension.
    pub fn new(from: &Basis, to: &Basis) -> Result<Self, Error> {
        if from.dimension() != to.dimension() {
            return Err(from.mismatch("a base conversion", to));
        }
        let inverse = |i: usize| {
            let q = from.modulus(i);
            q.shoup(q.inv(cofactors(from, q)[i]).unwrap_or(0))
        };
        let factors = |p: Modulus| cofactors(from, p).into_iter().map(|factor| p.shoup(factor)).collect();
        Ok(Self {
            inverses: (0..from.len()).map(inverse).collect(),
            factors: to.moduli().map(factors).collect(),
            bits: from.moduli().map(|q| q.bits()).max().unwrap_or(0),
            from: from.clone(),
            to: to.clone(),
        })
    }

    /// The primes from which it converts.
    pub fn from(&self) -> &Basis {
        &self.from
    }

    /// The primes to which it converts.
    pub fn to(&self) -> &Basis {
        &self.to
    }

    /// `(Q/q_i)^-1 mod q_i` for each prime of the source.
    pub fn inverses(&self) -> &[Shoup] {
        &self.inverses
    }

    /// For each prime `p_j` of the target, `Q/q_i mod p_j` for each prime of the source.
    pub fn factors(&self) -> &[Vec<Shoup>] {
        &self.factors
    }

    /// Computes `y_i = x_i (Q/q_i)^-1 mod q_i` of tower `i` in place. The combination of these shares with the
    /// cofactors gives `x`.
    pub(crate) fn share(&self, i: usize, words: &mut [u64]) {
        self.from.pointwise(i).scale(words, self.inverses[i]);
    }

    /// Writes target `j` of the conversion of `shares`, plus a constant, to `out`.
    pub(crate) fn combine(&self, shares: &[u64], j: usize, constant: u64, out: &mut [u64]) {
        self.to.pointwise(j).combine(out, shares, self.bits, &self.factors[j], constant);
    }

    /// Converts `x`.
    ///
    /// # Errors
    /// [`Error::BasisMismatch`].
    pub fn convert(&self, x: &RnsPoly<Coeff>) -> Result<RnsPoly<Coeff>, Error> {
        self.from.same("a base conversion", x.basis())?;
        let mut shares = x.clone();
        shares.for_each_tower(|i, words| self.share(i, words));
        Ok(RnsPoly::from_towers(&self.to, |j, out| self.combine(shares.words(), j, 0, out)))
    }
}
