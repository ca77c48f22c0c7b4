//! Paddings of RFC 8017, in constant time where they hold a secret: from message to encoded message and back, apart from any arithmetic.

pub(super) mod oaep;
pub(super) mod pkcs1;
pub(super) mod pss;
pub(super) mod rejection;

use super::Hash;

/// Padding of an encryption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EncryptionPadding {
    /// RSAES-OAEP (RFC 8017, 7.1): the one to take.
    Oaep {
        /// Hash of the label and, where there is no other, of the masks.
        hash: Hash,
        /// Hash of the masks (MGF1), if another one.
        mgf: Option<Hash>,
        /// Label that both sides know; most have none.
        label: Vec<u8>,
    },
    /// RSAES-PKCS1-v1_5 (RFC 8017, 7.2): for peers that know no other. A damaged ciphertext gives a message that looks random, not an error (implicit
    /// rejection).
    Pkcs1,
}

/// Padding of a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignaturePadding {
    /// RSASSA-PSS (RFC 8017, 8.1): the one to take.
    Pss {
        /// Hash of the message and, where there is no other, of the masks.
        hash: Hash,
        /// Hash of the masks (MGF1), if another one.
        mgf: Option<Hash>,
        /// Bytes of salt. Without: when signing as many as the key is restricted to, or else as the hash has; when verifying any number that the key allows.
        salt: Option<usize>,
    },
    /// RSASSA-PKCS1-v1_5 (RFC 8017, 8.2): deterministic, widespread.
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

    /// Bytes of the longest message that a modulus of `k` bytes takes; none where not even the empty one fits.
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
