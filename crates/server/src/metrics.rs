//! Counters of the service, in the text format of Prometheus. No label names a tenant.

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::sync::atomic::AtomicU64;

/// A request: the pattern of its path, and the status of its answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Request {
    pub(crate) route: String,
    pub(crate) status: u16,
}

/// Why a job was refused for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelValue)]
pub(crate) enum Why {
    Quota,
    Queue,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Shed {
    pub(crate) why: Why,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct InState {
    pub(crate) state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Under {
    pub(crate) params: String,
}

/// All counters.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    pub(crate) requests: Family<Request, Counter>,
    pub(crate) shed: Family<Shed, Counter>,
    pub(crate) jobs: Family<InState, Gauge>,
    pub(crate) queue_core_seconds: Gauge<f64, AtomicU64>,
    pub(crate) bootstraps: Family<Under, Counter>,
    pub(crate) bootstrap_core_seconds: Family<Under, Counter<f64, AtomicU64>>,
    pub(crate) job_wait_seconds: Histogram,
    pub(crate) job_run_seconds: Histogram,
    pub(crate) estimate_ratio: Histogram,
    pub(crate) leases_lost: Counter,
    pub(crate) attempts: Counter,
    pub(crate) keys_prepared: Gauge,
    pub(crate) key_evictions: Counter,
    pub(crate) blob_bytes: Gauge,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let seconds = || Histogram::new([0.01, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0, 600.0, 3600.0, 21600.0]);
        let mut all = Self {
            registry: Registry::with_prefix("solinas"),
            requests: Family::default(),
            shed: Family::default(),
            jobs: Family::default(),
            queue_core_seconds: Gauge::default(),
            bootstraps: Family::default(),
            bootstrap_core_seconds: Family::default(),
            job_wait_seconds: seconds(),
            job_run_seconds: seconds(),
            estimate_ratio: Histogram::new([0.5, 0.7, 0.9, 1.1, 1.4, 2.0, 4.0]),
            leases_lost: Counter::default(),
            attempts: Counter::default(),
            keys_prepared: Gauge::default(),
            key_evictions: Counter::default(),
            blob_bytes: Gauge::default(),
        };
        let registry = &mut all.registry;
        registry.register("http_requests", "Requests", all.requests.clone());
        registry.register("shed", "Jobs that were refused for now", all.shed.clone());
        registry.register("jobs", "Jobs in each state", all.jobs.clone());
        registry.register("queue_core_seconds", "Core-seconds that wait", all.queue_core_seconds.clone());
        registry.register("bootstraps", "Bootstraps or recryptions done", all.bootstraps.clone());
        let name = "bootstrap_core_seconds";
        registry.register(name, "Core-seconds of the work done", all.bootstrap_core_seconds.clone());
        registry.register("job_wait_seconds", "From submission to the first start", all.job_wait_seconds.clone());
        registry.register("job_run_seconds", "Computation of a job", all.job_run_seconds.clone());
        registry.register("estimate_ratio", "Seconds of a job over those predicted", all.estimate_ratio.clone());
        registry.register("lease_lost", "Leases that ended before their work", all.leases_lost.clone());
        registry.register("attempts", "Starts of jobs", all.attempts.clone());
        registry.register("keys_prepared", "Keys in memory", all.keys_prepared.clone());
        registry.register("key_evictions", "Keys removed from memory", all.key_evictions.clone());
        registry.register("blob_bytes", "Bytes of all blobs", all.blob_bytes.clone());
        all
    }

    /// The text of all counters.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // A string takes every write.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
