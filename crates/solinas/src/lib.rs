//! Computes on encrypted integers. A client encrypts numbers with a secret key. A server computes on them with a second
//! key, the server key, which decrypts nothing. The server never sees a value. The client decrypts the result.
//!
//! ```
//! use solinas::{Result, Server};
//!
//! fn main() -> Result<()> {
//!     let (client, server_key) = solinas::generate_keys()?;     // scheme TFHE, 128 bits of security
//!     let a = client.encrypt(1344u32)?;
//!     let b = client.encrypt(5u32)?;
//!     let larger = a.gt(&b).select(&a * &b, &a + &b);           // recorded, not computed
//!     let small = (&larger % 256).cast::<u8>().min(7);
//!
//!     let server = Server::new(&server_key)?;                   // holds no secret
//!     let (larger, small) = server.run((larger, small))?;       // everything that is independent runs in parallel
//!     assert_eq!(client.decrypt((larger, small))?, (6720, 7));
//!     Ok(())
//! }
//! ```
//!
//! | task | type or function |
//! |---|---|
//! | make keys | [`generate_keys`]; of another scheme or parameter set: [`keygen`] |
//! | encrypt and decrypt | [`ClientKey::encrypt`], [`ClientKey::decrypt`] |
//! | write a computation on values | operators and methods of [`Encrypted`] |
//! | write a computation on arrays | operators and methods of [`EncryptedArray`] |
//! | write it once, run it often, keep it in a file | [`Program`] |
//! | run a circuit of another tool | [`Circuit`] |
//! | compute | [`Server::run`] |
//! | make encrypted random values | [`Server::random`], [`Server::random_array`] |
//! | predict the cost | [`Server::prepare`], then [`Prepared::count`] or [`Prepared::estimate`] |
//! | compute in the background, watch, cancel | [`Prepared::start`], [`Job`] |
//! | store and send | `save` and `load` of [`ClientKey`], [`ServerKey`], [`Encrypted`], [`EncryptedArray`], [`Program`] |
//! | tell errors apart | [`Error::kind`] |
//! | work with types that are known at run time | [`engine`] |
//! | use the parts: schemes, circuits, big integers | [`schemes`], [`circuits`], [`bigint`] |
//!
//! | encrypted type | plain type | schemes |
//! |---|---|---|
//! | `Encrypted<bool>` | `bool` | all |
//! | `Encrypted<u8>` to `Encrypted<u128>`, [`Uint<W>`] of `W` bits, up to 2048 | the same, or [`Uint<W>`] | all |
//! | `Encrypted<i8>` to `Encrypted<i128>`, [`Int<W>`] of `W` bits, up to 2048 | the same, or [`Int<W>`] | all |
//! | `Encrypted<Mod<P>>`, integers modulo a prime in slots | [`Mod<P>`](Mod) | BGV, NTRU |
//! | [`EncryptedArray<T>`] | `Vec<T>` | as `T` |
//!
//! Scheme TFHE is for arithmetic, comparisons, divisions and table lookups. Scheme BGV is for sums and products of vectors of thousands of
//! integers modulo a prime. NTRU, LWE and Gentry-Halevi are for research.
//!
//! Keys, ciphertexts and programs are the files of the command `solinas` (package `solinas-cli`) and of the Python package.
//!
//! **Not protected**: a server can return wrong results, and it sees the program, its constants, types and sizes. Do not show a server how
//! a decryption went. The library has not been audited.
//!
//! A debug build is a hundred times slower than a release build. These lines of `Cargo.toml` optimize the dependencies alone:
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
mod integers;
mod keys;
mod operand;
mod program;
mod recorded;
mod server;
mod tuples;
mod value;

pub use array::EncryptedArray;
pub use circuit::{Circuit, Outputs};
pub use encrypted::Encrypted;
pub use engine::{Control, ErrorKind, Estimate, Fingerprint, Natural, ParamsInfo, Progress, Type};
pub use error::{Error, Result};
pub use expression::Expression;
pub use keys::{ClientKey, Keygen, Plaintext, PublicKey, ServerKey, generate_keys, keygen};
pub use operand::{Amount, ArrayOperand, Operand};
pub use program::{Program, Values};
pub use server::{DeviceName, GpuInfo, GpuList, Job, Prepared, Server, ServerOptions, gpus};
pub use solinas_bigint as bigint;
pub use solinas_circuits as circuits;
pub use solinas_engine as engine;
#[cfg(feature = "rsa")]
pub use solinas_rsa as rsa;
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
