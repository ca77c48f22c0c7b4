//! The noise of operations across the elements of arrays. The plan applies the same rotations and masks to noises as a run applies to ciphertexts.

use crate::Error;
use crate::arithmetic::{SlotOperation, masked_rotations};
use solinas_schemes::leveled::{NoiseModel, State};
use solinas_schemes::slots::log2_canonical_norm;
use solinas_schemes::slots::rotation_plan::{RotationPlan, SlotEvaluator};
use solinas_schemes::{Level, Noise};

/// The error for a key without rotations. It gives the reason if the parameters allow none.
pub(super) fn no_rotations(params: &impl NoiseModel) -> Error {
    let reason = params.rotation_noise().err().map(|error| error.to_string());
    Error::NoRotations { params: params.name().into(), reason }
}

/// The noise of one operation, prepared once.
pub(super) struct SlotNoise<'a> {
    plan: RotationPlan,
    /// For each mask, `log2` of the factor by which a product with it multiplies noise.
    log2_norms: Vec<f64>,
    rotated: Box<dyn Fn(State) -> Noise + Sync + 'a>,
}

impl<'a> SlotNoise<'a> {
    /// # Errors
    /// [`Error::NoRotations`] for parameters whose keys cannot rotate slots.
    pub(super) fn new<P: NoiseModel>(params: &'a P, operation: SlotOperation, elements: usize) -> Result<Self, Error> {
        let rotated = params.rotation_noise().map_err(|_| no_rotations(params))?;
        let (plan, masks) = masked_rotations(&params.slots()?, operation, elements)?;
        let log2_norms = masks.iter().map(|mask| log2_canonical_norm(params.plaintext_modulus(), mask)).collect();
        Ok(Self { plan, log2_norms, rotated })
    }

    pub(super) fn automorphisms(&self) -> usize {
        self.plan.automorphisms()
    }

    /// Returns the state of the noisiest ciphertext that the operation makes of an array of ciphertexts in the state
    /// `x`. `None` if `within_limit` is false for a state on the way.
    pub(super) fn of(&self, x: State, within_limit: &(impl Fn(State) -> bool + Sync)) -> Option<State> {
        let moved = self
            .plan
            .apply(&Moving { noises: self, level: x.level, within_limit }, &vec![&x.noise; self.plan.polynomials()]);
        Some(State { noise: moved.ok()?.into_iter().fold(x.noise, Noise::max), ..x })
    }
}

/// The noise of polynomials at a level.
struct Moving<'a, F> {
    noises: &'a SlotNoise<'a>,
    level: Level,
    within_limit: &'a F,
}

/// The error for a ciphertext that does not decrypt.
struct TooNoisy;

impl<F: Fn(State) -> bool + Sync> Moving<'_, F> {
    fn checked(&self, noise: Noise) -> Result<Noise, TooNoisy> {
        if (self.within_limit)(State { level: self.level, noise }) { Ok(noise) } else { Err(TooNoisy) }
    }
}

impl<F: Fn(State) -> bool + Sync> SlotEvaluator for Moving<'_, F> {
    type Ciphertext = Noise;
    type Error = TooNoisy;

    fn add(&self, x: &Noise, y: &Noise) -> Result<Noise, TooNoisy> {
        self.checked(x.sum(*y))
    }

    fn mask(&self, x: &Noise, mask: usize) -> Result<Noise, TooNoisy> {
        self.checked(x.scaled(self.noises.log2_norms[mask]))
    }

    fn rotate(&self, x: &Noise, _: u32) -> Result<Noise, TooNoisy> {
        self.swap(x)
    }

    fn swap(&self, x: &Noise) -> Result<Noise, TooNoisy> {
        self.checked((self.noises.rotated)(State { level: self.level, noise: *x }))
    }
}
