//! Bootstrapping of bits: a ciphertext whose levels are used up becomes one at level [`Params::bootstrapped_level`], with the same bit in the
//! constant coefficient and 0 in the others.
//!
//! After Alperin-Sheriff and Peikert 2013, for the step that rohloff2014 (section 3.6) leaves open; `docs/derivations/ntru-bootstrap.md` has the
//! steps, their noise and their cost. In short: the ciphertext is switched to a sparse key `f_b` and rounded to `2^precision` steps, with the bit at
//! the top; the product of that with an encryption of `f_b` decrypts it homomorphically; a trace keeps the constant coefficient; digit
//! extraction takes its highest bit.
//!
//! ```
//! use solinas_schemes::{Control, Entropy};
//! use solinas_schemes::ntru::{ClientKey, Evaluator, Params};
//!
//! let params = Params::named("boot-64")?;
//! let client = ClientKey::generate(&params, true, Entropy::System, &Control::default())?;
//! let server = client.server_key(&Control::default())?;    // with a bootstrapping key
//! let bits = Evaluator::new(&server).bits()?;
//! let mut rng = server.public().encryption_rng(0)?;
//! let one = server.public().encrypt_bit(true, &mut rng)?;
//! let mut x = one.clone();
//! for _ in 0..12 {
//!     x = bits.xor(&bits.and(&x, &one)?, &bits.constant(false)?)?;    // deeper than the levels
//! }
//! assert!(client.decrypt_bit(&x)?);
//! # Ok::<(), solinas_schemes::Error>(())
//! ```

mod evaluate;
mod key;
mod noise;
mod params;
mod plan;

pub use crate::leveled::bootstrap::BootstrapNoise;
pub use key::BootstrapKey;
#[cfg(test)]
pub(super) use key::Choices;
pub use params::Bootstrapping;
pub(super) use plan::Plan;

use super::{Error, Params};

pub(super) fn params_without(params: &Params) -> Error {
    let what = format!("parameter set {:?} has no bootstrapping", params.name());
    Error::NoBootstrapping { what, remedy: "choose one of the sets boot-N, such as boot-1024" }
}
