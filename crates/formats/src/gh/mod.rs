//! Files of Gentry-Halevi keys.
//!
//! All numbers consist of little-endian 64-bit words, lowest first. Each has as many words as `d`.
//!
//! | file | sections |
//! |---|---|
//! | client key | `d`, `r`, `w` |
//! | public key | `d`, `r` |
//! | server key | `d`, `r`, `x` (`s` residues), `indicators` (`s m` residues, block by block) |
//! | cache | `table` |
//! | checkpoint of key generation | `seed` (32 bytes), and some of [`KeyGeneration::PARTS`](solinas_schemes::gh::keygen::KeyGeneration::PARTS) |
//!
//! Encryption needs only `d` and `r`. [`Gh::read_public`](KeyFiles::read_public) reads them from a key file of any
//! kind. The server key of the set large has 2.25 GB. It is written from memory and read into memory without a copy.

mod cache;
mod checkpoint;

pub use cache::{
    Cached, load_encryptor, load_evaluator, read_encryptor, read_evaluator, save_encryptor, save_evaluator,
};
pub use checkpoint::{keygen, read_checkpoint};

use solinas_bigint::Natural;
use solinas_schemes::Identity;
use solinas_schemes::gh::{ClientKey, Params, ParamsLiteral, PublicKey, Residues, ServerKey};
use solinas_schemes::security::SecurityClaim;
use zeroize::Zeroizing;

use crate::keys::{check_identity, stated_digest};
use crate::{Destination, Error, KeyFiles, Reader, Writer};

/// The files of the Gentry-Halevi scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gh;

/// Largest dimension at which a reader checks the root of a key: 3 ms at toy, 20 ms at small. The check would take 0.1
/// s at medium and 1 s at large. Checksums find damage already, so the check finds forged keys only.
const MOST_CHECKED: usize = 2048;

impl KeyFiles for Gh {
    const NAME: &'static str = "gh";

    type Params = Params;
    type PublicKey = PublicKey;
    type ClientKey = ClientKey;
    type ServerKey = ServerKey;

    fn literal(params: &Params) -> &impl serde::Serialize {
        params.literal()
    }

    fn security(params: &Params) -> SecurityClaim {
        params.security()
    }

    fn params(key: &PublicKey) -> &Params {
        key.params()
    }

    fn identity(key: &PublicKey) -> &Identity {
        key.identity()
    }

    fn bound_identity(key: &PublicKey) -> Identity {
        key.bound_identity()
    }

    fn is_insecure(key: &PublicKey) -> bool {
        key.is_insecure()
    }

    fn of_client(key: &ClientKey) -> &PublicKey {
        key.public()
    }

    fn of_server(key: &ServerKey) -> &PublicKey {
        key.public()
    }

    fn write_client(writer: &mut Writer<dyn Destination>, key: &ClientKey) -> Result<(), Error> {
        Self::write_public(writer, key.public())?;
        write_residue(writer, "w", key.w(), key.public().words())
    }

    fn write_public(writer: &mut Writer<dyn Destination>, key: &PublicKey) -> Result<(), Error> {
        write_residue(writer, "d", key.d(), key.words())?;
        write_residue(writer, "r", key.r(), key.words())
    }

    fn write_server(writer: &mut Writer<dyn Destination>, key: &ServerKey) -> Result<(), Error> {
        Self::write_public(writer, key.public())?;
        writer.section_u64("x", key.x())?;
        writer.section_u64("indicators", key.indicators())
    }

    fn read_params(reader: &Reader) -> Result<Params, Error> {
        reader.expect_scheme(Self::NAME)?;
        let literal: ParamsLiteral = reader.params()?;
        let refused = |error: solinas_schemes::Error| reader.field("params", &error.to_string());
        if !Params::names().contains(&literal.name.as_str()) {
            return Params::try_from(literal).map_err(refused);
        }
        let params = Params::named(&literal.name).map_err(refused)?;
        reader.unchanged(Some(params.literal()), &literal)?;
        Ok(params)
    }

    fn read_public(reader: &Reader) -> Result<PublicKey, Error> {
        let params = Self::read_params(reader)?;
        // The length of d varies between keys by much less than a tenth.
        let (len, most) = (reader.section_len("d")?, (params.modulus_bits() * 1.1 / 64.0) as usize + 1);
        let words = usize::try_from(len / 8).unwrap_or(usize::MAX);
        if words > most || !len.is_multiple_of(8) {
            return Err(
                reader.section_error("d", format_args!("it has {len} bytes, its parameters allow {}", 8 * most))
            );
        }
        let number = |name: &str| reader.section_u64(name, words).map(Natural::from_words);
        let mut key = PublicKey::from_parts(params, reader.header().insecure_seed, number("d")?, number("r")?)
            .map_err(|error| reader.section_error("d", error))?;
        if key.words() != words {
            return Err(reader.section_error("d", "its last word is zero"));
        }
        if stated_digest(reader)?.is_none() {
            key = key.with_version_1_id();
        }
        check_identity(reader, key.identity(), "parameters, d, r and insecure_seed")?;
        if key.params().dimension() <= MOST_CHECKED {
            key.check_root().map_err(|error| reader.section_error("r", error))?;
        }
        Ok(key)
    }

    fn read_client(reader: &Reader) -> Result<ClientKey, Error> {
        let public = Self::read_public(reader)?;
        let w = Natural::from_words(reader.section_u64("w", public.words())?);
        ClientKey::from_parts(public, w).map_err(|error| reader.section_error("w", error))
    }

    fn read_server(reader: &Reader) -> Result<ServerKey, Error> {
        let public = Self::read_public(reader)?;
        let residues = |name: &str, count: usize| reader.section_u64(name, count * public.words()).map(Residues::from);
        let params = public.params();
        let x = residues("x", params.blocks())?;
        let indicators = residues("indicators", params.blocks() * params.indicators())?;
        ServerKey::from_parts(public, x, indicators).map_err(|error| reader.section_error("indicators", error))
    }
}

/// Writes a number, padded with zeros to `words` words.
fn write_residue(writer: &mut Writer<dyn Destination>, name: &str, x: &Natural, words: usize) -> Result<(), Error> {
    let mut padded = Zeroizing::new(Vec::with_capacity(words));
    padded.extend_from_slice(x.words());
    padded.resize(words, 0);
    writer.section_u64(name, &padded)
}

/// Approximate bytes of the sections of a stored server key.
pub fn stored_server_bytes(params: &Params) -> usize {
    8 * params.server_key_words()
}
