//! The targets. Each module has the functions `run` and `seeds`.

pub mod bgv_files;
pub mod bigint;
pub mod container;
pub mod files;
pub mod gh_files;
pub mod lease_messages;
mod leveled;
pub mod lwe_files;
pub mod lwe_streams;
pub mod netlist;
pub mod ntru_files;
pub mod program;
pub mod ptx;
pub mod rsa;
