//! A client and a server that exchange files: `cargo run --release --example remote`.
//!
//! The client writes `server.key`, `age.ct` and `dose.ct`. The author of the program writes `risk.json`. The server reads these four and
//! writes `result.ct`. It never reads `client.key`.

use solinas::{ClientKey, Encrypted, Program, Result, Server, ServerKey, keygen};
use std::error::Error;
use std::path::Path;
use std::time::Duration;

type Risk = Program<(Encrypted<u32>, Encrypted<u32>), Encrypted<u32>>;

fn client(folder: &Path) -> Result<()> {
    let (client, server_key) = keygen("tfhe").run()?;
    client.save(folder.join("client.key"))?;
    server_key.save(folder.join("server.key"))?;
    client.encrypt(70u32)?.save(folder.join("age.ct"))?;
    client.encrypt(3u32)?.save(folder.join("dose.ct"))
}

fn author(folder: &Path) -> Result<()> {
    Risk::record(|(age, dose)| age.gt(60).select(&age * &dose, &dose * 2))?.save(folder.join("risk.json"))
}

fn server(folder: &Path) -> Result<()> {
    let risk = Risk::load(folder.join("risk.json"))?;
    let server = Server::new(&ServerKey::load(folder.join("server.key"))?)?;
    let inputs = (Encrypted::load(folder.join("age.ct"))?, Encrypted::load(folder.join("dose.ct"))?);
    let work = server.prepare(risk.call(inputs))?;
    println!("about {:.1} s", work.estimate()?.seconds);
    let job = work.start()?;
    while !job.wait_timeout(Duration::from_millis(200)) {
        println!("{} of {}", job.progress().done, job.progress().total);
    }
    job.wait()?.save(folder.join("result.ct"))
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    client(folder.path())?;
    author(folder.path())?;
    server(folder.path())?;
    let key = ClientKey::load(folder.path().join("client.key"))?;
    let result = key.decrypt(Encrypted::<u32>::load(folder.path().join("result.ct"))?)?;
    assert_eq!(result, 210);
    println!("{result}");
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn Error>> {
    main()
}
