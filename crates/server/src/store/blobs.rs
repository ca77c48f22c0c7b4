//! Blobs: ciphertexts, server keys and programs by the hash of their bytes; and the keys that are registered.

use super::db::{Db, Row};
use super::usage::{RECORD, has_room};
use super::{Store, make_private, record};
use crate::error::Error;
use crate::id::{Digest, Tenant};
use crate::time;
use serde::Serialize;
use solinas_formats::NewFile;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What the store knows of a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blob {
    pub(crate) bytes: u64,
    /// `ciphertext`, `server-key` or `program`.
    pub(crate) kind: String,
    pub(crate) key_id: Option<String>,
}

/// A blob that arrives.
pub(crate) struct Incoming {
    file: NewFile,
    hash: blake3::Hasher,
    bytes: u64,
}

impl Incoming {
    /// Begins a file.
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        let file = NewFile::create(path, true, true).map_err(Error::io("write", path))?;
        Ok(Self { file, hash: blake3::Hasher::new(), bytes: 0 })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.file.write_all(bytes).map_err(Error::io("write", self.file.path()))
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn digest(&self) -> Digest {
        Digest::of(&self.hash.finalize())
    }

    /// Makes the bytes durable under their name.
    pub(crate) fn persist(self) -> Result<PathBuf, Error> {
        let path = self.file.path().to_path_buf();
        self.file.persist().map_err(Error::io("write", &path))?;
        Ok(path)
    }
}

/// A registered key.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct KeyRow {
    pub(crate) key_id: String,
    pub(crate) blob: Digest,
    pub(crate) name: Option<String>,
    /// Scheme, parameters and security.
    pub(crate) facts: serde_json::Value,
    pub(crate) created: String,
    pub(crate) last_used: String,
    pub(crate) expires: String,
}

impl KeyRow {
    const COLUMNS: &str = "key_id, blob, name, facts, created, last_used, keep_for";

    fn read(row: &Row<'_>) -> Result<Self, Error> {
        let (facts, last_used): (String, i64) = (row.get(3)?, row.get(5)?);
        Ok(Self {
            key_id: row.get(0)?,
            blob: digest(row, 1)?,
            name: row.get(2)?,
            facts: serde_json::from_str(&facts).unwrap_or_default(),
            created: time::text(row.get(4)?),
            last_used: time::text(last_used),
            expires: time::text(last_used + row.get::<i64>(6)?),
        })
    }
}

/// Whether the record of the last use is old enough to be written again. It costs a write to the disk.
fn is_stale(last_used: i64) -> bool {
    time::now() - last_used > time::HOUR
}

pub(super) fn digest(row: &Row<'_>, column: usize) -> Result<Digest, Error> {
    let text: String = row.get(column)?;
    Ok(text.parse()?)
}

/// The path of a blob in the folder of a store.
pub(super) fn relative(tenant: &Tenant, digest: &Digest) -> String {
    let (folder, name) = digest.hex().split_at(2);
    format!("blobs/{tenant}/{folder}/{name}")
}

/// The blob with this path.
pub(super) fn of_relative(path: &str) -> Option<(Tenant, Digest)> {
    let (tenant, rest) = path.strip_prefix("blobs/")?.split_once('/')?;
    let (folder, name) = rest.split_once('/')?;
    let found = (Tenant::new(tenant).ok()?, format!("b3-{folder}{name}").parse().ok()?);
    (relative(&found.0, &found.1) == path).then_some(found)
}

/// Records a blob with this file. The caller has the lock of the database.
pub(super) fn insert(db: &Db, path: &Path, tenant: &Tenant, digest: &Digest, blob: &Blob) -> Result<(), Error> {
    // A sweep may have removed the file of an equal blob. It holds the lock of the database meanwhile.
    std::fs::metadata(path).map_err(Error::io("find", path))?;
    db.execute(
        "INSERT INTO blob (tenant, digest, bytes, kind, key_id, created, last_used) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6) \
         ON CONFLICT (tenant, digest) DO UPDATE SET last_used = ?6",
        (tenant.as_str(), digest.as_str(), blob.bytes as i64, &blob.kind, &blob.key_id, time::now()),
    )?;
    Ok(())
}

impl Store {
    /// The file of a blob, which need not exist.
    pub(crate) fn path(&self, tenant: &Tenant, digest: &Digest) -> PathBuf {
        self.folder.join(relative(tenant, digest))
    }

    /// Begins a blob with this digest.
    pub(crate) fn receive(&self, tenant: &Tenant, digest: &Digest) -> Result<Incoming, Error> {
        let path = self.path(tenant, digest);
        make_private(path.parent().unwrap_or(&self.folder))?;
        Incoming::create(&path)
    }

    /// As [`Self::put_bytes`], within the quota of the tenant. None if there is no room.
    pub(crate) fn put_within(
        &self,
        tenant: &Tenant,
        kind: &str,
        bytes: &[u8],
        quota: u64,
    ) -> Result<Option<Digest>, Error> {
        let digest = Digest::of(&blake3::hash(bytes));
        if self.blob(tenant, &digest)?.is_none() {
            let mut incoming = self.receive(tenant, &digest)?;
            incoming.write(bytes)?;
            incoming.persist()?;
        }
        let blob = Blob { bytes: bytes.len() as u64, kind: kind.to_owned(), key_id: None };
        Ok(self.add_within(tenant, &digest, &blob, quota)?.then_some(digest))
    }

    /// Stores bytes of this service: a result. Returns their digest.
    pub(crate) fn put_bytes(
        &self,
        tenant: &Tenant,
        kind: &str,
        key_id: Option<&str>,
        bytes: &[u8],
    ) -> Result<Digest, Error> {
        let digest = Digest::of(&blake3::hash(bytes));
        if self.blob(tenant, &digest)?.is_none() {
            let mut incoming = self.receive(tenant, &digest)?;
            incoming.write(bytes)?;
            incoming.persist()?;
        }
        let blob = Blob { bytes: bytes.len() as u64, kind: kind.to_owned(), key_id: key_id.map(str::to_owned) };
        self.add_blob(tenant, &digest, &blob)?;
        Ok(digest)
    }

    /// Records a blob whose file is durable, if the quota of the tenant has room for it. Otherwise it removes the file, and returns false.
    pub(crate) fn add_within(&self, tenant: &Tenant, digest: &Digest, blob: &Blob, quota: u64) -> Result<bool, Error> {
        let db = self.db();
        let transaction = db.transaction()?;
        let known = transaction
            .exists("SELECT 1 FROM blob WHERE tenant = ?1 AND digest = ?2", (tenant.as_str(), digest.as_str()))?;
        if !known && !has_room(&transaction, tenant.as_str(), blob.bytes, quota)? {
            drop(transaction);
            // The lock is held, so that nobody stores the same blob between the two steps.
            self.remove_file(tenant, digest);
            return Ok(false);
        }
        insert(&transaction, &self.path(tenant, digest), tenant, digest, blob)?;
        transaction.commit()?;
        Ok(true)
    }

    /// Records a blob whose file is durable, also if it is more than the quota of the tenant allows: a result of a job that was accepted.
    pub(crate) fn add_blob(&self, tenant: &Tenant, digest: &Digest, blob: &Blob) -> Result<(), Error> {
        insert(&self.db(), &self.path(tenant, digest), tenant, digest, blob)
    }

    /// What is known of a blob. It counts as used.
    pub(crate) fn blob(&self, tenant: &Tenant, digest: &Digest) -> Result<Option<Blob>, Error> {
        let db = self.db();
        let id = (tenant.as_str(), digest.as_str());
        let sql = "SELECT bytes, kind, key_id, last_used FROM blob WHERE tenant = ?1 AND digest = ?2";
        let found = db.query_opt(sql, id, |row| {
            let bytes = row.get::<i64>(0)?.unsigned_abs();
            Ok((Blob { bytes, kind: row.get(1)?, key_id: row.get(2)? }, row.get(3)?))
        });
        let Some((blob, used)) = found? else { return Ok(None) };
        if !self.is_whole(tenant, digest, &blob) {
            return Ok(None);
        }
        if is_stale(used) {
            let sql = "UPDATE blob SET last_used = ?3 WHERE tenant = ?1 AND digest = ?2";
            record(db.execute(sql, (id.0, id.1, time::now())));
        }
        Ok(Some(blob))
    }

    /// Whether the file of a blob has its length. A blob that the disk has lost can be sent again.
    fn is_whole(&self, tenant: &Tenant, digest: &Digest, blob: &Blob) -> bool {
        let path = self.path(tenant, digest);
        let whole = path.metadata().is_ok_and(|file| file.len() == blob.bytes);
        if !whole {
            tracing::error!(path = %path.display(), "the file of a blob is damaged or gone");
        }
        whole
    }

    /// Registers a key. Returns the digest of the bytes that are registered under its identity: other ones, if there were.
    pub(crate) fn add_key(
        &self,
        tenant: &Tenant,
        key_id: &str,
        blob: &Digest,
        name: Option<&str>,
        facts: &serde_json::Value,
        keep_for: i64,
    ) -> Result<(Digest, bool), Error> {
        let db = self.db();
        let added = db.execute(
            "INSERT INTO key (tenant, key_id, blob, name, facts, created, last_used, keep_for) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7) \
             ON CONFLICT (tenant, key_id) DO NOTHING",
            (tenant.as_str(), key_id, blob.as_str(), name, facts.to_string(), time::now(), keep_for),
        )?;
        let sql = "SELECT blob FROM key WHERE tenant = ?1 AND key_id = ?2";
        Ok((db.query_row(sql, (tenant.as_str(), key_id), |row| digest(row, 0))?, added > 0))
    }

    /// A registered key, which counts as used.
    pub(crate) fn key(&self, tenant: &Tenant, key_id: &str) -> Result<Option<KeyRow>, Error> {
        let db = self.db();
        let sql = format!("SELECT {} FROM key WHERE tenant = ?1 AND key_id = ?2", KeyRow::COLUMNS);
        let found = db.query_opt(&sql, (tenant.as_str(), key_id), |row| Ok((KeyRow::read(row)?, row.get(5)?)));
        let Some((key, used)) = found? else { return Ok(None) };
        if is_stale(used) {
            let sql = "UPDATE key SET last_used = ?3 WHERE tenant = ?1 AND key_id = ?2";
            record(db.execute(sql, (tenant.as_str(), key_id, time::now())));
        }
        Ok(Some(key))
    }

    /// The keys of a tenant.
    pub(crate) fn keys(&self, tenant: &Tenant) -> Result<Vec<KeyRow>, Error> {
        let sql = format!("SELECT {} FROM key WHERE tenant = ?1 ORDER BY created", KeyRow::COLUMNS);
        self.db().query(&sql, [tenant.as_str()], KeyRow::read)
    }

    /// Removes a key and its blob. Returns false if a live job uses it, and None if there is none.
    pub(crate) fn remove_key(&self, tenant: &Tenant, key_id: &str) -> Result<Option<bool>, Error> {
        let db = self.db();
        let transaction = db.transaction()?;
        let sql = "SELECT blob FROM key WHERE tenant = ?1 AND key_id = ?2";
        let Some(blob) = transaction.query_opt(sql, (tenant.as_str(), key_id), |row| digest(row, 0))? else {
            return Ok(None);
        };
        let sql = "SELECT COUNT(*) FROM job WHERE tenant = ?1 AND key_id = ?2 AND state IN ('queued', 'running')";
        let live: i64 = transaction.query_row(sql, (tenant.as_str(), key_id), |row| row.get(0))?;
        if live > 0 {
            return Ok(Some(false));
        }
        transaction.execute("DELETE FROM key WHERE tenant = ?1 AND key_id = ?2", (tenant.as_str(), key_id))?;
        transaction.execute("DELETE FROM blob WHERE tenant = ?1 AND digest = ?2", (tenant.as_str(), blob.as_str()))?;
        transaction.commit()?;
        // The lock is held, so that nobody stores the same blob between the two steps.
        self.remove_file(tenant, &blob);
        Ok(Some(true))
    }

    /// Removes the file of a blob without a row. A file that stays is garbage only.
    pub(super) fn remove_file(&self, tenant: &Tenant, digest: &Digest) {
        if let Err(error) = std::fs::remove_file(self.path(tenant, digest)) {
            tracing::warn!(%error, %digest, "the file of a blob stays");
        }
    }

    /// Removes the file of a blob unless a row names it: the tenant may have sent the same bytes.
    pub(crate) fn remove_nameless(&self, tenant: &Tenant, digest: &Digest) -> Result<(), Error> {
        // The lock is held until the file is gone, so that nobody records it between the two steps.
        let db = self.db();
        let sql = "SELECT 1 FROM blob WHERE tenant = ?1 AND digest = ?2";
        if !db.exists(sql, (tenant.as_str(), digest.as_str()))? {
            self.remove_file(tenant, digest);
        }
        Ok(())
    }

    /// Records a program.
    pub(crate) fn add_program(
        &self,
        tenant: &Tenant,
        digest: &Digest,
        facts: &serde_json::Value,
    ) -> Result<bool, Error> {
        let facts = facts.to_string();
        let added = self.db().execute(
            "INSERT INTO program (tenant, digest, facts, created, bytes) VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT (tenant, digest) DO NOTHING",
            (tenant.as_str(), digest.as_str(), &facts, time::now(), RECORD as i64 + facts.len() as i64),
        )?;
        Ok(added > 0)
    }

    /// What is known of a program.
    pub(crate) fn program(&self, tenant: &Tenant, digest: &Digest) -> Result<Option<serde_json::Value>, Error> {
        let sql = "SELECT facts FROM program WHERE tenant = ?1 AND digest = ?2";
        let facts: Option<String> = self.db().query_opt(sql, (tenant.as_str(), digest.as_str()), |row| row.get(0))?;
        Ok(facts.map(|facts| serde_json::from_str(&facts).unwrap_or_default()))
    }
}
