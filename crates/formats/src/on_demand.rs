//! Parts of a file that are read when they are first used.

use std::fmt;
use std::sync::OnceLock;

use crate::error::Result;
use crate::reader::Reader;

/// A function that reads a value from a file.
type Read<T> = fn(&Reader) -> Result<T>;

/// A value that some sections of a file hold. The sections are read and verified on the first use of the value.
///
/// The file stays open until then. If it is replaced or removed meanwhile, the old file is read.
pub struct OnDemand<T> {
    value: OnceLock<T>,
    /// The file, and the function that reads the value from it. None for a value that was made.
    file: Option<(Reader, Read<T>)>,
}

/// Shows no content of the file.
impl<T> fmt::Debug for OnDemand<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnDemand").field("read", &self.is_read()).finish_non_exhaustive()
    }
}

impl<T> From<T> for OnDemand<T> {
    fn from(value: T) -> Self {
        Self { value: OnceLock::from(value), file: None }
    }
}

impl<T> OnDemand<T> {
    /// A value of a file that `read` reads. If the bytes of the file are in memory, it is read now, so that they need not stay there.
    ///
    /// # Errors
    /// The errors of `read`.
    pub fn new(reader: &Reader, read: fn(&Reader) -> Result<T>) -> Result<Self> {
        if reader.is_in_memory() {
            return Ok(read(reader)?.into());
        }
        Ok(Self { value: OnceLock::new(), file: Some((reader.clone(), read)) })
    }

    /// Whether the value has been read.
    pub fn is_read(&self) -> bool {
        self.value.get().is_some()
    }

    /// The value. Reads and verifies it on the first call that succeeds.
    ///
    /// # Errors
    /// The errors of the function that reads the value: the sections are damaged, or the file cannot be read.
    pub fn get(&self) -> Result<&T> {
        match (self.value.get(), &self.file) {
            (None, Some((reader, read))) => {
                // Two threads may both read. The value is read outside of the cell, because the reading uses other threads.
                let value = read(reader)?;
                Ok(self.value.get_or_init(|| value))
            }
            (Some(value), _) => Ok(value),
            (None, None) => Err(crate::Error::Unwritable("a part of a file without a file".to_owned())),
        }
    }
}
