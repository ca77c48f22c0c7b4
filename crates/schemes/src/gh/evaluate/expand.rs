//! Step 1 of Recrypt: the candidates `z_ki` of every block, from one expansion of `c x_k / d`.
//!
//! `y_ki = c x_k R^i mod d` with `R = 2^rho`. The fraction of `y_ki / d` consists of the bits after bit `rho i` of the
//! binary expansion of `c x_k / d`. For `i >= 1`, the parity of `y_ki` is the bit before them, because `d` is odd. For
//! `i = 0`, `y_k0 = c x_k - q d`, so its parity is the sum of the parities of `c x_k` and of `q`, the bit before the
//! point.
//!
//! `F_k = floor(x_k 2^K / d)` is stored as a transform. The expansion is `c F_k`, of which the top bits are needed.
//! They are computed as a product modulo `2^M + 1` with `M > K`. What wraps around is below `d`, and rounding `F_k`
//! down causes an error below `c < d`. The 64 bits above those of `d` guard the higher bits: unless all guard bits are
//! equal, no error has reached the bits above them. They are all equal once in 2^61 times; then a division computes the
//! candidates.

use rayon::prelude::*;
use solinas_bigint::Natural;

use super::super::modulus::Modulus;
use super::super::{Error, Params, ServerKey};
use solinas_bigint::fft::{Plan, Ring, Spectrum};

/// Number of guard bits, which show whether the bits above them are exact.
pub const GUARD_BITS: usize = 64;

pub(super) struct Expansion {
    plan: Plan,
    /// `F_k`.
    factors: Vec<Spectrum>,
    /// `K`: index of the bit before the point.
    point: usize,
    /// Bits of `d`.
    bits: usize,
}

impl Expansion {
    pub(super) fn new(server: &ServerKey, modulus: &Modulus) -> Result<Self, Error> {
        let (bits, point) = (modulus.bits(), server.expansion_point());
        let plan = Plan::new(point + 2, Ring::Plus, &modulus.arithmetic().options(1))?;
        let factor = |k: usize| -> Result<Spectrum, Error> {
            let mut factor = plan.spectrum();
            plan.forward(server.expansion_factor(k)?.words(), &mut factor)?;
            Ok(factor)
        };
        let factors = (0..server.params().blocks()).into_par_iter().map(factor).collect::<Result<_, _>>()?;
        Ok(Self { plan, factors, point, bits })
    }

    /// Computes `z_ki`. Shape: `s` blocks of `S` candidates of `p + 1` bits each.
    pub(super) fn candidates(&self, server: &ServerKey, modulus: &Modulus, c: &[u64]) -> Result<Vec<Vec<u8>>, Error> {
        let mut spectrum = self.plan.spectrum();
        self.plan.forward(c, &mut spectrum)?;
        let block = |k: usize| -> Result<Vec<u8>, Error> {
            let x = server.x_of(k);
            let mut product = self.factors[k].clone();
            self.plan.multiply(&mut product, &spectrum)?;
            let mut expansion = vec![0; self.plan.out_words()];
            self.plan.inverse(&mut product, &mut expansion)?;
            let guard = bits_at(&expansion, self.bits + 2, GUARD_BITS - 2);
            if guard == 0 || guard == (1 << (GUARD_BITS - 2)) - 1 {
                return divided(server.params(), server.public().d(), &modulus.mul(c, x)?);
            }
            let parity = c[0] & x[0] ^ bits_at(&expansion, self.point, 1);
            Ok(rounded(server.params(), &expansion, self.point, parity & 1))
        };
        (0..server.params().blocks()).into_par_iter().map(block).collect()
    }
}

impl ServerKey {
    /// Number `K` of bits after the point of [`Self::expansion_factor`]: those of `d`, [`GUARD_BITS`], and those of the
    /// candidates.
    pub fn expansion_point(&self) -> usize {
        self.public().d().bit_len() + GUARD_BITS + fraction_bits(self.params())
    }

    /// The factor `floor(x_k 2^K / d)` of block `k`. Its product with a ciphertext modulo `2^M + 1`, for any `M > K + 1`,
    /// has the candidates of the block at its bit `K` and below, unless its 62 bits from that with the number of bits of
    /// `d` plus 2 on are all equal.
    ///
    /// # Errors
    /// [`Error::Integer`] from the integer arithmetic.
    pub fn expansion_factor(&self, k: usize) -> Result<Natural, Error> {
        let shifted = &Natural::from_words(self.x_of(k)) << self.expansion_point();
        Ok(shifted.div_rem(self.public().d())?.0)
    }

    /// Computes the candidates `z_ki` of a residue `c` by a division for each block. Shape: `s` blocks of `S` candidates of
    /// `p + 1` bits each.
    ///
    /// # Errors
    /// [`Error::Integer`] from the integer arithmetic.
    pub fn candidates(&self, c: &[u64]) -> Result<Vec<Vec<u8>>, Error> {
        let (d, c) = (self.public().d(), Natural::from_words(c));
        let block = |k: usize| {
            let y = (&c * &Natural::from_words(self.x_of(k))).rem(d)?;
            let mut words = y.words().to_vec();
            words.resize(words.len().max(1), 0);
            divided(self.params(), d, &words)
        };
        (0..self.params().blocks()).into_par_iter().map(block).collect()
    }
}

/// Number of bits of the expansion after its point.
fn fraction_bits(params: &Params) -> usize {
    params.ratio_bits() * (params.candidates() - 1) + params.precision() + 1
}

/// Computes the candidates of a block from `y_k0` by a division.
pub(super) fn divided(params: &Params, d: &Natural, y: &[u64]) -> Result<Vec<u8>, Error> {
    let point = fraction_bits(params);
    let shifted = &Natural::from_words(y) << point;
    Ok(rounded(params, shifted.div_rem(d)?.0.words(), point, y[0] & 1))
}

/// Reads the candidates from an expansion. The bit before its point has index `point`; `parity` is the parity of
/// `y_k0`.
fn rounded(params: &Params, expansion: &[u64], point: usize, parity: u64) -> Vec<u8> {
    let p = params.precision();
    let candidate = |i: usize| {
        // p + 1 bits after the point, and the bit before it.
        let bits = bits_at(expansion, point - params.ratio_bits() * i - (p + 1), p + 2);
        let parity = if i == 0 { parity } else { bits >> (p + 1) };
        let fraction = bits & ((1 << (p + 1)) - 1);
        (((fraction >> 1) + (fraction & 1)) ^ (parity << p)) as u8
    };
    (0..params.candidates()).map(candidate).collect()
}

/// Returns `count < 64` bits from bit `start` on. Bits above the words are zero.
fn bits_at(words: &[u64], start: usize, count: usize) -> u64 {
    let word = |i: usize| words.get(i).copied().unwrap_or(0);
    let (i, shift) = (start / 64, start % 64);
    let pair = u128::from(word(i)) | u128::from(word(i + 1)) << 64;
    (pair >> shift) as u64 & ((1 << count) - 1)
}

#[cfg(test)]
mod tests {
    use super::super::super::ClientKey;
    use super::super::super::modulus::Arithmetic;
    use super::*;
    use crate::random::SecretSeed;
    use crate::{Control, Entropy};

    /// Computes the candidates by the loop of the papers.
    fn by_steps(params: &Params, d: &Natural, y: &Natural) -> Vec<u8> {
        let p = params.precision();
        let mut y = y.clone();
        let mut candidates = vec![];
        for _ in 0..params.candidates() {
            let f = (&y << (p + 1)).div_rem(d).unwrap().0.to_u64().unwrap();
            candidates.push((((f >> 1) + (f & 1)) ^ (u64::from(!y.is_even()) << p)) as u8);
            y = (&y << params.ratio_bits()).rem(d).unwrap();
        }
        candidates
    }

    #[test]
    fn fast_expansion_agrees_with_the_loop_of_the_papers() {
        for name in ["ci-3", "ci-7", "ci-15"] {
            let params = Params::named(name).unwrap();
            let client = ClientKey::generate(&params, true, Entropy::Insecure(3), &Control::default()).unwrap();
            let server = client.server_key(&Control::default()).unwrap();
            let modulus = Modulus::new(server.public().d(), 1, Arithmetic::default()).unwrap();
            let expansion = Expansion::new(&server, &modulus).unwrap();
            let d = server.public().d();
            let mut rng = SecretSeed::insecure(1).stream(0);
            let one = Natural::one();
            let mut inputs = vec![Natural::ZERO, one.clone(), d.checked_sub(&one).unwrap()];
            inputs.extend((0..5).map(|_| Natural::random_below(d, &mut rng).unwrap()));
            for c in inputs {
                let c = modulus.residue(&c);
                let candidates = expansion.candidates(&server, &modulus, &c).unwrap();
                for (k, block) in candidates.iter().enumerate() {
                    let y = modulus.mul(&c, server.x_of(k)).unwrap();
                    assert_eq!(*block, by_steps(&params, d, &Natural::from_words(y.clone())), "{name} {k}");
                    assert_eq!(*block, divided(&params, d, &y).unwrap(), "{name} {k}");
                }
            }
        }
    }
}
