//! The operations that a key allows, as stated by its algorithm identifier (RFC 4055, sections 1.2 and 3.1).

use super::error::{Error, Result};
use super::{Hash, SignaturePadding};
use der::asn1::{AnyRef, ObjectIdentifier};
use der::{Decode, Encode};
use pkcs1::{RsaPssParamsOwned, RsaPssParamsRef, TrailerField};
use spki::{AlgorithmIdentifier, AlgorithmIdentifierRef, AsAlgorithmIdentifierRef};

/// `rsaEncryption`: keys that allow every operation.
const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
/// `id-RSASSA-PSS`: keys for PSS signatures alone.
const PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
/// `id-mgf1`.
const MGF1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.8");

/// Operations that a key allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyUse {
    /// Encryption and every kind of signature (`rsaEncryption`).
    #[default]
    Any,
    /// PSS signatures alone (`id-RSASSA-PSS`), restricted to these parameters if there are any.
    Pss(Option<PssParameters>),
}

/// Parameters to which a PSS key is restricted (RFC 4055, section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PssParameters {
    /// Hash of the message.
    pub hash: Hash,
    /// Hash of the masks (MGF1).
    pub mgf: Hash,
    /// Smallest number of salt bytes. Range: `0..=255`.
    pub salt: u8,
}

impl KeyUse {
    /// Reads the use of a key from its algorithm identifier.
    ///
    /// # Errors
    /// [`Error::Algorithm`] for another algorithm. `malformed(reason)` if the parameters are not valid for RSA.
    pub(super) fn read(algorithm: &AlgorithmIdentifierRef<'_>, malformed: impl Fn(String) -> Error) -> Result<Self> {
        match (algorithm.oid, algorithm.parameters) {
            (RSA, parameters) if parameters.is_none_or(AnyRef::is_null) => Ok(Self::Any),
            (RSA, _) => Err(malformed("the algorithm has parameters, where RSA has none".to_owned())),
            (PSS, None) => Ok(Self::Pss(None)),
            (PSS, Some(parameters)) => {
                PssParameters::read(parameters).map(|read| Self::Pss(Some(read))).map_err(malformed)
            }
            (oid, _) => Err(Error::Algorithm { oid: oid.to_string() }),
        }
    }

    /// Passes the algorithm identifier of this use to `encode`.
    pub(super) fn write<T>(self, encode: impl FnOnce(AlgorithmIdentifierRef<'_>) -> der::Result<T>) -> der::Result<T> {
        match self {
            Self::Any => encode(AlgorithmIdentifierRef { oid: RSA, parameters: Some(AnyRef::NULL) }),
            Self::Pss(None) => encode(AlgorithmIdentifierRef { oid: PSS, parameters: None }),
            Self::Pss(Some(parameters)) => {
                let parameters = parameters.to_der()?;
                encode(AlgorithmIdentifierRef { oid: PSS, parameters: Some(AnyRef::from_der(&parameters)?) })
            }
        }
    }

    /// The signature padding to use with a key of this use if the caller names none.
    pub fn signature_padding(self) -> SignaturePadding {
        match self {
            Self::Pss(Some(PssParameters { hash, mgf, .. })) => {
                SignaturePadding::Pss { hash, mgf: Some(mgf), salt: None }
            }
            _ => SignaturePadding::default(),
        }
    }

    /// Smallest number of salt bytes of a PSS signature, if the key restricts it. It is also the default of new
    /// signatures, as `openssl` expects.
    pub(super) fn salt(self) -> Option<usize> {
        match self {
            Self::Pss(Some(parameters)) => Some(parameters.salt.into()),
            _ => None,
        }
    }

    /// Checks that the key is not restricted to PSS. `wanted` describes the operation in the error.
    pub(super) fn check_any(self, wanted: &'static str) -> Result<()> {
        match self {
            Self::Any => Ok(()),
            Self::Pss(_) => Err(self.refuse(wanted.to_owned())),
        }
    }

    /// Checks that the key allows signatures with this padding, and that the hash is secure for signatures.
    pub(super) fn check_signature(self, padding: SignaturePadding) -> Result<()> {
        if !padding.hash().signs() {
            return Err(Error::WeakHash { hash: padding.hash() });
        }
        match (self, padding) {
            (Self::Any, _) | (Self::Pss(None), SignaturePadding::Pss { .. }) => Ok(()),
            (Self::Pss(Some(own)), SignaturePadding::Pss { hash, mgf, salt })
                if own.hash == hash
                    && own.mgf == mgf.unwrap_or(hash)
                    && salt.is_none_or(|salt| salt >= own.salt.into()) =>
            {
                Ok(())
            }
            (_, SignaturePadding::Pss { hash, mgf, salt }) => {
                let salt = salt.map_or_else(String::new, |salt| format!(" and {salt} bytes of salt"));
                Err(self.refuse(format!("PSS signatures with {hash}, masks by {}{salt}", mgf.unwrap_or(hash))))
            }
            (_, SignaturePadding::Pkcs1 { hash }) => Err(self.refuse(format!("PKCS#1 v1.5 signatures with {hash}"))),
        }
    }

    fn refuse(self, wanted: String) -> Error {
        Error::KeyUse { allowed: self.to_string(), wanted }
    }
}

impl std::fmt::Display for KeyUse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => f.write_str("encryption and signatures"),
            Self::Pss(None) => f.write_str("PSS signatures"),
            Self::Pss(Some(PssParameters { hash, mgf, salt })) => {
                write!(f, "PSS signatures with {hash}, masks by {mgf} and at least {salt} bytes of salt")
            }
        }
    }
}

impl PssParameters {
    fn read(parameters: AnyRef<'_>) -> std::result::Result<Self, String> {
        let read: RsaPssParamsOwned =
            parameters.decode_as().map_err(|e| format!("the PSS parameters do not parse: {e}"))?;
        let mask = &read.mask_gen;
        let mgf = match &mask.parameters {
            Some(mgf) if mask.oid == MGF1 => mgf,
            _ => return Err(format!("the PSS parameters name the mask function {}, which is not MGF1", mask.oid)),
        };
        Ok(Self { hash: hash(&read.hash)?, mgf: hash(mgf)?, salt: read.salt_len })
    }

    fn to_der(self) -> der::Result<Vec<u8>> {
        let identifier = |hash: Hash| AlgorithmIdentifierRef { oid: hash.oid(), parameters: Some(AnyRef::NULL) };
        RsaPssParamsRef {
            hash: identifier(self.hash),
            mask_gen: AlgorithmIdentifier { oid: MGF1, parameters: Some(identifier(self.mgf)) },
            salt_len: self.salt,
            trailer_field: TrailerField::BC,
        }
        .to_der()
    }
}

/// Returns the hash function that an algorithm identifier names.
fn hash(algorithm: &impl AsAlgorithmIdentifierRef) -> std::result::Result<Hash, String> {
    let algorithm = algorithm.as_algo_ref();
    let found = Hash::ALL.into_iter().find(|hash| hash.oid() == algorithm.oid);
    if algorithm.parameters.is_some_and(|parameters| !parameters.is_null()) {
        return Err("the hash function of the PSS parameters has parameters of its own".to_owned());
    }
    found.ok_or_else(|| format!("the PSS parameters name the hash function {}, which is not supported", algorithm.oid))
}
