//! Unfinished key generations as parts for storage.

use solinas_bigint::Natural;
use zeroize::Zeroizing;

use super::super::keys::check_residues;
use super::super::{ClientKey, Error, Params, PublicKey};
use super::{Indicators, KeyGeneration, Root, SecretSeed, Splitting, State};

/// The state of an unfinished [`KeyGeneration`]. Secret: the seed alone determines the key.
pub struct Checkpoint<Words> {
    /// Whether the seed is a chosen number.
    pub insecure: bool,
    /// The seed of all random choices.
    pub seed: Zeroizing<[u8; 32]>,
    /// Number of polynomials `v` that were rejected.
    pub attempt: u64,
    /// Remaining coefficients of the splitting; 0 before and after it.
    pub dimension: usize,
    /// Names and numbers of the parts, a subset of [`KeyGeneration::PARTS`]: little-endian words.
    pub parts: Vec<(&'static str, Words)>,
}

impl<Words> core::fmt::Debug for Checkpoint<Words> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Checkpoint").field("attempt", &self.attempt).finish_non_exhaustive()
    }
}

const LATTICE: [&str; 3] = ["denominator", "numerator-0", "numerator-1"];
const ROOT: [&str; 3] = ["d", "r", "w"];
const INDICATORS: [&str; 3] = ["x", "draws", "indicators"];

fn damaged<T>(problem: impl Into<String>) -> Result<T, Error> {
    Err(Error::Material { part: "checkpoint of key generation", problem: problem.into() })
}

impl KeyGeneration {
    /// Names of all parts that a checkpoint can have.
    pub const PARTS: [&str; 9] =
        [LATTICE[0], LATTICE[1], LATTICE[2], ROOT[0], ROOT[1], ROOT[2], INDICATORS[0], INDICATORS[1], INDICATORS[2]];

    /// Returns the current state for storage.
    pub fn checkpoint(&self) -> Checkpoint<&[u64]> {
        let (dimension, parts) = match &self.state {
            State::Begun => (0, vec![]),
            State::Lattice(splitting) => (splitting.dimension(), LATTICE.into_iter().zip(splitting.parts()).collect()),
            State::Root(root) => (0, root_parts(root)),
            State::Indicators(state) => {
                let Indicators { root, x, draws, words, .. } = &**state;
                let mut parts = root_parts(root);
                parts.extend(INDICATORS.into_iter().zip([&x[..], &draws[..], &words[..]]));
                (0, parts)
            }
        };
        let seed = Zeroizing::new(*self.seed.as_bytes());
        Checkpoint { insecure: self.insecure, seed, attempt: self.attempt, dimension, parts }
    }

    /// Continues from a stored state.
    ///
    /// # Errors
    /// [`Error::ResearchScheme`] unless `research`. [`Error::Material`] if the parts do not belong to these parameters.
    pub fn resume(params: &Params, research: bool, checkpoint: Checkpoint<Zeroizing<Vec<u64>>>) -> Result<Self, Error> {
        let Checkpoint { insecure, seed, attempt, dimension, mut parts } = checkpoint;
        let mut generation = Self::from_seed(params, research, SecretSeed::from_bytes(&seed), insecure)?;
        generation.attempt = attempt;
        let begun = dimension > 0 || parts.iter().any(|part| part.0 == ROOT[0]);
        if begun && !generation.secret().is_well_conditioned(params) {
            return damaged(
                "an earlier version began it with a polynomial that is no longer accepted: remove it and begin again",
            );
        }
        let mut take = |name: &str| {
            let index = parts.iter().position(|part| part.0 == name)?;
            Some(core::mem::take(&mut *parts.swap_remove(index).1))
        };
        generation.state = if dimension > 0 {
            let polynomials = LATTICE.map(|name| take(name).unwrap_or_default());
            // A polynomial of any level has about n t bits, in slots of whole words. Twice that is far above any
            // possible value.
            let most = 2 * (params.dimension() * (params.coefficient_bits() + 64) / 64) + 64;
            if !dimension.is_power_of_two() || dimension > params.dimension() {
                return damaged(format!("it has {dimension} coefficients"));
            }
            match Splitting::from_parts(dimension, polynomials) {
                Some(splitting) if splitting.parts().iter().all(|words| words.len() <= most) => {
                    State::Lattice(splitting)
                }
                _ => return damaged("its polynomials have wrong lengths"),
            }
        } else if let [Some(d), Some(r), Some(w)] = ROOT.map(&mut take) {
            let root = restore(params, insecure, d, r, w)?;
            match INDICATORS.map(&mut take) {
                [Some(_), None, _] => {
                    return damaged(
                        "an earlier version began it without a choice of the indicators' noise: remove it and begin again",
                    );
                }
                [Some(x), Some(draws), Some(words)] => {
                    let (width, count) = (root.public.words(), params.blocks() * params.indicators());
                    check_residues("x of the checkpoint", &root.public, &x, params.blocks())?;
                    let done = words.len() / width;
                    check_residues("indicators of the checkpoint", &root.public, &words, done)?;
                    if done > count {
                        return damaged(format!("it has {done} indicators instead of {count}"));
                    }
                    let chosen = draws.len() == params.blocks() && draws.iter().all(|draw| draw >> 32 == 0);
                    let begun = draws.is_empty() && words.is_empty();
                    if !chosen && !begun {
                        return damaged("it does not have one draw of the indicators' noise for each block");
                    }
                    let mut words = words;
                    words.reserve_exact(count * width - words.len());
                    State::Indicators(Box::new(Indicators::new(root, x, draws, words)))
                }
                _ => State::Root(Box::new(root)),
            }
        } else {
            State::Begun
        };
        Ok(generation)
    }
}

fn root_parts(root: &Root) -> Vec<(&'static str, &[u64])> {
    ROOT.into_iter().zip([root.public.d().words(), root.public.r().words(), &root.w[..]]).collect()
}

fn restore(params: &Params, insecure: bool, d: Vec<u64>, r: Vec<u64>, w: Vec<u64>) -> Result<Root, Error> {
    let w = Natural::from_words(w);
    let public = PublicKey::from_parts(params.clone(), insecure, Natural::from_words(d), Natural::from_words(r))?;
    Root::restored(&ClientKey::from_parts(public, w)?)
}
