//! Where files are written: to a temporary file that is renamed when whole, or to memory.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};
use crate::header::Kind;
use crate::reader::{Expect, Reader};
use crate::{layout, map};

/// What to do when the destination exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Overwrite {
    /// Never replace a file.
    Never,
    /// Replace a file unless it, or what is written, is secret, or it is a key and what is written is none.
    #[default]
    KeepSecrets,
    /// Replace any file, secret keys included.
    Always,
}

/// Where a [`Writer`](crate::Writer) writes: [`ToFile`] or [`Memory`].
pub trait Destination: sealed::Destination {}

pub(crate) mod sealed {
    use std::io::{Seek, Write};
    use std::path::Path;

    pub trait WriteSeek: Write + Seek {}
    impl<T: Write + Seek> WriteSeek for T {}

    pub trait Destination {
        /// The file's name in messages.
        fn path(&self) -> &Path;
        /// The file, if there is one.
        fn file(&mut self) -> Option<&mut dyn WriteSeek>;
    }
}

/// A file: complete under its name after [`Writer::finish`](crate::Writer::finish), absent before.
#[derive(Debug)]
pub struct ToFile {
    path: PathBuf,
    temp: NamedTempFile,
    replace: bool,
}

/// Bytes in memory, of the same format.
#[derive(Debug)]
pub struct Memory(pub(crate) ());

impl ToFile {
    /// A temporary file in the folder of `shown`, or of the file that this links to.
    pub(crate) fn create(shown: &Path, kind: Kind, overwrite: Overwrite) -> Result<Self> {
        let fail = |e| Error::io(shown, "create", e);
        let is_link = fs::symlink_metadata(shown).is_ok_and(|m| m.is_symlink());
        let path = if is_link { fs::canonicalize(shown).map_err(fail)? } else { shown.to_path_buf() };
        let secret = kind.is_secret();
        check_destination(&path, kind, overwrite)?;
        let temp = temporary(&path, secret).map_err(fail)?;
        let replace = match overwrite {
            Overwrite::Never => false,
            Overwrite::KeepSecrets => !secret,
            Overwrite::Always => true,
        };
        Ok(Self { path, temp, replace })
    }

    /// Locks the file, where the file system can.
    pub(crate) fn lock(&self) {
        if cfg!(unix) {
            // Nobody knows the file: this fails only where there are no locks.
            let _ = self.temp.as_file().try_lock();
        }
    }

    /// Gives the file its name, durably.
    pub(crate) fn persist(self, kind: Kind) -> Result<File> {
        let ToFile { path, temp, replace } = self;
        temp.as_file().sync_all().map_err(|e| Error::io(&path, "write", e))?;
        let persisted = if replace { temp.persist(&path) } else { temp.persist_noclobber(&path) };
        let file = persisted.map_err(|e| match e.error.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists { path: path.clone(), secret: kind.is_secret() },
            _ => Error::io(&path, "write", e.error),
        })?;
        sync_folder(&path).map_err(|e| Error::io(&path, "sync the folder of", e))?;
        Ok(file)
    }
}

impl sealed::Destination for ToFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn file(&mut self) -> Option<&mut dyn sealed::WriteSeek> {
        Some(self.temp.as_file_mut())
    }
}

impl sealed::Destination for Memory {
    fn path(&self) -> &Path {
        Path::new("(memory)")
    }

    fn file(&mut self) -> Option<&mut dyn sealed::WriteSeek> {
        None
    }
}

impl Destination for ToFile {}
impl Destination for Memory {}

fn check_destination(path: &Path, kind: Kind, overwrite: Overwrite) -> Result<()> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(Error::io(path, "create", e)),
    };
    map::check_ordinary(path, &metadata)?;
    let secret = kind.is_secret() || holds_secret(path);
    let keep = match overwrite {
        Overwrite::Never => true,
        Overwrite::KeepSecrets => secret || holds_other_key(path, kind),
        Overwrite::Always => false,
    };
    if keep { Err(Error::Exists { path: path.to_path_buf(), secret }) } else { Ok(()) }
}

/// Whether a file begins with the secret magic. One that cannot be read might.
fn holds_secret(path: &Path) -> bool {
    File::open(path)
        .map_err(|e| Error::io(path, "open", e))
        .and_then(|mut file| map::read_magic(path, &mut file))
        .map_or(true, |magic| magic.len() == 8 && layout::is_secret(&magic) == Some(true))
}

/// Whether a file holds a public key of another kind than what is written: keys cannot be made again from ciphertexts.
fn holds_other_key(path: &Path, kind: Kind) -> bool {
    let held = Reader::open(path, Expect::any_public()).map(|reader| reader.kind());
    held.is_ok_and(|held| held != kind && matches!(held, Kind::ServerKey | Kind::PublicKey))
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn temporary(path: &Path, secret: bool) -> io::Result<NamedTempFile> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(if secret { 0o600 } else { 0o666 }));
    }
    #[cfg(not(unix))]
    let _ = secret;
    builder.tempfile_in(folder(path))
}

/// Makes the new name durable.
fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder(path))?.sync_all() } else { Ok(()) }
}
