//! Background jobs. A caller waits for a job, reads its progress, or cancels it.

use crate::{Control, Error, Progress};
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Work that runs on a thread of its own. Dropping it does not stop the work; [`Job::cancel`] does.
pub struct Job<T, E = Error> {
    shared: Arc<Shared<T, E>>,
}

/// State that the thread of a job shares with its callers.
struct Shared<T, E> {
    outcome: Mutex<Outcome<T, E>>,
    finished: Condvar,
    cancel: AtomicBool,
    /// The process that the thread belongs to.
    process: u32,
    done: AtomicU64,
    total: AtomicU64,
}

enum Outcome<T, E> {
    Awaited,
    Ready(Result<T, E>),
    Taken,
}

impl<T, E> Outcome<T, E> {
    const fn is_awaited(&self) -> bool {
        matches!(self, Self::Awaited)
    }
}

impl<T, E> Shared<T, E> {
    fn outcome(&self) -> MutexGuard<'_, Outcome<T, E>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send + 'static, E: From<Error> + Send + 'static> Job<T, E> {
    /// Starts `work` on a new thread. If the work panics, the job ends with [`Error::Internal`].
    ///
    /// # Errors
    /// [`Error::Threads`] if the thread cannot be started.
    pub fn start(work: impl FnOnce(&Control<'_>) -> Result<T, E> + Send + 'static) -> Result<Self, E> {
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
            *worker.outcome() = Outcome::Ready(outcome);
            worker.finished.notify_all();
        };
        let thread = std::thread::Builder::new().name("solinas-job".to_owned()).spawn(run);
        thread.map_err(|error| Error::Threads { threads: 1, reason: error.to_string() })?;
        Ok(Self { shared })
    }
}

impl<T, E> Job<T, E> {
    /// Returns the number of steps done and the total. Both are 0 before the first report, and for work without steps.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Progress { done: read(&self.shared.done), total: read(&self.shared.total), stage: None }
    }

    /// Asks the work to stop after the batch in flight. The job then ends with [`Error::Cancelled`], unless it was done before.
    pub fn cancel(&self) {
        self.shared.cancel.store(true, Ordering::Relaxed);
    }

    /// Whether the work has ended, with a result or an error.
    #[must_use]
    pub fn is_done(&self) -> bool {
        !self.shared.outcome().is_awaited()
    }

    /// Whether the thread belongs to another process, of which this one is a fork. The job never ends in this process.
    #[must_use]
    pub fn is_forked(&self) -> bool {
        self.shared.process != std::process::id()
    }

    /// Waits until the work has ended, for at most that time. Returns whether it has ended.
    #[must_use]
    pub fn wait_timeout(&self, limit: Duration) -> bool {
        let wait =
            self.shared.finished.wait_timeout_while(self.shared.outcome(), limit, |outcome| outcome.is_awaited());
        !wait.unwrap_or_else(PoisonError::into_inner).0.is_awaited()
    }
}

impl<T, E: From<Error>> Job<T, E> {
    /// Takes the outcome of work that has ended. Only the first call gets it.
    ///
    /// # Errors
    /// The error of the work. [`Error::Internal`] if the work has not ended or its outcome was taken before.
    pub fn take(&self) -> Result<T, E> {
        let mut outcome = self.shared.outcome();
        if outcome.is_awaited() {
            return Err(Error::Internal("a job that runs has no result yet".to_owned()).into());
        }
        match std::mem::replace(&mut *outcome, Outcome::Taken) {
            Outcome::Ready(result) => result,
            Outcome::Awaited | Outcome::Taken => {
                Err(Error::Internal("the result of a job was taken before".to_owned()).into())
            }
        }
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// The error of the work. [`Error::Forked`] if the work runs in another process.
    pub fn wait(self) -> Result<T, E> {
        if self.is_forked() && !self.is_done() {
            return Err(Error::Forked.into());
        }
        let wait = self.shared.finished.wait_while(self.shared.outcome(), |outcome| outcome.is_awaited());
        drop(wait);
        self.take()
    }
}

impl<T, E> fmt::Debug for Job<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Progress { done, total, .. } = self.progress();
        f.debug_struct("Job").field("done", &done).field("total", &total).finish_non_exhaustive()
    }
}

/// Runs `work`. A panic becomes [`Error::Internal`].
///
/// # Errors
/// The error of the work.
pub fn caught<T, E: From<Error>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Error::Internal(message(&*panic)).into()))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
    text.unwrap_or("a panic without a message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_errors_and_outcomes_are_taken_once() {
        let job: Job<u8> = Job::start(|_| panic!("no such value")).unwrap();
        while !job.wait_timeout(Duration::from_secs(1)) {}
        assert!(matches!(job.take(), Err(Error::Internal(text)) if text == "no such value"));
        assert!(matches!(job.take(), Err(Error::Internal(text)) if text.contains("taken before")));
    }

    #[test]
    fn a_job_that_runs_reports_and_stops() {
        let job: Job<()> = Job::start(|control| {
            control.report(3, 8);
            loop {
                control.check()?;
                std::thread::yield_now();
            }
        })
        .unwrap();
        while job.progress().total == 0 {
            std::thread::yield_now();
        }
        assert_eq!(job.progress(), Progress { done: 3, total: 8, stage: None });
        assert!(!job.is_done() && !job.is_forked());
        assert!(job.take().is_err());
        job.cancel();
        assert!(matches!(job.wait(), Err(Error::Cancelled)));
    }
}
