//! Parameters of leveled evaluation.

use serde::{Deserialize, Serialize};

use super::fresh::{self, ParamsLiteral as FreshLiteral};
use super::matrix::MAX_ROWS;
use super::{Modulus, SCHEME, noise};
use crate::leveled::{self, inherent_facts};
use crate::security::SecurityClaim;
use crate::set_name;
use crate::slots::SlotEncoder;
use crate::{Error, Level, Noise};

/// Unchecked parameters, as written in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParamsLiteral {
    /// The parameters of fresh ciphertexts: the name, the dimension of all secrets, the samples of the public key, and
    /// the modulus of the highest level.
    #[serde(flatten)]
    pub fresh: FreshLiteral,
    /// Multiplications in sequence. Each level but the lowest adds a word to the modulus. The lowest level has the other words.
    pub depth: usize,
    /// Bits of a digit in key switching, 1 to 30.
    pub digit_bits: u32,
    /// Ciphertexts that may be added up before each multiplication.
    pub terms: u32,
}

/// Largest dimension of `leveled-N-DEPTH`.
const MAX_TOY: usize = 128;

/// Name, `n`, `N`, multiplications in sequence, bits of the words, of the digits: 128 bits or more, by the estimate of [`Params::security`]. Of all widths of
/// words and digits with which products of sums of four decrypt, those of the smallest matrix (`docs/book/lwe.md`).
const SECURE: [(&str, usize, usize, usize, u32, u32); 2] =
    [("leveled-secure-1", 1368, 1504, 1, 16, 8), ("leveled-secure-2", 1968, 2112, 2, 15, 8)];

/// The known names of leveled sets.
const KNOWN: &str = "leveled-secure-1, leveled-secure-2, leveled-N-DEPTH (N up to 128, such as leveled-32-3)";

/// Checked, immutable parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    literal: ParamsLiteral,
    fresh: fresh::Params,
    /// `M_j` of each level.
    moduli: Vec<Modulus>,
}

impl Params {
    /// Examples of the names that [`Self::named`] takes, beside those of sets without multiplications, [`fresh::Params::names`].
    pub fn names() -> Vec<&'static str> {
        SECURE.iter().map(|set| set.0).chain(["leveled-16-2", "leveled-32-3"]).collect()
    }

    /// The set of that name: `leveled-secure-DEPTH`; `leveled-N-DEPTH`, for tests: dimension `N` up to 128, `DEPTH` multiplications in sequence; or a set of
    /// [`fresh::Params::named`], of which ciphertexts are added alone.
    ///
    /// # Errors
    /// [`Error::UnknownParams`] for another name; [`Error::Params`] for numbers out of range.
    pub fn named(name: &str) -> Result<Self, Error> {
        let Some(rest) = name.strip_prefix("leveled-") else {
            let fresh = fresh::Params::named(name).map_err(|error| match error {
                Error::UnknownParams { name, known, .. } => {
                    Error::UnknownParams { scheme: SCHEME, name, known: format!("{known}, {KNOWN}") }
                }
                other => other,
            })?;
            return Ok(fresh.into());
        };
        let literal = |dimension, samples, depth, word_bits, digit_bits| ParamsLiteral {
            fresh: FreshLiteral {
                name: name.into(),
                dimension,
                samples,
                words: depth + 1,
                word_bits,
                sigma: 3.2,
                encryption_noise: true,
            },
            depth,
            digit_bits,
            terms: 4,
        };
        if let Some(&(_, dimension, samples, depth, word_bits, digit_bits)) = SECURE.iter().find(|set| set.0 == name) {
            return Self::try_from(literal(dimension, samples, depth, word_bits, digit_bits));
        }
        let unknown = || Error::UnknownParams { scheme: SCHEME, name: name.into(), known: KNOWN.into() };
        let number = |part: &str| set_name::number::<u32>(part).map(|number| number as usize).ok_or_else(unknown);
        let (dimension, depth) = rest.split_once('-').ok_or_else(unknown)?;
        let (dimension, depth) = (number(dimension)?, number(depth)?);
        if dimension > MAX_TOY {
            let problem = format!("dimension {dimension} is more than {MAX_TOY}: take one of {KNOWN}");
            return Err(Error::Params { scheme: SCHEME, name: name.into(), problem });
        }
        Self::try_from(literal(dimension, 2 * dimension, depth, 31, 8))
    }

    /// The numbers they were made from.
    pub fn literal(&self) -> &ParamsLiteral {
        &self.literal
    }

    /// Name of the set.
    pub fn name(&self) -> &str {
        self.fresh.name()
    }

    /// The level of fresh ciphertexts, the highest.
    pub fn fresh_level(&self) -> Level {
        Level::with_products_left(self.literal.depth)
    }

    /// Multiplications in sequence.
    pub fn depth(&self) -> usize {
        self.literal.depth
    }

    /// Dimension `n` of the secrets.
    pub fn dimension(&self) -> usize {
        self.fresh.dimension()
    }

    /// Standard deviation of secrets and noise.
    pub fn sigma(&self) -> f64 {
        self.fresh.sigma()
    }

    /// The modulus of a level.
    ///
    /// # Panics
    /// For a level above that of fresh ciphertexts.
    pub fn modulus(&self, level: Level) -> &Modulus {
        &self.moduli[level.index()]
    }

    /// The parameters of fresh ciphertexts.
    pub fn fresh(&self) -> &fresh::Params {
        &self.fresh
    }

    /// Base-2 logarithm of a bound of the probability that an operation or a decryption goes wrong.
    pub fn log2_failure(&self) -> f64 {
        fresh::noise::log2_tail(libm::exp2(noise::TAIL))
    }

    /// Entries of a tensor square: pairs of numbers of a ciphertext.
    pub(super) fn pairs(&self) -> usize {
        (self.dimension() + 1) * (self.dimension() + 2) / 2
    }

    /// Widths of the digits of a residue, from the lowest.
    pub(super) fn digits(&self) -> impl Iterator<Item = u32> + Clone {
        let (bits, word) = (self.literal.digit_bits, self.literal.fresh.word_bits);
        (0..word).step_by(bits as usize).map(move |at| bits.min(word - at))
    }

    /// The levels that have a switching key: all above the lowest.
    pub fn switch_levels(&self) -> impl DoubleEndedIterator<Item = Level> + Clone + use<> {
        Level::LOWEST.above().up_to(self.fresh_level())
    }

    /// Rows of the switching key of a level above the lowest, one for each digit of each of `entries` entries.
    pub(super) fn switch_rows(&self, level: Level, entries: usize) -> usize {
        entries * self.modulus(level).len() * self.digits().count()
    }

    /// Residues of the stored switching key of a level above the lowest: one for each row and word.
    pub fn switch_residues(&self, level: Level) -> usize {
        self.switch_rows(level, self.pairs()) * self.modulus(level).len()
    }

    /// Bytes of the matrices of all switching keys: what they take in memory, and what products read or make again.
    pub fn switch_bytes(&self) -> u64 {
        let width = (self.dimension() + 1).next_multiple_of(16) as u64;
        self.switch_levels().map(|level| 4 * self.switch_residues(level) as u64 * width).sum()
    }

    /// Bytes that a product of the highest level holds beside the switching key until its key is switched: its tensor,
    /// and a digit for each row of the switching key. The generation of the switching key takes no more beside the key.
    /// Returns 0 for sets without multiplications.
    pub fn product_bytes(&self) -> u64 {
        let fresh = self.fresh_level();
        match self.depth() {
            0 => 0,
            _ => 4 * (self.pairs() * self.modulus(fresh).len() + self.switch_residues(fresh)) as u64,
        }
    }

    /// The security claim: that of the keys at the largest modulus, with all rows of the switching key as samples, and of messages.
    pub fn security(&self) -> SecurityClaim {
        let rows = if self.depth() == 0 { 0 } else { self.switch_rows(self.fresh_level(), self.pairs()) };
        self.fresh.security_of(self.fresh.samples().max(rows))
    }
}

impl leveled::Params for Params {
    inherent_facts!();

    fn plaintext_modulus(&self) -> u64 {
        2
    }

    fn plaintext_len(&self) -> usize {
        1
    }

    fn slots(&self) -> Result<SlotEncoder, Error> {
        Err(no_slots(self))
    }

    fn log2_fresh_modulus(&self) -> f64 {
        self.fresh.modulus().log2()
    }

    fn level_moduli(&self, level: Level) -> Vec<u64> {
        self.modulus(level).words().iter().map(|word| word.value().into()).collect()
    }

    fn level_parts(&self, _: Level) -> usize {
        1
    }

    fn product_bytes(&self) -> usize {
        self.product_bytes() as usize
    }
}

/// Nothing to rotate.
pub(super) fn no_slots(params: &Params) -> Error {
    let problem = "its ciphertexts hold single bits, which have no slots".into();
    Error::Params { scheme: SCHEME, name: params.name().into(), problem }
}

impl From<fresh::Params> for Params {
    /// Without multiplications.
    fn from(fresh: fresh::Params) -> Self {
        let literal = ParamsLiteral { fresh: fresh.literal().clone(), depth: 0, digit_bits: 1, terms: 1 };
        Self { literal, moduli: vec![fresh.modulus().clone()], fresh }
    }
}

impl TryFrom<ParamsLiteral> for Params {
    type Error = Error;
    fn try_from(literal: ParamsLiteral) -> Result<Self, Error> {
        let problem = |problem: String| Error::Params { scheme: SCHEME, name: literal.fresh.name.clone(), problem };
        let in_range = |what: &str, value: usize, range: core::ops::RangeInclusive<usize>| {
            if range.contains(&value) {
                return Ok(());
            }
            Err(problem(format!("{what} {value} is not in {}..={}", range.start(), range.end())))
        };
        in_range("depth", literal.depth, 0..=20)?;
        in_range("bits of a digit", literal.digit_bits as usize, 1..=30)?;
        in_range("terms", literal.terms as usize, 1..=1 << 20)?;
        let fresh = fresh::Params::try_from(literal.fresh.clone())?;
        if literal.depth == 0 {
            let params = Self::from(fresh);
            return Ok(Self { literal, ..params });
        }
        in_range("bits of a word", literal.fresh.word_bits as usize, 10..=31)?;
        let words = literal.fresh.words;
        if words <= literal.depth {
            return Err(problem(format!(
                "{words} words are too few for a depth of {}: take one more than it",
                literal.depth
            )));
        }
        let moduli = (words - literal.depth..=words).map(|count| fresh.modulus().prefix(count));
        let moduli = moduli.collect::<Result<_, _>>()?;
        let params = Self { literal, fresh, moduli };
        let problem = |problem: String| Error::Params { scheme: SCHEME, name: params.name().into(), problem };
        let rows = params.switch_rows(params.fresh_level(), params.pairs());
        if rows > MAX_ROWS {
            return Err(problem(format!(
                "a switching key takes {rows} rows, and there may be {MAX_ROWS}: take a smaller dimension or depth, or wider digits"
            )));
        }
        // A chain of products of sums.
        let terms = libm::log2(f64::from(params.literal.terms));
        let mut now = noise::fresh(&params);
        let over =
            |noise: Noise, tails: f64, level| noise.scaled(tails * noise::TAIL).bits_above(noise::half(&params, level));
        for level in params.switch_levels().rev() {
            let product = now.scaled(terms).product(now.scaled(terms));
            let switched = noise::switch(&params, product, level, params.pairs());
            let over = over(switched, 2.0, level);
            if over > 0.0 {
                return Err(problem(format!(
                    "a product at level {level} has {over:.1} bits of noise too many: take smaller digits, fewer terms or a smaller sigma"
                )));
            }
            now = noise::scale(&params, switched, level);
        }
        let over = over(now.scaled(terms), 1.0, Level::LOWEST);
        if over > 0.0 {
            return Err(problem(format!(
                "a sum at level 1 has {over:.1} bits of noise too many: take wider words, fewer terms or a smaller sigma"
            )));
        }
        Ok(params)
    }
}
