//! Files of TFHE keys.
//!
//! A client key is its two bit strings, one bit a byte. A server key is the bodies alone, those of the bootstrapping key packed to
//! the bits its parameters keep; masks are regenerated from the public seed in the header. A public key is its bodies too.
//!
//! The section `packing` of a server key is read when results are first packed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use solinas_schemes::Identity;
use solinas_schemes::tfhe::{ClientKey, PackingKey, Params, ParamsLiteral, PublicKey, ServerKey};

use crate::keys::{check_identity, identified, stated_digest};
use crate::{Destination, Error, Header, KeyId, Kind, OnDemand, Reader, Writer, pack};

/// Name of the scheme in a header.
pub const SCHEME: &str = "tfhe";

/// Header of a file that belongs to a key.
///
/// # Errors
/// [`Error::Unwritable`] when the parameters cannot be written as CBOR.
pub fn header(kind: Kind, params: &Params, id: KeyId, insecure: bool) -> Result<Header, Error> {
    Ok(Header::new(kind).scheme(SCHEME).params(params.literal())?.key_id(id).insecure_seed(insecure))
}

/// The parameters of a small file: those by which [`params`] finds the set.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShortParams {
    name: String,
    lwe_dimension: usize,
}

/// As [`header`], for a small file: the parameters are only the name of the set and the LWE dimension.
///
/// # Errors
/// As [`header`].
pub fn short_header(kind: Kind, params: &Params, id: KeyId, insecure: bool) -> Result<Header, Error> {
    let short = ShortParams { name: params.name().to_owned(), lwe_dimension: params.literal().lwe_dimension };
    Ok(Header::new(kind).scheme(SCHEME).params(&short)?.key_id(id).insecure_seed(insecure))
}

/// The parameters a file was written with: one of the named sets.
///
/// # Errors
/// [`Error::WrongScheme`]; [`Error::Field`] for a set that this version does not know.
pub fn params(reader: &Reader) -> Result<Params, Error> {
    reader.expect_scheme(SCHEME)?;
    let params = match reader.params::<ShortParams>() {
        Ok(short) => Params::of_dimension(&short.name, short.lwe_dimension),
        Err(_) => Params::stored(&reader.params::<ParamsLiteral>()?),
    };
    params.map_err(|error| reader.field("params", &error.to_string()))
}

fn seed(reader: &Reader) -> Result<[u8; 32], Error> {
    reader.meta::<KeyId>("seed").map(|seed| seed.0)
}

/// Data of which the identity of a key is a hash.
const IDENTITY: &str = "parameters, seed, insecure_seed and public_digest";

/// Header of the file of a key.
fn key_header(
    kind: Kind,
    params: &Params,
    identity: &Identity,
    insecure: bool,
    seed: &[u8; 32],
) -> Result<Header, Error> {
    identified(header(kind, params, identity.id(), insecure)?, identity)?.meta("seed", &KeyId(*seed))
}

/// The identity that the header of a key's file states. The words of the public key are not read.
///
/// # Errors
/// [`Error::Field`] if the id is not that of the other fields.
pub fn stated_identity(reader: &Reader) -> Result<Identity, Error> {
    let (params, seed, insecure) = (params(reader)?, seed(reader)?, reader.header().insecure_seed);
    let identity = solinas_schemes::tfhe::identity(&params, &seed, insecure, stated_digest(reader)?);
    check_identity(reader, &identity, IDENTITY)?;
    Ok(identity)
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
    key_header(Kind::ClientKey, key.params(), key.identity(), key.is_insecure(), key.public_seed())
}

/// Reads a client key.
///
/// # Errors
/// From the file; [`Error::Section`] for key bits that are none.
pub fn read_client(reader: &Reader) -> Result<ClientKey, Error> {
    let params = params(reader)?;
    let lwe = reader.section_of_len("lwe", params.literal().lwe_dimension)?.to_vec();
    let glwe = reader.section_of_len("glwe", params.big_dimension())?.to_vec();
    let mut key = ClientKey::from_parts(params, seed(reader)?, reader.header().insecure_seed, lwe, glwe)
        .map_err(|error| reader.section_error("lwe", error))?;
    if stated_digest(reader)?.is_none() {
        key = key.with_version_1_id();
    }
    check_identity(reader, key.identity(), IDENTITY)?;
    Ok(key)
}

/// Header of a public key.
///
/// # Errors
/// As [`header`].
pub fn public_header(key: &PublicKey) -> Result<Header, Error> {
    key_header(Kind::PublicKey, key.params(), key.identity(), key.is_insecure(), key.public_seed())
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
    let mut key = PublicKey::from_parts(params, seed(reader)?, reader.header().insecure_seed, bodies)
        .map_err(|error| reader.section_error("bodies", error))?;
    if stated_digest(reader)?.is_none() {
        key = key.with_version_1_id();
    }
    check_identity(reader, key.identity(), IDENTITY)?;
    Ok(key)
}

/// Header of a server key.
///
/// # Errors
/// As [`header`].
pub fn server_header(key: &ServerKey) -> Result<Header, Error> {
    key_header(Kind::ServerKey, key.params(), key.identity(), key.is_insecure(), key.public_seed())
}

/// The contents of the file of a server key.
#[derive(Debug, Clone)]
pub struct ServerFile {
    /// The key that computes.
    pub key: Arc<ServerKey>,
    /// The key that packs compact results.
    pub packing: Arc<OnDemand<PackingKey>>,
}

/// Name of the section of the packing key.
const PACKING: &str = "packing";

/// Writes a server key; `writer` makes the file, from [`server_header`].
///
/// # Errors
/// From the file, and from the file of the packing key if that is not read yet.
pub fn write_server(writer: &mut Writer<dyn Destination>, file: &ServerFile) -> Result<(), Error> {
    let bits = file.key.params().literal().body_bits;
    writer.section("bootstrap", &pack::pack_high_bits(file.key.bootstrap_bodies(), bits)?)?;
    writer.section("keyswitch", &pack::u32_to_le(file.key.keyswitch_bodies()))?;
    writer.section(PACKING, &pack::u64_to_le(file.packing.get()?.bodies()))
}

/// Reads a server key, except for the packing key.
///
/// # Errors
/// From the file.
pub fn read_server(reader: &Reader) -> Result<ServerFile, Error> {
    let params = params(reader)?;
    let (bits, count) = (params.literal().body_bits, ServerKey::bootstrap_len(&params));
    let packed = reader.section_of_len("bootstrap", pack::packed_len(count, bits)?)?;
    let bodies =
        pack::unpack_high_bits(&packed, bits, count).map_err(|error| reader.section_error("bootstrap", error))?;
    let keyswitch = reader.section_u32("keyswitch", ServerKey::keyswitch_len(&params))?;
    let (seed, insecure, digest) = (seed(reader)?, reader.header().insecure_seed, stated_digest(reader)?);
    let key = ServerKey::from_parts(params, seed, insecure, digest, bodies, keyswitch)
        .map_err(|error| reader.section_error("bootstrap", error))?;
    check_identity(reader, key.identity(), IDENTITY)?;
    reader.section_len(PACKING)?;
    Ok(ServerFile { key: Arc::new(key), packing: Arc::new(OnDemand::new(reader, read_packing)?) })
}

/// Reads the packing key in the file of a server key.
fn read_packing(reader: &Reader) -> Result<PackingKey, Error> {
    let params = params(reader)?;
    let bodies = reader.section_u64(PACKING, PackingKey::len(&params))?;
    let (seed, insecure, digest) = (seed(reader)?, reader.header().insecure_seed, stated_digest(reader)?);
    let key = PackingKey::from_parts(params, seed, insecure, digest, bodies)
        .map_err(|error| reader.section_error(PACKING, error))?;
    check_identity(reader, key.identity(), IDENTITY)?;
    Ok(key)
}

/// Bytes of the sections of a stored server key.
pub fn stored_server_bytes(params: &Params) -> usize {
    let bits = params.literal().body_bits as usize;
    let bootstrap = (ServerKey::bootstrap_len(params) * bits).div_ceil(8);
    bootstrap + 4 * ServerKey::keyswitch_len(params) + 8 * PackingKey::len(params)
}
