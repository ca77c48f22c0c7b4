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
//! [`mul`] and [`square`] keep the plans they need.
//!
//! # Time
//! Depends on the lengths of the operands, not on their values, with one exception in the last step of [`Engine::Complex`]. Residues of up to 512
//! words have none. In longer ones a carry from one stream of digits into the next goes through 16 words whatever they hold, and the one that comes
//! round from the highest digit through 512; each goes on from there only through words that are all ones (all zeros, for a borrow). Of random
//! residues that happens to a carry with probability 2^-960 at most; operands such as powers of two minus one can bring it about.
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

pub use cache::{mul, square, wipe_scratch};
pub use plan::{Options, Plan};
pub use spectrum::Spectrum;

/// How products are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Complex doubles with a proven bound of the error: the fast one on CPUs.
    Complex,
    /// The prime field modulo 2^64 - 2^32 + 1: the reference, which all hardware computes alike.
    Solinas,
}

impl Engine {
    /// The ring in which it computes products that do not wrap: the faster one.
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
