//! Products by transforms: plans, spectra, engines.
//!
//! ```text
//!  words  --digits, transform-->  Spectrum  --inverse, rounding, carries-->  words modulo 2^bits -+ 1
//!            Plan::forward        Plan::{multiply, square, multiply_add}       Plan::inverse
//! ```
//! Two engines give the same residues:
//!
//! | engine | digits | transform | exact because |
//! |---|---|---|---|
//! | [`Engine::Complex`] | balanced, 12 to 21 bits | complex doubles ([`solinas_field::complex`]) | the error is below 1/2 for all inputs (`docs/derivations/complex-products.md`) |
//! | [`Engine::Solinas`] | 17 to 29 bits | modulo 2^64 - 2^32 + 1 ([`solinas_field::solinas`]) | coefficients stay below the modulus |
//!
//! [`mul`] and [`square`] keep the plans that they need.
//!
//! # Time
//! The time depends on the lengths of the operands and not on their values, with one exception in the last step of
//! [`Engine::Complex`]. Residues of up to 512 words have no exception. In longer ones, a carry from one stream of
//! digits into the next goes through 16 words whatever they hold. The carry from the highest digit around to the lowest
//! goes through 512. Each carry goes on from there only through words that are all ones (all zeros, for a borrow). For
//! random residues, the probability is at most 2^-960 for a carry. Operands such as powers of two minus one can cause
//! it.
//!
//! ```
//! use solinas_bigint::fft::{Options, Plan, Ring};
//!
//! // Modulo 2^bits - 1, bits at least 10 000, one operand transformed once.
//! let plan = Plan::new(10_000, Ring::Minus, &Options::default())?;
//! let (mut fixed, mut s) = (plan.spectrum(), plan.spectrum());
//! plan.forward(&[3], &mut fixed)?;
//! plan.forward(&[14], &mut s)?;
//! plan.multiply(&mut s, &fixed)?;
//! let mut residue = vec![0; plan.words()];
//! plan.inverse(&mut s, &mut residue)?;
//! assert_eq!(residue[0], 42);
//! # Ok::<(), solinas_bigint::Error>(())
//! ```

mod cache;
mod kernel;
mod plan;
mod size;
mod spectrum;

pub(crate) use cache::mul_by_blocks;
pub use cache::{mul, square, wipe_scratch};
pub use plan::{Options, Plan};
pub use spectrum::Spectrum;

/// Method that computes products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Complex doubles with a proven bound of the error. It is the fast engine on CPUs.
    Complex,
    /// The prime field modulo 2^64 - 2^32 + 1. It is the reference, which all hardware computes alike.
    Solinas,
}

impl Engine {
    /// Returns the ring in which this engine computes products that do not wrap, the faster of the two.
    fn product_ring(self) -> Ring {
        match self {
            Self::Complex => Ring::Plus,
            Self::Solinas => Ring::Minus,
        }
    }
}

/// The ring of a plan's residues, for a number `bits` that is a multiple of 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ring {
    /// Integers modulo `2^bits - 1`.
    Minus,
    /// Integers modulo `2^bits + 1`.
    Plus,
}

#[cfg(test)]
mod tests;
