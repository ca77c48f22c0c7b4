//! Programs of the page.

use crate::fault::Fault;
use solinas_values::{Program, Type};

/// The program of one operation.
pub(crate) fn operation(name: &str, types: &[Type]) -> Result<Program, Fault> {
    Ok(Program::from_op(name, types)?)
}

/// A sealed-bid auction of 2 to 32 bidders.
pub(crate) fn auction(bidders: usize, ty: Type) -> Result<Program, Fault> {
    match bidders {
        2..=32 => Ok(Program::auction(bidders, ty)?),
        _ => Err(Fault(format!("an auction has 2 to 32 bidders, not {bidders}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_auction_has_some_bidders() {
        assert!(auction(2, Type::Uint(16)).is_ok() && auction(32, Type::Uint(16)).is_ok());
        for bidders in [0, 1, 33, usize::MAX] {
            assert!(auction(bidders, Type::Uint(16)).is_err());
        }
    }
}
