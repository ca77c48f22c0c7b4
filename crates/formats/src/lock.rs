//! Locks of files, for one process at a time.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use crate::source;

/// A locked file, unlocked on drop. To close the file is not enough: a child process that another thread starts has a copy of
/// its descriptor until the program of the child begins, and a lock of the file lasts as long as any descriptor.
#[derive(Debug)]
pub struct Lock(File);

impl Lock {
    /// Locks a file. Creates it if it is missing. Returns `None` while somebody else has the lock.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn take(path: &Path) -> io::Result<Option<Self>> {
        // To open a pipe waits for its other end.
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "it is no ordinary file; remove it, or take another folder",
            ));
        }
        loop {
            let file = File::options().create(true).append(true).open(path)?;
            match file.try_lock() {
                // The former owner may have removed the file.
                Ok(()) if !source::is_at(&file, path) => {}
                Ok(()) => return Ok(Some(Self(file))),
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// The lock of a file that this process has locked.
    pub(crate) fn held(file: File) -> Self {
        Self(file)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The file is closed next, which unlocks it too, unless a child process has a copy.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ordinary_files_are_locked() {
        let folder = tempfile::tempdir().unwrap();
        let error = Lock::take(folder.path()).unwrap_err().to_string();
        assert_eq!(error, "it is no ordinary file; remove it, or take another folder");
    }

    #[test]
    fn a_dropped_lock_is_free_although_a_copy_of_its_descriptor_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let lock = Lock::take(&path).unwrap().unwrap();
        assert!(Lock::take(&path).unwrap().is_none());
        // A child process has such a copy until its program begins.
        let copy = lock.0.try_clone().unwrap();
        drop(lock);
        assert!(Lock::take(&path).unwrap().is_some());
        drop(copy);
    }
}
