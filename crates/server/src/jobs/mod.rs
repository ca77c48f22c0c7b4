//! Jobs of a running service: what a request asks for, leases, fairness, limits and progress.

pub(crate) mod app;
pub(crate) mod fair;
pub(crate) mod leases;
pub(crate) mod loaded;
pub(crate) mod message;
pub(crate) mod prepared;
pub(crate) mod progress;
pub(crate) mod rate;
pub(crate) mod rates;
pub(crate) mod semaphore;
pub(crate) mod shares;
pub(crate) mod source;
pub(crate) mod spec;
pub(crate) mod stop;
pub(crate) mod storage;
pub(crate) mod writers;
