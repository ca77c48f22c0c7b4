//! Two integers, a comparison and a selection: `cargo run --release --example integers`.

use solinas::{Result, Server};

fn main() -> Result<()> {
    let (client, server_key) = solinas::generate_keys()?;
    let a = client.encrypt(1344u32)?;
    let b = client.encrypt(5u32)?;
    let larger = a.gt(&b).select(&a * &b, &a + &b);
    let small = (&larger % 256).cast::<u8>().min(7);
    let server = Server::new(&server_key)?;
    let (larger, small) = server.run((larger, small))?;
    println!("{} {}", client.decrypt(&larger)?, client.decrypt(&small)?);
    Ok(())
}
