//! The noise of operations across the elements of arrays. The plan applies the same rotations and masks to noises as a run applies to ciphertexts.

use crate::Error;
use crate::arithmetic::{SlotOperation, masked_rotations};
use solinas_schemes::leveled::{NoiseModel, State};
use solinas_schemes::slots::log2_peak;
use solinas_schemes::slots::moves::{Moves, Slotted};

/// The error for a key without rotations. It gives the reason if the parameters allow none.
pub(super) fn no_rotations(params: &impl NoiseModel) -> Error {
    let reason = params.rotation_noise().err().map(|error| error.to_string());
    Error::NoRotations { params: params.name().into(), reason }
}

/// The noise of one operation, prepared once.
pub(super) struct SlotNoise<'a> {
    moves: Moves,
    /// `log2` of what a product with each mask multiplies noise by.
    peaks: Vec<f64>,
    rotated: Box<dyn Fn(State) -> f64 + Sync + 'a>,
}

impl<'a> SlotNoise<'a> {
    /// # Errors
    /// [`Error::NoRotations`] for parameters whose keys rotate nothing.
    pub(super) fn new<P: NoiseModel>(params: &'a P, operation: SlotOperation, elements: usize) -> Result<Self, Error> {
        let rotated = params.rotation_noise().map_err(|_| no_rotations(params))?;
        let (moves, masks) = masked_rotations(&params.slots()?, operation, elements)?;
        let peaks = masks.iter().map(|mask| log2_peak(params.plaintext_modulus(), mask)).collect();
        Ok(Self { moves, peaks, rotated })
    }

    pub(super) fn automorphisms(&self) -> usize {
        self.moves.automorphisms()
    }

    /// The noisiest ciphertext that an array of ciphertexts like `x` becomes, if all that it goes through `fits`.
    pub(super) fn of(&self, x: State, within_limit: &(impl Fn(State) -> bool + Sync)) -> Option<State> {
        let moved = self
            .moves
            .apply(&Moving { noises: self, level: x.level, within_limit }, &vec![&x.noise; self.moves.polynomials()]);
        Some(State { noise: moved.ok()?.into_iter().fold(x.noise, f64::max), ..x })
    }
}

/// The noise of polynomials at a level.
struct Moving<'a, F> {
    noises: &'a SlotNoise<'a>,
    level: usize,
    within_limit: &'a F,
}

/// What does not decrypt.
struct TooNoisy;

impl<F: Fn(State) -> bool + Sync> Moving<'_, F> {
    fn checked(&self, noise: f64) -> Result<f64, TooNoisy> {
        if (self.within_limit)(State { level: self.level, noise }) { Ok(noise) } else { Err(TooNoisy) }
    }
}

impl<F: Fn(State) -> bool + Sync> Slotted for Moving<'_, F> {
    type Ciphertext = f64;
    type Error = TooNoisy;

    fn add(&self, x: &f64, y: &f64) -> Result<f64, TooNoisy> {
        self.checked(libm::log2(libm::exp2(*x) + libm::exp2(*y)))
    }

    fn mask(&self, x: &f64, mask: usize) -> Result<f64, TooNoisy> {
        self.checked(x + self.noises.peaks[mask])
    }

    fn rotate(&self, x: &f64, _: u32) -> Result<f64, TooNoisy> {
        self.swap(x)
    }

    fn swap(&self, x: &f64) -> Result<f64, TooNoisy> {
        self.checked((self.noises.rotated)(State { level: self.level, noise: *x }))
    }
}
