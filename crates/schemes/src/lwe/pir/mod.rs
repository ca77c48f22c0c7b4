//! Private information retrieval: a client reads a record of a server's database, and the server does not learn which.
//!
//! The scheme is that of Henzinger, Hong, Corrigan-Gibbs, Meiklejohn and Vaikuntanathan ("One Server for the Price of
//! Two", USENIX Security 2023), called SimplePIR. The database is a matrix `D` of signed bytes; a record runs down a
//! stretch of one column. A public matrix `A` comes from the hash of the database. All numbers are modulo `q = 2^32`.
//!
//! | step | who | computes |
//! |---|---|---|
//! | setup, once for a database | server | the *hint* `H = D A` ([`Database::hint`]) |
//! | query of column `j` | client | `A s + e + 2^24 u_j`, with a new secret `s`, noise `e` and the unit vector `u_j` ([`Client::query`]) |
//! | answer | server | `D` times the query ([`Database::answer`]), at the speed of memory |
//! | reading | client | `(answer - H s) / 2^24`, rounded: the column ([`Client::read`]) |
//!
//! `docs/derivations/lwe-noise.md` derives the probability of a wrong byte, and `docs/book/lwe.md` shows the use and what
//! is not protected.
//!
//! ```
//! use solinas_schemes::Control;
//! use solinas_schemes::lwe::pir::{Builder, Client, Layout};
//!
//! let records = [*b"apple", *b"grape", *b"lemon"];
//! let mut builder = Builder::new(Layout::new(3, 5, 100)?)?;
//! builder.push(records.as_flattened())?;
//! let database = builder.finish()?;
//! let client = Client::new(database.hint(&Control::default())?);
//!
//! let (query, pending) = client.query(1)?;
//! let answer = database.answer(&query)?;
//! assert_eq!(client.read(pending, &answer)?, b"grape");
//! # Ok::<(), solinas_schemes::Error>(())
//! ```

mod bytes;
mod client;
mod database;
mod hint;
mod id;
mod layout;
mod message;
#[cfg(test)]
mod tests;

use super::fresh::noise::log2_tail;
use crate::security::lwe::{ATTACKS, Problem, Secret};
use crate::security::{SecurityClaim, Status, model};

pub use client::{Client, Pending};
pub use database::{BATCH, Builder, Database};
pub use hint::Hint;
pub use id::DatabaseId;
pub use layout::Layout;
pub use message::{Answer, Query};

/// Dimension `n` of the secret. [`security`] is well above 128 bits: a database cannot change it later, because hints depend on it.
pub const DIMENSION: usize = 1088;

/// Standard deviation of the noise `e` of a query.
pub const SIGMA: f64 = 32.0;

/// Largest number of columns: the probability of a wrong byte stays below `2^-64` ([`log2_failure`]).
pub const MAX_COLUMNS: usize = 49_152;

/// Bits of a query's number below the byte that it carries.
const SHIFT: u32 = 24;

/// Base-2 logarithm of a bound of the probability that a byte of an answer is wrong, for every database of as many
/// columns. Entries have a magnitude of at most 128, so the noise of an answer has at most the standard deviation
/// `128 sigma sqrt(columns)`. A byte is wrong if the noise reaches `2^23`.
pub fn log2_failure(columns: usize) -> f64 {
    log2_tail(f64::from(1 << (SHIFT - 1)) / (128.0 * SIGMA * (columns.max(1) as f64).sqrt()))
}

/// The attack on a query. A secret that is uniform modulo `q` is as hard to find as one with the distribution of the
/// noise (Applebaum, Cash, Peikert and Sahai 2009), so that is its standard deviation here.
fn problem() -> Problem {
    Problem {
        dimension: DIMENSION,
        samples: MAX_COLUMNS,
        log2_modulus: 32.0,
        secret: Secret::gaussian(SIGMA),
        noise: SIGMA,
    }
}

/// The security of a query.
pub fn security() -> SecurityClaim {
    let problem = problem();
    SecurityClaim {
        classical_bits: problem.classical_bits(),
        quantum_bits: problem.quantum_bits(),
        estimator: format!("{}, {ATTACKS}; on one query", model::NAME),
        date: "2026-11-28".into(),
        status: Status::Recommended,
    }
}
