//! Parameter sets of leveled schemes: facts, and formulas of noise.

use core::fmt::Debug;

use crate::security::SecurityClaim;
use crate::slots::SlotEncoder;
use crate::{Error, Level, Noise};

/// The level and the noise of a ciphertext.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct State {
    /// The level.
    pub level: Level,
    /// The noise, by the formulas.
    pub noise: Noise,
}

/// The bound of sets whose files do not state one: an operation or a decryption goes wrong with a probability of at most `2^-40`.
pub(crate) const USUAL_FAILURE_BITS: u32 = 40;

/// Values of `failure_bits` that parameters may have.
pub(crate) const FAILURE_BITS: core::ops::RangeInclusive<u64> = 10..=256;

/// For serde, which asks for a function.
pub(crate) fn usual_failure_bits() -> u32 {
    USUAL_FAILURE_BITS
}

/// Whether a file need not state the bound.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn is_usual_failure(bits: &u32) -> bool {
    *bits == USUAL_FAILURE_BITS
}

/// The inputs that a bootstrap accepts, and its result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// Largest noise of a ciphertext at level 1 that can be bootstrapped.
    pub limit: Noise,
    /// The result.
    pub gives: State,
}

/// A parameter set.
pub trait Params: Debug + Clone + PartialEq + Send + Sync + 'static {
    /// Name of the set.
    fn name(&self) -> &str;

    /// Ring dimension. Without a ring, the dimension of the lattice.
    fn dimension(&self) -> usize;

    /// Plaintext modulus `p`.
    fn plaintext_modulus(&self) -> u64;

    /// Coefficients of a plaintext.
    fn plaintext_len(&self) -> usize {
        self.dimension()
    }

    /// Packs numbers into the slots of a plaintext.
    ///
    /// # Errors
    /// If a plaintext is a single number.
    fn slots(&self) -> Result<SlotEncoder, Error>;

    /// Products in sequence.
    fn depth(&self) -> usize;

    /// The level of fresh ciphertexts. Levels above it, if there are any, belong to bootstrapping.
    fn fresh_level(&self) -> Level {
        Level::with_products_left(self.depth())
    }

    /// `log2` of the modulus of fresh ciphertexts.
    fn log2_fresh_modulus(&self) -> f64;

    /// The security claim.
    fn security(&self) -> SecurityClaim;

    /// Base-2 logarithm of a bound of the probability that an operation or a decryption goes wrong.
    fn log2_failure(&self) -> f64;

    /// The primes of a level, or the words of its modulus. Each part of a ciphertext has as many residues of one as of another.
    fn level_moduli(&self, level: Level) -> Vec<u64>;

    /// Parts of a ciphertext at a level.
    fn level_parts(&self, level: Level) -> usize;

    /// Bytes that a product needs beside the key, if that is much; otherwise 0.
    fn product_bytes(&self) -> usize {
        0
    }

    /// The plaintext of a number: its constant coefficient, so that a vector holds it in every slot.
    fn constant_plaintext(&self, value: u64) -> Vec<u64> {
        let mut plaintext = vec![0; self.plaintext_len()];
        plaintext[0] = value % self.plaintext_modulus();
        plaintext
    }
}

/// The formulas of noise. They describe what the evaluators compute, step by step.
pub trait NoiseModel: Params {
    /// Noise of a fresh ciphertext.
    fn fresh_noise(&self) -> Noise;

    /// Largest noise that decrypts at a level.
    fn noise_limit(&self, level: Level) -> Noise;

    /// Noise of a ciphertext of a public number.
    fn constant_noise(&self, value: u64) -> Noise;

    /// Noise after a public number is added.
    fn add_constant_noise(&self, x: State, value: u64) -> Noise;

    /// The states through which a product of ciphertexts of those noises goes. The last is at the level below. Each has to decrypt. Empty at the lowest level.
    fn multiply_states(&self, level: Level, noises: [Noise; 2]) -> Vec<State>;

    /// The states through which a ciphertext goes when it drops a level, as for [`Self::multiply_states`].
    fn drop_level_states(&self, x: State) -> Vec<State>;

    /// Noise after a rotation of slots or a swap of their rows, as a function of the state before.
    ///
    /// # Errors
    /// Why no key of these parameters rotates slots.
    fn rotation_noise(&self) -> Result<Box<dyn Fn(State) -> Noise + Sync + '_>, Error>;

    /// Time of a product at a level, relative to that of a product at the highest level.
    fn relative_cost(&self, level: Level) -> f64;

    /// Whether a ciphertext can drop to level 1 and be bootstrapped there, if a bootstrap takes noise up to `limit`.
    fn can_bootstrap(&self, mut x: State, limit: Noise) -> bool {
        while x.level > Level::LOWEST {
            for state in self.drop_level_states(x) {
                if state.noise > self.noise_limit(state.level) {
                    return false;
                }
                x = state;
            }
        }
        x.noise <= limit
    }

    /// The bootstrap of keys of these parameters. `None` if they cannot bootstrap.
    fn bootstrap(&self) -> Option<Bootstrap> {
        None
    }
}

/// The facts that the parameters of every scheme also have as inherent methods, so that callers need not import the trait.
macro_rules! inherent_facts {
    () => {
        fn name(&self) -> &str {
            self.name()
        }

        fn dimension(&self) -> usize {
            self.dimension()
        }

        fn depth(&self) -> usize {
            self.depth()
        }

        fn security(&self) -> $crate::security::SecurityClaim {
            self.security()
        }

        fn log2_failure(&self) -> f64 {
            self.log2_failure()
        }
    };
}
pub(crate) use inherent_facts;
