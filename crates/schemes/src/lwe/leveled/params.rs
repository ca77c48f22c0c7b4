//! Parameters of leveled evaluation.

use serde::{Deserialize, Serialize};

use super::noise;
use crate::lwe::{Error, Modulus, ParamsLiteral as BaseLiteral, params};
use crate::security::SecurityClaim;

/// Unchecked parameters, as written in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParamsLiteral {
    /// Name of the set.
    pub name: String,
    /// Dimension `n` of the secrets.
    pub dimension: usize,
    /// Samples `N` of the public key.
    pub samples: usize,
    /// Multiplications in sequence; there are `depth + 1` levels of a word each.
    pub depth: usize,
    /// Standard deviation of secrets and noise.
    pub sigma: f64,
    /// Bits of a digit in key switching, 1 to 30.
    pub digit_bits: u32,
    /// Ciphertexts that may be added up before each multiplication.
    pub terms: u32,
}

/// Bits of the words.
const WORD_BITS: u32 = 31;
/// Largest dimension: a switching key of some hundred MiB.
const MAX_DIMENSION: usize = 128;

/// Checked, immutable parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    literal: ParamsLiteral,
    base: params::Params,
    /// `M_j` of each level.
    moduli: Vec<Modulus>,
}

impl Params {
    /// Examples of the names that [`Self::named`] takes.
    pub fn names() -> Vec<&'static str> {
        vec!["leveled-16-2", "leveled-32-3"]
    }

    /// The set `leveled-N-DEPTH`: dimension `N` up to 128, `DEPTH` multiplications in sequence.
    ///
    /// # Errors
    /// [`Error::UnknownParams`] for another name; [`Error::Params`] for numbers out of range.
    pub fn named(name: &str) -> Result<Self, Error> {
        let unknown =
            || Error::UnknownParams { name: name.into(), known: "leveled-N-DEPTH, such as leveled-32-3".into() };
        let parts: Vec<&str> = name.split('-').collect();
        let ["leveled", dimension, depth] = parts[..] else { return Err(unknown()) };
        let number = |part: &str| part.parse::<usize>().map_err(|_| unknown());
        let (dimension, depth) = (number(dimension)?, number(depth)?);
        Self::try_from(ParamsLiteral {
            name: name.into(),
            dimension,
            samples: 2 * dimension,
            depth,
            sigma: 3.2,
            digit_bits: 8,
            terms: 4,
        })
    }

    /// The numbers they were made from.
    pub fn literal(&self) -> &ParamsLiteral {
        &self.literal
    }

    /// Name of the set.
    pub fn name(&self) -> &str {
        &self.literal.name
    }

    /// Multiplications in sequence: the level of fresh ciphertexts.
    pub fn depth(&self) -> usize {
        self.literal.depth
    }

    /// Dimension `n` of the secrets.
    pub fn dimension(&self) -> usize {
        self.literal.dimension
    }

    /// The modulus of a level.
    ///
    /// # Panics
    /// When there is no such level.
    pub fn modulus(&self, level: usize) -> &Modulus {
        &self.moduli[level]
    }

    /// The parameters of fresh ciphertexts.
    pub fn fresh(&self) -> &params::Params {
        &self.base
    }

    /// Entries of a tensor square: pairs of numbers of a ciphertext.
    pub(super) fn pairs(&self) -> usize {
        (self.dimension() + 1) * (self.dimension() + 2) / 2
    }

    /// Widths of the digits of a residue, from the lowest.
    pub(super) fn digits(&self) -> impl Iterator<Item = u32> + Clone {
        let bits = self.literal.digit_bits;
        (0..WORD_BITS).step_by(bits as usize).map(move |at| bits.min(WORD_BITS - at))
    }

    /// The security claim: that of the key at the largest modulus.
    pub fn security(&self) -> SecurityClaim {
        self.base.security()
    }
}

impl TryFrom<ParamsLiteral> for Params {
    type Error = Error;

    fn try_from(literal: ParamsLiteral) -> Result<Self, Error> {
        let problem = |problem: String| Error::Params { name: literal.name.clone(), problem };
        let in_range = |what: &str, value: usize, range: core::ops::RangeInclusive<usize>| {
            if range.contains(&value) {
                return Ok(());
            }
            Err(problem(format!("{what} {value} is not in {}..={}", range.start(), range.end())))
        };
        in_range("dimension", literal.dimension, 1..=MAX_DIMENSION)?;
        in_range("samples", literal.samples, 1..=1 << 20)?;
        in_range("depth", literal.depth, 0..=20)?;
        in_range("bits of a digit", literal.digit_bits as usize, 1..=30)?;
        in_range("terms", literal.terms as usize, 1..=1 << 20)?;
        let base = params::Params::try_from(BaseLiteral {
            name: literal.name.clone(),
            dimension: literal.dimension,
            samples: literal.samples,
            words: literal.depth + 1,
            word_bits: WORD_BITS,
            sigma: literal.sigma,
            encryption_noise: true,
        })?;
        let moduli = (0..=literal.depth).map(|level| base.modulus().prefix(level + 1)).collect::<Result<_, _>>()?;
        let params = Self { literal, base, moduli };
        // A chain of products of sums.
        let terms = f64::from(params.literal.terms).log2();
        let mut now = noise::fresh(&params);
        for level in (1..=params.depth()).rev() {
            let product = noise::product(now + terms, now + terms);
            let switched = noise::switch(&params, product, level);
            let over = switched + 2.0 * noise::TAIL - noise::half(&params, level);
            if over > 0.0 {
                let name = params.literal.name.clone();
                let problem = format!(
                    "a product at level {level} has {over:.1} bits of noise too many: take smaller digits, fewer terms or a smaller sigma"
                );
                return Err(Error::Params { name, problem });
            }
            now = noise::scale(&params, switched, level);
        }
        Ok(params)
    }
}
