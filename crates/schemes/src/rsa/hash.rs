//! The hash functions of paddings and signatures.

use sha2::{Sha256, Sha384, Sha512};
use std::fmt;
use std::str::FromStr;
use zeroize::Zeroize;

/// A hash function of FIPS 180-4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Hash {
    /// SHA-256.
    #[default]
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

/// A hash value of up to 64 bytes; wiped when dropped, since some are masks of secrets.
pub(super) struct Digest {
    bytes: [u8; 64],
    len: usize,
}

impl Drop for Digest {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

impl std::ops::Deref for Digest {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl Hash {
    /// Every hash function.
    pub const ALL: [Self; 3] = [Self::Sha256, Self::Sha384, Self::Sha512];

    /// Bytes of a hash value.
    pub const fn len(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    /// False: no hash value is empty.
    pub const fn is_empty(self) -> bool {
        false
    }

    /// The hash of the parts, one after the other.
    pub(super) fn of(self, parts: &[&[u8]]) -> Digest {
        fn run<D: sha2::Digest>(parts: &[&[u8]]) -> Digest {
            let mut hasher = D::new();
            parts.iter().for_each(|part| hasher.update(part));
            let (mut bytes, value) = ([0; 64], hasher.finalize());
            bytes[..value.len()].copy_from_slice(&value);
            Digest { bytes, len: value.len() }
        }
        match self {
            Self::Sha256 => run::<Sha256>(parts),
            Self::Sha384 => run::<Sha384>(parts),
            Self::Sha512 => run::<Sha512>(parts),
        }
    }

    /// DER of `DigestInfo` up to the hash value (RFC 8017, 9.2, note 1).
    pub(super) const fn digest_info(self) -> [u8; 19] {
        // SEQUENCE { SEQUENCE { OID 2.16.840.1.101.3.4.2.x, NULL }, OCTET STRING }
        let (arc, len) = match self {
            Self::Sha256 => (1, 32),
            Self::Sha384 => (2, 48),
            Self::Sha512 => (3, 64),
        };
        [0x30, 17 + len, 0x30, 13, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, arc, 5, 0, 4, len]
    }

    /// `out <- out xor MGF1(seed)` (RFC 8017, B.2.1).
    pub(super) fn mask(self, seed: &[u8], out: &mut [u8]) {
        for (counter, block) in (0u32..).zip(out.chunks_mut(self.len())) {
            let mask = self.of(&[seed, &counter.to_be_bytes()]);
            block.iter_mut().zip(mask.iter()).for_each(|(byte, mask)| *byte ^= mask);
        }
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sha256 => "SHA-256",
            Self::Sha384 => "SHA-384",
            Self::Sha512 => "SHA-512",
        })
    }
}

impl FromStr for Hash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.to_lowercase().replace('-', "");
        let found = Self::ALL.into_iter().find(|hash| hash.to_string().to_lowercase().replace('-', "") == name);
        found.ok_or_else(|| format!("there is no hash {text:?} here; choose sha256, sha384 or sha512"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_fips_180() {
        let start = |hash: Hash| u32::from_be_bytes(hash.of(&[b"a", b"bc"])[..4].try_into().unwrap());
        assert_eq!(Hash::ALL.map(start), [0xba78_16bf, 0xcb00_753f, 0xddaf_35a1]);
        assert!(Hash::ALL.iter().all(|hash| hash.of(&[]).len() == hash.len() && !hash.is_empty()));
    }

    #[test]
    fn names_are_read_with_and_without_dash() {
        assert_eq!(["sha256", "SHA-384", "Sha512"].map(|name| name.parse::<Hash>().unwrap()), Hash::ALL);
        assert!("md5".parse::<Hash>().unwrap_err().contains("sha256"));
    }

    #[test]
    fn masks_continue_block_by_block() {
        let mut long = [0; 100];
        Hash::Sha256.mask(b"seed", &mut long);
        assert_eq!(long[..32], *Hash::Sha256.of(&[b"seed", &[0; 4]]));
        assert_eq!(long[96..], Hash::Sha256.of(&[b"seed", &[0, 0, 0, 3]])[..4]);
    }
}
