//! What the leveled schemes ([`bgv`](crate::bgv), [`ntru`](crate::ntru), [`lwe`](crate::lwe)) share.
//!
//! A ciphertext has a level. A product of two ciphertexts is one level below them; at level 1 no product is left. The schemes encrypt polynomials or vectors
//! modulo a number `p`, or single bits.

mod params;
mod stored;

pub(crate) use params::inherent_facts;
pub use params::{Bootstrap, NoiseModel, Params, State};
pub use stored::StoredCiphertext;
