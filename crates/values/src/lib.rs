//! What a client of homomorphic encryption has: keys, ciphertexts, plain values, parameter sets, and their files.
//!
//! A client makes keys ([`keygen`]), encrypts and decrypts ([`ClientKey`]). The crate `solinas-engine` computes on the ciphertexts with the [`ServerKey`].
//!
//! ```
//! use solinas_values::{Control, KeygenOptions, Plain, Type, keygen};
//! # fn main() -> Result<(), solinas_values::Error> {
//! let options = KeygenOptions { params: Some("gates-40".into()), insecure_seed: Some(1), ..Default::default() };
//! let (client, _) = keygen(&options, &Control::default())?;
//! let nine = client.encrypt(&Plain::scalar(Type::Uint(4), 9)?)?;
//! assert_eq!(client.decrypt(&nine)?.to_strings(), ["9"]);
//! # Ok(())
//! # }
//! ```
//!
//! The modules are for engines: the contents of ciphertexts and of server keys, and the checks that clients and engines share.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(feature = "all"),
    allow(dead_code, unused_imports, reason = "a build without some schemes does not use all that they share")
)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod ciphertext;
mod disk;
mod error;
mod error_kind;
mod facts;
mod form;
#[cfg(feature = "gh")]
pub mod gh;
mod info;
mod keys;
#[cfg(feature = "leveled")]
pub mod leveled;
pub mod memory;
pub mod options;
pub mod payload;
mod plain;
pub mod process;
mod registry;
mod scheme;
mod scheme_name;
mod search;
pub mod tfhe;

pub use ciphertext::{Ciphertext, CiphertextFacts};
pub use error::Error;
pub use error_kind::ErrorKind;
pub use facts::{BenchCases, Capabilities, Column, ParamsTable};
pub use form::{Condition, Form};
pub use info::{ParamsInfo, size};
pub use keys::{ClientKey, EncryptionKey, PublicKey, ServerKey, keygen};
pub use memory::budget as memory_budget;
pub use options::KeygenOptions;
pub use plain::Plain;
pub use process::{on_pool, start_threads};
pub use registry::{param_names, params, schemes};
pub use scheme_name::Scheme;
#[cfg(feature = "bgv")]
pub use search::smallest_bgv;
pub use search::{FoundParams, KeyDistribution, ParamsRequest};
pub use solinas_circuits::program::{self, Program, ProgramBuilder, Type};
pub use solinas_circuits::{Help, Natural};
pub use solinas_formats::{Fingerprint, KeyId, NoFingerprint, Summary, inspect, write_text};
pub use solinas_schemes::{Control, Progress, ProgressParts};
