//! Error type of the crate.

use std::io;
use std::path::{Path, PathBuf};

use crate::KeyId;
use crate::header::Kind;

/// Result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Errors of files. `path` is the path of the file, or the name that the caller gave to bytes in memory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system reported an error.
    #[error("cannot {action} {}: {source}{}", shown(path), remedy(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// The attempted action.
        action: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// The disk was full. No part of the file remains.
    #[error("no room left to write {}: {source}; free some space or write elsewhere", path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The destination exists and must not be replaced.
    #[error("{} already exists{}; write to another file", path.display(), if *secret { " and is, or would become, a secret key" } else { "" })]
    Exists {
        /// The file.
        path: PathBuf,
        /// Whether the old or the new file is secret.
        secret: bool,
    },
    /// The path is a directory, a pipe, a device or a socket.
    #[error("{} is a {what}; an ordinary file is needed", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// The kind of the path.
        what: &'static str,
    },
    /// The destination is a symbolic link.
    #[error("{} is a symbolic link to {}, and a new file replaces no link; name the target itself", path.display(), target.display())]
    Link {
        /// The link.
        path: PathBuf,
        /// The path in the link.
        target: PathBuf,
    },
    /// The file has no bytes.
    #[error("{} is empty; copy it again from its source, or make it again", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file does not begin with a magic of this format.
    #[error("{} is not a Solinas file; pass a file written by solinas, such as client.key, server.key or x.ct", path.display())]
    NotSolinas {
        /// The file.
        path: PathBuf,
    },
    /// The format of the file is newer than this program.
    #[error("{} has format version {}.{}, and this program reads up to {}.{}; update solinas", path.display(), found.0, found.1, supported.0, supported.1)]
    NewerVersion {
        /// The file.
        path: PathBuf,
        /// Version of the file (major, minor).
        found: (u16, u16),
        /// Newest version that this library reads (major, minor).
        supported: (u16, u16),
    },
    /// The file is of another kind than needed.
    #[error("{} is a {found}, a {} is needed: pass {}", path.display(), either(needed), needed.first().map_or("another file", |k| k.usual_name()))]
    WrongKind {
        /// The file.
        path: PathBuf,
        /// Its kind.
        found: Kind,
        /// The kinds that the caller accepts.
        needed: Vec<Kind>,
    },
    /// The file belongs to another scheme.
    #[error("{} is of scheme {found}, {needed} is needed: pass a file made with --scheme {needed}", path.display())]
    WrongScheme {
        /// The file.
        path: PathBuf,
        /// Its scheme.
        found: String,
        /// The needed scheme.
        needed: String,
    },
    /// The file belongs to another key.
    #[error("{} belongs to key {}, but {other} to key {}; use files of one key", path.display(), found.map_or_else(|| "(none)".to_owned(), |id| id.short()), needed.short())]
    WrongKey {
        /// The file.
        path: PathBuf,
        /// Its key.
        found: Option<KeyId>,
        /// The file to which it was compared, for messages (`server.key`).
        other: String,
        /// The needed key.
        needed: KeyId,
    },
    /// The file is incomplete.
    #[error("{} is cut short: it has {len} of {expected} bytes; copy it again from its source, or make it again", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Its length in bytes.
        len: u64,
        /// The least length that it should have.
        expected: u64,
    },
    /// The bytes of the file were altered.
    #[error("{} is damaged: {what}; copy it again from its source, or make it again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The failed check.
        what: String,
    },
    /// The file lacks a section that its kind must have.
    #[error("{} has no section {section}; was it written by another program or version?", path.display())]
    MissingSection {
        /// The file.
        path: PathBuf,
        /// Name of the section.
        section: String,
    },
    /// A header field is absent or has the wrong type.
    #[error("{}: header field {field}: {reason}; was it written by another program or version?", path.display())]
    Field {
        /// The file.
        path: PathBuf,
        /// Name of the field.
        field: String,
        /// The problem.
        reason: String,
    },
    /// The contents of a section do not match the parameters in the header.
    #[error("{}: section {section}: {reason}; was it written by another program or version?", path.display())]
    Section {
        /// The file.
        path: PathBuf,
        /// Name of the section.
        section: String,
        /// The problem.
        reason: String,
    },
    /// The length of packed numbers does not match their count, or bits after the last number are set.
    #[error("packed numbers: {0}")]
    Packing(String),
    /// The checkpoint belongs to another key generation than requested.
    #[error("{} belongs to another key generation: {problem}; use the options it was begun with, or move it away to begin again", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// The difference.
        problem: String,
    },
    /// Another key generation has locked the checkpoint.
    #[error("another key generation works on {}; wait until it ends, or use another file", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// A key or matrix could not be made, or the caller cancelled the work.
    #[error(transparent)]
    Scheme(#[from] solinas_schemes::Error),
    /// The caller asked for a file that the format cannot represent.
    #[error("cannot write this file: {0}")]
    Unwritable(String),
}

impl Error {
    /// The file that the message names, if there is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Io { path, .. }
            | Self::DiskFull { path, .. }
            | Self::Exists { path, .. }
            | Self::NotAFile { path, .. }
            | Self::Link { path, .. }
            | Self::Empty { path }
            | Self::NotSolinas { path }
            | Self::NewerVersion { path, .. }
            | Self::WrongKind { path, .. }
            | Self::WrongScheme { path, .. }
            | Self::WrongKey { path, .. }
            | Self::Truncated { path, .. }
            | Self::Damaged { path, .. }
            | Self::MissingSection { path, .. }
            | Self::Field { path, .. }
            | Self::Section { path, .. }
            | Self::Checkpoint { path, .. }
            | Self::Busy { path } => Some(path),
            Self::Packing(_) | Self::Scheme(_) | Self::Unwritable(_) => None,
        }
    }

    /// Wraps an error of the operating system. A full disk becomes [`Self::DiskFull`]. An error of this crate inside of
    /// it is taken out.
    pub fn io(path: &Path, action: &'static str, source: io::Error) -> Self {
        let path = path.to_path_buf();
        let source = match source.downcast::<Self>() {
            Ok(inner) => return inner,
            Err(source) => source,
        };
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::DiskFull { path, source }
            }
            _ => Self::Io { path, action, source },
        }
    }

    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_path_buf(), what: what.into() }
    }
}

/// `; ` and the usual remedy of an I/O error.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "; check the name and that its folder exists",
        io::ErrorKind::PermissionDenied => "; check the permissions of the file and its folder",
        io::ErrorKind::ReadOnlyFilesystem => "; write to another place",
        io::ErrorKind::InvalidInput => "; give the name of a file",
        io::ErrorKind::OutOfMemory => "; free some memory, or allow more (ulimit -v)",
        _ => "",
    }
}

/// The path as text, in quotes if it is empty.
fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() { "\"\"".to_owned() } else { path.display().to_string() }
}

fn either(kinds: &[Kind]) -> String {
    kinds.iter().map(Kind::to_string).collect::<Vec<_>>().join(" or ")
}
