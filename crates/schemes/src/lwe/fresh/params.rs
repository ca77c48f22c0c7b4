//! Parameter sets (Setup of wang2014, section 2.1.2), what follows from them, and their checks.

use serde::{Deserialize, Serialize};

use super::{Error, noise};
use crate::lwe::matrix::{MAX, MAX_ROWS};
use crate::lwe::{Layout, Modulus, SCHEME};
use crate::security::lwe::{ATTACKS, Problem, Secret};
use crate::security::{SecurityClaim, Status, model};
use crate::set_name;

/// Probability, base-2 logarithm, with which a fresh ciphertext may decrypt wrongly.
const LOG2_FAILURE: f64 = -64.0;
/// Bits by which the leftover hash lemma is to be over: statistical distance `2^-128`.
const LEFTOVER: f64 = 256.0;

/// Unchecked parameters, as written in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParamsLiteral {
    /// Name of the set.
    pub name: String,
    /// Dimension `n` of the secret.
    pub dimension: usize,
    /// Samples `N` of the public key: rows of its matrix.
    pub samples: usize,
    /// Words of the modulus: the largest primes of their width.
    pub words: usize,
    /// Bits of a word, 10 to 32. Up to 31, four products are added before they are split.
    pub word_bits: u32,
    /// Standard deviation of the secret and of the noise.
    pub sigma: f64,
    /// Whether encryption adds noise `2 e'` of its own: needed unless `N` is above `(n + 1) log2 M`.
    pub encryption_noise: bool,
}

/// Checked, immutable parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    literal: ParamsLiteral,
    modulus: Modulus,
}

/// Dimensions of table 6.5.
const PAPER: [usize; 6] = [9326, 19434, 29749, 40199, 50748, 61376];

/// Name, `n`, words of 31 bits: 128 bits or more, by the estimate of [`Params::security`].
const SECURE: [(&str, usize, usize); 4] =
    [("secure-31", 1472, 1), ("secure-62", 2944, 2), ("secure-124", 5824, 4), ("secure-248", 11_584, 8)];

/// The known names of sets.
const KNOWN: &str =
    "secure-31, secure-62, secure-124, secure-248, paper-N (N 9326, 19434, 29749, 40199, 50748, 61376), toy-N-WORDS";

impl Params {
    /// Names of sets: those of 128 bits, the paper's smallest, and two toys.
    pub fn names() -> Vec<&'static str> {
        SECURE.iter().map(|set| set.0).chain(["paper-9326", "toy-64-2", "toy-256-8"]).collect()
    }

    /// The set of that name: `secure-BITS`, a modulus of those bits; `paper-N`, `N` rows and a modulus of 1024 bits in 32 words; `toy-N-WORDS`,
    /// for tests.
    ///
    /// # Errors
    /// [`Error::UnknownParams`] with the names there are; [`Error::Params`] for numbers out of range.
    pub fn named(name: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownParams { scheme: SCHEME, name: name.into(), known: KNOWN.into() };
        let literal = |dimension, words, word_bits, encryption_noise| ParamsLiteral {
            name: name.into(),
            dimension,
            samples: dimension,
            words,
            word_bits,
            sigma: 3.2,
            encryption_noise,
        };
        if let Some(&(_, dimension, words)) = SECURE.iter().find(|set| set.0 == name) {
            return Self::try_from(literal(dimension, words, 31, true));
        }
        let parts: Vec<&str> = name.split('-').collect();
        let number = |i: usize| parts.get(i).and_then(|part| set_name::number::<usize>(part)).ok_or_else(unknown);
        match (parts[0], parts.len()) {
            ("paper", 2) if PAPER.contains(&number(1)?) => Self::try_from(literal(number(1)?, 32, 32, false)),
            ("toy", 3) => Self::try_from(literal(number(1)?, number(2)?, 31, true)),
            _ => Err(unknown()),
        }
    }

    /// The numbers they were made from.
    pub fn literal(&self) -> &ParamsLiteral {
        &self.literal
    }

    /// Name of the set.
    pub fn name(&self) -> &str {
        &self.literal.name
    }

    /// Dimension `n` of the secret; a ciphertext has one number more.
    pub fn dimension(&self) -> usize {
        self.literal.dimension
    }

    /// Samples `N` of the public key.
    pub fn samples(&self) -> usize {
        self.literal.samples
    }

    /// Standard deviation of the secret and of the noise.
    pub fn sigma(&self) -> f64 {
        self.literal.sigma
    }

    /// The modulus.
    pub fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// The public key's matrix: `N` rows of `n + 1` columns.
    ///
    /// # Errors
    /// [`Error::Dimension`]: not for checked parameters.
    pub fn layout(&self) -> Result<Layout, Error> {
        Layout::new(self.samples(), self.dimension() + 1, &self.modulus)
    }

    /// Base-2 logarithm of the probability that a fresh ciphertext decrypts wrongly.
    pub fn log2_failure(&self) -> f64 {
        noise::log2_failure(noise::fresh(self), self.modulus.log2())
    }

    /// The attack on the secret key: from the public key's samples.
    pub fn key_problem(&self) -> Problem {
        Problem {
            dimension: self.dimension(),
            samples: self.samples(),
            log2_modulus: self.modulus.log2(),
            secret: Secret::gaussian(self.sigma()),
            noise: self.sigma(),
        }
    }

    /// The attack on a ciphertext: a binary secret `r`, samples by the ciphertext's numbers. None without
    /// [`ParamsLiteral::encryption_noise`].
    pub fn message_problem(&self) -> Option<Problem> {
        self.literal.encryption_noise.then(|| Problem {
            dimension: self.samples(),
            samples: self.dimension() + 1,
            log2_modulus: self.modulus.log2(),
            secret: Secret::BINARY,
            noise: self.sigma(),
        })
    }

    /// Whether `A^T r` alone hides the message: `N` above `(n + 1) log2 M + 256` (leftover hash lemma).
    pub fn has_leftover(&self) -> bool {
        self.samples() as f64 >= (self.dimension() + 1) as f64 * self.modulus.log2() + LEFTOVER
    }

    /// The security claim: the smaller of the key's and the message's.
    pub fn security(&self) -> SecurityClaim {
        self.security_of(self.samples())
    }

    /// The security claim where as many samples of a key are public.
    pub(in crate::lwe) fn security_of(&self, samples: usize) -> SecurityClaim {
        let key = Problem { samples, ..self.key_problem() };
        let (classical, quantum) = (key.classical_bits(), key.quantum_bits());
        let (classical_bits, quantum_bits, why) = match self.message_problem() {
            Some(message) => (classical.min(message.classical_bits()), quantum.min(message.quantum_bits()), None),
            None if !self.has_leftover() => {
                let why = format!(
                    "its {} samples leave the messages open: linear algebra or lattice reduction finds r from A^T r, which takes encryption noise or {:.0} \
                     samples to prevent; the key alone has an estimated {classical:.0} bits",
                    self.samples(),
                    (self.dimension() + 1) as f64 * self.modulus.log2() + LEFTOVER,
                );
                (0.0, 0.0, Some(why))
            }
            _ => (classical, quantum, None),
        };
        let status = if classical_bits >= 128.0 {
            Status::Recommended
        } else {
            let weak = || format!("an estimated {classical_bits:.0} bits of security");
            Status::ResearchOnly { why: why.unwrap_or_else(weak) }
        };
        SecurityClaim {
            classical_bits,
            quantum_bits,
            estimator: format!("{}, {ATTACKS}; on the key and on the message; 0: none claimed", model::NAME),
            date: "2026-11-28".into(),
            status,
        }
    }

    fn problem(name: &str, problem: String) -> Error {
        Error::Params { scheme: SCHEME, name: name.into(), problem }
    }

    /// Without the check that decryption works.
    pub(in crate::lwe) fn unchecked(literal: ParamsLiteral) -> Result<Self, Error> {
        let in_range = |what: &str, value: usize, range: core::ops::RangeInclusive<usize>| {
            if range.contains(&value) {
                return Ok(());
            }
            let problem = format!("{what} {value} is not in {}..={}", range.start(), range.end());
            Err(Self::problem(&literal.name, problem))
        };
        in_range("dimension", literal.dimension, 1..=MAX - 1)?;
        in_range("samples", literal.samples, 1..=MAX_ROWS)?;
        in_range("words", literal.words, 1..=128)?;
        in_range("bits of a word", literal.word_bits as usize, 10..=32)?;
        if !(0.3..=64.0).contains(&literal.sigma) {
            return Err(Self::problem(
                &literal.name,
                format!("a standard deviation of {} is not in 0.3..=64", literal.sigma),
            ));
        }
        let modulus = Modulus::of_primes(literal.words, literal.word_bits)?;
        Ok(Self { literal, modulus })
    }
}

impl TryFrom<ParamsLiteral> for Params {
    type Error = Error;

    fn try_from(literal: ParamsLiteral) -> Result<Self, Error> {
        let params = Self::unchecked(literal)?;
        let failure = params.log2_failure();
        if failure > LOG2_FAILURE {
            let literal = &params.literal;
            let problem = format!(
                "a fresh ciphertext decrypts wrongly with probability 2^{failure:.1}: take {} words for 2^{LOG2_FAILURE}, or fewer samples",
                literal.words + 1
            );
            return Err(Self::problem(&literal.name, problem));
        }
        Ok(params)
    }
}
