//! What all parts of a running service share.

use crate::auth::Oidc;
use crate::config::Config;
use crate::error::{Error, Problem};
use crate::id::{Id, Tenant};
use crate::jobs::fair::Shares;
use crate::jobs::prepared::PreparedKeys;
use crate::jobs::progress::{JobKey, LiveProgress};
use crate::jobs::rate::Rate;
use crate::jobs::semaphore::TenantSemaphore;
use crate::jobs::shares::{Bodies, JobMemory};
use crate::jobs::writers::Writers;
use crate::lock::lock;
use crate::metrics::Metrics;
use crate::store::Store;
use solinas_engine::ServerOptions;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Submissions that are checked and planned at a time, one of each tenant.
const PLANNERS: usize = 2;
/// Uploads of a tenant at a time.
const UPLOADS_EACH: usize = 8;

/// How long a worker on another machine counts after it was last heard.
const SEEN: Duration = Duration::from_secs(60);
/// The most workers that are counted.
const WORKERS: usize = 10_000;

/// A running service.
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) store: Store,
    /// What checks the tokens of an issuer, if the settings name one.
    pub(crate) oidc: Option<Arc<Oidc>>,
    pub(crate) live: Arc<LiveProgress>,
    pub(crate) prepared: PreparedKeys,
    pub(crate) job_memory: JobMemory,
    /// The bodies of requests in memory.
    pub(crate) bodies: Arc<Bodies>,
    pub(crate) metrics: Metrics,
    pub(crate) shares: Mutex<Shares>,
    /// Core-milliseconds of a unit of effort, for each tenant and parameter set.
    pub(crate) rates: Mutex<BTreeMap<(Tenant, String), Rate>>,
    /// Flags that cancel the jobs that run.
    pub(crate) running: Mutex<BTreeMap<JobKey, Arc<AtomicBool>>>,
    /// Whether it stops. Streams wait for it.
    stopping: watch::Sender<bool>,
    /// Wakes the worker of the service.
    work: (Mutex<bool>, Condvar),
    /// Wakes the requests of workers on other machines.
    arrivals: watch::Sender<u64>,
    /// Workers on other machines, with their threads and the time when they were last heard.
    workers: Mutex<BTreeMap<Id, (usize, Instant)>>,
    /// Reads and plans programs.
    pub(crate) planners: TenantSemaphore,
    pub(crate) uploads: TenantSemaphore,
    /// Who writes to an upload.
    pub(crate) writers: Writers,
}

impl App {
    pub(crate) fn new(config: Config, store: Store, oidc: Option<Oidc>) -> Self {
        let uploads = TenantSemaphore::new(config.limits.uploads, UPLOADS_EACH);
        let metrics = Metrics::new(config.threads(), config.limits.disk_reserve_bytes);
        let job_memory = JobMemory::of(config.limits.job_memory_bytes);
        solinas_engine::limit_planning(job_memory.plan());
        let bodies = Arc::new(Bodies::new(config.limits.program_bytes.max(config.limits.json_bytes)));
        Self {
            config,
            store,
            oidc: oidc.map(Arc::new),
            live: Arc::default(),
            prepared: PreparedKeys::default(),
            job_memory,
            bodies,
            metrics,
            shares: Mutex::default(),
            rates: Mutex::default(),
            running: Mutex::default(),
            stopping: watch::Sender::new(false),
            work: Default::default(),
            arrivals: watch::Sender::default(),
            workers: Mutex::default(),
            planners: TenantSemaphore::new(PLANNERS, 1),
            uploads,
            writers: Writers::default(),
        }
    }

    /// Options of the server of a key.
    pub(crate) fn server_options(&self) -> ServerOptions {
        let Config { threads, device, .. } = &self.config;
        let run_memory = Some(self.job_memory.run());
        ServerOptions { threads: *threads, device: device.clone(), run_memory, ..ServerOptions::default() }
    }

    /// Threads of the worker of the service, and for plans.
    pub(crate) fn threads(&self) -> usize {
        self.config.threads()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Waits until the service stops.
    pub(crate) async fn stopped(&self) {
        let mut stopping = self.stopping.subscribe();
        // The sender lives as long as this value.
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }

    /// Takes no more work, and asks the running job to pause.
    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
        self.wake();
    }

    /// Tells the workers that there may be work.
    pub(crate) fn wake(&self) {
        self.arrivals.send_modify(|count| *count += 1);
        *lock(&self.work.0) = true;
        self.work.1.notify_all();
    }

    /// Waits for work, for at most a second: the records in the database decide, not this signal.
    pub(crate) fn wait_for_work(&self) {
        let woken = lock(&self.work.0);
        let wait = self.work.1.wait_timeout_while(woken, Duration::from_secs(1), |woken| !*woken);
        *wait.unwrap_or_else(PoisonError::into_inner).0 = false;
    }

    /// Hears when there may be work.
    pub(crate) fn arrivals(&self) -> watch::Receiver<u64> {
        self.arrivals.subscribe()
    }

    /// Notes that a worker on another machine was heard.
    pub(crate) fn heard(&self, worker: Id, threads: usize) {
        let mut workers = lock(&self.workers);
        workers.retain(|_, (_, heard)| heard.elapsed() < SEEN);
        if workers.len() < WORKERS {
            workers.insert(worker, (threads, Instant::now()));
        }
    }

    /// The number of workers on other machines that were heard lately, and all their threads.
    pub(crate) fn workers(&self) -> (usize, usize) {
        let workers = lock(&self.workers);
        let heard = workers.values().filter(|(_, heard)| heard.elapsed() < SEEN);
        heard.fold((0, 0), |(count, all), (threads, _)| (count + 1, all + threads))
    }

    /// Whether another worker than this one computes jobs. None is the worker of the service.
    pub(crate) fn has_others(&self, worker: Option<Id>) -> bool {
        let is_other = |(id, (_, heard)): (&Id, &(usize, Instant))| Some(*id) != worker && heard.elapsed() < SEEN;
        (worker.is_some() && self.config.local_worker) || lock(&self.workers).iter().any(is_other)
    }

    /// Threads that compute, on all machines. It is at least 1, because queues are measured by it.
    pub(crate) fn capacity(&self) -> usize {
        let own = if self.config.local_worker { self.threads() } else { 0 };
        (own + self.workers().1).max(1)
    }

    /// Asks a running job to stop. Nothing else waits for its end.
    pub(crate) fn interrupt(&self, job: &JobKey) {
        if let Some(flag) = lock(&self.running).get(job) {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Asks every running job to stop. They wait again.
    pub(crate) fn interrupt_all(&self) {
        lock(&self.running).values().for_each(|flag| flag.store(true, Ordering::Relaxed));
    }

    /// Calls the store, or anything else that blocks, outside of the threads of requests.
    pub(crate) async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let app = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || work(&app)).await;
        done.unwrap_or_else(|error| Err(Error::System(error.to_string()).into()))
    }

    /// Free bytes of the disk of the store. If the system does not say, `u64::MAX`.
    pub(crate) fn free_disk(&self) -> u64 {
        #[cfg(unix)]
        if let Ok(disk) = rustix::fs::statvfs(self.store.folder()) {
            return disk.f_bavail.saturating_mul(disk.f_frsize);
        }
        u64::MAX
    }

    /// The most bytes that a tenant stores.
    pub(crate) fn quota(&self, tenant: &Tenant) -> Result<u64, Error> {
        Ok(self.store.quota(tenant)?.stored_bytes.unwrap_or(self.config.limits.stored_bytes))
    }

    /// Counts work of a tenant.
    pub(crate) fn share(&self, tenant: &Tenant, core_ms: i64) {
        lock(&self.shares).count(tenant, core_ms);
    }
}
