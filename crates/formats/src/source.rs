//! The bytes of a file: in memory, or read from the file on request.
//!
//! Files are not mapped into memory. A change of a mapped file would also change bytes that were already verified. If
//! the file became shorter, an access past its end would kill the process.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use bytemuck::Zeroable;
use solinas_field::allocation::fallible;
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::layout;

/// Public files of fewer bytes are read at once.
const READ_BELOW: u64 = 1 << 20;

/// The bytes of a file.
pub(crate) enum Source {
    Memory(Vec<u8>),
    /// Wiped on drop.
    Secret(Zeroizing<Vec<u8>>),
    File {
        file: File,
        len: u64,
    },
}

impl Source {
    /// Builds the source of a file after its magic was read. Bytes of a large public file are read on request, those of
    /// other files now.
    pub(crate) fn from_file(path: &Path, file: File, metadata: &Metadata, magic: &[u8]) -> Result<Self> {
        let (secret, len) = (layout::is_secret(magic) == Some(true), metadata.len());
        if !secret && len >= READ_BELOW {
            return Ok(Self::File { file, len });
        }
        let too_large = || Error::io(path, "read", io::ErrorKind::OutOfMemory.into());
        let capacity = usize::try_from(len).map_err(|_| too_large())?;
        let mut bytes = Zeroizing::new(Vec::new());
        // The spare capacity lets `read_to_end` detect the end without a reallocation, which would leave a copy behind.
        fallible(|| bytes.try_reserve_exact(capacity.saturating_add(64))).map_err(|_| too_large())?;
        bytes.extend_from_slice(magic);
        file.take(len.saturating_sub(magic.len() as u64))
            .read_to_end(&mut bytes)
            .map_err(|e| Error::io(path, "read", e))?;
        Ok(if secret { Self::Secret(bytes) } else { Self::Memory(std::mem::take(&mut *bytes)) })
    }

    /// Length in bytes.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::File { len, .. } => *len,
            _ => self.memory().map_or(0, |bytes| bytes.len() as u64),
        }
    }

    /// All bytes, if they are in memory.
    pub(crate) fn memory(&self) -> Option<&[u8]> {
        match self {
            Self::Memory(bytes) => Some(bytes),
            Self::Secret(bytes) => Some(bytes),
            Self::File { .. } => None,
        }
    }

    /// Returns a range of bytes. Borrows it if the file is in memory, else copies it from the file.
    pub(crate) fn read(&self, range: Range<u64>) -> io::Result<Cow<'_, [u8]>> {
        let (begin, end) = (place(range.start)?, place(range.end)?);
        match self.memory() {
            Some(bytes) => Ok(bytes.get(begin..end).ok_or(io::ErrorKind::UnexpectedEof)?.into()),
            None => {
                let mut bytes = zeroed(end.saturating_sub(begin))?;
                self.read_into(range.start, &mut bytes)?;
                Ok(bytes.into())
            }
        }
    }

    /// Fills `out` with the bytes from offset `at` on.
    pub(crate) fn read_into(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        if let Self::File { file, .. } = self {
            return read_at(file, at, out);
        }
        out.copy_from_slice(&self.read(at..at + out.len() as u64)?);
        Ok(())
    }
}

/// Fills `out` from offset `at` of the file. Threads may read at the same time.
#[cfg(unix)]
fn read_at(file: &File, at: u64, out: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, at)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, at: u64, out: &mut [u8]) -> io::Result<()> {
    use std::io::{Seek, SeekFrom};
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _turn = TURN.lock();
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(out)
}

fn place(offset: u64) -> io::Result<usize> {
    usize::try_from(offset).map_err(|_| io::ErrorKind::OutOfMemory.into())
}

/// Allocates zeros. Returns an error if memory is short.
pub(crate) fn zeroed<T: Zeroable>(len: usize) -> io::Result<Vec<T>> {
    fallible(|| bytemuck::allocation::try_zeroed_vec(len)).map_err(|()| io::ErrorKind::OutOfMemory.into())
}

impl From<Vec<u8>> for Source {
    fn from(bytes: Vec<u8>) -> Self {
        match bytes.get(..8).and_then(layout::is_secret) {
            Some(true) => Self::Secret(Zeroizing::new(bytes)),
            _ => Self::Memory(bytes),
        }
    }
}

/// Opens an ordinary file. Refuses pipes before the open, which could block.
pub(crate) fn open(path: &Path) -> Result<(File, Metadata)> {
    let fail = |e| Error::io(path, "open", e);
    check_ordinary(path, &std::fs::metadata(path).map_err(fail)?)?;
    let file = File::open(path).map_err(fail)?;
    let metadata = file.metadata().map_err(fail)?;
    check_ordinary(path, &metadata)?;
    Ok((file, metadata))
}

/// Whether the path still names this file. Always true on systems where files have no identity.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let id = |metadata: io::Result<Metadata>| metadata.map(|metadata| (metadata.dev(), metadata.ino()));
        matches!((id(file.metadata()), id(std::fs::metadata(path))), (Ok(a), Ok(b)) if a == b)
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        true
    }
}

/// Fails if the metadata is not that of an ordinary file.
pub(crate) fn check_ordinary(path: &Path, metadata: &Metadata) -> Result<()> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return Ok(());
    }
    if kind.is_symlink() {
        let target = std::fs::read_link(path).map_err(|e| Error::io(path, "read the link", e))?;
        return Err(Error::Link { path: path.to_path_buf(), target });
    }
    #[cfg(unix)]
    let what = {
        use std::os::unix::fs::FileTypeExt;
        match () {
            () if kind.is_dir() => "directory",
            () if kind.is_fifo() => "pipe",
            () if kind.is_socket() => "socket",
            () => "device",
        }
    };
    #[cfg(not(unix))]
    let what = if kind.is_dir() { "directory" } else { "device" };
    Err(Error::NotAFile { path: path.to_path_buf(), what })
}

/// Reads the first eight bytes, or all bytes of a shorter file.
pub(crate) fn read_magic(path: &Path, file: &mut File) -> Result<Vec<u8>> {
    let mut magic = Vec::with_capacity(8);
    file.take(8).read_to_end(&mut magic).map_err(|e| Error::io(path, "read", e))?;
    Ok(magic)
}
