//! The public key: encryption and verification.

use super::error::{Error, Result};
use super::padding::{EncryptionPadding, SignaturePadding, oaep, pkcs1, pss};
use super::ring::{Method, Ring};
use super::{Hash, KeyUse, MAX_BITS, MIN_BITS, PublicFormat, RESEARCH_MIN_BITS};
use rand_core::RngCore;
use solinas_bigint::Natural;
use solinas_schemes::Entropy;
use solinas_schemes::random::SecretSeed;
use std::fmt;
use zeroize::Zeroizing;

/// The public exponent of keys generated here, and the smallest one that is safe with all common paddings (FIPS 186-5,
/// A.1.1).
pub(super) const EXPONENT: u64 = 65537;

/// The public key `(n, e)`: encrypts, and verifies signatures.
#[derive(Clone)]
pub struct PublicKey {
    exponent: Natural,
    ring: Ring,
    key_use: KeyUse,
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicKey").field("modulus", self.modulus()).field("exponent", &self.exponent).finish()
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.modulus() == other.modulus() && self.exponent == other.exponent && self.key_use == other.key_use
    }
}

impl Eq for PublicKey {}

impl PublicKey {
    /// Builds a key from modulus and exponent. `research` allows moduli from 512 bits and exponents from 3.
    ///
    /// # Errors
    /// [`Error::KeyTooShort`] below 2048 bits. [`Error::KeyTooLong`] above 16,384 bits. [`Error::EvenModulus`] for an
    /// even modulus. [`Error::Exponent`] for an exponent that is even, below 65537, or longer than 256 bits (FIPS
    /// 186-5, A.1.1).
    pub fn new(modulus: Natural, exponent: Natural, research: bool) -> Result<Self> {
        let bits = modulus.bit_len();
        let least = if research { RESEARCH_MIN_BITS } else { MIN_BITS };
        if bits < least {
            return Err(Error::KeyTooShort { bits, least });
        }
        if bits > MAX_BITS {
            return Err(Error::KeyTooLong { bits, most: MAX_BITS });
        }
        if modulus.is_even() {
            return Err(Error::EvenModulus);
        }
        let problem = if exponent.is_even() {
            Some("is even, so nothing could be decrypted")
        } else if exponent.is_one() {
            Some("is 1, so nothing would be encrypted")
        } else if exponent.bit_len() > 256 {
            Some("has more than 256 bits")
        } else if exponent < EXPONENT.into() && !research {
            Some("is below 65537, which needs --research")
        } else {
            None
        };
        match problem {
            Some(problem) => Err(Error::Exponent { problem }),
            None => Ok(Self { exponent, ring: Ring::new(modulus, Method::Word)?, key_use: KeyUse::Any }),
        }
    }

    /// The modulus n.
    pub fn modulus(&self) -> &Natural {
        self.ring.modulus()
    }

    /// The public exponent e.
    pub fn exponent(&self) -> &Natural {
        &self.exponent
    }

    /// The operations that the key allows.
    pub fn key_use(&self) -> KeyUse {
        self.key_use
    }

    /// Returns the same key with another use.
    pub(super) fn with_use(self, key_use: KeyUse) -> Self {
        Self { key_use, ..self }
    }

    /// Bits of the modulus: the size of the key.
    pub fn bits(&self) -> usize {
        self.modulus().bit_len()
    }

    /// Bytes of a ciphertext or signature.
    pub fn size(&self) -> usize {
        self.bits().div_ceil(8)
    }

    /// Returns the SHA-256 of the key as SubjectPublicKeyInfo in DER. Other programs compute the same fingerprint.
    ///
    /// # Errors
    /// The errors of [`Self::to_der`].
    pub fn fingerprint(&self) -> Result<[u8; 32]> {
        let (mut bytes, value) = ([0; 32], Hash::Sha256.digest(&[&self.to_der(PublicFormat::Spki)?]));
        bytes.copy_from_slice(&value);
        Ok(bytes)
    }

    /// The security claim for keys of this size.
    pub fn security(&self) -> solinas_schemes::security::SecurityClaim {
        super::security(self.bits())
    }

    /// Encrypts a message of up to [`EncryptionPadding::capacity`] bytes. The padding uses randomness of the operating
    /// system. The ciphertext has [`Self::size`] bytes.
    ///
    /// # Errors
    /// [`Error::MessageTooLong`] for a longer message. [`Error::NoRoom`] if the key is too short for the padding.
    /// [`Error::Entropy`] if there is no randomness. [`Error::KeyUse`] if the key is for signatures alone.
    pub fn encrypt(&self, padding: &EncryptionPadding, message: &[u8]) -> Result<Vec<u8>> {
        self.encrypt_with(padding, message, &mut rng()?)
    }

    pub(super) fn encrypt_with(
        &self,
        padding: &EncryptionPadding,
        message: &[u8],
        rng: &mut impl RngCore,
    ) -> Result<Vec<u8>> {
        self.key_use.check_any("encryption")?;
        let k = self.size();
        let encoded = match padding {
            EncryptionPadding::Oaep { hash, mgf, label } => {
                oaep::encode((*hash, mgf.unwrap_or(*hash), label), message, k, rng)
            }
            EncryptionPadding::Pkcs1 => pkcs1::encode(message, k, rng),
        };
        let Some(encoded) = encoded else {
            return Err(match (padding.capacity(k), padding) {
                (None, EncryptionPadding::Oaep { hash, .. }) => Error::NoRoom { bits: self.bits(), hash: *hash },
                (most, _) => Error::MessageTooLong { len: message.len(), most: most.unwrap_or(0) },
            });
        };
        let number = Zeroizing::new(Natural::from_be_bytes(&encoded));
        self.bytes(&self.raw(&number))
    }

    /// Verifies the signature of a message.
    ///
    /// # Errors
    /// [`Error::Verification`] if the signature is not valid. [`Error::Length`] and [`Error::Range`] if the bytes are
    /// not a signature of this key. [`Error::NoRoom`] if the key is too short for the hash. [`Error::KeyUse`] for a
    /// padding that the key does not allow. [`Error::WeakHash`] for SHA-1.
    pub fn verify(&self, padding: SignaturePadding, message: &[u8], signature: &[u8]) -> Result<()> {
        self.verify_digest(padding, &padding.hash().digest(&[message]), signature)
    }

    /// Verifies the signature of a message by its hash value, which must be of the padding's hash function.
    ///
    /// # Errors
    /// The errors of [`Self::verify`].
    pub fn verify_digest(&self, padding: SignaturePadding, value: &[u8], signature: &[u8]) -> Result<()> {
        self.key_use.check_signature(padding)?;
        if value.len() != padding.hash().len() {
            return Err(Error::Verification);
        }
        let number = self.element("signature", signature)?;
        let opened = self.raw(&number);
        let valid = match padding {
            SignaturePadding::Pkcs1 { hash } => {
                let expected = pkcs1::encode_signature(hash, value, self.size());
                self.bytes(&opened)? == expected.ok_or(Error::NoRoom { bits: self.bits(), hash })?
            }
            SignaturePadding::Pss { hash, mgf, salt } => {
                let salts = salt.map_or(self.key_use.salt().unwrap_or(0)..=usize::MAX, |salt| salt..=salt);
                let bits = self.bits() - 1;
                // If the block is one byte shorter than the modulus, a longer number is not valid.
                let block = opened.to_be_bytes_padded(bits.div_ceil(8));
                block.is_ok_and(|block| pss::verify((hash, mgf.unwrap_or(hash)), value, &salts, &block, bits))
            }
        };
        if valid { Ok(()) } else { Err(Error::Verification) }
    }

    /// Computes `x^e mod n` for `x < n`. Constant-time in `x`.
    pub(super) fn raw(&self, x: &Natural) -> Natural {
        self.ring.public_pow(x, &self.exponent)
    }

    pub(super) fn ring(&self) -> &Ring {
        &self.ring
    }

    /// Converts a number below n to [`Self::size`] bytes, highest first.
    pub(super) fn bytes(&self, x: &Natural) -> Result<Vec<u8>> {
        Ok(x.to_be_bytes_padded(self.size())?)
    }

    /// Converts [`Self::size`] bytes to a number below n.
    pub(super) fn element(&self, what: &'static str, bytes: &[u8]) -> Result<Natural> {
        if bytes.len() != self.size() {
            return Err(Error::Length { what, got: bytes.len(), want: self.size() });
        }
        let number = Natural::from_be_bytes(bytes);
        if number < *self.modulus() { Ok(number) } else { Err(Error::Range { what }) }
    }
}

/// Returns a generator that is seeded by the operating system.
pub(super) fn rng() -> Result<impl RngCore> {
    Ok(SecretSeed::new(Entropy::System)?.stream(0))
}
