//! The client of a Solinas service.
//!
//! A [`Remote`] is a service and a token. It registers server keys, and starts jobs on ciphertexts. Calls block. Requests that fail for a reason that may
//! pass (a lost connection, a service that is busy or restarts) are sent again, with pauses that grow. A job has one Idempotency-Key for all its requests,
//! so that it never starts twice. A file of more than 8 MiB is sent in parts, and continues where a lost connection left it.
//!
//! ```no_run
//! use solinas_client::{JobRequest, Remote, Trust};
//! use solinas_values::{Ciphertext, Control};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let remote = Remote::connect("http://127.0.0.1:7470", "slk_...", &Trust::default())?;
//! let key = remote.register(&std::fs::read("server.key")?)?.key_id;
//! let inputs = [std::fs::read("a.ct")?.into(), std::fs::read("b.ct")?.into()];
//! let job = remote.submit(&JobRequest::new(std::fs::read_to_string("f.json")?), &key, &inputs)?;
//! for (result, name) in job.wait(&Control::default())?.iter().zip(["c.ct"]) {
//!     Ciphertext::from_bytes(&result.bytes)?.save(name.as_ref())?;
//! }
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod digest;
mod error;
mod http;
mod job;
mod remote;
mod request;
mod upload;

pub use error::{Error, Problem};
pub use http::{Call, Http, Trust};
pub use job::{Fetched, JobState, RemoteJob};
pub use remote::{Cost, Input, Registered, Remote};
pub use request::JobRequest;
