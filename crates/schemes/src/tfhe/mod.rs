//! TFHE: fully homomorphic encryption of bits and small integers by programmable bootstrapping. Sources: Chillotti,
//! Gama, Georgieva and Izabachene (2016, 2017), and Joye (2021) for the programmable form.
//!
//! Between operations, a ciphertext is an LWE ciphertext of dimension `k N` on the torus, in 32-bit words. An operation
//! is a linear combination followed by one bootstrap. A bootstrap consists of a keyswitch to dimension `n`, a modulus
//! switch to `2N`, a blind rotation and a sample extraction.
//!
//! There are two families of parameter sets, see [`params`]:
//! - *gates*: bits at `+-1/8` of a turn; gates of two or three inputs take one bootstrap each;
//! - *integers*: values in `0..16` and a padding bit; tables of 16 entries; several tables can share one blind
//!   rotation.

mod backend;
mod compact;
mod encrypt;
mod evaluate;
mod keys;
mod lwe;
mod modulus_switch;
pub mod noise;
mod oprf;
mod packed;
mod packing;
mod packing_key;
pub mod params;
mod public;
mod sanitize;
mod short;
mod teams;

use crate::Error;
pub use backend::{Backend, SlotBootstrap, Slots, Sum, pool_batch};
pub use compact::CompactCiphertext;
pub use encrypt::{BOOL_TRUE, decode_bool, decode_value, encode_bool, encode_value};
pub use evaluate::{BootstrapTask, Evaluator, LookupTable, Split, table_covariance, table_weight};
pub use keys::{ClientKey, ServerKey, identity};
pub use lwe::LweCiphertext;
pub use oprf::RandomSeed;
pub use packed::{PackedBits, PackedCiphertexts};
pub use packing::Packer;
pub use packing_key::PackingKey;
pub use params::{Params, ParamsLiteral};
pub use public::PublicKey;
pub use sanitize::Sanitizer;
pub use short::{Masks, ShortCiphertexts};

/// The name of the scheme in errors.
const SCHEME: &str = "TFHE";
