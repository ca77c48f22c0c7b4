//! A comparison, a selection and a conversion with the crate `solinas`; `theirs.rs` is the same with tfhe-rs.

use solinas::{Result, Server};

fn main() -> Result<()> {
    let (client, server_key) = solinas::generate_keys()?;
    let a = client.encrypt(1344u32)?;
    let b = client.encrypt(5u32)?;
    let larger = a.gt(&b).select(&a * &b, &a + &b);
    let small = (&larger % 256).cast::<u8>().min(7);

    let server = Server::new(&server_key)?;
    let (larger, small) = server.run((larger, small))?;
    let (larger, small) = client.decrypt((larger, small))?;
    assert_eq!((larger, small), (6720, 7));
    println!("{larger} {small}");
    Ok(())
}
