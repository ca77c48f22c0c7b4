//! Jobs that Python waits for, watches and stops.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyTimeoutError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use solinas_engine::{Ciphertext, Error, Job, Progress};

use crate::ciphertext::PyCiphertext;
use crate::error::Failure;

/// How often a waiting call looks for Ctrl-C.
const TICK: Duration = Duration::from_millis(20);

/// How long a cancelled job may take to end.
const GRACE: Duration = Duration::from_secs(3);

/// Waits, without the interpreter's lock, until the work is done. `watch` gets (done, total) from time to time.
///
/// # Errors
/// In a process that was forked meanwhile; `TimeoutError` after `timeout` seconds; what a signal handler or `watch` raises, after cancelling the work.
pub(crate) fn wait<T: Send>(
    job: &Job<T, Failure>,
    py: Python<'_>,
    timeout: Option<f64>,
    watch: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    // Absent also where the timeout is too long for a clock: that is for ever.
    let deadline = timeout
        .and_then(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).ok())
        .and_then(|timeout| Instant::now().checked_add(timeout));
    let mut seen = None;
    if job.is_forked() && !job.is_done() {
        return Err(Failure::from(Error::Forked).into());
    }
    loop {
        let limit = deadline.map_or(TICK, |deadline| deadline.saturating_duration_since(Instant::now()));
        let done = py.detach(|| job.wait_timeout(TICK.min(limit)));
        // There is no progress before the steps are counted.
        let now = progress(job);
        let heard = py.check_signals().and_then(|()| match watch {
            Some(watch) if now.1 > 0 && seen.replace(now) != Some(now) => watch.call1(now).map(drop),
            _ => Ok(()),
        });
        heard.inspect_err(|_| {
            job.cancel();
            // A job on a service is cancelled there before the process ends.
            py.detach(|| job.wait_timeout(GRACE));
        })?;
        if done {
            return Ok(());
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            let (done, total) = progress(job);
            return Err(PyTimeoutError::new_err(format!(
                "not done in time ({done} of {total} steps); call result() again, or cancel()"
            )));
        }
    }
}

/// Steps done and steps in all.
fn progress<T>(job: &Job<T, Failure>) -> (u64, u64) {
    let Progress { done, total, .. } = job.progress();
    (done, total)
}

/// A computation on a server.
#[pyclass(module = "solinas._core", name = "Job", frozen)]
pub(crate) struct PyJob {
    job: Job<Vec<Ciphertext>, Failure>,
    /// The result, or the error, for any number of callers.
    result: PyOnceLock<PyResult<Vec<Py<PyCiphertext>>>>,
    ids: Ids,
}

/// The identities of the jobs that a service has for a computation, from the first on.
#[derive(Clone, Default)]
pub(crate) struct Ids(Arc<Mutex<Vec<String>>>);

impl Ids {
    pub(crate) fn add(&self, id: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(id.to_owned());
    }
}

impl PyJob {
    pub(crate) fn new(job: Job<Vec<Ciphertext>, Failure>) -> Self {
        Self::on_service(job, Ids::default())
    }

    pub(crate) const fn on_service(job: Job<Vec<Ciphertext>, Failure>, ids: Ids) -> Self {
        Self { job, result: PyOnceLock::new(), ids }
    }

    fn take(&self, py: Python<'_>) -> PyResult<Vec<Py<PyCiphertext>>> {
        self.job.take()?.into_iter().map(|output| Py::new(py, PyCiphertext::from(output))).collect()
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
        wait(&self.job, py, timeout, watch)?;
        match self.result.get_or_init(py, || self.take(py)) {
            Ok(outputs) => Ok(outputs.iter().map(|output| output.clone_ref(py)).collect()),
            Err(error) => Err(error.clone_ref(py)),
        }
    }

    /// Whether a result or an error is there.
    fn done(&self) -> bool {
        self.job.is_done() || self.job.is_forked()
    }

    /// Asks it to stop after the batch in flight.
    fn cancel(&self) {
        self.job.cancel();
    }

    /// The identities of the jobs on a service, as far as they were submitted.
    #[getter]
    fn ids(&self) -> Vec<String> {
        self.ids.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Steps done and steps in all: bootstraps, or under `gh` recrypts (products where there are none).
    fn progress(&self) -> (u64, u64) {
        progress(&self.job)
    }
}
