//! The periods in which workers held the lease of a job. The service notes them itself: what workers measure is in the timeline.

use crate::store::timeline::Timeline;
use serde::{Deserialize, Serialize};

/// The most periods of a job that are kept. Earlier ones are counted.
const MOST: usize = 200;
/// The name of the worker of the service itself.
pub(crate) const SERVICE: &str = "service";

/// How a worker left a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LeaseEnd {
    /// The job succeeded.
    Succeeded,
    /// The job failed.
    Failed,
    /// The job waits for its next turn.
    Paused,
    /// The run failed for a cause that may pass, and the job waits.
    Retried,
    /// The run gave results, and another run checks them.
    Audited,
    /// The worker was not heard any more, or its process ended.
    Lost,
}

/// A period in which one worker held the lease. Pauses between two leases of the same worker are part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeasePeriod {
    /// 0 for the service itself; other workers have numbers from 1 on, by their first lease of this job.
    worker: u32,
    /// The name of the worker, which users do not see: it has the identity of a token.
    runner: String,
    /// The number of the run, from 1 on. Jobs that are audited run several times.
    pub(crate) run: usize,
    pub(crate) begin: i64,
    /// None while the worker holds the lease.
    pub(crate) end: Option<(i64, LeaseEnd)>,
    /// Pauses after which the same worker went on.
    pub(crate) pauses: u64,
}

impl LeasePeriod {
    /// The name of the worker, as users see it.
    pub(crate) fn label(&self) -> String {
        match self.worker {
            0 => SERVICE.to_owned(),
            number => format!("worker {number}"),
        }
    }
}

/// The periods of a job, in their order. The last one may be open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeasePeriods {
    pub(crate) kept: Vec<LeasePeriod>,
    /// Periods before those that are kept.
    pub(crate) left_out: u64,
    /// The number of workers but the service itself.
    workers: u32,
}

impl LeasePeriods {
    /// A worker begins a run, or goes on with it. If the last period is open, its worker was lost.
    pub(crate) fn begin(&mut self, runner: &str, run: usize, now: i64) {
        self.end(LeaseEnd::Lost, now);
        // The clock may have been set back.
        let now = self.kept.last().and_then(|last| last.end).map_or(now, |(end, _)| now.max(end));
        if let Some(last) = self.kept.last_mut()
            && matches!(last.end, Some((_, LeaseEnd::Paused)))
            && (&*last.runner, last.run) == (runner, run)
        {
            last.end = None;
            last.pauses += 1;
            return;
        }
        let worker = self.number(runner);
        self.kept.push(LeasePeriod { worker, runner: runner.to_owned(), run, begin: now, end: None, pauses: 0 });
        if self.kept.len() > MOST {
            self.kept.remove(0);
            self.left_out += 1;
        }
    }

    /// The worker leaves the job.
    pub(crate) fn end(&mut self, how: LeaseEnd, now: i64) {
        if let Some(last) = self.kept.last_mut().filter(|last| last.end.is_none()) {
            // The clock may have been set back.
            last.end = Some((now.max(last.begin), how));
        }
    }

    fn number(&mut self, runner: &str) -> u32 {
        if runner == SERVICE {
            return 0;
        }
        let known = self.kept.iter().find(|period| period.runner == runner).map(|period| period.worker);
        known.unwrap_or_else(|| {
            self.workers += 1;
            self.workers
        })
    }
}

/// What the store has of the runs of a job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) waves: Timeline,
    pub(crate) periods: LeasePeriods,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_lease_shows_that_a_worker_was_lost() {
        let mut periods = LeasePeriods::default();
        periods.begin("token.1", 1, 10);
        periods.begin(SERVICE, 1, 30);
        periods.end(LeaseEnd::Audited, 40);
        periods.begin("token.2", 2, 50);
        periods.end(LeaseEnd::Retried, 45);
        periods.begin("token.1", 2, 60);
        periods.end(LeaseEnd::Succeeded, 70);
        periods.end(LeaseEnd::Failed, 80);
        let seen: Vec<_> =
            periods.kept.iter().map(|period| (period.label(), period.run, period.end.unwrap())).collect();
        let want = [
            ("worker 1", 1, (30, LeaseEnd::Lost)),
            ("service", 1, (40, LeaseEnd::Audited)),
            ("worker 2", 2, (50, LeaseEnd::Retried)),
            ("worker 1", 2, (70, LeaseEnd::Succeeded)),
        ];
        assert_eq!(seen, want.map(|(label, run, end)| (label.to_owned(), run, end)));
    }

    #[test]
    fn pauses_and_many_workers_take_little_room() {
        let mut periods = LeasePeriods::default();
        for now in 0..10_000 {
            periods.begin(SERVICE, 1, now);
            periods.end(LeaseEnd::Paused, now);
        }
        assert_eq!(
            (periods.kept.len(), periods.kept[0].pauses, periods.kept[0].end),
            (1, 9999, Some((9999, LeaseEnd::Paused)))
        );
        // The second run of an audited job is a period of its own.
        periods.begin(SERVICE, 2, 10_000);
        for worker in 1..=10_000 {
            periods.begin(&format!("0123456789ab.{worker:026}"), 2, 20_000);
            periods.end(LeaseEnd::Paused, 20_000);
        }
        assert_eq!((periods.kept.len(), periods.left_out), (MOST, 10_002 - MOST as u64));
        assert_eq!(periods.kept[MOST - 1].label(), "worker 10000");
        assert!(serde_json::to_string(&periods).unwrap().len() < 40_000);
    }
}
