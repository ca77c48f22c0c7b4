//! Files of TFHE keys.
//!
//! A client key is its two bit strings, one bit a byte. A server key is the bodies alone, those of the bootstrapping key packed to
//! the bits its parameters keep; masks are regenerated from the public seed in the header. A public key is its bodies too.

use solinas_schemes::tfhe::{ClientKey, Params, ParamsLiteral, PublicKey, ServerKey};

use crate::{Destination, Error, Header, KeyId, Kind, Reader, Writer, pack};

/// Name of the scheme in a header.
pub const SCHEME: &str = "tfhe";

/// Header of a file that belongs to a key.
///
/// # Errors
/// [`Error::Unwritable`] when the parameters cannot be written as CBOR.
pub fn header(kind: Kind, params: &Params, id: KeyId, insecure: bool) -> Result<Header, Error> {
    Ok(Header::new(kind).scheme(SCHEME).params(params.literal())?.key_id(id).insecure_seed(insecure))
}

/// The parameters a file was written with: one of the named sets, of this version or of an earlier one.
///
/// # Errors
/// [`Error::WrongScheme`]; [`Error::Field`] for a set that no version knows.
pub fn params(reader: &Reader) -> Result<Params, Error> {
    reader.expect_scheme(SCHEME)?;
    let literal: ParamsLiteral = reader.params()?;
    Params::stored(&literal).map_err(|error| reader.field("params", &error.to_string()))
}

fn seed(reader: &Reader) -> Result<[u8; 32], Error> {
    reader.meta::<KeyId>("seed").map(|seed| seed.0)
}

fn check_id(reader: &Reader, id: [u8; 32]) -> Result<(), Error> {
    if reader.key_id()?.0 == id {
        Ok(())
    } else {
        Err(reader.field("key_id", "it does not match the key's seed and parameters"))
    }
}

/// Writes a client key; `writer` makes the file, from [`client_header`].
///
/// # Errors
/// From the file.
pub fn write_client(writer: &mut Writer<dyn Destination>, key: &ClientKey) -> Result<(), Error> {
    writer.section("lwe", key.lwe_bits())?;
    writer.section("glwe", key.glwe_bits())
}

/// Header of a client key.
///
/// # Errors
/// As [`header`].
pub fn client_header(key: &ClientKey) -> Result<Header, Error> {
    header(Kind::ClientKey, key.params(), key.id(), key.is_insecure())?.meta("seed", &KeyId(*key.public_seed()))
}

/// Reads a client key.
///
/// # Errors
/// From the file; [`Error::Section`] for key bits that are none.
pub fn read_client(reader: &Reader) -> Result<ClientKey, Error> {
    let params = params(reader)?;
    let lwe = reader.section_of_len("lwe", params.literal().lwe_dimension)?.to_vec();
    let glwe = reader.section_of_len("glwe", params.big_dimension())?.to_vec();
    let key = ClientKey::from_parts(params, seed(reader)?, reader.header().insecure_seed, lwe, glwe)
        .map_err(|error| reader.section_error("lwe", error))?;
    check_id(reader, key.id().0)?;
    Ok(key)
}

/// Header of a public key.
///
/// # Errors
/// As [`header`].
pub fn public_header(key: &PublicKey) -> Result<Header, Error> {
    header(Kind::PublicKey, key.params(), key.id(), key.is_insecure())?.meta("seed", &KeyId(*key.public_seed()))
}

/// Writes a public key; `writer` makes the file, from [`public_header`].
///
/// # Errors
/// From the file.
pub fn write_public(writer: &mut Writer<dyn Destination>, key: &PublicKey) -> Result<(), Error> {
    writer.section("bodies", &pack::u64_to_le(key.bodies()))
}

/// Reads a public key.
///
/// # Errors
/// From the file.
pub fn read_public(reader: &Reader) -> Result<PublicKey, Error> {
    let params = params(reader)?;
    let bytes = reader.section_of_len("bodies", 8 * params.big_dimension())?;
    let bodies = pack::u64_from_le(&bytes).map_err(|error| reader.section_error("bodies", error))?;
    let key = PublicKey::from_parts(params, seed(reader)?, reader.header().insecure_seed, bodies)
        .map_err(|error| reader.section_error("bodies", error))?;
    check_id(reader, key.id().0)?;
    Ok(key)
}

/// Header of a server key.
///
/// # Errors
/// As [`header`].
pub fn server_header(key: &ServerKey) -> Result<Header, Error> {
    header(Kind::ServerKey, key.params(), key.id(), key.is_insecure())?.meta("seed", &KeyId(*key.public_seed()))
}

/// Writes a server key; `writer` makes the file, from [`server_header`].
///
/// # Errors
/// From the file.
pub fn write_server(writer: &mut Writer<dyn Destination>, key: &ServerKey) -> Result<(), Error> {
    let bits = key.params().literal().body_bits;
    writer.section("bootstrap", &pack::pack_high_bits(key.bootstrap_bodies(), bits)?)?;
    writer.section("keyswitch", &pack::u32_to_le(key.keyswitch_bodies()))
}

/// Reads a server key.
///
/// # Errors
/// From the file.
pub fn read_server(reader: &Reader) -> Result<ServerKey, Error> {
    let params = params(reader)?;
    let (bits, count) = (params.literal().body_bits, ServerKey::bootstrap_len(&params));
    let packed = reader.section_of_len("bootstrap", pack::packed_len(count, bits)?)?;
    let bodies =
        pack::unpack_high_bits(&packed, bits, count).map_err(|error| reader.section_error("bootstrap", error))?;
    let keyswitch = reader.section_u32("keyswitch", ServerKey::keyswitch_len(&params))?;
    let key = ServerKey::from_parts(params, seed(reader)?, reader.header().insecure_seed, bodies, keyswitch)
        .map_err(|error| reader.section_error("bootstrap", error))?;
    check_id(reader, key.id().0)?;
    Ok(key)
}

/// Bytes of the sections of a stored server key.
pub fn stored_server_bytes(params: &Params) -> usize {
    let bits = params.literal().body_bits as usize;
    (ServerKey::bootstrap_len(params) * bits).div_ceil(8) + 4 * ServerKey::keyswitch_len(params)
}
