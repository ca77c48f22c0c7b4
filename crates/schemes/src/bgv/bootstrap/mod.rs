//! Bootstrapping of numbers modulo `p = 2^r`: a ciphertext whose levels are used up becomes one at level [`Params::fresh_level`], with the same number
//! in the constant coefficient and 0 in the others.
//!
//! After Alperin-Sheriff and Peikert 2013; `docs/derivations/bgv-bootstrap.md` has the steps, their noise and their cost. In short: the ciphertext is switched
//! to a sparse secret `s_b` and rounded to `2^precision` steps, with the number at the top; the product of that with an encryption of `s_b` decrypts it
//! homomorphically; a trace keeps the constant coefficient; digit extraction takes its highest bits.
//!
//! ```
//! use solinas_schemes::{Control, Entropy, Evaluate};
//! use solinas_schemes::bgv::{ClientKey, Evaluator, Params};
//!
//! let params = Params::named("boot-64-2")?;                            // for study: N = 64 is not secure
//! let client = ClientKey::generate(&params, true, Entropy::System, &Control::default())?;
//! let server = client.server_key(&Control::default())?;                // with a bootstrapping key
//! let evaluator = Evaluator::new(&server);
//!
//! let mut one = vec![0; 64];
//! one[0] = 1;
//! let one = server.public().encrypt(&one, &mut server.public().encryption_rng(0)?)?;
//! let mut x = one.clone();
//! for _ in 0..12 {
//!     x = evaluator.bootstrap(&evaluator.automatic().multiply(&x, &one)?)?;    // deeper than the levels
//! }
//! assert!(client.decrypt(&x)?[0] == 1);
//! # Ok::<(), solinas_schemes::Error>(())
//! ```

mod evaluate;
mod key;
mod noise;
mod params;
mod plan;

pub use crate::leveled::bootstrap::BootstrapNoise;
#[cfg(test)]
pub(in crate::bgv) use evaluate::RoundedPhase;
pub use key::BootstrapKey;
pub use params::Bootstrapping;
pub(super) use plan::Plan;

use super::{Error, Params};

pub(super) fn params_without(params: &Params) -> Error {
    let what = format!("parameter set {:?} has no bootstrapping", params.name());
    Error::NoBootstrapping { what, remedy: "choose one of the sets boot, such as boot128-16384-8" }
}
