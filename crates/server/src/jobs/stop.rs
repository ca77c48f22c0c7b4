//! Why a running job stops before its end.

use crate::error::{Code, Problem};
use crate::store::Lease;
use crate::time;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The flag that stops a run, and the problem of the job if it is at fault.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    flag: Arc<AtomicBool>,
    why: OnceLock<Problem>,
    /// Whether the computation has ended.
    computed: AtomicBool,
}

impl Stop {
    pub(crate) fn flag(&self) -> &Arc<AtomicBool> {
        &self.flag
    }

    pub(crate) fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Notes that the computation which began at `start` has ended, so that deadlines and budgets count no longer. Returns its time.
    pub(crate) fn computed(&self, start: Instant) -> Duration {
        self.computed.store(true, Ordering::Relaxed);
        start.elapsed()
    }

    pub(crate) fn why(&self) -> Option<&Problem> {
        self.why.get()
    }

    /// Stops the run if the job is past its deadline, or has taken more than it may.
    pub(crate) fn check(&self, lease: &Lease, start: Instant, threads: usize) {
        if self.computed.load(Ordering::Relaxed) {
            return;
        }
        let core_ms = lease.core_ms + start.elapsed().as_millis() as i64 * threads as i64;
        let problem = match (lease.deadline, lease.max_core_ms) {
            (Some(deadline), _) if deadline <= time::now() => late(deadline),
            (_, Some(most)) if core_ms > most => Problem::new(
                Code::OverBudget,
                format!(
                    "the job has taken {:.1} core-seconds, and {} are allowed",
                    core_ms as f64 / 1e3,
                    most as f64 / 1e3
                ),
                "raise `max_core_seconds`, or compute less",
            ),
            _ => return,
        };
        // The first problem counts.
        let _ = self.why.set(problem);
        self.flag.store(true, Ordering::Relaxed);
    }
}

/// The problem of a job that did not end in time.
pub(crate) fn late(deadline: i64) -> Problem {
    let what = format!("the job did not end before its deadline, {}", time::text(deadline));
    Problem::new(Code::DeadlinePassed, what, "submit it again with a later deadline, or compute less")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{Id, Tenant};

    #[test]
    fn deadlines_and_budgets_stop_a_run() {
        let lease = |deadline, max_core_ms| Lease {
            tenant: Tenant::new("a").unwrap(),
            id: Id::new(),
            fence: 1,
            spec: serde_json::Value::Null,
            attempts: 1,
            created: 0,
            first: true,
            core_ms: 5000,
            deadline,
            max_core_ms,
            timeline: crate::store::timeline::Timeline::default(),
            periods: crate::store::lease_periods::LeasePeriods::default(),
            runner: String::new(),
            audit: Vec::new(),
        };
        let later = time::now() + 100_000;
        for (deadline, most, want) in [
            (None, None, None),
            (Some(later), Some(10_000), None),
            (Some(later), Some(4999), Some(Code::OverBudget)),
            (Some(1), Some(4999), Some(Code::DeadlinePassed)),
        ] {
            let stop = Stop::default();
            stop.check(&lease(deadline, most), Instant::now(), 2);
            assert_eq!(stop.why().map(|problem| problem.code), want);
            assert_eq!(stop.is_set(), want.is_some());
        }
        // What follows the computation costs nothing and is never too late.
        let (stop, start) = (Stop::default(), Instant::now());
        stop.computed(start);
        stop.check(&lease(Some(1), Some(0)), start, 2);
        assert!(stop.why().is_none() && !stop.is_set());
    }
}
