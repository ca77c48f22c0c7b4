//! Runs circuits and programs on encrypted data: the one place where circuits, schemes and substrates meet.
//!
//! A client makes keys ([`keygen`]), encrypts and decrypts ([`ClientKey`]); a server ([`Server`]) holds a [`ServerKey`], which is public,
//! and runs typed programs or gate circuits on ciphertexts.
//!
//! ```
//! use solinas_runtime::{Control, KeygenOptions, Plain, Program, Server, Type, Work, keygen};
//! # fn main() -> Result<(), solinas_runtime::Error> {
//! let options = KeygenOptions { params: Some("gates-40".into()), insecure_seed: Some(1), ..Default::default() };
//! let (client, server_key) = keygen(&options, &Control::default())?;
//! let u4 = Type::Uint(4);
//! let (a, b) = (client.encrypt(&Plain::unsigned(u4, 9)?)?, client.encrypt(&Plain::unsigned(u4, 5)?)?);
//!
//! let server = Server::new(&server_key, Some(2))?;
//! let program = Program::from_op("add", &[u4, u4])?;
//! let sum = server.run(Work::program(&program, &[a, b]), &Control::default())?;
//! assert_eq!(client.decrypt(&sum[0])?.to_strings(), ["14"]);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod arithmetic;
mod bgv;
mod ciphertext;
mod circuit_ports;
mod control;
mod disk;
mod engine;
mod error;
mod error_kind;
mod estimate;
mod facts;
mod gh;
mod info;
mod job;
mod keys;
mod leveled;
mod lwe;
mod memory;
mod ntru;
mod plain;
mod planning;
mod prepared;
mod process;
mod public;
mod registry;
mod scheme;
mod search;
mod server;
mod tfhe;
mod work;

pub use bgv::find_bgv;
pub use ciphertext::{Ciphertext, Condition, Form};
pub use control::ProgressParts;
pub use error::Error;
pub use error_kind::ErrorKind;
pub use estimate::{Estimate, cost, cost_circuit, cost_under, cost_watched};
pub use facts::{BenchCases, Capabilities, Column, ParamsTable};
pub use info::{ParamsInfo, params, size};
pub use job::{Job, caught};
pub use keys::{ClientKey, EncryptionKey, KeygenOptions, ServerKey, keygen};
pub use memory::budget as memory_budget;
pub use plain::Plain;
pub use prepared::Prepared;
pub use process::{PerProcess, start_threads};
pub use registry::{Scheme, schemes};
pub use search::{FoundParams, KeyDistribution, ParamsRequest};
pub use server::{Server, ServerOptions};
pub use solinas_circuits::program::{self, Program, ProgramBuilder, Type};
pub use solinas_circuits::{Netlist, build, export, import};
pub use solinas_formats::{KeyId, Summary, inspect, write_text};
pub use solinas_schemes::{Control, Progress};
pub use work::{Input, Inputs, Work};
