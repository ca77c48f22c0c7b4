//! Files of jobs on the machine of a worker. They are the bytes of their digests, so they can be read again and removed at any time.

use crate::error::{Error, Problem};
use crate::id::{Digest, Tenant};
use crate::store::{Incoming, lock_folder};
use solinas_formats::Lock;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A folder of files, which this process alone uses.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    /// The most bytes that stay after a job.
    limit: u64,
    _lock: Lock,
}

impl Cache {
    /// Opens the folder, and makes it if it is missing.
    ///
    /// # Errors
    /// [`Error::CacheInUse`]; [`Error::Io`].
    pub(super) fn open(folder: &Path, limit: u64) -> Result<Self, Error> {
        let lock = lock_folder(folder, Error::CacheInUse)?;
        solinas_formats::clear_leftovers(folder);
        let cache = Self { folder: folder.to_path_buf(), limit, _lock: lock };
        cache.trim();
        Ok(cache)
    }

    /// The file of a blob. `fetch` writes it unless it is here with the right bytes.
    ///
    /// # Errors
    /// Those of `fetch`; bytes with another digest.
    pub(super) fn get(
        &self,
        tenant: &Tenant,
        digest: &Digest,
        fetch: impl FnOnce(&Path) -> Result<Arriving, Problem>,
    ) -> Result<PathBuf, Problem> {
        let path = self.folder.join(format!("{tenant}-{}", digest.hex()));
        if is_whole(&path, digest) {
            return Ok(path);
        }
        let Arriving(incoming) = fetch(&path)?;
        let found = incoming.digest();
        if found != *digest {
            let what = format!("the service sent bytes with the digest {found} for the blob {digest}");
            return Err(Error::System(what).into());
        }
        Ok(incoming.persist()?)
    }

    /// A file for the progress of the present job.
    pub(super) fn scratch(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Removes the files that were not used for the longest time, until the others fit in the limit.
    pub(super) fn trim(&self) {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten().filter_map(|entry| {
            let file = entry.metadata().ok()?;
            let is_ours = is_blob(entry.file_name().to_str()?) && file.is_file();
            is_ours.then(|| Some((file.modified().ok()?, file.len(), entry.path()))).flatten()
        });
        let mut files: Vec<_> = files.collect();
        files.sort();
        let mut total: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, path) in files {
            if total <= self.limit {
                return;
            }
            match fs::remove_file(&path) {
                Ok(()) => total -= bytes,
                Err(error) => tracing::warn!(%error, path = %path.display(), "a file of the cache stays"),
            }
        }
    }
}

/// Whether a file has the name of a blob. The user may have other files in the folder.
fn is_blob(name: &str) -> bool {
    let parts = name.rsplit_once('-').filter(|(tenant, _)| Tenant::new(tenant).is_ok());
    parts.is_some_and(|(_, hex)| format!("b3-{hex}").parse::<Digest>().is_ok())
}

/// Whether a file has the bytes of a digest. It counts as used then.
fn is_whole(path: &Path, digest: &Digest) -> bool {
    let Ok(mut file) = File::options().read(true).write(true).open(path) else { return false };
    let mut hash = blake3::Hasher::new();
    let is_whole = io::copy(&mut file, &mut hash).is_ok() && Digest::of(&hash.finalize()) == *digest;
    // Without its time it is only removed earlier.
    let _ = file.set_modified(SystemTime::now());
    is_whole
}

/// A file that arrives from the service.
pub(super) struct Arriving(pub(super) Incoming);

impl Write for Arriving {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn files_are_fetched_once_checked_and_the_oldest_go() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path(), 10).unwrap();
        assert!(Cache::open(folder.path(), 10).unwrap_err().to_string().contains("--cache"));
        let tenant = Tenant::new("a").unwrap();
        let digest = |bytes: &[u8]| Digest::of(&blake3::hash(bytes));
        let put = |bytes: &'static [u8]| {
            cache.get(&tenant, &digest(bytes), |path| {
                let mut file = Arriving(Incoming::create(path).unwrap());
                file.write_all(bytes).unwrap();
                Ok(file)
            })
        };
        let never = |_: &Path| -> Result<Arriving, Problem> { panic!("it is there") };
        let first = put(b"123456").unwrap();
        File::options().write(true).open(&first).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let second = put(b"abcdef").unwrap();
        let foreign = folder.path().join("backup-2024.tar");
        fs::write(&foreign, [0; 100]).unwrap();
        assert_eq!(cache.get(&tenant, &digest(b"abcdef"), never).unwrap(), second);
        cache.trim();
        assert!(!first.exists() && second.exists() && foreign.exists());
        // A damaged file is fetched again, and other bytes than the digest says are refused.
        fs::write(&second, b"abcxyz").unwrap();
        put(b"abcdef").unwrap();
        assert_eq!(fs::read(&second).unwrap(), b"abcdef");
        let wrong = cache.get(&tenant, &digest(b"x"), |path| Ok(Arriving(Incoming::create(path).unwrap())));
        assert!(wrong.is_err());
        assert!(second.metadata().unwrap().modified().unwrap().elapsed().unwrap() < Duration::from_secs(3600));
    }
}
