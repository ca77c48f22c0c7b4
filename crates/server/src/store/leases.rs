//! Leases: who computes a job, and how a worker leaves it.

use super::Store;
use super::db::{Db, Row};
use super::jobs::{State, id, record, runs};
use super::value::params;
use crate::error::Error;
use crate::id::{Digest, Id, Tenant};
use crate::store::audit::{self, AuditRun};
use crate::store::lease_periods::{LeaseEnd, LeasePeriods, Record};
use crate::store::result::JobResult;
use crate::store::timeline::Timeline;
use crate::time;
use serde_json::Value;

/// The right to compute a job for half a minute. A later lease has a larger `fence`, and the store refuses what comes with a smaller one.
#[derive(Debug, Clone)]
pub(crate) struct Lease {
    pub(crate) tenant: Tenant,
    pub(crate) id: Id,
    pub(crate) fence: i64,
    pub(crate) spec: Value,
    pub(crate) attempts: u64,
    /// When the job was submitted.
    pub(crate) created: i64,
    /// Whether it runs for the first time.
    pub(crate) first: bool,
    /// Core-milliseconds that earlier runs took.
    pub(crate) core_ms: i64,
    pub(crate) deadline: Option<i64>,
    pub(crate) max_core_ms: Option<i64>,
    /// What earlier runs measured.
    pub(crate) timeline: Timeline,
    /// The periods of its workers, with that of this lease.
    pub(crate) periods: LeasePeriods,
    /// The worker.
    pub(crate) runner: String,
    /// The earlier runs of an audited job that gave results. The budget of the job was for the first of them.
    pub(crate) audit: Vec<AuditRun>,
}

/// Whether a job can be leased at the time `?1`. An audited job waits for another worker than those with the pattern `?2`.
const IS_READY: &str = "state IN ('queued', 'running') AND ((state = 'queued' AND not_before <= ?1) OR (state = 'running' AND lease_until < ?1)) \
     AND (CAST(?2 AS TEXT) IS NULL OR audit IS NULL OR audit NOT LIKE ?2 OR not_before < ?1 - ?3)";

/// The pattern of the runs of a worker, for [`IS_READY`].
fn pattern(runner: Option<&str>) -> Option<String> {
    runner.map(|runner| format!("%\"runner\":\"{runner}\"%"))
}

impl Lease {
    const COLUMNS: &str =
        "id, fence, spec, attempts, created, started, core_ms, deadline, max_core_ms, timeline, runner, audit";

    /// Reads a row. `now` is the time of its lease.
    fn read(row: &Row<'_>, tenant: &Tenant, now: i64) -> Result<Self, Error> {
        let (spec, started): (String, i64) = (row.get(2)?, row.get(5)?);
        let (runner, audit): (Option<String>, _) = (row.get(10)?, runs(row, 11)?);
        let Record { waves, periods } = record(row, 9)?;
        Ok(Self {
            tenant: tenant.clone(),
            id: id(row, 0)?,
            fence: row.get(1)?,
            spec: serde_json::from_str(&spec).unwrap_or_default(),
            attempts: row.get::<i64>(3)?.unsigned_abs(),
            created: row.get(4)?,
            first: started == now,
            core_ms: row.get(6)?,
            deadline: row.get(7)?,
            max_core_ms: row.get::<Option<i64>>(8)?.filter(|_| audit.is_empty()),
            timeline: waves,
            periods,
            runner: runner.unwrap_or_default(),
            audit,
        })
    }
}

/// The worker that gets a lease.
#[derive(Debug)]
pub(crate) struct Runner<'a> {
    /// The token of a worker on another machine.
    pub(crate) token: Option<&'a str>,
    /// `service`, or the token and the number that the worker chose.
    pub(crate) name: String,
    /// Whether other workers compute jobs too.
    pub(crate) has_others: bool,
}

impl Runner<'_> {
    /// The name if the worker leaves audited jobs to others that it has run.
    pub(crate) fn spared(&self) -> Option<&str> {
        self.has_others.then_some(&*self.name)
    }
}

/// How a worker leaves a job.
#[derive(Debug)]
pub(crate) enum Finished {
    /// Results, as callers see them.
    Succeeded(Value),
    /// The problem, as callers see it.
    Failed(Value),
    /// It waits again: its progress is kept, and another job runs first.
    Paused,
    /// It waits again after a failure that may pass.
    Later {
        /// For this time.
        wait: i64,
        /// Whether this was an attempt.
        counts: bool,
    },
    /// It runs once more from its beginning, so that the results can be compared.
    Again,
}

impl Finished {
    fn left(&self) -> LeaseEnd {
        match self {
            Self::Succeeded(_) => LeaseEnd::Succeeded,
            Self::Failed(_) => LeaseEnd::Failed,
            Self::Paused => LeaseEnd::Paused,
            Self::Later { .. } => LeaseEnd::Retried,
            Self::Again => LeaseEnd::Audited,
        }
    }
}

impl Store {
    /// Tenants with a job that waits for a worker. `spared` leaves audited jobs to others that it has run.
    pub(crate) fn ready(&self, spared: Option<&str>) -> Result<Vec<Tenant>, Error> {
        let sql = format!(
            "SELECT name FROM tenant WHERE EXISTS (SELECT 1 FROM job WHERE job.tenant = tenant.name AND {IS_READY})"
        );
        let params = (time::steady(), pattern(spared), audit::WAIT);
        self.db().query(&sql, params, |row| Ok(Tenant::new(&row.get::<String>(0)?)?))
    }

    /// Leases the next job of a tenant for `hold` milliseconds: by priority, then by age.
    pub(crate) fn lease(&self, tenant: &Tenant, to: &Runner<'_>, hold: i64) -> Result<Option<Lease>, Error> {
        let (now, steady) = (time::now(), time::steady());
        let sql = format!(
            "UPDATE job SET state = 'running', version = version + 1, fence = fence + 1, lease_until = ?5, \
             attempts = attempts + 1, started = COALESCE(started, ?8), worker = ?6, runner = ?7 \
             WHERE tenant = ?4 AND id = (SELECT id FROM job WHERE tenant = ?4 AND {IS_READY} \
             ORDER BY priority DESC, id LIMIT 1) RETURNING {}",
            Lease::COLUMNS
        );
        let spared = pattern(to.spared());
        let params = params![steady, spared, audit::WAIT, tenant.as_str(), steady + hold, to.token, to.name, now];
        let db = self.db();
        let transaction = db.transaction()?;
        let Some(mut lease) = transaction.query_opt(&sql, params, |row| Lease::read(row, tenant, now))? else {
            return Ok(None);
        };
        lease.periods.begin(&lease.runner, lease.audit.len() + 1, now);
        transaction.execute(
            "UPDATE job SET timeline = ?3 WHERE tenant = ?1 AND id = ?2",
            (tenant.as_str(), lease.id.to_string(), text(&lease.timeline, &lease.periods)),
        )?;
        transaction.commit()?;
        Ok(Some(lease))
    }

    /// The lease that a worker on another machine has with this fence, and whether it holds. If it does not, [`Self::finish`] has ended it. None if
    /// anything else has ended it.
    pub(crate) fn leased(
        &self,
        worker: &str,
        tenant: &str,
        id: Id,
        fence: i64,
    ) -> Result<Option<(Lease, bool)>, Error> {
        let Ok(tenant) = Tenant::new(tenant) else { return Ok(None) };
        let sql = format!(
            "SELECT {}, state FROM job WHERE tenant = ?1 AND id = ?2 AND fence = ?3 AND worker = ?4",
            Lease::COLUMNS
        );
        let params = (tenant.as_str(), id.to_string(), fence, worker);
        self.db().query_opt(&sql, params, |row| {
            let holds = row.get::<String>(12)? == State::Running.name();
            Ok((Lease::read(row, &tenant, 0)?, holds))
        })
    }

    /// Whether a run gave these results to a job: the one that ended it, or the last of an audited one.
    pub(crate) fn has_results(&self, tenant: &Tenant, id: Id, results: &[JobResult]) -> Result<bool, Error> {
        let Some(job) = self.job(tenant, id)? else { return Ok(false) };
        let known: Option<Vec<JobResult>> = match job.audit.into_iter().next_back() {
            Some(run) => Some(run.results),
            None => job.results.and_then(|results| serde_json::from_value(results).ok()),
        };
        let digests = |results: &[JobResult]| results.iter().map(|result| result.digest.clone()).collect::<Vec<_>>();
        Ok(known.is_some_and(|known| digests(&known) == digests(results)))
    }

    /// Whether a lease is for a job that needs this blob: its key, its program, a plan or an input.
    pub(crate) fn may_read(&self, lease: &Lease, key: &str, digest: &Digest) -> Result<bool, Error> {
        let sql = "SELECT 1 WHERE EXISTS (SELECT 1 FROM job_blob WHERE tenant = ?1 AND digest = ?2 AND job = ?3) \
                   OR EXISTS (SELECT 1 FROM key WHERE tenant = ?1 AND blob = ?2 AND key_id = ?4)";
        self.db().exists(sql, (lease.tenant.as_str(), digest.as_str(), lease.id.to_string(), key))
    }

    /// Prolongs a lease to `hold` milliseconds from now, and records the progress. Returns whether the lease still holds.
    pub(crate) fn renew(&self, lease: &Lease, hold: i64, done: u64, total: u64) -> Result<bool, Error> {
        let changed = self.db().execute(
            "UPDATE job SET lease_until = ?4, done = ?5, total = ?6 WHERE tenant = ?1 AND id = ?2 AND fence = ?3 AND state = 'running'",
            (
                lease.tenant.as_str(),
                lease.id.to_string(),
                lease.fence,
                time::steady() + hold,
                done as i64,
                total as i64,
            ),
        )?;
        Ok(changed > 0)
    }

    /// Prolongs all leases to `hold` milliseconds from now, and does so again whenever PostgreSQL comes back: workers could not renew them meanwhile.
    pub(crate) fn prolong(&self, hold: i64) -> Result<(), Error> {
        let prolonging =
            move || format!("UPDATE job SET lease_until = {} WHERE state = 'running'", time::steady() + hold);
        let db = self.db();
        db.batch(&prolonging())?;
        if let Db::Postgres(db) = &*db {
            db.when_back(prolonging);
        }
        Ok(())
    }

    /// Records that a checkpoint is durable. A job that gets on may lose its process any number of times. Returns whether the lease still holds.
    pub(crate) fn advanced(&self, lease: &Lease, timeline: &Timeline) -> Result<bool, Error> {
        let kept = self.checkpoint(&lease.tenant, lease.id).metadata().map_or(0, |file| file.len());
        let changed = self.db().execute(
            "UPDATE job SET attempts = 1, timeline = ?4, kept = ?5 WHERE tenant = ?1 AND id = ?2 AND fence = ?3 AND state = 'running'",
            (lease.tenant.as_str(), lease.id.to_string(), lease.fence, text(timeline, &lease.periods), kept as i64),
        )?;
        Ok(changed > 0)
    }

    /// Ends a lease after `core_ms` of work, for which the tenant is charged. `runs` are those of an audited job, with the last one. Returns whether the
    /// lease still held; if it did not, nothing changes but the usage.
    pub(crate) fn finish(
        &self,
        lease: &Lease,
        core_ms: i64,
        (done, total): (u64, u64),
        timeline: &Timeline,
        finished: &Finished,
        runs: &[AuditRun],
    ) -> Result<bool, Error> {
        let (tenant, job, now) = (lease.tenant.as_str(), lease.id.to_string(), time::now());
        let (state, results, error) = match finished {
            Finished::Succeeded(results) => (State::Succeeded, Some(results.to_string()), None),
            Finished::Failed(error) => (State::Failed, None, Some(error.to_string())),
            Finished::Paused | Finished::Later { .. } | Finished::Again => (State::Queued, None, None),
        };
        let not_before = match finished {
            Finished::Later { wait, .. } => time::steady() + wait,
            Finished::Again => time::steady(),
            _ => 0,
        };
        let starts_over = matches!(finished, Finished::Again);
        let unused_attempts = i64::from(matches!(finished, Finished::Paused | Finished::Later { counts: false, .. }));
        let audit = (!runs.is_empty()).then(|| serde_json::to_string(runs).ok()).flatten();
        let ended = state.has_ended().then_some(now);
        let written: usize = [&results, &error, &audit].into_iter().flatten().map(String::len).sum();
        let mut periods = lease.periods.clone();
        periods.end(finished.left(), now);
        let db = self.db();
        let transaction = db.transaction()?;
        let changed = transaction.execute(
            "UPDATE job SET state = ?4, version = version + 1, lease_until = NULL, core_ms = core_ms + ?5, results = ?6, error = ?7, \
             ended = ?8, expires = ?8 + keep_for, not_before = ?9, attempts = ?10 * attempts - ?11, \
             done = ?12, total = ?13, timeline = ?14, audit = COALESCE(?15, audit), bytes = bytes + ?16, kept = ?17 * kept \
             WHERE tenant = ?1 AND id = ?2 AND fence = ?3 AND state = 'running'",
            params![
                tenant,
                job,
                lease.fence,
                state.name(),
                core_ms,
                results,
                error,
                ended,
                not_before,
                i64::from(!starts_over),
                unused_attempts,
                if starts_over { 0 } else { done as i64 },
                total as i64,
                text(timeline, &periods),
                audit,
                written as i64,
                i64::from(!starts_over && ended.is_none()),
            ],
        )?;
        if changed > 0 {
            let results = if let Finished::Succeeded(results) = finished { Some(results) } else { None };
            let results = results.and_then(Value::as_array).into_iter().flatten();
            let digests = results.filter_map(|result| result["digest"].as_str());
            // The operator compares the results of all runs.
            let audited = runs.iter().flat_map(|run| &run.results).map(|result| result.digest.as_str());
            for digest in digests.chain(audited) {
                transaction.execute(
                    "INSERT INTO job_blob (tenant, digest, job) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                    (tenant, digest, &job),
                )?;
            }
        }
        super::usage::add(&transaction, tenant, core_ms, 0, 0)?;
        transaction.commit()?;
        Ok(changed > 0)
    }

    /// Whether [`Self::finish`] has ended this lease. Nothing else leaves its number to a job that does not run.
    pub(crate) fn is_finished(&self, lease: &Lease) -> Result<bool, Error> {
        let sql = "SELECT 1 FROM job WHERE tenant = ?1 AND id = ?2 AND fence = ?3 AND state <> 'running'";
        self.db().exists(sql, (lease.tenant.as_str(), lease.id.to_string(), lease.fence))
    }

    /// The jobs that ran in this service wait again: their process ended. The attempt counts. Workers on other machines go on. Jobs
    /// that wait for a time wait no longer: it was a time of the last process, and the clock may have been set since.
    pub(super) fn release_own(&self) -> Result<(), Error> {
        let db = self.db();
        let transaction = db.transaction()?;
        transaction
            .execute("UPDATE job SET not_before = ?1 WHERE state = 'queued' AND not_before > ?1", [time::steady()])?;
        let sql = "UPDATE job SET state = 'queued', version = version + 1, fence = fence + 1, lease_until = NULL \
                   WHERE state = 'running' AND worker IS NULL RETURNING tenant, id, timeline";
        let mut released: Vec<(String, String, Record)> =
            transaction.query(sql, (), |row| Ok((row.get(0)?, row.get(1)?, record(row, 2)?)))?;
        for (tenant, id, record) in &mut released {
            record.periods.end(LeaseEnd::Lost, time::now());
            let sql = "UPDATE job SET timeline = ?3 WHERE tenant = ?1 AND id = ?2";
            transaction.execute(sql, (&*tenant, &*id, text(&record.waves, &record.periods)))?;
        }
        transaction.commit()?;
        if !released.is_empty() {
            tracing::warn!(jobs = released.len(), "the last process ended in the middle of jobs; they continue");
        }
        Ok(())
    }
}

/// The record of the runs of a job.
fn text(waves: &Timeline, periods: &LeasePeriods) -> Option<String> {
    serde_json::to_string(&Record { waves: waves.clone(), periods: periods.clone() }).ok()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{folder, new_job};
    use super::*;
    use crate::time::{DAY, HOUR, SECOND, tests::JUMP};

    const HOLD: i64 = 30 * SECOND;

    /// A new job of tenant `a`.
    fn submit(store: &Store, tenant: &Tenant) {
        let [key, program] = [b"key", b"pro"].map(|bytes| store.put_bytes(tenant, "x", None, bytes).unwrap());
        store.add_key(tenant, "k", &key, None, &Value::Null, DAY).unwrap();
        let job = new_job(program, &[]);
        store.submit(tenant, &job, ("i", "f"), u64::MAX).unwrap();
    }

    #[test]
    fn leases_and_pauses_hold_when_the_clock_is_set() {
        let folder = folder();
        let store = Store::serve(folder.path(), None).unwrap();
        store.create_token("a", &[], None).unwrap();
        let tenant = Tenant::new("a").unwrap();
        submit(&store, &tenant);
        let runner = Runner { token: Some("t"), name: "t.1".into(), has_others: false };
        let is_ready = || !store.ready(None).unwrap().is_empty();
        let at = |jump| JUMP.set(jump);
        at(-HOUR);
        let lease = store.lease(&tenant, &runner, HOLD).unwrap().unwrap();
        for jump in [0, HOUR, -HOUR] {
            at(jump);
            assert!(!is_ready(), "{jump}");
            assert!(store.renew(&lease, HOLD, 0, 1).unwrap());
        }
        assert!(store.renew(&lease, 0, 0, 1).unwrap());
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert!(is_ready(), "a lease that is not renewed ends");

        let later = Finished::Later { wait: HOLD, counts: true };
        assert!(store.finish(&lease, 0, (0, 1), &lease.timeline, &later, &[]).unwrap());
        for jump in [0, HOUR, -HOUR] {
            at(jump);
            assert!(!is_ready(), "{jump}");
        }
        at(0);
    }

    #[test]
    fn a_store_of_a_clock_that_was_ahead_is_usable() {
        let folder = folder();
        let store = Store::serve(folder.path(), None).unwrap();
        store.create_token("a", &[], None).unwrap();
        let tenant = Tenant::new("a").unwrap();
        submit(&store, &tenant);
        store.db().execute("UPDATE job SET not_before = ?1", [time::steady() + HOUR]).unwrap();
        assert!(store.ready(None).unwrap().is_empty());
        drop(store);
        let store = Store::serve(folder.path(), None).unwrap();
        let runner = Runner { token: Some("t"), name: "t.1".into(), has_others: false };
        store.lease(&tenant, &runner, HOUR).unwrap().unwrap();
        drop(store);
        let store = Store::serve(folder.path(), None).unwrap();
        store.prolong(-1).unwrap();
        assert_eq!(store.ready(None).unwrap(), [tenant]);
    }
}
