//! The settings of a service. All have defaults; a file in TOML changes them.

use crate::tls::TlsFiles;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The settings of a service.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where it listens. Port 0 takes a free one.
    pub address: SocketAddr,
    /// The folder of the store. It is made if it is missing.
    pub store: PathBuf,
    /// The certificate. Without one, the service speaks HTTP without encryption.
    pub tls: Option<TlsFiles>,
    /// Names by which clients may call it, beside `localhost` and addresses in numbers.
    pub hosts: Vec<String>,
    /// Threads that compute. Defaults to one for each processor.
    pub threads: Option<usize>,
    /// Whether keys for research only and keys from a chosen seed are accepted.
    pub research: bool,
    /// Time between two checkpoints of a job.
    pub checkpoint: Duration,
    /// Whether the service computes jobs itself. Otherwise only workers on other machines do.
    pub local_worker: bool,
    /// Where it listens for workers on other machines, under the same certificate.
    pub work_address: Option<SocketAddr>,
    /// A folder with pages that `solinas report` wrote.
    pub reports: Option<PathBuf>,
    /// Limits.
    pub limits: Limits,
}

impl Config {
    /// The default settings with this folder.
    pub fn new(store: PathBuf) -> Self {
        Self {
            address: SocketAddr::from(([127, 0, 0, 1], 7470)),
            store,
            tls: None,
            hosts: Vec::new(),
            threads: None,
            research: false,
            checkpoint: Duration::from_secs(30),
            local_worker: true,
            work_address: None,
            reports: None,
            limits: Limits::default(),
        }
    }

    /// Threads that compute.
    pub(crate) fn threads(&self) -> usize {
        self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }
}

/// Limits, each with its default. `GET /v1/usage` reports them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes of a request in JSON.
    pub json_bytes: u64,
    /// Bytes of a program.
    pub program_bytes: u64,
    /// Bytes of a blob.
    pub blob_bytes: u64,
    /// Bytes of a server key.
    pub key_bytes: u64,
    /// Bytes of a server key of scheme tfhe.
    pub tfhe_key_bytes: u64,
    /// Bytes that a tenant stores.
    pub stored_bytes: u64,
    /// Inputs of a job.
    pub inputs: usize,
    /// Jobs of a tenant that have not ended.
    pub live_jobs: u64,
    /// Core-seconds of a tenant in a day.
    pub core_seconds_a_day: f64,
    /// Seconds of work that wait at most. While more waits, jobs are refused with 503.
    pub queue_seconds: f64,
    /// Seconds of planning.
    pub planning_seconds: u64,
    /// Connections at a time.
    pub connections: usize,
    /// Uploads at a time.
    pub uploads: usize,
    /// Bytes of prepared keys in memory; without it, a quarter of the memory that is free. Keys in use are never removed.
    pub key_memory_bytes: Option<u64>,
    /// Bytes of the disk that stay free. While fewer are free, uploads are refused with 507.
    pub disk_reserve_bytes: u64,
    /// Days that results are kept, unless the job says otherwise.
    pub result_days: u32,
    /// The most days for which a job may ask.
    pub most_result_days: u32,
    /// Days that keys and ciphertexts without use are kept.
    pub unused_key_days: u32,
    /// As for keys, for ciphertexts.
    pub unused_blob_days: u32,
    /// Hours that the bytes of an upload are kept after the last of them came.
    pub upload_hours: u32,
    /// Seconds that a worker may be silent before another one continues its job.
    pub lease_seconds: u32,
    /// Times that a job may end the process, or fail for want of memory or disk, before it fails.
    pub attempts: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            json_bytes: 1 << 20,
            program_bytes: 16 << 20,
            blob_bytes: 64 << 30,
            key_bytes: 4 << 30,
            tfhe_key_bytes: 64 << 20,
            stored_bytes: 1 << 40,
            inputs: 4096,
            live_jobs: 1000,
            core_seconds_a_day: 1e9,
            queue_seconds: 600.0,
            planning_seconds: 10,
            connections: 4096,
            uploads: 64,
            key_memory_bytes: None,
            disk_reserve_bytes: 1 << 30,
            result_days: 7,
            most_result_days: 90,
            unused_key_days: 90,
            unused_blob_days: 7,
            upload_hours: 24,
            lease_seconds: 30,
            attempts: 5,
        }
    }
}

impl Limits {
    /// Reads limits in TOML. Missing ones have their defaults.
    ///
    /// # Errors
    /// The place of a mistake in the text, or a limit out of its range.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        let limits: Self = toml::from_str(text)?;
        let wrong = |what: &str| Err(serde::de::Error::custom(what));
        if !(1..=1 << 20).contains(&limits.connections) {
            return wrong("connections is a number from 1 to 1048576");
        }
        if !(1..=1 << 16).contains(&limits.uploads) {
            return wrong("uploads is a number from 1 to 65536");
        }
        if !(1..=3600).contains(&limits.lease_seconds) {
            return wrong("lease_seconds is a number from 1 to 3600");
        }
        for (name, value) in
            [("queue_seconds", limits.queue_seconds), ("core_seconds_a_day", limits.core_seconds_a_day)]
        {
            if !value.is_finite() || value < 0.0 {
                return wrong(&format!("{name} is a number from 0 on"));
            }
        }
        Ok(limits)
    }

    /// Bytes of prepared keys in memory.
    pub(crate) fn key_memory(&self) -> u64 {
        self.key_memory_bytes.unwrap_or_else(default_key_memory)
    }
}

/// Bytes of prepared keys in memory, without a setting: a quarter of what is free.
pub(crate) fn default_key_memory() -> u64 {
    // The budget is three quarters of the free memory.
    solinas_runtime::memory_budget().map_or(1 << 30, |budget| budget / 3)
}
