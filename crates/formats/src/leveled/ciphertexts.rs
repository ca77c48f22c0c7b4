//! The parts of stored ciphertexts of leveled schemes as bytes, and sizes of files.

use std::path::Path;

use solinas_schemes::bgv::{self, Bgv, Rotations};
use solinas_schemes::leveled::PublicKey;
use solinas_schemes::lwe::{self, Lwe};
use solinas_schemes::ntru::{self, Ntru};
use solinas_schemes::{Control, Level};

use super::KeySections;
use crate::{Error, Reader, Result, pack};

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

impl CiphertextFiles for Bgv {
    fn stored_server_bytes(params: &bgv::Params) -> usize {
        crate::bgv::stored_server_bytes(params, &Rotations::default_of(params))
    }

    fn packed_bytes(params: &bgv::Params, level: Level) -> usize {
        crate::bgv::packed_bytes(params.dimension(), &crate::bgv::tower_bits(params, level))
    }

    fn pack(params: &bgv::Params, level: Level, part: &[u64]) -> Result<Vec<u8>> {
        crate::bgv::pack_towers(part, &crate::bgv::tower_bits(params, level))
    }

    fn unpack(params: &bgv::Params, level: Level, bytes: &[u8]) -> Result<Vec<u64>> {
        crate::bgv::unpack_towers(bytes, params.dimension(), &crate::bgv::tower_bits(params, level))
    }
}

impl CiphertextFiles for Ntru {
    fn stored_server_bytes(params: &ntru::Params) -> usize {
        crate::ntru::stored_server_bytes(params)
    }

    fn holds_rotations(reader: &Reader) -> bool {
        crate::ntru::holds_rotations(reader)
    }

    fn packed_bytes(params: &ntru::Params, level: Level) -> usize {
        8 * params.towers(level) * params.dimension_at(level)
    }

    fn pack(_: &ntru::Params, _: Level, part: &[u64]) -> Result<Vec<u8>> {
        Ok(pack::u64_to_le(part))
    }

    fn unpack(_: &ntru::Params, _: Level, bytes: &[u8]) -> Result<Vec<u64>> {
        pack::u64_from_le(bytes)
    }
}

impl CiphertextFiles for Lwe {
    fn stored_server_bytes(params: &lwe::Params) -> usize {
        crate::lwe::stored_server_bytes(params)
    }

    fn packed_bytes(params: &lwe::Params, level: Level) -> usize {
        4 * params.modulus(level).len() * (params.dimension() + 1)
    }

    fn pack(_: &lwe::Params, _: Level, part: &[u64]) -> Result<Vec<u8>> {
        // Residues of words of at most 32 bits.
        Ok(pack::u32_to_le(&part.iter().map(|&word| word as u32).collect::<Vec<_>>()))
    }

    fn unpack(_: &lwe::Params, _: Level, bytes: &[u8]) -> Result<Vec<u64>> {
        Ok(pack::u32_from_le(bytes)?.into_iter().map(u64::from).collect())
    }

    fn write_matrix(key: &lwe::PublicKey, path: &Path, control: &Control<'_>) -> Result<()> {
        crate::lwe::write_matrix(path, key, control)
    }
}
