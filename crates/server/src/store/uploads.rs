//! Uploads in parts. The bytes of an upload are in a file, and the database has the number of those that are durable. A process that is killed leaves a
//! file with more bytes than that, and the next part replaces them.

use super::blobs::{digest, insert};
use super::db::Row;
use super::usage::{RECORD, has_room};
use super::{Blob, Store, make_private, sync_folder};
use crate::error::Error;
use crate::id::{Digest, Id, Tenant};
use crate::time::{self, HOUR};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// An upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Upload {
    pub(crate) id: Id,
    /// The digest of the whole.
    pub(crate) digest: Digest,
    /// Bytes of the whole.
    pub(crate) length: u64,
    /// Bytes that are durable. The whole is a blob if these are all.
    pub(crate) received: u64,
    pub(crate) expires: i64,
}

/// A part that arrives.
#[derive(Debug)]
pub(crate) struct Part {
    file: File,
    path: PathBuf,
    /// Bytes of the upload that are in the file.
    pub(crate) end: u64,
}

impl Part {
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(Error::io("write", &self.path))?;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Makes the bytes durable.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        self.file.sync_data().map_err(Error::io("write", &self.path))
    }

    /// The digest of all bytes of the upload.
    pub(crate) fn digest(&self) -> Result<Digest, Error> {
        let mut hash = blake3::Hasher::new();
        let read = File::open(&self.path).and_then(|file| hash.update_reader(file).map(|hash| hash.finalize()));
        Ok(Digest::of(&read.map_err(Error::io("read", &self.path))?))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Store {
    /// The file of the bytes of an upload.
    fn part(&self, tenant: &Tenant, id: Id) -> PathBuf {
        self.folder.join("uploads").join(format!("{tenant}-{id}"))
    }

    /// Records an upload that is kept for so many hours after its last byte. None if the quota of the tenant has no room for the whole.
    pub(crate) fn begin_upload(
        &self,
        tenant: &Tenant,
        digest: Digest,
        length: u64,
        hours: u32,
        quota: u64,
    ) -> Result<Option<Upload>, Error> {
        let expires = time::now() + i64::from(hours) * HOUR;
        let upload = Upload { id: Id::new(), digest, length, received: 0, expires };
        let db = self.db();
        let transaction = db.transaction()?;
        if !has_room(&transaction, tenant.as_str(), length.saturating_add(RECORD), quota)? {
            return Ok(None);
        }
        transaction.execute(
            "INSERT INTO upload (tenant, id, digest, length, received, expires) VALUES (?1, ?2, ?3, ?4, 0, ?5)",
            (tenant.as_str(), upload.id.to_string(), upload.digest.as_str(), length as i64, expires),
        )?;
        transaction.commit()?;
        Ok(Some(upload))
    }

    /// An upload, which may have expired.
    pub(crate) fn upload(&self, tenant: &Tenant, id: Id) -> Result<Option<Upload>, Error> {
        let sql = "SELECT digest, length, received, expires FROM upload WHERE tenant = ?1 AND id = ?2";
        let read = |row: &Row<'_>| {
            let count = |column: usize| Ok::<_, Error>(row.get::<i64>(column)?.unsigned_abs());
            Ok(Upload { id, digest: digest(row, 0)?, length: count(1)?, received: count(2)?, expires: row.get(3)? })
        };
        let found = self.db().query_opt(sql, (tenant.as_str(), id.to_string()), read)?;
        Ok(found.map(|mut upload| {
            if upload.received < upload.length {
                // A store that was restored has no such file.
                let present = std::fs::metadata(self.part(tenant, id)).map_or(0, |file| file.len());
                upload.received = upload.received.min(present);
            }
            upload
        }))
    }

    /// The number of uploads of a tenant that are not whole.
    pub(crate) fn open_uploads(&self, tenant: &Tenant) -> Result<u64, Error> {
        let sql = "SELECT COUNT(*) FROM upload WHERE tenant = ?1 AND received < length AND expires > ?2";
        let count = |row: &Row<'_>| Ok(row.get::<i64>(0)?.unsigned_abs());
        self.db().query_row(sql, (tenant.as_str(), time::now()), count)
    }

    /// Opens the file of an upload behind its durable bytes.
    pub(crate) fn append(&self, tenant: &Tenant, upload: &Upload) -> Result<Part, Error> {
        let path = self.part(tenant, upload.id);
        let mut options = File::options();
        options.write(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let open = || {
            let mut file = options.open(&path)?;
            file.set_len(upload.received)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().map_err(Error::io("write", &path))?;
        if upload.received == 0 {
            sync_folder(&self.folder.join("uploads"))?;
        }
        Ok(Part { file, path, end: upload.received })
    }

    /// Records the number of durable bytes. Returns whether the upload still exists.
    pub(crate) fn received(&self, tenant: &Tenant, id: Id, bytes: u64, hours: u32) -> Result<bool, Error> {
        let changed = self.db().execute(
            "UPDATE upload SET received = ?3, expires = ?4 WHERE tenant = ?1 AND id = ?2",
            (tenant.as_str(), id.to_string(), bytes as i64, time::now() + i64::from(hours) * HOUR),
        )?;
        Ok(changed > 0)
    }

    /// Makes a whole upload, whose bytes are durable and checked, a blob. Returns whether the upload still existed.
    pub(crate) fn complete(&self, tenant: &Tenant, upload: &Upload, blob: &Blob) -> Result<bool, Error> {
        let (part, path) = (self.part(tenant, upload.id), self.path(tenant, &upload.digest));
        let folder = path.parent().unwrap_or(&self.folder);
        make_private(folder)?;
        // The file has both names until the record is durable, so that a kill in between loses no bytes. A file system without such names has one.
        let second = part.with_extension("whole");
        let _ = std::fs::remove_file(&second);
        let named = std::fs::hard_link(&part, &second).or_else(|_| std::fs::rename(&part, &second));
        named.and_then(|()| std::fs::rename(&second, &path)).map_err(Error::io("write", &path))?;
        sync_folder(folder)?;
        let db = self.db();
        let transaction = db.transaction()?;
        let whole = transaction.execute(
            "UPDATE upload SET received = length WHERE tenant = ?1 AND id = ?2",
            (tenant.as_str(), upload.id.to_string()),
        )?;
        if whole > 0 {
            insert(&transaction, &path, tenant, &upload.digest, blob)?;
        }
        transaction.commit()?;
        drop(db);
        self.remove_part(tenant, upload.id);
        Ok(whole > 0)
    }

    /// Removes an upload and its bytes. Returns whether there was one.
    pub(crate) fn remove_upload(&self, tenant: &Tenant, id: Id) -> Result<bool, Error> {
        let sql = "DELETE FROM upload WHERE tenant = ?1 AND id = ?2";
        let removed = self.db().execute(sql, (tenant.as_str(), id.to_string()))?;
        self.remove_part(tenant, id);
        Ok(removed > 0)
    }

    fn remove_part(&self, tenant: &Tenant, id: Id) {
        let part = self.part(tenant, id);
        // Most have no second name, and one that has brought no bytes has none. What stays is swept.
        let _ = std::fs::remove_file(part.with_extension("whole"));
        let _ = std::fs::remove_file(part);
    }

    /// Removes uploads that have expired, and files that no open one needs.
    pub(super) fn sweep_uploads(&self) -> Result<usize, Error> {
        let sql = "SELECT tenant, id FROM upload WHERE expires < ?1 LIMIT ?2";
        let mut removed = 0;
        for (tenant, id) in self.listed(sql, time::now())? {
            if let Ok(id) = id.parse() {
                removed += usize::from(self.remove_upload(&tenant, id)?);
            }
        }
        let folder = self.folder.join("uploads");
        let files = std::fs::read_dir(&folder).map_err(Error::io("read", &folder))?;
        for file in files.flatten() {
            let name = file.file_name();
            let name = name.to_string_lossy();
            let is_open = match name.rsplit_once('-').map(|(tenant, id)| (Tenant::new(tenant), id.parse::<Id>())) {
                Some((Ok(tenant), Ok(id))) => {
                    self.upload(&tenant, id)?.is_some_and(|upload| upload.received < upload.length)
                }
                _ => false,
            };
            if !is_open {
                // The next pass tries again.
                let _ = std::fs::remove_file(file.path());
            }
        }
        Ok(removed)
    }
}
