//! The files of a scheme's keys.

use std::fmt::Debug;

use serde::Serialize;
use solinas_schemes::Identity;
use solinas_schemes::security::SecurityClaim;

use crate::{Destination, Header, KeyId, Kind, Reader, Result, Writer};

/// The version of ids that bind the public key.
const ID_VERSION: u64 = 2;

/// A header of a key's file, with what its id binds.
pub(crate) fn identified(header: Header, identity: &Identity) -> Result<Header> {
    match identity.public_digest() {
        Some(digest) => header.meta("id_version", &ID_VERSION)?.meta("public_digest", &KeyId(*digest)),
        None => Ok(header),
    }
}

/// The digest of the public words that the header of a key's file states. None if the file has an id of version 1, which states none.
///
/// # Errors
/// [`Error::Field`](crate::Error::Field) for another version of the id, or if the digest is absent.
pub(crate) fn stated_digest(reader: &Reader) -> Result<Option<[u8; 32]>> {
    if !reader.header().meta.contains_key("id_version") {
        return Ok(None);
    }
    match reader.meta::<u64>("id_version")? {
        ID_VERSION => Ok(Some(reader.meta::<KeyId>("public_digest")?.0)),
        other => {
            Err(reader.field("id_version", &format!("it is {other}, and this version of Solinas knows {ID_VERSION}")))
        }
    }
}

/// Checks that a file states the identity of its key. `of` names the data of which the identity is a hash.
///
/// # Errors
/// [`Error::Field`](crate::Error::Field) if it states another id or digest: the file was made to look like that of another key.
pub(crate) fn check_identity(reader: &Reader, identity: &Identity, of: &str) -> Result<()> {
    if stated_digest(reader)?.as_ref() != identity.public_digest() {
        return Err(reader.field("public_digest", "it is not that of the words of the public key"));
    }
    match reader.key_id()? == identity.id() {
        true => Ok(()),
        false => Err(reader.field("key_id", &format!("it does not match the key's {of}"))),
    }
}

/// A scheme whose keys are files: client, public and server keys, each with the public key in it.
pub trait KeyFiles {
    /// Name of the scheme in a header.
    const NAME: &'static str;

    /// A parameter set.
    type Params;
    /// The key that encrypts.
    type PublicKey: Debug + Clone + Send + Sync;
    /// The key that decrypts.
    type ClientKey: Debug + Send + Sync;
    /// The key that computes. It has everything that the file of a server key holds.
    type ServerKey: Debug + Send + Sync;

    /// Parameters as a header holds them.
    fn literal(params: &Self::Params) -> &impl Serialize;

    /// Security of parameters, as this version of the library computes or states it.
    fn security(params: &Self::Params) -> SecurityClaim;

    /// Parameters of a key.
    fn params(key: &Self::PublicKey) -> &Self::Params;

    /// Id of a key pair, and its version.
    fn identity(key: &Self::PublicKey) -> &Identity;

    /// The identity of version 2, which binds the key.
    fn bound_identity(key: &Self::PublicKey) -> Identity;

    /// Whether a key was made from a chosen seed.
    fn is_insecure(key: &Self::PublicKey) -> bool;

    /// The public key of a client key.
    fn of_client(key: &Self::ClientKey) -> &Self::PublicKey;

    /// The public key of a server key.
    fn of_server(key: &Self::ServerKey) -> &Self::PublicKey;

    /// Header of a file that belongs to a key.
    ///
    /// # Errors
    /// [`Error::Unwritable`](crate::Error::Unwritable) when the parameters cannot be written as CBOR.
    fn header(kind: Kind, params: &Self::Params, id: KeyId, insecure: bool) -> Result<Header> {
        Ok(Header::new(kind).scheme(Self::NAME).params(Self::literal(params))?.key_id(id).insecure_seed(insecure))
    }

    /// Header of the file of a key.
    ///
    /// # Errors
    /// As [`Self::header`].
    fn key_header(kind: Kind, key: &Self::PublicKey) -> Result<Header> {
        let identity = Self::identity(key);
        identified(Self::header(kind, Self::params(key), identity.id(), Self::is_insecure(key))?, identity)
    }

    /// Header of a client key.
    ///
    /// # Errors
    /// As [`Self::header`].
    fn client_header(key: &Self::ClientKey) -> Result<Header> {
        Self::key_header(Kind::ClientKey, Self::of_client(key))
    }

    /// Header of a public key.
    ///
    /// # Errors
    /// As [`Self::header`].
    fn public_header(key: &Self::PublicKey) -> Result<Header> {
        Self::key_header(Kind::PublicKey, key)
    }

    /// Header of a server key.
    ///
    /// # Errors
    /// As [`Self::header`].
    fn server_header(key: &Self::ServerKey) -> Result<Header> {
        Self::key_header(Kind::ServerKey, Self::of_server(key))
    }

    /// Writes a client key; `writer` makes the file, from [`Self::client_header`].
    ///
    /// # Errors
    /// From the file.
    fn write_client(writer: &mut Writer<dyn Destination>, key: &Self::ClientKey) -> Result<()>;

    /// Writes a public key; `writer` makes the file, from [`Self::public_header`].
    ///
    /// # Errors
    /// From the file.
    fn write_public(writer: &mut Writer<dyn Destination>, key: &Self::PublicKey) -> Result<()>;

    /// Writes a server key; `writer` makes the file, from [`Self::server_header`].
    ///
    /// # Errors
    /// From the file.
    fn write_server(writer: &mut Writer<dyn Destination>, key: &Self::ServerKey) -> Result<()>;

    /// The parameters a file was written with: a named set, unchanged, or a set of another name, checked again.
    ///
    /// # Errors
    /// [`Error::WrongScheme`](crate::Error::WrongScheme); [`Error::Field`](crate::Error::Field) for a set that differs from the one of that name, or that the
    /// scheme refuses.
    fn read_params(reader: &Reader) -> Result<Self::Params>;

    /// Reads the public key of a client, public or server key: no more of the file than encryption needs.
    ///
    /// # Errors
    /// From the file; [`Error::Section`](crate::Error::Section) for numbers that are no key of the parameters; [`Error::Field`](crate::Error::Field) for a key
    /// id that is not theirs.
    fn read_public(reader: &Reader) -> Result<Self::PublicKey>;

    /// Reads a client key.
    ///
    /// # Errors
    /// As [`Self::read_public`].
    fn read_client(reader: &Reader) -> Result<Self::ClientKey>;

    /// Reads a server key.
    ///
    /// # Errors
    /// As [`Self::read_public`].
    fn read_server(reader: &Reader) -> Result<Self::ServerKey>;
}
