//! Integers of 10^3 to 10^8 bits: products, reductions and powers.
//!
//! - [`Natural`]: an integer >= 0 of any size, with conversions and basic operations;
//! - [`Integer`]: the same with a sign;
//! - [`Modulus`]: sums, products and powers modulo one number, by the fastest of the methods in [`modular`];
//! - [`mul`]: products on word slices, by the schoolbook method, Karatsuba's or transforms, whichever is fastest at the
//!   size;
//! - [`fft`]: product plans and operands kept transformed, also modulo 2^n - 1 and 2^n + 1.
//!
//! ```
//! use solinas_bigint::Natural;
//!
//! let a: Natural = "123456789012345678901234567890".parse()?;
//! let b = Natural::from_hex("ffffffffffffffffffffffff")?;
//! let (quotient, remainder) = (&a * &b).div_rem(&b)?;
//! assert_eq!(quotient, a);
//! assert!(remainder.is_zero());
//! # Ok::<(), solinas_bigint::Error>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that fails may panic"))]

mod blocks;
mod division;
mod error;
pub mod fft;
mod integer;
pub mod modular;
mod montgomery;
pub mod mul;
mod natural;
mod prime;
mod words;

pub use error::Error;
pub use integer::Integer;
pub use modular::{Method, Modulus, ModulusOptions};
pub use montgomery::Montgomery;
pub use natural::Natural;

/// The examples of the book.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/book/bigint.md")]
struct Book;
