//! Code that the comparisons with GMP share: the library, operands, and one sweep over the operations at one size.
#![allow(dead_code, reason = "each of the programs that include this uses a part")]
#![allow(clippy::unwrap_used, reason = "a comparison that fails may panic")]

pub(crate) mod gmp;
pub(crate) mod operands;
pub(crate) mod sweep;
