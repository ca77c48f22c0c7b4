//! Jobs: their submission, their leases, and their ends.

use super::Store;
use super::db::{Db, Row};
use super::value::params;
use crate::audit::{self, Run};
use crate::error::Error;
use crate::id::{Digest, Id, Tenant};
use crate::result::JobResult;
use crate::time::{self, DAY};
use crate::timeline::Timeline;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The state of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Queued,
    Running,
    Succeeded,
    Failed,
    Cancelled,
    /// Its results were removed.
    Expired,
}

impl State {
    const ALL: [Self; 6] = [Self::Queued, Self::Running, Self::Succeeded, Self::Failed, Self::Cancelled, Self::Expired];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
        }
    }

    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    pub(crate) const fn has_ended(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// A job that is checked and planned.
#[derive(Debug)]
pub(crate) struct NewJob {
    pub(crate) id: Id,
    pub(crate) name: Option<String>,
    pub(crate) priority: u8,
    /// What it computes, as a worker reads it.
    pub(crate) spec: Value,
    pub(crate) cost: Value,
    pub(crate) core_ms_expected: i64,
    pub(crate) keep_for: i64,
    pub(crate) key_id: String,
    pub(crate) program: Option<Digest>,
    /// How elements are combined.
    pub(crate) reduce: Option<String>,
    /// When the job fails unless it has ended.
    pub(crate) deadline: Option<i64>,
    /// The job fails when it has taken more.
    pub(crate) max_core_ms: Option<i64>,
    /// Blobs that stay while the job lives.
    pub(crate) blobs: Vec<Digest>,
}

/// The end of a submission.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Submitted {
    /// A new job.
    New,
    /// The job of an earlier request with this Idempotency-Key and body.
    Again(Id),
    /// The Idempotency-Key belongs to another body.
    OtherBody,
    /// A blob was removed since the job was checked.
    BlobMissing(Digest),
    /// The key was removed since the job was checked.
    KeyMissing,
}

/// A job, as callers see it.
#[derive(Debug, Clone)]
pub(crate) struct JobRow {
    pub(crate) id: Id,
    pub(crate) state: State,
    pub(crate) version: u64,
    pub(crate) priority: u8,
    pub(crate) name: Option<String>,
    pub(crate) key_id: String,
    /// Empty for a reduction of an input.
    pub(crate) program: String,
    pub(crate) reduce: Option<String>,
    pub(crate) deadline: Option<i64>,
    pub(crate) max_core_ms: Option<i64>,
    pub(crate) cost: Value,
    pub(crate) done: u64,
    pub(crate) total: u64,
    pub(crate) core_ms: i64,
    pub(crate) attempts: u64,
    pub(crate) created: i64,
    pub(crate) started: Option<i64>,
    pub(crate) ended: Option<i64>,
    pub(crate) expires: Option<i64>,
    pub(crate) results: Option<Value>,
    pub(crate) error: Option<Value>,
    /// The runs of an audited job that gave results.
    pub(crate) audit: Vec<Run>,
}

impl JobRow {
    const COLUMNS: &str = "id, state, version, priority, name, key_id, program, cost, done, total, core_ms, attempts, \
         created, started, ended, expires, results, error, deadline, max_core_ms, reduce, audit";

    fn read(row: &Row<'_>) -> Result<Self, Error> {
        let json = |column: usize| -> Result<Option<Value>, Error> {
            let text: Option<String> = row.get(column)?;
            Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
        };
        let count = |column: usize| Ok::<_, Error>(row.get::<i64>(column)?.unsigned_abs());
        Ok(Self {
            id: id(row, 0)?,
            state: State::of_name(&row.get::<String>(1)?).unwrap_or(State::Expired),
            version: count(2)?,
            priority: row.get(3)?,
            name: row.get(4)?,
            key_id: row.get(5)?,
            program: row.get(6)?,
            cost: json(7)?.unwrap_or_default(),
            done: count(8)?,
            total: count(9)?,
            core_ms: row.get(10)?,
            attempts: count(11)?,
            created: row.get(12)?,
            started: row.get(13)?,
            ended: row.get(14)?,
            expires: row.get(15)?,
            results: json(16)?,
            error: json(17)?,
            deadline: row.get(18)?,
            max_core_ms: row.get(19)?,
            reduce: row.get(20)?,
            audit: runs(row, 21)?,
        })
    }
}

fn id(row: &Row<'_>, column: usize) -> Result<Id, Error> {
    let text: String = row.get(column)?;
    Ok(text.parse()?)
}

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
    /// The worker.
    pub(crate) runner: String,
    /// The earlier runs of an audited job that gave results. The budget of the job was for the first of them.
    pub(crate) audit: Vec<Run>,
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
            timeline: timeline(row, 9)?,
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

/// The work that waits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Waiting {
    pub(crate) jobs: u64,
    pub(crate) core_ms: i64,
}

impl Store {
    /// Stores a job, unless the tenant sent the request before.
    pub(crate) fn submit(&self, tenant: &Tenant, job: &NewJob, idempotency: (&str, &str)) -> Result<Submitted, Error> {
        let (now, tenant, (key, fingerprint)) = (time::now(), tenant.as_str(), idempotency);
        let db = self.db();
        let transaction = db.transaction()?;
        let job_id = job.id.to_string();
        if let Some(found) = earlier(&transaction, tenant, key, fingerprint, now)? {
            return Ok(found);
        }
        if !transaction.exists("SELECT 1 FROM key WHERE tenant = ?1 AND key_id = ?2", (tenant, &job.key_id))? {
            return Ok(Submitted::KeyMissing);
        }
        for digest in &job.blobs {
            let sql = "SELECT 1 FROM blob WHERE tenant = ?1 AND digest = ?2";
            if !transaction.exists(sql, (tenant, digest.as_str()))? {
                return Ok(Submitted::BlobMissing(digest.clone()));
            }
        }
        transaction.execute(
            "INSERT INTO idempotency (tenant, key, fingerprint, job, expires) VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT (tenant, key) DO UPDATE SET fingerprint = ?3, job = ?4, expires = ?5",
            (tenant, key, fingerprint, &job_id, now + DAY),
        )?;
        transaction.execute(
            "INSERT INTO job (tenant, id, state, version, priority, name, spec, cost, core_ms_expected, keep_for, key_id, program, \
             done, total, core_ms, attempts, not_before, fence, created, deadline, max_core_ms, reduce) \
             VALUES (?1, ?2, 'queued', 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0, 0, 0, 0, 0, 0, ?11, ?12, ?13, ?14)",
            params![
                tenant,
                job_id,
                job.priority,
                job.name,
                job.spec.to_string(),
                job.cost.to_string(),
                job.core_ms_expected,
                job.keep_for,
                job.key_id,
                job.program.as_ref().map_or("", Digest::as_str),
                now,
                job.deadline,
                job.max_core_ms,
                job.reduce,
            ],
        )?;
        for digest in &job.blobs {
            transaction.execute(
                "INSERT INTO job_blob (tenant, digest, job) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                (tenant, digest.as_str(), &job_id),
            )?;
        }
        transaction.commit()?;
        Ok(Submitted::New)
    }

    /// The earlier submission with this Idempotency-Key.
    pub(crate) fn submitted(&self, tenant: &Tenant, key: &str, fingerprint: &str) -> Result<Option<Submitted>, Error> {
        earlier(&self.db(), tenant.as_str(), key, fingerprint, time::now())
    }

    pub(crate) fn job(&self, tenant: &Tenant, id: Id) -> Result<Option<JobRow>, Error> {
        let sql = format!("SELECT {} FROM job WHERE tenant = ?1 AND id = ?2", JobRow::COLUMNS);
        self.db().query_opt(&sql, (tenant.as_str(), id.to_string()), JobRow::read)
    }

    /// Jobs of a tenant, the newest first, from the one before `after` on.
    pub(crate) fn jobs(
        &self,
        tenant: &Tenant,
        state: Option<State>,
        after: Option<Id>,
        limit: usize,
    ) -> Result<Vec<JobRow>, Error> {
        let sql = format!(
            "SELECT {} FROM job WHERE tenant = ?1 AND (CAST(?2 AS TEXT) IS NULL OR state = ?2) AND (CAST(?3 AS TEXT) IS NULL OR id < ?3) \
             ORDER BY id DESC LIMIT ?4",
            JobRow::COLUMNS
        );
        let after = after.map(|id| id.to_string());
        self.db().query(&sql, (tenant.as_str(), state.map(State::name), after, limit as i64), JobRow::read)
    }

    /// The jobs of a tenant that have not ended, or those of all tenants.
    pub(crate) fn waiting(&self, tenant: Option<&Tenant>) -> Result<Waiting, Error> {
        let sql = "SELECT COUNT(*), CAST(COALESCE(SUM(CASE WHEN core_ms_expected > core_ms THEN core_ms_expected - core_ms ELSE 0 END), 0) AS BIGINT) FROM job \
                   WHERE state IN ('queued', 'running') AND (CAST(?1 AS TEXT) IS NULL OR tenant = ?1)";
        self.db().query_row(sql, [tenant.map(Tenant::as_str)], |row| {
            Ok(Waiting { jobs: row.get::<i64>(0)?.unsigned_abs(), core_ms: row.get(1)? })
        })
    }

    /// The number of jobs in each state.
    pub(crate) fn counts(&self) -> Result<Vec<(State, u64)>, Error> {
        let db = self.db();
        let sql = "SELECT COUNT(*) FROM job WHERE state = ?1";
        State::ALL
            .into_iter()
            .map(|state| Ok((state, db.query_row(sql, [state.name()], |row| row.get::<i64>(0))?.unsigned_abs())))
            .collect()
    }

    /// When the oldest job that has not started was submitted.
    pub(crate) fn oldest(&self) -> Result<Option<i64>, Error> {
        let sql = "SELECT MIN(created) FROM job WHERE state IN ('queued', 'running') AND state = 'queued' AND started IS NULL";
        self.db().query_row(sql, (), |row| row.get(0))
    }

    /// Tenants with a job that waits for a worker. `spared` leaves audited jobs to others that it has run.
    pub(crate) fn ready(&self, spared: Option<&str>) -> Result<Vec<Tenant>, Error> {
        let sql = format!(
            "SELECT name FROM tenant WHERE EXISTS (SELECT 1 FROM job WHERE job.tenant = tenant.name AND {IS_READY})"
        );
        let params = (time::now(), pattern(spared), audit::WAIT);
        self.db().query(&sql, params, |row| Ok(Tenant::new(&row.get::<String>(0)?)?))
    }

    /// Leases the next job of a tenant for `hold` milliseconds: by priority, then by age.
    pub(crate) fn lease(&self, tenant: &Tenant, to: &Runner<'_>, hold: i64) -> Result<Option<Lease>, Error> {
        let now = time::now();
        let sql = format!(
            "UPDATE job SET state = 'running', version = version + 1, fence = fence + 1, lease_until = ?5, \
             attempts = attempts + 1, started = COALESCE(started, ?1), worker = ?6, runner = ?7 \
             WHERE tenant = ?4 AND id = (SELECT id FROM job WHERE tenant = ?4 AND {IS_READY} \
             ORDER BY priority DESC, id LIMIT 1) RETURNING {}",
            Lease::COLUMNS
        );
        let spared = pattern(to.spared());
        let params = params![now, spared, audit::WAIT, tenant.as_str(), now + hold, to.token, to.name];
        self.db().query_opt(&sql, params, |row| Lease::read(row, tenant, now))
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
                time::now() + hold,
                done as i64,
                total as i64,
            ),
        )?;
        Ok(changed > 0)
    }

    /// Prolongs all leases to `hold` milliseconds from now, and does so again whenever PostgreSQL comes back: workers could not renew them meanwhile.
    pub(crate) fn prolong(&self, hold: i64) -> Result<(), Error> {
        let prolonging = move || {
            let until = time::now() + hold;
            format!("UPDATE job SET lease_until = {until} WHERE state = 'running' AND lease_until < {until}")
        };
        let db = self.db();
        db.batch(&prolonging())?;
        if let Db::Postgres(db) = &*db {
            db.when_back(prolonging);
        }
        Ok(())
    }

    /// Records that a checkpoint is durable. A job that gets on may lose its process any number of times. Returns whether the lease still holds.
    pub(crate) fn advanced(&self, lease: &Lease, timeline: &Option<Timeline>) -> Result<bool, Error> {
        let changed = self.db().execute(
            "UPDATE job SET attempts = 1, timeline = ?4 WHERE tenant = ?1 AND id = ?2 AND fence = ?3 AND state = 'running'",
            (lease.tenant.as_str(), lease.id.to_string(), lease.fence, text(timeline)),
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
        timeline: &Option<Timeline>,
        finished: &Finished,
        runs: &[Run],
    ) -> Result<bool, Error> {
        let (tenant, job, now) = (lease.tenant.as_str(), lease.id.to_string(), time::now());
        let (state, results, error) = match finished {
            Finished::Succeeded(results) => (State::Succeeded, Some(results.to_string()), None),
            Finished::Failed(error) => (State::Failed, None, Some(error.to_string())),
            Finished::Paused | Finished::Later { .. } | Finished::Again => (State::Queued, None, None),
        };
        let not_before = match finished {
            Finished::Later { wait, .. } => now + wait,
            Finished::Again => now,
            _ => 0,
        };
        let starts_over = matches!(finished, Finished::Again);
        let unused_attempts = i64::from(matches!(finished, Finished::Paused | Finished::Later { counts: false, .. }));
        let audit = (!runs.is_empty()).then(|| serde_json::to_string(runs).ok()).flatten();
        let ended = state.has_ended().then_some(now);
        let db = self.db();
        let transaction = db.transaction()?;
        let changed = transaction.execute(
            "UPDATE job SET state = ?4, version = version + 1, lease_until = NULL, core_ms = core_ms + ?5, results = ?6, error = ?7, \
             ended = ?8, expires = ?8 + keep_for, not_before = ?9, attempts = ?10 * attempts - ?11, \
             done = ?12, total = ?13, timeline = ?14, audit = COALESCE(?15, audit) \
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
                text(timeline),
                audit,
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

    /// The results of a job that succeeded, without regard to leases: to be compared with those of another run.
    pub(crate) fn results(&self, tenant: &Tenant, id: Id) -> Result<Option<Value>, Error> {
        Ok(self.job(tenant, id)?.and_then(|job| job.results))
    }

    /// Cancels a job that has not ended. Returns its state before; None if there is none.
    pub(crate) fn cancel(&self, tenant: &Tenant, id: Id) -> Result<Option<State>, Error> {
        let Some(job) = self.job(tenant, id)? else { return Ok(None) };
        self.db().execute(
            "UPDATE job SET state = 'cancelled', version = version + 1, fence = fence + 1, lease_until = NULL, ended = ?3, \
             expires = ?3 + keep_for WHERE tenant = ?1 AND id = ?2 AND state IN ('queued', 'running')",
            (tenant.as_str(), id.to_string(), time::now()),
        )?;
        Ok(Some(job.state))
    }

    /// Fails the jobs that wait past their deadlines, and returns them. `problem` is that of a deadline.
    pub(crate) fn fail_late(&self, problem: impl Fn(i64) -> Value) -> Result<Vec<(Tenant, Id)>, Error> {
        let now = time::now();
        let db = self.db();
        let sql =
            "SELECT tenant, id, deadline FROM job WHERE state = 'queued' AND deadline IS NOT NULL AND deadline <= ?1";
        let late = db.query(sql, [now], |row| Ok((row.get::<String>(0)?, id(row, 1)?, row.get::<i64>(2)?)))?;
        late.into_iter()
            .map(|(tenant, id, deadline)| {
                db.execute(
                    "UPDATE job SET state = 'failed', version = version + 1, fence = fence + 1, ended = ?3, expires = ?3 + keep_for, \
                     error = ?4 WHERE tenant = ?1 AND id = ?2 AND state = 'queued'",
                    (&tenant, id.to_string(), now, problem(deadline).to_string()),
                )?;
                Ok((Tenant::new(&tenant)?, id))
            })
            .collect()
    }

    /// What a job computes, as its worker reads it, and what was measured of its waves.
    pub(crate) fn schedule(&self, tenant: &Tenant, id: Id) -> Result<Option<(Value, Timeline)>, Error> {
        let sql = "SELECT spec, timeline FROM job WHERE tenant = ?1 AND id = ?2";
        self.db().query_opt(sql, (tenant.as_str(), id.to_string()), |row| {
            let spec: String = row.get(0)?;
            Ok((serde_json::from_str(&spec).unwrap_or_default(), timeline(row, 1)?))
        })
    }

    /// The jobs that ran in this service wait again: their process ended. The attempt counts. Workers on other machines go on.
    pub(super) fn release_own(&self) -> Result<(), Error> {
        let sql = "UPDATE job SET state = 'queued', version = version + 1, fence = fence + 1, lease_until = NULL \
                   WHERE state = 'running' AND worker IS NULL";
        let released = self.db().execute(sql, ())?;
        if released > 0 {
            tracing::warn!(jobs = released, "the last process ended in the middle of jobs; they continue");
        }
        Ok(())
    }
}

fn runs(row: &Row<'_>, column: usize) -> Result<Vec<Run>, Error> {
    let text: Option<String> = row.get(column)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

fn timeline(row: &Row<'_>, column: usize) -> Result<Timeline, Error> {
    let text: Option<String> = row.get(column)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

fn text(timeline: &Option<Timeline>) -> Option<String> {
    timeline.as_ref().and_then(|timeline| serde_json::to_string(timeline).ok())
}

fn earlier(db: &Db, tenant: &str, key: &str, fingerprint: &str, now: i64) -> Result<Option<Submitted>, Error> {
    let sql = "SELECT fingerprint, job FROM idempotency WHERE tenant = ?1 AND key = ?2 AND expires > ?3";
    let found = db.query_opt(sql, (tenant, key, now), |row| Ok((row.get::<String>(0)?, id(row, 1)?)))?;
    Ok(found.map(|(first, job)| if first == fingerprint { Submitted::Again(job) } else { Submitted::OtherBody }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_whose_blobs_or_key_went_meanwhile_is_not_stored() {
        let folder = super::super::tests::folder();
        let store = Store::serve(folder.path(), None).unwrap();
        store.create_token("a", &[], None).unwrap();
        let tenant = Tenant::new("a").unwrap();
        let [key, program, input] =
            [b"key", b"pro", b"inp"].map(|bytes| store.put_bytes(&tenant, "x", None, bytes).unwrap());
        store.add_key(&tenant, "k", &key, None, &Value::Null, DAY).unwrap();
        let job = NewJob {
            id: Id::new(),
            name: None,
            priority: 0,
            spec: Value::Null,
            cost: Value::Null,
            core_ms_expected: 0,
            keep_for: 0,
            key_id: "k".into(),
            program: Some(program.clone()),
            reduce: None,
            deadline: None,
            max_core_ms: None,
            blobs: vec![program, input.clone()],
        };
        store.db().execute("DELETE FROM blob WHERE digest = ?1", [input.as_str()]).unwrap();
        let submit = || store.submit(&tenant, &job, ("i", "f")).unwrap();
        assert_eq!(submit(), Submitted::BlobMissing(input.clone()));
        assert!(store.job(&tenant, job.id).unwrap().is_none());
        store.put_bytes(&tenant, "x", None, b"inp").unwrap();
        assert_eq!(submit(), Submitted::New);
        assert_eq!(submit(), Submitted::Again(job.id));
        store.db().execute("DELETE FROM key", ()).unwrap();
        assert_eq!(store.submit(&tenant, &job, ("j", "f")).unwrap(), Submitted::KeyMissing);
    }
}
