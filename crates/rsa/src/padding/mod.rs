//! The paddings of RFC 8017: from message to encoded message and back, without arithmetic. Functions that handle
//! secrets run in constant time.

pub(super) mod oaep;
pub(super) mod pkcs1;
pub(super) mod pss;
pub(super) mod rejection;

use super::Hash;

/// Padding of an encryption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EncryptionPadding {
    /// RSAES-OAEP (RFC 8017, 7.1). Recommended.
    Oaep {
        /// Hash of the label, and of the masks if `mgf` is `None`.
        hash: Hash,
        /// Hash of the masks (MGF1). Defaults to `hash`.
        mgf: Option<Hash>,
        /// Label that both sides know. Usually empty.
        label: Vec<u8>,
    },
    /// RSAES-PKCS1-v1_5 (RFC 8017, 7.2), for peers that support nothing else. A damaged ciphertext decrypts to a
    /// message that looks random, not to an error (implicit rejection).
    Pkcs1,
}

/// Padding of a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignaturePadding {
    /// RSASSA-PSS (RFC 8017, 8.1). Recommended.
    Pss {
        /// Hash of the message, and of the masks if `mgf` is `None`.
        hash: Hash,
        /// Hash of the masks (MGF1). Defaults to `hash`.
        mgf: Option<Hash>,
        /// Bytes of salt. Signing defaults to the number that the key demands, or else to the length of the hash.
        /// Verification defaults to any number that the key allows.
        salt: Option<usize>,
    },
    /// RSASSA-PKCS1-v1_5 (RFC 8017, 8.2): deterministic and widespread.
    Pkcs1 {
        /// Hash of the message.
        hash: Hash,
    },
}

impl Default for EncryptionPadding {
    fn default() -> Self {
        Self::oaep(Hash::default())
    }
}

impl EncryptionPadding {
    /// OAEP with one hash and no label.
    pub const fn oaep(hash: Hash) -> Self {
        Self::Oaep { hash, mgf: None, label: Vec::new() }
    }

    /// Length of the longest message in bytes for a modulus of `k` bytes. `None` if not even the empty message fits.
    pub const fn capacity(&self, k: usize) -> Option<usize> {
        match self {
            Self::Oaep { hash, .. } => k.checked_sub(2 * hash.len() + 2),
            Self::Pkcs1 => k.checked_sub(11),
        }
    }
}

impl Default for SignaturePadding {
    fn default() -> Self {
        Self::pss(Hash::default())
    }
}

impl SignaturePadding {
    /// PSS with a salt as long as the hash.
    pub const fn pss(hash: Hash) -> Self {
        Self::Pss { hash, mgf: None, salt: None }
    }

    /// The hash of the message.
    pub const fn hash(self) -> Hash {
        match self {
            Self::Pss { hash, .. } | Self::Pkcs1 { hash } => hash,
        }
    }
}
