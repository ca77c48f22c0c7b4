//! Keys and ciphertexts of a scheme, as the rest of the crate sees them: a trait for each role.

pub(crate) use crate::payload::{CiphertextHeader, Payload, downcast};
use crate::{Ciphertext, Control, Error, KeyId, KeygenOptions, Natural, ParamsInfo, Plain, Scheme, Type};
use solinas_formats::{Destination, Header, Reader, Writer};
use std::any::Any;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

/// A new key pair.
pub(crate) type Pair = (Box<dyn Secret>, Arc<dyn Public>);

/// A key that encrypts: a client key, or a public key.
pub(crate) trait Encrypt: Debug + Send + Sync {
    fn key_id(&self) -> KeyId;

    /// The id of version 2, which binds the whole public key. It differs from [`Self::key_id`] for a key of an earlier development version.
    fn bound_id(&self) -> Result<KeyId, Error>;

    fn params(&self) -> ParamsInfo;

    /// Whether the key was made from a chosen seed.
    fn is_insecure(&self) -> bool;

    /// Encrypts each element.
    fn encrypt(&self, plain: Plain) -> Result<Ciphertext, Error>;

    /// The public matrix, if the key has one (LWE).
    fn public_matrix(&self) -> Option<&dyn PublicMatrix> {
        None
    }
}

/// A key that encrypts with a public matrix, which may come from a file.
pub(crate) trait PublicMatrix: Sync {
    /// Encrypts each element. Reads the matrix from a file.
    fn encrypt_streamed(&self, plain: Plain, matrix: &Path, control: &Control<'_>) -> Result<Ciphertext, Error>;

    /// Bytes of the file of the matrix.
    fn matrix_bytes(&self) -> Result<u64, Error>;

    /// Writes the matrix to a file.
    fn write_matrix(&self, path: &Path, control: &Control<'_>) -> Result<(), Error>;
}

/// A public key with a file of its own.
pub(crate) trait Open: Encrypt {
    fn header(&self) -> Result<Header, Error>;

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error>;
}

/// A client key.
pub(crate) trait Secret: Encrypt {
    /// Makes the public key, if it has a file of its own.
    fn public_key(&self) -> Option<Result<Arc<dyn Open>, Error>> {
        None
    }

    /// Decrypts each element of a ciphertext of this key.
    fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Vec<Natural>, Error>;

    fn header(&self) -> Result<Header, Error>;

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error>;
}

/// A server key, as stored and sent.
pub(crate) trait Public: Any + Debug + Send + Sync {
    fn key_id(&self) -> KeyId;

    /// The id of version 2, which binds the whole public key. None if the key is older and does not hold the public key.
    fn bound_id(&self) -> Option<KeyId> {
        self.encryption()?.bound_id().ok()
    }

    fn params(&self) -> ParamsInfo;

    /// Whether the key was made from a chosen seed.
    fn is_insecure(&self) -> bool;

    /// The public key that encrypts, if the scheme has one.
    fn encryption(&self) -> Option<&dyn Encrypt> {
        None
    }

    fn header(&self) -> Result<Header, Error>;

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error>;
}

/// What a key without a plaintext modulus holds.
pub(crate) const BITS: &str = "bools and integers such as u8";

/// Checks that a type has bits, for a key that holds bits only.
///
/// # Errors
/// [`Error::Modular`].
pub fn bits_only(ty: Type, params: &str) -> Result<(), Error> {
    match ty.modulus() {
        None => Ok(()),
        Some(_) => Err(Error::Modular { params: params.into(), holds: BITS.into(), wanted: ty.to_string() }),
    }
}

/// The interface that a scheme registers. It makes and reads keys and ciphertexts.
pub(crate) trait SchemeEntry: Sync {
    /// Its name on the command line and in files.
    fn name(&self) -> &'static str;

    /// The names of its parameter sets. The default set comes first. Computes no set.
    fn param_names(&self) -> Vec<String>;

    /// The parameter set of that name.
    fn named(&self, params: &str) -> Option<ParamsInfo>;

    /// Its parameter sets, in the order of [`Self::param_names`].
    fn params(&self) -> Vec<ParamsInfo> {
        self.param_names().iter().filter_map(|name| self.named(name)).collect()
    }

    /// Whether some of its keys can rotate slots.
    fn rotates(&self) -> bool {
        false
    }

    /// Generates a key pair, on the current thread pool.
    fn keygen(&self, options: &KeygenOptions, control: &Control<'_>) -> Result<Pair, Error>;

    fn read_client(&self, reader: &Reader) -> Result<Box<dyn Secret>, Error>;

    fn read_server(&self, reader: &Reader) -> Result<Arc<dyn Public>, Error>;

    /// Reads the public key from the file of a public or server key, and nothing else of it. None if the file is a client key, or if only client keys
    /// encrypt.
    fn read_encryption(&self, reader: &Reader) -> Result<Option<Box<dyn Encrypt>>, Error>;

    /// Reads the file of a public key.
    fn read_public(&self, _: &Reader) -> Result<Arc<dyn Open>, Error> {
        Err(Error::PublicInServerKey { scheme: Scheme::new(self.name()) })
    }

    /// Reads the elements of a ciphertext file with that header.
    fn read_elements(&self, reader: &Reader, about: &CiphertextHeader) -> Result<Arc<dyn Payload>, Error>;

    /// Bytes that the elements of a ciphertext file take in memory. Reads the header and the lengths of sections alone.
    fn bytes_of_elements(&self, reader: &Reader) -> Result<u64, Error> {
        Ok(reader.file_bytes())
    }

    /// Whether it has a parameter set of that name.
    fn has(&self, params: &str) -> bool;
}
