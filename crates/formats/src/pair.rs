//! Two key files that get their names together.
//!
//! Both files are first written to a temporary folder. Then an old server key moves into this folder, the new server
//! key moves out, and the new client key moves out. The last move completes the pair. Before it, [`take_back`] can
//! restore the previous state.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::new_file::{TemporaryFolder, sync_folder};
use crate::{Error, Expect, KeyId, Kind, Reader, source};

const CLIENT: &str = "client.key";
const SERVER: &str = "server.key";
const OLD_SERVER: &str = "old-server.key";

/// A new key pair on its way into a folder. If it is dropped, nothing of it stays.
#[derive(Debug)]
pub struct NewPair {
    folder: PathBuf,
    new: TemporaryFolder,
}

impl NewPair {
    /// Creates a temporary folder inside `folder`, the destination of the pair.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::DiskFull`] from the file system.
    pub fn create_in(folder: &Path) -> Result<Self, Error> {
        let new = TemporaryFolder::create_in(folder).map_err(|e| Error::io(folder, "make a folder in", e))?;
        Ok(Self { folder: folder.to_path_buf(), new })
    }

    /// Path to which to write the new client key.
    pub fn client(&self) -> PathBuf {
        self.new.path().join(CLIENT)
    }

    /// Path to which to write the new server key.
    pub fn server(&self) -> PathBuf {
        self.new.path().join(SERVER)
    }

    /// Gives both written keys their names. With `replace`, they replace an existing pair.
    ///
    /// # Errors
    /// [`Error::Exists`] if a key exists and `replace` is false. [`Error::NotAFile`] and [`Error::Io`] from the file
    /// system. After an error the previous files are restored.
    pub fn place(self, replace: bool) -> Result<(), Error> {
        let (client, server) = (self.folder.join(CLIENT), self.folder.join(SERVER));
        // The lock keeps other pairs from moving between the renames.
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
            // Reports the first error.
            let _ = restore(self.new.path(), &self.folder);
            return placed;
        }
        let synced = lock.map_or_else(|| sync_folder(&self.folder), |lock| lock.sync_all());
        synced.map_err(|e| Error::io(&self.folder, "sync the folder", e))
    }
}

/// Undoes an incomplete [`NewPair::place`] of a killed process. `new` is its temporary folder. Does nothing if the move
/// was complete or had not begun.
///
/// # Errors
/// The errors of the file system.
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

/// Restores the previous server key if the new client key has not got its name.
fn restore(new: &Path, folder: &Path) -> io::Result<()> {
    let (server, old_server) = (folder.join(SERVER), new.join(OLD_SERVER));
    let Some(id) = key_id(&new.join(CLIENT), Kind::ClientKey) else { return Ok(()) };
    // A different server key that was written there since stays.
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
