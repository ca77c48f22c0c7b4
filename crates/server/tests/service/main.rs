//! Tests of the service over HTTP, as a client sees it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod audits;
mod backup;
#[path = "../../../circuits/tests/common/cases.rs"]
mod cases;
mod cluster;
mod computation;
mod everywhere;
mod harness;
mod issuer;
mod jobs;
mod kills;
mod limits;
mod mutual_tls;
mod neighbours;
mod oidc;
mod parts;
mod postgresql;
mod private_programs;
mod quota;
mod recovery;
mod reductions;
mod routes;
mod tenants;
mod uploads;
mod work;
mod workers;
