//! A worker on another machine than its service: it leases jobs over HTTP, computes them, and sends the results back.
//!
//! It sees server keys, ciphertexts and programs, and no secret.

mod cache;
mod storage;

use crate::config::default_key_memory;
use crate::error::Error;
use crate::id::Id;
use crate::jobs::message::{Ask, Granted, VERSION};
use crate::jobs::prepared::PreparedKeys;
use crate::jobs::progress::LiveProgress;
use crate::jobs::shares::JobMemory;
use crate::jobs::stop::Stop;
use crate::jobs::storage::{End, Outcome};
use crate::worker::job;
use cache::Cache;
use serde::Serialize;
use serde::de::DeserializeOwned;
use solinas_client::{Call, Error as ClientError, Http, Trust};
use solinas_engine::{Control, DeviceName, ServerOptions, check_device};
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, SendError};
use std::time::{Duration, Instant};
use storage::RemoteStorage;

/// Seconds that a request for a job waits on the service.
const WAIT: u64 = 20;
/// A request for a job without an answer after this time is lost.
const ANSWER: Duration = Duration::from_secs(WAIT + 10);
/// First and longest pause between two tries to reach the service.
const PAUSES: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(30)];
/// Time between two looks at the flag that stops the worker.
const TICK: Duration = Duration::from_millis(50);

/// The settings of a worker.
#[derive(Debug, Clone)]
pub struct WorkerConfig {
    /// The address of the service's listener for workers.
    pub service: String,
    /// A token with the scope `work`.
    pub token: String,
    /// What the worker accepts of the service.
    pub trust: Trust,
    /// The folder for files of jobs. It is made if it is missing.
    pub cache: PathBuf,
    /// The most bytes that stay in the folder after a job.
    pub cache_bytes: u64,
    /// Bytes of prepared keys in memory; without it, a quarter of the memory that is free.
    pub key_memory_bytes: Option<u64>,
    /// Threads that compute. Defaults to one for each processor.
    pub threads: Option<usize>,
    /// The device that computes. Defaults to the variable `SOLINAS_DEVICE`, else to the processor.
    pub device: Option<DeviceName>,
}

/// What a worker tells its user.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkerNews {
    /// The service has answered for the first time.
    Joined,
    /// The service does not answer any more, for this reason.
    Away(String),
    /// The service answers again.
    Back,
    /// A job begins.
    Begins(String),
    /// A job has left this worker: it ended, or it waits for its next turn.
    LeaseEnd(String),
    /// The service continues a job elsewhere, or somebody cancelled it. What was computed of it is lost.
    Lost(String),
}

impl fmt::Display for WorkerNews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Joined => f.write_str("the service has answered; waiting for jobs"),
            Self::Away(reason) => write!(f, "the service is away, and is asked again until it answers: {reason}"),
            Self::Back => f.write_str("the service answers again"),
            Self::Begins(job) => write!(f, "job {job} begins"),
            Self::LeaseEnd(job) => write!(f, "job {job} has left this worker"),
            Self::Lost(job) => write!(f, "the lease of job {job} has ended before its work"),
        }
    }
}

/// A worker, which computes while [`Self::run`] runs.
#[derive(Debug)]
pub struct Worker(Service);

/// The service, as a worker knows it, and what the worker keeps between jobs.
struct Service {
    http: Http,
    worker: Id,
    threads: usize,
    device: DeviceName,
    cache: Cache,
    key_memory: u64,
    job_memory: JobMemory,
    prepared: PreparedKeys,
    live: LiveProgress,
    /// Whether the service has answered, and whether it does now.
    joined: AtomicBool,
    away: AtomicBool,
    /// Whether the last request or run failed for a cause that may pass.
    fails: AtomicBool,
    say: Box<dyn Fn(WorkerNews) + Send + Sync>,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("http", &self.http).field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl Service {
    /// Options of the server of a key.
    fn options(&self) -> ServerOptions {
        let (threads, device) = (Some(self.threads), Some(self.device.clone()));
        ServerOptions { threads, device, run_memory: Some(self.job_memory.run()), ..ServerOptions::default() }
    }
}

impl Worker {
    /// Makes a worker. It sends nothing before [`Self::run`]. `say` hears its news.
    ///
    /// # Errors
    /// [`Error::Service`] for a wrong address; [`Error::CacheInUse`]; from the folder; from the device.
    pub fn new(config: WorkerConfig, say: impl Fn(WorkerNews) + Send + Sync + 'static) -> Result<Self, Error> {
        let http = Http::new(&config.service, &config.token, &config.trust)?;
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self(Service {
            http: http.patience(Duration::ZERO),
            worker: Id::new(),
            threads: config.threads.unwrap_or_else(processors),
            device: check_device(config.device).map_err(|error| Error::Device(Box::new(error)))?,
            cache: Cache::open(&config.cache, config.cache_bytes)?,
            key_memory: config.key_memory_bytes.unwrap_or_else(default_key_memory),
            job_memory: JobMemory::of(None),
            prepared: PreparedKeys::default(),
            live: LiveProgress::default(),
            joined: AtomicBool::default(),
            away: AtomicBool::default(),
            fails: AtomicBool::default(),
            say: Box::new(say),
        }))
    }

    /// Threads that compute.
    pub fn threads(&self) -> usize {
        self.0.threads
    }

    /// The device that computes.
    pub fn device(&self) -> &DeviceName {
        &self.0.device
    }

    /// Computes jobs until `stop` is set. A running job then pauses at its next wave, and its progress goes to the service. While the service is away, it is
    /// asked again and again.
    ///
    /// # Errors
    /// [`Error::Service`] if the service refuses the worker: its token, or its version.
    pub fn run(&self, stop: &AtomicBool) -> Result<(), Error> {
        let mut pause = PAUSES[0];
        while !stop.load(Ordering::Relaxed) {
            let asked = self.0.next(stop);
            self.0.noticed(asked.as_ref().err());
            match asked {
                Ok(Some(granted)) => self.0.work(granted, stop)?,
                Ok(None) => {}
                Err(error) if passes(&error) => self.0.fails.store(true, Ordering::Relaxed),
                Err(error) => return Err(error.into()),
            }
            // Another worker may have the memory or the disk that this one lacks, so it takes no job for a time.
            if self.0.fails.swap(false, Ordering::Relaxed) {
                let end = Instant::now() + pause;
                while !stop.load(Ordering::Relaxed) && Instant::now() < end {
                    std::thread::sleep(TICK);
                }
                pause = (2 * pause).min(PAUSES[1]);
            } else {
                pause = PAUSES[0];
            }
        }
        Ok(())
    }
}

impl Service {
    fn say(&self, news: WorkerNews) {
        (self.say)(news);
    }

    /// Tells the user when the service goes away and comes back.
    fn noticed(&self, error: Option<&ClientError>) {
        match error {
            Some(error) if passes(error) => {
                if !self.away.swap(true, Ordering::Relaxed) {
                    self.say(WorkerNews::Away(error.to_string()));
                }
            }
            // A refusal that ends the worker is no news of a job.
            Some(error) if !is_lost(error) => {}
            _ => {
                let was_away = self.away.swap(false, Ordering::Relaxed);
                match (self.joined.swap(true, Ordering::Relaxed), was_away) {
                    (false, _) => self.say(WorkerNews::Joined),
                    (true, true) => self.say(WorkerNews::Back),
                    (true, false) => {}
                }
            }
        }
    }

    /// Sends a message once. Returns the answer, if it has a body.
    fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        message: &impl Serialize,
        answer: Duration,
    ) -> Result<Option<T>, ClientError> {
        post(&self.http, path, message, answer)
    }

    /// Waits for a job. None if there was none for some time, or if the worker stops.
    fn next(&self, stop: &AtomicBool) -> Result<Option<Granted>, ClientError> {
        let ask = Ask { version: VERSION.to_owned(), worker: self.worker, threads: self.threads, wait: WAIT };
        let (give, take) = mpsc::channel();
        let http = self.http.clone();
        // A stop does not wait for the answer.
        let asking = move || {
            let asked = post::<Granted>(&http, "/internal/leases", &ask, ANSWER);
            if let Err(SendError(Ok(Some(granted)))) = give.send(asked) {
                // Without this, the job waits until its lease runs out.
                let path = format!("/internal/leases/{}/complete", granted.lease);
                let _ = post::<serde_json::Value>(&http, &path, &Outcome::from(End::Paused), ANSWER);
            }
        };
        if let Err(error) = std::thread::Builder::new().name("solinas-ask".into()).spawn(asking) {
            return Err(ClientError::Unreachable { url: self.http.url().to_owned(), reason: error.to_string() });
        }
        loop {
            match take.recv_timeout(TICK) {
                Ok(asked) => return asked,
                Err(RecvTimeoutError::Timeout) if !stop.load(Ordering::Relaxed) => {}
                Err(_) => return Ok(None),
            }
        }
    }

    /// Computes a job, or a part of it.
    fn work(&self, granted: Granted, ends: &AtomicBool) -> Result<(), Error> {
        let stop = Stop::default();
        let remote_storage = RemoteStorage::new(self, granted, &stop, ends);
        let lease = remote_storage.lease()?;
        self.say(WorkerNews::Begins(lease.id.to_string()));
        self.live.begin(&(lease.tenant.clone(), lease.id), lease.timeline.clone());
        job::run(&remote_storage, &lease, &stop);
        self.say(WorkerNews::LeaseEnd(lease.id.to_string()));
        self.cache.trim();
        Ok(())
    }
}

/// Whether the same request may succeed later.
fn passes(error: &ClientError) -> bool {
    error.passes().is_some() || error.status().is_some_and(|status| status >= 500)
}

/// Whether the service refused a request because the lease has ended.
fn is_lost(error: &ClientError) -> bool {
    error.code() == Some("lease_lost")
}

fn post<T: DeserializeOwned>(
    http: &Http,
    path: &str,
    message: &impl Serialize,
    answer: Duration,
) -> Result<Option<T>, ClientError> {
    let foreign =
        |error: serde_json::Error| ClientError::Foreign { url: http.url().to_owned(), reason: error.to_string() };
    let body = serde_json::to_vec(message).map_err(foreign)?;
    let call = Call { method: "POST", body: Some(&body), answer, ..Call::get(path) };
    let answer = http.send_under(&call, &Control::default())?;
    (!answer.is_empty()).then(|| serde_json::from_slice(&answer).map_err(foreign)).transpose()
}
