//! The crate as its users see it. Keys are small and made from seeds, so that a bootstrap takes milliseconds.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arrays;
mod circuits;
mod examples;
mod files;
mod handles;
mod jobs;
mod mixed;
mod operators;

use solinas::{ClientKey, Server, ServerKey, keygen};
use std::sync::OnceLock;

/// Keys of TFHE of a size for tests.
fn keys() -> &'static (ClientKey, ServerKey, Server) {
    static KEYS: OnceLock<(ClientKey, ServerKey, Server)> = OnceLock::new();
    KEYS.get_or_init(|| {
        let (client, key) = keygen("tfhe").params("integers-toy").research().insecure_seed(1).run().unwrap();
        let server = Server::new(&key).unwrap();
        (client, key, server)
    })
}

/// Keys of BGV, whose ciphertexts hold integers modulo 65537.
fn slots() -> &'static (ClientKey, Server) {
    static KEYS: OnceLock<(ClientKey, Server)> = OnceLock::new();
    KEYS.get_or_init(|| {
        let (client, key) = keygen("bgv").params("slots128-8192-3").insecure_seed(2).run().unwrap();
        let server = Server::new(&key).unwrap();
        (client, server)
    })
}
