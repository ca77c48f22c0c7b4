//! Files of the keys of leveled schemes.
//!
//! The file of a public key holds its parts. The file of a client or server key holds them too, and after them its own parts. So
//! [`KeyFiles::read_public`] takes a public key from any of the three. The modules list the sections of each scheme.

#[cfg(feature = "bgv")]
pub mod bgv;
mod ciphertexts;
#[cfg(feature = "lwe")]
pub mod lwe;
#[cfg(feature = "ntru")]
pub mod ntru;

pub use ciphertexts::CiphertextFiles;
use serde::Serialize;
use serde::de::DeserializeOwned;
use solinas_schemes::Identity;
use solinas_schemes::leveled::{ClientKey, Leveled, Params as _, PublicKey, ServerKey};
use solinas_schemes::security::SecurityClaim;

use crate::keys::{check_identity, stated_digest};
use crate::{Destination, KeyFiles, Reader, Result, Writer};

/// The sections of a leveled scheme's keys. Errors are those of [`KeyFiles`].
pub trait KeySections: Leveled {
    /// Parameters as a header holds them.
    type Literal: Serialize + DeserializeOwned;

    /// A description of the data of which the identity of a key is a hash, for an error.
    const IDENTITY: &'static str;

    fn literal(params: &Self::Params) -> &Self::Literal;

    /// Checks the parameters of a header: a named set, unchanged, or a set of another name.
    fn check_params(reader: &Reader, literal: Self::Literal) -> Result<Self::Params>;

    fn write_public_parts(writer: &mut Writer<dyn Destination>, key: &PublicKey<Self>) -> Result<()>;

    fn write_secret_parts(writer: &mut Writer<dyn Destination>, key: &ClientKey<Self>) -> Result<()>;

    fn write_evaluation_parts(writer: &mut Writer<dyn Destination>, key: &ServerKey<Self>) -> Result<()>;

    /// Reads the parts before it plans anything of the parameters' size.
    fn read_public_parts(reader: &Reader, params: &Self::Params) -> Result<PublicKey<Self>>;

    fn read_secret_parts(reader: &Reader, public: PublicKey<Self>) -> Result<ClientKey<Self>>;

    fn read_evaluation_parts(reader: &Reader, public: PublicKey<Self>) -> Result<ServerKey<Self>>;
}

impl<S: KeySections> KeyFiles for S {
    const NAME: &'static str = <S as Leveled>::NAME;

    type Params = S::Params;
    type PublicKey = PublicKey<S>;
    type ClientKey = ClientKey<S>;
    type ServerKey = ServerKey<S>;

    fn literal(params: &S::Params) -> &impl Serialize {
        <S as KeySections>::literal(params)
    }

    fn security(params: &S::Params) -> SecurityClaim {
        params.security()
    }

    fn params(key: &PublicKey<S>) -> &S::Params {
        key.params()
    }

    fn identity(key: &PublicKey<S>) -> &Identity {
        key.identity()
    }

    fn bound_identity(key: &PublicKey<S>) -> Identity {
        key.bound_identity()
    }

    fn is_insecure(key: &PublicKey<S>) -> bool {
        key.is_insecure()
    }

    fn of_client(key: &ClientKey<S>) -> &PublicKey<S> {
        key.public()
    }

    fn of_server(key: &ServerKey<S>) -> &PublicKey<S> {
        key.public()
    }

    fn write_client(writer: &mut Writer<dyn Destination>, key: &ClientKey<S>) -> Result<()> {
        S::write_public_parts(writer, key.public())?;
        S::write_secret_parts(writer, key)
    }

    fn write_public(writer: &mut Writer<dyn Destination>, key: &PublicKey<S>) -> Result<()> {
        S::write_public_parts(writer, key)
    }

    fn write_server(writer: &mut Writer<dyn Destination>, key: &ServerKey<S>) -> Result<()> {
        S::write_public_parts(writer, key.public())?;
        S::write_evaluation_parts(writer, key)
    }

    fn read_params(reader: &Reader) -> Result<S::Params> {
        reader.expect_scheme(<S as Leveled>::NAME)?;
        S::check_params(reader, reader.params()?)
    }

    fn read_public(reader: &Reader) -> Result<PublicKey<S>> {
        let mut key = S::read_public_parts(reader, &Self::read_params(reader)?)?;
        if stated_digest(reader)?.is_none() {
            key = key.with_version_1_id();
        }
        check_identity(reader, key.identity(), S::IDENTITY)?;
        Ok(key)
    }

    fn read_client(reader: &Reader) -> Result<ClientKey<S>> {
        S::read_secret_parts(reader, Self::read_public(reader)?)
    }

    fn read_server(reader: &Reader) -> Result<ServerKey<S>> {
        S::read_evaluation_parts(reader, Self::read_public(reader)?)
    }
}
