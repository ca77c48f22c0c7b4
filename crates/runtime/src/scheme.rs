//! Keys and ciphertexts of a scheme, as the rest of the runtime sees them: a trait for each role. [`Engine`] is the role of a server.

use crate::engine::Engine;
use crate::{Ciphertext, Condition, Control, Error, Form, KeyId, ParamsInfo, Plain, Scheme, ServerOptions, Type};
use solinas_formats::{Destination, Header, Writer};
use std::any::Any;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

/// A new key pair.
pub(crate) type Pair = (Box<dyn Secret>, Arc<dyn Public>);

/// What the header of a ciphertext says of its elements.
pub(crate) struct About {
    pub(crate) ty: Type,
    pub(crate) form: Form,
    /// Whether it is a single one that goes with every element of an array.
    pub(crate) scalar: bool,
    pub(crate) count: usize,
}

/// A key that encrypts.
pub(crate) trait Encrypt: Debug + Send + Sync {
    fn key_id(&self) -> KeyId;

    fn params(&self) -> ParamsInfo;

    /// Whether it was made from a chosen seed.
    fn is_insecure(&self) -> bool;

    /// Encrypts each element.
    fn encrypt(&self, plain: Plain) -> Result<Ciphertext, Error>;

    /// Encrypts each element with the public matrix in a file.
    fn encrypt_streamed(&self, _plain: Plain, _matrix: &Path, _control: &Control<'_>) -> Result<Ciphertext, Error> {
        Err(Error::NoMatrix { scheme: self.params().scheme })
    }

    /// Bytes of the file of the public matrix.
    fn matrix_bytes(&self) -> Result<u64, Error> {
        Err(Error::NoMatrix { scheme: self.params().scheme })
    }

    /// Writes the public matrix to a file.
    fn write_matrix(&self, _path: &Path, _control: &Control<'_>) -> Result<(), Error> {
        Err(Error::NoMatrix { scheme: self.params().scheme })
    }
}

/// A client key.
pub(crate) trait Secret: Encrypt {
    /// Decrypts each element of a ciphertext of this key.
    fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Vec<u128>, Error>;

    fn header(&self) -> Result<Header, Error>;

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error>;
}

/// A server key as stored and sent.
pub(crate) trait Public: Debug + Send + Sync {
    fn key_id(&self) -> KeyId;

    fn params(&self) -> ParamsInfo;

    /// Whether it was made from a chosen seed.
    fn is_insecure(&self) -> bool;

    /// The public key that encrypts, where the scheme has one.
    fn encryption(&self) -> Option<&dyn Encrypt> {
        None
    }

    /// Makes it ready, on the current thread pool.
    fn engine(&self, options: &ServerOptions) -> Result<Arc<dyn Engine>, Error>;

    fn header(&self) -> Result<Header, Error>;

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error>;
}

/// Encrypted elements of one type, with what the scheme knows of their noise.
pub(crate) trait Elements: Any + Debug + Send + Sync {
    fn scheme(&self) -> Scheme;

    /// Name of the parameter set.
    fn params_name(&self) -> &str;

    fn len(&self) -> usize;

    /// The element of that index alone.
    fn get(&self, index: usize) -> Result<Arc<dyn Elements>, Error>;

    /// These, then those of others.
    fn with(&self, others: &[Arc<dyn Elements>]) -> Result<Arc<dyn Elements>, Error>;

    fn equals(&self, other: &dyn Elements) -> bool;

    /// What is left of them, where they wear out.
    fn condition(&self) -> Option<Condition> {
        None
    }

    fn header(&self, key_id: KeyId, insecure: bool) -> Result<Header, Error>;

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error>;
}

/// That values have bits, of a key that holds those alone.
///
/// # Errors
/// [`Error::Modular`].
pub(crate) fn bits_only(plain: &Plain, params: &str) -> Result<(), Error> {
    match plain.ty.modulus() {
        None => Ok(()),
        Some(_) => Err(Error::Modular { params: params.into(), holds: "bits".into(), wanted: plain.ty.to_string() }),
    }
}

/// The elements as those of a scheme.
///
/// # Errors
/// [`Error::SchemeMismatch`] for those of another.
pub(crate) fn downcast<E: Elements>(elements: &dyn Elements, want: Scheme) -> Result<&E, Error> {
    let any: &dyn Any = elements;
    any.downcast_ref().ok_or_else(|| Error::SchemeMismatch {
        what: "the ciphertext".into(),
        got: elements.scheme(),
        want,
    })
}
