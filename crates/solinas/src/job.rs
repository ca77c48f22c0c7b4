//! Work on a thread of its own.

use crate::{Control, Error, Progress, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A computation that runs on a thread of its own. Dropping it does not stop the computation; [`Job::cancel`] does.
pub struct Job<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    finished: Condvar,
    cancel: AtomicBool,
}

struct State<T> {
    progress: Progress,
    outcome: Option<Result<T>>,
}

impl<T> Shared<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send + 'static> Job<T> {
    pub(crate) fn start(work: impl FnOnce(&Control<'_>) -> Result<T> + Send + 'static) -> Result<Self> {
        let state = State { progress: Progress { done: 0, total: 0 }, outcome: None };
        let shared =
            Arc::new(Shared { state: Mutex::new(state), finished: Condvar::new(), cancel: AtomicBool::new(false) });
        let worker = Arc::clone(&shared);
        let run = move || {
            let report = |progress: Progress| worker.state().progress = progress;
            let control = Control { progress: Some(&report), cancel: Some(&worker.cancel) };
            let outcome = catch_unwind(AssertUnwindSafe(|| work(&control)));
            let outcome = outcome.unwrap_or_else(|_| Err(Error::internal("the computation panicked")));
            worker.state().outcome = Some(outcome);
            worker.finished.notify_all();
        };
        let thread = std::thread::Builder::new().name("solinas-job".into()).spawn(run);
        thread.map_err(|error| crate::runtime::Error::Threads { threads: 1, reason: error.to_string() })?;
        Ok(Self { shared })
    }
}

impl<T> Job<T> {
    /// Steps done and steps in all; both are 0 before the first report.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.shared.state().progress
    }

    /// Asks the computation to stop. [`Job::wait`] then ends with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled), unless the
    /// computation was done before.
    pub fn cancel(&self) {
        self.shared.cancel.store(true, Ordering::Relaxed);
    }

    /// Whether a result or an error is there.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.shared.state().outcome.is_some()
    }

    /// Waits until it is done, for at most that time. Returns whether it is done.
    #[must_use]
    pub fn wait_timeout(&self, limit: Duration) -> bool {
        let pending = |state: &mut State<T>| state.outcome.is_none();
        let wait = self.shared.finished.wait_timeout_while(self.shared.state(), limit, pending);
        wait.unwrap_or_else(PoisonError::into_inner).0.outcome.is_some()
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// As [`Server::run`](crate::Server::run); [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    pub fn wait(self) -> Result<T> {
        let pending = |state: &mut State<T>| state.outcome.is_none();
        let wait = self.shared.finished.wait_while(self.shared.state(), pending);
        let outcome = wait.unwrap_or_else(PoisonError::into_inner).outcome.take();
        outcome.unwrap_or_else(|| Err(Error::internal("a job without outcome")))
    }
}

impl<T> std::fmt::Debug for Job<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Progress { done, total } = self.progress();
        f.debug_struct("Job").field("done", &done).field("total", &total).finish_non_exhaustive()
    }
}
