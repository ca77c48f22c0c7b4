//! A sealed-bid auction on an encrypted array: `cargo run --release --example auction`.
//!
//! The server finds the highest bid and the number of its bidder without seeing a bid. Of equal highest bids, the last one wins.

use solinas::{EncryptedArray, Server};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let (client, server_key) = solinas::generate_keys()?;
    let bids = client.encrypt(&vec![2100u16, 3300, 1250, 3150])?;
    let price = bids.max().ok_or("there is no bid")?;
    let numbered = bids.iter().zip(1u8..);
    let winners: EncryptedArray<u8> = numbered.map(|(bid, number)| bid.eq(&price).select(number, 0)).collect();
    let winner = winners.max().ok_or("there is no bid")?;
    let server = Server::new(&server_key)?;
    let result = client.decrypt(server.run((price, winner))?)?;
    assert_eq!(result, (3300, 2));
    println!("{result:?}");
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn Error>> {
    main()
}
