//! Compute on encrypted integers. A client encrypts numbers with a secret key. A server computes on them with a public key and never
//! sees a value. The client decrypts the result.
//!
//! ```no_run
//! use solinas::{Result, Server};
//!
//! fn main() -> Result<()> {
//!     let (client, server_key) = solinas::generate_keys()?;     // TFHE, 128 bits of security
//!     let a = client.encrypt(1344u32)?;
//!     let b = client.encrypt(5u32)?;
//!     let larger = a.gt(&b).select(&a * &b, &a + &b);           // recorded, not computed
//!     let small = (&larger % 256).cast::<u8>().min(7);
//!     let server = Server::new(&server_key)?;                   // holds no secret
//!     let (larger, small) = server.run((larger, small))?;       // computed in one batch
//!     println!("{} {}", client.decrypt(&larger)?, client.decrypt(&small)?);    // 6720 7
//!     Ok(())
//! }
//! ```
//!
//! | to | use |
//! |---|---|
//! | make keys | [`generate_keys`], [`keygen`] |
//! | encrypt and decrypt | [`ClientKey`] |
//! | write what to compute | operators and methods of [`Encrypted`] and [`EncryptedArray`] |
//! | write it once, run it often, keep it in a file | [`Program`] |
//! | compute | [`Server::run`]; with a cost estimate [`Server::prepare`]; in the background [`Prepared::start`] |
//! | store and send | `save` and `load` of keys, values and programs: the files that the command line and the Python package use |
//! | go below these types | [`runtime`]: programs and ciphertexts whose types are known at run time, circuits, all schemes |
//!
//! Schemes: `tfhe` for integers of up to 128 bits with comparisons, division and lookups; `bgv` for sums and products of vectors of
//! integers modulo a prime ([`Mod`]); `ntru`, `lwe` and `gh` for research.
//!
//! **Not protected**: the server can return wrong results, and it sees the program, its constants, types and sizes. Never show a
//! server how a decryption went. The library has not been audited.
//!
//! Debug builds of a homomorphic computation are slow. Let Cargo optimise the dependencies, in `Cargo.toml`:
//! ```toml
//! [profile.dev.package."*"]
//! opt-level = 3
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod array;
mod circuit;
mod encrypted;
mod error;
mod expression;
mod handle;
mod keys;
mod node;
mod operand;
mod plan;
mod program;
mod recorder;
mod server;
mod tuples;
mod value;

pub use array::EncryptedArray;
pub use circuit::{Circuit, Outputs};
pub use encrypted::Encrypted;
pub use error::{Error, Result};
pub use expression::Expression;
pub use keys::{ClientKey, Keygen, Plaintext, ServerKey, generate_keys, keygen};
pub use operand::{Amount, ArrayOperand, Operand};
pub use program::{Program, Values};
pub use runtime::{Control, ErrorKind, Estimate, ParamsInfo, Progress, Type};
pub use server::{Job, Prepared, Server, ServerOptions};
pub use solinas_bigint as bigint;
pub use solinas_circuits as circuits;
pub use solinas_runtime as runtime;
pub use solinas_schemes as schemes;
pub use value::{Arithmetic, Bits, Int, Integer, Mod, Uint, Unsigned, Value};

// The Rust programs of the book run as documentation tests.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../docs/book/quickstart.md")]
    struct Quickstart;
    #[doc = include_str!("../../../docs/book/rust.md")]
    struct Rust;
    #[doc = include_str!("../README.md")]
    struct Readme;
}
