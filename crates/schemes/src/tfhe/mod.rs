//! TFHE: fully homomorphic encryption of bits and small integers by programmable bootstrapping (Chillotti, Gama, Georgieva, Izabachene,
//! 2016 and 2017; Joye 2021 for the programmable form).
//!
//! A ciphertext between operations is an LWE ciphertext of dimension `k N` on the torus, in 32-bit words. An operation is a linear
//! combination, then one bootstrap: keyswitch to dimension `n`, modulus switch to `2N`, blind rotation, sample extraction.
//!
//! Two families of parameter sets, see [`params`]:
//! - *gates*: bits at `+-1/8`, two- and three-input gates at one bootstrap each;
//! - *integers*: values of 0 to 15 with a padding bit, tables of 16 entries, several tables to a rotation.

mod encrypt;
mod evaluate;
mod keys;
mod lwe;
pub mod noise;
pub mod params;

use crate::Error;
pub use encrypt::{BOOL_TRUE, decode_bool, decode_value, encode_bool, encode_value};
pub use evaluate::{Evaluator, Job, Table, table_weight};
pub use keys::{ClientKey, ServerKey};
pub use lwe::LweCiphertext;
pub use params::{Params, ParamsLiteral};

/// The name of the scheme in errors.
const SCHEME: &str = "TFHE";
