//! The bytes of a file, in memory or mapped. The only unsafe code of the crate.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::layout;

/// Files up to this many bytes are read instead of mapped.
const READ_BELOW: u64 = 1 << 20;

/// Bytes of a file.
pub(crate) enum Bytes {
    Owned(Vec<u8>),
    /// Wiped when dropped, never mapped.
    Secret(Zeroizing<Vec<u8>>),
    Mapped(Mmap),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Secret(bytes) => bytes,
            Self::Mapped(map) => map,
        }
    }
}

/// 64-bit words that lie in a mapped file, which stays mapped as long as they are used.
struct MappedWords {
    bytes: Arc<Bytes>,
    range: Range<usize>,
}

impl AsRef<[u64]> for MappedWords {
    fn as_ref(&self) -> &[u64] {
        // Never the default: [`mapped_words`] tried, and a map stays where it is.
        bytemuck::try_cast_slice(&self.bytes[self.range.clone()]).unwrap_or_default()
    }
}

/// Words of a mapped file, to be used where they lie. None where this machine cannot: of other byte order, or of a file not mapped.
pub(crate) fn mapped_words(bytes: &Arc<Bytes>, range: Range<usize>) -> Option<Arc<dyn AsRef<[u64]> + Send + Sync>> {
    let usable = cfg!(target_endian = "little")
        && matches!(**bytes, Bytes::Mapped(_))
        && bytemuck::try_cast_slice::<u8, u64>(bytes.get(range.clone())?).is_ok();
    usable.then(|| Arc::new(MappedWords { bytes: Arc::clone(bytes), range }) as Arc<dyn AsRef<[u64]> + Send + Sync>)
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        match bytes.get(..8).and_then(layout::is_secret) {
            Some(true) => Self::Secret(Zeroizing::new(bytes)),
            _ => Self::Owned(bytes),
        }
    }
}

/// An ordinary file, opened; pipes are refused before opening them could block.
pub(crate) fn open(path: &Path) -> Result<(File, Metadata)> {
    let fail = |e| Error::io(path, "open", e);
    check_ordinary(path, &std::fs::metadata(path).map_err(fail)?)?;
    let file = File::open(path).map_err(fail)?;
    let metadata = file.metadata().map_err(fail)?;
    check_ordinary(path, &metadata)?;
    Ok((file, metadata))
}

/// Whether the file is still the one of that name; taken for granted where files have no identity.
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

pub(crate) fn check_ordinary(path: &Path, metadata: &Metadata) -> Result<()> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return Ok(());
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

/// The first eight bytes, fewer if the file is shorter.
pub(crate) fn read_magic(path: &Path, file: &mut File) -> Result<Vec<u8>> {
    let mut magic = Vec::with_capacity(8);
    file.take(8).read_to_end(&mut magic).map_err(|e| Error::io(path, "read", e))?;
    Ok(magic)
}

/// All bytes of a file whose magic was read: secret ones into memory that is wiped, small ones into memory, large ones mapped.
pub(crate) fn load(path: &Path, file: File, metadata: &Metadata, magic: &[u8]) -> Result<Bytes> {
    let secret = layout::is_secret(magic) == Some(true);
    if !secret && metadata.len() >= READ_BELOW {
        return map(&file).map(Bytes::Mapped).map_err(|e| Error::io(path, "map", e));
    }
    let too_large = || Error::io(path, "read", io::ErrorKind::OutOfMemory.into());
    let capacity = usize::try_from(metadata.len()).map_err(|_| too_large())?;
    let mut bytes = Zeroizing::new(Vec::new());
    // Room to spare lets `read_to_end` notice the end without moving the buffer, which would leave a copy behind.
    bytes.try_reserve_exact(capacity.saturating_add(64)).map_err(|_| too_large())?;
    bytes.extend_from_slice(magic);
    file.take(metadata.len().saturating_sub(magic.len() as u64))
        .read_to_end(&mut bytes)
        .map_err(|e| Error::io(path, "read", e))?;
    Ok(if secret { Bytes::Secret(bytes) } else { Bytes::Owned(std::mem::take(&mut *bytes)) })
}

#[allow(unsafe_code, reason = "mapping a file is unsafe: another process can change it")]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the map is read-only and handed out as bytes that may have any value. Solinas never writes a file in place (it renames a
    // finished one over it, which leaves this map on the old file), so the bytes stay as they are unless a foreign process edits
    // the file under its reader, which the documentation of `Reader::open` excludes.
    unsafe { Mmap::map(file) }
}
