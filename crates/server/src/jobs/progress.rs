//! What happens to jobs now: progress that is too frequent for the database, and watchers for those who wait.

use crate::id::{Id, Tenant};
use crate::lock::lock;
use crate::store::timeline::Timeline;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::watch;

/// The progress of a running job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// Bootstraps that are done, or operations of schemes without bootstraps.
    pub(crate) done: u64,
    pub(crate) total: u64,
    /// Waves of all steps that are done.
    pub(crate) wave: usize,
    pub(crate) waves: usize,
}

/// The identity of a job for the whole service.
pub(crate) type JobKey = (Tenant, Id);

/// The watchers and the progress of jobs.
#[derive(Debug, Default)]
pub(crate) struct LiveProgress(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    running: HashMap<JobKey, Progress>,
    timelines: HashMap<JobKey, Timeline>,
    watchers: HashMap<JobKey, watch::Sender<u64>>,
}

impl LiveProgress {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }

    pub(crate) fn progress(&self, job: &JobKey) -> Option<Progress> {
        self.state().running.get(job).copied()
    }

    /// Begins a run, with what earlier runs measured.
    pub(crate) fn begin(&self, job: &JobKey, timeline: Timeline) {
        let mut state = self.state();
        state.running.insert(job.clone(), Progress::default());
        state.timelines.insert(job.clone(), timeline);
        drop(state);
        self.notify(job);
    }

    /// Changes the progress of a running job, and tells its watchers.
    pub(crate) fn report(&self, job: &JobKey, change: impl FnOnce(&mut Progress)) {
        change(self.state().running.entry(job.clone()).or_default());
        self.notify(job);
    }

    /// Sets the progress of a job if it runs, and tells its watchers.
    pub(crate) fn correct(&self, job: &JobKey, now: Progress) {
        if let Some(progress) = self.state().running.get_mut(job) {
            *progress = now;
        }
        self.notify(job);
    }

    /// The measured waves of a running job.
    pub(crate) fn timeline(&self, job: &JobKey) -> Option<Timeline> {
        self.state().timelines.get(job).cloned()
    }

    /// Changes the measured waves of a running job.
    pub(crate) fn measured(&self, job: &JobKey, change: impl FnOnce(&mut Timeline)) {
        change(self.state().timelines.entry(job.clone()).or_default());
    }

    /// Forgets the progress and the waves of a job, which are in the database now, and tells its watchers.
    pub(crate) fn settled(&self, job: &JobKey) {
        let mut state = self.state();
        state.running.remove(job);
        state.timelines.remove(job);
        drop(state);
        self.notify(job);
    }

    /// Tells those who wait for a job that it changed.
    pub(crate) fn notify(&self, job: &JobKey) {
        if let Some(watcher) = self.state().watchers.get(job) {
            watcher.send_modify(|changes| *changes += 1);
        }
    }

    /// Listens to a job.
    pub(crate) fn listen(self: &Arc<Self>, job: JobKey) -> Listener {
        let watcher = self.state().watchers.entry(job.clone()).or_insert_with(|| watch::Sender::new(0)).subscribe();
        Listener { live: Arc::clone(self), job, watcher: Some(watcher) }
    }
}

/// Hears when a job changes.
#[derive(Debug)]
pub(crate) struct Listener {
    live: Arc<LiveProgress>,
    job: JobKey,
    watcher: Option<watch::Receiver<u64>>,
}

impl Listener {
    /// How many changes the watcher was told.
    #[cfg(test)]
    pub(crate) fn changes(&self) -> u64 {
        self.watcher.as_ref().map_or(0, |watcher| *watcher.borrow())
    }

    /// Waits for the next change since the last call, or since the beginning.
    pub(crate) async fn changed(&mut self) {
        match &mut self.watcher {
            // The sender lives as long as a receiver does.
            Some(watcher) => drop(watcher.changed().await),
            None => std::future::pending().await,
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.watcher = None;
        let mut state = self.live.state();
        if state.watchers.get(&self.job).is_some_and(|watcher| watcher.receiver_count() == 0) {
            state.watchers.remove(&self.job);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn listeners_hear_changes_and_leave_nothing() {
        let live = Arc::new(LiveProgress::default());
        let job = (Tenant::new("a").unwrap(), Id::new());
        let mut listener = live.listen(job.clone());
        live.report(&job, |progress| progress.done = 3);
        listener.changed().await;
        assert_eq!(live.progress(&job).map(|progress| progress.done), Some(3));
        live.settled(&job);
        listener.changed().await;
        assert_eq!(live.progress(&job), None);
        drop(listener);
        assert!(live.state().watchers.is_empty());
    }
}
