//! What tenants used, by day, and what they store.

use super::db::Db;
use super::{Store, record};
use crate::error::Error;
use crate::id::Tenant;
use crate::time;
use serde::Serialize;

/// What a tenant used today, and what it stores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Used {
    pub(crate) core_seconds: f64,
    pub(crate) bytes_in: i64,
    pub(crate) bytes_out: i64,
    pub(crate) stored_bytes: u64,
}

/// Adds to the usage of today.
pub(super) fn add(db: &Db, tenant: &str, core_ms: i64, bytes_in: u64, bytes_out: u64) -> Result<(), Error> {
    db.execute(
        "INSERT INTO usage (tenant, day, core_ms, bytes_in, bytes_out) VALUES (?1, ?2, ?3, ?4, ?5) \
         ON CONFLICT (tenant, day) DO UPDATE SET core_ms = usage.core_ms + ?3, bytes_in = usage.bytes_in + ?4, \
         bytes_out = usage.bytes_out + ?5",
        (tenant, time::day(time::now()), core_ms, bytes_in as i64, bytes_out as i64),
    )?;
    Ok(())
}

impl Store {
    /// Adds to the transfers of today.
    pub(crate) fn transferred(&self, tenant: &Tenant, bytes_in: u64, bytes_out: u64) {
        record(add(&self.db(), tenant.as_str(), 0, bytes_in, bytes_out));
    }

    pub(crate) fn used(&self, tenant: &Tenant) -> Result<Used, Error> {
        let db = self.db();
        let sql = "SELECT CAST(COALESCE(SUM(core_ms), 0) AS BIGINT), CAST(COALESCE(SUM(bytes_in), 0) AS BIGINT), \
                   CAST(COALESCE(SUM(bytes_out), 0) AS BIGINT) FROM usage WHERE tenant = ?1 AND day = ?2";
        let mut used = db.query_row(sql, (tenant.as_str(), time::day(time::now())), |row| {
            Ok(Used {
                core_seconds: row.get::<i64>(0)? as f64 / 1e3,
                bytes_in: row.get(1)?,
                bytes_out: row.get(2)?,
                stored_bytes: 0,
            })
        })?;
        let sql = "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM blob WHERE tenant = ?1";
        used.stored_bytes = db.query_row(sql, [tenant.as_str()], |row| row.get::<i64>(0))?.unsigned_abs();
        Ok(used)
    }

    /// Bytes of all blobs.
    pub(crate) fn blob_bytes(&self) -> Result<u64, Error> {
        let sql = "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM blob";
        Ok(self.db().query_row(sql, (), |row| row.get::<i64>(0))?.unsigned_abs())
    }
}
