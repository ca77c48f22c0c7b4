//! What happens to jobs now: progress that is too frequent for the database, and bells for those who wait.

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

/// The bells and the progress of jobs.
#[derive(Debug, Default)]
pub(crate) struct Live(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    running: HashMap<JobKey, Progress>,
    timelines: HashMap<JobKey, Timeline>,
    bells: HashMap<JobKey, watch::Sender<u64>>,
}

impl Live {
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
        self.ring(job);
    }

    /// Changes the progress of a running job, and rings.
    pub(crate) fn report(&self, job: &JobKey, change: impl FnOnce(&mut Progress)) {
        change(self.state().running.entry(job.clone()).or_default());
        self.ring(job);
    }

    /// Sets the progress of a job if it runs, and rings.
    pub(crate) fn correct(&self, job: &JobKey, now: Progress) {
        if let Some(progress) = self.state().running.get_mut(job) {
            *progress = now;
        }
        self.ring(job);
    }

    /// The measured waves of a running job.
    pub(crate) fn timeline(&self, job: &JobKey) -> Option<Timeline> {
        self.state().timelines.get(job).cloned()
    }

    /// Changes the measured waves of a running job.
    pub(crate) fn measured(&self, job: &JobKey, change: impl FnOnce(&mut Timeline)) {
        change(self.state().timelines.entry(job.clone()).or_default());
    }

    /// Forgets the progress and the waves of a job, which are in the database now, and rings.
    pub(crate) fn settled(&self, job: &JobKey) {
        let mut state = self.state();
        state.running.remove(job);
        state.timelines.remove(job);
        drop(state);
        self.ring(job);
    }

    /// Tells those who wait for a job that it changed.
    pub(crate) fn ring(&self, job: &JobKey) {
        if let Some(bell) = self.state().bells.get(job) {
            bell.send_modify(|rings| *rings += 1);
        }
    }

    /// Listens to a job.
    pub(crate) fn listen(self: &Arc<Self>, job: JobKey) -> Listener {
        let bell = self.state().bells.entry(job.clone()).or_insert_with(|| watch::Sender::new(0)).subscribe();
        Listener { live: Arc::clone(self), job, bell: Some(bell) }
    }
}

/// Hears when a job changes.
#[derive(Debug)]
pub(crate) struct Listener {
    live: Arc<Live>,
    job: JobKey,
    bell: Option<watch::Receiver<u64>>,
}

impl Listener {
    /// How often the bell has rung.
    #[cfg(test)]
    pub(crate) fn rings(&self) -> u64 {
        self.bell.as_ref().map_or(0, |bell| *bell.borrow())
    }

    /// Waits for the next change since the last call, or since the beginning.
    pub(crate) async fn changed(&mut self) {
        match &mut self.bell {
            // The sender lives as long as a receiver does.
            Some(bell) => drop(bell.changed().await),
            None => std::future::pending().await,
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.bell = None;
        let mut state = self.live.state();
        if state.bells.get(&self.job).is_some_and(|bell| bell.receiver_count() == 0) {
            state.bells.remove(&self.job);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn listeners_hear_changes_and_leave_nothing() {
        let live = Arc::new(Live::default());
        let job = (Tenant::new("a").unwrap(), Id::new());
        let mut listener = live.listen(job.clone());
        live.report(&job, |progress| progress.done = 3);
        listener.changed().await;
        assert_eq!(live.progress(&job).map(|progress| progress.done), Some(3));
        live.settled(&job);
        listener.changed().await;
        assert_eq!(live.progress(&job), None);
        drop(listener);
        assert!(live.state().bells.is_empty());
    }
}
