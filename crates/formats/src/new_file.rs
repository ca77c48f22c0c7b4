//! Files that have their name once they are whole, and what ended processes leave of them.
//!
//! A new file or folder has a temporary name in the folder where it belongs, and its process locks it. So a temporary name without a lock is what a
//! killed process has left: [`clear_leftovers`] removes it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::{NamedTempFile, TempDir};

use crate::{pair, source};

/// Beginning and end of every temporary name.
const NAME: (&str, &str) = (".solinas-", ".tmp");

/// A file that gets its name when it is whole ([`Self::persist`]), and is removed if it is dropped before.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    temp: NamedTempFile,
    replace: bool,
}

impl NewFile {
    /// Begins a file. A `secret` one has mode 0600, any other the mode of a new file. With `replace` it may take the place of another file,
    /// whose mode it does not keep. A symbolic link is replaced, and the file that it names stays as it is.
    ///
    /// # Errors
    /// Those of the file system, without the temporary name.
    pub fn create(path: &Path, secret: bool, replace: bool) -> io::Result<Self> {
        let path = path.to_path_buf();
        path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        clear_leftovers(containing_folder(&path));
        let mut builder = tempfile::Builder::new();
        builder.prefix(NAME.0).suffix(NAME.1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(if secret { 0o600 } else { 0o666 }));
        }
        #[cfg(not(unix))]
        let _ = secret;
        loop {
            let temp = builder.tempfile_in(containing_folder(&path)).map_err(|e| plain(&e))?;
            if is_ours(temp.as_file(), temp.path()) {
                return Ok(Self { path, temp, replace });
            }
        }
    }

    /// A file with these bytes; see [`Self::create`].
    ///
    /// # Errors
    /// Those of the file system, without the temporary name.
    pub fn with_bytes(path: &Path, bytes: &[u8], secret: bool, replace: bool) -> io::Result<Self> {
        let mut file = Self::create(path, secret, replace)?;
        file.write_all(bytes)?;
        Ok(file)
    }

    /// Where the file will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name, durably. It stays locked until the result is closed, where the file system can.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the name is taken and not to be replaced; those of the file system. What was there stays, unless the last step
    /// fails, which makes the name durable.
    pub fn persist(self) -> io::Result<File> {
        let Self { path, temp, replace } = self;
        temp.as_file().sync_all()?;
        let persisted = if replace { temp.persist(&path) } else { temp.persist_noclobber(&path) };
        let file = persisted.map_err(|e| plain(&e.error))?;
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

/// A folder for files that are not to stay, its owner's alone. It is removed when dropped.
#[derive(Debug)]
pub struct TemporaryFolder {
    folder: TempDir,
    _lock: Option<File>,
}

impl TemporaryFolder {
    /// Makes one within `parent`.
    ///
    /// # Errors
    /// Those of the file system, without the temporary name.
    pub fn create_in(parent: &Path) -> io::Result<Self> {
        clear_leftovers(parent);
        loop {
            let mut builder = tempfile::Builder::new();
            builder.prefix(NAME.0).suffix(NAME.1);
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                builder.permissions(fs::Permissions::from_mode(0o700));
            }
            let folder = builder.tempdir_in(parent);
            let folder = folder.map_err(|e| plain(&e))?;
            let lock = if cfg!(unix) { Some(File::open(folder.path())?) } else { None };
            if lock.as_ref().is_none_or(|lock| is_ours(lock, folder.path())) {
                return Ok(Self { folder, _lock: lock });
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Locks what was just made. False where another process took it for a leftover in the moment before.
fn is_ours(file: &File, path: &Path) -> bool {
    if cfg!(unix) {
        return !matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)) && source::is_at(file, path);
    }
    true
}

/// Removes what ended processes have left in a folder under temporary names, and gives their paths. A key pair that was half in its place is taken back
/// first: the pair before it is whole again. What a living process works on stays. A process looks through each folder once.
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

/// Whether this user made it. In a shared folder others may plant what looks like a leftover.
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

/// Removes a file or folder of a temporary name that this user made and no process has locked.
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

/// Fails where no file could be made at that path, so that work whose result has no place is not begun.
///
/// # Errors
/// Those of the file system.
pub fn check_place(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    tempfile::tempfile_in(containing_folder(path)).map(drop).map_err(|e| plain(&e))
}

/// Removes a file, durably.
///
/// # Errors
/// Those of the file system.
pub fn remove_file(path: &Path) -> io::Result<()> {
    fs::remove_file(path)?;
    sync_folder(containing_folder(path))
}

/// The folder that contains a file: `.` for a name without one.
pub fn containing_folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// What the system said, without the temporary name that is put behind it.
fn plain(error: &io::Error) -> io::Error {
    let text = error.to_string();
    io::Error::new(error.kind(), text.split(" at path ").next().unwrap_or_default())
}
