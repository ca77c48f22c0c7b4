//! The service of Solinas: it keeps server keys and ciphertexts, computes jobs on them, and speaks HTTP.
//!
//! A [`Worker`] computes jobs of a service on another machine.
//!
//! This crate has transport, storage and authentication. What is computed, and how, is in `solinas-runtime`. The service holds no secret key and refuses
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

mod api;
mod app;
mod audit;
mod auth;
mod coarse;
mod config;
mod database;
mod distant;
mod error;
mod fair;
#[doc(hidden)]
pub mod fuzz;
mod id;
mod leases;
mod listen;
mod live;
mod local;
mod lock;
mod message;
mod metrics;
mod outbound;
mod periods;
mod prepared;
mod rate;
mod rates;
mod result;
mod run;
mod service;
mod shares;
mod shelf;
mod source;
mod spec;
mod stop;
mod store;
mod task;
mod time;
mod timeline;
mod tls;
mod turns;
mod web;
mod worker;
mod writers;

pub use auth::{Client, MutualTls, OidcSettings};
pub use config::{Config, Limits};
pub use database::Database;
pub use distant::{Worker, WorkerConfig, WorkerNews};
pub use error::Error;
pub use id::{BadId, Scope, Tenant, Token};
pub use service::Service;
pub use store::{Checked, Contents, Moved, Store, TokenInfo};
pub use tls::TlsFiles;
pub use web::WebPage;
