//! The tables of the store. Migrations are numbered, go forward only, and run in one transaction.
//!
//! The tenant leads every primary key but that of tokens, so that identities of one tenant mean nothing to another. Statements keep to the part of SQL that
//! PostgreSQL has too, but for the functions on JSON of migration 4, which no store of PostgreSQL needs.
//!
//! `tests/service/stores` has stores of earlier versions, and a test of each of them.

use super::db::Db;
use crate::error::Error;

const MIGRATIONS: &[&str] = &["
CREATE TABLE tenant (
    name TEXT PRIMARY KEY, created BIGINT NOT NULL,
    core_seconds_a_day DOUBLE PRECISION, stored_bytes BIGINT, live_jobs BIGINT
);
CREATE TABLE token (
    hash TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL REFERENCES tenant (name), scopes TEXT NOT NULL,
    created BIGINT NOT NULL, expires BIGINT, last_used BIGINT
);
CREATE TABLE blob (
    tenant TEXT NOT NULL, digest TEXT NOT NULL, bytes BIGINT NOT NULL, kind TEXT NOT NULL, key_id TEXT,
    created BIGINT NOT NULL, last_used BIGINT NOT NULL, PRIMARY KEY (tenant, digest)
);
CREATE INDEX blob_age ON blob (last_used);
CREATE TABLE key (
    tenant TEXT NOT NULL, key_id TEXT NOT NULL, blob TEXT NOT NULL, name TEXT, facts TEXT NOT NULL,
    created BIGINT NOT NULL, last_used BIGINT NOT NULL, keep_for BIGINT NOT NULL, PRIMARY KEY (tenant, key_id)
);
CREATE TABLE program (
    tenant TEXT NOT NULL, digest TEXT NOT NULL, facts TEXT NOT NULL, created BIGINT NOT NULL, PRIMARY KEY (tenant, digest)
);
CREATE TABLE job (
    tenant TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, version BIGINT NOT NULL, priority BIGINT NOT NULL,
    name TEXT, spec TEXT NOT NULL, cost TEXT NOT NULL, core_ms_expected BIGINT NOT NULL, keep_for BIGINT NOT NULL,
    key_id TEXT NOT NULL, program TEXT NOT NULL,
    done BIGINT NOT NULL, total BIGINT NOT NULL, core_ms BIGINT NOT NULL,
    attempts BIGINT NOT NULL, not_before BIGINT NOT NULL, fence BIGINT NOT NULL, lease_until BIGINT,
    created BIGINT NOT NULL, started BIGINT, ended BIGINT, expires BIGINT, results TEXT, error TEXT,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX job_live ON job (tenant, state) WHERE state IN ('queued', 'running');
CREATE INDEX job_end ON job (expires) WHERE expires IS NOT NULL;
CREATE TABLE job_blob (
    tenant TEXT NOT NULL, digest TEXT NOT NULL, job TEXT NOT NULL, PRIMARY KEY (tenant, digest, job)
);
CREATE INDEX job_blob_job ON job_blob (tenant, job);
CREATE TABLE idempotency (
    tenant TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, job TEXT NOT NULL, expires BIGINT NOT NULL,
    PRIMARY KEY (tenant, key)
);
CREATE TABLE usage (
    tenant TEXT NOT NULL, day BIGINT NOT NULL, core_ms BIGINT NOT NULL, bytes_in BIGINT NOT NULL, bytes_out BIGINT NOT NULL,
    PRIMARY KEY (tenant, day)
);
", "
CREATE TABLE upload (
    tenant TEXT NOT NULL, id TEXT NOT NULL, digest TEXT NOT NULL, length BIGINT NOT NULL, received BIGINT NOT NULL,
    expires BIGINT NOT NULL, PRIMARY KEY (tenant, id)
);
CREATE INDEX upload_end ON upload (expires);
", "
ALTER TABLE job ADD COLUMN reduce TEXT;
ALTER TABLE job ADD COLUMN deadline BIGINT;
ALTER TABLE job ADD COLUMN max_core_ms BIGINT;
ALTER TABLE job ADD COLUMN timeline TEXT;
CREATE INDEX job_late ON job (deadline) WHERE state = 'queued' AND deadline IS NOT NULL;
", "
-- Jobs of versions 1 and 2 have one plan. It is that of their only stage.
UPDATE job SET spec = json_set(spec, '$.stages', json_array(json_object(
    'plan', json_extract(spec, '$.plan'), 'elements', 1, 'waves', json_array(MAX(1,
        COALESCE(json_extract(cost, '$.bootstraps'), 0) + COALESCE(json_extract(cost, '$.recrypts'), 0)
        + COALESCE(json_extract(cost, '$.products'), 0) + COALESCE(json_extract(cost, '$.rotations'), 0))))))
WHERE json_extract(spec, '$.stages') IS NULL;
", "
-- The token of the worker on another machine that has the lease. NULL for the worker of the service.
ALTER TABLE job ADD COLUMN worker TEXT;
", "
-- The worker that has the lease, and the runs of a job whose results are compared.
ALTER TABLE job ADD COLUMN runner TEXT;
ALTER TABLE job ADD COLUMN audit TEXT;
", "
-- Bytes of records, and of the progress that a job keeps in files: they count for the quota of the tenant. The sums read the indexes alone.
ALTER TABLE job ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN kept BIGINT NOT NULL DEFAULT 0;
UPDATE job SET bytes = LENGTH(spec) + LENGTH(cost) + COALESCE(LENGTH(results), 0);
CREATE INDEX job_bytes ON job (tenant, bytes, kept);
ALTER TABLE program ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
UPDATE program SET bytes = LENGTH(facts);
CREATE INDEX program_bytes ON program (tenant, bytes);
"];

/// The number of the migration that no store of PostgreSQL needs, from 0 on: its jobs are of version 3 at least.
const FOR_SQLITE: usize = 3;
/// Commands that migrate a store of PostgreSQL do so one after the other. The number says nothing.
const ONE_BY_ONE: &str = "SELECT pg_advisory_xact_lock(8317138616412599667)";

/// Brings the tables to the newest version.
///
/// # Errors
/// [`Error::NewerStore`] for a store of a later program.
pub(super) fn migrate(db: &Db) -> Result<(), Error> {
    let transaction = db.transaction()?;
    bring(&transaction)?;
    transaction.commit()
}

/// As [`migrate`], in a transaction of the caller.
pub(super) fn bring(db: &Db) -> Result<(), Error> {
    let is_sqlite = matches!(db, Db::Sqlite(_));
    if !is_sqlite {
        db.batch(ONE_BY_ONE)?;
    }
    db.batch("CREATE TABLE IF NOT EXISTS schema (version BIGINT NOT NULL)")?;
    let found: i64 = db.query_row("SELECT COALESCE(MAX(version), 0) FROM schema", (), |row| row.get(0))?;
    let known = MIGRATIONS.len() as i64;
    let begin = usize::try_from(found).ok().filter(|&found| found <= MIGRATIONS.len());
    let Some(begin) = begin else { return Err(Error::NewerStore { found, known }) };
    for (number, migration) in MIGRATIONS.iter().enumerate().skip(begin) {
        if is_sqlite || number != FOR_SQLITE {
            db.batch(migration)?;
        }
    }
    if begin < MIGRATIONS.len() {
        db.execute("INSERT INTO schema (version) VALUES (?1)", [known])?;
    }
    Ok(())
}

/// Whether a database of PostgreSQL has the tables of a store.
pub(super) fn is_used(db: &Db) -> Result<bool, Error> {
    db.exists(
        "SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = 'schema'",
        (),
    )
}
