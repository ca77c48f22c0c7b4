//! Removal of what nobody needs any more. Nothing that a live job refers to is removed.

use super::db::Db;
use super::{State, Store};
use crate::config::Limits;
use crate::error::Error;
use crate::id::{Digest, Id, Tenant};
use crate::time::{self, DAY};
use std::path::PathBuf;

/// The most removals of a pass, so that no pass holds up requests.
const BATCH: i64 = 1000;
/// How long an ended job is known after its results are removed.
const REMEMBERED: i64 = 30 * DAY;

impl Store {
    /// The file of the progress of a job.
    pub(crate) fn checkpoint(&self, tenant: &Tenant, id: Id) -> PathBuf {
        self.folder.join("checkpoints").join(format!("{tenant}-{id}.state"))
    }

    /// Removes the progress of a job.
    pub(crate) fn remove_checkpoint(&self, tenant: &Tenant, id: Id) {
        // Most jobs have none.
        let _ = std::fs::remove_file(self.checkpoint(tenant, id));
    }

    /// Removes the results of a job that has ended, and the job itself. Returns its state; None if there is none.
    pub(crate) fn remove_job(&self, tenant: &Tenant, id: Id) -> Result<Option<State>, Error> {
        let Some(job) = self.job(tenant, id)? else { return Ok(None) };
        if job.state.has_ended() {
            self.expire(tenant, id)?;
            let (name, text) = (tenant.as_str(), id.to_string());
            let db = self.db();
            db.execute("DELETE FROM idempotency WHERE tenant = ?1 AND job = ?2", (name, &text))?;
            db.execute("DELETE FROM job WHERE tenant = ?1 AND id = ?2", (name, &text))?;
        }
        Ok(Some(job.state))
    }

    /// Removes the results of a job, and lets go of its inputs.
    fn expire(&self, tenant: &Tenant, id: Id) -> Result<(), Error> {
        let (name, text) = (tenant.as_str(), id.to_string());
        let results = self.results(tenant, id)?;
        let db = self.db();
        let changes = db.transaction()?;
        changes.execute("DELETE FROM job_blob WHERE tenant = ?1 AND job = ?2", (name, &text))?;
        changes.execute(
            "UPDATE job SET state = CASE WHEN state = 'succeeded' THEN 'expired' ELSE state END, version = version + 1, \
             results = NULL, expires = NULL WHERE tenant = ?1 AND id = ?2",
            (name, &text),
        )?;
        changes.commit()?;
        drop(db);
        let digests = results.as_ref().and_then(serde_json::Value::as_array).into_iter().flatten();
        for digest in digests.filter_map(|result| result["digest"].as_str()?.parse().ok()) {
            self.remove_unused(tenant, &digest)?;
        }
        self.remove_checkpoint(tenant, id);
        Ok(())
    }

    /// Removes a blob that nothing refers to.
    fn remove_unused(&self, tenant: &Tenant, digest: &Digest) -> Result<bool, Error> {
        let db = self.db();
        let removed = delete_unused(&db, tenant, digest)?;
        if removed {
            // The lock is held, so that nobody stores the same blob between the two steps.
            self.remove_file(tenant, digest);
        }
        Ok(removed)
    }

    /// Removes a blob, and what is known of it as a program. Returns false if a key or a job refers to it, and None if there is none.
    pub(crate) fn remove_blob(&self, tenant: &Tenant, digest: &Digest) -> Result<Option<bool>, Error> {
        let id = (tenant.as_str(), digest.as_str());
        let db = self.db();
        let changes = db.transaction()?;
        if !changes.exists("SELECT 1 FROM blob WHERE tenant = ?1 AND digest = ?2", id)? {
            return Ok(None);
        }
        changes.execute("DELETE FROM program WHERE tenant = ?1 AND digest = ?2", id)?;
        if !delete_unused(&changes, tenant, digest)? {
            return Ok(Some(false));
        }
        changes.commit()?;
        self.remove_file(tenant, digest);
        Ok(Some(true))
    }

    /// Removes the progress of jobs that have ended: their process ended before it could.
    pub(super) fn remove_left_checkpoints(&self) -> Result<(), Error> {
        let Ok(entries) = std::fs::read_dir(self.folder.join("checkpoints")) else { return Ok(()) };
        for path in entries.flatten().map(|entry| entry.path()) {
            let Some((tenant, id)) = path.file_stem().and_then(|name| name.to_str()?.rsplit_once('-')) else {
                continue;
            };
            let (Ok(tenant), Ok(id)) = (Tenant::new(tenant), id.parse()) else { continue };
            if self.job(&tenant, id)?.is_none_or(|job| job.state.has_ended()) {
                self.remove_checkpoint(&tenant, id);
            }
        }
        Ok(())
    }

    /// One pass. Returns the number of things that were removed.
    pub(crate) fn sweep(&self, limits: &Limits) -> Result<usize, Error> {
        let now = time::now();
        let ended = self.listed("SELECT tenant, id FROM job WHERE expires < ?1 LIMIT ?2", now)?;
        let mut removed = ended.len();
        for (tenant, id) in ended {
            if let Ok(id) = id.parse() {
                self.expire(&tenant, id)?;
            }
        }
        let before = now - i64::from(limits.unused_key_days) * DAY;
        let sql = "SELECT tenant, key_id FROM key WHERE last_used + keep_for < ?1 LIMIT ?2";
        for (tenant, key) in self.listed(sql, now)? {
            removed += usize::from(self.remove_key(&tenant, &key)? == Some(true));
        }
        let sql = "SELECT tenant, digest FROM blob WHERE kind = 'server-key' AND last_used < ?1 LIMIT ?2";
        removed += self.remove_all_unused(sql, before)?;
        let before = now - i64::from(limits.unused_blob_days) * DAY;
        removed += self.db().execute(
            "DELETE FROM program WHERE EXISTS (SELECT 1 FROM blob WHERE blob.tenant = program.tenant \
             AND blob.digest = program.digest AND last_used < ?1) AND NOT EXISTS (SELECT 1 FROM job_blob \
             WHERE job_blob.tenant = program.tenant AND job_blob.digest = program.digest)",
            [before],
        )?;
        let sql = "SELECT tenant, digest FROM blob WHERE kind <> 'server-key' AND last_used < ?1 LIMIT ?2";
        removed += self.remove_all_unused(sql, before)?;
        removed += self.sweep_uploads()?;
        let db = self.db();
        removed += db.execute("DELETE FROM idempotency WHERE expires < ?1", [now])?;
        let sql = "DELETE FROM job WHERE ended < ?1 AND expires IS NULL";
        removed += db.execute(sql, [now - REMEMBERED])?;
        Ok(removed)
    }

    fn remove_all_unused(&self, sql: &str, before: i64) -> Result<usize, Error> {
        let mut removed = 0;
        for (tenant, digest) in self.listed(sql, before)? {
            if let Ok(digest) = digest.parse() {
                removed += usize::from(self.remove_unused(&tenant, &digest)?);
            }
        }
        Ok(removed)
    }

    /// Tenants and identities that a query finds with a time and [`BATCH`].
    pub(super) fn listed(&self, sql: &str, before: i64) -> Result<Vec<(Tenant, String)>, Error> {
        self.db().query(sql, (before, BATCH), |row| Ok((Tenant::new(&row.get::<String>(0)?)?, row.get(1)?)))
    }
}

/// Deletes the row of a blob that no job, no key and no program refers to.
fn delete_unused(db: &Db, tenant: &Tenant, digest: &Digest) -> Result<bool, Error> {
    let removed = db.execute(
        "DELETE FROM blob WHERE tenant = ?1 AND digest = ?2 \
         AND NOT EXISTS (SELECT 1 FROM job_blob WHERE tenant = ?1 AND digest = ?2) \
         AND NOT EXISTS (SELECT 1 FROM key WHERE tenant = ?1 AND blob = ?2) \
         AND NOT EXISTS (SELECT 1 FROM program WHERE tenant = ?1 AND digest = ?2)",
        (tenant.as_str(), digest.as_str()),
    )?;
    Ok(removed > 0)
}

#[cfg(test)]
mod tests {
    use super::super::jobs::State;
    use super::super::tests::{folder, new_job};
    use super::*;

    #[test]
    fn a_start_removes_the_progress_of_ended_jobs() {
        let folder = folder();
        let store = Store::serve(folder.path(), None).unwrap();
        store.create_token("a-b", &[], None).unwrap();
        let tenant = Tenant::new("a-b").unwrap();
        let [key, program] = [b"key", b"pro"].map(|bytes| store.put_bytes(&tenant, "x", None, bytes).unwrap());
        store.add_key(&tenant, "k", &key, None, &serde_json::Value::Null, DAY).unwrap();
        let ids = [State::Queued, State::Succeeded].map(|state| {
            let job = new_job(program.clone(), &[]);
            store.submit(&tenant, &job, (&job.id.to_string(), "f"), u64::MAX).unwrap();
            store.db().execute("UPDATE job SET state = ?1 WHERE id = ?2", (state.name(), job.id.to_string())).unwrap();
            job.id
        });
        for id in [ids[0], ids[1], Id::new()] {
            std::fs::write(store.checkpoint(&tenant, id), b"state").unwrap();
        }
        std::fs::write(folder.path().join("checkpoints/other"), b"").unwrap();
        drop(store);
        let store = Store::serve(folder.path(), None).unwrap();
        let left = || std::fs::read_dir(folder.path().join("checkpoints")).unwrap().count();
        assert!(store.checkpoint(&tenant, ids[0]).exists());
        assert_eq!(left(), 2);
    }
}
