//! The encryption schemes of Solinas.
//!
//! Each homomorphic scheme is a module of one shape: `params`, `keys`, `encrypt`, `evaluate`, `noise`.
//!
//! - Keys: `ClientKey::generate(&params, research, entropy, &control)` makes a client key, and `client.server_key(&control)` the key of a server. `research`
//!   is the caller's consent to parameters that are for research only.
//! - Errors: [`Error`] is the one type of all of them.
//! - [`leveled`] is what [`bgv`], [`ntru`] and [`lwe`] share. They differ in [`server_key_with`](bgv::ClientKey::server_key_with), which makes keys of chosen
//!   rotations.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(feature = "all"),
    allow(dead_code, unreachable_pub, reason = "a build without some schemes does not use all that they share")
)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

#[cfg(feature = "bgv")]
pub mod bgv;
#[cfg(feature = "slots")]
mod canonical_embedding;
mod control;
mod device_error;
mod device_name;
mod entropy;
mod error;
#[cfg(feature = "slots")]
mod evaluate;
mod fingerprint;
#[cfg(feature = "gh")]
pub mod gh;
mod held;
mod identity;
mod key_id;
mod level;
#[cfg(feature = "leveled")]
pub mod leveled;
#[cfg(feature = "lwe")]
pub mod lwe;
#[cfg(feature = "ntru")]
pub mod ntru;
pub mod random;
pub mod security;
mod set_name;
#[cfg(feature = "slots")]
pub mod slots;
pub mod tfhe;

pub use control::{Cancelled, Control, Progress, ProgressParts};
pub use device_error::{DeviceError, DeviceErrorKind, DeviceFault};
pub use device_name::{DeviceName, UnknownDevice};
pub use entropy::{Entropy, NoEntropy};
pub use error::Error;
#[cfg(feature = "slots")]
pub use evaluate::{Evaluate, RotateSlots};
pub use fingerprint::{Fingerprint, NoFingerprint};
pub use identity::{Identity, IdentityParts};
pub use key_id::KeyId;
pub use level::{Level, Noise};

// Examples of the book.
#[cfg(all(doctest, feature = "all"))]
mod book {
    #[doc = include_str!("../../../docs/book/bgv.md")]
    struct Bgv;
    #[doc = include_str!("../../../docs/book/lwe.md")]
    struct Lwe;
    #[doc = include_str!("../../../docs/book/ntru.md")]
    struct Ntru;
}
