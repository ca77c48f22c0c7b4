//! Identity of keys.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Identifies a key pair: client key, server key and ciphertexts that belong together carry the same one. `Identity` says what it is a hash of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub [u8; 32]);

impl KeyId {
    /// BLAKE3 of bytes that identify the key pair. They need at least 128 bits of entropy if they are secret.
    pub fn hash_of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// First 16 hexadecimal digits, for messages. They do not suffice to recognise a key: see [`Self::fingerprint`].
    pub fn short(&self) -> String {
        self.to_string().chars().take(16).collect()
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

impl FromStr for KeyId {
    type Err = blake3::HexError;

    fn from_str(hex: &str) -> Result<Self, Self::Err> {
        blake3::Hash::from_hex(hex).map(|hash| Self(*hash.as_bytes()))
    }
}

/// Hexadecimal in formats for people (JSON), 32 bytes in CBOR.
impl Serialize for KeyId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { serializer.collect_str(self) } else { serializer.serialize_bytes(&self.0) }
    }
}

impl<'de> Deserialize<'de> for KeyId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return String::deserialize(deserializer)?.parse().map_err(de::Error::custom);
        }
        deserializer.deserialize_bytes(KeyIdVisitor)
    }
}

struct KeyIdVisitor;

impl de::Visitor<'_> for KeyIdVisitor {
    type Value = KeyId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("32 bytes")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<KeyId, E> {
        bytes.try_into().map(KeyId).map_err(|_| E::invalid_length(bytes.len(), &self))
    }
}
