//! Transforms of long digit sequences in complex doubles, exact by a proven error bound.

mod bound;
mod standin;

pub use bound::{error_bound, max_digit_bits};
pub use standin::{MAX_DIGITS, Plan, Wrap};
