//! The files of a scheme's keys.

use std::fmt::Debug;

use serde::Serialize;

use crate::{Destination, Header, KeyId, Kind, Reader, Result, Writer};

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

    /// Parameters of a key.
    fn params(key: &Self::PublicKey) -> &Self::Params;

    /// Identity of a key.
    fn id(key: &Self::PublicKey) -> KeyId;

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

    /// Header of the file of a key, or of another that belongs to it.
    ///
    /// # Errors
    /// As [`Self::header`].
    fn key_header(kind: Kind, key: &Self::PublicKey) -> Result<Header> {
        Self::header(kind, Self::params(key), Self::id(key), Self::is_insecure(key))
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
