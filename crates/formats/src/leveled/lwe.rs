//! Files of LWE keys: of leveled sets, and of sets without multiplications, which are leveled ones of depth 0.
//!
//! Residues are little-endian 32-bit words, for each word of the modulus all entries; secret entries are 32-bit words in two's complement. Levels begin with
//! the lowest.
//!
//! | file | sections |
//! |---|---|
//! | public key | `seed` of its matrix (32 bytes), `b` |
//! | server key | `seed`, `b`; `switch-1` and so on: of each level above the lowest the seed of its switching key's matrix and its first column |
//! | client key | `seed`, `b`, `secrets`: the entries of each level's secret |
//!
//! Matrices are not stored, but made again from their seeds: that of the switching keys of `leveled-secure-1` has 41 GB, and its file 30 MB. Encryption needs
//! `seed` and `b` alone: [`KeyFiles::read_public`](crate::KeyFiles::read_public) takes them from any of the three. A public key's matrix can be stored whole, for streaming, as a
//! [`KeyFile`](solinas_schemes::lwe::KeyFile), which has a format of its own; [`inspect`](crate::inspect()) knows it.

use std::io::{BufWriter, Write};
use std::path::Path;

use solinas_schemes::lwe::{ClientKey, Lwe, Params, ParamsLiteral, PublicKey, ServerKey, StreamedProduct, SwitchKey};
use solinas_schemes::{Control, Error as SchemeError, Level};
use zeroize::Zeroizing;

use super::{CiphertextFiles, KeySections};
use crate::{Destination, Error, NewFile, Reader, Writer, pack};

/// Bytes of a seed.
const SEED: usize = 32;

/// Writes the public matrix of a key whole, for streaming; it replaces an older file. Progress counts pieces.
///
/// # Errors
/// [`Error::Io`], [`Error::DiskFull`]; [`Error::Scheme`] if it is cancelled. After an error, an older file stays as it
/// was.
pub fn write_matrix(path: &Path, key: &PublicKey, control: &Control<'_>) -> Result<(), Error> {
    let file = NewFile::create(path, false, true).map_err(|e| Error::io(path, "create", e))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    key.write(|bytes| out.write_all(bytes).map_err(|e| Error::io(path, "write", e)), control)?;
    let file = out.into_inner().map_err(|e| Error::io(path, "write", e.into_error()))?;
    file.persist().map(drop).map_err(|e| Error::io(path, "write", e))
}

/// Stores the state of an incomplete product, for [`StreamedProduct::resume`], in a file that only its owner can read. It replaces an older file.
///
/// # Errors
/// [`Error::Io`], [`Error::DiskFull`]. After an error, an older file stays as it was.
pub fn save_product(path: &Path, product: &StreamedProduct<'_>) -> Result<(), Error> {
    let saved = NewFile::with_bytes(path, &product.state(), true, true).and_then(NewFile::persist);
    saved.map(drop).map_err(|e| Error::io(path, "write", e))
}

impl KeySections for Lwe {
    type Literal = ParamsLiteral;

    const IDENTITY: &'static str = "parameters, seed, b and insecure_seed";

    fn literal(params: &Params) -> &ParamsLiteral {
        params.literal()
    }

    fn write_secret_parts(writer: &mut Writer<dyn Destination>, key: &ClientKey) -> Result<(), Error> {
        // As i32: entries are below 2^10.
        let entries = Zeroizing::new(key.secrets().flatten().map(|&x| x as i32 as u32).collect::<Vec<_>>());
        writer.section("secrets", &Zeroizing::new(pack::u32_to_le(&entries)))
    }

    fn write_public_parts(writer: &mut Writer<dyn Destination>, key: &PublicKey) -> Result<(), Error> {
        writer.section("seed", key.fresh().seed())?;
        writer.section("b", &pack::u32_to_le(&key.fresh().b().residues()))
    }

    fn write_evaluation_parts(writer: &mut Writer<dyn Destination>, key: &ServerKey) -> Result<(), Error> {
        for (level, switch) in key.params().switch_levels().zip(key.switches()) {
            let words = (0..switch.b().word_count()).map(|w| pack::u32_to_le(switch.b().word(w)));
            let parts = core::iter::once(switch.seed().to_vec()).chain(words);
            writer.section_of_parts(&switch_name(level), parts.map(Ok))?;
        }
        Ok(())
    }

    fn check_params(reader: &Reader, literal: ParamsLiteral) -> Result<Params, Error> {
        let refused = |error: SchemeError| reader.field("params", &error.to_string());
        let params = Params::try_from(literal).map_err(refused)?;
        reader.unchanged(Params::named(params.name()).ok(), params)
    }

    fn read_public_parts(reader: &Reader, params: &Params) -> Result<PublicKey, Error> {
        let mut seed = [0; SEED];
        seed.copy_from_slice(&reader.section_of_len("seed", SEED)?);
        let fresh = params.fresh();
        let b = reader.section_u32("b", fresh.samples() * fresh.modulus().len())?;
        PublicKey::from_parts(params, reader.header().insecure_seed, seed, &b)
            .map_err(|error| reader.section_error("b", error))
    }

    fn read_secret_parts(reader: &Reader, public: PublicKey) -> Result<ClientKey, Error> {
        let (n, levels) = (public.params().dimension(), public.params().depth() + 1);
        let entries = Zeroizing::new(reader.section_u32("secrets", n * levels)?);
        let secret = |part: &[u32]| Zeroizing::new(part.iter().map(|&x| i64::from(x as i32)).collect::<Vec<_>>());
        let secrets = entries.chunks_exact(n).map(secret).collect();
        ClientKey::from_parts(public, secrets).map_err(|error| reader.section_error("secrets", error))
    }

    fn read_evaluation_parts(reader: &Reader, public: PublicKey) -> Result<ServerKey, Error> {
        let params = public.params();
        let read = |level: Level| {
            let name = switch_name(level);
            let bytes = reader.section_of_len(&name, SEED + 4 * params.switch_residues(level))?;
            let (first, residues) = bytes.split_at(SEED);
            let mut seed = [0; SEED];
            seed.copy_from_slice(first);
            let residues = pack::u32_from_le(residues).map_err(|error| reader.section_error(&name, error))?;
            SwitchKey::from_parts(params, level, seed, &residues).map_err(|error| reader.section_error(&name, error))
        };
        let switches = params.switch_levels().map(read).collect::<Result<_, _>>()?;
        ServerKey::from_parts(public, switches).map_err(|error| reader.section_error("switch-1", error))
    }
}

impl CiphertextFiles for Lwe {
    fn stored_server_bytes(params: &Params) -> usize {
        stored_server_bytes(params)
    }

    fn packed_bytes(params: &Params, level: Level) -> usize {
        4 * params.modulus(level).len() * (params.dimension() + 1)
    }

    fn pack(_: &Params, _: Level, part: &[u64]) -> Result<Vec<u8>, Error> {
        // Residues of words of at most 32 bits.
        Ok(pack::u32_to_le(&part.iter().map(|&word| word as u32).collect::<Vec<_>>()))
    }

    fn unpack(_: &Params, _: Level, bytes: &[u8]) -> Result<Vec<u64>, Error> {
        Ok(pack::u32_from_le(bytes)?.into_iter().map(u64::from).collect())
    }

    fn write_matrix(key: &PublicKey, path: &Path, control: &Control<'_>) -> Result<(), Error> {
        write_matrix(path, key, control)
    }
}

/// The section of the switching key of a level. It counts from 0, the lowest level, as files always did.
fn switch_name(level: Level) -> String {
    format!("switch-{}", level.index())
}

/// Bytes of the sections of a stored server key.
pub fn stored_server_bytes(params: &Params) -> usize {
    let fresh = params.fresh();
    let switches = params.switch_levels().map(|level| SEED + 4 * params.switch_residues(level));
    SEED + 4 * fresh.samples() * fresh.modulus().len() + switches.sum::<usize>()
}
