//! The smallest service: `cargo run --example serve FOLDER`. It takes keys for trials, prints its address and the token of a new store, and runs until it is
//! killed. A test kills it.

use solinas_server::{Config, Error, Service, Token};
use std::path::PathBuf;
use std::time::Duration;

fn main() -> Result<(), Error> {
    let folder = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("store"), PathBuf::from);
    let mut config = Config::new(folder);
    config.address.set_port(0);
    config.research = true;
    config.checkpoint = Duration::ZERO;
    config.limits.attempts = 1000;
    config.limits.disk_reserve_bytes = 0;
    let service = Service::start(config)?;
    println!("http://{} {}", service.address(), service.first_token().map_or("-", Token::secret));
    loop {
        std::thread::park();
    }
}
