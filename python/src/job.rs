//! Work on a thread of its own, which Python waits for, watches and stops.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyTimeoutError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use solinas_runtime::{Ciphertext, Control, Error, Progress};

use crate::ciphertext::PyCiphertext;
use crate::error::{Failure, caught};

/// How often a waiting call looks for Ctrl-C.
const TICK: Duration = Duration::from_millis(20);

/// What came of the work.
enum Outcome<T> {
    Awaited,
    There(Result<T, Failure>),
    Taken,
}

impl<T> Outcome<T> {
    const fn is_awaited(&self) -> bool {
        matches!(self, Self::Awaited)
    }
}

/// What the worker and its watchers share.
struct Shared<T> {
    outcome: Mutex<Outcome<T>>,
    finished: Condvar,
    cancel: AtomicBool,
    /// The process whose thread it is.
    process: u32,
    done: AtomicU64,
    total: AtomicU64,
}

/// Work in flight; dropping it does not stop it.
pub(crate) struct Task<T> {
    shared: Arc<Shared<T>>,
}

impl<T: Send + 'static> Task<T> {
    /// Starts `work` on a new thread.
    pub(crate) fn start(
        work: impl FnOnce(&Control<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<Self, Failure> {
        let shared = Arc::new(Shared {
            outcome: Mutex::new(Outcome::Awaited),
            finished: Condvar::new(),
            cancel: AtomicBool::new(false),
            process: std::process::id(),
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
        });
        let worker = Arc::clone(&shared);
        let run = move || {
            let report = |Progress { done, total, .. }: Progress| {
                worker.total.store(total, Ordering::Relaxed);
                worker.done.fetch_max(done, Ordering::Relaxed);
            };
            let control = Control { progress: Some(&report), cancel: Some(&worker.cancel) };
            let outcome = caught(|| work(&control));
            *worker.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Outcome::There(outcome);
            worker.finished.notify_all();
        };
        let thread = std::thread::Builder::new().name("solinas-job".to_owned()).spawn(run);
        thread.map_err(|error| Failure::from(Error::Threads { threads: 1, reason: error.to_string() }))?;
        Ok(Self { shared })
    }

    /// Asks the work to stop.
    pub(crate) fn cancel(&self) {
        self.shared.cancel.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_done(&self) -> bool {
        !self.shared.outcome.lock().unwrap_or_else(PoisonError::into_inner).is_awaited()
    }

    /// Whether another process works on it, of which this one is a fork.
    pub(crate) fn is_forked(&self) -> bool {
        self.shared.process != std::process::id()
    }

    /// Parts done and parts in all.
    pub(crate) fn progress(&self) -> (u64, u64) {
        (self.shared.done.load(Ordering::Relaxed), self.shared.total.load(Ordering::Relaxed))
    }

    /// Waits at most one tick; whether the work is done.
    fn tick(&self, limit: Duration) -> bool {
        let outcome = self.shared.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = self.shared.finished.wait_timeout_while(outcome, TICK.min(limit), |outcome| outcome.is_awaited());
        !wait.unwrap_or_else(PoisonError::into_inner).0.is_awaited()
    }

    /// Waits, without the interpreter's lock, until the work is done. `watch` gets (done, total) from time to time.
    ///
    /// # Errors
    /// In a process that was forked meanwhile; `TimeoutError` after `timeout` seconds; what a signal handler or `watch` raises, after cancelling the work.
    pub(crate) fn wait(&self, py: Python<'_>, timeout: Option<f64>, watch: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        // Absent also where the timeout is too long for a clock: that is for ever.
        let deadline = timeout
            .and_then(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).ok())
            .and_then(|timeout| Instant::now().checked_add(timeout));
        let mut seen = None;
        if self.is_forked() && !self.is_done() {
            return Err(Failure::Forked.into());
        }
        loop {
            let limit = deadline.map_or(TICK, |deadline| deadline.saturating_duration_since(Instant::now()));
            let done = py.detach(|| self.tick(limit));
            let heard = py.check_signals().and_then(|()| match watch {
                Some(watch) if seen.replace(self.progress()) != Some(self.progress()) => {
                    watch.call1(self.progress()).map(drop)
                }
                _ => Ok(()),
            });
            heard.inspect_err(|_| self.cancel())?;
            if done {
                return Ok(());
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                let (done, total) = self.progress();
                return Err(PyTimeoutError::new_err(format!(
                    "not done in time ({done} of {total} steps); call result() again, or cancel()"
                )));
            }
        }
    }

    /// Takes the outcome of work that is done.
    ///
    /// # Errors
    /// What the work failed with.
    pub(crate) fn take(&self) -> Result<T, Failure> {
        let mut outcome = self.shared.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *outcome, Outcome::Taken) {
            Outcome::There(result) => result,
            Outcome::Awaited | Outcome::Taken => Err(Failure::Internal("a job's result is not there".to_owned())),
        }
    }
}

/// A computation on a server.
#[pyclass(module = "solinas._core", name = "Job", frozen)]
pub(crate) struct PyJob {
    task: Task<Vec<Ciphertext>>,
    /// The result, or the error, for any number of callers.
    result: PyOnceLock<PyResult<Vec<Py<PyCiphertext>>>>,
}

impl PyJob {
    pub(crate) const fn new(task: Task<Vec<Ciphertext>>) -> Self {
        Self { task, result: PyOnceLock::new() }
    }

    fn take(&self, py: Python<'_>) -> PyResult<Vec<Py<PyCiphertext>>> {
        self.task.take()?.into_iter().map(|output| Py::new(py, PyCiphertext::from(output))).collect()
    }
}

#[pymethods]
impl PyJob {
    /// Waits for the outputs.
    #[pyo3(signature = (timeout=None, watch=None))]
    fn result(
        &self,
        py: Python<'_>,
        timeout: Option<f64>,
        watch: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Py<PyCiphertext>>> {
        self.task.wait(py, timeout, watch)?;
        match self.result.get_or_init(py, || self.take(py)) {
            Ok(outputs) => Ok(outputs.iter().map(|output| output.clone_ref(py)).collect()),
            Err(error) => Err(error.clone_ref(py)),
        }
    }

    /// Whether a result or an error is there.
    fn done(&self) -> bool {
        self.task.is_done() || self.task.is_forked()
    }

    /// Asks it to stop after the batch in flight.
    fn cancel(&self) {
        self.task.cancel();
    }

    /// Steps done and steps in all: bootstraps, or under `gh` recrypts (products where there are none).
    fn progress(&self) -> (u64, u64) {
        self.task.progress()
    }
}
