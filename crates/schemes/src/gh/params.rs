//! Parameter sets and the numbers derived from them.
//!
//! All sets are for research only, see [`Params::security`].

use serde::{Deserialize, Serialize};

use super::{Error, SCHEME, noise};
use crate::security::{SecurityClaim, Status};

/// Target security in bits of the default numbers of candidates and non-zeros, by the estimates of 2011.
const TARGET_BITS: f64 = 72.0;

/// Unchecked parameters, as a file holds them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParamsLiteral {
    /// Name of the set.
    pub name: String,
    /// Dimension `n` of the lattice, a power of two.
    pub dimension: usize,
    /// Bits `t` of the coefficients of the secret `v`.
    pub coefficient_bits: usize,
    /// Blocks `s` of the sparse subset sum, `2^p - 1`: 3, 7 or 15.
    pub blocks: usize,
    /// Candidates `S` of a block. Range: `16..=65536`. Defaults to `max(ceil(2^(72 / ceil(s/2))), ceil(n/s))`.
    pub candidates: Option<usize>,
    /// Expected number `nz` of non-zero coefficients of a noise polynomial. Range: `s..=n`. Defaults to
    /// `max(s, ceil(144 / (log2 n - 2)))`.
    pub nonzeros: Option<usize>,
}

/// Checked, immutable parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    literal: ParamsLiteral,
    precision: usize,
    candidates: usize,
    ratio_bits: usize,
    indicators: usize,
    nonzeros: usize,
}

/// Smallest number of candidates for which the noise of recrypted ciphertexts has been simulated. Fewer candidates make
/// its tail longer.
const MIN_CANDIDATES: usize = 16;

/// Name, `n`, `t`, `s`, and `S` (0 for the default).
const SETS: [(&str, usize, usize, usize, usize); 7] = [
    ("toy", 512, 380, 15, 0),
    ("small", 2048, 380, 15, 0),
    ("medium", 8192, 380, 15, 0),
    ("large", 32768, 380, 15, 0),
    ("ci-3", 64, 60, 3, 16),
    ("ci-7", 64, 160, 7, 64),
    ("ci-15", 64, 380, 15, 64),
];

impl Params {
    /// Names of the sets: the four of the papers, then those for fast tests.
    pub fn names() -> Vec<&'static str> {
        SETS.iter().map(|set| set.0).collect()
    }

    /// Returns the set of this name.
    ///
    /// # Errors
    /// [`Error::UnknownParams`] if no set has the name.
    pub fn named(name: &str) -> Result<Self, Error> {
        let Some(&(name, dimension, coefficient_bits, blocks, candidates)) = SETS.iter().find(|set| set.0 == name)
        else {
            return Err(Error::UnknownParams { scheme: SCHEME, name: name.into(), known: Self::names().join(", ") });
        };
        Self::try_from(ParamsLiteral {
            name: name.into(),
            dimension,
            coefficient_bits,
            blocks,
            candidates: (candidates > 0).then_some(candidates),
            nonzeros: None,
        })
    }

    /// The unchecked numbers.
    pub fn literal(&self) -> &ParamsLiteral {
        &self.literal
    }

    /// Name of the set.
    pub fn name(&self) -> &str {
        &self.literal.name
    }

    /// Dimension `n` of the lattice.
    pub fn dimension(&self) -> usize {
        self.literal.dimension
    }

    /// Bits `t` of the coefficients of `v`, sign included.
    pub fn coefficient_bits(&self) -> usize {
        self.literal.coefficient_bits
    }

    /// Blocks `s`.
    pub fn blocks(&self) -> usize {
        self.literal.blocks
    }

    /// Number `p` of bits after the point to which [`recrypt`](super::Evaluator::recrypt) rounds: `s = 2^p - 1`.
    pub fn precision(&self) -> usize {
        self.precision
    }

    /// Candidates `S` of a block.
    pub fn candidates(&self) -> usize {
        self.candidates
    }

    /// Bits `rho` of the ratio `R = 2^rho` between candidates: `ceil(n t / (s (S-1)))`.
    pub fn ratio_bits(&self) -> usize {
        self.ratio_bits
    }

    /// Indicator ciphertexts `m` of a block: `ceil(2 sqrt S)`, so that `m (m-1) / 2 >= S`.
    pub fn indicators(&self) -> usize {
        self.indicators
    }

    /// Expected number `nz` of non-zero coefficients of a noise polynomial.
    pub fn nonzeros(&self) -> usize {
        self.nonzeros
    }

    /// Largest number of non-zero coefficients of a noise polynomial: six standard deviations above the mean.
    /// Polynomials with more are drawn again.
    pub fn max_nonzeros(&self) -> usize {
        let mean = self.nonzeros;
        (mean + (6.0 * (mean as f64).sqrt()).ceil() as usize).min(self.dimension())
    }

    /// Expected number of bits of the modulus `d`. `d` is the product of the absolute values of `v` at the `n` roots of
    /// `x^n + 1`, which are Rayleigh distributed with mean square `n 4^t / 12`.
    pub fn modulus_bits(&self) -> f64 {
        // E log2 of a Rayleigh variable of mean square 1 is -gamma / (2 ln 2).
        self.dimension() as f64 * (noise::log2_embedding(self) - 0.5 * 0.577_215_664_9 / core::f64::consts::LN_2)
    }

    /// Expected number of words of a ciphertext.
    pub fn words(&self) -> usize {
        (self.modulus_bits() / 64.0).ceil() as usize
    }

    /// Expected number of words of the server key: `d`, `r`, `x_k` and the encrypted indicators.
    pub fn server_key_words(&self) -> usize {
        (2 + self.blocks() * (1 + self.indicators())) * self.words()
    }

    /// Number of values `a` among the first `S` pairs `(a, b)`.
    pub fn first_indices(&self) -> usize {
        pair(self.candidates - 1, self.indicators).0 + 1
    }

    /// The pairs of the candidates by their first member: for each `a`, its number of pairs `(a, b)`, with `b = a + 1` and
    /// so on. They add up to [`Self::candidates`].
    pub fn pairs(&self) -> impl Iterator<Item = usize> + use<> {
        let (mut rest, m) = (self.candidates, self.indicators);
        (0..self.first_indices()).map(move |a| {
            let here = rest.min(m - 1 - a);
            rest -= here;
            here
        })
    }

    /// Whether a product of two recrypted ciphertexts can be recrypted, so that circuits of any depth can be evaluated.
    /// It is false for the sets large, ci-3 and ci-7.
    pub fn supports_circuits(&self) -> bool {
        noise::margin(self, 2.0 * noise::recrypted(self)) >= noise::recrypt_need(self)
    }

    /// Largest number of products in a sum of Recrypt. A column of the full FFT sums one for each first index. Column 1 sums
    /// the squares of s bits and one carry from every other column but column 0.
    pub fn recrypt_terms(&self) -> usize {
        self.first_indices().max(self.blocks() + self.precision())
    }

    /// Root Hermite factor that a lattice attack must reach: `2^(t/n)`.
    pub fn root_hermite_factor(&self) -> f64 {
        libm::exp2(self.coefficient_bits() as f64 / self.dimension() as f64)
    }

    /// Base-2 logarithm of a bound of the probability that a recryption fails.
    pub fn log2_failure(&self) -> f64 {
        noise::log2_excess(self)
    }

    /// The security claim: 0 bits, for research only.
    pub fn security(&self) -> SecurityClaim {
        let delta = self.root_hermite_factor();
        let lattice = if delta > 1.02 {
            "which lattice reduction that can be run today reaches".to_string()
        } else {
            "which takes BKZ of a block size of about 220".to_string()
        };
        let why = format!(
            "the shortest vector is found at a root Hermite factor of {delta:.3}, {lattice}; all sparse-subset-sum challenges of 2011 are \
             solved; short generators are found in quantum polynomial time and in classical subexponential time"
        );
        SecurityClaim {
            classical_bits: 0.0,
            quantum_bits: 0.0,
            estimator: "none: the assumptions are broken, or close to it".into(),
            date: "2026-11-21".into(),
            status: Status::ResearchOnly { why },
        }
    }
}

/// Returns pair number `index` in lexicographic order of the pairs `(a, b)`, `a < b < m`:
/// `index = a m - a (a+1) / 2 + (b - a - 1)`.
pub(super) fn pair(index: usize, m: usize) -> (usize, usize) {
    let (mut a, mut rest) = (0, index);
    while rest >= m - 1 - a {
        rest -= m - 1 - a;
        a += 1;
    }
    (a, a + 1 + rest)
}

impl TryFrom<ParamsLiteral> for Params {
    type Error = Error;

    fn try_from(literal: ParamsLiteral) -> Result<Self, Error> {
        let problem = |problem: String| Error::Params { scheme: SCHEME, name: literal.name.clone(), problem };
        let in_range = |what: &str, value: usize, range: core::ops::RangeInclusive<usize>| {
            if range.contains(&value) {
                Ok(())
            } else {
                let near = value.clamp(*range.start(), *range.end());
                let (least, most) = range.into_inner();
                Err(problem(format!("{what} {value} is not in {least}..={most}: give {near}")))
            }
        };
        let (n, s) = (literal.dimension, literal.blocks);
        in_range("dimension", n, 64..=1 << 16)?;
        if !n.is_power_of_two() {
            return Err(problem(format!("dimension {n} is not a power of two")));
        }
        in_range("coefficient bits", literal.coefficient_bits, 16..=1024)?;
        if ![3, 7, 15].contains(&s) {
            return Err(problem(format!("blocks {s} are not 3, 7 or 15")));
        }
        let log2_n = f64::from(n.ilog2());
        let default_candidates =
            (libm::exp2(TARGET_BITS / (s as f64 / 2.0).ceil()).ceil().min(1e9) as usize).max(n.div_ceil(s));
        let candidates = literal.candidates.unwrap_or(default_candidates);
        in_range("candidates", candidates, MIN_CANDIDATES..=1 << 16)?;
        let default_nonzeros = ((2.0 * TARGET_BITS / (log2_n - 2.0)).ceil() as usize).clamp(s, n);
        let nonzeros = literal.nonzeros.unwrap_or(default_nonzeros);
        // The papers do not allow fewer than s, and the tail of the noise was simulated with s or more.
        in_range("non-zeros", nonzeros, s..=n)?;
        let params = Self {
            precision: (s + 1).ilog2() as usize,
            candidates,
            ratio_bits: (n * literal.coefficient_bits).div_ceil(s * (candidates - 1)),
            indicators: (2.0 * (candidates as f64).sqrt()).ceil() as usize,
            nonzeros,
            literal,
        };
        let margin = noise::margin(&params, noise::recrypted(&params));
        let need = noise::recrypt_need(&params);
        if margin < need {
            let bits = params.coefficient_bits() + (need - margin).ceil() as usize;
            return Err(Error::Params {
                scheme: SCHEME,
                name: params.literal.name,
                problem: format!(
                    "a recrypted ciphertext would keep {margin:.0} bits of margin and needs {need:.0}: give coefficients {bits} bits"
                ),
            });
        }
        Ok(params)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_derive_the_numbers_of_the_specification() {
        for (name, candidates, ratio_bits, nonzeros, indicators, bits) in [
            ("toy", 512, 26, 21, 46, 195_764.0),
            ("small", 512, 102, 16, 46, 785_006.0),
            ("medium", 547, 381, 15, 47, 3_148_249.0),
            ("large", 2185, 381, 15, 94, 12_625_500.0),
        ] {
            let params = Params::named(name).unwrap();
            assert_eq!(
                (params.candidates(), params.ratio_bits(), params.nonzeros(), params.indicators()),
                (candidates, ratio_bits, nonzeros, indicators),
                "{name}"
            );
            assert!((params.modulus_bits() / bits - 1.0).abs() < 1e-3, "{name}: {}", params.modulus_bits());
            assert_eq!(params.supports_circuits(), name != "large", "{name}");
            let longer = ParamsLiteral { name: "longer".into(), coefficient_bits: 403, ..params.literal().clone() };
            assert!(Params::try_from(longer).unwrap().supports_circuits(), "{name}");
        }
    }

    #[test]
    fn pairs_enumerate_in_lexicographic_order() {
        for m in [2, 3, 8, 46, 94] {
            let mut index = 0;
            for a in 0..m {
                for b in a + 1..m {
                    assert_eq!(pair(index, m), (a, b));
                    assert_eq!(index, a * m - a * (a + 1) / 2 + (b - a - 1));
                    index += 1;
                }
            }
        }
    }

    #[test]
    fn every_set_is_for_research_only() {
        for name in Params::names() {
            let security = Params::named(name).unwrap().security();
            assert!(matches!(security.status, Status::ResearchOnly { .. }), "{name}");
            assert_eq!(security.classical_bits, 0.0);
        }
    }

    #[test]
    fn bad_literals_are_refused_with_the_remedy() {
        let good = Params::named("ci-7").unwrap().literal().clone();
        let refused = |change: &dyn Fn(&mut ParamsLiteral), word: &str| {
            let mut literal = good.clone();
            change(&mut literal);
            let message = Params::try_from(literal).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        };
        refused(&|l| l.dimension = 65, "power of two");
        refused(&|l| l.dimension = 8, "not in 64..=65536: give 64");
        refused(&|l| l.blocks = 8, "3, 7 or 15");
        refused(&|l| l.blocks = 31, "3, 7 or 15");
        refused(&|l| l.candidates = Some(15), "candidates 15 is not in 16..=65536: give 16");
        refused(&|l| l.nonzeros = Some(65), "non-zeros 65 is not in 7..=64: give 64");
        refused(&|l| l.nonzeros = Some(6), "give 7");
        refused(&|l| l.coefficient_bits = 60, "give coefficients");
        assert!(Params::named("huge").unwrap_err().to_string().contains("toy"));
    }
}
