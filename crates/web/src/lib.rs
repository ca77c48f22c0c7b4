//! The client of the web page: keys, encryption and decryption in a browser. `cargo xtask web` compiles it to WebAssembly.
//!
//! The page's worker (`crates/server/web/worker.js`) sends one [`Request`] after another, and gets an [`Answer`] for each. The secret key stays in the
//! memory of this module.
#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

#[cfg(target_arch = "wasm32")]
mod abi;
mod fault;
mod programs;
mod session;

pub use fault::Fault;
pub use session::{Answer, Request, Session};
