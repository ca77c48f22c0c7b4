//! The store: a database of SQLite or PostgreSQL, and a folder of blobs.
//!
//! A blob is durable before its row is, and a row is removed before its blob. So a row always has its blob, and a blob without a row is garbage.

mod accounts;
pub(crate) mod audit;
mod backup;
mod blobs;
#[cfg(test)]
#[allow(dead_code, reason = "the tests of the service need all of it")]
#[path = "../../tests/service/cluster.rs"]
mod cluster;
mod db;
mod file_system;
mod jobs;
pub(crate) mod lease_periods;
mod leases;
mod postgres;
pub(crate) mod result;
mod schema;
mod sweep;
pub(crate) mod timeline;
mod transfer;
mod uploads;
mod usage;
mod value;

pub use accounts::TokenInfo;
pub use backup::{Checked, Contents};
pub(crate) use blobs::{Blob, Incoming};
pub(crate) use jobs::{JobRow, NewJob, State, Submitted};
pub(crate) use leases::{Finished, Lease, Runner};
pub use transfer::Moved;
pub(crate) use uploads::{Part, Upload};
pub(crate) use usage::Arrival;

use crate::database::{self, Database};
use crate::error::Error;
use crate::lock::lock;
use crate::time;
use db::Db;
use postgres::Postgres;
use solinas_formats::Lock;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The file of the database.
const DATABASE: &str = "solinas.db";
/// How long the answer of a trial write holds.
const TRIAL: Duration = Duration::from_secs(5);

/// The store. Its calls block for about a millisecond.
pub struct Store {
    folder: PathBuf,
    db: Mutex<Db>,
    /// What arrives now.
    arriving: Arc<usage::Arriving>,
    /// Whether the last trial write succeeded, and its time.
    writable: Mutex<Option<(Instant, bool)>>,
    /// Locked while a service runs.
    _lock: Option<Lock>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the store for the commands of its operator. A service may run meanwhile.
    ///
    /// # Errors
    /// [`Error::NoStore`]; from the folder and the database; [`Error::OtherStore`].
    pub fn open(folder: &Path) -> Result<Self, Error> {
        if !Self::exists(folder) {
            return Err(Error::NoStore(folder.to_path_buf()));
        }
        Self::at(folder, None)
    }

    /// As [`Self::open`]. Makes a store if the folder has none.
    ///
    /// # Errors
    /// As [`Self::open`], but for [`Error::NoStore`].
    pub fn open_or_make(folder: &Path) -> Result<Self, Error> {
        Self::at(folder, None)
    }

    /// Whether the folder has a store.
    pub fn exists(folder: &Path) -> bool {
        folder.join(DATABASE).exists() || folder.join(database::ADDRESS).exists()
    }

    /// Opens the store for a service. A job that runs in this service by the records lost its process, so it waits again.
    ///
    /// # Errors
    /// As [`Self::open`]; [`Error::InUse`] while another service runs on it; [`Error::Setting`] if its records are in another database than the one that
    /// is wanted.
    pub(crate) fn serve(folder: &Path, wanted: Option<&Database>) -> Result<Self, Error> {
        let lock = lock_folder(folder, Error::InUse)?;
        let is_used = |database: &Database| schema::is_used(&Db::Postgres(Postgres::connect(database, false)?));
        Database::choose(folder, wanted, folder.join(DATABASE).exists(), is_used)?;
        let store = Self::at(folder, Some(lock))?;
        match &*store.db() {
            Db::Postgres(db) => db.hurry(),
            Db::Sqlite(_) => {
                if let Some(kind) = file_system::network(folder) {
                    tracing::warn!(
                        folder = %folder.display(),
                        "the store is on a file system of a network ({kind}), where SQLite can lose its records; move it to a disk of this machine, or use PostgreSQL (--database)"
                    );
                }
            }
        }
        store.release_own()?;
        store.remove_left_checkpoints()?;
        remove_unfinished(&folder.join("blobs"));
        remove_unfinished(&folder.join("checkpoints"));
        Ok(store)
    }

    fn at(folder: &Path, lock: Option<Lock>) -> Result<Self, Error> {
        make_private(folder)?;
        for part in ["blobs", "checkpoints", "uploads"] {
            make_private(&folder.join(part))?;
        }
        let db = match Database::of(folder)? {
            Some(database) => Db::Postgres(Postgres::connect(&database, lock.is_some())?),
            None => Db::sqlite(&folder.join(DATABASE))?,
        };
        schema::create(&db)?;
        let (folder, arriving) = (folder.to_path_buf(), Arc::default());
        Ok(Self { folder, db: Mutex::new(db), arriving, writable: Mutex::default(), _lock: lock })
    }

    fn db(&self) -> MutexGuard<'_, Db> {
        lock(&self.db)
    }

    /// Whether the database takes writes. Anybody may ask, so a trial is made every five seconds at most.
    pub(crate) fn is_writable(&self) -> bool {
        let mut writable = lock(&self.writable);
        if let Some((_, known)) = writable.filter(|(tried, _)| tried.elapsed() < TRIAL) {
            return known;
        }
        let written = match &*self.db() {
            // The number must change: what stays the same is not written.
            Db::Sqlite(db) => {
                let number = (time::now() / time::SECOND) as i32;
                db.pragma_update(None, "user_version", number).map_err(Error::from)
            }
            db => db.execute("UPDATE schema SET version = version", ()).map(drop),
        };
        match &written {
            // It was logged.
            Ok(()) | Err(Error::Away(_)) => {}
            Err(error) => tracing::error!(%error, "the database takes no writes"),
        }
        *writable = Some((Instant::now(), written.is_ok()));
        written.is_ok()
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Looks at a write of a record that only serves statistics or ageing. A full disk must not stop those who read, so a failure is logged and no more.
fn record<T>(written: Result<T, Error>) {
    match written {
        Ok(_) | Err(Error::Away(_)) => {}
        Err(error) => tracing::error!(%error, "a record was not written"),
    }
}

/// Locks a folder for one process. Makes the folder.
///
/// # Errors
/// `in_use` while another process has it; [`Error::Io`].
pub(crate) fn lock_folder(folder: &Path, in_use: fn(PathBuf) -> Error) -> Result<Lock, Error> {
    make_private(folder)?;
    let path = folder.join("lock");
    Lock::take(&path).map_err(Error::io("lock", &path))?.ok_or_else(|| in_use(folder.to_path_buf()))
}

/// Makes the names in a folder durable.
fn sync_folder(folder: &Path) -> Result<(), Error> {
    match cfg!(unix) {
        true => File::open(folder).and_then(|open| open.sync_all()).map_err(Error::io("write", folder)),
        false => Ok(()),
    }
}

/// Removes the files that a process which was killed had not finished.
fn remove_unfinished(folder: &Path) {
    solinas_formats::clear_leftovers(folder);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_unfinished(&entry.path());
        }
    }
}

/// Makes a folder that its owner alone can read.
pub(crate) fn make_private(folder: &Path) -> Result<(), Error> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let is_file = folder.exists() && !folder.is_dir();
    let made = if is_file { Err(std::io::ErrorKind::NotADirectory.into()) } else { builder.create(folder) };
    made.map_err(Error::io("make", folder))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = folder.metadata().map_err(Error::io("read", folder))?.permissions().mode();
        // The folder may have existed before.
        if mode & 0o077 != 0 {
            let private = std::fs::Permissions::from_mode(0o700);
            std::fs::set_permissions(folder, private).map_err(Error::io("protect", folder))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::cluster;
    use super::jobs::NewJob;
    use crate::id::{Digest, Id};
    use serde_json::Value;

    /// The folder of a new store. Its records are in PostgreSQL if the tests run on it.
    pub(super) fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        cluster::prepare(folder.path());
        folder
    }

    /// A job of key `k` that needs a program and other blobs.
    pub(super) fn new_job(program: Digest, others: &[Digest]) -> NewJob {
        NewJob {
            id: Id::new(),
            name: None,
            priority: 0,
            spec: Value::Null,
            cost: Value::Null,
            core_ms_expected: 0,
            keep_for: 0,
            key_id: "k".into(),
            program: program.clone(),
            deadline: None,
            max_core_ms: None,
            blobs: others.iter().cloned().chain([program]).collect(),
        }
    }

    #[test]
    fn the_store_works_on_postgresql() {
        cluster::run_tests(&["store::"]);
    }
}
