//! A weighted sum of a thousand prices, which share one ciphertext: `cargo run --release --example vectors`.

use solinas::{Mod, Result, Server, keygen};

fn main() -> Result<()> {
    let (client, server_key) = keygen("bgv").params("slots128-8192-3").run()?;
    let prices: Vec<Mod<65537>> = (1..=1000).map(Mod).collect();
    let x = client.encrypt(&prices)?;
    let weights = client.encrypt(vec![Mod(3); 1000])?;
    let server = Server::new(&server_key)?;
    let sums = client.decrypt(server.run((x.sum(), x.dot(&weights)))?)?;
    assert_eq!(sums, (Mod(500_500), Mod(3 * 500_500)));
    println!("{sums:?}");
    Ok(())
}

#[test]
fn runs() -> Result<()> {
    main()
}
