//! The schemes there are, and what each is to keys, ciphertexts and files: a trait for each role. [`Engine`] is that of the server.
//!
//! A scheme is a folder with a [`Roles`], and an arm of [`Scheme::roles`].

use crate::engine::Engine;
use crate::{
    Ciphertext, Condition, Control, Error, Estimate, Form, KeyId, KeygenOptions, ParamsInfo, Plain, Program,
    ServerOptions, Type, bgv, gh, lwe, ntru, tfhe,
};
use serde::Serialize;
use solinas_circuits::Netlist;
use solinas_formats::{Destination, Header, Reader, Writer};
use std::any::Any;
use std::fmt::{self, Debug};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

/// An encryption scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Scheme {
    /// TFHE: every operation bootstraps.
    #[default]
    Tfhe,
    /// Gentry and Halevi's, for research only: exclusive or is a sum, and is a product, and bits are recrypted as their noise demands.
    Gh,
    /// Leveled, on NTRU: additions and multiplications of bits, or of vectors of integers modulo a prime.
    Ntru,
    /// Leveled, on ring LWE (Brakerski, Gentry and Vaikuntanathan): as NTRU, with large sets at 128, 192 and 256 bits of security.
    Bgv,
    /// Leveled, on LWE without rings: bits, and at 128 bits of security a product or two in a row.
    Lwe,
}

impl Scheme {
    /// All.
    pub const ALL: [Self; 5] = [Self::Tfhe, Self::Gh, Self::Ntru, Self::Bgv, Self::Lwe];

    pub(crate) fn roles(self) -> &'static dyn Roles {
        match self {
            Self::Tfhe => &tfhe::Tfhe,
            Self::Gh => &gh::Gh,
            Self::Ntru => &ntru::Ntru,
            Self::Bgv => &bgv::Bgv,
            Self::Lwe => &lwe::Lwe,
        }
    }

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        self.roles().name()
    }

    /// Whether it has a parameter set of that name.
    pub fn has_params(self, name: &str) -> bool {
        self.roles().has(name)
    }

    /// The first scheme that has a parameter set of that name, if one has.
    pub fn of_params(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.roles().has(name))
    }

    /// The scheme a file says.
    ///
    /// # Errors
    /// [`solinas_formats::Error::WrongScheme`] for another.
    pub(crate) fn of(reader: &Reader) -> Result<Self, Error> {
        let found = reader.header().scheme.as_deref();
        match Self::ALL.into_iter().find(|scheme| Some(scheme.name()) == found) {
            Some(scheme) => Ok(scheme),
            None => {
                reader.expect_scheme(Self::default().name())?;
                Ok(Self::default())
            }
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scheme {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|scheme| scheme.name() == name);
        found.ok_or_else(|| Error::UnknownScheme { name: name.into(), known: Self::ALL.map(Self::name).join(", ") })
    }
}

/// A new key pair.
pub(crate) type Pair = (Box<dyn Secret>, Arc<dyn Public>);

/// What makes and opens the things of a scheme.
pub(crate) trait Roles: Sync {
    /// Its name on the command line and in files.
    fn name(&self) -> &'static str;

    /// Its parameter sets, the default first.
    fn params(&self) -> Vec<ParamsInfo>;

    /// Whether its ciphertexts have slots that keys can rotate.
    fn rotates(&self) -> bool {
        false
    }

    /// Makes a key pair, on the current thread pool.
    fn keygen(&self, options: &KeygenOptions, control: &Control<'_>) -> Result<Pair, Error>;

    fn read_client(&self, reader: &Reader) -> Result<Box<dyn Secret>, Error>;

    fn read_server(&self, reader: &Reader) -> Result<Arc<dyn Public>, Error>;

    /// What encrypts in the file of a public or server key, of which it takes no more than it needs; none where it takes a client key.
    fn read_encryption(&self, reader: &Reader) -> Result<Option<Box<dyn Encrypt>>, Error>;

    /// The elements of a file that says so of them.
    fn read_elements(&self, reader: &Reader, about: &About) -> Result<Arc<dyn Elements>, Error>;

    /// Whether a parameter set has that name.
    fn has(&self, params: &str) -> bool;

    /// Counts and depth of a program under the parameter set of that name.
    fn cost(&self, program: &Program, params: &str, control: &Control<'_>) -> Result<Estimate, Error>;

    /// Counts and depth of a circuit under the parameter set of that name, on one element.
    fn cost_circuit(&self, netlist: &Netlist, params: &str, control: &Control<'_>) -> Result<Estimate, Error>;

    /// The counts of an estimate in words.
    fn counts(&self, estimate: &Estimate) -> String;
}

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
/// [`Error::Scheme`] for those of another.
pub(crate) fn downcast<E: Elements>(elements: &dyn Elements, want: Scheme) -> Result<&E, Error> {
    let any: &dyn Any = elements;
    any.downcast_ref().ok_or_else(|| Error::Scheme { what: "the ciphertext".into(), got: elements.scheme(), want })
}
