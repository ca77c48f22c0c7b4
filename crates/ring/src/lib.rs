//! Polynomials of `Z_Q[X]/(X^N + 1)` by residues modulo word-size primes (double-CRT).
//!
//! - [`Basis`]: a ring dimension and primes `q_1 .. q_t`, whose product is `Q`. Each prime with its transform is a
//!   *tower*.
//! - [`RnsPoly`]: a polynomial as its residues in each tower, as coefficients ([`Coeff`]) or in the transformed domain
//!   ([`Eval`]). The domain is in the type, so a forgotten transform does not compile.
//! - [`Automorphism`]: `X -> X^g` in both domains.
//! - [`Rescale`], [`ModDown`]: division by the last prime, exactly, or by several, approximately. Both preserve a
//!   plaintext modulus.
//! - [`BaseConversion`], [`MixedRadix`]: residues in other primes, up to a multiple of `Q` or exactly, and centred
//!   values modulo a small number.
//! - [`TowerGadget`], [`Hybrid`]: decompositions for key switching; [`TowerDigits`], [`HybridDigits`], [`SwitchDown`]:
//!   with keys of two parts.
//! - [`sample`]: discrete Gaussian, ternary, sparse and uniform polynomials.
//!
//! Data order: tower by tower, `N` words each. All words are canonical (`0..q_i`), and the same on every back end and
//! for any number of threads. The towers are distributed over the threads of the current rayon pool.
//!
//! ```
//! use solinas_field::{Backend, prime::primes};
//! use solinas_ring::{Basis, RnsPoly};
//! let basis = Basis::new(1024, &primes(50, 3, 2048)?, Backend::detect()?)?;
//! let mut x = vec![0; 1024];
//! x[1023] = 2;                                                   // 2 X^1023
//! let mut y = RnsPoly::from_signed(&basis, &x)?.into_eval();
//! y.mul_assign(&y.clone())?;                                     // 4 X^2046 = -4 X^1022
//! assert_eq!(y.into_coeff().tower(0)[1022], basis.modulus(0).value() - 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod automorphism;
mod basis;
mod convert;
mod decompose;
mod divisor;
mod error;
mod memory;
mod mixed;
mod poly;
mod rescale;
pub mod sample;
mod switch;
mod threads;

pub use automorphism::Automorphism;
pub use basis::Basis;
pub use convert::BaseConversion;
pub use decompose::{Hybrid, Term, TowerGadget};
pub use divisor::Divisor;
pub use error::Error;
pub use mixed::MixedRadix;
pub use poly::{Coeff, Domain, Eval, RnsPoly};
pub use rescale::{ModDown, ModDownConstants, Rescale};
pub use switch::{HybridDigits, SwitchDown, SwitchDownConstants, TowerDigits};
