//! The service of Solinas: it keeps server keys and ciphertexts, computes jobs on them, and speaks HTTP.
//!
//! A [`Worker`] computes jobs of a service on another machine.
//!
//! This crate has transport, storage and authentication. What is computed, and how, is in `solinas-engine`. The service holds no secret key and refuses
//! to store one.
//!
//! ```no_run
//! use solinas_server::{Config, Service};
//! # fn main() -> Result<(), solinas_server::Error> {
//! let service = Service::start(Config::new("store".into()))?;
//! println!("http://{}", service.address());
//! service.stop();
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod auth;
mod config;
mod database;
mod error;
#[doc(hidden)]
pub mod fuzz;
mod http;
mod id;
mod jobs;
mod lock;
mod metrics;
mod outbound;
mod service;
mod store;
mod time;
mod tls;
mod worker;

pub use auth::{Client, MutualTls, OidcSettings};
pub use config::{Config, Limits};
pub use database::Database;
pub use error::Error;
pub use http::web::WebPage;
pub use id::{BadId, Scope, Tenant, Token};
pub use service::Service;
pub use store::{Checked, Contents, Moved, Store, TokenInfo};
pub use tls::TlsFiles;
pub use worker::remote::{Worker, WorkerConfig, WorkerNews};
