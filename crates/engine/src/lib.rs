//! Runs circuits and programs on encrypted data: the one place where circuits, schemes and substrates meet. It re-exports what users need of
//! `solinas-values`: keys, ciphertexts and their files.
//!
//! A client makes keys ([`keygen`]), encrypts and decrypts ([`ClientKey`]); a server ([`Server`]) holds a [`ServerKey`], which is public,
//! and runs typed programs or gate circuits on ciphertexts.
//!
//! ```
//! use solinas_engine::{Control, KeygenOptions, Plain, Program, Server, Type, Work, keygen};
//! # fn main() -> Result<(), solinas_engine::Error> {
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
mod cost;
mod cost_model;
mod device;
mod devices;
mod engine;
mod entry;
mod estimate;
#[cfg(feature = "gh")]
mod gh;
mod job;
#[cfg(feature = "leveled")]
mod leveled;
mod need;
mod options;
mod planning;
mod plans;
mod prepared;
mod registry;
mod server;
mod tfhe;
mod work;

pub use cost::{cost, cost_under};
pub use cost_model::CostModel;
pub use devices::{GpuInfo, GpuList, check_device, device_name, gpus};
pub use estimate::Estimate;
pub use job::{Job, caught};
pub use options::ServerOptions;
pub use planning::limit_planning;
pub use plans::{Plan, Position, Ran, RunState};
pub use prepared::{Batches, LaneBatch, PrepareOptions, Prepared, StepSchedule};
pub use server::Server;
pub use solinas_circuits::{Netlist, build, export, import};
pub use solinas_schemes::DeviceName;
#[cfg(feature = "bgv")]
pub use solinas_values::smallest_bgv;
pub use solinas_values::{
    BenchCases, Capabilities, Ciphertext, CiphertextFacts, ClientKey, Column, Condition, Control, EncryptionKey, Error,
    ErrorKind, Fingerprint, Form, FoundParams, Help, KeyDistribution, KeyId, KeygenOptions, Natural, NoFingerprint,
    ParamsInfo, ParamsRequest, ParamsTable, Plain, Program, ProgramBuilder, Progress, ProgressParts, PublicKey, Scheme,
    ServerKey, Summary, Type, inspect, keygen, memory_budget, on_pool, param_names, params, program, schemes, size,
    start_threads, write_text,
};
pub use work::{Input, Inputs, Work};
