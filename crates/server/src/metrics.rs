//! Counters of the service, in the text format of Prometheus. No label names a tenant.

use crate::time;
use prometheus_client::encoding::prometheus_text::encode;
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

/// A path of requests, as its pattern.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Route {
    pub(crate) route: String,
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

/// How a job ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ending {
    Succeeded,
    /// The service could not compute it.
    Failed,
    /// It passed its deadline or its budget.
    Limit,
    Cancelled,
}

impl Ending {
    const ALL: [Self; 4] = [Self::Succeeded, Self::Failed, Self::Limit, Self::Cancelled];

    const fn label(self) -> Ended {
        Ended {
            end: match self {
                Self::Succeeded => "succeeded",
                Self::Failed => "failed",
                Self::Limit => "limit",
                Self::Cancelled => "cancelled",
            },
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Ended {
    end: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Build {
    pub(crate) version: &'static str,
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
    pub(crate) http_seconds: Family<Route, Histogram>,
    pub(crate) shed: Family<Shed, Counter>,
    pub(crate) jobs: Family<InState, Gauge>,
    ended: Family<Ended, Counter>,
    pub(crate) oldest_job_seconds: Gauge<f64, AtomicU64>,
    pub(crate) queue_core_seconds: Gauge<f64, AtomicU64>,
    pub(crate) bootstraps: Family<Under, Counter>,
    pub(crate) bootstrap_core_seconds: Family<Under, Counter<f64, AtomicU64>>,
    pub(crate) job_wait_seconds: Histogram,
    pub(crate) job_run_seconds: Histogram,
    pub(crate) estimate_ratio: Histogram,
    pub(crate) leases_lost: Counter,
    pub(crate) attempts: Counter,
    pub(crate) retries: Counter,
    pub(crate) audited_runs: Counter,
    pub(crate) divergent_results: Counter,
    pub(crate) keys_prepared: Gauge,
    pub(crate) key_evictions: Counter,
    pub(crate) blob_bytes: Gauge,
    pub(crate) disk_free_bytes: Gauge,
    pub(crate) ready: Gauge,
    pub(crate) workers: Gauge,
}

/// The times of jobs and requests, from a hundredth of a second to six hours.
fn seconds() -> Histogram {
    Histogram::new([0.01, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0, 600.0, 3600.0, 21600.0])
}

impl Metrics {
    /// `reserve` is the number of bytes of the disk that stay free.
    pub(crate) fn new(threads: usize, reserve: u64) -> Self {
        let mut all = Self {
            registry: Registry::with_prefix("solinas"),
            requests: Family::default(),
            http_seconds: Family::new_with_constructor(seconds),
            shed: Family::default(),
            jobs: Family::default(),
            ended: Family::default(),
            oldest_job_seconds: Gauge::default(),
            queue_core_seconds: Gauge::default(),
            bootstraps: Family::default(),
            bootstrap_core_seconds: Family::default(),
            job_wait_seconds: seconds(),
            job_run_seconds: seconds(),
            estimate_ratio: Histogram::new([0.5, 0.7, 0.9, 1.1, 1.4, 2.0, 4.0]),
            leases_lost: Counter::default(),
            attempts: Counter::default(),
            retries: Counter::default(),
            audited_runs: Counter::default(),
            divergent_results: Counter::default(),
            keys_prepared: Gauge::default(),
            key_evictions: Counter::default(),
            blob_bytes: Gauge::default(),
            disk_free_bytes: Gauge::default(),
            ready: Gauge::default(),
            workers: Gauge::default(),
        };
        // A counter that appears with its first event hides this event from `increase`.
        for end in Ending::ALL {
            all.ended.get_or_create(&end.label()).inc_by(0);
        }
        for why in [Why::Quota, Why::Queue] {
            all.shed.get_or_create(&Shed { why }).inc_by(0);
        }
        let build = Family::<Build, Gauge>::default();
        build.get_or_create(&Build { version: env!("CARGO_PKG_VERSION") }).set(1);
        let constant = |value: i64| {
            let gauge = Gauge::<i64>::default();
            gauge.set(value);
            gauge
        };
        let registry = &mut all.registry;
        registry.register("build_info", "The version of the service", build);
        let start = constant(time::now() / time::SECOND);
        registry.register("start_time_seconds", "When the service started, in seconds since 1970", start);
        registry.register("ready", "1 if the service takes work", all.ready.clone());
        registry.register("threads", "Threads that compute", constant(threads as i64));
        registry.register(
            "workers",
            "Workers on other machines that were heard in the last minute",
            all.workers.clone(),
        );
        registry.register("http_requests", "Requests", all.requests.clone());
        registry.register("http_seconds", "From a request to the head of its answer", all.http_seconds.clone());
        registry.register("shed", "Jobs that were refused for now", all.shed.clone());
        registry.register("jobs", "Jobs in each state", all.jobs.clone());
        registry.register("jobs_ended", "Jobs that ended since the start", all.ended.clone());
        let oldest = "Age of the oldest job that has not started";
        registry.register("oldest_job_seconds", oldest, all.oldest_job_seconds.clone());
        registry.register("queue_core_seconds", "Core-seconds that wait", all.queue_core_seconds.clone());
        registry.register("bootstraps", "Bootstraps or recryptions done", all.bootstraps.clone());
        let name = "bootstrap_core_seconds";
        registry.register(name, "Core-seconds of the work done", all.bootstrap_core_seconds.clone());
        registry.register("job_wait_seconds", "From submission to the first start", all.job_wait_seconds.clone());
        registry.register("job_run_seconds", "Computation of a job", all.job_run_seconds.clone());
        registry.register("estimate_ratio", "Seconds of a job over those predicted", all.estimate_ratio.clone());
        registry.register("lease_lost", "Leases that ended before their work", all.leases_lost.clone());
        registry.register("attempts", "Starts of jobs", all.attempts.clone());
        registry.register("retries", "Starts that failed, after which the job waits", all.retries.clone());
        let name = "audited_runs";
        registry.register(name, "Runs whose results were compared with earlier ones", all.audited_runs.clone());
        let name = "divergent_results";
        registry.register(name, "Runs whose results differ from all earlier ones", all.divergent_results.clone());
        registry.register("keys_prepared", "Keys in memory", all.keys_prepared.clone());
        registry.register("key_evictions", "Keys removed from memory", all.key_evictions.clone());
        registry.register("blob_bytes", "Bytes of all blobs", all.blob_bytes.clone());
        let reserve = constant(i64::try_from(reserve).unwrap_or(i64::MAX));
        registry.register("disk_free_bytes", "Free bytes of the disk of the store", all.disk_free_bytes.clone());
        registry.register("disk_reserve_bytes", "Uploads are refused while fewer bytes are free", reserve);
        all
    }

    /// Counts the end of a job.
    pub(crate) fn job_ended(&self, end: Ending) {
        self.ended.get_or_create(&end.label()).inc();
    }

    /// The text of all counters.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // A string takes every write.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
