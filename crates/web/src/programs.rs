//! Programs of the page.

use crate::fault::Fault;
use solinas_runtime::program::Op;
use solinas_runtime::{Program, ProgramBuilder, Type};

/// The program of one operation.
pub(crate) fn operation(name: &str, types: &[Type]) -> Result<Program, Fault> {
    Ok(Program::from_op(name, types)?)
}

/// A sealed-bid auction: the outputs are the highest bid, and the number of its bidder from 0 on. Of equal bids, the first one wins.
///
/// The bids play a tournament. Its rounds are as few as the logarithm of the number of bids, so that many comparisons run side by side.
pub(crate) fn auction(bidders: usize, ty: Type) -> Result<Program, Fault> {
    if !(2..=32).contains(&bidders) {
        return Err(Fault(format!("an auction has 2 to 32 bidders, not {bidders}")));
    }
    let mut program = ProgramBuilder::new();
    let mut round = Vec::new();
    let number = Type::Uint(8);
    for bidder in 0..bidders {
        let bid = program.input(format!("bid{bidder}"), ty)?;
        round.push((bid, program.constant(bidder as u128, number)?));
    }
    while round.len() > 1 {
        let mut next = Vec::with_capacity(round.len().div_ceil(2));
        for pair in round.chunks(2) {
            let &[(bid, bidder), (other_bid, other)] = pair else {
                next.extend_from_slice(pair);
                continue;
            };
            let is_higher = program.op(Op::Gt, &[other_bid, bid])?;
            next.push((
                program.op(Op::Select, &[is_higher, other_bid, bid])?,
                program.op(Op::Select, &[is_higher, other, bidder])?,
            ));
        }
        round = next;
    }
    let (bid, bidder) = round[0];
    program.output("price", bid);
    program.output("winner", bidder);
    Ok(program.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use solinas_runtime::Natural;

    #[test]
    fn the_first_of_the_highest_bids_wins() {
        for bids in [&[1u128, 2][..], &[7, 7, 3], &[0; 5], &[5, 65535, 9, 65535, 1, 2, 3, 65534], &[3; 32]] {
            let program = auction(bids.len(), Type::Uint(16)).unwrap();
            let price = bids.iter().max().copied().unwrap();
            let winner = bids.iter().position(|bid| *bid == price).unwrap();
            assert_eq!(program.evaluate(bids).unwrap(), [Natural::from(price), Natural::from(winner as u128)]);
        }
        for bidders in [0, 1, 33, usize::MAX] {
            assert!(auction(bidders, Type::Uint(16)).is_err());
        }
    }
}
