//! The key files of a pair, which get their names together.
//!
//! All files are first written to a temporary folder. Then an old server key moves into this folder and the new server key
//! moves out; the same with the public key, if there is one. The new client key moves out last, which completes the pair.
//! Before that, [`take_back`] can restore the previous state.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::new_file::{TemporaryFolder, sync_folder};
use crate::{Error, Expect, KeyId, Kind, Reader, source};

const CLIENT: &str = "client.key";
/// The other files, the kind of their contents, and the names of the replaced ones.
const OTHERS: [(&str, Kind, &str); 2] =
    [("server.key", Kind::ServerKey, "old-server.key"), ("public.key", Kind::PublicKey, "old-public.key")];

/// The files of a new key pair on their way into a folder. If it is dropped, nothing of it stays.
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
        self.new.path().join(OTHERS[0].0)
    }

    /// Path to which to write the new public key, if the scheme has a file of it.
    pub fn public(&self) -> PathBuf {
        self.new.path().join(OTHERS[1].0)
    }

    /// Gives the written keys their names. With `replace`, they replace an existing pair, and the public key of that goes.
    ///
    /// # Errors
    /// [`Error::Exists`] if a key exists and `replace` is false. [`Error::NotAFile`] and [`Error::Io`] from the file
    /// system. After an error the previous files are restored.
    pub fn place(self, replace: bool) -> Result<(), Error> {
        let client = self.folder.join(CLIENT);
        // The lock keeps other pairs from moving between the renames.
        let lock = lock(&self.folder).map_err(|e| Error::io(&self.folder, "lock the folder", e))?;
        for name in [CLIENT, OTHERS[0].0, OTHERS[1].0] {
            let path = self.folder.join(name);
            if let Ok(found) = fs::symlink_metadata(&path) {
                source::check_ordinary(&path, &found)?;
                if !replace {
                    return Err(Error::Exists { path, secret: name == CLIENT });
                }
            }
        }
        let moves = OTHERS.iter().try_for_each(|(name, _, old)| {
            let (written, path) = (self.new.path().join(name), self.folder.join(name));
            if path.exists() {
                fs::rename(&path, self.new.path().join(old)).map_err(|e| Error::io(&path, "replace", e))?;
            }
            if written.exists() {
                fs::rename(written, &path).map_err(|e| Error::io(&path, "write", e))?;
            }
            Ok(())
        });
        let last = || fs::rename(self.client(), &client).map_err(|e| Error::io(&client, "write", e));
        let placed = moves.and_then(|()| last());
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

/// Restores the previous server and public keys if the new client key has not got its name.
fn restore(new: &Path, folder: &Path) -> io::Result<()> {
    let Some(id) = key_id(&new.join(CLIENT), Kind::ClientKey) else { return Ok(()) };
    for (name, kind, old) in OTHERS {
        let (path, old) = (folder.join(name), new.join(old));
        // A different key that was written there since stays.
        let is_new = || key_id(&path, kind) == Some(id);
        if old.exists() {
            if !path.exists() || is_new() {
                fs::rename(&old, &path)?;
            }
        } else if !new.join(name).exists() && is_new() {
            fs::remove_file(&path)?;
        }
    }
    sync_folder(folder)
}

fn key_id(path: &Path, kind: Kind) -> Option<KeyId> {
    Reader::open(path, Expect::kind(kind)).ok()?.header().key_id
}
