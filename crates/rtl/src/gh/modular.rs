//! Products and powers modulo a number on the accelerator.

use std::sync::{Mutex, MutexGuard, PoisonError};

use solinas_bigint::Natural;

use super::Outcome;
use super::machine::{End, Machine, PrimitiveCost, design, registers};
use super::program::{Program, slots};
use crate::multiplier::Size;
use crate::{BuildStage, Design, Error, Timing};

/// Number of additional bits of the quotient of Barrett's method. With them, the quotient is rarely one too small.
const QUOTIENT_GUARD: usize = 17;
/// Bits by which a reduced sum of products is longer than the square of the modulus, at most: Recrypt sums products of sums
/// of candidates, which are below 2^13 times the modulus.
const SUM: usize = 2 * 13 + 5;

/// A simulated accelerator with a modulus.
#[derive(Debug)]
pub struct Modular {
    machine: Mutex<Machine>,
    size: Size,
    modulus: Natural,
}

impl Modular {
    /// The smallest size of an accelerator for a modulus.
    ///
    /// # Errors
    /// [`Error::TooLong`] if none is large enough.
    pub fn size(modulus: &Natural) -> Result<Size, Error> {
        // Barrett's method takes numbers of up to `bits + bits of a slot - QUOTIENT_GUARD` bits.
        let (bits, more) = (modulus.bit_len(), SUM + QUOTIENT_GUARD + 1);
        let size = [Size::Small, Size::Full].into_iter().find(|size| size.bits() >= bits + more);
        size.ok_or(Error::TooLong { what: "the modulus", bits, most: Size::Full.bits() - more })
    }

    /// An accelerator for a modulus above 1. The model is built on first use; `progress` is called at each stage of that.
    ///
    /// # Errors
    /// [`Error::TooLong`]. [`Error::Refused`] for the moduli 0 and 1. The errors of [`Model::build`](crate::Model::build).
    pub fn new(modulus: &Natural, timing: Timing, progress: &mut dyn FnMut(BuildStage)) -> Result<Self, Error> {
        Self::of_design(&design(Self::size(modulus)?)?, modulus, timing, progress)
    }

    /// An accelerator for a modulus above 1 and for operands of a given number of bits, which may be longer than the modulus.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    pub fn for_operands(
        modulus: &Natural,
        bits: usize,
        timing: Timing,
        progress: &mut dyn FnMut(BuildStage),
    ) -> Result<Self, Error> {
        let size = if bits > Size::Small.bits() { Size::Full } else { Self::size(modulus)? };
        Self::of_size(&design(size)?, size, modulus, timing, progress)
    }

    /// An accelerator of a changed design of the size for the modulus.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    pub fn of_design(
        design: &Design,
        modulus: &Natural,
        timing: Timing,
        progress: &mut dyn FnMut(BuildStage),
    ) -> Result<Self, Error> {
        Self::of_size(design, Self::size(modulus)?, modulus, timing, progress)
    }

    fn of_size(
        design: &Design,
        size: Size,
        modulus: &Natural,
        timing: Timing,
        progress: &mut dyn FnMut(BuildStage),
    ) -> Result<Self, Error> {
        // A modulus that is too long is refused.
        Self::size(modulus)?;
        let refused = || Error::Refused { top: "accelerator", problem: "the modulus is not above 1".into() };
        if modulus.is_one() {
            return Err(refused());
        }
        let shift = modulus.bit_len().saturating_sub(QUOTIENT_GUARD);
        let (inverse, _) = (&Natural::one() << (shift + size.bits())).div_rem(modulus).map_err(|_| refused())?;
        if inverse.bit_len() > size.bits() {
            let problem = format!("a modulus of {} bits is too short; compute on the device cpu", modulus.bit_len());
            return Err(Error::Refused { top: "accelerator", problem });
        }
        let mut machine = Machine::new(design, size, timing, progress)?;
        machine.store(slots::MODULUS, modulus)?;
        machine.store(slots::INVERSE, &inverse)?;
        machine.store(slots::ONE, &Natural::one())?;
        machine.set_place(registers::SHIFT, shift);
        Ok(Self { machine: Mutex::new(machine), size, modulus: modulus.clone() })
    }

    /// The modulus.
    pub fn modulus(&self) -> &Natural {
        &self.modulus
    }

    /// Limits the cycles of a program. A program that takes more is stopped by a reset and returns [`Error::Stuck`].
    pub fn set_limit(&self, cycles: u64) {
        self.lock().set_limit(cycles);
    }

    /// Computes a product. The operands are below the modulus, or one of them is 1 and the other one has at most the bits of
    /// a slot.
    ///
    /// # Errors
    /// [`Error::TooLong`], [`Error::Stuck`].
    pub fn multiply(&self, x: &Natural, y: &Natural) -> Outcome<Natural> {
        let mut machine = self.lock();
        machine.store(slots::X, x)?;
        machine.store(slots::Y, y)?;
        machine.load_program(&Program::multiply());
        let end = finish(machine.run(self.limit())?)?;
        Ok((machine.load(slots::RESULT), end.cost))
    }

    /// Computes a power by squarings and multiplications. The number of cycles shows the exponent's length and weight. The
    /// base is below the modulus.
    ///
    /// # Errors
    /// [`Error::Stuck`].
    pub fn power(&self, base: &Natural, exponent: &Natural) -> Outcome<Natural> {
        let mut total = PrimitiveCost::default();
        let mut power = Natural::one();
        for i in (0..exponent.bit_len()).rev() {
            let (square, cost) = self.multiply(&power, &power)?;
            total += cost;
            power = square;
            if exponent.bit(i) {
                let (product, cost) = self.multiply(&power, base)?;
                total += cost;
                power = product;
            }
        }
        Ok((power, total))
    }

    /// Cycles after which a primitive counts as lost: several times those of Recrypt with its largest table.
    pub(super) fn limit(&self) -> u64 {
        1 << (self.size.log_points() + 11)
    }

    /// A panic of another thread leaves the simulation as usable as a reset does: every primitive writes its inputs.
    pub(super) fn lock(&self) -> MutexGuard<'_, Machine> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of a program, or the error of the status register.
pub(super) fn finish(end: End) -> Result<End, Error> {
    if end.error == 0 {
        return Ok(end);
    }
    Err(Error::Refused { top: "accelerator", problem: problem(end.error) })
}

/// Returns the meaning of an error code of the status register (`error_e` of `rtl/gh/sol_gh_pkg.sv`), with its remedy.
pub fn problem(code: u64) -> String {
    match code {
        1 => "a command came while a program ran; wait until the status register says done".into(),
        2 => "the program has an unknown instruction; delete the model, so that it is built for this library".into(),
        3 => {
            "the guard bits do not show that the candidates are right; compute this ciphertext on the device cpu".into()
        }
        4 => "the multiplier refused an instruction; delete the model, so that it is built for this library".into(),
        _ => format!("error code {code} is unknown; delete the model, so that it is built for this library"),
    }
}
