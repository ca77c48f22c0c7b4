//! Two keys that get their names together.
//!
//! Both are written to a temporary folder. Then an older server key moves in there, the new one moves out, and the new client key moves out: this is the step
//! that makes the pair. Before it, [`take_back`] restores what was there.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::new_file::{TemporaryFolder, sync_folder};
use crate::{Error, Expect, KeyId, Kind, Reader, source};

const CLIENT: &str = "client.key";
const SERVER: &str = "server.key";
const OLD_SERVER: &str = "old-server.key";

/// A key pair on its way into a folder; nothing of it stays if it is dropped.
#[derive(Debug)]
pub struct NewPair {
    folder: PathBuf,
    new: TemporaryFolder,
}

impl NewPair {
    /// A temporary folder within `folder`, where the pair is to be.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::DiskFull`].
    pub fn create_in(folder: &Path) -> Result<Self, Error> {
        let new = TemporaryFolder::create_in(folder).map_err(|e| Error::io(folder, "make a folder in", e))?;
        Ok(Self { folder: folder.to_path_buf(), new })
    }

    /// Where the new client key is to be written.
    pub fn client(&self) -> PathBuf {
        self.new.path().join(CLIENT)
    }

    /// Where the new server key is to be written.
    pub fn server(&self) -> PathBuf {
        self.new.path().join(SERVER)
    }

    /// Gives both keys, which are written, their names; with `replace` in place of a pair that is there.
    ///
    /// # Errors
    /// [`Error::Exists`]; [`Error::NotAFile`]; [`Error::Io`]. What was there is there again.
    pub fn place(self, replace: bool) -> Result<(), Error> {
        let (client, server) = (self.folder.join(CLIENT), self.folder.join(SERVER));
        // No other pair comes between the renames.
        let lock = lock(&self.folder).map_err(|e| Error::io(&self.folder, "lock the folder", e))?;
        for path in [&client, &server] {
            match fs::symlink_metadata(path) {
                Err(_) => {}
                Ok(found) => {
                    source::check_ordinary(path, &found)?;
                    if !replace {
                        return Err(Error::Exists { path: path.clone(), secret: *path == client });
                    }
                }
            }
        }
        if server.exists() {
            fs::rename(&server, self.new.path().join(OLD_SERVER)).map_err(|e| Error::io(&server, "replace", e))?;
        }
        let placed = fs::rename(self.server(), &server)
            .map_err(|e| Error::io(&server, "write", e))
            .and_then(|()| fs::rename(self.client(), &client).map_err(|e| Error::io(&client, "write", e)));
        if placed.is_err() {
            // The first error is the one to tell.
            let _ = restore(self.new.path(), &self.folder);
            return placed;
        }
        let synced = lock.map_or_else(|| sync_folder(&self.folder), |lock| lock.sync_all());
        synced.map_err(|e| Error::io(&self.folder, "sync the folder", e))
    }
}

/// Undoes what [`NewPair::place`] did in `folder` before its process ended: `new` is its temporary folder. Nothing, where it did all or nothing.
///
/// # Errors
/// Those of the file system.
pub(crate) fn take_back(new: &Path, folder: &Path) -> io::Result<()> {
    let _lock = lock(folder)?;
    restore(new, folder)
}

fn lock(folder: &Path) -> io::Result<Option<File>> {
    if !cfg!(unix) {
        return Ok(None);
    }
    let file = File::open(folder)?;
    file.lock()?;
    Ok(Some(file))
}

/// The server key before, where the new client key has not got its name.
fn restore(new: &Path, folder: &Path) -> io::Result<()> {
    let (server, old_server) = (folder.join(SERVER), new.join(OLD_SERVER));
    let Some(id) = key_id(&new.join(CLIENT), Kind::ClientKey) else { return Ok(()) };
    // Whoever wrote another server key there since then keeps it.
    let is_new = || key_id(&server, Kind::ServerKey) == Some(id);
    if old_server.exists() {
        if !server.exists() || is_new() {
            fs::rename(&old_server, &server)?;
        }
    } else if !new.join(SERVER).exists() && is_new() {
        fs::remove_file(&server)?;
    }
    sync_folder(folder)
}

fn key_id(path: &Path, kind: Kind) -> Option<KeyId> {
    Reader::open(path, Expect::kind(kind)).ok()?.header().key_id
}
