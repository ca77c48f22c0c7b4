//! Two integers, a comparison and a selection: `cargo run --release --example integers`.

use solinas::{Result, Server};

fn main() -> Result<()> {
    let (client, server_key) = solinas::generate_keys()?;
    let (a, b) = (client.encrypt(1344u32)?, client.encrypt(5u32)?);
    let larger = a.gt(&b).select(&a * &b, &a + &b);
    let small = (&larger % 256).cast::<u8>().min(7);
    let server = Server::new(&server_key)?;
    let results = client.decrypt(server.run((larger, small))?)?;
    assert_eq!(results, (6720, 7));
    println!("{results:?}");
    Ok(())
}

#[test]
fn runs() -> Result<()> {
    main()
}
