//! Arithmetic modulo one number.

mod barrett;
mod form;

pub use barrett::{Barrett, Operand, Workspace};
pub use form::Form;
