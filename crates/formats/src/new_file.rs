//! Files that get their name when they are complete, and the removal of incomplete ones.
//!
//! A new file or folder has a temporary name in its destination folder, and its process locks it. A temporary name
//! without a lock therefore belongs to a process that was killed. [`clear_leftovers`] removes it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::temporary::{self, NamedTempFile, TempDir};
use crate::{Error, pair, source};

/// Prefix and suffix of every temporary name.
const NAME: (&str, &str) = (".solinas-", ".tmp");

/// A file that gets its name when it is complete ([`Self::persist`]). It is removed if it is dropped before.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    temp: NamedTempFile,
    replace: bool,
}

impl NewFile {
    /// Begins a file. A `secret` file has mode 0600, other files the default mode of new files. With `replace`, it may
    /// replace another ordinary file, whose mode it does not keep.
    ///
    /// # Errors
    /// The errors of [`check_replaceable`], as the source of an [`io::Error`]. The errors of the file system, without
    /// the temporary name.
    pub fn create(path: &Path, secret: bool, replace: bool) -> io::Result<Self> {
        let path = path.to_path_buf();
        check_name(&path)?;
        check_replaceable(&path).map_err(invalid)?;
        clear_leftovers(containing_folder(&path));
        loop {
            let temp = temporary::file_in(containing_folder(&path), NAME, secret)?;
            if is_ours(temp.as_file(), temp.path()) {
                return Ok(Self { path, temp, replace });
            }
        }
    }

    /// Creates a file with these bytes, see [`Self::create`].
    ///
    /// # Errors
    /// The errors of the file system, without the temporary name.
    pub fn with_bytes(path: &Path, bytes: &[u8], secret: bool, replace: bool) -> io::Result<Self> {
        let mut file = Self::create(path, secret, replace)?;
        file.write_all(bytes)?;
        Ok(file)
    }

    /// Final path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name and makes it durable. The file stays locked until the result is closed, if the file
    /// system supports locks.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the name exists and `replace` is false. The errors of [`check_replaceable`]
    /// and of the file system. After an error the old file stays, unless only the last step failed, which makes the
    /// name durable.
    pub fn persist(self) -> io::Result<File> {
        let Self { path, temp, replace } = self;
        temp.as_file().sync_all()?;
        if replace {
            check_replaceable(&path).map_err(invalid)?;
        }
        let file = temporary::persist(temp, &path, replace)?;
        sync_folder(containing_folder(&path))?;
        Ok(file)
    }

    pub(crate) fn as_file_mut(&mut self) -> &mut File {
        self.temp.as_file_mut()
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.as_file_mut().flush()
    }
}

/// A temporary folder that only its owner can access. It is removed on drop.
#[derive(Debug)]
pub struct TemporaryFolder {
    folder: TempDir,
    _lock: Option<File>,
}

impl TemporaryFolder {
    /// Creates a temporary folder in `parent`.
    ///
    /// # Errors
    /// The errors of the file system, without the temporary name.
    pub fn create_in(parent: &Path) -> io::Result<Self> {
        clear_leftovers(parent);
        loop {
            let folder = temporary::folder_in(parent, NAME)?;
            let lock = if cfg!(unix) { Some(File::open(folder.path())?) } else { None };
            if lock.as_ref().is_none_or(|lock| is_ours(lock, folder.path())) {
                return Ok(Self { folder, _lock: lock });
            }
        }
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Locks a file or folder that was just created. Returns false if another process took it for a leftover before the
/// lock.
fn is_ours(file: &File, path: &Path) -> bool {
    if cfg!(unix) {
        return !matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)) && source::is_at(file, path);
    }
    true
}

/// Removes temporary files and folders of killed processes from a folder, and returns their paths. A key pair that was
/// placed only in part is taken back first, which restores the previous pair. Files of running processes stay. Each
/// process searches a folder only once.
pub fn clear_leftovers(folder: &Path) -> Vec<PathBuf> {
    static CLEARED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(place) = fs::canonicalize(folder) else { return Vec::new() };
    if !cfg!(unix) || !CLEARED.lock().unwrap_or_else(PoisonError::into_inner).insert(place) {
        return Vec::new();
    }
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let temporary = entries.flatten().filter(|entry| is_temporary(&entry.file_name())).map(|entry| entry.path());
    temporary.filter(|path| remove_leftover(path, folder).unwrap_or(false)).collect()
}

fn is_temporary(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(NAME.0) && name.ends_with(NAME.1))
}

/// Whether this user created it. Other users may plant fake leftovers in a shared folder.
#[cfg(unix)]
fn is_of_this_user(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let private = !found.is_dir() || found.permissions().mode() & 0o077 == 0;
    private && found.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_of_this_user(_: &fs::Metadata) -> bool {
    true
}

/// Removes a file or folder with a temporary name if this user created it and no process has locked it.
fn remove_leftover(path: &Path, folder: &Path) -> io::Result<bool> {
    let found = fs::symlink_metadata(path)?;
    if !found.is_file() && !found.is_dir() || !is_of_this_user(&found) {
        return Ok(false);
    }
    let file = File::open(path)?;
    if file.try_lock().is_err() || !source::is_at(&file, path) {
        return Ok(false);
    }
    if found.is_dir() {
        pair::take_back(path, folder)?;
        fs::remove_dir_all(path)?;
    } else {
        fs::remove_file(path)?;
    }
    Ok(true)
}

/// Checks that a file can be created at this path. Call it before work whose result must be written there.
///
/// # Errors
/// The errors of [`check_replaceable`], as the source of an [`io::Error`]. The errors of the file system.
pub fn check_place(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    check_name(path)?;
    check_replaceable(path).map_err(invalid)?;
    temporary::probe(containing_folder(path))
}

/// Checks that a path names an ordinary file or nothing. A new file replaces neither a symbolic link, which could be one
/// of the system such as `/dev/stdout`, nor what the link names.
///
/// # Errors
/// [`Error::Link`] for a symbolic link. [`Error::NotAFile`] for a folder, a pipe, a socket or a device.
pub fn check_replaceable(path: &Path) -> Result<(), Error> {
    // Other errors are reported when the file is created.
    fs::symlink_metadata(path).map_or(Ok(()), |found| source::check_ordinary(path, &found))
}

/// The error as one of the operating system. [`Error::io`] takes it out again.
fn invalid(error: Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

/// Fails if a path ends in no name, for example the empty path.
fn check_name(path: &Path) -> io::Result<()> {
    let no_name = || io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name");
    path.file_name().map(drop).ok_or_else(no_name)
}

/// Removes a file and makes the removal durable.
///
/// # Errors
/// The errors of the file system.
pub fn remove_file(path: &Path) -> io::Result<()> {
    fs::remove_file(path)?;
    sync_folder(containing_folder(path))
}

/// Returns the folder that contains a file. It is `.` for a bare name.
pub fn containing_folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
