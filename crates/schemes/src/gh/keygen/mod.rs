//! Key generation (Gentry and Halevi 2011; the six steps of the specification), in steps between which it can be
//! stored.

mod checkpoint;
mod choice;
mod cost;
mod root;
mod roots;
mod secret;
mod simulation;
mod squash;

use crate::Entropy;
use rayon::prelude::*;
use solinas_bigint::Natural;
use zeroize::Zeroizing;

pub use checkpoint::Checkpoint;
pub use cost::{check_memory, memory};
pub use simulation::Simulation;

use super::encrypt::{Bulk, Noise};
use super::lattice::Splitting;
use super::modulus::{Arithmetic, with_wiped};
use super::params::pair;
use super::{ClientKey, Error, Params, ServerKey};
use crate::random::SecretSeed;
use crate::security::Status;
use crate::{Cancelled, Control};
use choice::{Choice, noise_of};
use cost::Costs;
pub(super) use root::Root;
pub(super) use secret::Secret;
pub(super) use squash::squash;
use squash::{draw_x, indices};

/// A stage of key generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// The lattice: `d` and the first coefficients of `w`, level by level.
    Lattice,
    /// The root `r`, and an odd coefficient of `w`.
    Root,
    /// The sparse subset sum.
    Squash,
    /// The encrypted indicators, computed from powers of `r`.
    Indicators,
}

impl Stage {
    /// Description of the stage for a progress bar.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lattice => "the lattice of key generation",
            Self::Root => "the root of key generation",
            Self::Squash => "the subset sum of key generation",
            Self::Indicators => "the encrypted indicators of key generation",
        }
    }
}

impl ClientKey {
    /// Makes a secret key and its public key, on the current thread pool. [`Self::server_key`] makes the key of a server. Progress counts transforms of the
    /// length of a product over the whole key generation, of which [`Self::server_key`] reports the rest. Every report has the name of the [`Stage`].
    ///
    /// # Errors
    /// [`Error::ResearchScheme`] unless `research`, since all parameters are for research only; [`Error::Cancelled`]; [`Error::Entropy`].
    pub fn generate(params: &Params, research: bool, entropy: Entropy, control: &Control<'_>) -> Result<Self, Error> {
        let mut generation = KeyGeneration::new(params, research, entropy)?;
        loop {
            generation.step(control)?;
            if let State::Root(root) = &generation.state {
                let key = Self::from_parts(root.public.clone(), Natural::from_words(root.w.to_vec()))?;
                return Ok(key.of_seed(generation.seed, generation.attempt));
            }
        }
    }

    /// Makes the server key, on the current thread pool. The key generation that made this key determines it, so that repeated calls return the same key.
    ///
    /// # Errors
    /// [`Error::NoSeed`] for a key that was read from its parts; [`Error::Cancelled`].
    pub fn server_key(&self, control: &Control<'_>) -> Result<ServerKey, Error> {
        let (seed, attempt) = self.seed().ok_or(Error::NoSeed)?;
        let (params, insecure) = (self.params(), self.public().is_insecure());
        // The caller consented to research when the client key was made.
        let mut generation = KeyGeneration::from_seed(params, true, SecretSeed::from_bytes(seed), insecure)?;
        generation.attempt = attempt;
        generation.state = State::Root(Box::new(Root::restored(self)?));
        Ok(generation.finish(control)?.1)
    }
}

/// An unfinished key generation. It runs in steps. Between two steps it can be stored ([`Self::checkpoint`]) and later
/// continued to the same key.
///
/// It holds secrets and is wiped on drop.
pub struct KeyGeneration {
    params: Params,
    insecure: bool,
    seed: SecretSeed,
    /// Number of the polynomial `v` drawn from the seed.
    attempt: u64,
    state: State,
    costs: Costs,
    /// Largest amount of work reported so far.
    reported: usize,
}

/// The intermediate results. Each step computes the next state.
enum State {
    /// Only the seed, from which `v` is drawn.
    Begun,
    /// Levels of the splitting of `v`.
    Lattice(Splitting),
    Root(Box<Root>),
    Indicators(Box<Indicators>),
}

/// Steps 5 and 6: the subset sum, the choice of the indicators' noise, and the indicators encrypted so far.
struct Indicators {
    root: Root,
    x: Vec<u64>,
    choice: Option<Box<Choice>>,
    /// The chosen draw of the noise, by block. Empty until the choice is complete.
    draws: Vec<u64>,
    words: Vec<u64>,
    bulk: Option<Bulk>,
}

impl core::fmt::Debug for KeyGeneration {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("KeyGeneration")
            .field("params", &self.params.name())
            .field("stage", &self.stage())
            .finish_non_exhaustive()
    }
}

impl KeyGeneration {
    /// Begins a key generation.
    ///
    /// # Errors
    /// [`Error::ResearchScheme`] unless `research`: all parameters are for research only. [`Error::Entropy`] if there is
    /// no randomness.
    pub fn new(params: &Params, research: bool, entropy: Entropy) -> Result<Self, Error> {
        Self::from_seed(params, research, SecretSeed::new(entropy)?, entropy.is_insecure())
    }

    fn from_seed(params: &Params, research: bool, seed: SecretSeed, insecure: bool) -> Result<Self, Error> {
        if let (Status::ResearchOnly { why }, false) = (params.security().status, research) {
            return Err(Error::ResearchScheme { scheme: super::SCHEME, why });
        }
        let costs = Costs::new(params, rayon::current_num_threads());
        Ok(Self { params: params.clone(), insecure, seed, attempt: 0, state: State::Begun, costs, reported: 0 })
    }

    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Whether the key will be marked as insecure.
    pub fn is_insecure(&self) -> bool {
        self.insecure
    }

    /// Whether the generation began from this chosen seed.
    pub fn is_of_insecure_seed(&self, seed: u64) -> bool {
        self.insecure && self.seed.as_bytes() == SecretSeed::insecure(seed).as_bytes()
    }

    /// The stage of the next step.
    pub fn stage(&self) -> Stage {
        match &self.state {
            State::Lattice(splitting) if splitting.dimension() == 1 => Stage::Root,
            State::Begun | State::Lattice(_) => Stage::Lattice,
            State::Root(_) => Stage::Squash,
            State::Indicators(_) => Stage::Indicators,
        }
    }

    /// Whether no step is left. Then [`Self::finish`] returns the keys at once.
    pub fn is_done(&self) -> bool {
        match &self.state {
            State::Indicators(indicators) => indicators.count() == self.indicators(),
            _ => false,
        }
    }

    /// The polynomial `v` of this attempt.
    fn secret(&self) -> Secret {
        Secret::of_attempt(&self.params, &self.seed, self.attempt)
    }

    fn indicators(&self) -> usize {
        self.params.blocks() * self.params.indicators()
    }

    fn done(&self) -> usize {
        let Costs { level, root, squash, indicators } = self.costs;
        let lattice = self.params.dimension().ilog2();
        match &self.state {
            State::Begun => 0,
            State::Lattice(splitting) => level * (lattice - splitting.dimension().ilog2()) as usize,
            State::Root(_) => level * lattice as usize + root,
            State::Indicators(state) => {
                level * lattice as usize + root + squash + indicators * state.count() / self.indicators()
            }
        }
    }

    /// Runs one step on the current thread pool and wipes its scratch memory afterwards. Does nothing if no step is
    /// left. An error leaves the state unchanged.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the caller cancels. [`Error::Integer`] from the integer arithmetic.
    pub fn step(&mut self, control: &Control<'_>) -> Result<(), Error> {
        with_wiped(|| self.advance(control))
    }

    fn advance(&mut self, control: &Control<'_>) -> Result<(), Error> {
        self.reported = self.reported.max(self.done());
        let (stage, reported, total) = (self.stage(), self.reported, self.costs.total(&self.params));
        let report = |more: usize| {
            control.report_stage(Some(stage.name()), (reported + more).min(total) as u64, total as u64);
            Ok(control.check()?)
        };
        if self.is_done() {
            return Ok(());
        }
        report(0)?;
        let (params, seed) = (&self.params, &self.seed);
        let next = match &mut self.state {
            State::Begun => {
                let v = Secret::of_attempt(params, seed, self.attempt);
                v.is_well_conditioned(params).then(|| State::Lattice(Splitting::new(&v.words, v.slot)))
            }
            State::Lattice(splitting) if splitting.dimension() > 1 => {
                return splitting.step(|| report(0));
            }
            State::Lattice(splitting) => Root::from_resultant(params, self.insecure, &splitting.resultant())?
                .map(|root| State::Root(Box::new(root))),
            State::Root(root) => {
                let x = squash(params, &root.modulus, &root.w, &indices(params, seed), draw_x(params, root, seed))?;
                // The state gives up the root only after the last operation that can fail.
                let State::Root(root) = core::mem::replace(&mut self.state, State::Begun) else { return Ok(()) };
                let words = Vec::with_capacity(params.blocks() * params.indicators() * root.public.words());
                Some(State::Indicators(Box::new(Indicators::new(*root, x, vec![], words))))
            }
            State::Indicators(indicators) => {
                if indicators.draws.is_empty() {
                    return indicators.choose(params, seed, self.attempt);
                }
                let cost = self.costs.indicators;
                return indicators.step(params, seed, |done, of| report(cost * done / of));
            }
        };
        // Without a root, the next attempt draws another v.
        self.attempt += u64::from(next.is_none());
        self.state = next.unwrap_or(State::Begun);
        Ok(())
    }

    /// Runs all remaining steps and returns the keys.
    ///
    /// # Errors
    /// The errors of [`Self::step`].
    pub fn finish(mut self, control: &Control<'_>) -> Result<(ClientKey, ServerKey), Error> {
        while !self.is_done() {
            self.step(control)?;
        }
        let total = self.costs.total(&self.params);
        control.report_stage(Some(Stage::Indicators.name()), total as u64, total as u64);
        let State::Indicators(state) = self.state else {
            return Err(Cancelled.into());
        };
        let Indicators { root, x, words, .. } = *state;
        let server = ServerKey::from_parts(root.public.clone(), x, words)?;
        Ok((ClientKey::from_parts(root.public, Natural::from_words(root.w.to_vec()))?, server))
    }
}

impl Indicators {
    fn new(root: Root, x: Vec<u64>, draws: Vec<u64>, words: Vec<u64>) -> Self {
        Self { root, x, choice: None, draws, words, bulk: None }
    }

    /// Chooses the noise of one more block, or checks a complete choice.
    fn choose(&mut self, params: &Params, seed: &SecretSeed, attempt: u64) -> Result<(), Error> {
        match &mut self.choice {
            choice @ None => {
                let v = Secret::of_attempt(params, seed, attempt);
                let bits = indicator_bits(params, &indices(params, seed), 0..params.blocks() * params.indicators());
                *choice = Some(Box::new(Choice::new(params, seed, v.weights(params), bits, 0)));
            }
            Some(choice) if !choice.is_done() => choice.step(seed),
            Some(choice) if choice.accepted(seed) => {
                self.draws = choice.draws().to_vec();
                self.choice = None;
            }
            Some(choice) => **choice = choice.next_round(seed)?,
        }
        Ok(())
    }

    /// Number of indicators encrypted so far.
    fn count(&self) -> usize {
        self.words.len() / self.root.public.words()
    }

    /// Runs a part of step 6: encrypts some more indicators. If it is a sweep, calls `step(done, total)` during it.
    fn step(
        &mut self,
        params: &Params,
        seed: &SecretSeed,
        step: impl FnMut(usize, usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let count = params.blocks() * params.indicators();
        let begin = self.count();
        let bulk = match &mut self.bulk {
            Some(bulk) => bulk,
            bulk => bulk.insert(Bulk::new(&self.root.public, count, Arithmetic::default())?),
        };
        let range = begin..begin.saturating_add(bulk.chunk()).min(count);
        let noise = |i: usize| noise_of(params, seed, i, self.draws[i / params.indicators()]);
        let noises: Vec<Noise> = range.clone().into_par_iter().map(noise).collect();
        let bits = indicator_bits(params, &indices(params, seed), range);
        for ciphertext in bulk.encrypt(&self.root.public, &bits, &noises, step)? {
            self.words.extend(ciphertext.words);
        }
        Ok(())
    }
}

/// Returns the bits of a range of indicators. Two bits of a block are 1; the index of their pair is the index of the
/// block's candidate.
pub(super) fn indicator_bits(
    params: &Params,
    indices: &[usize],
    range: core::ops::Range<usize>,
) -> Zeroizing<Vec<bool>> {
    let m = params.indicators();
    let bit = |i: usize| {
        let (a, b) = pair(indices[i / m], m);
        i % m == a || i % m == b
    };
    Zeroizing::new(range.map(bit).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Progress;

    #[test]
    fn another_polynomial_is_drawn_where_one_has_no_root_and_progress_does_not_go_back() {
        let params = Params::named("ci-3").unwrap();
        let mut generation = KeyGeneration::new(&params, true, Entropy::Insecure(2)).unwrap();
        // v = 2 makes d even.
        let mut v = vec![0; params.dimension()];
        v[0] = 2;
        generation.state = State::Lattice(Splitting::new(&v, 1));
        let reports = std::sync::Mutex::new(vec![]);
        let progress = |progress: Progress| reports.lock().unwrap().push(progress);
        let control = Control { progress: Some(&progress), cancel: None };
        while !matches!(generation.state, State::Begun) {
            generation.step(&control).unwrap();
        }
        assert_eq!(generation.attempt, 1);
        let (client, server) = generation.finish(&control).unwrap();
        let reports = reports.into_inner().unwrap();
        assert!(
            reports.windows(2).all(|pair| pair[0].done <= pair[1].done && pair[1].done <= pair[1].total),
            "{reports:?}"
        );
        assert_eq!(reports.iter().filter(|report| report.stage == Some(Stage::Root.name())).count(), 2);
        let first = ClientKey::generate(&params, true, Entropy::Insecure(2), &Control::default()).unwrap();
        assert_ne!(first.public().id(), server.id());
        assert_eq!(*client.public(), *server.public());
    }

    #[test]
    fn a_client_key_makes_the_server_key_of_its_generation() {
        let params = Params::named("ci-3").unwrap();
        let entropy = Entropy::Insecure(4);
        let (control, reports) = (Control::default(), std::sync::Mutex::new(vec![]));
        let client = ClientKey::generate(&params, true, entropy, &control).unwrap();
        let progress = |progress: Progress| reports.lock().unwrap().push(progress.done);
        let server = client.server_key(&Control { progress: Some(&progress), cancel: None }).unwrap();
        // The lattice is done.
        let reports = reports.into_inner().unwrap();
        assert!(reports[0] > 0 && reports.is_sorted(), "{reports:?}");
        let (same, whole) = KeyGeneration::new(&params, true, entropy).unwrap().finish(&control).unwrap();
        assert!(same.w() == client.w() && (server.x(), server.indicators()) == (whole.x(), whole.indicators()));
        let stored = ClientKey::from_parts(client.public().clone(), client.w().clone()).unwrap();
        assert_eq!(stored.server_key(&control).err(), Some(Error::NoSeed));
    }
}
