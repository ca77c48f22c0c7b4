//! What tenants used, by day, and what they store.

use super::db::Db;
use super::{Store, record};
use crate::error::Error;
use crate::id::Tenant;
use crate::lock::lock;
use crate::time;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Bytes that a record counts beside its texts: of a job, of an upload, of a program.
pub(super) const RECORD: u64 = 1 << 10;

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

/// Bytes that a tenant stores, or will store when its open uploads are whole: files, the progress of jobs, and records.
fn stored(db: &Db, tenant: &str) -> Result<u64, Error> {
    let sum =
        |sql: &str| -> Result<u64, Error> { Ok(db.query_row(sql, [tenant], |row| row.get::<i64>(0))?.unsigned_abs()) };
    let files = sum("SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM blob WHERE tenant = ?1")?;
    let jobs = sum("SELECT CAST(COALESCE(SUM(bytes + kept), 0) AS BIGINT) FROM job WHERE tenant = ?1")?;
    let programs = sum("SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM program WHERE tenant = ?1")?;
    // The record of a whole upload stays for a time, so that its client hears of the end.
    let uploads = sum(
        "SELECT CAST(COALESCE(SUM(CASE WHEN received < length THEN length ELSE 0 END), 0) AS BIGINT) FROM upload WHERE tenant = ?1",
    )?;
    let count = sum("SELECT COUNT(*) FROM upload WHERE tenant = ?1")?;
    Ok([files, jobs, programs, uploads, count.saturating_mul(RECORD)].into_iter().fold(0, u64::saturating_add))
}

/// Whether a tenant may store so many bytes more. The caller stores them in the same transaction, so that no other request takes their place.
pub(super) fn has_room(db: &Db, tenant: &str, bytes: u64, quota: u64) -> Result<bool, Error> {
    Ok(stored(db, tenant)?.saturating_add(bytes) <= quota)
}

/// The bytes of each tenant that arrive now, and have no record yet.
#[derive(Debug, Default)]
pub(super) struct Arriving(Mutex<BTreeMap<Tenant, u64>>);

/// Bytes that arrive, until it is dropped.
#[derive(Debug)]
pub(crate) struct Arrival {
    all: Arc<Arriving>,
    tenant: Tenant,
    bytes: u64,
}

impl Drop for Arrival {
    fn drop(&mut self) {
        let mut all = lock(&self.all.0);
        match all.get(&self.tenant).map_or(0, |bytes| bytes.saturating_sub(self.bytes)) {
            0 => all.remove(&self.tenant),
            left => all.insert(self.tenant.clone(), left),
        };
    }
}

impl Store {
    /// Begins the arrival of a file, or lets one grow to so many bytes. Returns false if the tenant would store more than its quota.
    pub(crate) fn arrives(&self, arrival: &mut Arrival, bytes: u64, quota: u64) -> Result<bool, Error> {
        let stored = stored(&self.db(), arrival.tenant.as_str())?;
        let mut all = lock(&self.arriving.0);
        let others = all.get(&arrival.tenant).map_or(0, |all| all.saturating_sub(arrival.bytes));
        let expected = others.saturating_add(bytes);
        if stored.saturating_add(expected) > quota {
            return Ok(false);
        }
        all.insert(arrival.tenant.clone(), expected);
        arrival.bytes = bytes;
        Ok(true)
    }

    /// An arrival of a tenant, without bytes so far.
    pub(crate) fn arrival(&self, tenant: &Tenant) -> Arrival {
        Arrival { all: Arc::clone(&self.arriving), tenant: tenant.clone(), bytes: 0 }
    }

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
        used.stored_bytes = stored(&db, tenant.as_str())?;
        Ok(used)
    }

    /// Bytes of all blobs.
    pub(crate) fn blob_bytes(&self) -> Result<u64, Error> {
        let sql = "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM blob";
        Ok(self.db().query_row(sql, (), |row| row.get::<i64>(0))?.unsigned_abs())
    }
}
