//! Jobs: their submission, what callers see of them, and their ends without a worker.

use super::Store;
use super::db::{Db, Row};
use super::usage::{RECORD, has_room};
use super::value::params;
use crate::error::Error;
use crate::id::{Digest, Id, Tenant};
use crate::store::audit::AuditRun;
use crate::store::lease_periods::Record;
use crate::time::{self, DAY};
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
    pub(crate) program: Digest,
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
    /// The quota of the tenant has no room for the record of the job.
    OverStorage,
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
    pub(crate) program: String,
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
    pub(crate) audit: Vec<AuditRun>,
}

impl JobRow {
    const COLUMNS: &str = "id, state, version, priority, name, key_id, program, cost, done, total, core_ms, attempts, \
         created, started, ended, expires, results, error, deadline, max_core_ms, audit";

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
            audit: runs(row, 20)?,
        })
    }
}

pub(super) fn id(row: &Row<'_>, column: usize) -> Result<Id, Error> {
    let text: String = row.get(column)?;
    Ok(text.parse()?)
}

/// The work that waits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Waiting {
    pub(crate) jobs: u64,
    pub(crate) core_ms: i64,
}

impl Store {
    /// Stores a job, unless the tenant sent the request before.
    pub(crate) fn submit(
        &self,
        tenant: &Tenant,
        job: &NewJob,
        idempotency: (&str, &str),
        quota: u64,
    ) -> Result<Submitted, Error> {
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
        let (spec, cost) = (job.spec.to_string(), job.cost.to_string());
        // What is measured of the waves is as long as what is planned.
        let bytes = RECORD + 2 * spec.len() as u64 + cost.len() as u64;
        if !has_room(&transaction, tenant, bytes, quota)? {
            return Ok(Submitted::OverStorage);
        }
        transaction.execute(
            "INSERT INTO idempotency (tenant, key, fingerprint, job, expires) VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT (tenant, key) DO UPDATE SET fingerprint = ?3, job = ?4, expires = ?5",
            (tenant, key, fingerprint, &job_id, now + DAY),
        )?;
        transaction.execute(
            "INSERT INTO job (tenant, id, state, version, priority, name, spec, cost, core_ms_expected, keep_for, key_id, program, \
             done, total, core_ms, attempts, not_before, fence, created, deadline, max_core_ms, bytes) \
             VALUES (?1, ?2, 'queued', 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0, 0, 0, 0, 0, 0, ?11, ?12, ?13, ?14)",
            params![
                tenant,
                job_id,
                job.priority,
                job.name,
                spec,
                cost,
                job.core_ms_expected,
                job.keep_for,
                job.key_id,
                job.program.as_str(),
                now,
                job.deadline,
                job.max_core_ms,
                bytes as i64,
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

    /// The results of a job that succeeded, without regard to leases: to be compared with those of another run.
    pub(crate) fn results(&self, tenant: &Tenant, id: Id) -> Result<Option<Value>, Error> {
        Ok(self.job(tenant, id)?.and_then(|job| job.results))
    }

    /// Cancels a job that has not ended. Returns its state before; None if there is none.
    pub(crate) fn cancel(&self, tenant: &Tenant, id: Id) -> Result<Option<State>, Error> {
        let Some(job) = self.job(tenant, id)? else { return Ok(None) };
        self.db().execute(
            "UPDATE job SET state = 'cancelled', version = version + 1, fence = fence + 1, lease_until = NULL, ended = ?3, kept = 0, \
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
                    "UPDATE job SET state = 'failed', version = version + 1, fence = fence + 1, ended = ?3, expires = ?3 + keep_for, kept = 0, \
                     error = ?4 WHERE tenant = ?1 AND id = ?2 AND state = 'queued'",
                    (&tenant, id.to_string(), now, problem(deadline).to_string()),
                )?;
                Ok((Tenant::new(&tenant)?, id))
            })
            .collect()
    }

    /// What a job computes, as its worker reads it, and what is recorded of its runs.
    pub(crate) fn schedule(&self, tenant: &Tenant, id: Id) -> Result<Option<(Value, Record)>, Error> {
        let sql = "SELECT spec, timeline FROM job WHERE tenant = ?1 AND id = ?2";
        self.db().query_opt(sql, (tenant.as_str(), id.to_string()), |row| {
            let spec: String = row.get(0)?;
            Ok((serde_json::from_str(&spec).unwrap_or_default(), record(row, 1)?))
        })
    }
}

pub(super) fn runs(row: &Row<'_>, column: usize) -> Result<Vec<AuditRun>, Error> {
    let text: Option<String> = row.get(column)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

pub(super) fn record(row: &Row<'_>, column: usize) -> Result<Record, Error> {
    let text: Option<String> = row.get(column)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

fn earlier(db: &Db, tenant: &str, key: &str, fingerprint: &str, now: i64) -> Result<Option<Submitted>, Error> {
    let sql = "SELECT fingerprint, job FROM idempotency WHERE tenant = ?1 AND key = ?2 AND expires > ?3";
    let found = db.query_opt(sql, (tenant, key, now), |row| Ok((row.get::<String>(0)?, id(row, 1)?)))?;
    Ok(found.map(|(first, job)| if first == fingerprint { Submitted::Again(job) } else { Submitted::OtherBody }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{folder, new_job};
    use super::*;
    use std::slice;

    #[test]
    fn a_job_whose_blobs_or_key_went_meanwhile_is_not_stored() {
        let folder = folder();
        let store = Store::serve(folder.path(), None).unwrap();
        store.create_token("a", &[], None).unwrap();
        let tenant = Tenant::new("a").unwrap();
        let [key, program, input] =
            [b"key", b"pro", b"inp"].map(|bytes| store.put_bytes(&tenant, "x", None, bytes).unwrap());
        store.add_key(&tenant, "k", &key, None, &Value::Null, DAY).unwrap();
        let job = new_job(program, slice::from_ref(&input));
        store.db().execute("DELETE FROM blob WHERE digest = ?1", [input.as_str()]).unwrap();
        let submit = || store.submit(&tenant, &job, ("i", "f"), u64::MAX).unwrap();
        assert_eq!(submit(), Submitted::BlobMissing(input.clone()));
        assert!(store.job(&tenant, job.id).unwrap().is_none());
        store.put_bytes(&tenant, "x", None, b"inp").unwrap();
        assert_eq!(submit(), Submitted::New);
        assert_eq!(submit(), Submitted::Again(job.id));
        store.db().execute("DELETE FROM key", ()).unwrap();
        assert_eq!(store.submit(&tenant, &job, ("j", "f"), u64::MAX).unwrap(), Submitted::KeyMissing);
    }
}
