//! The tables of the store.
//!
//! The tenant leads every primary key but that of tokens, so that identities of one tenant mean nothing to another. Statements keep to the part of SQL that
//! SQLite and PostgreSQL have in common.

use super::db::Db;
use crate::error::Error;

/// The version of [`TABLES`]. A program refuses a store of another version.
const VERSION: i64 = 1;

const TABLES: &str = "
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
CREATE TABLE upload (
    tenant TEXT NOT NULL, id TEXT NOT NULL, digest TEXT NOT NULL, length BIGINT NOT NULL, received BIGINT NOT NULL,
    expires BIGINT NOT NULL, PRIMARY KEY (tenant, id)
);
CREATE INDEX upload_end ON upload (expires);
CREATE TABLE key (
    tenant TEXT NOT NULL, key_id TEXT NOT NULL, blob TEXT NOT NULL, name TEXT, facts TEXT NOT NULL,
    created BIGINT NOT NULL, last_used BIGINT NOT NULL, keep_for BIGINT NOT NULL, PRIMARY KEY (tenant, key_id)
);
-- Bytes of records, and of the progress that a job keeps in files, count for the quota of the tenant. The sums read the indexes alone.
CREATE TABLE program (
    tenant TEXT NOT NULL, digest TEXT NOT NULL, facts TEXT NOT NULL, created BIGINT NOT NULL,
    bytes BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (tenant, digest)
);
CREATE INDEX program_bytes ON program (tenant, bytes);
-- worker: the token of the worker on another machine that has the lease, NULL for the worker of the service. runner: the worker that has the lease.
-- audit: the runs of a job whose results are compared.
CREATE TABLE job (
    tenant TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, version BIGINT NOT NULL, priority BIGINT NOT NULL,
    name TEXT, spec TEXT NOT NULL, cost TEXT NOT NULL, core_ms_expected BIGINT NOT NULL, keep_for BIGINT NOT NULL,
    key_id TEXT NOT NULL, program TEXT NOT NULL,
    done BIGINT NOT NULL, total BIGINT NOT NULL, core_ms BIGINT NOT NULL, max_core_ms BIGINT, timeline TEXT,
    attempts BIGINT NOT NULL, not_before BIGINT NOT NULL, deadline BIGINT,
    fence BIGINT NOT NULL, lease_until BIGINT, worker TEXT, runner TEXT, audit TEXT,
    created BIGINT NOT NULL, started BIGINT, ended BIGINT, expires BIGINT, results TEXT, error TEXT,
    bytes BIGINT NOT NULL DEFAULT 0, kept BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX job_live ON job (tenant, state) WHERE state IN ('queued', 'running');
CREATE INDEX job_late ON job (deadline) WHERE state = 'queued' AND deadline IS NOT NULL;
CREATE INDEX job_end ON job (expires) WHERE expires IS NOT NULL;
CREATE INDEX job_bytes ON job (tenant, bytes, kept);
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
";

/// Commands that make the tables of PostgreSQL do so one after the other. The number says nothing.
const ONE_BY_ONE: &str = "SELECT pg_advisory_xact_lock(8317138616412599667)";

/// Makes the tables of an empty store.
///
/// # Errors
/// [`Error::OtherStore`] for a store of another version.
pub(super) fn create(db: &Db) -> Result<(), Error> {
    let transaction = db.transaction()?;
    create_within(&transaction)?;
    transaction.commit()
}

/// As [`create`], in a transaction of the caller.
pub(super) fn create_within(db: &Db) -> Result<(), Error> {
    if !matches!(db, Db::Sqlite(_)) {
        db.batch(ONE_BY_ONE)?;
    }
    db.batch("CREATE TABLE IF NOT EXISTS schema (version BIGINT NOT NULL)")?;
    match db.query_row("SELECT COALESCE(MAX(version), 0) FROM schema", (), |row| row.get(0))? {
        0 => {
            db.batch(TABLES)?;
            db.execute("INSERT INTO schema (version) VALUES (?1)", [VERSION]).map(drop)
        }
        VERSION => Ok(()),
        found => Err(Error::OtherStore { found, known: VERSION }),
    }
}

/// Whether a database of PostgreSQL has the tables of a store.
pub(super) fn is_used(db: &Db) -> Result<bool, Error> {
    db.exists(
        "SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = 'schema'",
        (),
    )
}
