//! Files and folders with temporary names.

use std::fs::{self, File};
use std::io;
use std::path::Path;

pub(crate) use tempfile::{NamedTempFile, TempDir};

/// A new file with this prefix and suffix. Only its owner can access a `secret` one; others have the default mode of new files.
pub(crate) fn file_in(folder: &Path, name: (&str, &str), secret: bool) -> io::Result<NamedTempFile> {
    builder(name, if secret { 0o600 } else { 0o666 }).tempfile_in(folder).map_err(|e| plain(&e))
}

/// A new folder with this prefix and suffix that only its owner can access.
pub(crate) fn folder_in(parent: &Path, name: (&str, &str)) -> io::Result<TempDir> {
    builder(name, 0o700).tempdir_in(parent).map_err(|e| plain(&e))
}

/// Fails if a folder takes no new file.
pub(crate) fn probe(folder: &Path) -> io::Result<()> {
    tempfile::tempfile_in(folder).map(drop).map_err(|e| plain(&e))
}

/// Gives a file its name. Replaces another file if `replace`.
pub(crate) fn persist(file: NamedTempFile, path: &Path, replace: bool) -> io::Result<File> {
    let persisted = if replace { file.persist(path) } else { file.persist_noclobber(path) };
    persisted.map_err(|e| plain(&e.error))
}

#[cfg_attr(not(unix), allow(unused_variables, reason = "other systems have no modes"))]
fn builder<'a>(name: (&'a str, &'a str), mode: u32) -> tempfile::Builder<'a, 'a> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(name.0).suffix(name.1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    builder
}

/// Returns the system's error without the temporary name that follows the message.
fn plain(error: &io::Error) -> io::Error {
    let text = error.to_string();
    io::Error::new(error.kind(), text.split(" at path ").next().unwrap_or_default())
}
