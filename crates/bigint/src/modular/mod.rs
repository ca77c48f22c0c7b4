//! Arithmetic modulo one number.
//!
//! Use [`Modulus`]: it takes any modulus > 1 and selects the method by measured thresholds. The methods share the
//! interface [`Form`]. T is one transform of twice the modulus's length:
//!
//! | method | moduli | product | square, product by a kept transform | setup |
//! |---|---|---|---|---|
//! | [`Montgomery`](crate::Montgomery), by words | odd | quadratic | | small |
//! | [`Barrett`] | all | 6T | 5T | a reciprocal |
//! | [`FftMontgomery`] | odd | 6T | 5T | a 2-adic inverse |
//! | [`McLaughlin`] | coprime to 2^N + 1 | 4.5T | 3.5T | an inverse modulo 2^N + 1 |

/// Implements `Debug` without contents, which may be secret.
macro_rules! opaque {
    ($name:ident) => {
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

mod barrett;
mod fft_montgomery;
mod form;
mod mclaughlin;
mod modulus;
mod negacyclic;
#[cfg(test)]
mod tests;

pub use barrett::{Barrett, Operand, Workspace};
pub use fft_montgomery::FftMontgomery;
pub use form::Form;
pub use mclaughlin::McLaughlin;
pub use modulus::{Method, Modulus, ModulusOptions, Prepared};
