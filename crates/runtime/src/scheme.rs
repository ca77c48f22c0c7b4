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

/// What the header of a ciphertext file says about the elements.
pub(crate) struct CiphertextHeader {
    pub(crate) ty: Type,
    pub(crate) form: Form,
    /// Whether there is one element without a shape, which combines with every element of an array.
    pub(crate) scalar: bool,
    pub(crate) count: usize,
}

/// A key that encrypts: a client key, or a public key.
pub(crate) trait Encrypt: Debug + Send + Sync {
    fn key_id(&self) -> KeyId;

    fn params(&self) -> ParamsInfo;

    /// Whether the key was made from a chosen seed.
    fn is_insecure(&self) -> bool;

    /// Encrypts each element.
    fn encrypt(&self, plain: Plain) -> Result<Ciphertext, Error>;

    /// Encrypts each element. Reads the public matrix from a file (LWE).
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

/// A server key, as stored and sent.
pub(crate) trait Public: Debug + Send + Sync {
    fn key_id(&self) -> KeyId;

    fn params(&self) -> ParamsInfo;

    /// Whether the key was made from a chosen seed.
    fn is_insecure(&self) -> bool;

    /// The public key that encrypts, if the scheme has one.
    fn encryption(&self) -> Option<&dyn Encrypt> {
        None
    }

    /// Loads the key for evaluation, on the current thread pool.
    fn engine(&self, options: &ServerOptions) -> Result<Arc<dyn Engine>, Error>;

    fn header(&self) -> Result<Header, Error>;

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error>;
}

/// The contents of a ciphertext: encrypted elements of one type, with their noise.
pub(crate) trait Payload: Any + Debug + Send + Sync {
    fn scheme(&self) -> Scheme;

    /// Name of the parameter set.
    fn params_name(&self) -> &str;

    fn len(&self) -> usize;

    /// The element at that index.
    fn get(&self, index: usize) -> Result<Arc<dyn Payload>, Error>;

    /// These elements, followed by those of others.
    fn concat(&self, others: &[Arc<dyn Payload>]) -> Result<Arc<dyn Payload>, Error>;

    fn equals(&self, other: &dyn Payload) -> bool;

    /// How far operations can go on with them; none if operations do not wear them out.
    fn condition(&self) -> Option<Condition> {
        None
    }

    fn header(&self, key_id: KeyId, insecure: bool) -> Result<Header, Error>;

    fn write(&self, writer: &mut Writer<dyn Destination>) -> Result<(), Error>;
}

/// Checks that a type has bits, for a key that holds bits only.
///
/// # Errors
/// [`Error::Modular`].
pub(crate) fn bits_only(plain: &Plain, params: &str) -> Result<(), Error> {
    match plain.ty.modulus() {
        None => Ok(()),
        Some(_) => Err(Error::Modular { params: params.into(), holds: "bits".into(), wanted: plain.ty.to_string() }),
    }
}

/// The contents as elements of a scheme.
///
/// # Errors
/// [`Error::SchemeMismatch`] for those of another.
pub(crate) fn downcast<E: Payload>(elements: &dyn Payload, want: Scheme) -> Result<&E, Error> {
    let any: &dyn Any = elements;
    any.downcast_ref().ok_or_else(|| Error::SchemeMismatch {
        what: "the ciphertext".into(),
        got: elements.scheme(),
        want,
    })
}
