//! The accelerator of `rtl/gh` for the scheme of Gentry and Halevi (`doroz2015`).
//!
//! **For research only**, as the scheme is: see [`Params::security`]. The simulation of Decrypt holds the secret key in the
//! memory of this process, and nothing of it is wiped.

mod evaluation;
mod machine;
mod modular;
mod program;

use std::sync::MutexGuard;

use solinas_bigint::Natural;
use solinas_schemes::gh::{ClientKey, Encryptor, Evaluator, Noise, Params, PublicKey, ServerKey};

use crate::multiplier::Size;
use crate::{BuildStage, Design, Error, Timing};
pub use evaluation::Evaluation;
use machine::{GUARD, Machine, registers};
pub use machine::{PrimitiveCost, design};
use modular::finish;
pub use modular::{Modular, problem};
use program::{Program, Term, slots};

/// A simulated accelerator with the values of a public key.
#[derive(Debug)]
pub struct Accelerator {
    modular: Modular,
    params: Params,
    /// The parities of `x_k`, as the register of bits holds them.
    parities: u64,
}

/// Candidates of a block for which the accelerator has places.
const CANDIDATES: usize = 512;

/// A result, with its cycles and its memory traffic.
pub type Outcome<T> = Result<(T, PrimitiveCost), Error>;

impl Accelerator {
    /// The smallest size of an accelerator for a key.
    ///
    /// # Errors
    /// [`Error::TooLong`] if none is large enough.
    pub fn size(public: &PublicKey) -> Result<Size, Error> {
        Modular::size(public.d())
    }

    /// An accelerator for a key. The model is built on first use; `progress` is called at each stage of that.
    ///
    /// # Errors
    /// [`Error::TooLong`] for a key that is too large. The errors of [`Model::build`](crate::Model::build).
    pub fn new(public: &PublicKey, timing: Timing, progress: &mut dyn FnMut(BuildStage)) -> Result<Self, Error> {
        Self::of_design(&design(Self::size(public)?)?, public, timing, progress)
    }

    /// An accelerator of a changed design of the size for the key.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    pub fn of_design(
        design: &Design,
        public: &PublicKey,
        timing: Timing,
        progress: &mut dyn FnMut(BuildStage),
    ) -> Result<Self, Error> {
        let params = public.params().clone();
        let modular = Modular::of_design(design, public.d(), timing, progress)?;
        let mut machine = modular.lock();
        machine.store(slots::HALF, &(public.d() >> 1))?;
        let terms = 1 + params.max_nonzeros();
        machine.store(slots::MULTIPLE, &(public.d() << terms.next_power_of_two().ilog2() as usize))?;
        drop(machine);
        Ok(Self { modular, params, parities: 0 })
    }

    /// Loads the values of Recrypt: the factors of the expansions, and the table of pairs, which `evaluator` has.
    ///
    /// # Errors
    /// [`Error::TooLong`] for a factor that is too long. [`Error::Refused`] for an evaluator without the table of pairs, and
    /// for more candidates than the accelerator has places.
    pub fn load_server_key(&mut self, server: &ServerKey, evaluator: &Evaluator<'_>) -> Result<(), Error> {
        let refused = |problem: String| Error::Refused { top: "accelerator", problem };
        let params = server.params();
        let (blocks, candidates, p) = (params.blocks(), params.candidates(), params.precision());
        Evaluation::check(server)?;
        let table: Option<Vec<_>> = (0..blocks).map(|k| evaluator.pair_products(k)).collect();
        let table =
            table.ok_or_else(|| refused("the evaluator has no table of pairs; use RecryptMethod::PairTable".into()))?;
        let mut machine = self.lock();
        machine.set_table(table, candidates, server.public().words());
        let mut odd = 0;
        for k in 0..blocks {
            let factor = server.expansion_factor(k).map_err(|error| refused(error.to_string()))?;
            let high = &factor >> machine.bits();
            let low = factor.checked_sub(&(&high << machine.bits())).unwrap_or_default();
            let at = slots::FACTORS + 2 * k as u16;
            machine.store(at, &low)?;
            machine.store(at + 1, &high)?;
            odd |= (server.x_of(k)[0] & 1) << (k + 1);
        }
        let point = server.expansion_point();
        machine.set_place(registers::POINT, point - (p + 1));
        machine.set_place(registers::RATIO, params.ratio_bits());
        machine.set_place(registers::GUARD, self.modular.modulus().bit_len() + 2);
        machine.set(registers::SIZE, candidates as u64 | (p as u64) << 10);
        drop(machine);
        self.parities = odd;
        Ok(())
    }

    /// Loads the table of the encryption: twice each power of `r`. The encryptor is one of all powers.
    ///
    /// # Errors
    /// [`Error::Refused`] for an encryptor without this table.
    pub fn load_powers(&mut self, encryptor: &Encryptor<'_>) -> Result<(), Error> {
        let words = encryptor.public().words();
        let table = encryptor.table().filter(|table| table.len() == self.params.dimension() * words);
        let table = table.ok_or_else(|| Error::Refused {
            top: "accelerator",
            problem: "the encryptor does not store all powers; use EncryptMethod::Table".into(),
        })?;
        let mut machine = self.lock();
        for (power, slot) in table.chunks_exact(words).zip(slots::POWERS..) {
            let twice = &Natural::from_words(power.to_vec()) << 1;
            let twice = twice.checked_sub(self.modular.modulus()).unwrap_or(twice);
            machine.store(slot, &twice)?;
        }
        Ok(())
    }

    /// Limits the cycles of a primitive. A primitive that takes more is stopped by a reset and returns
    /// [`Error::Stuck`].
    pub fn set_limit(&self, cycles: u64) {
        self.modular.set_limit(cycles);
    }

    /// Computes `x y mod d`. The operands are below `d`.
    ///
    /// # Errors
    /// [`Error::TooLong`], [`Error::Stuck`].
    pub fn multiply(&self, x: &Natural, y: &Natural) -> Outcome<Natural> {
        self.modular.multiply(x, y)
    }

    /// Encrypts a bit with a noise polynomial. Its terms choose entries of the table, so that the addresses on the memory
    /// bus depend on them; the number of cycles does not.
    ///
    /// # Errors
    /// [`Error::Stuck`].
    pub fn encrypt(&self, bit: bool, noise: &Noise) -> Outcome<Natural> {
        let mut machine = self.lock();
        let terms = 1 + self.params.max_nonzeros();
        machine.load_program(&Program::encrypt(terms));
        for (i, entry) in (1..terms as u16).enumerate() {
            let term = noise.terms().get(i);
            machine
                .set_term(entry, term.map(|&(index, negative)| Term { slot: slots::POWERS + index as u16, negative }));
        }
        machine.set(registers::BITS, bit.into());
        let end = finish(machine.run(self.modular.limit())?)?;
        Ok((machine.load(slots::RESULT), end.cost))
    }

    /// Decrypts a ciphertext.
    ///
    /// # Errors
    /// [`Error::Stuck`].
    pub fn decrypt(&self, client: &ClientKey, x: &Natural) -> Outcome<bool> {
        let mut machine = self.lock();
        machine.store(slots::X, x)?;
        machine.store(slots::SECRET, client.w())?;
        machine.load_program(&Program::decrypt());
        let end = finish(machine.run(self.modular.limit())?)?;
        Ok((end.bit, end.cost))
    }

    /// Recrypts a ciphertext. Returns `None` if the guard bits of an expansion do not show that the candidates are right, which
    /// happens once in 2^57 times: compute it on the CPU then.
    ///
    /// # Errors
    /// [`Error::Stuck`].
    pub fn recrypt(&self, x: &Natural) -> Outcome<Option<Natural>> {
        let mut machine = self.lock();
        machine.store(slots::X, x)?;
        machine.load_program(&Program::recrypt(&self.params));
        machine.set(registers::BITS, self.parities);
        let end = machine.run(self.modular.limit())?;
        if end.error == GUARD {
            return Ok((None, end.cost));
        }
        let end = finish(end)?;
        Ok((Some(machine.load(slots::RESULT)), end.cost))
    }

    fn lock(&self) -> MutexGuard<'_, Machine> {
        self.modular.lock()
    }
}
