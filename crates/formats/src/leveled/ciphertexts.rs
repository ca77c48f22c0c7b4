//! The parts of stored ciphertexts of leveled schemes as bytes, and sizes of files.

use std::path::Path;

use solinas_schemes::leveled::PublicKey;
use solinas_schemes::{Control, Level};

use super::KeySections;
use crate::{Error, Reader, Result};

/// A leveled scheme whose ciphertexts are files.
pub trait CiphertextFiles: KeySections {
    /// Bytes of a stored server key, without optional rotation keys.
    fn stored_server_bytes(params: &Self::Params) -> usize;

    /// Whether the file of a server key holds optional rotation keys.
    fn holds_rotations(_reader: &Reader) -> bool {
        false
    }

    /// Bytes of a part of a ciphertext at a level, as [`Self::pack`] makes them.
    fn packed_bytes(params: &Self::Params, level: Level) -> usize;

    /// The words of a part as bytes.
    ///
    /// # Errors
    /// [`Error::Packing`] for another number of words.
    fn pack(params: &Self::Params, level: Level, part: &[u64]) -> Result<Vec<u8>>;

    /// Inverse of [`Self::pack`].
    ///
    /// # Errors
    /// [`Error::Packing`] for another number of bytes.
    fn unpack(params: &Self::Params, level: Level, bytes: &[u8]) -> Result<Vec<u64>>;

    /// Writes the public matrix of a key, if the scheme has one, to a file.
    ///
    /// # Errors
    /// From the file; if it is cancelled; for a scheme without a matrix.
    fn write_matrix(_key: &PublicKey<Self>, _path: &Path, _control: &Control<'_>) -> Result<()> {
        Err(Error::Unwritable("the scheme has no public matrix".into()))
    }
}
