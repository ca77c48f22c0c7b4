//! Files of Gentry-Halevi keys.
//!
//! All numbers are little-endian 64-bit words, lowest first, as many as those of `d`:
//!
//! | file | sections |
//! |---|---|
//! | client key | `d`, `r`, `w` |
//! | public key | `d`, `r` |
//! | server key | `d`, `r`, `x` (`s` residues), `indicators` (`s m` residues, block by block) |
//! | cache | `table` |
//! | checkpoint of key generation | `seed` (32 bytes), and of [`KeyGeneration::PARTS`](gh::KeyGeneration::PARTS) what there is |
//!
//! Encryption needs `d` and `r` alone: [`read_public`] takes them from any of the three. A large server key is 2.25 GB; it is written from where it
//! lies in memory, and used where it lies in its file, mapped into memory.

mod cache;
mod checkpoint;

pub use cache::{
    Cached, load_encryptor, load_evaluator, read_encryptor, read_evaluator, save_encryptor, save_evaluator,
};
pub use checkpoint::{keygen, read_checkpoint};

use solinas_bigint::Natural;
use solinas_schemes::gh::{self, ClientKey, Params, ParamsLiteral, PublicKey, Residues, ServerKey};
use zeroize::Zeroizing;

use crate::{Destination, Error, Header, KeyId, Kind, Reader, Writer};

/// Name of the scheme in a header.
pub const SCHEME: &str = "gh";

/// Largest dimension at which the root of a key that is read is checked: 3 ms at toy, 20 ms at small. It would take 0.1 s at medium and 1 s at large, and tells
/// of no fault that the file's checksums leave but of a key that was forged, by whom a public key is taken.
const MOST_CHECKED: usize = 2048;

/// Header of a file that belongs to a key.
///
/// # Errors
/// [`Error::Unwritable`] when the parameters cannot be written as CBOR.
pub fn header(kind: Kind, params: &Params, id: KeyId, insecure: bool) -> Result<Header, Error> {
    Ok(Header::new(kind).scheme(SCHEME).params(params.literal())?.key_id(id).insecure_seed(insecure))
}

/// The parameters a file was written with: a named set, unchanged, or a set of another name, checked again.
///
/// # Errors
/// [`Error::WrongScheme`]; [`Error::Field`] for a set that differs from the one of that name, or that the scheme refuses.
pub fn params(reader: &Reader) -> Result<Params, Error> {
    reader.expect_scheme(SCHEME)?;
    let literal: ParamsLiteral = reader.params()?;
    let refused = |error: gh::Error| reader.field("params", &error.to_string());
    if !Params::names().contains(&literal.name.as_str()) {
        return Params::try_from(literal).map_err(refused);
    }
    let params = Params::named(&literal.name).map_err(refused)?;
    if *params.literal() != literal {
        return Err(reader
            .field("params", "they differ from the parameter set of that name; make the key again with this version"));
    }
    Ok(params)
}

/// Header of a client key.
///
/// # Errors
/// As [`header`].
pub fn client_header(key: &ClientKey) -> Result<Header, Error> {
    key_header(Kind::ClientKey, key.public())
}

/// Header of a public key.
///
/// # Errors
/// As [`header`].
pub fn public_header(key: &PublicKey) -> Result<Header, Error> {
    key_header(Kind::PublicKey, key)
}

/// Header of a server key.
///
/// # Errors
/// As [`header`].
pub fn server_header(key: &ServerKey) -> Result<Header, Error> {
    key_header(Kind::ServerKey, key.public())
}

fn key_header(kind: Kind, key: &PublicKey) -> Result<Header, Error> {
    header(kind, key.params(), KeyId(key.id().0), key.is_insecure())
}

/// Writes a client key; `writer` makes the file, from [`client_header`].
///
/// # Errors
/// From the file.
pub fn write_client(writer: &mut Writer<dyn Destination>, key: &ClientKey) -> Result<(), Error> {
    write_public(writer, key.public())?;
    write_residue(writer, "w", key.w(), key.public().words())
}

/// Writes a public key; `writer` makes the file, from [`public_header`].
///
/// # Errors
/// From the file.
pub fn write_public(writer: &mut Writer<dyn Destination>, key: &PublicKey) -> Result<(), Error> {
    write_residue(writer, "d", key.d(), key.words())?;
    write_residue(writer, "r", key.r(), key.words())
}

/// Writes a server key; `writer` makes the file, from [`server_header`].
///
/// # Errors
/// From the file.
pub fn write_server(writer: &mut Writer<dyn Destination>, key: &ServerKey) -> Result<(), Error> {
    write_public(writer, key.public())?;
    writer.section_u64("x", key.x())?;
    writer.section_u64("indicators", key.indicators())
}

/// A number, filled up with zeros to `words` words.
fn write_residue(writer: &mut Writer<dyn Destination>, name: &str, x: &Natural, words: usize) -> Result<(), Error> {
    let mut padded = Zeroizing::new(Vec::with_capacity(words));
    padded.extend_from_slice(x.words());
    padded.resize(words, 0);
    writer.section_u64(name, &padded)
}

/// Reads the public key of a client, public or server key: no more of the file than `d` and `r`.
///
/// # Errors
/// From the file; [`Error::Section`] for numbers that are no key of the parameters; [`Error::Field`] for a key id that is not theirs.
pub fn read_public(reader: &Reader) -> Result<PublicKey, Error> {
    let params = params(reader)?;
    // The length of d varies from key to key, by far less than a tenth.
    let (len, most) = (reader.section_len("d")?, (params.modulus_bits() * 1.1 / 64.0) as usize + 1);
    let words = usize::try_from(len / 8).unwrap_or(usize::MAX);
    if words > most || !len.is_multiple_of(8) {
        return Err(
            reader.section_error("d", format_args!("it has {len} bytes, its parameters allow for {}", 8 * most))
        );
    }
    let number = |name: &str| reader.section_u64(name, words).map(Natural::from_words);
    let key = PublicKey::from_parts(params, reader.header().insecure_seed, number("d")?, number("r")?)
        .map_err(|error| reader.section_error("d", error))?;
    if key.words() != words {
        return Err(reader.section_error("d", "its last word is zero"));
    }
    if reader.key_id()?.0 != key.id().0 {
        return Err(reader.field("key_id", "it does not match the key's parameters, d, r and insecure_seed"));
    }
    if key.params().dimension() <= MOST_CHECKED {
        key.check_root().map_err(|error| reader.section_error("r", error))?;
    }
    Ok(key)
}

/// Reads a client key.
///
/// # Errors
/// As [`read_public`].
pub fn read_client(reader: &Reader) -> Result<ClientKey, Error> {
    let public = read_public(reader)?;
    let w = Natural::from_words(reader.section_u64("w", public.words())?);
    ClientKey::from_parts(public, w).map_err(|error| reader.section_error("w", error))
}

/// Reads a server key, checks every byte of it, and uses its words where they lie if the file is mapped, as large ones are.
///
/// # Errors
/// As [`read_public`].
pub fn read_server(reader: &Reader) -> Result<ServerKey, Error> {
    let public = read_public(reader)?;
    let residues = |name: &str, count: usize| reader.shared_u64(name, count * public.words()).map(Residues::shared);
    let params = public.params();
    let x = residues("x", params.blocks())?;
    let indicators = residues("indicators", params.blocks() * params.indicators())?;
    ServerKey::from_parts(public, x, indicators).map_err(|error| reader.section_error("indicators", error))
}

/// Bytes of the sections of a stored server key, about.
pub fn stored_server_bytes(params: &Params) -> usize {
    8 * params.server_key_words()
}
