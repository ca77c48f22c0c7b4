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
//! let (a, b) = (client.encrypt(&Plain::scalar(u4, 9)?)?, client.encrypt(&Plain::scalar(u4, 5)?)?);
//!
//! let server = Server::new(&server_key, Some(2))?;
//! let program = Program::from_op("add", &[u4, u4])?;
//! let sum = server.run(Work::program(&program, &[a, b]), &Control::default())?;
//! assert_eq!(client.decrypt(&sum[0])?.to_strings(), ["14"]);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(
    not(feature = "all"),
    allow(dead_code, unused_imports, reason = "a build without some schemes does not use all that they share")
)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

#[cfg(feature = "arithmetic")]
mod arithmetic;
mod ciphertext;
mod cost;
mod cost_model;
mod device;
mod devices;
mod disk;
mod engine;
mod error;
mod error_kind;
mod estimate;
mod facts;
mod form;
#[cfg(feature = "gh")]
mod gh;
mod info;
mod job;
mod keys;
#[cfg(feature = "leveled")]
mod leveled;
mod memory;
mod options;
mod payload;
mod plain;
mod planning;
mod plans;
mod prepared;
mod process;
mod registry;
mod scheme;
mod scheme_name;
mod search;
mod server;
mod tfhe;
mod work;

pub use ciphertext::{Ciphertext, CiphertextFacts};
pub use cost::{cost, cost_under};
pub use cost_model::{CostModel, UnknownModel};
pub use devices::{GpuInfo, GpuList, check_device, device_name, gpus};
pub use error::Error;
pub use error_kind::ErrorKind;
pub use estimate::Estimate;
pub use facts::{BenchCases, Capabilities, Column, ParamsTable};
pub use form::{Condition, Form};
pub use info::{ParamsInfo, size};
pub use job::{Job, caught};
pub use keys::{ClientKey, EncryptionKey, PublicKey, ServerKey, keygen};
pub use memory::budget as memory_budget;
pub use options::{KeygenOptions, ServerOptions};
pub use plain::Plain;
pub use planning::limit_planning;
pub use plans::{Plan, Position, Ran, RunState};
pub use prepared::{Batches, LaneBatch, PrepareOptions, Prepared, StepSchedule};
pub use process::{on_pool, start_threads};
pub use registry::{param_names, params, schemes};
pub use scheme_name::Scheme;
#[cfg(feature = "bgv")]
pub use search::smallest_bgv;
pub use search::{FoundParams, KeyDistribution, ParamsRequest};
pub use server::Server;
pub use solinas_circuits::program::{self, Program, ProgramBuilder, Type};
pub use solinas_circuits::{Help, Natural, Netlist, build, export, import};
pub use solinas_formats::{Fingerprint, KeyId, NoFingerprint, Summary, inspect, write_text};
pub use solinas_schemes::DeviceName;
pub use solinas_schemes::{Control, Progress, ProgressParts};
pub use work::{Input, Inputs, Work};
