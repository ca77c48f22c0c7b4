//! What goes across the elements of arrays, on noise when it is planned and on ciphertexts when it is run: the same moves.

use super::{Leveled, Parameters, State};
use crate::Error;
use crate::arithmetic::Across;
use solinas_schemes::slots::log2_peak;
use solinas_schemes::slots::moves::{Mask, Moves, Slotted};

/// That a key was made without what rotates slots, or cannot have it.
pub(super) fn no_rotations(params: &impl Parameters) -> Error {
    let reason = params.rotated().err().map(|error| error.to_string());
    Error::NoRotations { params: params.name().into(), reason }
}

/// The moves, and their masks as plaintexts.
fn moves(params: &impl Parameters, across: Across, elements: usize) -> Result<(Moves, Vec<Vec<u64>>), Error> {
    let (moves, encoder) = (across.moves(params.dimension(), elements), params.slots()?);
    let encode = |mask: &Mask| Ok(encoder.encode(&mask.slots(params.dimension()))?);
    let masks = moves.masks().iter().map(encode).collect::<Result<_, Error>>()?;
    Ok((moves, masks))
}

/// The noise of it, worked out once.
pub(super) struct Noises<'a> {
    moves: Moves,
    /// `log2` of what a product with each mask multiplies noise by.
    peaks: Vec<f64>,
    rotated: Box<dyn Fn(State) -> f64 + Sync + 'a>,
}

impl<'a> Noises<'a> {
    /// # Errors
    /// [`Error::NoRotations`] for parameters whose keys rotate nothing.
    pub(super) fn new<P: Parameters>(params: &'a P, across: Across, elements: usize) -> Result<Self, Error> {
        let rotated = params.rotated().map_err(|_| no_rotations(params))?;
        let (moves, masks) = moves(params, across, elements)?;
        let peaks = masks.iter().map(|mask| log2_peak(params.plaintext_modulus(), mask)).collect();
        Ok(Self { moves, peaks, rotated })
    }

    pub(super) fn automorphisms(&self) -> usize {
        self.moves.automorphisms()
    }

    /// The noisiest ciphertext that an array of ciphertexts like `x` becomes, if all that it goes through `fits`.
    pub(super) fn of(&self, x: State, fits: &(impl Fn(State) -> bool + Sync)) -> Option<State> {
        let moved =
            self.moves.apply(&Moving { noises: self, level: x.level, fits }, &vec![&x.noise; self.moves.polynomials()]);
        Some(State { noise: moved.ok()?.into_iter().fold(x.noise, f64::max), ..x })
    }
}

/// The noise of polynomials at a level.
struct Moving<'a, F> {
    noises: &'a Noises<'a>,
    level: usize,
    fits: &'a F,
}

/// What does not decrypt.
struct TooNoisy;

impl<F: Fn(State) -> bool + Sync> Moving<'_, F> {
    fn checked(&self, noise: f64) -> Result<f64, TooNoisy> {
        if (self.fits)(State { level: self.level, noise }) { Ok(noise) } else { Err(TooNoisy) }
    }
}

impl<F: Fn(State) -> bool + Sync> Slotted for Moving<'_, F> {
    type Ciphertext = f64;
    type Error = TooNoisy;

    fn add(&self, x: &f64, y: &f64) -> Result<f64, TooNoisy> {
        self.checked((x.exp2() + y.exp2()).log2())
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

/// Does it; `done` hears of each automorphism.
pub(super) fn run<S: Leveled>(
    key: &S::ServerKey,
    across: Across,
    elements: usize,
    array: &[&S::Ciphertext],
    done: &(dyn Fn() -> Result<(), Error> + Sync),
) -> Result<Vec<S::Ciphertext>, Error> {
    let params = S::params(S::of_server(key));
    if !S::rotates(key) {
        return Err(no_rotations(params));
    }
    let (moves, masks) = moves(params, across, elements)?;
    moves.apply(&Running::<S> { key, masks, done }, array)
}

/// The slots of ciphertexts.
struct Running<'a, S: Leveled> {
    key: &'a S::ServerKey,
    /// As plaintexts.
    masks: Vec<Vec<u64>>,
    done: &'a (dyn Fn() -> Result<(), Error> + Sync),
}

impl<S: Leveled> Slotted for Running<'_, S> {
    type Ciphertext = S::Ciphertext;
    type Error = Error;

    fn add(&self, x: &S::Ciphertext, y: &S::Ciphertext) -> Result<S::Ciphertext, Error> {
        S::add(self.key, x, y)
    }

    fn mask(&self, x: &S::Ciphertext, mask: usize) -> Result<S::Ciphertext, Error> {
        S::multiply_plain(self.key, x, &self.masks[mask])
    }

    fn rotate(&self, x: &S::Ciphertext, log2: u32) -> Result<S::Ciphertext, Error> {
        let rotated = S::rotate(self.key, x, log2)?;
        (self.done)()?;
        Ok(rotated)
    }

    fn swap(&self, x: &S::Ciphertext) -> Result<S::Ciphertext, Error> {
        let swapped = S::swap_rows(self.key, x)?;
        (self.done)()?;
        Ok(swapped)
    }
}
