//! Tests of the service over HTTP, as a client sees it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod audits;
mod backup;
mod cluster;
mod everywhere;
mod harness;
mod issuer;
mod jobs;
mod kills;
mod limits;
mod neighbours;
mod quota;
mod mutual_tls;
mod oidc;
mod parts;
mod postgresql;
mod recovery;
mod reductions;
mod routes;
mod tenants;
mod upgrade;
mod uploads;
mod work;
mod workers;
