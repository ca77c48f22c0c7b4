//! Destinations of a file: a temporary file that gets its name when it is complete, or memory.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::header::Kind;
use crate::new_file::{NewFile, check_replaceable};
use crate::private_key::{PRIVATE_KEY_HEAD, is_private_key};
use crate::reader::{Expect, Reader};
use crate::{layout, source};

/// The rule for an existing destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Overwrite {
    /// Never replace a file.
    Never,
    /// Replace a file, with two exceptions. A file is kept if it or the new file is secret, and a key is kept if the
    /// new file is of another kind.
    #[default]
    KeepSecrets,
    /// Replace any file, secret keys included.
    Always,
}

/// The destination of a [`Writer`](crate::Writer): [`ToFile`] or [`Memory`].
pub trait Destination: sealed::Destination {}

pub(crate) mod sealed {
    use std::io::{Seek, Write};
    use std::path::Path;

    pub trait WriteSeek: Write + Seek {}
    impl<T: Write + Seek> WriteSeek for T {}

    pub trait Destination {
        /// Name of the file for messages.
        fn path(&self) -> &Path;
        /// The file, if there is one.
        fn file(&mut self) -> Option<&mut dyn WriteSeek>;
    }
}

/// A file. It gets its name when [`Writer::finish`](crate::Writer::finish) completes it. Before, the name does not
/// exist or belongs to the old file.
#[derive(Debug)]
pub struct ToFile(NewFile);

/// A file in memory, in the same format.
#[derive(Debug)]
pub struct Memory(pub(crate) ());

impl ToFile {
    /// Begins a file. `overwrite` states whether it may replace another.
    pub(crate) fn create(path: &Path, kind: Kind, overwrite: Overwrite) -> Result<Self> {
        check_destination(path, kind, overwrite)?;
        let replace = match overwrite {
            Overwrite::Never => false,
            Overwrite::KeepSecrets => !kind.is_secret(),
            Overwrite::Always => true,
        };
        let file = NewFile::create(path, kind.is_secret(), replace).map_err(|e| Error::io(path, "create", e))?;
        Ok(Self(file))
    }

    /// Gives the file its name and makes it durable.
    pub(crate) fn persist(self, kind: Kind) -> Result<File> {
        let path = self.0.path().to_path_buf();
        self.0.persist().map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists { path, secret: kind.is_secret() },
            _ => Error::io(&path, "write", e),
        })
    }
}

impl sealed::Destination for ToFile {
    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&mut self) -> Option<&mut dyn sealed::WriteSeek> {
        Some(self.0.as_file_mut())
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
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(Error::io(path, "create", e)),
    };
    source::check_ordinary(path, &metadata)?;
    let secret = kind.is_secret() || holds_secret(path);
    let keep = match overwrite {
        Overwrite::Never => true,
        Overwrite::KeepSecrets => secret || holds_another(path, kind),
        Overwrite::Always => false,
    };
    if keep { Err(Error::Exists { path: path.to_path_buf(), secret }) } else { Ok(()) }
}

/// Writes a text file, completely or not at all. Replaces another file unless that is a key or a ciphertext. A private
/// key of another program, such as one in PEM, is a key too.
///
/// # Errors
/// [`Error::Exists`] if the path names a key or a ciphertext. The errors of [`check_replaceable`].
/// [`Error::Io`] and [`Error::DiskFull`] from the file system.
pub fn write_text(path: &Path, text: &str) -> Result<()> {
    check_replaceable(path)?;
    match File::open(path) {
        Ok(mut file) => {
            if let Some(secret) = held_key(path, &mut file)? {
                return Err(Error::Exists { path: path.to_path_buf(), secret });
            }
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(Error::io(path, "open", e)),
    }
    let written = NewFile::with_bytes(path, text.as_bytes(), false, true).and_then(NewFile::persist);
    written.map(drop).map_err(|e| Error::io(path, "write", e))
}

/// Whether a file holds a secret: a secret of this library, or a private key of another program. Also true if the file
/// cannot be read.
fn holds_secret(path: &Path) -> bool {
    File::open(path)
        .map_err(|e| Error::io(path, "open", e))
        .and_then(|mut file| held_key(path, &mut file))
        .map_or(true, |held| held == Some(true))
}

/// Whether the key or ciphertext in a file is secret; `None` if the file holds neither.
fn held_key(path: &Path, file: &mut File) -> Result<Option<bool>> {
    let mut head = Zeroizing::new(Vec::with_capacity(PRIVATE_KEY_HEAD));
    file.take(PRIVATE_KEY_HEAD as u64).read_to_end(&mut head).map_err(|e| Error::io(path, "read", e))?;
    if is_private_key(&head) {
        return Ok(Some(true));
    }
    Ok(head.get(..8).and_then(layout::is_secret))
}

/// Whether a file holds a public key of another kind than the new file. Such keys cannot be recomputed from
/// ciphertexts.
fn holds_another(path: &Path, kind: Kind) -> bool {
    let held = Reader::open(path, Expect::any_public()).map(|reader| reader.kind());
    // A plan or a paused run in the place of a ciphertext would lose the ciphertext.
    let beside_results = matches!(kind, Kind::Plan | Kind::RunState);
    held.is_ok_and(|held| held != kind && (beside_results || matches!(held, Kind::ServerKey | Kind::PublicKey)))
}

#[cfg(test)]
mod text {
    use super::*;

    #[test]
    fn text_replaces_text_and_no_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program.json");
        for text in ["{}", "[]"] {
            write_text(&path, text).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        for (magic, is_secret) in [(layout::PUBLIC_MAGIC, false), (layout::SECRET_MAGIC, true)] {
            fs::write(&path, magic).unwrap();
            assert!(matches!(write_text(&path, "{}"), Err(Error::Exists { secret, .. }) if secret == is_secret));
            assert_eq!(fs::read(&path).unwrap(), magic);
        }
        let pem = "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n";
        fs::write(&path, pem).unwrap();
        assert!(matches!(write_text(&path, "{}"), Err(Error::Exists { secret: true, .. })));
        assert!(holds_secret(&path));
        assert_eq!(fs::read_to_string(&path).unwrap(), pem);
        assert!(write_text(folder.path(), "{}").is_err());
        assert!(matches!(write_text(&folder.path().join("none/x"), "{}"), Err(Error::Io { .. })));
    }
}
